// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/util/unix_listener.h"

int unix_listener__open(const char *directory, const char *name,
			const struct unix_listener_options *options, char path[LISTENER_PATH],
			int *listener)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd, err;

	if (snprintf(path, LISTENER_PATH, "%s/%s", directory, name) >= LISTENER_PATH ||
	    snprintf(a.sun_path, sizeof(a.sun_path), "%s/.%s", directory, name) >=
		    (int)sizeof(a.sun_path))
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, options->type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	unlink(a.sun_path);
	if (!bind(fd, (struct sockaddr *)&a, sizeof(a)) && !chown(a.sun_path, -1, options->group) &&
	    !chmod(a.sun_path, options->mode) && !listen(fd, options->backlog) &&
	    !rename(a.sun_path, path)) {
		*listener = fd;
		return 0;
	}
	err = -errno;
	close(fd);
	return err;
}

int unix_listener__accept(int listener, struct ucred *peer)
{
	int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	socklen_t size = sizeof(*peer);
	int err;

	if (fd < 0)
		return -errno;
	if (!getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &size))
		return fd;
	err = -errno;
	close(fd);
	return err;
}
