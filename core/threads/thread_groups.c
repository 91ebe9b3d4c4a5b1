/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/threads/thread_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/figure.h"
#include "core/report/goroutines.h"
#include "core/report/kernel_rows.h"
#include "core/util/base_name.h"
#include "core/util/order.h"
#include "core/util/vec.h"

/* ---- what a thread was started with ---- */

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* Python's library for threads. */
static bool is_threading(const struct qz_procedure *proc)
{
	return qz_procedure__is_interpreted(proc) &&
	       !strcmp(qz_base_name(proc->file), "threading.py");
}

/* Ruby's own code, which calls what the thread was started with. */
static bool starts_ruby(const struct qz_procedure *proc, const struct qz_procedure *callee)
{
	return !strcmp(callee->module, QZ_RUBY_MODULE) &&
	       (qz_base_name__is(proc->module, "libruby") ||
		qz_base_name__is(proc->module, "ruby"));
}

/* Frames between clone and the procedure that the program gave. */
static bool is_generic(const struct qz_procedure *proc)
{
	static const char *const names[] = {
		"start_thread",
		"clone",
		"clone3",
		"__clone3",
		"thread_native_entry(Thread*)",
		"Thread::call_run()",
		"g_thread_proxy",
		"thread_run",
		"pythread_wrapper",
	};
	static const char *const modules[] = {"libstdc++.so", "libc++.so", "libglib-2.0.so"};
	const char *module = qz_base_name(proc->module);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(proc->name, names[i]))
			return true;
	for (size_t i = 0; i < sizeof(modules) / sizeof(*modules); i++)
		if (begins(module, modules[i]))
			return true;
	return is_threading(proc) || begins(proc->name, "std::thread::") ||
	       begins(proc->name, "void std::thread::") ||
	       begins(proc->name, "void std::__invoke") || begins(proc->name, "std::__invoke");
}

/* More is better: a stack that ends in what starts threads is surely whole. */
enum known { UNKNOWN, FIRST, GENERIC, STARTED, STARTED_BY_LIBRARY };

struct start {
	uint32_t procedure;
	enum known known; /* more is better */
};

/* From the leaf outwards: the last procedure seen before the innermost [thread] is the outermost one after it. */
static struct start start_on(const struct qz_profile *p, uint32_t leaf)
{
	struct qz_frames frames = {.profile = p, .node = leaf};
	struct start start = {QZ_NONE, UNKNOWN};
	uint32_t procedure, outermost = QZ_NONE, own = QZ_NONE;
	bool truncated = false, library = false;

	while ((procedure = qz_frames__next(&frames)) != QZ_NONE) {
		uint32_t kind = p->procedures[procedure].kind;

		if (kind == QZ_THREAD_START || kind == QZ_PROCESS_START)
			break;
		truncated |= kind == QZ_TRUNCATED;
		if (kind != QZ_PROCEDURE || qz_procedure__is_kernel(&p->procedures[procedure]))
			continue;
		if (qz_goroutines__begin_with(&p->procedures[procedure]))
			return start; /* it says nothing of the thread that runs it */
		outermost = procedure;
		library = is_generic(&p->procedures[procedure]) ||
			  (own != QZ_NONE &&
			   starts_ruby(&p->procedures[procedure], &p->procedures[own]));
		if (!library)
			own = procedure;
	}
	if (truncated || outermost == QZ_NONE)
		return start;
	if (procedure == QZ_NONE || p->procedures[procedure].kind == QZ_PROCESS_START)
		return (struct start) {QZ_NONE, FIRST};
	/* what that library calls in C, before it calls the program's, does not tell either */
	if (own == QZ_NONE || (is_threading(&p->procedures[outermost]) &&
			       !qz_procedure__is_interpreted(&p->procedures[own])))
		return (struct start) {outermost, GENERIC};
	/* frames outside of Python code are left out if they are known (daemon/attribution/python_stacks.h) */
	library |= qz_procedure__is_interpreted(&p->procedures[own]);
	return (struct start) {own, library ? STARTED_BY_LIBRARY : STARTED};
}

static void take(struct start *best, const struct qz_profile *p, uint32_t leaf)
{
	struct start start;

	if (best->known == STARTED_BY_LIBRARY)
		return;
	start = start_on(p, leaf);
	if (start.known > best->known)
		*best = start;
}

/* ---- groups ---- */

