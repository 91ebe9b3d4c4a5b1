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

#define WAIT_FIRST_STEP 3
#define WAIT_MAX_WEIGHT 7 /* log2 of the waits for which one stands, so that `passes` has room */

static __always_inline u32 wait_gate__units(u64 now)
{
	return now >> QZ_BEGAN_SHIFT;
}

static __always_inline u32 wait_gate__preempted_step(const struct qz_waiting *w)
{
	return (w->flags & QZ_WAITING_STEP) >> QZ_WAITING_STEP_SHIFT;
}

/*
 * Of a thread that is new to us. Many processes live for a moment only, and to walk the stacks of all their waits
 * would cost more than they do: so one of a few waits of a new process is looked at, until it is known to wait
 * rarely.
 */
static __always_inline void wait_gate__begin(struct qz_thread_state *t, bool new_process)
{
	struct qz_waiting *w = &t->waiting;

	w->step = wait_spacing && new_process ? WAIT_FIRST_STEP : 0;
	w->passes = w->step ? bpf_get_prandom_u32() % ((2u << WAIT_FIRST_STEP) - 1) : 0;
	w->flags |= w->step << QZ_WAITING_STEP_SHIFT;
	w->weight = 0;
}

/* By chance: one of 2^step is not. */
static __always_inline bool wait_gate__is_passed(u32 step)
{
	return step && bpf_get_prandom_u32() & ((1u << step) - 1);
}

/*
 * Whether the wait that begins is passed. state: 0 for a thread that is preempted. The two have a gate each: where
 * one is frequent it must not hide the other.
 */
static __always_inline bool wait_gate__passes(struct qz_thread_state *t, u32 state)
{
	struct qz_waiting *w = &t->waiting;

	if (!state)
		return wait_gate__is_passed(wait_gate__preempted_step(w));
	if (!w->passes)
		return false;
	w->passes--;
	return true;
}

/* Whether waits may be passed before the next one that is looked at. */
static __always_inline bool wait_gate__may_pass(const struct qz_thread_state *t)
{
	const struct qz_waiting *w = &t->waiting;

	return (t->state & QZ_SINGLE ? w->step : w->passes) || w->flags & QZ_WAITING_STEP;
}

/* The step of the next look at a gate, by how long ago its last one was. */
static __always_inline u32 wait_gate__next_step(struct qz_wait_site *site, u32 step, u64 spacing,
						u64 now)
{
	u16 units = now >> QZ_LOOKED_SHIFT, since = units - site->looked;

	site->looked = units;
	if (since > spacing >> QZ_LOOKED_SHIFT)
		return step - !!step;
	return step < WAIT_MAX_WEIGHT ? step + 1 : step;
}

/* A wait is looked at: for how many it stands, and how many are passed after it. */
static __always_inline void wait_gate__look(struct qz_thread_state *t,
					    const struct qz_cpu_state *cpu, u32 state, u64 now)
{
	u64 spacing = wait_spacing << cpu->halvings;
	struct qz_waiting *w = &t->waiting;
	u32 step, skipped;

	if (!spacing)
		return;
	t->began = wait_gate__units(now);
	skipped = wanted_skips ? skip_step : 0;
	if (skipped)
		w->flags |= QZ_WAITING_PASSED;
	if (state) {
		w->weight = w->step + skipped;
		step = wait_gate__next_step(&w->sites[0], w->step, spacing, now);
		w->step = step;
		w->passes = step ? bpf_get_prandom_u32() % ((2u << step) - 1) : 0;
	} else {
		step = wait_gate__preempted_step(w);
		w->weight = step + skipped;
		step = wait_gate__next_step(&w->sites[QZ_PREEMPTED_SITE], step, spacing, now);
		w->flags = (w->flags & ~QZ_WAITING_STEP) | step << QZ_WAITING_STEP_SHIFT;
	}
}

#endif
