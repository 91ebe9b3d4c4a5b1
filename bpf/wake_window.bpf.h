/* SPDX-License-Identifier: GPL-2.0-only */
/* What a thread ran since it was last woken, as its samples tell: for the time until woken. */
#ifndef QUARTZ_WAKE_WINDOW_BPF_H
#define QUARTZ_WAKE_WINDOW_BPF_H

#define WAKE_WINDOW_SAMPLES 32 /* a power of two */

struct wake_window_sample {
	u64 time;
	u32 stack; /* as in struct qz_wait_site */
	u32 pad;
};

/*
 * Samples of one thread since it was woken, evenly spaced: when there is no more room every other one
 * goes, and from then on only every other one is taken.
 */
struct wake_window {
	u64 began; /* woken; 0: that was not seen */
	u32 seen;  /* samples */
	u32 shift; /* one of 2^shift is kept */
	u32 n;
	u32 pad;
	struct wake_window_sample samples[WAKE_WINDOW_SAMPLES];
};

/*
 * Key: a thread of a scope. Written by the processor that runs the thread, and by the one that wakes
 * it. Made when the thread is first followed, and only when the time until woken is wanted. Without
 * memory the thread's own wake-ups count as if nobody had made them.
 */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct wake_window);
} episodes SEC(".maps");

static __always_inline void wake_window__follow(struct task_struct *task)
{
	if (wanted_woken)
		bpf_task_storage_get(&episodes, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

static __always_inline struct wake_window *wake_window__get(struct task_struct *task)
{
	return wanted_woken ? bpf_task_storage_get(&episodes, task, NULL, 0) : NULL;
}

/* The thread is woken: what it ran before is of no interest any more. */
static __always_inline void wake_window__begin(struct wake_window *e, u64 now)
{
	e->began = now;
	e->seen = 0;
	e->shift = 0;
	e->n = 0;
}

/* Whether the sample that is being taken is one of those to keep. */
static __always_inline bool wake_window__wants(struct wake_window *e)
{
	return !(e->seen++ & ((1u << (e->shift & 31)) - 1));
}

__noinline int wake_window__keep(struct wake_window *e, u32 stack, u64 now)
{
	u32 n;

	if (!e)
		return 0;
	n = e->n;
	if (n >= WAKE_WINDOW_SAMPLES) {
		for (u32 i = 0; i < WAKE_WINDOW_SAMPLES / 2; i++)
			e->samples[i] = e->samples[2 * i];
		n = WAKE_WINDOW_SAMPLES / 2;
		e->shift++;
	}
	e->samples[n & (WAKE_WINDOW_SAMPLES - 1)].time = now;
	e->samples[n & (WAKE_WINDOW_SAMPLES - 1)].stack = stack;
	e->n = n + 1;
	return 0;
}

#endif
