/* SPDX-License-Identifier: GPL-2.0-only */
/* When quartzd hangs or is stopped: nobody reads what is measured, so that nothing shall be. */
#ifndef QUARTZ_ALONE_BPF_H
#define QUARTZ_ALONE_BPF_H

#define ALONE_AFTER 60000000000ull /* ns without a heartbeat */

/*
 * Asked by the sampler, which comes by seldom and on each processor. Times stand still for good then, as
 * when quartzd stops them: when it runs again it saves what there is, and begins anew.
 */
static __always_inline bool alone__is(struct qz_control *ctl, u64 now)
{
	u64 heartbeat = *(volatile u64 *)&ctl->heartbeat;

	if (!ctl->left_alone) {
		if (!heartbeat || (s64)(now - heartbeat) < (s64)ALONE_AFTER || frozen)
			return false;
		frozen = true;
		__sync_val_compare_and_swap(&ctl->left_alone, 0, bpf_ktime_get_ns());
	}
	__sync_fetch_and_add(&ctl->samples_alone, 1);
	return true;
}

#endif
