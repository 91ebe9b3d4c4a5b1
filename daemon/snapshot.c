// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/pprof.h"
#include "daemon/paths.h"
#include "daemon/snapshot.h"

/* A program's name as part of a file name. */
static void copy_name(char *to, size_t size, const char *from)
{
	size_t n = 0;

	for (; *from && n + 1 < size; from++) {
		char c = *from;

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		    c == '.' || c == '-' || c == '_' || c == '+')
			to[n++] = c;
		else
			to[n++] = '_';
	}
	to[n] = '\0';
}

static int write_nothing(void *context, int fd)
{
	return write(fd, "", 1) == 1 ? 0 : -errno;
}

/* Finds out by doing it, under a name that is never that of a snapshot. */
static int try_to_write(const char *path)
{
	char trial[PATH_MAX];
	int err;

	if (snprintf(trial, sizeof(trial), "%s.trial", path) >= (int)sizeof(trial))
		return -ENAMETOOLONG;
	err = paths__save(trial, 0600, write_nothing, NULL);
	unlink(trial);
	return err;
}

int snapshot__choose(const char *output, const char *program, int pid, char *path, size_t size)
{
	char name[64], directory[PATH_MAX], stamp[32];
	time_t now = time(NULL);
	struct tm tm;
	int err;

	if (output) {
		snprintf(path, size, "%s", output);
		return try_to_write(path);
	}
	localtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &tm);
	copy_name(name, sizeof(name), program);
	snprintf(directory, sizeof(directory), "%s/profiles", paths__state());
	/* a service may save more than one within a second */
	for (int i = 0; i < 1000; i++) {
		char number[8] = "";

		if (i)
			snprintf(number, sizeof(number), "-%d", i);
		snprintf(path, size, "%s/%s-%d-%s%s.pb.gz", directory, name, pid, stamp, number);
		if (access(path, F_OK))
			break;
	}
	err = paths__make(paths__state(), 0750);
	if (!err)
		err = paths__make(directory, 0750);
	return err ?: try_to_write(path);
}

static int write_profile(void *context, int fd)
{
	if (fchown(fd, -1, paths__group()))
		return -errno;
	return qz_pprof__write(context, fd);
}

int snapshot__save(const struct qz_profile *p, const char *path, char *saved, size_t size)
{
	static const char *const elsewhere[] = {"/var/tmp", "/dev/shm"};
	const char *base = strrchr(path, '/');
	int err = paths__save(path, 0640, write_profile, (void *)p);

	snprintf(saved, size, "%s", err ? "" : path);
	for (size_t i = 0; err && i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++) {
		snprintf(saved, size, "%s/quartz-%s", elsewhere[i], base ? base + 1 : path);
		if (!paths__save(saved, 0600, write_profile, (void *)p))
			break;
		saved[0] = '\0';
	}
	return err;
}
