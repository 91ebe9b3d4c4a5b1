/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/model/fields.h"

#include <stdlib.h>
#include <string.h>

#include "core/model/what_if.h"

const struct qz_field qz_run_fields[] = {
	QZ_FIELD(TEXT, qz_profile, quartz_version, QZ_TOLD),
	QZ_FIELD(TEXT, qz_profile, kernel, QZ_TOLD),
	QZ_FIELD(TEXT, qz_profile, machine, QZ_TOLD),
	QZ_FIELD(TEXT, qz_profile, event, QZ_TOLD),
	QZ_FIELD(U32, qz_profile, rate_hz, QZ_SAVED),
	QZ_FIELD(U32, qz_profile, processors, QZ_TOLD),
	QZ_FIELD(BOOL, qz_profile, live, QZ_TOLD),
	QZ_FIELD(U64, qz_profile, window_ns, QZ_ADDS | QZ_SHOWN),
	QZ_FIELD(U64, qz_profile, wall_start_ns, QZ_SHOWN),
	QZ_FIELD(BOOL, qz_profile, wakes_sampled, QZ_SAVED | QZ_LATER | QZ_RARE),
	QZ_FIELD(BOOL, qz_profile, addresses_sampled, QZ_SAVED | QZ_LATER | QZ_RARE),
	{0},
};

/* A member of 64 bits of a struct within the struct. */
#define INNER(of, called, path, used_for)                                                          \
	{                                                                                          \
		.name = #called, .type = QZ_FIELD_U64, .uses = (used_for),                         \
		.at = offsetof(struct of, path), .n = 1                                            \
	}

const struct qz_field qz_cost_fields[] = {
	{"rate_halvings", QZ_FIELD_U32, QZ_TOLD, offsetof(struct qz_profile, halvings), 1},
	QZ_FIELD(U32, qz_profile, ceiling_ppm, QZ_TOLD),
	INNER(qz_profile, accounting_ns, costs.accounting_ns, QZ_SUMS | QZ_TOLD),
	INNER(qz_profile, sampling_ns, costs.sampling_ns, QZ_SUMS | QZ_TOLD),
	INNER(qz_profile, walking_ns, costs.walking_ns, QZ_SUMS | QZ_TOLD),
	INNER(qz_profile, daemon_ns, costs.daemon_ns, QZ_SUMS | QZ_TOLD),
	INNER(qz_profile, replay_ns, costs.replay_ns, QZ_SUMS | QZ_TOLD | QZ_LATER | QZ_RARE),
	{0},
};

const struct qz_field qz_ledger_fields[] = {
	QZ_FIELD(U64, qz_ledger, expected, QZ_SUMS | QZ_TOLD),
	QZ_FIELD(U64, qz_ledger, accepted, QZ_SUMS | QZ_TOLD),
	QZ_FIELD(U64, qz_ledger, filtered, QZ_SUMS | QZ_TOLD),
	QZ_FIELD(I64, qz_ledger, unaccounted, QZ_TOLD),
	QZ_LIST(LOSSES, qz_ledger, losses, nlosses, QZ_SAVED),
	QZ_LIST(LOSSES, qz_ledger, events, nevents, QZ_TOLD),
	QZ_LIST(LOSSES, qz_ledger, outside, noutside, QZ_SAVED | QZ_LATER | QZ_RARE),
	{0},
};

const struct qz_field qz_instants_fields[] = {
	QZ_FIELD(U32, qz_rounds, rate_hz, QZ_TOLD),
	QZ_FIELD(U64, qz_rounds, taken, QZ_SUMS | QZ_TOLD),
	QZ_FIELD(U64, qz_rounds, incomplete, QZ_SUMS | QZ_TOLD),
	QZ_FIELD(U64, qz_rounds, unplaced, QZ_SUMS | QZ_TOLD),
	QZ_FIELD(U64, qz_rounds, skew_ns, QZ_SUMS | QZ_TOLD),
	QZ_FIELD(U64, qz_rounds, skew_max_ns, QZ_TOLD),
	QZ_FIELD(U64, qz_rounds, outside, QZ_SUMS | QZ_TOLD),
	QZ_FIELD(U64, qz_rounds, compared, QZ_SUMS | QZ_TOLD),
	QZ_FIELD(U64, qz_rounds, differing, QZ_SUMS | QZ_TOLD),
	QZ_FIELD(BOOL, qz_rounds, sampled, QZ_TOLD | QZ_LATER | QZ_RARE),
	{0},
};

const struct qz_field qz_loss_fields[] = {QZ_FIELD(U64, qz_loss, count, QZ_SUMS), {0}};

/*
 * A member of the struct that BPF programs fill (quartz/scope_counters.h). A new one is QZ_LATER, so that files
 * that do not have it are read.
 */