static struct qz_thread_group *group_of(struct qz_thread_groups *g, const struct qz_report *r,
					const struct start *start, uint32_t row)
{
	const struct qz_thread *threads = r->profile->threads;
	uint32_t thread = r->threads[row].thread, i;
	bool first = start->known == FIRST;

	for (i = 0; i < g->n; i++) {
		const struct qz_thread_group *group = &g->groups[i];
		const struct qz_thread *other = &threads[r->threads[group->row].thread];

		if (group->start == start->procedure && group->first == first &&
		    group->idle == r->idle[thread] && other->pid == threads[thread].pid &&
		    (start->known != UNKNOWN || !strcmp(other->name, threads[thread].name)))
			break;
	}
	if (i == g->n) {
		if (qz_array__reserve((void **)&g->groups, g->n, sizeof(*g->groups)))
			return NULL;
		g->groups[i] = (struct qz_thread_group) {.start = start->procedure,
							 .first = first,
							 .idle = r->idle[thread],
							 .row = row};
		if (qz_figure__init(&g->groups[i].figure, r))
			return NULL;
		g->n++;
	}
	g->group[row] = i;
	return &g->groups[i];
}

static int make_groups(struct qz_thread_groups *g, const struct qz_report *r,
		       const struct start *starts)
{
	for (uint32_t i = 0; i < r->nthreads; i++) {
		const struct qz_thread *t = &r->profile->threads[r->threads[i].thread];
		struct qz_thread_group *group = group_of(g, r, &starts[r->threads[i].thread], i);

		if (!group)
			return -ENOMEM;
		g->start[i] = starts[r->threads[i].thread].procedure;
		group->n++;
		group->cpu_ns += t->cpu_ns;
		group->running_ns += t->running_ns;
		group->ready_ns += t->ready_ns;
		group->blocked_ns += t->blocked_ns;
	}
	return 0;
}

static int compare(const void *x, const void *y)
{
	const struct qz_thread_group *a = x, *b = y;

	return qz_order(b->figure.norm_ns, a->figure.norm_ns)
		?: qz_order(b->blocked_ns, a->blocked_ns)
		?: qz_order(a->row, b->row);
}

/* Groups move: the threads' numbers of them follow. */
static int sort_groups(struct qz_thread_groups *g, const struct qz_report *r)
{
	uint32_t *place = calloc((size_t)r->nthreads + 1, sizeof(*place));

	if (!place)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->n; i++)
		place[i] = g->groups[i].row;
	if (g->n)
		qsort(g->groups, g->n, sizeof(*g->groups), compare);
	for (uint32_t i = 0; i < r->nthreads; i++) {
		uint32_t first = place[g->group[i]], k = 0;

		while (g->groups[k].row != first)
			k++;
		g->group[i] = k;
	}
	free(place);
	return 0;
}

static int add_samples(struct qz_thread_groups *g, const struct qz_report *r,
		       const uint32_t *row_of)
{
	const struct qz_profile *p = r->profile;

	for (uint32_t i = 0; i < p->nsamples; i++) {
		struct qz_sample s = p->samples[i];

		if (s.scope != r->scope || s.thread == QZ_NONE)
			continue;
		if (s.below) /* as in the rows of threads: whose it is, pollers have seen */
			s.below = s.seen = 0;
		qz_figure__add(&g->groups[g->group[row_of[s.thread]]].figure, r, &s);
	}
	for (uint32_t i = 0; i < g->n; i++)
		qz_figure__finish(&g->groups[i].figure, r);
	return sort_groups(g, r);
}

static void find_starts(const struct qz_report *r, struct start *starts)
{
	const struct qz_profile *p = r->profile;

	for (uint32_t i = 0; i < p->nthreads; i++)
		starts[i] = (struct start) {QZ_NONE, UNKNOWN};
	for (uint32_t i = 0; i < p->nsamples; i++)
		if (p->samples[i].scope == r->scope && p->samples[i].thread != QZ_NONE)
			take(&starts[p->samples[i].thread], p, p->samples[i].node);
	for (uint32_t i = 0; i < p->nwaits; i++)
		if (p->waits[i].thread != QZ_NONE &&
		    qz_scope__covers(p, r->scope, p->waits[i].scope))
			take(&starts[p->waits[i].thread], p, p->waits[i].node);
}

int qz_thread_groups__find(const struct qz_report *r, struct qz_thread_groups *g)
{
	size_t n = (size_t)r->nthreads + 1;
	struct start *starts = calloc((size_t)r->profile->nthreads + 1, sizeof(*starts));
	uint32_t *row_of = calloc((size_t)r->profile->nthreads + 1, sizeof(*row_of));
	int err = -ENOMEM;

	*g = (struct qz_thread_groups) {.start = calloc(n, sizeof(*g->start)),
					.group = calloc(n, sizeof(*g->group))};
	if (g->start && g->group && starts && row_of) {
		find_starts(r, starts);
		for (uint32_t i = 0; i < r->nthreads; i++)
			row_of[r->threads[i].thread] = i;
		err = make_groups(g, r, starts);
	}
	if (!err)
		err = add_samples(g, r, row_of);
	free(row_of);
	free(starts);
	return err;
}

void qz_thread_groups__free(struct qz_thread_groups *g)
{
	for (uint32_t i = 0; i < g->n; i++)
		qz_figure__clear(&g->groups[i].figure);
	free(g->groups);
	free(g->start);
	free(g->group);
	*g = (struct qz_thread_groups) {0};
}
