/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/advise/usage.h"

#include <math.h>
#include <string.h>

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t unused_of(const struct qz_report *r, uint32_t processors)
{
	uint64_t unused = 0;

	for (uint32_t n = 0; n < r->nlevels && n < processors; n++)
		unused += (processors - n) * r->effective_ns[n];
	return unused;
}

/*
 * Of the ready time of a wait, what passed while the scope used fewer than P processors. With k threads that
 * could run, k - n of them were ready; when k <= P all of it counts, else as much as at the mean level n.
 */
static double taken_of(const struct qz_wait *w, double level, uint32_t processors)
{
	double k = w->nominal, ns = (double)w->ready_ns;

	if (w->nominal <= processors || level >= k)
		return ns;
	return level < processors ? ns * (processors - level) / (k - level) : 0;
}

/*
 * Processor time of others on these processors, at most: samples outside of the scope, those that are missing among
 * them, with as much time each as its own have. INFINITY: that is not known.
 */
static double others_had(const struct qz_report *r)
{
	const struct qz_profile *p = r->profile;
	const struct qz_ledger *l = &p->ledger;
	uint32_t machine = qz_profile__machine(p);
	uint64_t outside = l->expected > l->accepted ? l->expected - l->accepted : 0;
	double cpu_ns = 0;

	if (!l->expected || !l->accepted)
		return INFINITY;
	for (uint32_t i = 0; i < p->nscopes; i++)
		if (machine == QZ_NONE || i == machine)
			cpu_ns += (double)p->scopes[i].cpu_ns;
	return cpu_ns - (double)p->scopes[r->scope].cpu_ns +
	       cpu_ns * (double)outside / (double)l->accepted;
}

/* Ready time: of threads that were alone, and what others had beside running ones. */
struct queued {
	double single, taken;
};

/*
 * It takes a moment to wake a thread up, also on an idle processor, and if there are more threads than processors,
 * they take processors from each other. So others can have taken no more than the processor time that they had. A
 * thread that was preempted although there were enough processors lost its processor to others, or to its quota.
 */
static void limit(struct queued *doubtful, const struct queued *sure, const struct qz_report *r)
{
	double sum = doubtful->single + doubtful->taken;
	double left = others_had(r) - sure->single - sure->taken;

	if (left >= sum)
		return;
	left = left > 0 ? left : 0;
	doubtful->single *= left / sum;
	doubtful->taken *= left / sum;
}

static void find_queued(const struct qz_report *r, double level, uint32_t processors,
			struct queued *doubtful, struct queued *sure)
{
	const struct qz_profile *p = r->profile;

	for (uint32_t i = 0; i < p->nwaits; i++) {
		const struct qz_wait *w = &p->waits[i];
		struct queued *to = w->blocked_ns || w->nominal > processors ? doubtful : sure;

		if (!w->ready_ns || !qz_scope__covers(p, r->scope, w->scope))
			continue;
		if (w->nominal <= 1)
			to->single += (double)w->ready_ns;
		else
			to->taken += taken_of(w, level, processors);
	}
}

void qz_usage__find(const struct qz_report *r, struct qz_usage *u)
{
	const struct qz_profile *p = r->profile;
	const struct qz_scope *scope = &p->scopes[r->scope];
	uint64_t running = qz_scope__running_ns(scope), single, unused;
	struct queued doubtful = {0}, sure = {0};
	double taken, level, queued;

	*u = (struct qz_usage) {.processors = p->processors ? p->processors : 1};
	level = r->elapsed_ns ? (double)running / (double)r->elapsed_ns : 0;
	find_queued(r, level, u->processors, &doubtful, &sure);
	queued = doubtful.single + doubtful.taken;
	limit(&doubtful, &sure, r);
	queued -= doubtful.single + doubtful.taken;
	taken = doubtful.taken + sure.taken;
	u->ready_ns = scope->runnable_ns > running ? scope->runnable_ns - running : 0;
	u->unused_ns = unused_of(r, u->processors);
	single = smaller((uint64_t)(doubtful.single + sure.single), r->idle_ns);
	unused = u->unused_ns - smaller(u->unused_ns, u->processors * single);
	u->wanting = unused && taken < (double)unused ? 1 - taken / (double)unused : 0;
	u->taken_ns = single + smaller(unused, (uint64_t)taken);
	u->late_ns = smaller(u->unused_ns - u->taken_ns, queued > 0 ? (uint64_t)queued : 0);
	u->alone_ns = (uint64_t)((double)r->serial_ns * u->wanting) + single;
	u->idle_ns = (uint64_t)((double)(r->idle_ns - single) * u->wanting);
}

bool qz_usage__is_device(const char *cause)
{
	static const char *const causes[] = {"disk",  "page_fault",	 "fsync",  "fdatasync",
					     "msync", "sync_file_range", "syncfs", "sync"};

	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
		if (!strcmp(cause, causes[i]))
			return true;
	return false;
}

bool qz_usage__is_open(const struct qz_report *r, const struct qz_usage *u)
{
	const struct qz_profile *p = r->profile;
	uint64_t devices = 0;

	if (p->scopes[r->scope].kind == QZ_SCOPE_MACHINE ||
	    p->scopes[r->scope].kind == QZ_SCOPE_KERNEL)
		return true;
	if (u->idle_ns < r->elapsed_ns / 2)
		return false;
	for (uint32_t i = 0; i < p->nwaits; i++)
		if (!p->waits[i].nominal && qz_scope__covers(p, r->scope, p->waits[i].scope) &&
		    qz_usage__is_device(p->causes[p->waits[i].cause]))
			devices += p->waits[i].blocked_ns;
	return devices < u->idle_ns / 2;
}