#define COUNTER(member, used_for)                                                                  \
	INNER(qz_scope, member, counters.member, (used_for) | QZ_OF_ALL | QZ_TOLD)

/* In JSON, where it is asked what processor time was for: cli/costs/costs_json.c. */
#define OF_THE_LOG (QZ_SUMS | QZ_OF_ALL | QZ_SAVED | QZ_LATER | QZ_RARE)

const struct qz_field qz_scope_fields[] = {
	QZ_FIELD(U32, qz_scope, kind, QZ_SAVED),
	QZ_FIELD(I32, qz_scope, pid, QZ_TOLD),
	QZ_FIELD(TEXT, qz_scope, comm, QZ_TOLD),
	QZ_FIELD(TEXT, qz_scope, command, QZ_TOLD),
	QZ_FIELD(U64, qz_scope, start_ns, QZ_SAVED),
	QZ_FIELD(U64, qz_scope, elapsed_ns, QZ_SUMS | QZ_TOLD),
	QZ_FIELD(U64, qz_scope, cpu_ns, QZ_SUMS | QZ_OF_ALL | QZ_TOLD),
	QZ_FIELD(U64, qz_scope, runnable_ns, QZ_SUMS | QZ_OF_ALL | QZ_TOLD),
	QZ_FIELD(U64, qz_scope, samples, QZ_SUMS | QZ_TOLD),
	QZ_FIELD(U64, qz_scope, truncated, QZ_SUMS | QZ_TOLD),
	QZ_FIELD(U64, qz_scope, unresolved, QZ_SUMS | QZ_TOLD),
	COUNTER(threads_seen, QZ_ADDS), /* some lived before and after: no difference */
	COUNTER(creations, QZ_SUMS),
	COUNTER(creations_lost, QZ_SUMS),
	QZ_FIELD(BOOL, qz_scope, ended, QZ_TOLD),
	QZ_LIST(LEVELS, qz_scope, level_ns, nlevels, QZ_TOLD),
	QZ_LIST(LOSSES, qz_scope, stack_ends, nstack_ends, QZ_TOLD | QZ_LATER),
	COUNTER(spin_turns, QZ_SUMS | QZ_LATER),
	QZ_FIELD(U64, qz_scope, threads_before, QZ_SAVED | QZ_LATER | QZ_RARE),
	QZ_FIELD(U64, qz_scope, threads_alive, QZ_OF_ALL),
	COUNTER(limited, QZ_SUMS | QZ_LATER | QZ_RARE),
	INNER(qz_scope, threads_started, counters.threads_started, OF_THE_LOG),
	INNER(qz_scope, processes_started, counters.processes_started, OF_THE_LOG),
	INNER(qz_scope, events_in_vain, counters.events_in_vain, OF_THE_LOG),
	INNER(qz_scope, events_shared, counters.events_shared, OF_THE_LOG),
	{"grain", QZ_FIELD_U64, OF_THE_LOG, offsetof(struct qz_scope, counters.grain), QZ_GRAINS},
	INNER(qz_scope, reads, counters.transfers.reads, OF_THE_LOG),
	INNER(qz_scope, bytes_read, counters.transfers.bytes_read, OF_THE_LOG),
	INNER(qz_scope, writes, counters.transfers.writes, OF_THE_LOG),
	INNER(qz_scope, bytes_written, counters.transfers.bytes_written, OF_THE_LOG),
	QZ_FIELD(U64, qz_scope, children, QZ_SAVED | QZ_LATER | QZ_RARE),
	QZ_FIELD(TEXT, qz_scope, cgroup, QZ_SAVED | QZ_LATER | QZ_RARE),
	QZ_FIELD(TEXT, qz_scope, cpuset, QZ_SAVED | QZ_LATER | QZ_RARE),
	QZ_FIELD(TEXT, qz_scope, quota_cgroup, QZ_SAVED | QZ_LATER | QZ_RARE),
	QZ_FIELD(U64, qz_scope, quota_us, QZ_SAVED | QZ_LATER | QZ_RARE),
	QZ_FIELD(U64, qz_scope, quota_period_us, QZ_SAVED | QZ_LATER | QZ_RARE),
	QZ_FIELD(U64, qz_scope, throttled_ns, QZ_SUMS | QZ_SAVED | QZ_LATER | QZ_RARE),
	QZ_FIELD(U64, qz_scope, throttled_periods, QZ_SUMS | QZ_SAVED | QZ_LATER | QZ_RARE),
	QZ_FIELD(U64, qz_scope, quota_periods, QZ_SUMS | QZ_SAVED | QZ_LATER | QZ_RARE),
	{0},
};

