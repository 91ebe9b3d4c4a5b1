/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread that waits for events, again and again, and now and then computes or waits for something else for so long that all who
 * wait for an answer of it wait. Who they are is not known.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/advise/advise.h"
#include "core/advise/closeness.h"
#include "core/advise/usage.h"
#include "core/model/frames.h"
#include "core/util/base_name.h"

#define MOST_BLOCKS   0.5 /* of the turns: where nearly all are so long, it is a thread that works */
#define LEAST_COVERED 0.5 /* of the samples, by the code that is named */

/* Whose loops are known, by the files or procedures on the stacks where they wait for events. */
static const struct runtime {
	const char *module;    /* the beginning of the file's name, or NULL */
	const char *procedure; /* a part of the name, or NULL */
	const char *remedy;
} runtimes[] = {
	{NULL, "tokio::", "give it to a thread for such work: tokio::task::spawn_blocking()"},
	{"node", NULL,
	 "do it in a thread (worker_threads), or in pieces with setImmediate() between them"},
	{"libnode.so", NULL,
	 "do it in a thread (worker_threads), or in pieces with setImmediate() between them"},
	{"python3", NULL,
	 "give it to a thread, asyncio.to_thread(), or where Python computes to a process: "
	 "loop.run_in_executor() with a ProcessPoolExecutor"},
	{"libpython3", NULL,
	 "give it to a thread, asyncio.to_thread(), or where Python computes to a process: "
	 "loop.run_in_executor() with a ProcessPoolExecutor"},
	{"libjvm.so", NULL,
	 "give it to an executor with threads of its own (Netty: an EventExecutorGroup)"},
};

#define RUNTIMES (sizeof(runtimes) / sizeof(runtimes[0]))

struct event_loop {
	const struct qz_report *report;
	uint32_t thread;
	uint64_t poll_ns;	     /* it waited for events */
	const struct qz_wait *other; /* its longest wait for something else */
	const char *remedy;
	bool parks; /* a runtime schedules its tasks: turns say nothing */
};

/* ---- which thread ---- */

/* Where a thread of several that share the tasks of a runtime waits until there are more: Go, tokio. */
static bool is_scheduler(const struct qz_profile *p, uint32_t node)
{
	return qz_frames__have_name(p, node, "runtime.findRunnable") ||
	       qz_frames__have_name(p, node, "runtime.findrunnable") ||
	       qz_frames__have_name(p, node, "runtime.netpoll") ||
	       qz_frames__have_name(p, node, "multi_thread::");
}

static const char *remedy_of(const struct qz_profile *p, uint32_t node)
{
	for (size_t i = 0; i < RUNTIMES; i++) {
		struct qz_frames frames = {.profile = p, .node = node};
		const struct runtime *known = &runtimes[i];
		uint32_t frame;

		while ((frame = qz_frames__next(&frames)) != QZ_NONE) {
			const struct qz_procedure *procedure = &p->procedures[frame];

			if (known->procedure && strstr(procedure->name, known->procedure))
				return known->remedy;
			if (known->module && !strncmp(qz_base_name(procedure->module),
						      known->module, strlen(known->module)))
				return known->remedy;
		}
	}
	return NULL;
}

static void add_wait(struct event_loop *loop, const struct qz_wait *w)
{
	const struct qz_profile *p = loop->report->profile;

	if (strcmp(p->causes[w->cause], "poll")) {
		if (!loop->other || w->blocked_ns > loop->other->blocked_ns)
			loop->other = w;
		loop->parks |= qz_frames__have_name(p, w->node, "multi_thread::");
		return;
	}
	loop->poll_ns += w->blocked_ns;
	loop->parks |= is_scheduler(p, w->node);
	if (!loop->remedy)
		loop->remedy = remedy_of(p, w->node);
}

static struct event_loop look_at(const struct qz_report *r, uint32_t thread)
{
	struct event_loop loop = {.report = r, .thread = thread};

	for (uint32_t i = 0; i < r->profile->nwaits; i++)
		if (r->profile->waits[i].thread == thread)
			add_wait(&loop, &r->profile->waits[i]);
	return loop;
}

/*
 * A turn is not over while the next event is there already: how long turns of many short requests, one after another, get
 * if they come at any time. The tail of busy periods in a queue falls as exp(-t (1 - sqrt(load))^2 / request), where
 * requests take as long as the mean turn times 1 - load: so long is the longest of all turns.
 */
static double queue_ns(const struct event_loop *loop)
{
	const struct qz_loop *l = &loop->report->profile->threads[loop->thread].loop;
	double others = (double)(l->turn_ns - l->block_ns), root;

	if (others <= 0)
		return 0;
	root = sqrt(others / (others + (double)loop->poll_ns));
	if (root >= 1)
		return INFINITY;
	return others / (double)(l->turns - l->blocks) * log((double)l->turns) * (1 + root) /
	       (1 - root);
}

