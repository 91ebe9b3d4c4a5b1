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

#include "daemon/page_wake.h"
#include "daemon/log.h"
#include "daemon/opener.h"
#include "daemon/proc.h"
#include "quartz/page.h"

#define PATH  "/memfd:" QZ_PAGE_WAITING " (deleted)"
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

struct search {
	char link[64]; /* in /proc/PID, "": not found */
};

static void look_at(void *context, const struct proc_mapping *m)
{
	struct search *s = context;

	if (!s->link[0] && !strcmp(m->path, PATH))
		snprintf(s->link, sizeof(s->link), "map_files/%" PRIx64 "-%" PRIx64, m->start,
			 m->end);
}

/* The device of all memory files, which no file of a file system has, whatever its name is. */
static int device_of_memory_files(dev_t *device)
{
	int fd = memfd_create("device", MFD_CLOEXEC);
	struct stat st;
	int err;

	if (fd < 0)
		return -errno;
	err = fstat(fd, &st) ? -errno : 0;
	close(fd);
	if (!err)
		*device = st.st_dev;
	return err;
}

static bool is_one(const struct stat *st, dev_t device)
{
	return S_ISREG(st->st_mode) && st->st_dev == device &&
	       st->st_size >= (off_t)sizeof(struct qz_page_flag);
}

/*
 * Looked at before it is opened, since to open some files does something, and after, since it may be
 * another one by then. Who has sealed it against writing is not called.
 */
static void call(int dir, const char *link)
{
	const uint32_t called = 1;
	struct stat st;
	dev_t device = 0;
	int fd, seals;

	if (device_of_memory_files(&device) || fstatat(dir, link, &st, 0) || !is_one(&st, device))
		return;
	fd = openat(dir, link, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return;
	seals = fcntl(fd, F_GET_SEALS);
	if (!fstat(fd, &st) && is_one(&st, device) && seals >= 0 && (seals & SEALS) == SEALS &&
	    pwrite(fd, &called, sizeof(called), offsetof(struct qz_page_flag, generation)) < 0)
		log_debug("%s: not called: %s", link, strerror(errno));
	close(fd);
}

void page_wake__call(int dir)
{
	struct search s = {.link = ""};

	if (!proc__all_mappings(dir, look_at, &s) && s.link[0])
		call(dir, s.link);
}

void page_wake__process(pid_t pid, uint64_t start_boottime)
{
	int dir = proc__open(pid, start_boottime);

	if (dir < 0)
		return;
	opener__wake(dir);
	close(dir);
}
