/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Steps of work that are too small: for each, starting a thread, handing over, copying or a system
 * call takes the time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/advise/advise.h"
#include "core/advise/steps.h"
#include "core/advise/usage.h"
#include "core/costs/grain.h"
#include "core/locks/lock_kind.h"
#include "core/model/objects.h"

/* Least share of the elapsed time in which threads queue for a kernel lock that is named. */
#define LEAST_QUEUED 0.1

/* Size of the blocks that is advised, bytes. */
#define LARGE_BLOCK (64 << 10)

/* Reads, or writes, are named if they are more than this share of both. */
#define LEAST_OF_CALLS 0.1

struct words {
	const char *verdict, *does;
};

static const struct words words[QZ_COSTS] = {
	[QZ_COST_STARTING] = {"STEPS TOO SMALL", "starting and ending threads and processes"},
	[QZ_COST_HANDING] = {"STEPS TOO SMALL", "handing work over between threads"},
	[QZ_COST_COPYING] = {"STEPS TOO SMALL", "packing and copying for other processes"},
	[QZ_COST_CALLS] = {"CALLS TOO SMALL", "calls of the kernel"},
};

/* The usual remedy: the first row that fits. `nested` rows are for nested parallel regions only. */
static const struct {
	enum qz_cost cost;
	enum qz_cost_origin origin; /* QZ_ORIGIN_OTHER: any */
	bool nested;
	const char *remedy;
} remedies[] = {
	{QZ_COST_STARTING, QZ_ORIGIN_OPENMP, true,
	 "run the inner loop in one thread: OMP_MAX_ACTIVE_LEVELS=1, or no omp parallel in it"},
	{QZ_COST_STARTING, QZ_ORIGIN_OPENMP, false,
	 "one parallel region around the outer loop; the inner one alone: an if() clause, "
	 "OMP_NUM_THREADS=1"},
	{QZ_COST_STARTING, QZ_ORIGIN_GO, false,
	 "a goroutine for each CPU that takes pieces, instead of one for each piece"},
	{QZ_COST_STARTING, QZ_ORIGIN_JAVA, false,
	 "a pool of threads (Executors.newFixedThreadPool), or more work for each thread"},
	{QZ_COST_STARTING, QZ_ORIGIN_PYTHON, false,
	 "a pool (concurrent.futures.ThreadPoolExecutor), or more work for each thread"},
	{QZ_COST_STARTING, QZ_ORIGIN_PROCESSES, false,
	 "do it in the process itself: builtins of the shell ($((...)), ${x%...}), one process for "
	 "all items (xargs -n 100), a library call"},
	{QZ_COST_STARTING, QZ_ORIGIN_OTHER, false,
	 "keep the threads: a pool that takes tasks, or ten times as much work for each thread"},
	{QZ_COST_HANDING, QZ_ORIGIN_RANDOM, false,
	 "a generator for each thread (rand_r, random_r, std::mt19937): rand() takes a lock"},
	{QZ_COST_HANDING, QZ_ORIGIN_OPENMP, true,
	 "run the inner loop in one thread: OMP_MAX_ACTIVE_LEVELS=1, or no omp parallel in it"},
	{QZ_COST_HANDING, QZ_ORIGIN_OPENMP, false,
	 "one parallel region around the outer loop, larger pieces (schedule(static), "
	 "schedule(dynamic, 100)), nowait; or OMP_NUM_THREADS=1 for small loops"},
	{QZ_COST_HANDING, QZ_ORIGIN_TBB, false,
	 "larger pieces: a grain size (blocked_range<>(begin, end, 1000), simple_partitioner)"},
	{QZ_COST_HANDING, QZ_ORIGIN_MPI, false,
	 "fewer and larger messages (one of an array, one reduction of several values), and work "
	 "meanwhile (MPI_Isend, MPI_Irecv, MPI_Iallreduce)"},
	{QZ_COST_HANDING, QZ_ORIGIN_OPENBLAS, false,
	 "OPENBLAS_NUM_THREADS=1 for matrices as small as these"},
	{QZ_COST_HANDING, QZ_ORIGIN_GO, false,
	 "send slices of 100 or more items instead of single ones, or let each goroutine take a "
	 "range"},
	{QZ_COST_HANDING, QZ_ORIGIN_JAVA, false,
	 "submit tasks of 100 or more items; drainTo instead of take"},
	{QZ_COST_HANDING, QZ_ORIGIN_RUST, false,
	 "send a Vec of 100 or more items instead of single ones; with_min_len for rayon"},
	{QZ_COST_HANDING, QZ_ORIGIN_PYTHON, false,
	 "put lists of 100 or more items into the queue instead of single ones"},
	{QZ_COST_HANDING, QZ_ORIGIN_OTHER, false,
	 "hand over 100 or more items at once: fewer takings of the lock, and fewer wake-ups"},
	{QZ_COST_COPYING, QZ_ORIGIN_PYTHON, false,
	 "chunksize=100 or more for map and imap, or memory that is shared (shared_memory)"},
	{QZ_COST_COPYING, QZ_ORIGIN_OTHER, false,
	 "send more at once: a buffer of 64 KiB, batches of 100 items, or memory that is shared"},
	{QZ_COST_CALLS, QZ_ORIGIN_MEMORY, false,
	 "keep the memory and use it again: a buffer for each thread; for malloc, "
	 "MALLOC_MMAP_THRESHOLD_ and MALLOC_TRIM_THRESHOLD_ of 64 MiB"},
	{QZ_COST_CALLS, QZ_ORIGIN_SOCKETS, false,
	 "several requests on their way at a time (pipelining, batches), and one call for them "
	 "(writev, sendmmsg, a buffer)"},
	{QZ_COST_CALLS, QZ_ORIGIN_FILES, false,
	 "fewer calls for files: keep them open, and keep what was learned of them"},
	{QZ_COST_CALLS, QZ_ORIGIN_CLOCK, false,
	 "read the clock once for many steps; it is a call of the kernel where its clocksource is "
	 "not tsc"},
	{QZ_COST_CALLS, QZ_ORIGIN_BLOCKS, false,
	 "larger blocks: a buffer of 64 KiB (bs=64k for dd; stdio, BufferedReader, bufio), writev"},
	{QZ_COST_CALLS, QZ_ORIGIN_OTHER, false,
	 "fewer calls of the kernel: do more in each, and keep what it has told"},
};