/* In JSON in objects of their own: core/report/report_json.c. */
#define OF_A_THREAD (QZ_SUMS | QZ_SAVED | QZ_LATER | QZ_RARE)

const struct qz_field qz_thread_fields[] = {
	QZ_FIELD(U32, qz_thread, scope, QZ_SAVED),
	QZ_FIELD(I32, qz_thread, tid, QZ_TOLD),
	QZ_FIELD(I32, qz_thread, pid, QZ_TOLD),
	QZ_FIELD(TEXT, qz_thread, comm, QZ_TOLD),
	QZ_FIELD(TEXT, qz_thread, name, QZ_TOLD),
	QZ_FIELD(U64, qz_thread, start_ns, QZ_TOLD),
	QZ_FIELD(U64, qz_thread, end_ns, QZ_TOLD),
	QZ_FIELD(U64, qz_thread, cpu_ns, QZ_SUMS | QZ_TOLD),
	QZ_FIELD(U64, qz_thread, running_ns, QZ_SUMS | QZ_TOLD),
	QZ_FIELD(U64, qz_thread, ready_ns, QZ_SUMS | QZ_TOLD),
	QZ_FIELD(U64, qz_thread, blocked_ns, QZ_SUMS | QZ_TOLD),
	QZ_FIELD(U64, qz_thread, unknown_ns, QZ_SUMS | QZ_TOLD),
	QZ_FIELD(BOOL, qz_thread, ended, QZ_TOLD),
	QZ_FIELD(BOOL, qz_thread, merged, QZ_TOLD),
	QZ_FIELD(TEXT, qz_thread, cpus, QZ_SAVED | QZ_LATER | QZ_RARE),
	INNER(qz_thread, loop_turns, loop.turns, OF_A_THREAD),
	INNER(qz_thread, loop_turn_ns, loop.turn_ns, OF_A_THREAD),
	INNER(qz_thread, loop_blocks, loop.blocks, OF_A_THREAD),
	INNER(qz_thread, loop_block_ns, loop.block_ns, OF_A_THREAD),
	INNER(qz_thread, loop_block_waited_ns, loop.block_waited_ns, OF_A_THREAD),
	INNER(qz_thread, loop_block_ready_ns, loop.block_ready_ns, OF_A_THREAD),
	INNER(qz_thread, loop_longest_ns, loop.longest_ns, QZ_SAVED | QZ_LATER | QZ_RARE),
	INNER(qz_thread, reads, transfers.reads, OF_A_THREAD),
	INNER(qz_thread, bytes_read, transfers.bytes_read, OF_A_THREAD),
	INNER(qz_thread, writes, transfers.writes, OF_A_THREAD),
	INNER(qz_thread, bytes_written, transfers.bytes_written, OF_A_THREAD),
	{0},
};

const struct qz_field qz_object_fields[] = {
	QZ_FIELD(U32, qz_object, scope, QZ_SAVED),
	QZ_FIELD(U32, qz_object, kind, QZ_SAVED),
	QZ_FIELD(I32, qz_object, pid, QZ_TOLD),
	QZ_FIELD(ADDRESS, qz_object, address, QZ_TOLD),
	QZ_FIELD(TEXT, qz_object, name, QZ_TOLD),
	QZ_FIELD(TEXT, qz_object, module, QZ_TOLD),
	QZ_FIELD(U32, qz_object, grouped, QZ_TOLD),
	QZ_FIELD(U64, qz_object, waits, QZ_SUMS | QZ_TOLD),
	QZ_FIELD(U64, qz_object, wakes, QZ_SUMS | QZ_TOLD),
	QZ_FIELD(U64, qz_object, wait_ns, QZ_SUMS | QZ_TOLD),
	QZ_FIELDS(U64, qz_object, queue_ns, QZ_QUEUE_LENGTHS, QZ_SUMS | QZ_TOLD),
	QZ_FIELDS(U64, qz_object, arrivals, QZ_QUEUE_LENGTHS, QZ_SUMS | QZ_TOLD),
	QZ_FIELD(U64, qz_object, in_vain, QZ_SUMS | QZ_SAVED | QZ_LATER | QZ_RARE),
	QZ_FIELD(U64, qz_object, line_same, QZ_SUMS | QZ_SAVED | QZ_LATER | QZ_RARE),
	QZ_FIELD(U64, qz_object, line_alone, QZ_SUMS | QZ_SAVED | QZ_LATER | QZ_RARE),
	QZ_FIELD(U64, qz_object, line_elsewhere, QZ_SUMS | QZ_SAVED | QZ_LATER | QZ_RARE),
	QZ_FIELD(U64, qz_object, line_elsewhere_alone, QZ_SUMS | QZ_SAVED | QZ_LATER | QZ_RARE),
	QZ_FIELD(U64, qz_object, line_there, QZ_SUMS | QZ_SAVED | QZ_LATER | QZ_RARE),
	{0},
};

