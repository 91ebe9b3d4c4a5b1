// SPDX-License-Identifier: LGPL-2.1-only
/* Finding quartzd by its flag, and requests at its socket. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "userlib/library.h"

static const struct qz_page_flag no_flag; /* its generation is 0: no quartzd listens */

exported const uint32_t *quartz_generation_ = &no_flag.generation;
hidden const uint32_t *library_generation = &no_flag.generation;
hidden const struct qz_page_flag *client_flag = &no_flag;

static bool path_of(const char *file, char *path, size_t size)
{
	const char *directory = secure_getenv("QUARTZ_RUNTIME_DIR");

	if (!directory || !*directory)
		directory = "/run/quartz";
	return snprintf(path, size, "%s/%s", directory, file) < (int)size;
}

/* A flag must belong to root or to this user. */
static bool is_trusted(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 &&
	       (st.st_uid == 0 || st.st_uid == geteuid());
}

/* Maps the flag in quartzd's runtime directory. NULL: there is none. */
static const struct qz_page_flag *file_flag(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	const struct qz_page_flag *flag = MAP_FAILED;

	if (fd < 0)
		return NULL;
	if (is_trusted(fd))
		flag = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	return flag == MAP_FAILED ? NULL : flag;
}

/* The memory file QZ_PAGE_WAITING, until there is a flag, and who made it: children of fork share it. */
static struct qz_page_flag *waiting;
static pid_t waiting_maker;

static bool is_waiting(void)
{
	const struct qz_page_flag *now = load(&client_flag);

	return now == &no_flag || now == load(&waiting);
}

/* Without a quartzd, until one calls. */
static bool is_counting(void)
{
	return load(&client_flag) == load(&waiting) &&
	       load(load(&library_generation)) == QZ_PAGE_LOCAL;
}

/* `at`: in place of another one; NULL: anywhere. */
static struct qz_page_flag *make_waiting(void *at)
{
	int fd = memfd_create(QZ_PAGE_WAITING, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *p = MAP_FAILED;

	if (fd < 0)
		return NULL;
	if (!ftruncate(fd, PAGE_BYTES) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		p = mmap(at, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0),
			 fd, 0);
	close(fd);
	return p == MAP_FAILED ? NULL : p;
}

static void use_flag(const struct qz_page_flag *flag)
{
	store(&client_flag, flag);
	store(&library_generation, &flag->generation);
	store(&quartz_generation_, &flag->generation);
}

/* One for all threads, because quartzd notifies only the first that it finds. */
static void have_waiting(void)
{
	struct qz_page_flag *own = load(&waiting) ? NULL : make_waiting(NULL), *none = NULL;

	if (own && replace(&waiting, &none, own))
		store(&waiting_maker, getpid());
	else if (own)
		munmap(own, PAGE_BYTES);
}

/* One that no other process has. False: memory was short. */
static bool have_own_waiting(void)
{
	have_waiting();
	if (load(&waiting) && load(&waiting_maker) != getpid()) {
		if (!make_waiting(load(&waiting)))
			return false;
		store(&waiting_maker, getpid());
	}
	return load(&waiting);
}

void client__wait(void)
{
	if (!is_waiting())
		return;
	have_waiting();
	if (load(&waiting))
		use_flag(load(&waiting));
}

/* The flag's file was removed: continue as if there had never been one. */
static void forget_flag(void)
{
	int saved = errno;

	have_waiting();
	use_flag(load(&waiting) ? load(&waiting) : &no_flag);
	errno = saved;
}

uint32_t client__called(uint32_t generation)
{
	if (unlikely(generation == QZ_PAGE_GONE))
		forget_flag();
	else if (likely(!is_waiting()))
		return generation;
	client__find_flag();
	if (is_waiting() && load(&waiting) && !is_counting())
		store(&load(&waiting)->generation, 0);
	return load(load(&library_generation));
}

void client__find_flag(void)
{
	const struct qz_page_flag *flag;
	int saved = errno;
	char path[256];

	if (!is_waiting() || is_counting() || !path_of(QZ_PAGE_FLAG, path, sizeof(path)))
		return;
	flag = file_flag(path);
	if (flag)
		use_flag(flag);
	errno = saved;
}

static bool is_listened_to(void)
{
	uint32_t generation = load(load(&library_generation));

	return generation && load(&library.generation) == generation;
}

/*
 * The word that says so is the one that a quartzd sets which finds this process. A quartzd that listens
 * and has refused it will not ask for it.
 */
void client__count(bool on)
{
	uint32_t local = QZ_PAGE_LOCAL;

	if (!on && load(&waiting) && replace(&load(&waiting)->generation, &local, 0))
		client__find_flag();
	if (!on || is_counting())
		return;
	quartz_connect();
	if (is_listened_to())
		return;
	if (!have_own_waiting())
		return;
	/* before the word is in use: who finds 0 there looks for the flag */
	store(&load(&waiting)->generation, QZ_PAGE_LOCAL);
	use_flag(load(&waiting));
}

void client__forked(void)
{
	if (is_counting())
		have_own_waiting();
}

uint32_t client__patience_ms(void)
{
	const struct qz_page_flag *flag = load(&client_flag);
	uint32_t ms = ((const volatile struct qz_page_flag *)flag)->patience_ms;

	if (!ms)
		return QZ_PAGE_PATIENCE_MS;
	return ms < QZ_PAGE_PATIENCE_MAX_MS ? ms : QZ_PAGE_PATIENCE_MAX_MS;
}

/* ---- one request ---- */

static int connect_to(const struct sockaddr_un *address)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err;

