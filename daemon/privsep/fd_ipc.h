/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages between quartzd's own processes: SOCK_SEQPACKET, up to three descriptors along with each. */
#ifndef QUARTZ_DAEMON_FD_IPC_H
#define QUARTZ_DAEMON_FD_IPC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MESSAGE_FDS 3
#define NO_FDS                                                                                     \
	{                                                                                          \
		-1, -1, -1                                                                         \
	}

/* Deadlines: ms of CLOCK_MONOTONIC. Those that have passed: without waiting. */
#define FD_IPC_NEVER INT64_MAX

/* Waits until there are events of poll(2). 0, -ETIME or -errno. */
int fd_ipc__await(int fd, short events, int64_t until);

/* fds may hold -1, from the first one that is missing on; or NULL. 0 or -errno. */
int fd_ipc__send(int socket, const void *bytes, size_t size, const int fds[MESSAGE_FDS],
		 int64_t until);

/*
 * Returns the length, with fds set to what came along, else -1; with fds NULL nothing may. -ETIME, -EPIPE when
 * the other side is gone, -EMFILE: there is no room for what came along, -EBADMSG.
 */
ssize_t fd_ipc__receive(int socket, void *bytes, size_t size, int fds[MESSAGE_FDS], int64_t until);

/* Closes those that are there. */
void fd_ipc__close(int fds[MESSAGE_FDS]);

#endif
