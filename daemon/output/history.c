// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/output/history.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/util/clock.h"
#include "core/util/save_file.h"
#include "core/util/vec.h"
#include "core/estimate/estimate.h"
#include "core/format/pprof.h"
#include "core/transform/slices.h"
#include "core/util/order.h"
#include "daemon/util/paths.h"
#include "daemon/privsep/capabilities.h"

#define SUFFIX ".pb.gz"
#define CLOCK_SET_MS                                                                               \
	1000 /* by which the clock of the day and the one that is never set differ after a slice */

struct history {
	struct qz_slices *slices;
	uint64_t age_ms, bytes;
	struct history_time begin, last; /* of the run, and of the last slice */
	char directory[PATH_MAX - NAME_MAX - 2];
};

/* A slice that was saved. */
struct file {
	uint64_t from, until, bytes;
	bool future; /* its name is of a time when the clock was wrong */
	char name[64];
};

struct files {
	struct file *all;
	uint32_t n;
	uint64_t bytes;
};

struct history_time history__now(void)
{
	return (struct history_time) {qz_clock__read(CLOCK_REALTIME) / 1000000,
				      qz_clock__read(CLOCK_BOOTTIME) / 1000000};
}

int history__prepare(void)
{
	char path[PATH_MAX];
	int err = paths__make_state();

	snprintf(path, sizeof(path), "%s/history", paths__state());
	err = err ?: paths__make(path, 0750);
	return err ?: capabilities__may_write(AT_FDCWD, path) ? 0 : -EACCES;
}

/* What quartzd was killed over; there is one that saves here at a time. */
static void remove_parts(const char *directory)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		const char *dot = strrchr(entry->d_name, '.');

		if (dot && !strcmp(dot, QZ_SAVE_FILE_PART))
			unlinkat(dirfd(dir), entry->d_name, 0);
	}
	if (dir)
		closedir(dir);
}

struct history *history__new(uint64_t age, uint64_t bytes, const struct history_time *now)
{
	struct history *h = calloc(1, sizeof(*h));
	int err;

	if (!h)
		return NULL;
	h->age_ms = age / 1000000;
	h->bytes = bytes;
	h->begin = h->last = *now;
	h->slices = qz_slices__new();
	snprintf(h->directory, sizeof(h->directory), "%s/history", paths__state());
	err = h->slices ? history__prepare() : -ENOMEM;
	if (!err) {
		remove_parts(h->directory);
		return h;
	}
	history__free(h);
	errno = -err;
	return NULL;
}

void history__free(struct history *h)
{
	if (!h)
		return;
	qz_slices__free(h->slices);
	free(h);
}

const char *history__directory(const struct history *h)
{
	return h->directory;
}

/* ---- rotation ---- */

static bool read_name(const char *name, struct file *f)
{
	int length = 0;

	if (sscanf(name, "%" SCNu64 "-%" SCNu64 SUFFIX "%n", &f->from, &f->until, &length) != 2)
		return false;
	if (!length || name[length] || (size_t)length >= sizeof(f->name))
		return false;
	memcpy(f->name, name, length + 1);
	return true;
}

static int list(DIR *dir, struct files *files)
{
	struct dirent *entry;
	struct stat st;

	while ((entry = readdir(dir))) {
		struct file f;

		if (!read_name(entry->d_name, &f) ||
		    fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode))
			continue;
		if (qz_array__reserve((void **)&files->all, files->n, sizeof(f)))
			return -ENOMEM;
		f.bytes = (uint64_t)st.st_blocks * 512;
		files->bytes += f.bytes;
		files->all[files->n++] = f;
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct file *x = a, *y = b;

	if (x->future != y->future)
		return y->future - x->future;
	return qz_order(x->until, y->until);
}

/*
 * A slice is too old by both the clock of the day and that clock as it would be had it not been set since the run began: a
 * clock that jumps ahead and back makes nothing old.
 */
static int rotate(const struct history *h, const struct history_time *now)
{
	uint64_t unset = h->begin.wall_ms + (now->steady_ms - h->begin.steady_ms);
	uint64_t early = now->wall_ms < unset ? now->wall_ms : unset;
	uint64_t late = now->wall_ms < unset ? unset : now->wall_ms;
	struct files files = {0};
	DIR *dir = opendir(h->directory);
	int err = dir ? list(dir, &files) : -errno;

	for (uint32_t i = 0; i < files.n; i++)
		files.all[i].future = files.all[i].until > late + CLOCK_SET_MS;
	if (files.n)
		qsort(files.all, files.n, sizeof(*files.all), compare);
	for (uint32_t i = 0; !err && i < files.n; i++) {
		const struct file *f = &files.all[i];

		if (f->until + h->age_ms >= early && files.bytes <= h->bytes)
			continue;
		if (unlinkat(dirfd(dir), f->name, 0) && errno != ENOENT)
			err = -errno;
		files.bytes -= f->bytes;
	}
	free(files.all);
	if (dir)
		closedir(dir);
	return err;
}

/* ---- slices ---- */

static int write_profile(void *context, int fd)
{
	if (fchown(fd, -1, paths__group()))
		return -errno;
	return qz_pprof__write(context, fd);
}

/* Where the clock was set meanwhile, the slice has its length up to now; slices that overlap by that have names of their own. */
static int save(const struct history *h, struct qz_profile *slice, const struct history_time *now)
{
	uint64_t elapsed = now->steady_ms - h->last.steady_ms, from = h->last.wall_ms;
	int64_t set = (int64_t)(now->wall_ms - from - elapsed);
	uint64_t until = now->wall_ms;
	char path[PATH_MAX];

	if (set < -CLOCK_SET_MS || set > CLOCK_SET_MS)
		from = until > elapsed ? until - elapsed : 0;
	if (until <= from)
		until = from + 1;
	do
		snprintf(path, sizeof(path), "%s/%" PRIu64 "-%" PRIu64 SUFFIX, h->directory, from,
			 until++);
	while (!faccessat(AT_FDCWD, path, F_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW));
	slice->wall_start_ns = from * 1000000;
	slice->live = false;
	return qz_estimate__profile(slice)
		       ?: qz_save_file__at(AT_FDCWD, path, 0640, true, write_profile, slice);
}

int history__cut(struct history *h, struct qz_profile *p, const struct history_time *now)
{
	struct qz_profile *slice = qz_slices__cut(h->slices, p);
	int err = slice ? save(h, slice, now) : -errno;

	if (slice)
		h->last = *now;
	qz_profile__free(slice);
	return rotate(h, now) ?: err;
}

int history__renumbered(struct history *h, struct qz_profile *p)
{
	return qz_slices__restart(h->slices, p);
}
