/* SPDX-License-Identifier: GPL-2.0-only */
/* What Quartz costs itself, for its governor (core/model/overhead_governor.h). */
#ifndef QUARTZ_SELF_COST_BPF_H
#define QUARTZ_SELF_COST_BPF_H

/* What takes longer was stopped by the host meanwhile; it must not count for so many other calls, too. */
#define LONGEST_CALL 500000 /* ns; the deepest stack is walked in less */

/*
 * Whether what is done until the next switch is timed: of so many intervals one, spread so evenly that each of some
 * kinds of switches that alternate has its share.
 */
static __always_inline bool self_cost__is_timed(const struct qz_cpu_state *cpu)
{
	return (u32)cpu->switches * 0x9e3779b1u < 0xffffffffu / QZ_TIMED_CALLS;
}

/*
 * The beginning stands in memory, and global functions note it, of which the verifier forgets what they did: else
 * it would follow a call once timed and once not.
 */
__noinline int self_cost__begin(u32 kind)
{
	struct qz_cpu_state *cpu = cpu__this();

	if (cpu && kind < QZ_TIMED)
		cpu->began[kind] = self_cost__is_timed(cpu) ? bpf_ktime_get_ns() : 0;
	return 0;
}

__noinline int self_cost__end(u32 kind)
{
	struct qz_cpu_state *cpu = cpu__this();
	u64 began, ns;

	if (!cpu || kind >= QZ_TIMED)
		return 0;
	began = *(volatile u64 *)&cpu->began[kind];
	ns = began ? bpf_ktime_get_ns() - began : 0;
	cpu->began[kind] = 0; /* the next call may begin untimed, and end as one that is timed */
	if (ns >= LONGEST_CALL)
		return 0;
	if (kind == QZ_TIMED_LIFE)
		cpu->lifecycle_ns += ns;
	else
		cpu->accounting_ns += ns;
	return 0;
}

/* The same where a function would cost as much as what is mostly to be done; not across the count of a switch. */
static __always_inline void self_cost__begin_short(const struct qz_cpu_state *cpu, u32 kind)
{
	if (self_cost__is_timed(cpu))
		self_cost__begin(kind);
}

static __always_inline void self_cost__end_short(const struct qz_cpu_state *cpu, u32 kind)
{
	if (self_cost__is_timed(cpu))
		self_cost__end(kind);
}

/* A walk, which has a rate, within the accounting at a switch, which has none. */
static __always_inline void self_cost__add_walk(u64 ns)
{
	struct qz_cpu_state *cpu = cpu__this();

	if (!cpu)
		return;
	cpu->walking_ns += ns;
	if (cpu->began[QZ_TIMED_SWITCH])
		cpu->began[QZ_TIMED_SWITCH] += ns;
}

#endif
