/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/model/allowed.h"

#include <math.h>
#include <string.h>

#include "core/util/cpu_list.h"

/* One part of so many of the scope's time ready or running: a thread with less does not need its processors. */
#define LEAST_PART 100

static uint64_t able_ns(const struct qz_thread *t)
{
	return t->running_ns + t->ready_ns;
}

/* Those of its threads together. False: some thread may use all, or it is not known what it may. */
static bool add_threads(const struct qz_profile *p, uint32_t scope, struct qz_cpu_set *set)
{
	uint64_t sum = 0;
	bool any = false;

	for (uint32_t i = 0; i < p->nthreads; i++)
		if (qz_scope__covers(p, scope, p->threads[i].scope))
			sum += able_ns(&p->threads[i]);
	for (uint32_t i = 0; i < p->nthreads; i++) {
		const struct qz_thread *t = &p->threads[i];

		if (!qz_scope__covers(p, scope, t->scope) || able_ns(t) <= sum / LEAST_PART)
			continue;
		if (!qz_cpu_set__add_list(set, t->cpus))
			return false;
		any = true;
	}
	return any;
}

static bool has_programs_of_others(const struct qz_scope *s)
{
	return s->kind == QZ_SCOPE_MACHINE || s->kind == QZ_SCOPE_KERNEL;
}

void qz_allowed__find(const struct qz_profile *p, uint32_t scope, struct qz_allowed *a)
{
	const struct qz_scope *s = &p->scopes[scope];
	struct qz_cpu_set own = {0}, cpuset = {0};
	uint32_t n;

	*a = (struct qz_allowed) {.processors = p->processors ? p->processors : 1};
	if (has_programs_of_others(s))
		return;
	if (s->quota_us && s->quota_period_us)
		a->quota = (double)s->quota_us / (double)s->quota_period_us;
	if (!add_threads(p, scope, &own))
		return;
	n = qz_cpu_set__count(&own);
	if (n >= a->processors)
		return;
	a->processors = n;
	a->fewer = true;
	a->by_cpuset = qz_cpu_set__add_list(&cpuset, s->cpuset) && qz_cpu_set__count(&cpuset) <= n;
	qz_cpu_set__list(&own, a->list, sizeof(a->list));
}

double qz_allowed__others_ns(const struct qz_profile *p, uint32_t scope)
{
	const struct qz_ledger *l = &p->ledger;
	uint32_t machine = qz_profile__machine(p);
	uint64_t outside = l->expected > l->accepted ? l->expected - l->accepted : 0;
	double cpu_ns = 0;

	if (!l->expected || !l->accepted)
		return INFINITY;
	for (uint32_t i = 0; i < p->nscopes; i++)
		if (machine == QZ_NONE || i == machine)
			cpu_ns += (double)p->scopes[i].cpu_ns;
	return cpu_ns - (double)p->scopes[scope].cpu_ns +
	       cpu_ns * (double)outside / (double)l->accepted;
}

double qz_allowed__others(const struct qz_profile *p, uint32_t scope)
{
	uint64_t elapsed = p->scopes[scope].elapsed_ns;
	uint64_t window = p->window_ns > elapsed ? p->window_ns : elapsed;

	return window ? qz_allowed__others_ns(p, scope) / (double)window : INFINITY;
}
