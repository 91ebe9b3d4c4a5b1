/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/experiment/series.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/experiment/attached.h"
#include "cli/experiment/programs.h"
#include "cli/experiment/trial.h"
#include "cli/query/paths.h"
#include "cli/query/profile_source.h"
#include "cli/render/output.h"
#include "core/util/order.h"

#define STANDARD_RUNS 5

struct series {
	const struct config *config;
	struct profile_set *set;
	struct processors on;
	uint32_t n, *numbers; /* of processors, ascending, with 1 */
	int64_t rounds;
	char directory[PATH_MAX - 64];
	const char *user;
	char *baseline[4]; /* its command, [0] is NULL: none */
	struct attached attached;
};

/* ---- which runs ---- */

static int compare_numbers(const void *x, const void *y)
{
	return qz_order(*(const uint32_t *)x, *(const uint32_t *)y);
}

/* Sorts, and removes duplicates. */
static void put_in_order(struct series *s)
{
	uint32_t kept = 0;

	qsort(s->numbers, s->n, sizeof(*s->numbers), compare_numbers);
	for (uint32_t i = 0; i < s->n; i++)
		if (!kept || s->numbers[i] != s->numbers[kept - 1])
			s->numbers[kept++] = s->numbers[i];
	s->n = kept;
}

/* One processor, which all is compared with, and those that were asked for, or the powers of two and all. */
static enum status choose_numbers(struct series *s)
{
	const struct qz_integers *asked = &s->config->processor_list;

	s->numbers = calloc(asked->n + 34, sizeof(*s->numbers));
	if (!s->numbers)
		return out_of_memory();
	s->numbers[s->n++] = 1;
	for (size_t i = 0; i < asked->n; i++) {
		if (asked->items[i] > s->on.n) {
			complain("-P: %" PRId64
				 " processors are more than the %u that this program "
				 "may use",
				 asked->items[i], s->on.n);
			return STATUS_USAGE;
		}
		s->numbers[s->n++] = (uint32_t)asked->items[i];
	}
	for (uint32_t n = 2; !asked->n && n < s->on.n; n *= 2)
		s->numbers[s->n++] = n;
	if (!asked->n)
		s->numbers[s->n++] = s->on.n;
	put_in_order(s);
	return STATUS_OK;
}

/* ---- where the profiles go ---- */

/*
 * The user whose program it is reads them, and quartzd makes them as this user. By its descriptor: who owns the folder above
 * can put a link in its place.
 */
static enum status give_away(const struct series *s)
{
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");
	int64_t user, group;
	int fd, err;

