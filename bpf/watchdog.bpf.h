/* SPDX-License-Identifier: GPL-2.0-only */
/* Stops measuring when quartzd's heartbeat stops: it hangs, or was stopped. */
#ifndef QUARTZ_WATCHDOG_BPF_H
#define QUARTZ_WATCHDOG_BPF_H

/*
 * Called by the sampler, which runs on each processor and not often. Times stay frozen, as when quartzd ends a run:
 * when it runs again, it saves the profile and begins a new one.
 */
static __always_inline bool watchdog__is_alone(struct qz_control *ctl, u64 now)
{
	u64 heartbeat = *(volatile u64 *)&ctl->heartbeat;

	if (!ctl->left_alone) {
		if (!heartbeat || (s64)(now - heartbeat) < (s64)watchdog_ns || frozen)
			return false;
		frozen = true;
		__sync_val_compare_and_swap(&ctl->left_alone, 0, bpf_ktime_get_ns());
	}
	return true;
}

#endif
