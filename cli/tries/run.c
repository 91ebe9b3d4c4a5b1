/* SPDX-License-Identifier: GPL-2.0-only */
/* One run of the command, with remedies or without, and whether it did the same. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "cli/experiment/timed_run.h"
#include "cli/tries/tries.h"
#include "core/util/clock.h"

#define SECOND	  1000000000ull
#define TOO_LONG  3  /* times as long as without a remedy, and a second: that is no good */
#define VARIABLES 32 /* of all remedies of a trial */

/* ---- what it has printed ---- */

/* A file without a name, so that what prints much needs no memory. As if it were a pipe, anybody may open it again. */
static int open_output(void)
{
	char name[] = "/var/tmp/quartz-try.XXXXXX";
	int fd = mkostemp(name, O_CLOEXEC);

	if (fd < 0) {
		complain("cannot make a file in /var/tmp: %s", strerror(errno));
		return -1;
	}
	unlink(name);
	fchmod(fd, 0666);
	return fd;
}

static bool read_output(int fd, struct try_figures *f)
{
	unsigned char bytes[65536];
	ssize_t n;

	f->checksum = crc32(0, NULL, 0);
	f->size = 0;
	while ((n = pread(fd, bytes, sizeof(bytes), (off_t)f->size)) > 0) {
		f->checksum = crc32(f->checksum, bytes, (unsigned int)n);
		f->size += (uint64_t)n;
	}
	if (n)
		complain("cannot read a file of /var/tmp: %s", strerror(errno));
	return !n;
}

/* ---- the remedies ---- */

struct applied {
	char *texts[TRIES_TOGETHER]; /* changes, cut into variables */
	char *variables[VARIABLES + 1];
	cpu_set_t on;
};

static void free_applied(struct applied *a)
{
	for (uint32_t i = 0; i < TRIES_TOGETHER; i++)
		free(a->texts[i]);
}

/* No value has a blank. */
static bool add_variables(struct applied *a, uint32_t i, const char *change)
{
	uint32_t n = 0;
	char *rest, *word;

	while (a->variables[n])
		n++;
	a->texts[i] = strdup(change);
	if (!a->texts[i])
		return false;
	for (word = strtok_r(a->texts[i], " ", &rest); word && n < VARIABLES;
	     word = strtok_r(NULL, " ", &rest))
		a->variables[n++] = word;
	return true;
}

static bool apply(const struct tries *t, const struct try_trial *trial, struct applied *a,
		  struct timed_run *run)
{
	char option[32];

	*a = (struct applied) {0};
	for (uint32_t i = 0; trial && i < trial->n; i++) {
		const struct qz_remedy_use *use = trial->uses[i];

		switch (use->remedy->way) {
		case QZ_REMEDY_AFFINITY:
			processors__choose(&t->on, 1, 0, &a->on, option);
			run->on = &a->on;
			break;
		case QZ_REMEDY_POLICY:
			run->batch = true;
			break;
		case QZ_REMEDY_NICE:
			run->nice = atoi(strrchr(use->change, ' '));
			break;
		default:
			if (!add_variables(a, i, use->change))
				return false;
		}
	}
	run->variables = a->variables;
	return true;
}

/* ---- a run ---- */

static uint64_t left_ns(const struct tries *t)
{
	uint64_t at = qz_clock__now();

	return t->deadline > at ? t->deadline - at : 1;
}

/* The time is over, or it was interrupted. */
static enum try_outcome end(struct tries *t, enum timed_outcome outcome,
			    const struct timed_result *result)
{
	if (outcome == TIMED_INTERRUPTED)
		t->status = (enum status)result->status;
	else
		t->over = true;
	return TRY_ENDED;
}

static bool is_over(const struct tries *t, enum timed_outcome outcome)
{
	return outcome == TIMED_TOO_LONG && qz_clock__now() >= t->deadline;
}

/* Whether --check is content; a signal makes it discontent. */
static enum timed_outcome check(const struct tries *t, int output, struct timed_result *result)
{
	const char *const words[] = {"sh", "-c", t->config->check, NULL};
	struct timed_run run = {.command = (char *const *)words,
				.user = t->user,
				.input = &output,
				.limit_ns = left_ns(t)};

	lseek(output, 0, SEEK_SET);
	return timed_run__do(&run, result);
}

struct run {
	struct try_figures figures;
	enum timed_outcome outcome, checked;
	struct timed_result result;
};

