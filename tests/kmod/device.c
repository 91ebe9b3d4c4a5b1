/* SPDX-License-Identifier: GPL-2.0-only */
/* Page sets: what a process gets, what quartzd sees of it, when it is gone, who may do what. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "quartz/page.h"
#include "tests/kmod/device.h"

#define PAGE 4096ul
#define SIZE (16 * PAGE)

static const struct qz_ioc_open_set ordinary = {.size = sizeof(ordinary),
						.page_version = QZ_PAGE_VERSION,
						.bytes = SIZE,
						.tables_address = 0x1000,
						.slots_address = 0x9000,
						.slots_offset = 8 * PAGE};

static unsigned char *map_set(int fd, size_t size, int protection)
{
	return mmap(NULL, size, protection, MAP_SHARED, fd, 0);
}

static unsigned char *new_set(int fd)
{
	unsigned char *set;

	ck_assert_int_eq(call(fd, QZ_IOC_OPEN_SET, &ordinary), 0);
	set = map_set(fd, SIZE, PROT_READ | PROT_WRITE);
	ck_assert_ptr_ne(set, MAP_FAILED);
	return set;
}

/* The set of a process, or 0; its description in *info. */
static __u64 set_of(int fd, pid_t pid, struct qz_set_info *info)
{
	struct qz_set_info sets[64];
	struct qz_ioc_list_sets list = {
		.size = sizeof(list), .room = 64, .sets = (__u64)(uintptr_t)sets};
	long n;

	while ((n = call(fd, QZ_IOC_LIST_SETS, &list)) > 0) {
		for (long i = 0; i < n; i++) {
			ck_assert_uint_gt(sets[i].id, list.after);
			list.after = sets[i].id;
			if (sets[i].tgid == pid) {
				*info = sets[i];
				return sets[i].id;
			}
		}
	}
	ck_assert_int_eq(n, 0);
	return 0;
}

static int attach(int fd, __u64 id)
{
	struct qz_ioc_attach_set a = {.size = sizeof(a), .id = id};

	return (int)call(fd, QZ_IOC_ATTACH_SET, &a);
}

START_TEST(both_sides_see_the_same_bytes)
{
	int fd = device(), reader, i;
	unsigned char *set = new_set(fd), *seen, byte;
	struct qz_page_header *header = (void *)set;
	struct qz_set_info info;

	ck_assert_uint_eq(header->magic, QZ_PAGE_MAGIC);
	ck_assert_uint_eq(header->version, QZ_PAGE_VERSION);
	for (i = offsetof(struct qz_page_header, pid); i < (int)SIZE; i++)
		ck_assert_uint_eq(set[i], 0);
	set[5 * PAGE + 3] = 77;
	reader = attach(fd, set_of(fd, getpid(), &info));
	ck_assert_int_ge(reader, 0);
	ck_assert_uint_eq(info.bytes, SIZE);
	ck_assert_uint_eq(info.tables_address, 0x1000);
	ck_assert_uint_eq(info.slots_address, 0x9000);
	ck_assert_uint_eq(info.slots_offset, 8 * PAGE);
	ck_assert_uint_eq(info.uid, 0);
	ck_assert_int_eq(pread(reader, &byte, 1, 5 * PAGE + 3), 1);
	ck_assert_uint_eq(byte, 77);
	seen = map_set(reader, SIZE, PROT_READ);
	ck_assert_ptr_ne(seen, MAP_FAILED);
	set[7 * PAGE] = 99;
	ck_assert_uint_eq(seen[7 * PAGE], 99);
	ck_assert_ptr_eq(map_set(reader, SIZE, PROT_READ | PROT_WRITE), MAP_FAILED);
	ck_assert_int_eq(mprotect(seen, SIZE, PROT_READ | PROT_WRITE), -1);
	ck_assert_int_eq(pwrite(reader, &byte, 1, 0), -1);
}
END_TEST

