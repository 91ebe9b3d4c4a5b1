/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages between quartzd's own processes: SOCK_SEQPACKET, one descriptor or two along with each. */
#ifndef QUARTZ_DAEMON_MESSAGES_H
#define QUARTZ_DAEMON_MESSAGES_H

#include <stddef.h>
#include <sys/types.h>

#define MESSAGE_FDS 2

/* fds may hold -1, from the first one that is missing on. 0 or -errno. */
int message__send(int socket, const void *bytes, size_t size, const int fds[MESSAGE_FDS]);

/*
 * Waits at most so long, -1: without end. Gives the length, with fds set to what came along, else -1;
 * -ETIME, -EPIPE when the other side is gone, -EBADMSG.
 */
ssize_t message__receive(int socket, void *bytes, size_t size, int fds[MESSAGE_FDS], int ms);

#endif
