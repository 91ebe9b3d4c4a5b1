/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/advise/parking.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/advise/closeness.h"
#include "core/costs/cost_walk.h"
#include "core/model/frames.h"
#include "core/model/wait_causes.h"
#include "core/report/goroutines.h"
#include "core/report/idle_time.h"

/* Share of the elapsed time that threads sleep there, of all together, and of the wake-ups that are theirs: at least. */
#define LEAST_WAITED 0.1
#define LEAST_WOKEN  0.5

/* Of waits and of wake-ups: what most of them have. */
#define MOST 0.8

/*
 * Of the waits, and of the wake-ups, what one thread has at most: where one wakes all others, or waits for all of them, it gives
 * them work, or takes it. Two that wake each other in poll may as well ask and answer.
 */
#define EVEN	       0.5
#define EVEN_OF_TWO    0.7
#define FEWEST_IN_POLL 3

/* Code farther out is called by more of the waits for other things, or it is the lock's. */
#define PURER 0.05

/* Who runs for so little of the time in which others wait has been met by chance. */
#define HARDLY 0.05

/* A thread takes part with this share of the waits, and of what each of them would wake if they woke equally often. */
#define TAKES_PART     0.03
#define LEAST_OF_SHARE 0.1

struct finder {
	const struct qz_report *report;
	struct qz_parking *parking;
	uint64_t *slept, *woke;	  /* by thread: how long, and how often */
	uint64_t woken;		  /* by those that sleep there, too */
	enum qz_closeness *close; /* of procedures */
	uint64_t *waits, *wakes; /* by procedure: the time, or how often, that it is on the stack */
};

static bool in_poll(const struct qz_profile *p, const struct qz_wait *w)
{
	return w->object == QZ_NONE && (qz_wait_cause__kind(p->causes[w->cause]) & QZ_WAIT_IS_ANY);
}

static bool is_semaphore(const struct qz_object *o)
{
	return o->kind == QZ_OBJECT_SEMAPHORE && o->grouped == 1;
}

/*
 * Several words under one name, none of which had a queue of two; of a kind that can be a part of a lock. Or a semaphore,
 * which has no holder.
 */
static bool is_parked_at(const struct qz_object *o)
{
	if (is_semaphore(o))
		return true;
	if (o->kind != QZ_OBJECT_OTHER && o->kind != QZ_OBJECT_CONDITION &&
	    o->kind != QZ_OBJECT_SEMAPHORE && o->kind != QZ_OBJECT_MUTEX)
		return false;
	for (uint32_t n = 2; n < QZ_QUEUE_LENGTHS; n++)
		if (o->queue_ns[n])
			return false;
	return o->grouped > 1;
}

/*
 * A thread that was seen to hold one of several locks under one name, for a part of these waits, holds just that one. The
 * count of a semaphore names no holder.
 */
static bool is_held(const struct qz_report *r, const struct qz_object_row *row)
{
	uint64_t held = row->cost.held_running_ns;

	held = row->figure.cpu_ns > held ? row->figure.cpu_ns : held;
	return !is_semaphore(&r->profile->objects[row->object]) &&
	       (double)held > HARDLY * (double)row->waits.blocked_ns;
}

/* Adds an amount to each procedure of a stack, once, up to the beginning of its thread. */
static void add_stack(const struct qz_profile *p, uint32_t node, uint64_t amount, uint64_t *sums)
{
	struct qz_frames frames = {.profile = p, .node = node};
	uint32_t frame, last = QZ_NONE;

	while ((frame = qz_frames__next(&frames)) != QZ_NONE &&
	       p->procedures[frame].kind == QZ_PROCEDURE) {
		if (frame != last)
			sums[frame] += amount;
		last = frame;
	}
}

/* ---- who ---- */

/* Whether a wait is one for the lock. */
static bool is_of(const struct finder *f, const struct qz_wait *w)
{
	const struct qz_profile *p = f->report->profile;

	if (w->thread == QZ_NONE || !w->count || !qz_scope__covers(p, f->report->scope, w->scope))
		return false;
	if (f->parking->object != QZ_NONE)
		return w->object == f->parking->object;
	return in_poll(p, w) && w->handed &&
	       qz_frames__contain((struct qz_frames) {.profile = p, .node = w->node},
				  f->parking->sleeper);
}

static bool is_even(const uint64_t *counts, uint32_t n, double share)
{
	uint64_t all = 0, most = 0;

	for (uint32_t i = 0; i < n; i++) {
		all += counts[i];
		most = counts[i] > most ? counts[i] : most;
	}
	return (double)most <= share * (double)all;
}

