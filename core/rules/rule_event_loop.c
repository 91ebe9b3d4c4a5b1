/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An event loop that is blocked: a thread waits for events again and again, but some turns of its
 * loop compute, or wait for something else, for so long that its clients notice. The profile does
 * not say who the clients are. The workers of one runtime count as one loop, because any of them
 * can run any task.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/advise/advise.h"
#include "core/advise/closeness.h"
#include "core/advise/languages.h"
#include "core/advise/usage.h"
#include "core/estimate/estimate.h"
#include "core/model/frames.h"
#include "core/model/wait_causes.h"
#include "core/model/workers.h"

#define LEAST_BLOCKS 3
#define MOST_BLOCKS  0.5 /* of the turns; a thread whose turns are mostly long is a worker */
/*
 * Share of its running and blocked time without waits for events. Above it, the next event is
 * mostly there already.
 */
#define MOST_LOAD  0.7
#define MOST_READY 0.1 /* of its lifetime it is ready; above it, events pile up meanwhile */
#define MOST_LOOPS 8   /* loops of one program that are examined */
/*
 * Code that makes turns long may spend this share of its time in short turns, or in turns that were
 * not recorded.
 */
#define MOST_ELSEWHERE 0.15

struct event_loop {
	const struct qz_report *report;
	uint32_t thread;	  /* the first one of the workers */
	uint32_t workers;	  /* number of workers that are this loop; 0: a single thread is */
	struct qz_thread figures; /* sums over the workers */
	uint64_t poll_ns;	  /* blocked for events */
	const struct qz_wait *other; /* its longest wait for something else */
	const char *remedy;
	bool is_scheduled; /* a runtime schedules tasks over several threads: only turns of known workers mean something */
};

/* ---- which thread ---- */

/* Code in which an idle worker of Go or tokio waits for tasks. */
static bool is_scheduler(const struct qz_profile *p, uint32_t node)
{
	return qz_frames__have_name(p, node, "runtime.findRunnable") ||
	       qz_frames__have_name(p, node, "runtime.findrunnable") ||
	       qz_frames__have_name(p, node, "runtime.netpoll") ||
	       qz_frames__have_name(p, node, "multi_thread::");
}

static bool is_worker(const struct qz_report *r, uint32_t thread)
{
	const struct qz_thread *t = &r->profile->threads[thread];

	return t->scope == r->scope && !t->merged && t->loop.turns && qz_worker__has_name(t->comm);
}

static bool is_of(const struct event_loop *loop, uint32_t thread)
{
	return thread == loop->thread ||
	       (loop->workers && thread != QZ_NONE && is_worker(loop->report, thread));
}

static const char *remedy_at(const struct qz_procedure *procedure)
{
	const struct qz_language *language = qz_language__of(procedure);

	if (strstr(procedure->name, "tokio::"))
		return "give it to a thread for such work: tokio::task::spawn_blocking()";
	return language ? language->loop : NULL;
}

/* The stack of a wait for events tells which runtime or language the loop belongs to. */
static const char *remedy_of(const struct qz_profile *p, uint32_t node)
{
	struct qz_frames frames = {.profile = p, .node = node};
	const char *remedy = NULL;
	uint32_t frame;

	while (!remedy && (frame = qz_frames__next(&frames)) != QZ_NONE)
		remedy = remedy_at(&p->procedures[frame]);
	return remedy;
}

static void add_wait(struct event_loop *loop, const struct qz_wait *w)
{
	const struct qz_profile *p = loop->report->profile;

	unsigned int events = QZ_WAIT_IS_POLL | (loop->workers ? QZ_WAIT_IS_FUTEX : 0);

	if (!(qz_wait_cause__kind(p->causes[w->cause]) & events)) {
		if (!loop->other || w->blocked_ns > loop->other->blocked_ns)
			loop->other = w;
		loop->is_scheduled |= qz_frames__have_name(p, w->node, "multi_thread::");
		return;
	}
	loop->poll_ns += w->blocked_ns;
	loop->is_scheduled |= is_scheduler(p, w->node);
	if (!loop->remedy)
		loop->remedy = remedy_of(p, w->node);
}

