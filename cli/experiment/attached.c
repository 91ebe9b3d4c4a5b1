/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/experiment/attached.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/experiment/programs.h"
#include "cli/query/profile_source.h"
#include "core/util/clock.h"
#include "core/util/vec.h"

#define SECOND		  1e9
#define STANDARD_DURATION 10000000000ull
#define SETTLE_US	  500000 /* after the processors have changed */

/* How much had been done at some times of one measurement. */
struct counts {
	const struct attached *a;
	uint32_t n;
	struct count {
		double at, value; /* seconds since 1970 */
	} * counts;
	bool failed; /* and the error was printed */
};

static double now(void)
{
	return (double)qz_clock__read(CLOCK_REALTIME) / SECOND;
}

/* ---- counting ---- */

/* Between its beginning and its end, because the command itself takes some time. */
static void count_now(void *context)
{
	struct counts *c = context;
	struct count count;

	if (c->failed)
		return;
	count.at = now();
	c->failed = !programs__ask(c->a->config->events, c->a->user, &count.value);
	count.at += (now() - count.at) / 2;
	if (!c->failed && qz_array__reserve((void **)&c->counts, c->n, sizeof(count))) {
		out_of_memory();
		c->failed = true;
	}
	if (!c->failed)
		c->counts[c->n++] = count;
}

/* On a line between the counts before and after; at the ends, as if it went on so. */
static double count_at(const struct counts *c, double at)
{
	uint32_t i = 1;

	while (i + 1 < c->n && c->counts[i].at < at)
		i++;
	return c->counts[i - 1].value + (c->counts[i].value - c->counts[i - 1].value) *
						(at - c->counts[i - 1].at) /
						(c->counts[i].at - c->counts[i - 1].at);
}

/* Of what was done while the profile was taken, which begins some time after quartzd. */
static enum status find_rate(const struct counts *c, const char *file, double *rate)
{
	struct config config = {.input = file};
	struct qz_profile *p;
	enum status status;
	double from, length;

	if (c->failed || c->n < 2)
		return STATUS_FAILURE;
	status = profile_source__read(&config, &p);
	if (status != STATUS_OK)
		return status;
	from = (double)p->wall_start_ns / SECOND;
	length = (double)p->window_ns / SECOND;
	qz_profile__free(p);
	*rate = length > 0 ? (count_at(c, from + length) - count_at(c, from)) / length : 0;
	if (*rate > 0)
		return STATUS_OK;
	complain("--events '%s': the number has not grown in %.1f s; is there a load?",
		 c->a->config->events, length);
	return STATUS_FAILURE;
}

/* ---- processors ---- */

static enum status fail(pid_t pid, int err)
{
	complain("process %d: its processors cannot be chosen: %s", pid, strerror(-err));
	return err == -EPERM || err == -EACCES ? STATUS_NO_PRIVILEGE : STATUS_FAILURE;
}

static void put_back(void *context)
{
	const struct attached *a = context;

	scheduling__restore(&a->before, &a->config->pids);
}

enum status attached__open(struct attached *a, const struct config *config,
			   const struct processors *on, const char *user)
{
	pid_t pid = 0;
	int err;

	*a = (struct attached) {.config = config, .on = on, .user = user};
	err = scheduling__keep(&a->before, &config->pids, &pid);
	err = err ? err : guard__start(&a->guard, put_back, a);
	return err ? fail(pid, err) : STATUS_OK;
}

void attached__close(struct attached *a)
{
	if (a->before.n)
		put_back(a);
	guard__end(&a->guard);
	scheduling__free(&a->before);
}

/* ---- one measurement ---- */

static bool confine(struct attached *a, uint32_t processors)
{
	struct change change = {.way = QZ_REMEDY_AFFINITY, .value = processors};
	pid_t pid = 0;
	int err = scheduling__change(&a->config->pids, &change, a->on, &pid);

	if (err)
		fail(pid, err);
	else
		usleep(SETTLE_US);
	return !err;
}

enum trial_outcome attached__measure(struct attached *a, uint32_t processors, const char *file,
				     double *rate, int *status)
{
	uint64_t duration = a->config->duration ? a->config->duration : STANDARD_DURATION;
	struct trial t = {
		.on = a->on,
		.processors = processors,
		.pids = &a->config->pids,
		.duration_ns = duration,
		.file = file,
		.rate = a->config->rate,
	};
	struct counts counts = {.a = a};
	enum trial_outcome outcome = TRIAL_NOT_STARTED;

	t.tick = count_now;
	t.context = &counts;
	*status = STATUS_FAILURE;
	if (confine(a, processors))
		count_now(&counts);
	if (counts.n)
		outcome = trial__run(&t, status);
	if (outcome == TRIAL_DONE) {
		count_now(&counts);
		*status = find_rate(&counts, file, rate);
		outcome = *status == STATUS_OK ? TRIAL_DONE : TRIAL_NOT_STARTED;
	}
	free(counts.counts);
	return outcome;
}
