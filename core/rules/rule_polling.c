/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Polling with sleeps: a thread looks for work, sleeps, and looks again. New work waits for the end
 * of the sleep, and so does each thread that needs the result. The rule applies where nothing else
 * runs meanwhile, and no thread waits for anything outside.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/advise/advise.h"
#include "core/advise/usage.h"
#include "core/costs/cost_walk.h"
#include "core/model/frames.h"
#include "core/model/objects.h"
#include "core/model/wait_causes.h"

#define LEAST_COUNT  20		  /* sleeps */
#define LONGEST_NS   500000000ull /* mean length; a thread that sleeps for longer has nothing to do */
#define LEAST_ASLEEP 0.1	  /* of the elapsed time */
#define OTHERS_RAN   0.01 /* of the processor time: a second thread ran, which may bring work */

/* Sleeps in calls of one procedure. alone_ns: no thread could run meanwhile. */
struct sleeps {
	uint64_t count, blocked_ns, alone_ns;
};

struct polling {
	const struct qz_report *report;
	struct qz_cost_walk walk;
	struct sleeps *by_procedure;
	uint32_t cause;	     /* of sleeps */
	uint64_t asleep_ns;  /* sum of alone_ns */
	uint64_t outside_ns; /* the same of waits for something outside */
};

/* Java sleeps at a futex. Timed waits that nobody ends are sleeps, too. */
static bool is_sleep(const struct qz_profile *p, const struct qz_wait *w)
{
	unsigned int kind = qz_wait_cause__kind(p->causes[w->cause]);

	if (kind == QZ_WAIT_IS_SLEEP ||
	    (w->object != QZ_NONE && qz_objects__is_clock(&p->objects[w->object])))
		return true;
	return kind == QZ_WAIT_IS_FUTEX && qz_frames__have_name(p, w->node, "JVM_Sleep");
}

/*
 * Whether the wait is for something outside. Other waits are for threads of the program, and in the
 * end for the one that sleeps.
 */
static bool is_outside(const char *cause)
{
	return qz_wait_cause__kind(cause) &
	       (QZ_WAIT_IS_SOCKET | QZ_WAIT_IS_PIPE | QZ_WAIT_IS_ANY | QZ_WAIT_IS_DEVICE);
}

/*
 * The innermost code of the program in the waiting thread; QZ_NONE: the thread belongs to a
 * runtime, which polls for itself.
 */
static uint32_t asker_of(const struct polling *s, uint32_t node)
{
	struct qz_frames frames = {.profile = s->report->profile, .node = node};
	uint32_t frame;

	while ((frame = qz_frames__next(&frames)) != QZ_NONE) {
		if (s->report->profile->procedures[frame].kind != QZ_PROCEDURE)
			return QZ_NONE;
		if (!s->walk.codes[frame])
			return frame;
	}
	return QZ_NONE;
}

static void add_wait(struct polling *s, const struct qz_wait *w)
{
	const struct qz_profile *p = s->report->profile;
	uint64_t alone_ns = w->nominal ? 0 : w->blocked_ns;
	uint32_t asker;

	if (is_outside(p->causes[w->cause]))
		s->outside_ns += alone_ns;
	if (!is_sleep(p, w))
		return;
	asker = asker_of(s, w->node);
	if (asker == QZ_NONE)
		return;
	s->cause = w->cause;
	s->asleep_ns += alone_ns;
	s->by_procedure[asker].count += w->count;
	s->by_procedure[asker].blocked_ns += w->blocked_ns;
	s->by_procedure[asker].alone_ns += alone_ns;
}

static uint32_t find_most(const struct polling *s)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < s->report->profile->nprocedures; i++)
		if (s->by_procedure[i].alone_ns > s->by_procedure[best].alone_ns)
			best = i;
	return best;
}

static bool is_polling(const struct sleeps *s)
{
	return s->count >= LEAST_COUNT && s->blocked_ns / s->count <= LONGEST_NS;
}

