/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a wait is for: kinds by procedure and by the arguments of futex(2) as glibc 2.36 makes them,
 * names by the first procedure outside of the runtime.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/waits/object_naming.h"
#include "daemon/privsep/procfs.h"
#include "daemon/waits/futex_classify.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"
#include "tests/unit/symbolizer/symbolizer_util.h"

#define WAIT	     (FUTEX_WAIT | FUTEX_PRIVATE_FLAG)
#define WAIT_SHARED  FUTEX_WAIT
#define TIMED	     (FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME)
#define TIMED_SHARED (FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME)
#define TID	     4711
#define SPUN	     UINT32_MAX /* no call */

/* ---- kinds ---- */

static const struct {
	const char *stack; /* outermost first */
	uint32_t op, val;
	uint32_t second; /* the word behind */
	uint32_t kind;
	const char *name;
} waits[] = {
	{"main locker pthread_mutex_lock __lll_lock_wait", WAIT, 2, 0, QZ_OBJECT_MUTEX,
	 "mutex in locker (f.c:5)"},
	{"main locker pthread_mutex_lock", WAIT_SHARED, 2, 0, QZ_OBJECT_MUTEX,
	 "mutex in locker (f.c:5)"},
	{"main locker pthread_mutex_lock", FUTEX_LOCK_PI, 0, 0, QZ_OBJECT_MUTEX,
	 "mutex in locker (f.c:5)"},
	{"main locker pthread_mutex_lock", WAIT_SHARED, TID | FUTEX_WAITERS, 0, QZ_OBJECT_MUTEX,
	 "mutex in locker (f.c:5)"},
	{"main locker", WAIT, 2, 0, QZ_OBJECT_MUTEX, "mutex in locker (f.c:5)"},
	{"main locker", FUTEX_LOCK_PI | FUTEX_PRIVATE_FLAG, 0, 0, QZ_OBJECT_MUTEX,
	 "mutex in locker (f.c:5)"},
	{"main locker", WAIT_SHARED, TID | FUTEX_WAITERS, 0, QZ_OBJECT_MUTEX,
	 "mutex in locker (f.c:5)"},
	{"main locker", WAIT, UINT32_MAX, 0, QZ_OBJECT_MUTEX, "mutex in locker (f.c:5)"},
	{"main consume pthread_cond_wait", TIMED, 0, 0, QZ_OBJECT_CONDITION,
	 "condition variable in consume (f.c:5)"},
	/* it gets its mutex back */
	{"main consume pthread_cond_wait __pthread_mutex_cond_lock", WAIT, 2, 0, QZ_OBJECT_MUTEX,
	 "mutex in consume (f.c:5)"},
	{"main consume pthread_cond_wait", WAIT, 2, 0, QZ_OBJECT_MUTEX, "mutex in consume (f.c:5)"},
	{"main consume", TIMED, 0, 0, QZ_OBJECT_CONDITION, "condition variable in consume (f.c:5)"},
	{"main consume", TIMED, 0, 1, QZ_OBJECT_SEMAPHORE, "semaphore in consume (f.c:5)"},
	{"main consume sem_wait", TIMED, 0, 1, QZ_OBJECT_SEMAPHORE, "semaphore in consume (f.c:5)"},
	{"main step pthread_barrier_wait", WAIT, 7, 0, QZ_OBJECT_BARRIER,
	 "barrier in step (f.c:5)"},
	{"main step", WAIT, 7, 0, QZ_OBJECT_OTHER, "futex in step (f.c:5)"},
	{"main look", TIMED, 3, 0, QZ_OBJECT_RWLOCK, "rwlock in look (f.c:5)"},
	{"main look", TIMED, 2, 0, QZ_OBJECT_RWLOCK, "rwlock in look (f.c:5)"},
	{"main look pthread_rwlock_rdlock", TIMED, 3, 0, QZ_OBJECT_RWLOCK,
	 "rwlock in look (f.c:5)"},
	{"main pthread_clockjoin_ex __pthread_clockjoin_ex", TIMED_SHARED, TID, 0, QZ_OBJECT_JOIN,
	 "end of thread reader in main (f.c:5)"},
	{"main", TIMED_SHARED, TID, 0, QZ_OBJECT_JOIN, "end of thread reader in main (f.c:5)"},
	{"main open __pthread_once_slow", WAIT, 1, 0, QZ_OBJECT_ONCE,
	 "initialization in open (f.c:5)"},
	{"main build malloc arena_get2 __lll_lock_wait_private", WAIT, 2, 0, QZ_OBJECT_MUTEX,
	 "malloc arena in build (f.c:5)"},
	{"main run PyEval_RestoreThread take_gil pthread_cond_timedwait", TIMED, 0, 0,
	 QZ_OBJECT_MUTEX, "the interpreter lock"},
	{"main run PyThread_acquire_lock_timed sem_clockwait", TIMED, 0, 1, QZ_OBJECT_SEMAPHORE,
	 "semaphore in run (f.c:5)"},
	/* code of the program that runs inside of an initialization */
	{"main pthread_once setup pthread_mutex_lock", WAIT, 2, 0, QZ_OBJECT_MUTEX,
	 "mutex in setup (f.c:5)"},
	{"main std::condition_variable::wait pthread_cond_wait", TIMED, 0, 0, QZ_OBJECT_CONDITION,
	 "condition variable in main (f.c:5)"},
	{"main std::sys::sync::mutex::futex::Mutex::lock_contended", WAIT, 2, 0, QZ_OBJECT_MUTEX,
	 "mutex in main (f.c:5)"},
	/* a worker that ran nothing else yet is its creator's */
	{"main compute GOMP_parallel [thread] gomp_thread_start gomp_barrier_wait", WAIT, 7, 0,
	 QZ_OBJECT_BARRIER, "barrier in compute (f.c:5)"},
	{"main look", SPUN, 0, 0, QZ_OBJECT_SPIN, "spin lock in look (f.c:5)"},
	/* interrupted */
	{"main look kernel_interrupt kernel_schedule", SPUN, 0, 0, QZ_OBJECT_SPIN,
	 "spin lock in look (f.c:5)"},
	{"main look pthread_spin_lock", SPUN, 0, 0, QZ_OBJECT_SPIN, "spin lock in look (f.c:5)"},
	{"main compute GOMP_parallel [thread] gomp_thread_start gomp_barrier_wait", SPUN, 7, 0,
	 QZ_OBJECT_BARRIER, "barrier in compute (f.c:5)"},
	/* without symbols: its locks have a value of their own */
	{"main stripped_1e2d0 stripped_1f780", WAIT, 8, 0, QZ_OBJECT_BARRIER,
	 "barrier in main (f.c:5)"},
	{"main stripped_1e2d0 stripped_1f780", SPUN, 0, 0, QZ_OBJECT_BARRIER,
	 "barrier in main (f.c:5)"},
	{"main stripped_1e2d0 stripped_1f780", WAIT, UINT32_MAX, 0, QZ_OBJECT_MUTEX,
	 "mutex in main (f.c:5)"},
	{"main stripped_1e2d0 step", WAIT, 7, 0, QZ_OBJECT_OTHER, "futex in step (f.c:5)"},
	{"main look pthread_rwlock_rdlock", SPUN, 3, 0, QZ_OBJECT_RWLOCK, "rwlock in look (f.c:5)"},
	{"main [process] pthread_mutex_lock", WAIT, 2, 0, QZ_OBJECT_MUTEX, "mutex [unknown]"},
	/* musl, linked in; and as a library of which no procedure is known */
	{"main take sem_timedwait __timedwait_cp __syscall_cp_c", WAIT, UINT32_MAX, 1,
	 QZ_OBJECT_SEMAPHORE, "semaphore in take (f.c:5)"},
	{"main consume pthread_cond_timedwait __timedwait_cp __syscall_cp_c", WAIT, 2, 0,
	 QZ_OBJECT_CONDITION, "condition variable in consume (f.c:5)"},
	{"main consume pthread_cond_timedwait pthread_mutex_timedlock __timedwait", WAIT,
	 TID | FUTEX_WAITERS, 1, QZ_OBJECT_MUTEX, "mutex in consume (f.c:5)"},
	{"main pthread_timedjoin_np __timedwait_cp __syscall_cp_c", WAIT, 2, 0, QZ_OBJECT_JOIN,
	 "end of thread reader in main (f.c:5)"},
	{"main look __timedwait_cp", WAIT, 2, 0, QZ_OBJECT_JOIN,
	 "end of thread reader in look (f.c:5)"},
	{"main take musl_memset", WAIT, FUTEX_WAITERS, 1, QZ_OBJECT_SEMAPHORE,
	 "semaphore in take (f.c:5)"},
	{"main take musl_memset", WAIT, UINT32_MAX, 1, QZ_OBJECT_RWLOCK, "rwlock in take (f.c:5)"},
	{"main take musl_memset", WAIT, UINT32_MAX, 0, QZ_OBJECT_OTHER, "futex in take (f.c:5)"},
	{"main take musl_memset", WAIT, TID | FUTEX_WAITERS, 1, QZ_OBJECT_MUTEX,
	 "mutex in take (f.c:5)"},
	{"main take musl_memset", WAIT, 2 | FUTEX_WAITERS, 3, QZ_OBJECT_RWLOCK,
	 "rwlock in take (f.c:5)"},
	{"main take musl_memset", WAIT, 7, 0, QZ_OBJECT_OTHER, "futex in take (f.c:5)"},
	{"musl_memset", WAIT, 7, 0, QZ_OBJECT_OTHER, "futex [unknown]"},
	{"", WAIT, 2, 0, QZ_OBJECT_MUTEX, "mutex [unknown]"},
};

