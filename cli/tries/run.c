/* SPDX-License-Identifier: GPL-2.0-only */
/* One run of the command, with or without remedies, and whether its output was the same. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "cli/tries/tries.h"

/* ---- its output ---- */

/*
 * A file without a name, so that large output needs no memory. Like a pipe, anybody may open it
 * again.
 */
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

/* ---- a run ---- */

/* Runs --check. RUN_FAILED: it failed, and `why` says so. */
static enum run_outcome check(struct tries *t, int output, char why[RUNS_WHY])
{
	struct change line = {.way = QZ_REMEDY_COMMAND, .text = t->runs.config->check};
	struct timed_run run = {.input = &output};
	struct timed_result result;
	enum run_outcome outcome;

	if (!line.text)
		return RUN_DONE;
	lseek(output, 0, SEEK_SET);
	outcome = runs__time(&t->runs, &line, 1, 0, &run, &result, why);
	if (outcome == RUN_FAILED)
		snprintf(why, RUNS_WHY, "--check fails");
	return outcome;
}

static uint32_t changes_of(const struct try_trial *trial, struct change changes[RUNS_CHANGES])
{
	for (uint32_t i = 0; i < trial->n; i++)
		changes[i] = (struct change) {.way = trial->uses[i]->remedy->way,
					      .text = trial->uses[i]->change,
					      .value = trial->uses[i]->value};
	return trial->n;
}

static enum run_outcome run_command(struct tries *t, const struct try_trial *trial,
				    struct try_figures *figures, char why[RUNS_WHY])
{
	struct timed_run run = {.command = t->runs.config->command,
				.with_input = true,
				.quiet = t->first.elapsed_ns};
	struct change changes[RUNS_CHANGES];
	struct timed_result result = {0};
	enum run_outcome outcome;
	int output = open_output();

	if (output < 0)
		return runs__end(&t->runs);
	run.output = &output;
	outcome = runs__time(&t->runs, changes, changes_of(trial, changes),
			     trial->n ? t->first.elapsed_ns : 0, &run, &result, why);
	*figures = (struct try_figures) {.elapsed_ns = result.elapsed_ns,
					 .cpu_ns = result.cpu_ns,
					 .peak_kib = result.peak_kib};
	if (!read_output(output, figures))
		outcome = runs__end(&t->runs);
	if (outcome == RUN_DONE)
		outcome = check(t, output, why);
	close(output);
	return outcome;
}

/*
 * Measures running processes. figures: the time that the work of the first measurement would have
 * taken.
 */
static enum run_outcome measure_running(struct tries *t, const struct try_trial *trial,
					struct try_figures *figures, char why[RUNS_WHY])
{
	struct running_figures f;
	enum run_outcome outcome = running__measure(&t->running, trial->uses, trial->n, &f, why);
	double part;

	*figures = (struct try_figures) {0};
	if (f.seconds <= 0)
		return outcome;
	if (!t->work && f.events <= 0) {
		snprintf(why, RUNS_WHY, "does nothing that could be counted");
		return RUN_FAILED;
	}
	t->work = t->work ? t->work : f.events;
	/* avoids a division by nearly 0 */
	part = t->work / (f.events > 1 ? f.events : 1);
	figures->elapsed_ns = (uint64_t)(1e9 * f.seconds * part);
	figures->cpu_ns = (uint64_t)(1e9 * f.cpu_seconds * part);
	return outcome;
}

uint64_t tries__run_ns(const struct tries *t)
{
	return t->is_running ? running__measure_ns(&t->running) : t->first.elapsed_ns;
}

static enum run_outcome run_once(struct tries *t, const struct try_trial *trial,
				 struct try_figures *figures, char why[RUNS_WHY])
{
	uint64_t left = runs__left_ns(&t->runs);

	if (!t->is_running)
		return run_command(t, trial, figures, why);
	t->runs.over = left < tries__run_ns(t);
	return t->runs.over ? RUN_ENDED : measure_running(t, trial, figures, why);
}

/* ---- whether its output was the same ---- */

static bool is_same(const struct tries *t, const struct try_figures *f)
{
	return t->compared == TRY_COMPARED_CHECK || t->compared == TRY_COMPARED_STATUS ||
	       (f->size == t->first.size &&
		(t->compared == TRY_COMPARED_SIZE || f->checksum == t->first.checksum));
}

/*
 * If the command prints something else each time, compares less exactly. Remedies that were dropped
 * for their output come back.
 */
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

enum run_outcome tries__run_without(struct tries *t)
{
	static const struct try_trial nothing;
	struct try_figures figures;
	char why[RUNS_WHY];
	enum run_outcome outcome = run_once(t, &nothing, &figures, why);

	t->fresh = outcome == RUN_DONE;
	if (outcome == RUN_FAILED && t->is_running)
		complain("process %d %s: is there a load?", (int)t->running.roots.items[0], why);
	else if (outcome == RUN_FAILED)
		complain("%s as it is: %s, so that there is nothing to compare with "
			 "(sh -c '...; true' ignores a status)",
			 t->runs.config->command[0], why);
	if (outcome != RUN_DONE)
		return outcome == RUN_FAILED ? runs__end(&t->runs) : outcome;
	t->last = figures;
	if (!t->first.elapsed_ns)
		t->first = figures;
	compare_less(t);
	return RUN_DONE;
}

enum run_outcome tries__run_with(struct tries *t, struct try_trial *trial)
{
	enum run_outcome outcome;

	t->fresh = false;
	trial->started = true;
	outcome = run_once(t, trial, &trial->with, trial->failure);
	/* if there is less load, it does as little without the remedy right afterwards */
	if (outcome == RUN_SLOW && t->is_running) {
		outcome = tries__run_without(t);
		if (outcome == RUN_DONE &&
		    RUNNING_WORST * (double)trial->with.elapsed_ns > (double)t->last.elapsed_ns)
			outcome = RUN_SLOW;
		else
			*trial->failure = '\0';
		if (outcome == RUN_ENDED)
			return outcome;
	}
	/* one slow run may be chance: the pair counts, with the time until the run was ended */
	if (outcome == RUN_SLOW) {
		trial->slow++;
		outcome = trial->slow < TRIES_SLOW || 2 * trial->slow <= trial->pairs.n + 1
				  ? RUN_DONE
				  : RUN_FAILED;
		if (outcome == RUN_DONE)
			*trial->failure = '\0';
		return outcome;
	}
	trial->differs = outcome == RUN_DONE && !is_same(t, &trial->with);
	if (!trial->differs)
		return outcome;
	snprintf(trial->failure, RUNS_WHY, "prints something else");
	return RUN_FAILED;
}