static bool others_run(const struct qz_report *r)
{
	const struct qz_profile *p = r->profile;
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->nthreads; i++)
		n += p->threads[i].scope == r->scope &&
		     (double)p->threads[i].running_ns >=
			     OTHERS_RAN * (double)qz_scope__running_ns(&p->scopes[r->scope]);
	return n > 1;
}

static int report_it(const struct polling *s, uint64_t idle_ns, struct qz_advice *a)
{
	const struct qz_report *r = s->report;
	uint32_t procedure = find_most(s);
	const struct sleeps *most = &s->by_procedure[procedure];
	const char *name = r->profile->procedures[procedure].name;
	struct qz_finding f = qz_finding__about("polling", r, QZ_SUBJECT_CAUSE, s->cause);
	char shown[QZ_SHORT_NAME];
	struct qz_usage u;
	bool much;

	qz_usage__find(r, &u);
	much = idle_ns > u.alone_ns; /* else most of what ran alone did so for another reason */
	qz_finding__shorten(shown, name);
	f.word = "POLLING";
	f.gain_low_ns = idle_ns / 2; /* new work waits for half of a sleep on average */
	f.gain_high_ns = much ? qz_usage__gain_of_idle(r, idle_ns) : idle_ns;
	f.lost = QZ_LOST_IDLE | (much ? QZ_LOST_SERIAL : 0);
	qz_finding__say(&f, &f.what,
			"%s sleeps again and again, %.3g ms each time, and %.0f%% of the time "
			"nothing else runs.",
			shown, (double)most->blocked_ns / (double)most->count / 1e6,
			qz_finding__percent(r, idle_ns));
	qz_finding__prove(&f, "report", name, "%llu sleeps, %.2f s",
			  (unsigned long long)most->count, (double)most->blocked_ns / 1e9);
	qz_finding__prove(&f, "report --waits", NULL, "no thread waited for anything outside");
	qz_finding__say(&f, &f.remedy,
			"wait for what it looks for: a condition variable, a semaphore, a blocking "
			"read; for processes wait(), for files inotify");
	return qz_advise__add(a, &f);
}

/*
 * Time in which threads queued for a lock whose holder was blocked. A thread that sleeps while it
 * holds a lock does not poll: others wait for it.
 */
static uint64_t queued_for_sleepers(const struct qz_report *r)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < r->nobjects; i++)
		if (qz_object_cost__is_held(r, &r->objects[i]) &&
		    r->objects[i].cost.held_blocked_ns > most)
			most = r->objects[i].cost.held_blocked_ns;
	return most;
}

static int find(struct polling *s, struct qz_advice *a)
{
	const struct qz_report *r = s->report;
	uint64_t idle_ns;

	for (uint32_t i = 0; i < r->profile->nwaits; i++)
		if (qz_scope__covers(r->profile, r->scope, r->profile->waits[i].scope))
			add_wait(s, &r->profile->waits[i]);
	idle_ns = r->idle_ns > s->outside_ns ? r->idle_ns - s->outside_ns : 0;
	idle_ns = s->asleep_ns < idle_ns ? s->asleep_ns : idle_ns;
	if ((double)idle_ns < LEAST_ASLEEP * (double)r->elapsed_ns ||
	    queued_for_sleepers(r) >= idle_ns / 2 || !is_polling(&s->by_procedure[find_most(s)]))
		return 0;
	return report_it(s, idle_ns, a);
}

int qz_rule__polling(const struct qz_report *r, struct qz_advice *a)
{
	struct polling s = {.report = r};
	int err;

	if (!qz_usage__is_closed(r) || !others_run(r))
		return 0;
	s.by_procedure = calloc((size_t)r->profile->nprocedures + 1, sizeof(*s.by_procedure));
	err = s.by_procedure ? qz_cost_walk__init(&s.walk, r->profile) : -ENOMEM;
	err = err ? err : find(&s, a);
	qz_cost_walk__free(&s.walk);
	free(s.by_procedure);
	return err;
}