START_TEST(a_reader_keeps_the_memory_not_the_set)
{
	int fd = device(), other = device(), reader;
	unsigned char *set = new_set(fd), byte;
	struct qz_set_info info;

	set[PAGE] = 5;
	reader = attach(other, set_of(other, getpid(), &info));
	close(fd);
	munmap(set, SIZE);
	ck_assert_uint_eq(set_of(other, getpid(), &info), 0);
	ck_assert_int_eq(pread(reader, &byte, 1, PAGE), 1);
	ck_assert_uint_eq(byte, 5);
	ck_assert_int_eq(attach(other, info.id), -ESRCH);
}
END_TEST

START_TEST(a_set_lives_as_long_as_a_mapping)
{
	int fd = device(), other = device();
	unsigned char *set = new_set(fd);
	struct qz_set_info info;

	close(fd);
	ck_assert_uint_ne(set_of(other, getpid(), &info), 0);
	set[0] = 1;
	munmap(set, 4 * PAGE);
	munmap(set + 6 * PAGE, 10 * PAGE);
	ck_assert_uint_ne(set_of(other, getpid(), &info), 0);
	set[5 * PAGE] = 1;
	ck_assert_int_eq(mprotect(set + 4 * PAGE, PAGE, PROT_READ), 0);
	munmap(set + 4 * PAGE, 2 * PAGE);
	ck_assert_uint_eq(set_of(other, getpid(), &info), 0);
}
END_TEST

/* The child's mapping is the same memory, under the parent's identity. */
START_TEST(a_set_survives_its_process_in_a_child)
{
	int fd = device(), other = device(), up[2], down[2], status;
	struct qz_set_info info;
	pid_t parent, child;
	char c = 0;

	ck_assert_int_eq(pipe(up) | pipe(down), 0);
	parent = fork();
	if (!parent) {
		unsigned char *set = new_set(fd);

		close(fd);
		close(down[1]);
		child = fork();
		if (!child) {
			set[PAGE] = 9;
			c = read(down[0], &c, 1) == 0 && set[PAGE] == 9;
			_exit(write(up[1], &c, 1) != 1);
		}
		_exit(0);
	}
	close(fd);
	waitpid(parent, &status, 0);
	ck_assert_uint_ne(set_of(other, parent, &info), 0);
	close(down[1]);
	close(up[1]);
	ck_assert_int_eq(read(up[0], &c, 1), 1);
	ck_assert_int_eq(c, 1);
	for (int i = 0; i < 1000 && set_of(other, parent, &info); i++)
		usleep(10000);
	ck_assert_uint_eq(set_of(other, parent, &info), 0);
}
END_TEST

START_TEST(exec_ends_a_set)
{
	int fd = device(), out[2];
	struct qz_set_info info;
	pid_t child;
	char c;

	ck_assert_int_eq(pipe(out), 0);
	child = fork();
	if (!child) {
		int own = device();

		new_set(own);
		dup2(out[1], 1);
		execl("/bin/sh", "sh", "-c", "echo x; exec sleep 100", NULL);
		_exit(1);
	}
	ck_assert_int_eq(read(out[0], &c, 1), 1);
	ck_assert_uint_eq(set_of(fd, child, &info), 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}
END_TEST

/* ---- sets that wait for an answer ---- */

struct opening {
	struct qz_ioc_open_set open;
	pid_t child;
	int status; /* a pipe */
};

/* A child that asks, and tells what it got. It is not to keep the listener. */
static struct opening begin_opening(int listener, __u64 patience_ns)
{
	struct opening o = {.open = ordinary};
	int ends[2], err;

	ck_assert_int_eq(pipe(ends), 0);
	o.open.patience_ns = patience_ns;
	o.open.slot_pointer_offset = -4711;
	o.child = fork();
	if (!o.child) {
		int fd = device();

		close(listener);
		err = (int)call(fd, QZ_IOC_OPEN_SET, &o.open);
		/* After a refusal the file can still become one. */
		if (err == -ESRCH && call(fd, QZ_IOC_OPEN_SET, &ordinary))
			err = 1;
		_exit(write(ends[1], &err, sizeof(err)) != sizeof(err));
	}
	close(ends[1]);
	o.status = ends[0];
	return o;
}

static int end_opening(const struct opening *o)
{
	int err = 1;

	ck_assert_int_eq(read(o->status, &err, sizeof(err)), sizeof(err));
	close(o->status);
	waitpid(o->child, NULL, 0);
	return err;
}

static __u64 await_opening(int fd, const struct opening *o)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	struct qz_set_info info;
	__u64 id;

	ck_assert_int_eq(poll(&ready, 1, 100000), 1);
	id = set_of(fd, o->child, &info);
	ck_assert_uint_ne(id, 0);
	ck_assert_uint_eq(info.awaiting, 1);
	ck_assert(info.slot_pointer_offset == -4711);
	return id;
}