/* By its figures alone: a file may have any. */
static bool may_be_blocked(const struct qz_thread *t)
{
	const struct qz_loop *l = &t->loop;

	return !t->merged && l->blocks && l->turns >= QZ_LOOP_LEAST_TURNS &&
	       (double)l->blocks <= MOST_BLOCKS * (double)l->turns && l->turn_ns >= l->block_ns &&
	       l->block_ns >= l->block_waited_ns && l->block_ns >= QZ_LOOP_BLOCK_NS;
}

static uint64_t longest_of(const struct qz_loop *l)
{
	return l->longest_ns < l->block_ns ? l->longest_ns : l->block_ns;
}

/* The one that was blocked longest, altogether. False: none was. */
static bool find_loop(const struct qz_report *r, struct event_loop *best)
{
	const struct qz_profile *p = r->profile;
	bool found = false;

	for (uint32_t i = 0; i < p->nthreads; i++) {
		const struct qz_thread *t = &p->threads[i];
		struct event_loop loop;

		if (t->scope != r->scope || !may_be_blocked(t) ||
		    (found && t->loop.block_ns <= p->threads[best->thread].loop.block_ns))
			continue;
		loop = look_at(r, i);
		if (loop.parks || !loop.poll_ns || (double)longest_of(&t->loop) <= queue_ns(&loop))
			continue;
		*best = loop;
		found = true;
	}
	return found;
}

/* ---- which code ---- */

struct tally {
	const struct qz_profile *profile;
	enum qz_closeness *closeness, least;
	uint64_t all, *sums, *votes; /* samples in blocks: all, and of each procedure */
	uint32_t *stamps;
};

static bool is_candidate(const struct tally *t, uint32_t procedure)
{
	return t->profile->procedures[procedure].kind == QZ_PROCEDURE &&
	       t->closeness[procedure] >= t->least &&
	       (double)t->sums[procedure] >= LEAST_COVERED * (double)t->all;
}

static void add_sample(struct tally *t, const struct qz_sample *s, uint32_t stamp)
{
	struct qz_frames frames = {.profile = t->profile, .node = s->node};
	uint32_t frame;

	t->all += s->in_block;
	while ((frame = qz_frames__next(&frames)) != QZ_NONE) {
		if (t->stamps[frame] != stamp)
			t->sums[frame] += s->in_block;
		t->stamps[frame] = stamp;
	}
}

/* The innermost candidate of a stack has its samples. */
static void vote(struct tally *t, const struct qz_sample *s)
{
	struct qz_frames frames = {.profile = t->profile, .node = s->node};
	uint32_t frame;

	while ((frame = qz_frames__next(&frames)) != QZ_NONE)
		if (is_candidate(t, frame)) {
			t->votes[frame] += s->in_block;
			return;
		}
}

static bool is_of(const struct event_loop *loop, const struct qz_sample *s)
{
	return s->thread == loop->thread && s->scope == loop->report->scope && s->in_block;
}

static uint32_t elect(struct tally *t, const struct event_loop *loop)
{
	const struct qz_profile *p = t->profile;
	uint32_t best = QZ_NONE;

	for (uint32_t i = 0; i < p->nsamples; i++)
		if (is_of(loop, &p->samples[i]))
			vote(t, &p->samples[i]);
	for (uint32_t i = 0; i < p->nprocedures; i++)
		if (t->votes[i] && (best == QZ_NONE || t->votes[i] > t->votes[best]))
			best = i;
	return best;
}

/* Of the longest other wait: the innermost code of the program, or else of a library. 0 or -ENOMEM. */
static int find_waiting(const struct event_loop *loop, uint32_t *code)
{
	const struct qz_profile *p = loop->report->profile;
	struct qz_frames frames = {.profile = p, .node = loop->other->node};
	enum qz_closeness *closeness = qz_closeness__of(p);

	if (!closeness)
		return -ENOMEM;
	do
		*code = qz_frames__next(&frames);
	while (*code != QZ_NONE && closeness[*code] != QZ_CLOSE_OWN);
	if (*code == QZ_NONE)
		*code = qz_frames__program_code(p, loop->other->node);
	free(closeness);
	return 0;
}

