/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/files/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/util/save_file.h"

#define MODE 0640 /* of a snapshot */

struct writing {
	output_file_put *put;
	void *context;
	struct stat before; /* of the file that is replaced; st_nlink 0: there is none */
};

/* Does not close fd. */
static int put_all(const struct writing *w, int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0), err;
	FILE *out = copy < 0 ? NULL : fdopen(copy, "w");

	if (!out) {
		err = -errno;
		if (copy >= 0)
			close(copy);
		return err;
	}
	errno = 0;
	err = w->put(out, w->context);
	if (!err && (ferror(out) || fflush(out)))
		err = errno ? -errno : -EIO;
	if (fclose(out) && !err)
		err = -errno;
	return err;
}

static int replace(void *context, int fd)
{
	const struct writing *w = context;

	if (w->before.st_nlink && (fchown(fd, w->before.st_uid, w->before.st_gid) ||
				   fchmod(fd, w->before.st_mode & 0777)))
		return -errno;
	return put_all(w, fd);
}

/* Whether no other user can have put a file there under that name. */
static bool is_own_place(int directory, const char *name)
{
	struct stat place, st;

	if (fstat(directory, &place) || fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW))
		return false;
	if ((!place.st_uid || place.st_uid == geteuid()) && !(place.st_mode & (S_IWGRP | S_IWOTH)))
		return true;
	return !S_ISLNK(st.st_mode) && st.st_uid == geteuid();
}

static int write_device(const struct writing *w, int directory, const char *name)
{
	int fd, err;

	if (!is_own_place(directory, name))
		return -EPERM;
	/* an open file may be a regular one, to be gone on with */
	fd = openat(directory, name, O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = put_all(w, fd);
	close(fd);
	return err;
}

int output_file__write(const char *path, output_file_put *put, void *context)
{
	struct writing w = {.put = put, .context = context};
	const char *name;
	struct stat st;
	int directory = qz_save_file__directory(path, geteuid(), &name), err;

	if (directory < 0)
		return directory;
	if (!*name) {
		err = -EISDIR;
	} else if (!fstatat(directory, name, &st, 0) && !S_ISDIR(st.st_mode) &&
		   (!S_ISREG(st.st_mode) || qz_save_file__is_open(directory, name))) {
		err = write_device(&w, directory, name);
	} else {
		if (!fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode))
			w.before = st;
		err = qz_save_file__check(directory, name, geteuid());
		err = err ? err : qz_save_file__at(directory, name, MODE, false, replace, &w);
	}
	close(directory);
	return err;
}