/*
 * Who sleeps there and wakes far fewer than its share waits for something else under the same name, as Java's Thread.join() does at
 * what monitors sleep at, too: it is no thread of the lock.
 */
static void leave_out(struct finder *f)
{
	uint32_t threads = f->report->profile->nthreads, n = 0;
	uint64_t woken = 0;

	for (uint32_t i = 0; i < threads; i++) {
		woken += f->woke[i];
		n += f->slept[i] > 0;
	}
	for (uint32_t i = 0; i < threads; i++)
		if ((double)f->woke[i] * n < LEAST_OF_SHARE * (double)woken)
			f->slept[i] = 0;
}

/* Threads that sleep there are those that wake there, and none is another one's servant. */
static bool take_turns(struct finder *f)
{
	const struct qz_profile *p = f->report->profile;
	struct qz_parking *parking = f->parking;
	uint64_t woken = 0, theirs = 0;
	double even;

	for (uint32_t i = 0; i < p->nthreads; i++) {
		woken += f->woke[i];
		if (!f->slept[i] || (double)f->slept[i] < TAKES_PART * (double)parking->waited_ns)
			continue;
		theirs += f->woke[i];
		parking->threads++;
	}
	parking->woken = woken ? (double)theirs / (double)woken : 0;
	even = parking->threads > 2 ? EVEN : EVEN_OF_TWO;
	return parking->threads >= (parking->object == QZ_NONE ? FEWEST_IN_POLL : 2) &&
	       parking->woken >= LEAST_WOKEN && is_even(f->slept, p->nthreads, even) &&
	       is_even(f->woke, p->nthreads, even);
}

/* Whether a wake-up is one there. */
static bool is_waking(const struct finder *f, const struct qz_waking *w)
{
	return w->count && w->object == f->parking->object && w->thread != QZ_NONE &&
	       qz_scope__covers(f->report->profile, f->report->scope, w->scope);
}

/* Sums up what is of the lock. */
static void add_up(struct finder *f)
{
	const struct qz_report *r = f->report;
	const struct qz_profile *p = r->profile;
	struct qz_parking *parking = f->parking;

	for (uint32_t i = 0; i < p->nwaits; i++)
		if (is_of(f, &p->waits[i]))
			f->slept[p->waits[i].thread] += p->waits[i].blocked_ns;
	for (uint32_t i = 0; i < p->nwakings; i++)
		if (is_waking(f, &p->wakings[i]))
			f->woke[p->wakings[i].thread] += p->wakings[i].count;
	leave_out(f);
	for (uint32_t i = 0; i < p->nwaits; i++) {
		const struct qz_wait *w = &p->waits[i];

		if (!is_of(f, w) || !f->slept[w->thread])
			continue;
		parking->cause = w->cause;
		parking->waits += w->count;
		parking->waited_ns += w->blocked_ns;
		parking->late_ns += w->ready_ns;
		parking->idle_ns += r->charges ? r->charges[i].blocked_ns : 0;
		add_stack(p, w->node, w->blocked_ns, f->waits);
	}
	for (uint32_t i = 0; i < p->nwakings; i++) {
		const struct qz_waking *w = &p->wakings[i];

		if (!is_waking(f, w) || !f->slept[w->thread])
			continue;
		f->woken += w->count;
		add_stack(p, w->node, w->count, f->wakes);
	}
}

static void add_alone(struct finder *f)
{
	const struct qz_report *r = f->report;

	for (uint32_t i = 0; i < r->profile->nthreads; i++)
		if (f->slept[i] && r->profile->threads[i].running_ns > f->parking->longest_ns)
			f->parking->longest_ns = r->profile->threads[i].running_ns;
	for (uint32_t i = 0; i < r->profile->nsamples; i++) {
		const struct qz_sample *s = &r->profile->samples[i];

		if (s->scope == r->scope && s->thread != QZ_NONE && f->slept[s->thread] &&
		    s->busy == 1 && !s->spinning)
			f->parking->alone_ns += s->norm_ns;
	}
}

/* ---- where ---- */

/* Neither a library's nor a runtime's; "[unknown]" says nothing. */
static bool is_own(const struct qz_profile *p, uint32_t procedure)
{
	const struct qz_procedure *code = &p->procedures[procedure];

	if (code->module[0] == '[' && strcmp(code->module, "[jit]") != 0 &&
	    !qz_procedure__is_interpreted(code))
		return false;
	return code->kind == QZ_PROCEDURE && code->name[0] != '[' && !strstr(code->module, ".so") &&
	       !qz_cost_code__find(code);
}

