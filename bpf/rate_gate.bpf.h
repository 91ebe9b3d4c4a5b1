/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events of which each is looked at as long as they are rare, else one of so many, which stands for those before it.
 * By chance, lest a program that does in turn different things is always seen at the same one.
 */
#ifndef QUARTZ_RATE_GATE_BPF_H
#define QUARTZ_RATE_GATE_BPF_H

#define RATE_MAX_STEP 1024 /* of so many, on average, at least one is looked at */

/* Of one processor. */
struct rate_gate {
	u64 last;   /* when one was looked at */
	u32 step;   /* one of so many is, on average */
	u32 stands; /* for how many the next one stands */
};

/* One is looked at. Gives for how many it stands; *left: those to be passed after it. */
static __always_inline u32 rate_gate__look(struct rate_gate *gate, u64 now, u64 spacing, u32 *left)
{
	u32 stands = gate->stands, step = gate->step;

	if (now - gate->last > spacing)
		step /= 2;
	else if (step < RATE_MAX_STEP)
		step = 2 * step;
	if (!step)
		step = 1;
	gate->last = now;
	gate->step = step;
	gate->stands = step > 1 ? 1 + bpf_get_prandom_u32() % (2 * step - 1) : 1;
	*left = gate->stands - 1;
	return stands ?: 1;
}

#endif