/* fixture.c has no source files, and no kernel: give each procedure one of both. */
static void add_files(struct qz_profile *p)
{
	for (uint32_t i = 0; i < p->nprocedures; i++) {
		struct qz_procedure *procedure = &p->procedures[i];

		ck_assert_int_eq(qz_profile__set_string(&procedure->file, "src/f.c"), 0);
		if (!strncmp(procedure->name, "kernel_", 7))
			ck_assert_int_eq(qz_profile__set_string(&procedure->module, "[kernel]"), 0);
		if (!strncmp(procedure->name, "musl_", 5))
			ck_assert_int_eq(
				qz_profile__set_string(&procedure->module,
						       "/usr/lib/x86_64-linux-musl/libc.so"),
				0);
		if (!strncmp(procedure->name, "stripped_", 9))
			ck_assert_int_eq(qz_profile__set_string(&procedure->module,
								"/lib/libgomp.so.1.0.0"),
					 0);
	}
}

START_TEST(kinds_and_names)
{
	struct fixture f = fixture__new();
	uint32_t node = fixture__stack(&f, waits[_i].stack);
	struct object_naming_context *c = object_naming__new(NULL, NULL, f.p);
	struct object_naming_futex futex = {
		.word = 0x1000, .op = waits[_i].op, .val = waits[_i].val, .node = node};
	struct object_naming name;

	ck_assert_int_eq(f.err, 0);
	ck_assert_ptr_nonnull(c);
	futex.nbytes = OBJNAME_BYTES;
	futex.joined = "reader";
	futex.spun = futex.op == SPUN;
	memcpy(futex.bytes + 4, &waits[_i].second, sizeof(waits[_i].second));
	add_files(f.p);
	object_naming__futex(c, &futex, &name);
	ck_assert_str_eq(name.name, waits[_i].name);
	ck_assert_uint_eq(name.kind, waits[_i].kind);
	ck_assert(!futex.spun || name.address == futex.word);
	object_naming__free(c);
	qz_profile__free(f.p);
}
END_TEST

