/* SPDX-License-Identifier: GPL-2.0-only */
#include "daemon/symbolizer_child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "daemon/opener.h"

#define START_MS 5000
#define REAP_MS	 1000

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

/* Waits until fd is ready or the time `until` has come. 0, -ETIME. */
static int wait_for(int fd, short events, int64_t until)
{
	struct pollfd p = {.fd = fd, .events = events};

	for (;;) {
		int64_t left = until - now_ms();
		int n = poll(&p, 1, left > 0 ? (int)left : 0);

		if (n > 0)
			return 0;
		if (n == 0)
			return -ETIME;
		if (errno != EINTR)
			return -errno;
	}
}

static int send_message(int socket, const struct symbolizer_request *r, int64_t until)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} control = {0};
	struct iovec iov = {r->bytes, r->length};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	int err;

	if (r->nfds) {
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(r->nfds * sizeof(int));
		memcpy(CMSG_DATA(&control.header), r->fds, r->nfds * sizeof(int));
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(r->nfds * sizeof(int));
	}
	while (sendmsg(socket, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN)
			return -EPIPE;
		err = wait_for(socket, POLLOUT, until);
		if (err)
			return err;
	}
	return 0;
}

/* One message of at most PROTOCOL_MAX_MESSAGE. Descriptors that come along are refused. */
static ssize_t receive_message(int socket, void *bytes, int64_t until)
{
	struct iovec iov = {bytes, PROTOCOL_MAX_MESSAGE};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	struct message_header header;
	ssize_t n;
	int err;

	do {
		err = wait_for(socket, POLLIN, until);
		if (err)
			return err;
		n = recvmsg(socket, &msg, MSG_DONTWAIT);
	} while (n < 0 && (errno == EINTR || errno == EAGAIN));
	if (n <= 0)
		return -EPIPE;
	if (msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC) || (size_t)n < sizeof(header))
		return -EBADMSG;
	memcpy(&header, bytes, sizeof(header));
	return header.length == (size_t)n ? n : -EBADMSG;
}

pid_t symbolizer_child__spawn(const char *program, int socket)
{
	char *argv[] = {(char *)"quartz-symbolizer", NULL};
	char *envp[] = {NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, all;
	pid_t pid = 0;
	int err;

	if (posix_spawn_file_actions_init(&actions))
		return -ENOMEM;
	if (posix_spawnattr_init(&attributes)) {
		posix_spawn_file_actions_destroy(&actions);
		return -ENOMEM;
	}
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	err = posix_spawn_file_actions_adddup2(&actions, socket, 0);
	err = err ?: posix_spawn_file_actions_addclosefrom_np(&actions, 3);
	err = err ?: posix_spawn(&pid, program, &actions, &attributes, argv, envp);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return err ? -err : pid;
}

/* By ourselves, as unit tests do. */
static int start_own(struct symbolizer_child *c, const char *program)
{
	int sockets[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return -EIO;
	c->pid = symbolizer_child__spawn(program, sockets[1]);
	if (c->pid < 0) {
		close(sockets[0]);
		close(sockets[1]);
		c->pid = 0;
		return -EIO;
	}
	close(sockets[1]);
	c->socket = sockets[0];
	c->pidfd = pidfd_open(c->pid, 0);
	return 0;
}

static int start(struct symbolizer_child *c, const char *program)
{
	pid_t pid = opener__start_symbolizer(&c->socket, &c->pidfd);

	c->kept = pid != -ENOSYS;
	c->pid = pid > 0 ? pid : 0;
	if (pid == -ENOSYS)
		return start_own(c, program);
	return pid < 0 ? -EIO : 0;
}

int symbolizer_child__start(struct symbolizer_child *c, const char *program)
{
	union {
		struct message_hello hello;
		char bytes[PROTOCOL_MAX_MESSAGE];
	} message;

	if (start(c, program))
		return -EIO;
	if (receive_message(c->socket, &message, now_ms() + START_MS) != sizeof(message.hello) ||
	    message.hello.header.type != MESSAGE_HELLO ||
	    message.hello.version != PROTOCOL_VERSION) {
		symbolizer_child__stop(c);
		return -EIO;
	}
	return 0;
}

static uint64_t ns_of(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_usec * 1000;
}

static void reap(struct symbolizer_child *c)
{
	struct rusage usage;

	if (c->kept)
		c->cpu_ns = c->seen_ns;
	else if (wait4(c->pid, NULL, 0, &usage) == c->pid)
		c->cpu_ns += ns_of(&usage.ru_utime) + ns_of(&usage.ru_stime);
}

/* One that the keeper has reaped has the time that was seen last. */
uint64_t symbolizer_child__cpu_ns(struct symbolizer_child *c)
{
	struct timespec t = {0};
	clockid_t clock;
	uint64_t now;

	if (c->pid && !clock_getcpuclockid(c->pid, &clock))
		clock_gettime(clock, &t);
	now = c->cpu_ns + (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	if (now > c->seen_ns)
		c->seen_ns = now;
	return c->seen_ns;
}

/* A process that sleeps on a dead file system does not even die at once; it is left behind then. */
void symbolizer_child__stop(struct symbolizer_child *c)
{
	if (!c->pid)
		return;
	symbolizer_child__cpu_ns(c);
	if (c->kept)
		opener__kill(c->pid);
	else
		kill(c->pid, SIGKILL);
	if (c->pidfd < 0 || wait_for(c->pidfd, POLLIN, now_ms() + REAP_MS) == 0)
		reap(c);
	if (c->pidfd >= 0)
		close(c->pidfd);
	close(c->socket);
	c->pid = 0;
}

static void fill_header(const struct symbolizer_request *r, uint64_t id)
{
	struct message_header header = {r->type, (uint32_t)r->length, id};

	memcpy(r->bytes, &header, sizeof(header));
}

void symbolizer_child__tell(struct symbolizer_child *c, const struct symbolizer_request *r)
{
	fill_header(r, 0);
	send_message(c->socket, r, now_ms() + r->deadline_ms);
}

ssize_t symbolizer_child__exchange(struct symbolizer_child *c, const struct symbolizer_request *r,
				   void *answer, uint32_t *module)
{
	struct message_module working;
	struct message_header header;
	ssize_t n;
	int err;

	c->until = now_ms() + r->deadline_ms;
	fill_header(r, ++c->last_id);
	err = send_message(c->socket, r, c->until);
	if (err)
		return err;
	for (;;) {
		n = receive_message(c->socket, answer, c->until);
		if (n < 0)
			return n;
		memcpy(&header, answer, sizeof(header));
		if (header.type != MESSAGE_WORKING || r->type != MESSAGE_UNWIND)
			break;
		if (n != sizeof(working))
			return -EBADMSG;
		memcpy(&working, answer, sizeof(working));
		*module = working.module;
		/* A child that announces without end has time only until the deadline. */
		if (now_ms() >= c->until)
			return -ETIME;
	}
	return header.type == r->type && header.id == c->last_id ? n : -EBADMSG;
}

ssize_t symbolizer_child__more(struct symbolizer_child *c, uint32_t type, void *answer)
{
	ssize_t n = now_ms() < c->until ? receive_message(c->socket, answer, c->until) : -ETIME;
	struct message_header header;

	if (n < 0)
		return n;
	memcpy(&header, answer, sizeof(header));
	return header.type == type && header.id == c->last_id ? n : -EBADMSG;
}