static long answer(int fd, __u64 id, int status)
{
	struct qz_ioc_answer_set a = {.size = sizeof(a), .status = status, .id = id};

	return call(fd, QZ_IOC_ANSWER_SET, &a);
}

START_TEST(sets_wait_for_their_answer)
{
	int fd = device(), reader;
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	struct opening o;
	__u64 id;

	listen_on(fd);
	for (int status = 0; status >= -ESRCH; status -= ESRCH) {
		ck_assert_int_eq(poll(&ready, 1, 0), 0);
		o = begin_opening(fd, QZ_SET_PATIENCE_MAX);
		id = await_opening(fd, &o);
		reader = attach(fd, id);
		ck_assert_int_ge(reader, 0);
		ck_assert_int_eq(answer(fd, id, 1), -EINVAL);
		ck_assert_int_eq(answer(fd, id, -4096), -EINVAL);
		ck_assert_int_eq(answer(fd, ~0ull, 0), -ESRCH);
		ck_assert_int_eq(answer(reader, id, 0), -ENOTTY);
		ck_assert_int_eq(answer(fd, id, status), 0);
		ck_assert_int_eq(answer(fd, id, 0), -ESRCH);
		ck_assert_int_eq(end_opening(&o), status);
		close(reader);
	}
}
END_TEST

START_TEST(sets_do_not_wait_for_ever)
{
	int fd = device();
	struct opening o = begin_opening(fd, QZ_SET_PATIENCE_MAX);
	struct qz_set_info info;
	__u64 id;

	ck_assert_int_eq(end_opening(&o), 0); /* no quartzd listens */
	listen_on(fd);
	o = begin_opening(fd, 1000000);
	ck_assert_int_eq(end_opening(&o), -ETIMEDOUT);
	o = begin_opening(fd, QZ_SET_PATIENCE_MAX);
	id = await_opening(fd, &o);
	kill(o.child, SIGKILL);
	waitpid(o.child, NULL, 0);
	ck_assert_int_eq(answer(fd, id, 0), -ESRCH);
	ck_assert_uint_eq(set_of(fd, o.child, &info), 0);
	o = begin_opening(fd, QZ_SET_PATIENCE_MAX);
	await_opening(fd, &o);
	close(fd);
	ck_assert_int_eq(end_opening(&o), -ESHUTDOWN);
	o = begin_opening(fd, QZ_SET_PATIENCE_MAX + 1);
	ck_assert_int_eq(end_opening(&o), -EINVAL);
}
END_TEST

#define TIMES 2000

static void *map_all_the_time(void *argument)
{
	int fd = *(int *)argument;

	for (int i = 0; i < TIMES; i++)
		munmap(map_set(fd, SIZE, PROT_READ), SIZE);
	return NULL;
}