/* Code that does not begin its thread. */
static bool is_called(const struct qz_profile *p, struct qz_frames after)
{
	uint32_t caller = qz_frames__next(&after);

	return caller != QZ_NONE && p->procedures[caller].kind == QZ_PROCEDURE;
}

/* The stack of the waits, or of the wake-ups, that has most of them. */
static uint32_t find_stack(const struct finder *f, bool wakes)
{
	const struct qz_profile *p = f->report->profile;
	uint64_t most = 0;
	uint32_t node = 0;

	for (uint32_t i = 0; !wakes && i < p->nwaits; i++)
		if (p->waits[i].blocked_ns > most && is_of(f, &p->waits[i]) &&
		    f->slept[p->waits[i].thread]) {
			most = p->waits[i].blocked_ns;
			node = p->waits[i].node;
		}
	for (uint32_t i = 0; wakes && i < p->nwakings; i++) {
		const struct qz_waking *w = &p->wakings[i];

		if (is_waking(f, w) && f->slept[w->thread] && w->count > most) {
			most = w->count;
			node = w->node;
		}
	}
	return node;
}

/* The innermost procedure of a stack that so much of all has, above `until`, as close as this. QZ_NONE: there is none. */
static uint32_t innermost(const struct finder *f, uint32_t node, uint32_t until,
			  bool (*has)(const struct finder *f, uint32_t frame, bool called),
			  enum qz_closeness least_close)
{
	const struct qz_profile *p = f->report->profile;
	struct qz_frames frames = {.profile = p, .node = node};
	uint32_t frame;

	while ((frame = qz_frames__next(&frames)) != QZ_NONE && frame != until &&
	       p->procedures[frame].kind == QZ_PROCEDURE)
		if (f->close[frame] >= least_close && is_own(p, frame) &&
		    has(f, frame, is_called(p, frames)))
			return frame;
	return QZ_NONE;
}

/*
 * Most waits and most wake-ups. The beginning of a thread has all that it does; of one semaphore that is no doubt. Threads of a pool sleep
 * and wake each other in code of libraries, when they have nothing to do; of code without names it is not known whose it is.
 */
static bool is_place(const struct finder *f, uint32_t frame, bool called)
{
	const struct qz_profile *p = f->report->profile;
	uint32_t object = f->parking->object;

	if (f->close[frame] != QZ_CLOSE_OWN && strcmp(p->procedures[frame].module, "[jit]") != 0)
		return false;
	return (double)f->waits[frame] >= MOST * (double)f->parking->waited_ns &&
	       (double)f->wakes[frame] >= MOST * (double)f->woken &&
	       (called || (object != QZ_NONE && is_semaphore(&p->objects[object])));
}

static bool is_waker(const struct finder *f, uint32_t frame, bool called)
{
	(void)called;
	return (double)f->wakes[frame] >= LEAST_WOKEN * (double)f->woken;
}

/* The program's own code, or what a runtime has for it. */
static int find_place(struct finder *f)
{
	struct qz_parking *parking = f->parking;
	uint32_t sleeps = find_stack(f, false), wakes = find_stack(f, true);

	f->close = qz_closeness__of(f->report->profile);
	if (!f->close)
		return -ENOMEM;
	for (int close = QZ_CLOSE_OWN; close >= 0 && parking->place == QZ_NONE; close--) {
		parking->place = innermost(f, sleeps, QZ_NONE, is_place, close);
		parking->waker = innermost(f, wakes, parking->place, is_waker, close);
	}
	free(f->close);
	return 0;
}

/*
 * Where these threads are blocked for what no thread does while nothing runs, as who has the lock may be: in the innermost code
 * that is not on the way to the lock, too.
 */
static int find_asleep(struct finder *f)
{
	const struct qz_report *r = f->report;
	const struct qz_profile *p = r->profile;
	uint64_t *at = calloc((size_t)p->nnodes + 1, sizeof(*at)), most = 0; /* by stack */
	struct qz_frames frames = {.profile = p};
	uint32_t frame;

	for (uint32_t i = 0; at && r->charges && i < p->nwaits; i++) {
		const struct qz_wait *w = &p->waits[i];

		if (w->thread == QZ_NONE || !f->slept[w->thread] || w->object != QZ_NONE ||
		    w->handed || is_of(f, w))
			continue;
		at[w->node] += r->charges[i].blocked_ns;
		if (at[w->node] <= most)
			continue;
		most = at[w->node];
		frames.node = w->node;
		f->parking->asleep_cause = w->cause;
	}
	if (most < f->parking->idle_ns / 10)
		frames.node = 0;
	while ((frame = qz_frames__next(&frames)) != QZ_NONE && f->parking->asleep_in == QZ_NONE)
		if (!f->waits[frame] && p->procedures[frame].kind == QZ_PROCEDURE &&
		    p->procedures[frame].module[0] != '[')
			f->parking->asleep_in = frame;
	free(at);
	return at ? 0 : -ENOMEM;
}

