/* SPDX-License-Identifier: GPL-2.0-only */
/* Stacks of running code that woke others, or ran before it did: kept among those of waits, half of which they may be. */
#ifndef QUARTZ_RUNNING_STACK_BPF_H
#define QUARTZ_RUNNING_STACK_BPF_H

/* As wait_stack__probe, of a stack of running code. */
__noinline int running_stack__probe(struct wait_scratch *w, u64 hash, u32 at)
{
	u32 index = at & (nr_wait_stacks - 1);
	struct qz_wait_stack *slot = bpf_map_lookup_elem(&wait_stacks, &index);
	struct qz_control *ctl = control__get();
	u64 taken;

	if (!slot || !w || !ctl)
		return PROBE_NO_ROOM;
	taken = *(volatile u64 *)&slot->stack.hash;
	if (!taken) {
		if (!wait_stack__may_add(&ctl->running_stacks, &ctl->running_stacks_lost))
			return PROBE_NO_ROOM;
		taken = __sync_val_compare_and_swap(&slot->stack.hash, 0, hash);
		if (!taken)
			return wait_stack__fill(slot, index, w) ? index : PROBE_NO_ROOM;
	}
	if (taken != hash || !wait_stack__is(slot, w))
		return PROBE_OTHER;
	return slot->stack.stored == QZ_STACK_STORED ? index : PROBE_NO_ROOM;
}

/* As a turn of a loop. */
static long running_stack__probe_turn(u32 i, struct probing *p)
{
	p->found = running_stack__probe(p->of, p->hash, first_slot(p->hash) + i);
	return p->found != PROBE_OTHER;
}

/* The number of a stack of running code, or QZ_WAIT_RUNNING when there is no room. */
__noinline u32 running_stack__number(struct wait_scratch *w)
{
	struct probing p = {.of = w, .found = PROBE_OTHER};

	if (!w)
		return QZ_WAIT_RUNNING;
	p.hash = wait_stack__hash(w);
	LOOP(PROBES, running_stack__probe_turn, &p);
	return p.found >= 0 ? QZ_WAIT_CAUSES + p.found : QZ_WAIT_RUNNING;
}

/* One entry per processor: the sample that is taken there, perhaps in the midst of a wake-up. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct wait_scratch);
} running_scratch SEC(".maps");

/* The number of the stack of a running thread that the sampler has walked, as of code that wakes others; 0: none. */
static __always_inline u32 running_stack__sampled(const struct unwinding *user, u32 image)
{
	struct wait_scratch *w;
	u32 zero = 0;

	w = bpf_map_lookup_elem(&running_scratch, &zero);
	if (!w || bpf_probe_read_kernel(&w->user, offsetof(struct unwinding, scan), user))
		return 0;
	w->image = image;
	w->scope = QZ_NO_SCOPE;
	w->cause = QZ_WAIT_RUNNING;
	wait_stack__count_frames(w);
	return running_stack__number(w);
}

#endif