/* Where the word is tells a condition's from that of a thread's end; its third word a semaphore. */
START_TEST(words_of_musl)
{
	uint8_t bytes[OBJNAME_BYTES] = {[8] = FUTEX_PRIVATE_FLAG};
	struct futex_classify_futex f = {0x1004, WAIT, 2, OBJNAME_BYTES, bytes, true};

	ck_assert_uint_eq(futex_classify__kind(&f, QZ_OBJECT_OTHER), QZ_OBJECT_CONDITION);
	f.word = 0x1000;
	ck_assert_uint_eq(futex_classify__kind(&f, QZ_OBJECT_OTHER), QZ_OBJECT_JOIN);
	f.val = UINT32_MAX;
	ck_assert_uint_eq(futex_classify__kind(&f, QZ_OBJECT_OTHER), QZ_OBJECT_SEMAPHORE);
	/* the same words of others */
	f.musl = false;
	ck_assert_uint_eq(futex_classify__kind(&f, QZ_OBJECT_OTHER), QZ_OBJECT_MUTEX);
	f.val = 2;
	ck_assert_uint_eq(futex_classify__kind(&f, QZ_OBJECT_CONDITION), QZ_OBJECT_MUTEX);
}
END_TEST

static bool give_name(void *context, uint64_t address, char *name)
{
	if (address != *(uint64_t *)context)
		return false;
	strcpy(name, "the bell");
	return true;
}

