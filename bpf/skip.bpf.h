/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where counting switches costs more than Quartz may, they are counted in one window of so many, and skipped between the
 * windows. Times of threads stay exact, since meanwhile they are left to the kernel's accounts (bpf/single.bpf.h), and so
 * does the idle time of processors. How long a scope or the machine was at each level is known of the windows; their
 * clock stands still between them, and quartzd completes their levels (core/model/levels.h). A wait is looked at only if
 * it begins in a window, and stands for those that do not; its end is always seen.
 *
 * Skipping begins for each processor at its next switch, and ends for all at once: bpf/skip_switch.bpf.h.
 */
#ifndef QUARTZ_SKIP_BPF_H
#define QUARTZ_SKIP_BPF_H

const volatile bool wanted_skips;

/* Written by quartzd, see daemon/kernel/bpf_skips.c. */
volatile __u64 skipped_ns;     /* in all, up to the last window */
volatile __u64 skipping_since; /* 0: this is a window */
volatile __u64 skip_ended;     /* when the last window began */
volatile __u32 skip_step;      /* log2 of the windows for which one stands */

static __always_inline bool skip__is_on(const struct qz_cpu_state *cpu)
{
	return wanted_skips && cpu->skipping;
}

/* The clock of scopes, and of the machine. */
static __always_inline u64 skip__clock(u64 now)
{
	u64 since;

	if (!wanted_skips)
		return now;
	since = skipping_since;
	return (since && now > since ? since : now) - skipped_ns;
}

/* Whether switches were skipped after `units`, see qz_thread_state.began. */
static __always_inline bool skip__was_after(u32 units)
{
	return wanted_skips &&
	       (skipping_since || (s32)((u32)(skip_ended >> QZ_BEGAN_SHIFT) - units) > 0);
}

/* What other processors run: threads of a scope, and threads at all. */
#define SKIP_RUNNING(elsewhere) ((elsewhere)&0xffff)
#define SKIP_BUSY(elsewhere)	((elsewhere) >> 16)

static __always_inline u32 skip__look_at(const struct qz_cpu_state *cpu, u32 scope, u32 tgid)
{
	struct task_struct *task = (struct task_struct *)cpu->task;
	bool same;

	if (!task || cpu->idle_since)
		return 0;
	same = scope == QZ_SCOPE_OF_KERNEL ? !!(BPF_CORE_READ(task, flags) & PF_KTHREAD_BIT)
					   : (u32)BPF_CORE_READ(task, tgid) == tgid;
	return 1 << 16 | same;
}

__noinline u32 skip__elsewhere(u32 scope, u32 tgid)
{
	struct qz_cpu_state *own = cpu__this();
	u32 n = 0;

	/* not `i == here`: what the verifier knows of `here` would differ at each turn, and it would follow each anew */
	for (u32 i = 0; i < nr_possible; i++) {
		struct qz_cpu_state *cpu = cpu__get(i);

		if (cpu && cpu != own)
			n += skip__look_at(cpu, scope, tgid);
	}
	return n;
}

#endif