static void add_worker(struct event_loop *loop, const struct qz_thread *t)
{
	struct qz_thread *sum = &loop->figures;

	loop->workers++;
	sum->running_ns += t->running_ns;
	sum->ready_ns += t->ready_ns;
	sum->blocked_ns += t->blocked_ns;
	sum->loop.turns += t->loop.turns;
	sum->loop.turn_ns += t->loop.turn_ns;
	sum->loop.blocks += t->loop.blocks;
	sum->loop.block_ns += t->loop.block_ns;
	sum->loop.block_waited_ns += t->loop.block_waited_ns;
	sum->loop.block_ready_ns += t->loop.block_ready_ns;
	if (t->loop.longest_ns > sum->loop.longest_ns)
		sum->loop.longest_ns = t->loop.longest_ns;
}

static struct event_loop find_loop(const struct qz_report *r, uint32_t thread)
{
	const struct qz_profile *p = r->profile;
	struct event_loop loop = {.report = r, .thread = thread};

	for (uint32_t i = thread; i < p->nthreads && is_worker(r, thread); i++)
		if (is_worker(r, i))
			add_worker(&loop, &p->threads[i]);
	if (!loop.workers)
		loop.figures = p->threads[thread];
	for (uint32_t i = 0; i < p->nwaits; i++)
		if (is_of(&loop, p->waits[i].thread))
			add_wait(&loop, &p->waits[i]);
	return loop;
}

/* Checks the figures only. They come from a file, so they may have any value. */
static bool may_be_blocked(const struct qz_loop *l)
{
	return l->blocks >= LEAST_BLOCKS && l->turns >= QZ_LOOP_LEAST_TURNS &&
	       (double)l->blocks <= MOST_BLOCKS * (double)l->turns && l->turn_ns >= l->block_ns &&
	       l->block_ns >= l->block_waited_ns && l->block_ns >= QZ_LOOP_BLOCK_NS;
}

/* ---- which code ---- */

struct tally {
	const struct event_loop *loop;
	const struct qz_profile *profile;
	enum qz_closeness *closeness, least;
	double covered;
	/*
	 * By procedure, callees included: samples in long turns, all samples, and the samples in
	 * long turns whose innermost candidate it is.
	 */
	uint64_t *in_block, *count, *votes;
	uint64_t all_in_block, all;
	uint32_t *stamps;
};

static bool is_candidate(const struct tally *t, uint32_t procedure)
{
	return t->profile->procedures[procedure].kind == QZ_PROCEDURE &&
	       t->closeness[procedure] >= t->least &&
	       (double)t->in_block[procedure] >= t->covered * (double)t->all_in_block;
}

static uint64_t in_block(const struct qz_sample *s)
{
	return s->in_block << s->halvings;
}

static void add_sample(struct tally *t, const struct qz_sample *s, uint32_t stamp)
{
	struct qz_frames frames = {.profile = t->profile, .node = s->node};
	uint32_t frame;

	t->all_in_block += in_block(s);
	t->all += qz_sample__weight(s);
	while ((frame = qz_frames__next(&frames)) != QZ_NONE) {
		if (t->stamps[frame] == stamp)
			continue;
		t->stamps[frame] = stamp;
		t->in_block[frame] += in_block(s);
		t->count[frame] += qz_sample__weight(s);
	}
}

/* A sample counts for the innermost candidate on its stack. */
static void vote(struct tally *t, const struct qz_sample *s)
{
	struct qz_frames frames = {.profile = t->profile, .node = s->node};
	uint32_t frame;

	while ((frame = qz_frames__next(&frames)) != QZ_NONE)
		if (is_candidate(t, frame)) {
			t->votes[frame] += in_block(s);
			return;
		}
}

static bool is_sample_of(const struct event_loop *loop, const struct qz_sample *s)
{
	return s->scope == loop->report->scope && is_of(loop, s->thread);
}

static uint32_t elect(struct tally *t)
{
	const struct qz_profile *p = t->profile;
	uint32_t best = QZ_NONE;

	for (uint32_t i = 0; i < p->nsamples; i++)
		if (is_sample_of(t->loop, &p->samples[i]) && p->samples[i].in_block)
			vote(t, &p->samples[i]);
	for (uint32_t i = 0; i < p->nprocedures; i++)
		if (t->votes[i] && (best == QZ_NONE || t->votes[i] > t->votes[best]))
			best = i;
	return best;
}