/* The innermost code, as close to the program as there is, that most samples in blocks have; QZ_NONE: none has. 0 or -ENOMEM. */
static int find_code(const struct event_loop *loop, uint32_t *code, double *share)
{
	const struct qz_profile *p = loop->report->profile;
	struct tally t = {.profile = p, .closeness = qz_closeness__of(p)};
	int err = -ENOMEM;

	*code = QZ_NONE;
	t.sums = calloc((size_t)p->nprocedures + 1, sizeof(*t.sums));
	t.votes = calloc((size_t)p->nprocedures + 1, sizeof(*t.votes));
	t.stamps = calloc((size_t)p->nprocedures + 1, sizeof(*t.stamps));
	if (!t.closeness || !t.sums || !t.votes || !t.stamps)
		goto out;
	err = 0;
	for (uint32_t i = 0; i < p->nsamples; i++)
		if (is_of(loop, &p->samples[i]))
			add_sample(&t, &p->samples[i], i + 1);
	if (!t.all)
		goto out;
	for (t.least = QZ_CLOSE_OWN; *code == QZ_NONE; t.least--) {
		*code = elect(&t, loop);
		if (t.least == QZ_CLOSE_NOT)
			break;
	}
	if (*code != QZ_NONE)
		*share = (double)t.sums[*code] / (double)t.all;
out:
	free(t.closeness);
	free(t.sums);
	free(t.votes);
	free(t.stamps);
	return err;
}

/* ---- the finding ---- */

/* Whether it waited most of that time, and not for a processor. */
static bool has_waited(const struct event_loop *loop)
{
	const struct qz_loop *l = &loop->report->profile->threads[loop->thread].loop;

	return loop->other && l->block_waited_ns > l->block_ns / 2;
}

/*
 * For sure nothing: who waited for the loop is not known. At most it does all else meanwhile, and the blocks are shared by all
 * processors.
 */
static void set_gain(struct qz_finding *f, const struct event_loop *loop)
{
	const struct qz_loop *l = &loop->report->profile->threads[loop->thread].loop;
	uint64_t elapsed = loop->report->elapsed_ns, rest, shared;
	struct qz_usage u;

	qz_usage__find(loop->report, &u);
	rest = elapsed > l->block_ns ? elapsed - l->block_ns : 0;
	shared = (l->block_ns - l->block_waited_ns) / (u.processors ? u.processors : 1);
	f->gain_low_ns = 0;
	f->gain_high_ns = elapsed - (rest > shared ? rest : shared);
}

/* ", by JS:parseConfig", ", mostly by waiting: disk in load", or neither, where that is not known. */
static void say_what(struct qz_finding *f, const struct event_loop *loop, uint32_t code)
{
	const struct qz_profile *p = loop->report->profile;
	const struct qz_thread *t = &p->threads[loop->thread];
	double longest = (double)longest_of(&t->loop) / 1e6;
	bool waited = has_waited(loop);
	char shown[QZ_SHORT_NAME] = "";

	if (code != QZ_NONE)
		qz_finding__shorten(shown, p->procedures[code].name);
	qz_finding__say(f, &f->what,
			"The event loop of %s (thread %d) was blocked %llu times, up to %.0f "
			"ms%s%s%s%s.",
			f->shown, t->tid, (unsigned long long)t->loop.blocks, longest,
			waited ? ", mostly by waiting: " : "",
			waited ? p->causes[loop->other->cause] : "",
			code == QZ_NONE ? ""
			: waited	? " in "
					: ", by ",
			shown);
}

static int report_it(const struct event_loop *loop, struct qz_advice *a)
{
	const struct qz_profile *p = loop->report->profile;
	const struct qz_loop *l = &p->threads[loop->thread].loop;
	struct qz_finding f =
		qz_finding__about("event-loop", loop->report, QZ_SUBJECT_THREAD, loop->thread);
	uint32_t code = QZ_NONE;
	double share = 0;

	f.failed |= (has_waited(loop) ? find_waiting(loop, &code)
				      : find_code(loop, &code, &share)) != 0;
	f.word = "EVENT LOOP BLOCKED";
	f.lost = QZ_LOST_SERIAL | QZ_LOST_IDLE;
	set_gain(&f, loop);
	say_what(&f, loop, code);
	qz_finding__prove(&f, "threads --each", NULL,
			  "%llu of its %llu turns took 10 ms or more: %.2f s, of which it waited "
			  "%.2f s, and %.2f s more without a processor",
			  (unsigned long long)l->blocks, (unsigned long long)l->turns,
			  (double)l->block_ns / 1e9, (double)l->block_waited_ns / 1e9,
			  (double)l->block_ready_ns / 1e9);
	if (code != QZ_NONE && !has_waited(loop))
		qz_finding__prove(&f, "report", p->procedures[code].name,
				  "it is in %.0f%% of the samples of these", 100 * share);
	qz_finding__prove(&f, NULL, NULL, "what waited for the loop meanwhile is not known");
	qz_finding__say(&f, &f.remedy, "%s",
			loop->remedy ? loop->remedy
				     : "do it in another thread, or in pieces between which the "
				       "loop goes on");
	return qz_advise__add(a, &f);
}

int qz_rule__event_loop(const struct qz_report *r, struct qz_advice *a)
{
	struct event_loop loop = {.report = r};

	return find_loop(r, &loop) ? report_it(&loop, a) : 0;
}