/* Time that threads were blocked at an object in calls of the procedure `asker`. */
static uint64_t waited(const struct qz_report *r, const struct qz_cost_walk *walk, uint32_t object,
		       uint32_t asker)
{
	const struct qz_profile *p = r->profile;
	uint64_t blocked_ns = 0;

	for (uint32_t i = 0; i < p->nwaits; i++)
		if (p->waits[i].object == object &&
		    qz_scope__covers(p, r->scope, p->waits[i].scope) &&
		    qz_cost_walk__at(walk, p->waits[i].node).asker == asker)
			blocked_ns += p->waits[i].blocked_ns;
	return blocked_ns;
}

/*
 * The kernel lock that threads queue for in the calls of the procedure that makes most; *lock NULL:
 * none. Larger steps take it less often, so the lock and the steps are one finding. 0 or -ENOMEM.
 */
static int find_lock(const struct qz_report *r, const struct qz_steps *s,
		     const struct qz_object_row **lock)
{
	struct qz_cost_walk walk;
	uint64_t most = 0;
	int err;

	*lock = NULL;
	if (s->cost != QZ_COST_CALLS)
		return 0;
	err = qz_cost_walk__init(&walk, r->profile);
	for (uint32_t i = 0; !err && i < r->nobjects; i++) {
		const struct qz_object_row *row = &r->objects[i];
		uint64_t blocked_ns;

		if (r->profile->objects[row->object].kind != QZ_OBJECT_LOCK ||
		    (double)row->cost.queued_ns < LEAST_QUEUED * (double)r->elapsed_ns)
			continue;
		blocked_ns = waited(r, &walk, row->object, s->most->asker);
		if (blocked_ns > most && blocked_ns >= row->waits.blocked_ns / 2) {
			most = blocked_ns;
			*lock = row;
		}
	}
	qz_cost_walk__free(&walk);
	return err;
}