static int tally__init(struct tally *t, const struct event_loop *loop)
{
	const struct qz_profile *p = loop->report->profile;
	size_t n = (size_t)p->nprocedures + 1;

	*t = (struct tally) {.loop = loop, .profile = p, .closeness = qz_closeness__of(p)};
	t->in_block = calloc(n, sizeof(*t->in_block));
	t->count = calloc(n, sizeof(*t->count));
	t->votes = calloc(n, sizeof(*t->votes));
	t->stamps = calloc(n, sizeof(*t->stamps));
	if (!t->closeness || !t->in_block || !t->count || !t->votes || !t->stamps)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->nsamples; i++)
		if (is_sample_of(loop, &p->samples[i]))
			add_sample(t, &p->samples[i], i + 1);
	return 0;
}

static void tally__free(struct tally *t)
{
	free(t->closeness);
	free(t->in_block);
	free(t->count);
	free(t->votes);
	free(t->stamps);
}

/*
 * The innermost code of the program on the stack of the longest other wait, or else of a library.
 */
static uint32_t waiting_code(const struct tally *t, uint32_t node)
{
	struct qz_frames frames = {.profile = t->profile, .node = node};
	uint32_t code;

	do
		code = qz_frames__next(&frames);
	while (code != QZ_NONE && t->profile->procedures[code].kind == QZ_PROCEDURE &&
	       t->closeness[code] != QZ_CLOSE_OWN);
	if (code != QZ_NONE && t->profile->procedures[code].kind == QZ_PROCEDURE)
		return code;
	return qz_frames__program_code(t->profile, node);
}

/*
 * Which code a finding names, the best choice first: how close it is to the program, and the least
 * share of the samples in long turns that it covers. 0.3 is enough for code of the program, because
 * frameless code of a runtime hides its caller.
 */
static const struct choice {
	enum qz_closeness least;
	double covered;
} choices[] = {
	{QZ_CLOSE_OWN, 0.5}, {QZ_CLOSE_OWN, 0.3}, {QZ_CLOSE_LIBRARY, 0.5}, {QZ_CLOSE_NOT, 0.5}};

/* The innermost code that fits the best choice possible; QZ_NONE: no code fits any. */
static uint32_t computing_code(struct tally *t)
{
	uint32_t code = QZ_NONE;

	for (size_t i = 0;
	     t->all_in_block && code == QZ_NONE && i < sizeof(choices) / sizeof(choices[0]); i++) {
		t->least = choices[i].least;
		t->covered = choices[i].covered;
		code = elect(t);
	}
	return code;
}

/* ---- which turns are too long ---- */

static const struct qz_loop *figures(const struct event_loop *loop)
{
	return &loop->figures.loop;
}

/* Whether the long turns were mostly waits, and not for a processor. */
static bool has_waited(const struct event_loop *loop)
{
	return loop->other && figures(loop)->block_waited_ns > figures(loop)->block_ns / 2;
}

/*
 * Whether it hardly waits for events. Such a loop may poll several times within what counts as one
 * turn.
 */
static bool is_saturated(const struct event_loop *loop)
{
	const struct qz_thread *t = &loop->figures;
	double own = (double)t->running_ns + (double)t->blocked_ns;

	return (double)loop->poll_ns < (1 - MOST_LOAD) * own || own <= 0;
}

/*
 * A turn goes on while the next event is there already, so short requests alone make some turns
 * long. Returns twice the length of the longest turn that is to be expected if short requests
 * arrive at random: the tail of the busy periods of an M/M/1 queue falls as exp(-t (1 -
 * sqrt(load))^2 / request), and a request takes the mean turn times 1 - load.
 */
static double queue_ns(const struct event_loop *loop)
{
	const struct qz_thread *t = &loop->figures;
	const struct qz_loop *l = &t->loop;
	double life = (double)t->running_ns + (double)t->ready_ns + (double)t->blocked_ns;
	double load = 1 - (double)loop->poll_ns / life, root = load > 0 ? sqrt(load) : 0;

	if ((double)t->ready_ns > MOST_READY * life)
		return INFINITY;
	return 2 * (double)(l->turn_ns - l->block_ns) / (double)(l->turns - l->blocks) *
	       log((double)l->turns) * (1 + root) / (1 - root);
}

