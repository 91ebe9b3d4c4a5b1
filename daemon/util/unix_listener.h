/* SPDX-License-Identifier: GPL-2.0-only */
/* Sockets at a path in the runtime directory, and who connects to them. Not thread-safe by themselves. */
#ifndef QUARTZ_DAEMON_UNIX_LISTENER_H
#define QUARTZ_DAEMON_UNIX_LISTENER_H

#include <sys/socket.h>
#include <sys/types.h>

#define LISTENER_PATH 108 /* sun_path */

struct unix_listener_options {
	int type;    /* SOCK_STREAM, SOCK_SEQPACKET */
	int backlog; /* of connections not accepted yet */
	gid_t group; /* -1: as it is */
	mode_t mode;
};

/*
 * Makes a listening, non-blocking socket at directory/name; path is set to that. It is bound under
 * another name and renamed, so that it never has the wrong mode, and replaces one that
 * was left. 0 or -errno; -ENAMETOOLONG. The caller unlinks the path before it closes the socket.
 */
int unix_listener__open(const char *directory, const char *name,
			const struct unix_listener_options *options, char path[LISTENER_PATH],
			int *listener);

/* The next connection, non-blocking, and who made it. -errno; -EAGAIN: there is none. */
int unix_listener__accept(int listener, struct ucred *peer);

#endif