/* The list is written to memory that is not there yet, while another thread maps a set. */
START_TEST(listing_and_mapping_do_not_wait_for_each_other)
{
	int fd = device();
	pthread_t mapper;

	new_set(fd);
	ck_assert_int_eq(pthread_create(&mapper, NULL, map_all_the_time, &fd), 0);
	for (int i = 0; i < TIMES; i++) {
		void *fresh = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				   -1, 0);
		struct qz_ioc_list_sets list = {
			.size = sizeof(list), .room = 1, .sets = (__u64)(uintptr_t)fresh};

		ck_assert_int_eq(call(fd, QZ_IOC_LIST_SETS, &list), 1);
		munmap(fresh, PAGE);
	}
	pthread_join(mapper, NULL);
}
END_TEST

START_TEST(sizes_that_are_refused)
{
	static const __u64 bytes[] = {0,     1,		PAGE - 1, PAGE + 1, QZ_SET_MAX + PAGE,
				      ~0ull, 1ull << 63};
	struct qz_ioc_open_set open = ordinary;
	int fd = device();

	for (unsigned int i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		open.bytes = bytes[i];
		open.slots_offset = 0;
		ck_assert_int_eq(call(fd, QZ_IOC_OPEN_SET, &open), -EINVAL);
	}
	open = ordinary;
	open.slots_offset = SIZE;
	ck_assert_int_eq(call(fd, QZ_IOC_OPEN_SET, &open), -EINVAL);
	open = ordinary;
	open.page_version++;
	ck_assert_int_eq(call(fd, QZ_IOC_OPEN_SET, &open), -EPROTONOSUPPORT);
	ck_assert_int_eq(call(fd, QZ_IOC_OPEN_SET, &ordinary), 0);
	ck_assert_int_eq(call(fd, QZ_IOC_OPEN_SET, &ordinary), -EBUSY);
}
END_TEST

START_TEST(mappings_that_are_refused)
{
	int fd = device(), any = PROT_READ | PROT_WRITE;
	unsigned char *set;

	ck_assert_ptr_eq(map_set(fd, SIZE, any), MAP_FAILED);
	set = new_set(fd);
	ck_assert_ptr_eq(map_set(fd, SIZE + PAGE, any), MAP_FAILED);
	ck_assert_ptr_eq(mmap(NULL, PAGE, any, MAP_SHARED, fd, SIZE), MAP_FAILED);
	ck_assert_ptr_eq(mmap(NULL, PAGE, any, MAP_SHARED, fd, 1l << 50), MAP_FAILED);
	ck_assert_ptr_eq(mmap(NULL, SIZE, any, MAP_PRIVATE, fd, 0), MAP_FAILED);
	ck_assert_ptr_eq(mmap(NULL, SIZE, any | PROT_EXEC, MAP_SHARED, fd, 0), MAP_FAILED);
	ck_assert_int_eq(mprotect(set, SIZE, PROT_READ | PROT_EXEC), -1);
	ck_assert_ptr_eq(mremap(set, SIZE, 2 * SIZE, MREMAP_MAYMOVE), MAP_FAILED);
	ck_assert_ptr_eq(mmap(NULL, PAGE, any, MAP_SHARED, fd, QZ_DEVICE_FLAG), MAP_FAILED);
	ck_assert_ptr_eq(mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, QZ_DEVICE_FLAG),
			 MAP_FAILED);
}
END_TEST

START_TEST(the_flag_tells_who_listens)
{
	int fd = device(), status;
	const volatile struct qz_page_flag *flag =
		mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, QZ_DEVICE_FLAG);
	__u32 first;
	pid_t child;

	ck_assert_ptr_ne((void *)flag, MAP_FAILED);
	ck_assert_int_eq(mprotect((void *)flag, PAGE, PROT_READ | PROT_WRITE), -1);
	ck_assert_uint_eq(flag->generation, 0);
	child = fork();
	if (!child) {
		struct qz_ioc_listen l = {.size = sizeof(l)};
		int own = device();

		listen_on(own);
		if (call(fd, QZ_IOC_LISTEN, &l) != -EBUSY)
			_exit(1);
		raise(SIGKILL);
	}
	waitpid(child, &status, 0);
	ck_assert(WIFSIGNALED(status));
	ck_assert_uint_eq(flag->generation, 0);
	first = listen_on(fd);
	ck_assert_uint_eq(flag->generation, first);
	close(fd);
	munmap((void *)flag, PAGE);
	fd = device();
	ck_assert_uint_eq(listen_on(fd), first + 1);
}
END_TEST

