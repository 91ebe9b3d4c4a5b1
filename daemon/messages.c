// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/messages.h"

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(MESSAGE_FDS * sizeof(int))];
};

int message__send(int socket, const void *bytes, size_t size, const int fds[MESSAGE_FDS])
{
	struct iovec iov = {(void *)bytes, size};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	union control control = {0};
	size_t n = 0;

	while (n < MESSAGE_FDS && fds[n] >= 0)
		n++;
	if (n) {
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(&control.header), fds, n * sizeof(int));
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(n * sizeof(int));
	}
	while (sendmsg(socket, &msg, MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

static int await(int socket, int ms)
{
	struct pollfd p = {.fd = socket, .events = POLLIN};
	int n;

	do
		n = poll(&p, 1, ms);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return n ? 0 : -ETIME;
}

ssize_t message__receive(int socket, void *bytes, size_t size, int fds[MESSAGE_FDS], int ms)
{
	struct iovec iov = {bytes, size};
	union control control;
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control)};
	ssize_t n = await(socket, ms);
	struct cmsghdr *c;

	for (int i = 0; i < MESSAGE_FDS; i++)
		fds[i] = -1;
	if (n)
		return n;
	n = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	if (n <= 0)
		return -EPIPE;
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len <= CMSG_LEN(MESSAGE_FDS * sizeof(int)))
		memcpy(fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
	if (!(msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
		return n;
	for (int i = 0; i < MESSAGE_FDS; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return -EBADMSG;
}