/* The name that the program gave comes first; the kind is told by the wait. */
START_TEST(programs_give_names)
{
	struct fixture f = fixture__new();
	struct object_naming_context *c = object_naming__new(NULL, NULL, f.p);
	uint64_t address = 0x1000;
	struct object_naming_futex futex = {.word = 0x1000, .op = WAIT, .val = 2};
	struct object_naming name;

	futex.node = fixture__stack(&f, "main locker pthread_mutex_lock");
	futex.given = give_name;
	futex.context = &address;
	add_files(f.p);
	object_naming__futex(c, &futex, &name);
	ck_assert_str_eq(name.name, "the bell");
	ck_assert_uint_eq(name.kind, QZ_OBJECT_MUTEX);
	address = 0x2000;
	object_naming__futex(c, &futex, &name);
	ck_assert_str_eq(name.name, "mutex in locker (f.c:5)");
	object_naming__free(c);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(finds_where_objects_begin)
{
	struct futex_classify_futex f = {.op = TIMED};
	f.word = 0x1000 + offsetof(pthread_cond_t, __data.__g_signals[0]);
	ck_assert_uint_eq(f.word - futex_classify__distance(&f, QZ_OBJECT_CONDITION), 0x1000);
	f.word = 0x1000 + offsetof(pthread_cond_t, __data.__g_signals[1]);
	ck_assert_uint_eq(f.word - futex_classify__distance(&f, QZ_OBJECT_CONDITION), 0x1000);
	f.val = 3;
	f.word = 0x1000 + offsetof(pthread_rwlock_t, __data.__wrphase_futex);
	ck_assert_uint_eq(f.word - futex_classify__distance(&f, QZ_OBJECT_RWLOCK), 0x1000);
	f.word = 0x1000 + offsetof(pthread_rwlock_t, __data.__writers_futex);
	ck_assert_uint_eq(f.word - futex_classify__distance(&f, QZ_OBJECT_RWLOCK), 0x1000);
	f.val = 12;
	f.word = 0x1000 + offsetof(pthread_rwlock_t, __data.__readers);
	ck_assert_uint_eq(f.word - futex_classify__distance(&f, QZ_OBJECT_RWLOCK), 0x1000);
}
END_TEST

/* Maps the code of a fixture at some place. */
static void map_fixture(struct modules *modules, struct address_map *map, uint64_t base,
			const char *fixture)
{
	struct procfs_dir gone = {.asked = true, .fd = -ESRCH};
	struct module_mapping mapping = {.dir = &gone, .path = util__fixture(fixture)};
	struct region region = {base + 0x1000, base + 0x2000, 0x1000};
	struct stat st;

	ck_assert_int_eq(stat(mapping.path, &st), 0);
	mapping.inode = st.st_ino;
	mapping.major = major(st.st_dev);
	mapping.minor = minor(st.st_dev);
	region.module = modules__of_mapping(modules, &mapping);
	ck_assert_uint_ne(region.module, MODULE_NONE);
	ck_assert_int_eq(address_map__map(map, &region), 0);
}

static uint64_t offset_of(const char *variable)
{
	char command[4200];
	unsigned long address;
	FILE *nm;

	snprintf(command, sizeof(command), "nm %s | sed -n 's/ [BbDd] %s$//p'",
		 util__fixture("variables_c"), variable);
	nm = popen(command, "r");
	ck_assert_ptr_nonnull(nm);
	ck_assert_int_eq(fscanf(nm, "%lx", &address), 1);
	ck_assert_int_eq(pclose(nm), 0);
	return address;
}

static void check_variable(struct object_naming_context *c, struct object_naming_futex *f,
			   uint64_t word, const char *expected, const char *module)
{
	struct object_naming name;

	f->word = word;
	object_naming__futex(c, f, &name);
	ck_assert_str_eq(name.name, expected);
	ck_assert_int_eq(strcmp(strrchr(name.module, '/'), module), 0);
}

/* The variables of a module are found from its code, though their memory is nowhere recorded. */
START_TEST(variables_have_names)
{
	struct fixture f = fixture__new();
	struct symbolizer *s = util__symbolizer(false, false);
	struct modules *modules = modules__new(s);
	struct object_naming_context *c = object_naming__new(s, modules, f.p);
	struct address_map map = {0};
	struct object_naming_futex futex = {.map = &map, .op = WAIT, .val = 2};
	struct region jit = {0x30000, 0x31000, 0, MODULE_NONE};
	uint64_t lock = offset_of("plain_lock"), pool = offset_of("pool");

	futex.node = fixture__stack(&f, "main locker pthread_mutex_lock");
	ck_assert_int_eq(f.err, 0);
	add_files(f.p);
	map_fixture(modules, &map, 0x100000, "variables_c");
	map_fixture(modules, &map, 0x200000, "variables_nodebug");
	ck_assert_int_eq(address_map__map(&map, &jit), 0);
	check_variable(c, &futex, 0x100000 + lock, "plain_lock", "/variables_c");
	check_variable(c, &futex, 0x100000 + pool + 32, "pool.queue_lock", "/variables_c");
	check_variable(c, &futex, 0x200000 + pool + 32, "pool+0x20", "/variables_nodebug");
	futex.op = TIMED;
	futex.val = 0;
	futex.node = fixture__stack(&f, "main locker pthread_cond_wait");
	check_variable(c, &futex, 0x200000 + pool + 328 + 0x28, "pool+0x148", "/variables_nodebug");
	futex.op = WAIT;
	futex.val = 2;
	add_files(f.p);
	/* in the heap between the two, above, and below */
	check_variable(c, &futex, 0x150000, "mutex in locker (f.c:5)", "/app");
	check_variable(c, &futex, 0x7000000, "mutex in locker (f.c:5)", "/app");
	check_variable(c, &futex, 0x10, "mutex in locker (f.c:5)", "/app");
	address_map__free(&map);
	object_naming__free(c);
	modules__free(modules);
	symbolizer__free(s);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(long_names_are_cut)
{
	struct fixture f = fixture__new();
	char words[250];
	struct object_naming_context *c = object_naming__new(NULL, NULL, f.p);
	struct object_naming_futex futex = {.op = WAIT, .val = 2};
	struct object_naming name;

	memset(words, 'x', sizeof(words) - 1);
	words[sizeof(words) - 1] = '\0';
	futex.node = fixture__stack(&f, words);
	ck_assert_int_eq(f.err, 0);
	for (uint32_t i = 0; i < f.p->nprocedures; i++)
		if (f.p->procedures[i].kind == QZ_PROCEDURE) {
			char *longer = malloc(5000);

			memset(longer, 'y', 4999);
			longer[4999] = '\0';
			free(f.p->procedures[i].name);
			f.p->procedures[i].name = longer;
		}
	object_naming__futex(c, &futex, &name);
	ck_assert_uint_lt(strlen(name.name), OBJNAME_SIZE);
	ck_assert_int_eq(strncmp(name.name, "mutex in yyy", 12), 0);
	object_naming__free(c);
	qz_profile__free(f.p);
}
END_TEST

/* ---- descriptors ---- */

static void check_file(uint32_t kind, int fd, const char *expected)
{
	struct object_naming_file file = {
		.pid = getpid(), .fd = fd, .kind = kind, .before = "", .behind = ""};
	struct object_naming name;
	char locked[OBJNAME_SIZE + 32];
	struct stat st;

	ck_assert_int_eq(fstat(fd, &st), 0);
	file.inode = st.st_ino;
	object_naming__file(&file, &name);
	ck_assert_str_eq(name.name, expected);
	ck_assert_uint_eq(name.kind, kind);
	for (int i = 0; kind == QZ_OBJECT_PIPE && i < 4200;
	     i++) /* none of these takes the name of the last one */
		object_naming__file(&file, &name);
	ck_assert_str_eq(name.name, expected);
	file.before = "the lock of ";
	file.behind = " (flock)";
	object_naming__file(&file, &name);
	snprintf(locked, sizeof(locked), "the lock of %s (flock)", expected);
	ck_assert_str_eq(name.name, locked);
	file.before = file.behind = "";
	file.limited = true;
	object_naming__file(&file, &name);
	ck_assert_str_eq(name.name, futex_classify__word(kind));
	file.limited = false;
	file.inode++; /* another file by now */
	object_naming__file(&file, &name);
	ck_assert_str_eq(name.name, futex_classify__word(kind));
}

START_TEST(descriptors_have_names)
{
	struct object_naming_context *c = object_naming__new(NULL, NULL, NULL);
	char expected[64];
	struct stat st;
	int fds[2];

	check_file(QZ_OBJECT_FILE, open("/proc/self/exe", O_RDONLY), TEST_BUILD "/tests/unit/unit");
	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_eq(fstat(fds[0], &st), 0);
	snprintf(expected, sizeof(expected), "pipe:[%lu]", st.st_ino);
	check_file(QZ_OBJECT_PIPE, fds[0], expected);
	check_file(QZ_OBJECT_PIPE, fds[1], expected);
	object_naming__free(c);
}
END_TEST

static socklen_t make_address(int domain, struct sockaddr_storage *address)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)address;
	struct sockaddr_in *in = (struct sockaddr_in *)address;
	struct sockaddr_un *un = (struct sockaddr_un *)address;

	memset(address, 0, sizeof(*address));
	address->ss_family = (sa_family_t)domain;
	if (domain == AF_INET6)
		in6->sin6_addr = in6addr_loopback;
	if (domain == AF_INET)
		in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (domain != AF_UNIX)
		return domain == AF_INET ? sizeof(*in) : sizeof(*in6);
	snprintf(un->sun_path + 1, sizeof(un->sun_path) - 1, "quartz-test-%d", getpid());
	return (socklen_t)(sizeof(un->sun_family) + 1 + strlen(un->sun_path + 1));
}

