/* SPDX-License-Identifier: GPL-2.0-only */
/* What the types of the running kernel (BTF) tell that BPF programs cannot find out by themselves. */
#ifndef QUARTZ_DAEMON_KERNEL_TYPES_H
#define QUARTZ_DAEMON_KERNEL_TYPES_H

#include <stdbool.h>
#include <stdint.h>

struct kernel_types {
	/*
	 * Bytes from a processor's runqueue to its struct tick_sched, the same for each processor; 0: not known. Many
	 * kernels have no symbols of variables of each processor.
	 */
	int64_t ticks_from_runqueue;
	bool switch_tells_state; /* sched_switch hands over the state that decided: since Linux 5.18 */
	bool tells_ready; /* accounts of how long threads are ready, as bpf/kernel_account.bpf.h reads them */
};

/* All 0 where the kernel has no types. Reads all of them, which takes some 20 ms. */
void kernel_types__read(struct kernel_types *types);

#endif