/*
 * Whether the long turns do what short turns do not: one long wait, or code that hardly runs in
 * other turns.
 */
static bool is_special(const struct event_loop *loop, const struct tally *t, uint32_t code)
{
	const struct qz_thread *thread = &loop->figures;
	double all_ns, in_blocks_ns;

	if (has_waited(loop))
		return loop->other->count &&
		       loop->other->blocked_ns / loop->other->count >= QZ_LOOP_BLOCK_NS / 2;
	if (code == QZ_NONE || t->in_block[code] < QZ_FEW_SAMPLES)
		return false;
	all_ns = (double)thread->running_ns * (double)t->count[code] / (double)t->all;
	in_blocks_ns = (double)(thread->loop.block_ns - thread->loop.block_waited_ns) *
		       (double)t->in_block[code] / (double)t->all_in_block;
	return all_ns - in_blocks_ns <= MOST_ELSEWHERE * all_ns;
}

/* ---- the finding ---- */

/*
 * At least 0, since it is not known who waited for the loop. At most, everything else runs during
 * the long turns, and all processors share their work.
 */
static void set_gain(struct qz_finding *f, const struct event_loop *loop)
{
	const struct qz_loop *l = figures(loop);
	uint64_t elapsed = loop->report->elapsed_ns, rest, shared;
	struct qz_usage u;

	qz_usage__find(loop->report, &u);
	rest = elapsed > l->block_ns ? elapsed - l->block_ns : 0;
	shared = (uint64_t)((double)(l->block_ns - l->block_waited_ns) / u.width);
	f->gain_low_ns = 0;
	f->gain_high_ns = elapsed - (rest > shared ? rest : shared);
}

/* "The event loop of node (thread 1234) was", "2 workers of tokio were". */
static void say_who(const struct qz_finding *f, const struct event_loop *loop, char *who,
		    size_t size)
{
	if (loop->workers)
		snprintf(who, size, "%u worker%s of tokio %s", loop->workers,
			 loop->workers == 1 ? "" : "s", loop->workers == 1 ? "was" : "were");
	else
		snprintf(who, size, "The event loop of %s (thread %d) was", f->shown,
			 loop->figures.tid);
}

/* ", by JS:parseConfig", ", mostly by waiting: disk in load", or neither, where that is not known. */
static void say_what(struct qz_finding *f, const struct event_loop *loop, uint32_t code)
{
	const struct qz_profile *p = loop->report->profile;
	const struct qz_loop *l = figures(loop);
	double longest = (double)qz_loop__longest_ns(l) / 1e6;
	bool waited = has_waited(loop);
	char shown[QZ_SHORT_NAME] = "", who[QZ_SHORT_NAME + 64];

	if (code != QZ_NONE)
		qz_finding__shorten(shown, p->procedures[code].name);
	say_who(f, loop, who, sizeof(who));
	qz_finding__say(f, &f->what, "%s blocked %llu times, up to %.0f ms%s%s%s%s.", who,
			(unsigned long long)l->blocks, longest,
			waited ? ", mostly by waiting: " : "",
			waited ? p->causes[loop->other->cause] : "",
			code == QZ_NONE ? ""
			: waited	? " in "
					: ", by ",
			shown);
}

/* It is not known what waited. But idle workers take over ready tasks from a blocked one. */
static void say_who_waited(struct qz_finding *f, const struct event_loop *loop)
{
	const struct qz_thread *t = &loop->figures;
	double life = (double)t->running_ns + (double)t->ready_ns + (double)t->blocked_ns;

	if (!loop->workers)
		qz_finding__prove(f, NULL, NULL, "what waited for the loop meanwhile is not known");
	else
		qz_finding__prove(f, NULL, NULL,
				  "what waited meanwhile is not known: workers take over from each "
				  "other, and had nothing to do for %.0f%% of their time",
				  life > 0 ? 100 * (double)loop->poll_ns / life : 0);
}