/* ---- tasks ---- */

/* Code that lets go of a lock for which goroutines wait, and only then. They sleep without the kernel, which sees that an idle thread is woken to run one. */
static const char *const unlocks[] = {
	"sync.(*Mutex).unlockSlow",
	"internal/sync.(*Mutex).unlockSlow",
	"sync.(*RWMutex).rUnlockSlow",
};

#define LEAST_UNLOCKS 20

static bool is_unlock(const struct qz_procedure *procedure)
{
	for (size_t i = 0; i < sizeof(unlocks) / sizeof(unlocks[0]); i++)
		if (!strcmp(procedure->name, unlocks[i]))
			return true;
	return false;
}

/* Who called the code that lets go. QZ_NONE: there is none on this stack. */
static uint32_t find_unlocker(const struct qz_profile *p, const enum qz_closeness *close,
			      uint32_t node, uint32_t *unlock)
{
	struct qz_frames frames = {.profile = p, .node = node};
	uint32_t frame;

	while ((frame = qz_frames__next(&frames)) != QZ_NONE && !is_unlock(&p->procedures[frame]))
		;
	*unlock = frame;
	while (frame != QZ_NONE && close[frame] != QZ_CLOSE_OWN)
		frame = qz_frames__next(&frames);
	return frame;
}

static void find_unlocks(const struct qz_report *r, const enum qz_closeness *close, uint64_t *wakes,
			 struct qz_parking *parking)
{
	const struct qz_profile *p = r->profile;

	for (uint32_t i = 0; i < p->nwakings; i++) {
		const struct qz_waking *w = &p->wakings[i];
		uint32_t unlock, place = find_unlocker(p, close, w->node, &unlock);

		if (place == QZ_NONE || !qz_scope__covers(p, r->scope, w->scope))
			continue;
		wakes[place] += w->count;
		if (wakes[place] <= parking->waits)
			continue;
		parking->waits = wakes[place];
		parking->place = place;
		parking->waker = unlock;
	}
}

/* takers: by node, whether goroutines that were started there take the lock. */
static void add_tasks_alone(const struct qz_report *r, const struct qz_cost_walk *costs,
			    bool *takers, struct qz_parking *parking)
{
	const struct qz_profile *p = r->profile;

	for (uint32_t i = 0; i < p->nsamples; i++) {
		const struct qz_sample *s = &p->samples[i];

		if (s->scope != r->scope || s->spinning ||
		    !qz_frames__contain((struct qz_frames) {.profile = p, .node = s->node},
					parking->place))
			continue;
		takers[qz_goroutines__node(p, s->node)] = true;
		parking->alone_ns += s->busy == 1 ? s->norm_ns : 0;
	}
	takers[0] = true; /* the scheduler, which runs for them */
	for (uint32_t i = 0; i < p->nsamples; i++) {
		const struct qz_sample *s = &p->samples[i];

		if (s->scope != r->scope || s->spinning || !takers[qz_goroutines__node(p, s->node)])
			continue;
		if (qz_cost_walk__at(costs, s->node).cost == QZ_COST_HANDING)
			parking->handing_ns += s->norm_ns;
		else if (s->busy == 1)
			parking->takers_alone_ns += s->norm_ns;
	}
}

static int examine_tasks(const struct qz_report *r, struct qz_parking *parking, bool *found)
{
	const struct qz_profile *p = r->profile;
	enum qz_closeness *close = qz_closeness__of(p);
	uint64_t *wakes = calloc((size_t)p->nprocedures + 1, sizeof(*wakes));
	bool *takers = calloc((size_t)p->nnodes + 1, sizeof(*takers));
	struct qz_cost_walk costs;
	int err = qz_cost_walk__init(&costs, p);

	err = close && wakes && takers ? err : -ENOMEM;
	*parking = (struct qz_parking) {
		.object = QZ_NONE, .sleeper = QZ_NONE, .place = QZ_NONE, .asleep_in = QZ_NONE};
	if (!err)
		find_unlocks(r, close, wakes, parking);
	if (!err && parking->waits >= LEAST_UNLOCKS)
		add_tasks_alone(r, &costs, takers, parking);
	*found = parking->alone_ns &&
		 (double)parking->alone_ns >= LEAST_WAITED * (double)r->elapsed_ns;
	qz_cost_walk__free(&costs);
	free(takers);
	free(close);
	free(wakes);
	return err;
}

