// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/privsep/shm_wake.h"
#include "daemon/util/log.h"
#include "daemon/privsep/opener.h"
#include "daemon/privsep/procfs.h"
#include "quartz/page.h"

#define PATH  "/memfd:" QZ_PAGE_WAITING " (deleted)"
#define GONE  "/" QZ_PAGE_FLAG " (deleted)"
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* Links in /proc/PID, "": not found. */
struct search {
	char waiting[64], gone[64];
};

static void set_link(char link[64], const struct procfs_mapping *m)
{
	if (!link[0])
		snprintf(link, 64, "map_files/%" PRIx64 "-%" PRIx64, m->start, m->end);
}

static void check_mapping(void *context, const struct procfs_mapping *m)
{
	struct search *s = context;
	size_t n = strlen(m->path), end = sizeof(GONE) - 1;

	if (!strcmp(m->path, PATH))
		set_link(s->waiting, m);
	else if (n > end && !strcmp(m->path + n - end, GONE))
		set_link(s->gone, m);
}

static bool has_flag(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_size >= (off_t)sizeof(struct qz_page_flag);
}

/* All memory files have one device, which no file of a file system has, whatever its name is. */
static bool is_waiting(const struct stat *st)
{
	int fd = memfd_create("device", MFD_CLOEXEC);
	struct stat own;
	bool known = fd >= 0 && !fstat(fd, &own);

	if (fd >= 0)
		close(fd);
	return known && has_flag(st) && st->st_dev == own.st_dev;
}

/* A file that is sealed against writing cannot be stored to. */
static bool can_be_called(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & SEALS) == SEALS;
}

/* A flag that an earlier quartzd made: root's, without a name, and no other user can have written it. */
static bool is_gone(const struct stat *st)
{
	return has_flag(st) && !st->st_nlink && !st->st_uid && (st->st_mode & 07777) == 0644;
}

/*
 * The file is checked before it is opened, since opening some files has effects, and after, since it may be another one by then.
 */
static void store(int dir, const char *link, uint32_t word, bool (*is_one)(const struct stat *))
{
	struct stat st;
	int fd;

	if (fstatat(dir, link, &st, 0) || !is_one(&st))
		return;
	fd = openat(dir, link, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return;
	if (!fstat(fd, &st) && is_one(&st) && (is_one == is_gone || can_be_called(fd)) &&
	    pwrite(fd, &word, sizeof(word), offsetof(struct qz_page_flag, generation)) < 0)
		log_debug("%s: not called: %s", link, strerror(errno));
	close(fd);
}

void shm_wake__call(int dir)
{
	struct search s = {"", ""};

	if (procfs__mappings(dir, check_mapping, &s))
		return;
	if (s.waiting[0])
		store(dir, s.waiting, 1, is_waiting);
	if (s.gone[0])
		store(dir, s.gone, QZ_PAGE_GONE, is_gone);
}

void shm_wake__process(pid_t pid, uint64_t start_boottime)
{
	int dir = procfs__open(pid, start_boottime);

	if (dir < 0)
		return;
	opener__wake(dir);
	close(dir);
}
