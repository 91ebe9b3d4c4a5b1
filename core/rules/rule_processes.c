/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two rules about processes that a command starts as jobs. `processes`: they run one after another, in a shell loop, make
 * without -j, a program that waits for each child. `last-job`: several run at a time (make -j, xargs -P), and one was started late
 * and still runs when the others have ended. Had it been started first, the others would have run beside it.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/advise/advise.h"
#include "core/advise/alone.h"
#include "core/advise/jobs.h"
#include "core/advise/usage.h"
#include "core/util/order.h"

/*
 * Processor time of jobs that run at the same time, as a factor of that one after another, at most.
 * On two processors beside other load, make -j2 of 12 C files took 1.15 times as much as make -j1,
 * xargs -P2 of six bzip2 0.94 times as much as a loop.
 */
#define DEAREST 1.3

/* The least time for all jobs: that of the longest, or of all divided among the processors. */
static uint64_t least_ns(const struct qz_alone *alone, double more)
{
	double divided = (double)alone->ns * more / alone->usage.width;

	return divided > (double)alone->longest_ns ? (uint64_t)divided : alone->longest_ns;
}

static uint64_t gain(const struct qz_alone *alone, double more)
{
	uint64_t left = least_ns(alone, more);

	return alone->ns > left ? alone->ns - left : 0;
}

/* The thread that is blocked longest: the parent, which waits for the jobs. */
static uint32_t find_parent(const struct qz_report *r)
{
	uint32_t best = 0;
	uint64_t most = 0;

	for (uint32_t i = 0; i < r->nthreads; i++)
		if (r->threads[i].waits.blocked_ns > most) {
			most = r->threads[i].waits.blocked_ns;
			best = i;
		}
	return r->threads[best].thread;
}

int qz_rule__processes(const struct qz_report *r, struct qz_advice *a)
{
	const struct qz_thread *thread;
	char comm[QZ_SHORT_NAME];
	struct qz_alone alone;
	struct qz_finding f;
	int err = qz_alone__find(r, &alone);

	if (err || alone.kind != QZ_ALONE_PROCESSES)
		return err;
	alone.ns = alone.usage.alone_ns > alone.driver_ns ? alone.usage.alone_ns - alone.driver_ns
							  : 0;
	thread = &r->profile->threads[alone.thread];
	qz_finding__shorten(comm, thread->comm);
	f = qz_finding__about("processes", r, QZ_SUBJECT_THREAD, find_parent(r));
	f.word = "ONE JOB AT A TIME";
	f.gain_low_ns = gain(&alone, DEAREST);
	f.gain_high_ns = gain(&alone, 1);
	f.lost = QZ_LOST_SERIAL | QZ_LOST_DIVIDED;
	qz_finding__say(&f, &f.what,
			"%s waits for each of its jobs before it starts the next: %u processes "
			"(%s) ran one after "
			"another.",
			f.shown, alone.processes, comm);
	qz_finding__prove(&f, "threads", NULL, "only one of them could run %.0f%% of the time",
			  qz_finding__percent(r, alone.ns));
	qz_finding__prove(&f, "threads", NULL, "the longest of them took %.2f s of processor time",
			  (double)alone.longest_ns / 1e9);
	qz_finding__say(&f, &f.remedy,
			"start several at a time: make -j, xargs -P, or & and wait in a shell");
	return qz_advise__add(a, &f);
}

/* ---- the last one ---- */

#define LEAST	0.04 /* of the elapsed time, the last job alone */
#define FEWEST	2    /* jobs that had ended when it was started: it came late */
#define MATTERS 0.01 /* of the processor time of all jobs: less is a shell, or an echo */
#define LONG	1.5  /* times the mean of all: no order of equal jobs is better */
#define WAITS                                                                                      \
	0.1 /* of its life, a process waits for another one that does the work, as gcc does for cc1 */

/*
 * Of what an order by length would save: how long jobs take is known, what they need of each other is not. By make -j2, of nine
 * jobs with a long one at the end, 0.55 were saved.
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

static bool find_late(struct qz_job *jobs, uint32_t n, struct last *l)
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
	best = fmax((double)able, l->work_ns / fmin(l->slots, u.width));
	saved = fmin((double)(l->job->end_ns - l->first_ns) - best, (double)l->alone_ns);
	return saved > 0 ? (uint64_t)saved : 0;
}

static int report_last(const struct qz_report *r, const struct last *l, uint64_t saved,
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
	struct qz_job *jobs = NULL;
	uint64_t *child_ns;
	struct last l;
	uint32_t n;
	int err;

	if (!qz_usage__is_closed(r))
		return 0;
	child_ns = qz_jobs__child_times(r->profile);
	if (child_ns)
		jobs = qz_jobs__of(r, child_ns, &n);
	err = jobs ? 0 : -ENOMEM;
	if (!err && find_late(jobs, n, &l) && (double)l.alone_ns >= LEAST * (double)r->elapsed_ns)
		err = report_last(r, &l, most_saved(r, &l), a);
	free(jobs);
	free(child_ns);
	return err;
}