/* What a connection is called at both ends: after the lower of its two ports. */
static void expect(int domain, int listener, int client, char *to, size_t size)
{
	struct sockaddr_storage a = {0}, b = {0};
	socklen_t length = sizeof(a);
	int ports[2];

	ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&a, &length), 0);
	length = sizeof(b);
	ck_assert_int_eq(getsockname(client, (struct sockaddr *)&b, &length), 0);
	/* the port stands at the same place in both families */
	ports[0] = ntohs(((struct sockaddr_in *)&a)->sin_port);
	ports[1] = ntohs(((struct sockaddr_in *)&b)->sin_port);
	if (domain == AF_UNIX)
		snprintf(to, size, "unix @quartz-test-%d", getpid());
	else
		snprintf(to, size, domain == AF_INET ? "tcp 127.0.0.1:%d" : "tcp [::1]:%d",
			 ports[0] < ports[1] ? ports[0] : ports[1]);
}

static const int domains[] = {AF_INET, AF_INET6, AF_UNIX};

START_TEST(sockets_have_names)
{
	struct object_naming_context *c = object_naming__new(NULL, NULL, NULL);
	int listener = socket(domains[_i], SOCK_STREAM | SOCK_CLOEXEC, 0);
	int client = socket(domains[_i], SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_storage address;
	socklen_t length = make_address(domains[_i], &address);
	char expected[64];

	if (listener < 0 || bind(listener, (struct sockaddr *)&address, length)) {
		ck_assert_msg(domains[_i] == AF_INET6, "no sockets");
		return; /* a machine without IPv6 */
	}
	ck_assert_int_eq(listen(listener, 1), 0);
	length = sizeof(address);
	ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&address, &length), 0);
	ck_assert_int_eq(connect(client, (struct sockaddr *)&address, length), 0);
	expect(domains[_i], listener, client, expected, sizeof(expected));
	check_file(QZ_OBJECT_SOCKET, accept(listener, NULL, NULL), expected);
	if (domains[_i] != AF_UNIX)
		check_file(QZ_OBJECT_SOCKET, client, expected);
	object_naming__free(c);
}
END_TEST

Suite *suite_object_naming(void)
{
	Suite *s = suite_create("object_naming");
	TCase *t = tcase_create("objname");

	tcase_add_loop_test(t, kinds_and_names, 0, sizeof(waits) / sizeof(waits[0]));
	tcase_add_test(t, words_of_musl);
	tcase_add_test(t, programs_give_names);
	tcase_add_test(t, finds_where_objects_begin);
	tcase_add_test(t, variables_have_names);
	tcase_add_test(t, long_names_are_cut);
	tcase_add_test(t, descriptors_have_names);
	tcase_add_loop_test(t, sockets_have_names, 0, 3);
	suite_add_tcase(s, t);
	return s;
}