START_TEST(users_have_a_limit)
{
	struct qz_ioc_open_set open = ordinary;
	int fds[9], i;

	become_nobody();
	for (i = 0; i < 9; i++) {
		fds[i] = device();
		if (call(fds[i], QZ_IOC_OPEN_SET, &open))
			break;
	}
	ck_assert_int_eq(i, 8); /* sets_per_user, as the module was loaded */
	ck_assert_int_eq(call(fds[8], QZ_IOC_OPEN_SET, &open), -EDQUOT);
	close(fds[0]);
	ck_assert_int_eq(call(fds[8], QZ_IOC_OPEN_SET, &open), 0);
}
END_TEST

START_TEST(nobody_may_only_have_a_set)
{
	static const unsigned long privileged[] = {QZ_IOC_LISTEN,	 QZ_IOC_LIST_SETS,
						   QZ_IOC_ATTACH_SET,	 QZ_IOC_PUBLISH,
						   QZ_IOC_PUBLISH_SCOPE, QZ_IOC_RETIRE_SCOPE,
						   QZ_IOC_SNAPSHOT,	 QZ_IOC_ANSWER_SET};
	char bytes[PAGE] = {0};
	int fd;

	become_nobody();
	fd = device();
	new_set(fd)[0] = 1;
	bytes[0] = 64;
	for (unsigned int i = 0; i < sizeof(privileged) / sizeof(privileged[0]); i++)
		ck_assert_int_eq(call(fd, privileged[i], bytes), -EPERM);
}
END_TEST

/* Each structure: no memory there, sizes below the size itself, a size beyond with and without zeros. */
START_TEST(structures_that_are_refused)
{
	static const unsigned long requests[] = {QZ_IOC_OPEN_SET,     QZ_IOC_LISTEN,
						 QZ_IOC_LIST_SETS,    QZ_IOC_ATTACH_SET,
						 QZ_IOC_PUBLISH,      QZ_IOC_PUBLISH_SCOPE,
						 QZ_IOC_RETIRE_SCOPE, QZ_IOC_SNAPSHOT,
						 QZ_IOC_ANSWER_SET};
	int fd = device(), speaker = device();
	char bytes[2 * PAGE];

	listen_on(speaker);
	for (unsigned int i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		int on = i < 4 || i == 7 ? fd : speaker;

		ck_assert_int_eq(call(on, requests[i], NULL), -EFAULT);
		ck_assert_int_eq(call(on, requests[i], (void *)-8ul), -EFAULT);
		for (__u32 size = 0; size < 4; size++) {
			memset(bytes, 0, sizeof(bytes));
			memcpy(bytes, &size, 4);
			ck_assert_int_eq(call(on, requests[i], bytes), -EINVAL);
		}
		memset(bytes, 0xff, sizeof(bytes));
		memcpy(bytes, &(__u32) {PAGE}, 4);
		ck_assert_int_eq(call(on, requests[i], bytes), -E2BIG);
		memcpy(bytes, &(__u32) {PAGE + 1}, 4);
		ck_assert_int_eq(call(on, requests[i], bytes), -EINVAL);
	}
	ck_assert_int_eq(call(fd, _IO('Q', 0), NULL), -ENOTTY);
	ck_assert_int_eq(call(fd, _IO('Q', 99), bytes), -ENOTTY);
	ck_assert_int_eq(call(fd, 0x5401, bytes), -ENOTTY);
}
END_TEST