	if (!uid || !gid || qz_options__integer(uid, 0, UINT32_MAX - 1, &user) ||
	    qz_options__integer(gid, 0, UINT32_MAX - 1, &group))
		return STATUS_OK;
	fd = open(s->directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	err = fd < 0 || fchown(fd, (uid_t)user, (gid_t)group) ? errno : 0;
	if (fd >= 0)
		close(fd);
	return err ? paths__fail(s->directory, err) : STATUS_OK;
}

static enum status make_directory(struct series *s)
{
	if (!s->config->output) {
		snprintf(s->directory, sizeof(s->directory), "/var/tmp/quartz-scale.XXXXXX");
		return mkdtemp(s->directory) ? give_away(s) : paths__fail("/var/tmp", errno);
	}
	if (snprintf(s->directory, sizeof(s->directory), "%s", s->config->output) >=
	    (int)sizeof(s->directory))
		return paths__fail(s->config->output, ENAMETOOLONG);
	if (!mkdir(s->directory, 0750))
		return give_away(s);
	if (errno != EEXIST)
		return paths__fail(s->directory, errno);
	complain("%s: is there already; name a new directory for the profiles of these runs",
		 s->directory);
	return STATUS_FAILURE;
}

/* ---- runs ---- */

static void show_progress(const struct series *s, int64_t round, bool baseline, uint32_t processors)
{
	if (!isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r\033[Kround %" PRId64 " of %" PRId64 ": %s", round, s->rounds,
		baseline ? "baseline" : "");
	if (!baseline)
		fprintf(stderr, "%u processor%s", processors, processors == 1 ? "" : "s");
}

static void clear_progress(void)
{
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

static enum status explain(const struct trial *t, enum trial_outcome outcome, int status)
{
	char *name = output__escape(t->command ? t->command[0] : "");
	const char *command = name ? name : "?";

	clear_progress();
	if (outcome == TRIAL_FAILED && status > 128)
		complain("%s on %u processor%s was ended by signal %d; the series ends here",
			 command, t->processors, t->processors == 1 ? "" : "s", status - 128);
	else if (outcome == TRIAL_FAILED)
		complain("%s on %u processor%s ended with status %d; the series ends here, because "
			 "what fails may not have done all of its work (sh -c '...; true' ignores "
			 "it)",
			 command, t->processors, t->processors == 1 ? "" : "s", status);
	else if (outcome == TRIAL_INTERRUPTED)
		complain("interrupted; the run that was under way is left out");
	free(name);
	return outcome == TRIAL_FAILED ? STATUS_FAILURE : (enum status)status;
}

/* The name of its profile tells what the profile itself does not know. */
static enum status measure_one(struct series *s, int64_t round, uint32_t processors)
{
	char file[PATH_MAX], named[PATH_MAX];
	struct trial t = {.processors = processors};
	enum trial_outcome outcome;
	double rate = 0;
	int status;

	snprintf(file, sizeof(file), "%s/on%u-run%" PRId64 SOURCE_SUFFIX, s->directory, processors,
		 round);
	show_progress(s, round, false, processors);
	outcome = attached__measure(&s->attached, processors, file, &rate, &status);
	if (outcome == TRIAL_DONE) {
		snprintf(named, sizeof(named), "%s/on%u-run%" PRId64 RATE_WORD "%.9g" SOURCE_SUFFIX,
			 s->directory, processors, round, rate);
		return rename(file, named) ? paths__fail(named, errno)
					   : profile_set__add(s->set, s->config, named);
	}
	unlink(file);
	if (outcome == TRIAL_FAILED)
		complain("the profile of round %" PRId64 " could not be taken: status %d", round,
			 status);
	return outcome == TRIAL_INTERRUPTED ? explain(&t, outcome, status)
	       : status			    ? (enum status)status
					    : STATUS_FAILURE;
}

static enum status run_one(struct series *s, int64_t round, bool baseline, uint32_t processors)
{
	char file[PATH_MAX], name[32] = BASELINE_PREFIX;
	struct trial t = {
		.on = &s->on,
		.processors = processors,
		.command = baseline ? s->baseline : s->config->command,
		.file = file,
		.user = s->user,
		.rate = s->config->rate,
	};
	enum trial_outcome outcome;
	int status;

	if (!baseline)
		snprintf(name, sizeof(name), "on%u", processors);
	snprintf(file, sizeof(file), "%s/%s-run%" PRId64 SOURCE_SUFFIX, s->directory, name, round);
	show_progress(s, round, baseline, processors);
	outcome = trial__run(&t, &status);
	if (outcome == TRIAL_DONE)
		return profile_set__add(s->set, s->config, file);
	unlink(file);
	return explain(&t, outcome, status);
}

static enum status run_all(struct series *s)
{
	enum status status = STATUS_OK;

	for (int64_t round = 1; status == STATUS_OK && round <= s->rounds; round++) {
		if (s->baseline[0])
			status = run_one(s, round, true, 1);
		for (uint32_t i = 0; status == STATUS_OK && i < s->n; i++) {
			uint32_t n = s->numbers[round % 2 ? i : s->n - 1 - i];

			status = s->config->pids.n ? measure_one(s, round, n)
						   : run_one(s, round, false, n);
		}
	}
	clear_progress();
	return status;
}

static enum status prepare(struct series *s)
{
	int err = processors__find(&s->on, "");
	enum status status;

	if (err) {
		complain("cannot tell the processors: %s", strerror(-err));
		return STATUS_FAILURE;
	}
	status = choose_numbers(s);
	if (status != STATUS_OK)
		return status;
	if (geteuid()) {
		complain("only root can measure; run it with sudo");
		return STATUS_NO_PRIVILEGE;
	}
	s->rounds = s->config->runs ? s->config->runs : STANDARD_RUNS;
	if (s->config->baseline) {
		s->baseline[0] = (char *)"sh";
		s->baseline[1] = (char *)"-c";
		s->baseline[2] = (char *)s->config->baseline;
	}
	status = programs__user(s->config, s->config->pids.n ? "--events" : s->config->command[0],
				&s->user);
	return status == STATUS_OK ? make_directory(s) : status;
}

enum status series__run(const struct config *config, struct profile_set *set)
{
	struct series s = {.config = config, .set = set};
	enum status status = prepare(&s);

	if (status == STATUS_OK) {
		trial__watch();
		if (config->pids.n)
			status = attached__open(&s.attached, config, &s.on, s.user);
		if (status == STATUS_OK)
			status = run_all(&s);
		if (config->pids.n)
			attached__close(&s.attached);
		trial__unwatch();
		if (!set->n)
			rmdir(s.directory);
		else
			complain("the profiles are in %s; 'quartzctl scale --from %s' shows this "
				 "again",
				 s.directory, s.directory);
	}
	free(s.numbers);
	return status;
}