	if (fd < 0)
		return -errno;
	/* EAGAIN: many processes connect at once. There is no event to wait for. */
	for (uint32_t i = client__patience_ms(); i > 0; i--) {
		if (!connect(fd, (const struct sockaddr *)address, sizeof(*address)))
			return fd;
		if (errno != EAGAIN)
			break;
		nanosleep(&pause, NULL);
	}
	err = -errno;
	close(fd);
	return err;
}

static void take_fds(struct msghdr *message, struct client_answer *answer)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		int fd;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < n; i++) {
			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
			if (answer->count < QZ_PAGE_FDS)
				answer->fds[answer->count++] = fd;
			else
				close(fd);
		}
	}
}

static int receive(int fd, struct client_answer *answer)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(QZ_PAGE_FDS * sizeof(int))];
	} control;
	struct qz_page_reply reply;
	struct iovec data = {&reply, sizeof(reply)};
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	ssize_t n;

	if (poll(&ready, 1, (int)client__patience_ms()) != 1)
		return -ETIMEDOUT;
	n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	if (n < 0)
		return -errno;
	take_fds(&message, answer);
	if (n < (ssize_t)sizeof(reply) || message.msg_flags & MSG_CTRUNC)
		return -EPROTO;
	answer->generation = reply.generation;
	return reply.status < 0 ? reply.status : 0;
}

/* The same for all threads, because the variable has the initial-exec TLS model. 0: unknown on this
 * architecture. */
int64_t client__slot_pointer_offset(void)
{
#ifdef __x86_64__
	const char *thread;

	__asm__("mov %%fs:0, %0" : "=r"(thread));
	return (const char *)&quartz_thread_.slot - thread;
#else
	return 0;
#endif
}

int client__ask(uint32_t type, uint32_t index, struct client_answer *answer)
{
	const struct qz_page_request request = {
		.length = sizeof(request),
		.type = type,
		.version = QZ_PAGE_VERSION,
		.index = index,
		.tables_size = QZ_TABLES_SIZE,
		.segment_size = QZ_SEGMENT_SIZE,
		.slot_size = sizeof(struct qz_slot),
		.tables_address = (uintptr_t)library.tables,
		.slots_address = (uintptr_t)library.slots,
		.slot_pointer_offset = client__slot_pointer_offset(),
	};
	const uint32_t expected = type == QZ_PAGE_OPEN ? 2 : 1;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd, err = 0;

	*answer = (struct client_answer) {0};
	if (!path_of(QZ_PAGE_SOCKET, address.sun_path, sizeof(address.sun_path)))
		return -ENAMETOOLONG;
	fd = connect_to(&address);
	if (fd < 0)
		return fd;
	if (send(fd, &request, sizeof(request), MSG_NOSIGNAL) != sizeof(request))
		err = -errno;
	err = err ?: receive(fd, answer);
	close(fd);
	if (!err && answer->count != expected)
		err = -EPROTO;
	for (uint32_t i = 0; err && i < answer->count; i++)
		close(answer->fds[i]);
	return err;
}
