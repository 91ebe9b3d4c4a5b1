/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A pool with too few threads. There is always work, so its threads never wait for it; each waits
 * most of the time for something outside the process, while processors are idle. With more threads,
 * more of these waits would overlap.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/advise/advise.h"
#include "core/advise/usage.h"
#include "core/model/frames.h"
#include "core/model/wait_causes.h"

#define FEWEST	  2   /* threads of a pool */
#define LEAST_OUT 0.5 /* of a pool thread's lifetime: blocked for something outside */
#define MOST_IN                                                                                    \
	0.1 /* of a pool thread's lifetime: blocked for others of its process, which may bring work */
#define LEAST_IDLE 0.25 /* of the elapsed time, nothing ran */
#define MORE	   8	/* the largest factor proposed for the number of threads */

/* Blocked time of a thread. */
struct blocked {
	uint64_t outside_ns, inside_ns;
};

struct few {
	const struct qz_report *report;
	struct blocked *blocked; /* indexed by thread */
	int32_t pid;		 /* of the pool */
	uint32_t threads;
	uint64_t outside_ns, running_ns, life_ns; /* sums over the threads of the pool */
	const struct qz_wait *most;		  /* the longest of their waits outside */
};

/* Whether most of these waits in poll were ended by another thread of the program. */
static bool is_handed(const struct qz_wait *w)
{
	return w->handed && 2 * w->handed >= w->count;
}

/*
 * Whether the wait is for an answer from outside the process. Event loops wait for work, and pipes
 * connect stages of the program; neither counts.
 */
static bool is_outside(const struct qz_profile *p, const struct qz_wait *w)
{
	unsigned int kind = qz_wait_cause__kind(p->causes[w->cause]);

	if (kind == QZ_WAIT_IS_POLL)
		return !is_handed(w) && !qz_frames__have_name(p, w->node, "epoll");
	return kind & (QZ_WAIT_IS_SOCKET | QZ_WAIT_IS_CHILD);
}

/* Lifetime without the time in the run queue, which depends on other programs. */
static uint64_t life_of(const struct qz_thread *t)
{
	return t->running_ns + t->blocked_ns;
}

/*
 * Whether a thread belongs to the pool: it lived for most of the time, is not the main thread, and
 * waits outside.
 */
static bool is_worker(const struct few *s, uint32_t thread)
{
	const struct qz_thread *t = &s->report->profile->threads[thread];
	const struct blocked *b = &s->blocked[thread];
	double life = (double)life_of(t);

	return t->scope == s->report->scope && !t->merged && t->tid != t->pid &&
	       life + (double)t->ready_ns >= (double)s->report->elapsed_ns / 2 && b->outside_ns &&
	       (double)b->outside_ns >= LEAST_OUT * life && (double)b->inside_ns <= MOST_IN * life;
}

/*
 * Whether another thread waits for the results of the pool. In a server with a thread for each
 * client, none does.
 */
static bool is_waited_for(const struct few *s)
{
	const struct qz_profile *p = s->report->profile;

	for (uint32_t i = 0; i < p->nthreads; i++)
		if (p->threads[i].pid == s->pid && p->threads[i].scope == s->report->scope &&
		    s->blocked[i].inside_ns >= s->report->elapsed_ns / 2)
			return true;
	return false;
}

static void add_waits(struct few *s)
{
	const struct qz_profile *p = s->report->profile;

	for (uint32_t i = 0; i < p->nwaits; i++) {
		const struct qz_wait *w = &p->waits[i];

		if (w->scope != s->report->scope || w->thread == QZ_NONE)
			continue;
		if (is_outside(p, w))
			s->blocked[w->thread].outside_ns += w->blocked_ns;
		else if (is_handed(w) ||
			 qz_wait_cause__kind(p->causes[w->cause]) == QZ_WAIT_IS_FUTEX)
			s->blocked[w->thread].inside_ns += w->blocked_ns;
	}
}

static void add_workers(struct few *s)
{
	const struct qz_profile *p = s->report->profile;

	for (uint32_t i = 0; i < p->nthreads; i++) {
		if (!is_worker(s, i) || (s->threads && p->threads[i].pid != s->pid))
			continue;
		s->pid = p->threads[i].pid;
		s->threads++;
		s->outside_ns += s->blocked[i].outside_ns;
		s->running_ns += p->threads[i].running_ns;
		s->life_ns += life_of(&p->threads[i]);
	}
	for (uint32_t i = 0; i < p->nwaits; i++) {
		const struct qz_wait *w = &p->waits[i];

		if (w->scope == s->report->scope && w->thread != QZ_NONE &&
		    p->threads[w->thread].pid == s->pid && is_worker(s, w->thread) &&
		    is_outside(p, w) && (!s->most || w->blocked_ns > s->most->blocked_ns))
			s->most = w;
	}
}

/* The number of threads that keeps the processors busy. */
static uint32_t enough(const struct few *s, uint32_t processors)
{
	double busy = (double)s->running_ns / (double)s->life_ns;
	double n = busy > 0 ? processors / busy : MORE * s->threads;

	if (n > MORE * s->threads)
		return MORE * s->threads;
	return n > 2 * s->threads ? (uint32_t)n : 2 * s->threads;
}

static int report_it(const struct few *s, uint32_t processors, struct qz_advice *a)
{
	const struct qz_report *r = s->report;
	const struct qz_profile *p = r->profile;
	uint64_t out_ns = s->outside_ns / s->threads;
	uint64_t idle_ns = out_ns < r->idle_ns ? out_ns : r->idle_ns;
	uint32_t code = qz_frames__program_code(p, s->most->node);
	struct qz_finding f = qz_finding__about("few-threads", r, QZ_SUBJECT_CAUSE, s->most->cause);

	f.word = "TOO FEW THREADS";
	f.gain_low_ns = idle_ns / 2; /* twice as many threads halve the waits */
	f.gain_high_ns = qz_usage__gain_of_idle(r, idle_ns);
	f.lost = QZ_LOST_IDLE | QZ_LOST_SERIAL;
	qz_finding__say(&f, &f.what,
			"%u threads wait outside (%s) %.0f%% of their time, and never for work.",
			s->threads, f.shown, 100 * (double)s->outside_ns / (double)s->life_ns);
	if (code != QZ_NONE)
		qz_finding__say(&f, &f.where, "%s", p->procedures[code].name);
	qz_finding__prove(&f, "threads --each", NULL, "they ran %.2f s of %.2f s, all together",
			  (double)s->running_ns / 1e9, (double)s->life_ns / 1e9);
	qz_finding__prove(&f, "objects", NULL, "nothing ran %.0f%% of the time",
			  qz_finding__percent(r, r->idle_ns));
	qz_finding__say(&f, &f.remedy,
			"more threads in this pool (%u: max_workers, newFixedThreadPool), or "
			"several requests on their way in each (asynchronous calls)",
			enough(s, processors));
	return qz_advise__add(a, &f);
}

int qz_rule__few_threads(const struct qz_report *r, struct qz_advice *a)
{
	struct few s = {.report = r};
	struct qz_usage u;
	int err = 0;

	if (!qz_usage__is_closed(r) || (double)r->idle_ns < LEAST_IDLE * (double)r->elapsed_ns)
		return 0;
	s.blocked = calloc((size_t)r->profile->nthreads + 1, sizeof(*s.blocked));
	if (!s.blocked)
		return -ENOMEM;
	add_waits(&s);
	add_workers(&s);
	if (s.threads >= FEWEST && is_waited_for(&s)) {
		qz_usage__find(r, &u);
		err = report_it(&s, u.processors, a);
	}
	free(s.blocked);
	return err;
}