/* False: it could not even be started, and it was said why. */
static bool run_once(struct tries *t, const struct try_trial *trial, uint64_t limit_ns,
		     struct run *r)
{
	struct timed_run run = {.command = t->config->command,
				.user = t->user,
				.with_input = true,
				.quiet = t->first.elapsed_ns,
				.limit_ns = limit_ns};
	struct timed_result of_check;
	struct applied applied;
	int output = open_output();
	bool is_read = false;

	*r = (struct run) {.checked = TIMED_DONE};
	if (output < 0)
		return false;
	run.output = &output;
	if (apply(t, trial, &applied, &run)) {
		r->outcome = timed_run__do(&run, &r->result);
		is_read = read_output(output, &r->figures);
		if (r->outcome == TIMED_DONE && t->config->check)
			r->checked = check(t, output, &of_check);
		if (r->checked == TIMED_INTERRUPTED || r->checked == TIMED_TOO_LONG) {
			r->outcome = r->checked;
			r->result.status = of_check.status;
		}
	} else {
		out_of_memory();
	}
	free_applied(&applied);
	close(output);
	r->figures.elapsed_ns = r->result.elapsed_ns;
	r->figures.cpu_ns = r->result.cpu_ns;
	r->figures.peak_kib = r->result.peak_kib;
	return is_read;
}

/* ---- whether it did the same ---- */

static bool is_same(const struct tries *t, const struct try_figures *f)
{
	return t->compared == TRY_COMPARED_CHECK || t->compared == TRY_COMPARED_STATUS ||
	       (f->size == t->first.size &&
		(t->compared == TRY_COMPARED_SIZE || f->checksum == t->first.checksum));
}

/* A command that prints another thing each time: what it prints tells nothing, and who was dropped for that comes back. */
static void compare_less(struct tries *t)
{
	while (!is_same(t, &t->last))
		t->compared++;
	for (uint32_t i = 0; i < t->n; i++)
		if (t->trials[i].differs && is_same(t, &t->trials[i].with)) {
			t->trials[i].differs = false;
			*t->trials[i].failure = '\0';
		}
}

/* What cannot be compared with. */
static enum try_outcome give_up(struct tries *t, const struct run *r)
{
	t->status = STATUS_FAILURE;
	if (r->outcome != TIMED_DONE)
		complain("%s ended with status %d, and what fails may not have done all of its "
			 "work: "
			 "there is nothing to compare with (sh -c '...; true' ignores it)",
			 t->config->command[0], r->result.status);
	else
		complain("--check '%s' fails for the command as it is: there is nothing to compare "
			 "with",
			 t->config->check);
	return TRY_ENDED;
}

enum try_outcome tries__run_without(struct tries *t)
{
	struct run r;

	t->fresh = false;
	if (!run_once(t, NULL, left_ns(t), &r)) {
		t->status = STATUS_FAILURE;
		return TRY_ENDED;
	}
	if (r.outcome == TIMED_INTERRUPTED || r.outcome == TIMED_TOO_LONG)
		return end(t, r.outcome, &r.result);
	if (r.outcome != TIMED_DONE || r.checked != TIMED_DONE)
		return give_up(t, &r);
	t->last = r.figures;
	if (!t->first.elapsed_ns)
		t->first = r.figures;
	compare_less(t);
	t->fresh = true;
	return TRY_DONE;
}

__attribute__((format(printf, 2, 3))) static enum try_outcome drop(struct try_trial *trial,
								   const char *format, ...)
{
	va_list values;

	va_start(values, format);
	vsnprintf(trial->failure, sizeof(trial->failure), format, values);
	va_end(values);
	return TRY_DROPPED;
}

enum try_outcome tries__run_with(struct tries *t, struct try_trial *trial)
{
	uint64_t most = TOO_LONG * t->first.elapsed_ns + SECOND, left = left_ns(t);
	struct run r;

	t->fresh = false;
	trial->started = true;
	if (!run_once(t, trial, most < left ? most : left, &r)) {
		t->status = STATUS_FAILURE;
		return TRY_ENDED;
	}
	if (r.outcome == TIMED_INTERRUPTED || is_over(t, r.outcome))
		return end(t, r.outcome, &r.result);
	trial->with = r.figures;
	/* once may be chance: the pair counts, with as much as is known of it */
	if (r.outcome == TIMED_TOO_LONG)
		return ++trial->slow < TRIES_SLOW
			       ? TRY_DONE
			       : drop(trial, "took more than %d times as long", TOO_LONG);
	if (r.outcome != TIMED_DONE)
		return drop(trial, "ended with status %d", r.result.status);
	if (r.checked != TIMED_DONE)
		return drop(trial, "--check fails");
	trial->differs = !is_same(t, &r.figures);
	return trial->differs ? drop(trial, "prints something else") : TRY_DONE;
}