/* ---- which ---- */

static int init(struct finder *f, const struct qz_report *r, struct qz_parking *parking)
{
	const struct qz_profile *p = r->profile;

	*f = (struct finder) {.report = r, .parking = parking};
	f->slept = calloc((size_t)p->nthreads + 1, sizeof(*f->slept));
	f->woke = calloc((size_t)p->nthreads + 1, sizeof(*f->woke));
	f->waits = calloc((size_t)p->nprocedures + 1, sizeof(*f->waits));
	f->wakes = calloc((size_t)p->nprocedures + 1, sizeof(*f->wakes));
	return f->slept && f->woke && f->waits && f->wakes ? 0 : -ENOMEM;
}

static void clear(struct finder *f)
{
	free(f->slept);
	free(f->woke);
	free(f->waits);
	free(f->wakes);
}

/* Finds whether threads park at an object, or in a procedure, and what is known of it. 0 or -ENOMEM. */
static int examine(const struct qz_report *r, uint32_t object, uint32_t sleeper,
		   struct qz_parking *parking, bool *found)
{
	struct finder f;
	int err;

	*parking = (struct qz_parking) {.object = object,
					.sleeper = sleeper,
					.place = QZ_NONE,
					.waker = QZ_NONE,
					.asleep_in = QZ_NONE};
	err = init(&f, r, parking);
	if (!err)
		add_up(&f);
	*found = !err && (double)parking->waited_ns >= LEAST_WAITED * (double)r->elapsed_ns &&
		 take_turns(&f);
	if (*found) {
		add_alone(&f);
		err = find_place(&f);
		err = err ? err : find_asleep(&f);
	}
	clear(&f);
	return err;
}

/* The innermost procedure that most of the waits in poll have which another thread ends, and few others. */
static int find_sleeper(const struct qz_report *r, uint32_t *sleeper)
{
	const struct qz_profile *p = r->profile;
	uint64_t *handed = calloc((size_t)p->nprocedures + 1, sizeof(*handed));
	uint64_t *count = calloc((size_t)p->nprocedures + 1, sizeof(*count));
	uint64_t *at = calloc((size_t)p->nnodes + 1, sizeof(*at)); /* by stack */
	struct qz_frames frames = {.profile = p};
	uint64_t all = 0, most = 0;
	double best = 0;
	uint32_t frame;

	*sleeper = QZ_NONE;
	for (uint32_t i = 0; handed && count && at && i < p->nwaits; i++) {
		const struct qz_wait *w = &p->waits[i];

		if (!in_poll(p, w) || !qz_scope__covers(p, r->scope, w->scope))
			continue;
		add_stack(p, w->node, w->handed, handed);
		add_stack(p, w->node, w->count, count);
		all += w->handed;
		at[w->node] += w->handed;
		frames.node = at[w->node] > most ? w->node : frames.node;
		most = at[w->node] > most ? at[w->node] : most;
	}
	while (most && (frame = qz_frames__next(&frames)) != QZ_NONE) {
		double alone = count[frame] ? (double)handed[frame] / (double)count[frame] : 0;

		if ((double)handed[frame] < LEAST_WOKEN * (double)all || alone < MOST ||
		    alone < best + PURER || !is_own(p, frame))
			continue;
		*sleeper = frame;
		best = alone > best ? alone : best;
	}
	free(handed);
	free(count);
	free(at);
	return handed && count && at ? 0 : -ENOMEM;
}

int qz_parking__find(const struct qz_report *r, struct qz_parking *parking, bool *found)
{
	struct qz_parking other;
	uint32_t sleeper;
	bool another;
	double least = LEAST_WAITED * (double)r->elapsed_ns;
	int err = find_sleeper(r, &sleeper);

	*parking = (struct qz_parking) {.object = QZ_NONE, .sleeper = QZ_NONE};
	*found = false;
	if (!err && sleeper != QZ_NONE)
		err = examine(r, QZ_NONE, sleeper, parking, found);
	for (uint32_t i = 0; !err && i < r->nobjects; i++) {
		if ((double)r->objects[i].waits.blocked_ns < least ||
		    !is_parked_at(&r->profile->objects[r->objects[i].object]) ||
		    is_held(r, &r->objects[i]))
			continue;
		err = examine(r, r->objects[i].object, QZ_NONE, &other, &another);
		if (!err && another && (!*found || other.waited_ns > parking->waited_ns)) {
			*parking = other;
			*found = true;
		}
	}
	if (!err && !*found)
		err = examine_tasks(r, parking, found);
	return err;
}
