/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/util/save_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define MOST_LINKS 40 /* as for the kernel */

/* ---- directories ---- */

/* Of /proc: one that leads to an open file, and is no name of it. */
static bool is_of_kernel(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

/* Takes the first name off a path. False: there is none left. */
static bool take_name(char rest[PATH_MAX], char name[PATH_MAX])
{
	const char *from = rest + strspn(rest, "/");
	size_t n = strcspn(from, "/");

	memcpy(name, from, n);
	name[n] = '\0';
	memmove(rest, from + n, strlen(from + n) + 1);
	return n;
}

/* Puts what a link leads to before the rest of its path. */
static int insert_link(int link, char rest[PATH_MAX])
{
	char after[PATH_MAX], to[PATH_MAX];
	ssize_t n = readlinkat(link, "", to, sizeof(to));

	strcpy(after, rest);
	if (n < 0)
		return -errno;
	return snprintf(rest, PATH_MAX, "%.*s%s", (int)n, to, after) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* From the directory `at`; what a link leads to comes before the rest then. */
static int step(int at, const char *name, char rest[PATH_MAX], uid_t uid, int *links)
{
	int fd = openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), err = 0;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || !S_ISLNK(st.st_mode))
		return fd < 0 ? -errno : fd;
	if (!is_of_kernel(fd)) {
		if (st.st_uid && st.st_uid != uid)
			err = -EPERM;
		else
			err = ++*links > MOST_LINKS ? -ELOOP : insert_link(fd, rest);
		name = *rest == '/' ? "/" : ".";
	}
	close(fd);
	fd = err ? -1 : openat(at, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return err ? err : fd < 0 ? -errno : fd;
}

int qz_save_file__directory(const char *path, uid_t uid, const char **name)
{
	const char *slash = strrchr(path, '/');
	char rest[PATH_MAX] = "", one[PATH_MAX];
	int at, links = 0;

	*name = slash ? slash + 1 : path;
	if (slash && snprintf(rest, sizeof(rest), "%.*s", (int)(slash - path), path) >= PATH_MAX)
		return -ENAMETOOLONG;
	at = open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (at < 0)
		return -errno;
	while (at >= 0 && take_name(rest, one)) {
		int next = step(at, one, rest, uid, &links);

		close(at);
		at = next;
	}
	return at;
}

/* ---- files ---- */

/* A file that a killed process has left has another name, and nothing was put there. */
static int open_temporary(int dir, const char *name, mode_t mode, char path[PATH_MAX])
{
	uint32_t random;
	int fd;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	if (snprintf(path, PATH_MAX, "%s.%08" PRIx32 QZ_SAVE_FILE_PART, name, random) >= PATH_MAX)
		return -ENAMETOOLONG;
	fd = openat(dir, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	return fd < 0 ? -errno : fd;
}

int qz_save_file__at(int dir, const char *name, mode_t mode, bool durable,
		     qz_save_file_write *write, void *context)
{
	char temporary[PATH_MAX];
	int fd = open_temporary(dir, name, mode, temporary), err;

	if (fd < 0)
		return fd;
	err = write(context, fd);
	if (!err && durable && fsync(fd) && errno != EINVAL)
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	if (!err && renameat(dir, temporary, dir, name))
		err = -errno;
	if (err)
		unlinkat(dir, temporary, 0);
	return err;
}

int qz_save_file__try(int dir, const char *name)
{
	char temporary[PATH_MAX];
	int fd = open_temporary(dir, name, 0600, temporary), err;

	if (fd < 0)
		return fd;
	err = write(fd, "", 1) == 1 ? 0 : -errno;
	if (close(fd) && !err)
		err = -errno;
	unlinkat(dir, temporary, 0);
	return err;
}

bool qz_save_file__is_open(int dir, const char *name)
{
	static const char prefix[] = "/proc/";
	char to[sizeof(prefix)] = "";

	return is_of_kernel(dir) ||
	       (readlinkat(dir, name, to, sizeof(to) - 1) > 0 && !strcmp(to, prefix));
}

int qz_save_file__check(int dir, const char *name, uid_t uid)
{
	struct stat st, directory;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : -errno;
	if (fstat(dir, &directory))
		return -errno;
	if (directory.st_mode & S_ISVTX && st.st_uid != uid)
		return -EPERM;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	return S_ISREG(st.st_mode) || (S_ISLNK(st.st_mode) && !qz_save_file__is_open(dir, name))
		       ? 0
		       : -EEXIST;
}

const char *qz_save_file__reason(int err)
{
	return err == -EPERM ? "a file or link of another user is in the way" : strerror(-err);
}