/* Whether reads and writes have the advised size on average. */
static bool has_large_blocks(const struct qz_report *r)
{
	const struct qz_transfers *t = &r->profile->scopes[r->scope].counters.transfers;

	return t->bytes_read + t->bytes_written >= LARGE_BLOCK * (t->reads + t->writes) &&
	       t->reads + t->writes;
}

static const char *remedy_for(const struct qz_report *r, const struct qz_cost_row *row)
{
	bool nested = row->nested_norm_ns > row->figure.norm_ns / 2;

	for (size_t i = 0; i < sizeof(remedies) / sizeof(remedies[0]); i++)
		if (remedies[i].cost == row->cost &&
		    !(remedies[i].origin == QZ_ORIGIN_BLOCKS && has_large_blocks(r)) &&
		    (remedies[i].origin == row->origin || remedies[i].origin == QZ_ORIGIN_OTHER) &&
		    (nested || !remedies[i].nested))
			return remedies[i].remedy;
	return "larger steps";
}

/* "1000005 reads of 1 byte" */
static void say_calls(char text[QZ_SHORT_NAME], uint64_t all, const char *what, uint64_t calls,
		      uint64_t bytes)
{
	char mean[QZ_GRAIN_BYTES];

	*text = '\0';
	if ((double)calls > LEAST_OF_CALLS * (double)all)
		snprintf(text, QZ_SHORT_NAME, "%" PRIu64 " %s of %s", calls, what,
			 qz_grain__bytes(bytes, calls, mean));
}

/* Only these calls are counted. */
static void prove_calls(const struct qz_grain *g, const struct qz_steps *s, struct qz_finding *f)
{
	const struct qz_transfers *t = &g->transfers;
	char reads[QZ_SHORT_NAME], writes[QZ_SHORT_NAME];
	double ns = g->read.ns * (double)t->reads + g->write.ns * (double)t->writes;
	uint64_t all = t->reads + t->writes;

	if (!all || (s->most->origin != QZ_ORIGIN_BLOCKS && s->most->origin != QZ_ORIGIN_PIPES))
		return;
	say_calls(reads, all, "reads", t->reads, t->bytes_read);
	say_calls(writes, all, "writes", t->writes, t->bytes_written);
	qz_finding__prove(f, "report --costs", NULL,
			  "%s%s%s on average, each took %.1f us of CPU time", reads,
			  *reads && *writes ? " and " : "", writes, ns / (double)all / 1e3);
}

/* How often it happened, if that was counted. */
static void prove_counts(const struct qz_report *r, const struct qz_steps *s, struct qz_finding *f)
{
	struct qz_grain g = qz_grain__find(&r->profile->scopes[r->scope], &s->table);

	if (s->cost == QZ_COST_CALLS || s->cost == QZ_COST_COPYING)
		prove_calls(&g, s, f);
	if (s->cost == QZ_COST_STARTING && g.start.samples)
		qz_finding__prove(f, "report --costs", NULL,
				  "%" PRIu64 " threads and %" PRIu64
				  " processes were started, each cost %.0f us of CPU time",
				  g.threads, g.processes, g.start.ns / 1e3);
	if (s->cost == QZ_COST_HANDING && g.hand_over.samples && g.half_below_ns != UINT64_MAX)
		qz_finding__prove(f, "report --costs", NULL,
				  "%" PRIu64
				  " hand-overs, each cost %.1f us of CPU time; of work between "
				  "two of a thread, half took less than %.0f us",
				  g.hand_overs, g.hand_over.ns / 1e3,
				  (double)g.half_below_ns / 1e3);
}

/*
 * The lock has a remedy of its own. Calls for memory keep theirs: fewer mappings mean less queueing
 * for any lock.
 */
static void say_lock(struct qz_finding *f, const struct qz_report *r, const struct qz_steps *s,
		     const struct qz_object_row *lock)
{
	const struct qz_object *o = &r->profile->objects[lock->object];
	const char *remedy = qz_lock_kind__remedy(o);
	char *label = qz_objects__label(o);
	char shown[QZ_SHORT_NAME];

	if (!label) {
		f->failed = true;
		return;
	}
	qz_finding__shorten(shown, label);
	f->word = "CONTENDED";
	qz_finding__say(f, &f->what,
			"Threads queue for %s %.0f%% of the time, in calls of the kernel for %s, "
			"which take %.0f%% of the time in which anything ran.",
			shown, qz_finding__percent(r, lock->cost.queued_ns), f->shown,
			100 * s->share);
	qz_finding__prove(f, "report", label, "%llu waits for it, of %.3g ms",
			  (unsigned long long)o->waits,
			  o->waits ? (double)o->wait_ns / (double)o->waits / 1e6 : 0);
	if (remedy && s->most->origin != QZ_ORIGIN_MEMORY)
		qz_finding__say(f, &f->remedy, "%s", remedy);
	free(label);
}

