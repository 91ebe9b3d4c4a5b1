/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Jobs of processes, several at a time (make -j, xargs -P), of which one was started late and still runs when the others
 * have ended. Had it been started first, the others would have run beside it.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/advise/advise.h"
#include "core/advise/jobs.h"
#include "core/advise/usage.h"
#include "core/util/order.h"

#define LEAST	0.04 /* of the elapsed time, the last job alone */
#define FEWEST	2    /* jobs that had ended when it was started: it came late */
#define MATTERS 0.01 /* of the processor time of all jobs: less is a shell, or an echo */
#define LONG	1.5  /* times the mean of all: no order of equal jobs is better */
#define WAITS                                                                                      \
	0.1 /* of its life, a process waits for another one that does the work, as gcc does for cc1 */

/*
 * Of what an order by length would save. How long jobs take is known, what they need of each other is not; and in two runs of the
 * example of doc/advice.md, 0.6 of it were saved.
 */
#define USUAL 0.5

struct last {
	const struct qz_job *job;
	uint32_t jobs, before; /* how many there were, and had ended when it was started */
	uint32_t slots;	       /* at most so many lived at a time */
	uint64_t first_ns;     /* the first of all began */
	uint64_t alone_ns;     /* it ran on after all others that had begun before that */
	double work_ns;	       /* processor time of all until then */
};

static int compare_starts(const void *x, const void *y)
{
	const struct qz_job *a = x, *b = y;

	return qz_order(a->start_ns, b->start_ns);
}

/* Keeps those that work themselves, in the order of their starts. Returns how many. */
static uint32_t keep_workers(struct qz_job *jobs, uint32_t n)
{
	uint64_t all = 0;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++)
		all += jobs[i].running_ns;
	for (uint32_t i = 0; i < n; i++)
		if ((double)jobs[i].running_ns >= MATTERS * (double)all &&
		    (double)jobs[i].child_ns <= WAITS * (double)(jobs[i].end_ns - jobs[i].start_ns))
			jobs[kept++] = jobs[i];
	qsort(jobs, kept, sizeof(*jobs), compare_starts);
	return kept;
}

/* Jobs that lived when the one of this index began, with it. */
static uint32_t living(const struct qz_job *jobs, uint32_t i)
{
	uint32_t n = 1;

	for (uint32_t k = 0; k < i; k++)
		n += jobs[k].end_ns > jobs[i].start_ns;
	return n;
}

/*
 * The last time that a job ended while another one lived that had begun before, and that other one. What begins after it,
 * as a linker does, may need all of them.
 */
static void find_last(const struct qz_job *jobs, uint32_t n, struct last *l)
{
	uint32_t longest = 0; /* who lives longest, of those that have begun */
	uint64_t from = 0;

	for (uint32_t i = 1; i < n; i++) {
		uint32_t first = jobs[i].end_ns < jobs[longest].end_ns ? i : longest;
		uint32_t other = first == i ? longest : i;

		if (jobs[i].start_ns < jobs[longest].end_ns && jobs[first].end_ns >= from) {
			from = jobs[first].end_ns;
			l->job = &jobs[other];
		}
		longest = other;
	}
	if (l->job)
		l->alone_ns = l->job->end_ns - from;
}

static bool find(struct qz_job *jobs, uint32_t n, struct last *l)
{
	*l = (struct last) {.jobs = keep_workers(jobs, n)};
	find_last(jobs, l->jobs, l);
	for (uint32_t i = 0; l->job && i < l->jobs; i++) {
		uint32_t at_once = living(jobs, i);

		l->before += jobs[i].end_ns <= l->job->start_ns;
		l->slots = at_once > l->slots ? at_once : l->slots;
		if (jobs[i].start_ns < l->job->end_ns)
			l->work_ns += (double)jobs[i].running_ns;
	}
	if (l->job)
		l->first_ns = jobs[0].start_ns;
	return l->job && l->before >= FEWEST &&
	       (double)l->job->running_ns * l->jobs >= LONG * l->work_ns;
}

/* In the best order, they take as long as this one, or as all of them on the processors that they used. */
static uint64_t most_saved(const struct qz_report *r, const struct last *l)
{
	uint64_t life = l->job->end_ns - l->job->start_ns;
	uint64_t able = life > l->job->ready_ns ? life - l->job->ready_ns : 0;
	struct qz_usage u;
	double best, saved;

	qz_usage__find(r, &u);
	if (!qz_usage__is_closed(r))
		return 0;
	best = fmax((double)able, l->work_ns / fmin(l->slots, u.width));
	saved = fmin((double)(l->job->end_ns - l->first_ns) - best, (double)l->alone_ns);
	return saved > 0 ? (uint64_t)saved : 0;
}

static int report_it(const struct qz_report *r, const struct last *l, uint64_t saved,
		     struct qz_advice *a)
{
	struct qz_finding f = qz_finding__about("last-job", r, QZ_SUBJECT_THREAD, l->job->thread);

	f.word = "LAST JOB ALONE";
	f.gain_low_ns = (uint64_t)(USUAL * (double)saved);
	f.gain_high_ns = saved;
	f.lost = QZ_LOST_SERIAL;
	qz_finding__say(&f, &f.what,
			"%s, one of %u jobs, was started when %u had ended, and still ran for "
			"%.0f%% of the time after the others.",
			f.shown, l->jobs, l->before, qz_finding__percent(r, l->alone_ns));
	qz_finding__prove(&f, "threads --each", NULL,
			  "it began %.2f s after the first of them, and took %.2f s of processor "
			  "time",
			  (double)(l->job->start_ns - l->first_ns) / 1e9,
			  (double)l->job->running_ns / 1e9);
	qz_finding__say(&f, &f.remedy,
			"start it first, unless it needs what the others make: the longest jobs "
			"come first among make's prerequisites, or in what xargs reads");
	return qz_advise__add(a, &f);
}

int qz_rule__last_job(const struct qz_report *r, struct qz_advice *a)
{
	uint32_t n;
	struct qz_job *jobs = qz_jobs__of(r, &n);
	struct last l;
	int err = jobs ? 0 : -ENOMEM;

	if (!err && find(jobs, n, &l) && (double)l.alone_ns >= LEAST * (double)r->elapsed_ns)
		err = report_it(r, &l, most_saved(r, &l), a);
	free(jobs);
	return err;
}
