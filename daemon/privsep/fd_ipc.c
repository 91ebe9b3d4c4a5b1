// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/util/clock.h"
#include "daemon/privsep/fd_ipc.h"

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(MESSAGE_FDS * sizeof(int))];
};

int fd_ipc__await(int fd, short events, int64_t until)
{
	struct pollfd p = {.fd = fd, .events = events};

	for (;;) {
		int64_t left = until - qz_clock__now_ms();
		int n = poll(&p, 1, until == FD_IPC_NEVER ? -1 : left > 0 ? (int)left : 0);

		if (n > 0)
			return 0;
		if (n == 0)
			return -ETIME;
		if (errno != EINTR)
			return -errno;
	}
}

int fd_ipc__send(int socket, const void *bytes, size_t size, const int fds[MESSAGE_FDS],
		 int64_t until)
{
	struct iovec iov = {(void *)bytes, size};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	union control control = {0};
	size_t n = 0;
	int err;

	while (fds && n < MESSAGE_FDS && fds[n] >= 0)
		n++;
	if (n) {
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(&control.header), fds, n * sizeof(int));
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(n * sizeof(int));
	}
	while (sendmsg(socket, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		if (errno != EINTR && errno != EAGAIN)
			return -errno;
		err = errno == EAGAIN ? fd_ipc__await(socket, POLLOUT, until) : 0;
		if (err)
			return err;
	}
	return 0;
}

void fd_ipc__close(int fds[MESSAGE_FDS])
{
	for (int i = 0; i < MESSAGE_FDS; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

ssize_t fd_ipc__receive(int socket, void *bytes, size_t size, int fds[MESSAGE_FDS], int64_t until)
{
	struct iovec iov = {bytes, size};
	union control control;
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = fds ? &control : NULL,
			     .msg_controllen = fds ? sizeof(control) : 0};
	struct cmsghdr *c;
	ssize_t n;

	for (int i = 0; fds && i < MESSAGE_FDS; i++)
		fds[i] = -1;
	do {
		n = fd_ipc__await(socket, POLLIN, until);
		if (n)
			return n;
		n = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	} while (n < 0 && (errno == EINTR || errno == EAGAIN));
	if (n <= 0)
		return -EPIPE;
	c = CMSG_FIRSTHDR(&msg);
	if (fds && c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len <= CMSG_LEN(MESSAGE_FDS * sizeof(int)))
		memcpy(fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
	if (!(msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
		return n;
	if (!fds)
		return -EBADMSG;
	fd_ipc__close(fds);
	return msg.msg_flags & MSG_TRUNC ? -EBADMSG : -EMFILE;
}