static int report_it(const struct event_loop *loop, const struct tally *t, uint32_t code,
		     struct qz_advice *a)
{
	const struct qz_profile *p = t->profile;
	const struct qz_loop *l = figures(loop);
	struct qz_finding f =
		qz_finding__about("event-loop", loop->report, QZ_SUBJECT_THREAD, loop->thread);

	f.word = "EVENT LOOP BLOCKED";
	f.lost = QZ_LOST_SERIAL | QZ_LOST_IDLE;
	set_gain(&f, loop);
	say_what(&f, loop, code);
	qz_finding__prove(&f, "threads --each", NULL,
			  "%llu of %s %llu turns took 10 ms or more: %.2f s, of which %s waited "
			  "%.2f s, and %.2f s more without a processor",
			  (unsigned long long)l->blocks, loop->workers ? "their" : "its",
			  (unsigned long long)l->turns, (double)l->block_ns / 1e9,
			  loop->workers ? "they" : "it", (double)l->block_waited_ns / 1e9,
			  (double)l->block_ready_ns / 1e9);
	if (code != QZ_NONE && !has_waited(loop))
		qz_finding__prove(&f, "report", p->procedures[code].name,
				  "it is in %.0f%% of the samples of these",
				  100 * (double)t->in_block[code] / (double)t->all_in_block);
	say_who_waited(&f, loop);
	qz_finding__say(&f, &f.remedy, "%s",
			loop->remedy ? loop->remedy
				     : "do it in another thread, or in pieces between which the "
				       "loop goes on");
	return qz_advise__add(a, &f);
}

/* Adds a finding if the loop was blocked; sets *blocked. 0 or -ENOMEM. */
static int judge(const struct event_loop *loop, struct qz_advice *a, bool *blocked)
{
	struct tally t;
	int err = tally__init(&t, loop);
	uint32_t code = QZ_NONE;

	*blocked = false;
	if (!err) {
		code = has_waited(loop) ? waiting_code(&t, loop->other->node) : computing_code(&t);
		*blocked = is_special(loop, &t, code) ||
			   (double)qz_loop__longest_ns(figures(loop)) > queue_ns(loop);
	}
	if (*blocked)
		err = report_it(loop, &t, code, a);
	tally__free(&t);
	return err;
}

/* QZ_NONE: there is none. */
static uint32_t first_worker(const struct qz_report *r)
{
	for (uint32_t i = 0; i < r->profile->nthreads; i++)
		if (is_worker(r, i))
			return i;
	return QZ_NONE;
}

/* Whether a thread may be an event loop. Of the workers, the first one represents all. */
static bool may_be_loop(const struct qz_report *r, uint32_t thread, uint32_t worker)
{
	const struct qz_thread *t = &r->profile->threads[thread];

	if (is_worker(r, thread))
		return thread == worker;
	return t->scope == r->scope && !t->merged && may_be_blocked(&t->loop);
}

/* The next candidate after `last`, in descending order of block_ns; QZ_NONE: there is none. */
static uint32_t next_thread(const struct qz_report *r, uint32_t last, uint32_t worker)
{
	const struct qz_thread *threads = r->profile->threads;
	uint32_t best = QZ_NONE;

	for (uint32_t i = 0; i < r->profile->nthreads; i++) {
		uint64_t ns = threads[i].loop.block_ns;

		if (!may_be_loop(r, i, worker) ||
		    (last != QZ_NONE && (ns > threads[last].loop.block_ns ||
					 (ns == threads[last].loop.block_ns && i <= last))))
			continue;
		if (best == QZ_NONE || ns > threads[best].loop.block_ns)
			best = i;
	}
	return best;
}

/* Reports the loop that was blocked longest in all. */
int qz_rule__event_loop(const struct qz_report *r, struct qz_advice *a)
{
	uint32_t thread = QZ_NONE, worker = first_worker(r);
	bool blocked = false;
	int err = 0;

	for (int i = 0; i < MOST_LOOPS && !err && !blocked; i++) {
		struct event_loop loop;

		thread = next_thread(r, thread, worker);
		if (thread == QZ_NONE)
			break;
		loop = find_loop(r, thread);
		if (loop.is_scheduled == (loop.workers > 0) && may_be_blocked(&loop.figures.loop) &&
		    !is_saturated(&loop))
			err = judge(&loop, a, &blocked);
	}
	return err;
}
