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
#include "daemon/util/paths.h"
#include "daemon/output/slice_clock.h"
#include "daemon/privsep/capabilities.h"

#define SUFFIX ".pb.gz"

struct history {
	struct qz_slices *slices;
	uint64_t age_ms, bytes;
	struct slice_clock clock;
	char directory[PATH_MAX - NAME_MAX - 2];
};

/* A slice that was saved. */
struct file {
	uint64_t from, until, bytes;
	char name[64];
};

struct files {
	struct file *all;
	uint32_t n;
	uint64_t bytes;
};

static uint64_t wall_ms(void)
{
	return qz_clock__read(CLOCK_REALTIME) / 1000000;
}

static uint64_t steady_ms(void)
{
	return qz_clock__read(CLOCK_BOOTTIME) / 1000000;
}

int history__prepare(void)
{
	char path[PATH_MAX];
	int err = paths__make_state();

	snprintf(path, sizeof(path), "%s/history", paths__state());
	err = err ?: paths__make(path, 0750);
	return err ?: capabilities__may_write(AT_FDCWD, path) ? 0 : -EACCES;
}

struct history *history__new(uint64_t age, uint64_t bytes)
{
	struct history *h = calloc(1, sizeof(*h));
	int err;

	if (!h)
		return NULL;
	h->age_ms = age / 1000000;
	h->bytes = bytes;
	slice_clock__begin(&h->clock, wall_ms(), steady_ms());
	h->slices = qz_slices__new();
	snprintf(h->directory, sizeof(h->directory), "%s/history", paths__state());
	err = h->slices ? history__prepare() : -ENOMEM;
	if (!err)
		return h;
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

	return (x->until > y->until) - (x->until < y->until);
}

static int rotate(const struct history *h)
{
	struct files files = {0};
	DIR *dir = opendir(h->directory);
	int err = dir ? list(dir, &files) : -errno;

	if (files.n)
		qsort(files.all, files.n, sizeof(*files.all), compare);
	for (uint32_t i = 0; !err && i < files.n; i++) {
		const struct file *f = &files.all[i];

		if (!slice_clock__is_old(&h->clock, f->until, h->age_ms) && files.bytes <= h->bytes)
			break;
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

int history__cut(struct history *h, struct qz_profile *p)
{
	struct qz_profile *slice = qz_slices__cut(h->slices, p);
	struct slice_span span;
	char path[PATH_MAX];
	int err = slice ? 0 : -errno;

	if (!err) {
		span = slice_clock__cut(&h->clock, wall_ms(), steady_ms());
		slice->wall_start_ns = span.from * 1000000;
		slice->live = false;
		err = qz_estimate__profile(slice);
	}
	if (!err) {
		snprintf(path, sizeof(path), "%s/%" PRIu64 "-%" PRIu64 SUFFIX, h->directory,
			 span.from, span.until);
		err = qz_save_file__at(AT_FDCWD, path, 0640, true, write_profile, slice);
	}
	qz_profile__free(slice);
	return rotate(h) ?: err;
}

int history__renumbered(struct history *h, struct qz_profile *p)
{
	return qz_slices__restart(h->slices, p);
}
