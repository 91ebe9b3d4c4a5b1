/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which waits are looked at. Where a thread waits more often than every wait_spacing, one of so many is, chosen by
 * chance before it begins, so that each place is as likely as it is frequent. The others are passed: their times
 * are counted all the same, since the state of the thread grows, but not yet charged to a place. A wait that was
 * looked at stands for those that were passed: as many times its own is taken from what is not charged, and no
 * more than there is. So the sums are exact, and what is charged to a place is an estimate.
 */
#ifndef QUARTZ_WAIT_GATE_BPF_H
#define QUARTZ_WAIT_GATE_BPF_H

const volatile __u64 wait_spacing; /* ns, at the full rate; 0: each wait is looked at */

#define WAIT_MAX_WEIGHT 7 /* log2 of the waits for which one stands, so that `passes` has room */

/* Whether the wait that begins is passed. */
static __always_inline bool wait_gate__passes(struct qz_thread_state *t)
{
	if (!t->waiting.passes)
		return false;
	t->waiting.passes--;
	return true;
}

static __always_inline u32 wait_gate__units(u64 now)
{
	return now >> QZ_BEGAN_SHIFT;
}

/* A wait is looked at: for how many it stands, and how many are passed after it. */
static __always_inline void wait_gate__look(struct qz_thread_state *t,
					    const struct qz_cpu_state *cpu, u64 now)
{
	struct qz_waiting *w = &t->waiting;
	u32 units = wait_gate__units(now), step = w->step;

	w->weight = step;
	if (units - t->began > wait_gate__units(wait_spacing << cpu->halvings))
		step -= !!step;
	else if (step < WAIT_MAX_WEIGHT)
		step++;
	t->began = units;
	if (!wait_spacing)
		return;
	w->step = step;
	w->passes = step ? bpf_get_prandom_u32() % ((2u << step) - 1) : 0;
}

#endif