static void say_steps(struct qz_finding *f, const struct qz_report *r, const struct qz_steps *s)
{
	const struct qz_procedure *procedures = r->profile->procedures;
	char through[QZ_SHORT_NAME] = "";

	f->word = words[s->cost].verdict;
	if (s->most->through != QZ_NONE)
		qz_finding__shorten(through, procedures[s->most->through].name);
	qz_finding__say(f, &f->what,
			"Steps are too small: %.0f%% of the time in which anything ran went to %s, "
			"mostly for %s%s%s%s.",
			100 * s->share, words[s->cost].does, f->shown, *through ? " (" : "",
			through, *through ? ")" : "");
}

static int report_it(const struct qz_report *r, const struct qz_steps *s, struct qz_advice *a)
{
	const struct qz_object_row *lock;
	const struct qz_cost_class *class = &s->table.classes[s->cost];
	struct qz_finding f = qz_finding__about("steps", r, QZ_SUBJECT_PROCEDURE, s->most->asker);
	int err = find_lock(r, s, &lock);

	f.failed |= err != 0;
	f.gain_low_ns = s->gain.low_ns;
	f.gain_high_ns = s->gain.high_ns;
	f.lost = QZ_LOST_SERIAL | QZ_LOST_IDLE | QZ_LOST_READY;
	if (lock)
		say_lock(&f, r, s, lock);
	else
		say_steps(&f, r, s);
	qz_finding__prove(&f, "report --costs", NULL, "%s: %.2f s of CPU time, work: %.2f s",
			  qz_cost__name(s->cost), (double)class->figure.cpu_ns / 1e9,
			  (double)s->table.classes[QZ_COST_WORK].figure.cpu_ns / 1e9);
	prove_counts(r, s, &f);
	qz_finding__prove(&f, "report", f.subject.name, "%s asked for %.2f s of it", f.shown,
			  (double)s->most->figure.cpu_ns / 1e9);
	if (!f.remedy)
		qz_finding__say(&f, &f.remedy, "%s", remedy_for(r, s->most));
	return qz_advise__add(a, &f);
}

/*
 * Calls that wait for a device for longer than they run cost what the device costs: the rule
 * `overlap` has both.
 */
static bool are_for_devices(const struct qz_report *r, const struct qz_steps *s)
{
	return s->cost == QZ_COST_CALLS && qz_usage__device_ns(r) > s->step_norm_ns;
}

static int find(const struct qz_report *r, struct qz_advice *a, bool handing)
{
	struct qz_steps s;
	int err = qz_steps__find(&s, r);

	if (!err && s.cost != QZ_COST_WORK && (s.cost == QZ_COST_HANDING) == handing &&
	    !are_for_devices(r, &s))
		err = report_it(r, &s, a);
	qz_steps__free(&s);
	return err;
}

int qz_rule__steps(const struct qz_report *r, struct qz_advice *a)
{
	return find(r, a, false);
}

/*
 * Whether most futex waits end by themselves: they are sleeps, and no thread hands anything over.
 */
static bool are_sleeps(const struct qz_report *r)
{
	uint64_t alone = 0, all = 0;

	for (uint32_t i = 0; i < r->nobjects; i++) {
		const struct qz_object *o = &r->profile->objects[r->objects[i].object];

		if (o->kind >= QZ_OBJECT_SPIN)
			continue;
		all += o->waits;
		alone += qz_objects__is_clock(o) ? o->waits : 0;
	}
	return alone > all / 2;
}

/*
 * Comes after the rules about barriers, stdio and allocators, which say more about the same time.
 */
int qz_rule__handing(const struct qz_report *r, struct qz_advice *a)
{
	return are_sleeps(r) ? 0 : find(r, a, true);
}
