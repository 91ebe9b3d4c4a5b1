/* SPDX-License-Identifier: GPL-2.0-only */
/* The cost of Quartz itself: BPF programs, interrupts, quartzd and its children. */
#ifndef QUARTZ_DAEMON_SELF_OVERHEAD_H
#define QUARTZ_DAEMON_SELF_OVERHEAD_H

#include "core/model/profile.h"
#include "daemon/unwind/unwind_worker.h"
#include "daemon/kernel/bpf_runtime.h"
#include "daemon/symbolizer/symbolizer.h"

/*
 * The time in ns that the interrupt of a sample takes from the running thread, without the BPF program: measured once, in
 * ten milliseconds, on the processor of the caller, while quartzd has the right to. 0: it cannot be measured.
 */
uint64_t self_overhead__of_interrupt(void);

/* All so far. quartzd's own since it was started. */
struct qz_costs self_overhead__read(const struct bpf_runtime *bpf, struct symbolizer *symbolizer,
				    struct unwind_worker *worker, uint64_t interrupt_ns);

#endif
