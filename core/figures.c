/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/figures.h"

#define ONE(type, member)                                                                          \
	{                                                                                          \
		offsetof(struct type, member), 1                                                   \
	}
#define MANY(type, member, n)                                                                      \
	{                                                                                          \
		offsetof(struct type, member), n                                                   \
	}

const struct qz_figures qz_ledger_figures[] = {
	ONE(qz_ledger, expected),
	ONE(qz_ledger, accepted),
	ONE(qz_ledger, filtered),
	{0},
};
const struct qz_figures qz_instants_figures[] = {
	ONE(qz_instants, taken),   ONE(qz_instants, incomplete), ONE(qz_instants, unplaced),
	ONE(qz_instants, skew_ns), ONE(qz_instants, outside),	 {0},
};
const struct qz_figures qz_costs_figures[] = {
	ONE(qz_costs, accounting_ns),
	ONE(qz_costs, sampling_ns),
	ONE(qz_costs, walking_ns),
	ONE(qz_costs, daemon_ns),
	{0},
};
const struct qz_figures qz_loss_figures[] = {ONE(qz_loss, count), {0}};
const struct qz_figures qz_scope_figures[] = {
	ONE(qz_scope, cpu_ns),	   ONE(qz_scope, runnable_ns),
	ONE(qz_scope, samples),	   ONE(qz_scope, truncated),
	ONE(qz_scope, unresolved), ONE(qz_scope, creations),
	ONE(qz_scope, spin_turns), ONE(qz_scope, creations_lost),
	ONE(qz_scope, limited),	   {0},
};
const struct qz_figures qz_thread_figures[] = {
	ONE(qz_thread, cpu_ns),	    ONE(qz_thread, running_ns), ONE(qz_thread, ready_ns),
	ONE(qz_thread, blocked_ns), ONE(qz_thread, unknown_ns), {0},
};
const struct qz_figures qz_sample_figures[] = {ONE(qz_sample, count), ONE(qz_sample, seen), {0}};
const struct qz_figures qz_wait_figures[] = {
	ONE(qz_wait, count),
	ONE(qz_wait, blocked_ns),
	ONE(qz_wait, ready_ns),
	{0},
};
const struct qz_figures qz_waking_figures[] = {
	ONE(qz_waking, count), ONE(qz_waking, woken_ns), {0}};
const struct qz_figures qz_object_figures[] = {
	ONE(qz_object, waits),
	ONE(qz_object, wakes),
	ONE(qz_object, wait_ns),
	MANY(qz_object, queue_ns, QZ_QUEUE_LENGTHS),
	MANY(qz_object, arrivals, QZ_QUEUE_LENGTHS),
	{0},
};
const struct qz_figures qz_call_figures[] = {
	ONE(qz_call_count, count), ONE(qz_call_count, cost_ns), {0}};
const struct qz_figures qz_moment_figures[] = {ONE(qz_moment, count), {0}};

uint32_t qz_figures__count(const struct qz_figures *list)
{
	uint32_t n = 0;

	for (; list->n; list++)
		n += list->n;
	return n;
}

uint64_t *qz_figures__at(void *entity, const struct qz_figures *list, uint32_t number)
{
	while (number >= list->n)
		number -= list++->n;
	return (uint64_t *)((char *)entity + list->at) + number;
}

void qz_figures__add(void *to, const void *from, const struct qz_figures *list)
{
	for (; list->n; list++) {
		uint64_t *sums = (uint64_t *)((char *)to + list->at);
		const uint64_t *more = (const uint64_t *)((const char *)from + list->at);

		for (uint32_t i = 0; i < list->n; i++)
			sums[i] += more[i];
	}
}

void qz_figure__take(uint64_t *from, uint64_t taken)
{
	*from -= *from < taken ? *from : taken;
}

void qz_figures__take(void *from, const void *taken, const struct qz_figures *list)
{
	for (; list->n; list++) {
		uint64_t *rest = (uint64_t *)((char *)from + list->at);
		const uint64_t *less = (const uint64_t *)((const char *)taken + list->at);

		for (uint32_t i = 0; i < list->n; i++)
			qz_figure__take(&rest[i], less[i]);
	}
}
