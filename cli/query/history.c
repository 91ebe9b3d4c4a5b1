/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/query/history.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/query/paths.h"
#include "cli/query/profile_source.h"
#include "cli/render/output.h"
#include "core/util/clock.h"
#include "core/util/vec.h"
#include "core/estimate/estimate.h"
#include "core/transform/merge.h"
#include "core/format/pprof.h"
#include "core/transform/slices.h"
#include "core/util/order.h"

/* In ms since 1970, as in the names of files. */
struct span {
	uint64_t from, until;
};

struct slices {
	struct span *all;
	uint32_t n;
};

bool history__is_wanted(const struct config *config)
{
	return config->since || config->until || config->last;
}

/* ---- times ---- */

static bool parse_clock(const char *text, uint64_t now, uint64_t *ms)
{
	static const char *const forms[] = {"%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d",
					    "%H:%M:%S", "%H:%M"};
	time_t today = (time_t)(now / 1000), at;
	const char *end;
	struct tm tm;

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		localtime_r(&today, &tm);
		tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
		tm.tm_isdst = -1;
		end = strptime(text, forms[i], &tm);
		at = end && !*end ? mktime(&tm) : -1;
		if (at < 0)
			continue;
		*ms = (uint64_t)at * 1000;
		return true;
	}
	return false;
}

/* A time as in systemd.time(7): now, -10min, @SECONDS, a time of today, or a date. */
static bool parse_time(const char *text, uint64_t now, uint64_t *ms)
{
	uint64_t ns;
	int64_t seconds;

	*ms = now;
	if (!strcmp(text, "now"))
		return true;
	if (*text == '-' && !qz_options__duration(text + 1, 0, INT64_MAX, &ns)) {
		*ms = ns / 1000000 < now ? now - ns / 1000000 : 0;
		return true;
	}
	if (*text == '@' && !qz_options__integer(text + 1, 0, INT64_MAX / 1000, &seconds)) {
		*ms = (uint64_t)seconds * 1000;
		return true;
	}
	return parse_clock(text, now, ms);
}

static enum status parse_span(const struct config *c, struct span *span)
{
	const char *wrong = NULL;
	uint64_t now = qz_clock__read(CLOCK_REALTIME) / 1000000;

	*span = (struct span) {0, UINT64_MAX};
	if (c->last)
		span->from = c->last / 1000000 < now ? now - c->last / 1000000 : 0;
	if (c->since && !parse_time(c->since, now, &span->from))
		wrong = c->since;
	if (c->until && !parse_time(c->until, now, &span->until))
		wrong = c->until;
	if (wrong)
		complain("'%s' is no time such as -10min, 14:30, '2026-01-31 14:30', @SECONDS or "
			 "now",
			 wrong);
	else if (c->input || (c->last && c->since))
		complain(c->input ? "--input is one snapshot: not with --since, --until or --last"
				  : "--last says since when: not with --since");
	else
		return STATUS_OK;
	return STATUS_USAGE;
}

/* ---- slices ---- */

static int compare(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return qz_order(x->from, y->from);
}

static int list(DIR *dir, const struct span *wanted, struct slices *s)
{
	struct dirent *entry;

	while ((entry = readdir(dir))) {
		struct span slice;
		int length = 0;

		if (sscanf(entry->d_name, "%" SCNu64 "-%" SCNu64 SOURCE_SUFFIX "%n", &slice.from,
			   &slice.until, &length) != 2 ||
		    !length || entry->d_name[length] || slice.until <= wanted->from ||
		    slice.from >= wanted->until)
			continue;
		if (qz_array__reserve((void **)&s->all, s->n, sizeof(slice)))
			return -ENOMEM;
		s->all[s->n++] = slice;
	}
	if (s->n)
		qsort(s->all, s->n, sizeof(*s->all), compare);
	return 0;
}

/* NULL after a line that says why, but for one that was rotated away meanwhile, which is none. */
static struct qz_profile *read_slice(const char *path)
{
	/* not to wait for who writes a pipe */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
	struct qz_profile *slice = NULL;
	const char *why = "no file";
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return NULL;
	if (fd < 0)
		why = strerror(errno);
	else if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		slice = qz_pprof__read(fd, &why);
	if (fd >= 0)
		close(fd);
	if (!slice)
		complain("%s: %s; it is left out", path, why);
	return slice;
}

static enum status add(const char *directory, const struct span *slice, struct qz_profile *to)
{
	struct qz_profile *from;
	char path[PATH_MAX];
	int err;

	if (snprintf(path, sizeof(path), "%s/%" PRIu64 "-%" PRIu64 SOURCE_SUFFIX, directory,
		     slice->from, slice->until) >= (int)sizeof(path))
		return paths__fail(directory, ENAMETOOLONG);
	from = read_slice(path);
	if (!from)
		return STATUS_OK;
	err = qz_merge__profile(to, from);
	qz_profile__free(from);
	return err ? paths__fail(path, -err) : STATUS_OK;
}

static enum status add_all(const char *directory, const struct slices *s, struct qz_profile *to)
{
	enum status status = STATUS_OK;

	for (uint32_t i = 0; status == STATUS_OK && i < s->n; i++)
		status = add(directory, &s->all[i], to);
	if (status == STATUS_OK && !to->nscopes) {
		complain("nothing of that time is in %s", directory);
		return STATUS_NO_SOURCE;
	}
	qz_slices__end(to);
	if (status == STATUS_OK && qz_estimate__profile(to))
		return out_of_memory();
	return status;
}

enum status history__read(const struct config *config, struct qz_profile **profile)
{
	char directory[PATH_MAX];
	struct slices slices = {0};
	enum status status;
	struct span span;
	DIR *dir;
	int err;

	*profile = NULL;
	status = parse_span(config, &span);
	if (status != STATUS_OK)
		return status;
	paths__state("history", directory);
	dir = opendir(directory);
	if (!dir && errno == ENOENT) {
		complain("%s: no history; quartzd --system saves it", directory);
		return STATUS_NO_SOURCE;
	}
	if (!dir)
		return paths__fail(directory, errno);
	err = list(dir, &span, &slices);
	closedir(dir);
	*profile = err ? NULL : qz_profile__new();
	status = *profile ? add_all(directory, &slices, *profile) : out_of_memory();
	free(slices.all);
	return status;
}