START_TEST(reserved_fields_are_zero)
{
	struct qz_ioc_open_set open = ordinary;
	struct qz_ioc_list_sets list = {.size = sizeof(list), .reserved = 1};
	struct qz_ioc_attach_set attach_arg = {.size = sizeof(attach_arg), .reserved = 1};
	struct qz_ioc_publish publish = {.size = sizeof(publish)};
	struct qz_ioc_publish_scope scope = {.size = sizeof(scope), .reserved = 1, .name = "x"};
	struct qz_ioc_retire_scope retire = {.size = sizeof(retire), .reserved = 1, .name = "x"};
	int fd = device();

	listen_on(fd);
	open.reserved[1] = 1;
	publish.reserved[3] = 1;
	ck_assert_int_eq(call(fd, QZ_IOC_OPEN_SET, &open), -EINVAL);
	ck_assert_int_eq(call(fd, QZ_IOC_LIST_SETS, &list), -EINVAL);
	ck_assert_int_eq(call(fd, QZ_IOC_ATTACH_SET, &attach_arg), -EINVAL);
	ck_assert_int_eq(call(fd, QZ_IOC_PUBLISH, &publish), -EINVAL);
	ck_assert_int_eq(call(fd, QZ_IOC_PUBLISH_SCOPE, &scope), -EINVAL);
	ck_assert_int_eq(call(fd, QZ_IOC_RETIRE_SCOPE, &retire), -EINVAL);
}
END_TEST

/* What lies behind a caller's structure is nothing to the module, and a newer caller's zeros are nothing new. */
START_TEST(older_and_newer_callers_are_understood)
{
	struct {
		struct qz_ioc_open_set open;
		char more[PAGE - sizeof(struct qz_ioc_open_set)];
	} newer = {.open = ordinary};
	struct qz_ioc_open_set older = ordinary;

	older.size = offsetof(struct qz_ioc_open_set, patience_ns);
	older.patience_ns = ~0ull;
	older.reserved[0] = 1;
	ck_assert_int_eq(call(device(), QZ_IOC_OPEN_SET, &older), 0);
	newer.open.size = PAGE;
	ck_assert_int_eq(call(device(), QZ_IOC_OPEN_SET, &newer), 0);
}
END_TEST

START_TEST(lists_that_cannot_be_written)
{
	struct qz_ioc_list_sets list = {.size = sizeof(list), .room = 64, .sets = 8};
	int fd = device();

	new_set(fd);
	ck_assert_int_eq(call(fd, QZ_IOC_LIST_SETS, &list), -EFAULT);
	list.room = 0;
	ck_assert_int_eq(call(fd, QZ_IOC_LIST_SETS, &list), 0);
	list.room = 64;
	list.after = ~0ull;
	ck_assert_int_eq(call(fd, QZ_IOC_LIST_SETS, &list), 0);
}
END_TEST

Suite *suite_device(void)
{
	Suite *s = suite_create("device");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, both_sides_see_the_same_bytes);
	tcase_add_test(tc, a_reader_keeps_the_memory_not_the_set);
	tcase_add_test(tc, a_set_lives_as_long_as_a_mapping);
	tcase_add_test(tc, a_set_survives_its_process_in_a_child);
	tcase_add_test(tc, exec_ends_a_set);
	tcase_add_test(tc, sets_wait_for_their_answer);
	tcase_add_test(tc, sets_do_not_wait_for_ever);
	tcase_add_test(tc, listing_and_mapping_do_not_wait_for_each_other);
	tcase_add_test(tc, sizes_that_are_refused);
	tcase_add_test(tc, mappings_that_are_refused);
	tcase_add_test(tc, the_flag_tells_who_listens);
	tcase_add_test(tc, users_have_a_limit);
	tcase_add_test(tc, nobody_may_only_have_a_set);
	tcase_add_test(tc, structures_that_are_refused);
	tcase_add_test(tc, reserved_fields_are_zero);
	tcase_add_test(tc, older_and_newer_callers_are_understood);
	tcase_add_test(tc, lists_that_cannot_be_written);
	suite_add_tcase(s, tc);
	return s;
}