const struct qz_field qz_what_if_fields[] = {
	QZ_FIELD(U32, qz_what_if, scope, QZ_SAVED),
	QZ_FIELD(U32, qz_what_if, kind, QZ_SAVED),
	QZ_FIELD(TEXT, qz_what_if, name, QZ_SAVED),
	QZ_FIELDS(U64, qz_what_if, run_ns, QZ_WHAT_IF_SPEEDS, QZ_SAVED),
	QZ_FIELDS(U64, qz_what_if, low_ns, QZ_WHAT_IF_SPEEDS, QZ_SAVED | QZ_LATER | QZ_RARE),
	QZ_FIELDS(U64, qz_what_if, high_ns, QZ_WHAT_IF_SPEEDS, QZ_SAVED | QZ_LATER | QZ_RARE),
	QZ_FIELDS(U64, qz_what_if, most_ns, QZ_WHAT_IF_SPEEDS, QZ_SAVED),
	QZ_FIELD(U64, qz_what_if, work_ns, QZ_SAVED),
	QZ_FIELD(U64, qz_what_if, kept_ns, QZ_SAVED),
	QZ_FIELD(U64, qz_what_if, freed_ns, QZ_SAVED),
	QZ_FIELD(U64, qz_what_if, spinning_ns, QZ_SAVED),
	{0},
};

/* ---- what pprof has a place for ---- */

const struct qz_field qz_sample_fields[] = {
	QZ_FIELD(U64, qz_sample, count, QZ_SUMS),
	QZ_FIELD(U64, qz_sample, seen, QZ_SUMS),
	QZ_FIELD(U64, qz_sample, in_block, QZ_SUMS),
	{0},
};

const struct qz_field qz_wait_fields[] = {
	QZ_FIELD(U64, qz_wait, count, QZ_SUMS),	   QZ_FIELD(U64, qz_wait, blocked_ns, QZ_SUMS),
	QZ_FIELD(U64, qz_wait, ready_ns, QZ_SUMS), QZ_FIELD(U64, qz_wait, variance, QZ_SUMS),
	QZ_FIELD(U64, qz_wait, handed, QZ_SUMS),   {0},
};

const struct qz_field qz_waking_fields[] = {
	QZ_FIELD(U64, qz_waking, count, QZ_SUMS),
	QZ_FIELD(U64, qz_waking, woken_ns, QZ_SUMS),
	{0},
};

const struct qz_field qz_call_fields[] = {
	QZ_FIELD(U64, qz_call_count, count, QZ_SUMS),
	QZ_FIELD(U64, qz_call_count, cost_ns, QZ_SUMS),
	{0},
};

const struct qz_field qz_round_fields[] = {QZ_FIELD(U64, qz_round, count, QZ_SUMS), {0}};

void qz_losses__free(struct qz_loss *losses, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		free(losses[i].cause);
	free(losses);
}

void qz_fields__free(void *entity, const struct qz_field *table)
{
	for (; table->name; table++) {
		void **owned = (void **)((char *)entity + table->at);

		if (table->type < QZ_FIELD_TEXT)
			continue;
		if (table->type == QZ_FIELD_LOSSES)
			qz_losses__free(*owned, *(uint32_t *)((char *)entity + table->n));
		else
			free(*owned);
		*owned = NULL;
	}
}

/* ---- sums ---- */

uint32_t qz_fields__count(const struct qz_field *table)
{
	size_t n = 0;

	for (; table->name; table++)
		n += table->uses & QZ_ADDS ? table->n : 0;
	return n;
}

uint64_t *qz_fields__at(void *entity, const struct qz_field *table, uint32_t number)
{
	for (;; table++) {
		if (!(table->uses & QZ_ADDS))
			continue;
		if (number < table->n)
			return (uint64_t *)((char *)entity + table->at) + number;
		number -= table->n;
	}
}

void qz_fields__add_those(void *to, const void *from, const struct qz_field *table,
			  unsigned int uses)
{
	for (; table->name; table++) {
		uint64_t *sums = (uint64_t *)((char *)to + table->at);
		const uint64_t *more = (const uint64_t *)((const char *)from + table->at);

		for (uint32_t i = 0; table->uses & uses && i < table->n; i++)
			sums[i] += more[i];
	}
}

void qz_fields__add(void *to, const void *from, const struct qz_field *table)
{
	qz_fields__add_those(to, from, table, QZ_ADDS);
}

void qz_fields__clear(void *entity, const struct qz_field *table, unsigned int uses)
{
	for (; table->name; table++)
		if (table->uses & uses)
			memset((char *)entity + table->at, 0, table->n * sizeof(uint64_t));
}
