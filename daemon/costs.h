/* SPDX-License-Identifier: GPL-2.0-only */
/* What Quartz itself costs: BPF programs, interrupts, quartzd and its children. */
#ifndef QUARTZ_DAEMON_COSTS_H
#define QUARTZ_DAEMON_COSTS_H

#include "core/profile.h"
#include "daemon/builder.h"
#include "daemon/engine.h"
#include "daemon/symbolizer.h"

/*
 * The time in ns that an interrupt of a sample takes from who runs, without the program that it runs:
 * measured in ten milliseconds on the processor that this runs on, once, while quartzd has the right to. 0
 * when it cannot be.
 */
uint64_t costs__of_interrupt(void);

/* All so far. quartzd's own since it was started. */
struct qz_costs costs__read(const struct engine *engine, struct symbolizer *symbolizer,
			    const struct builder *builder, uint64_t interrupt_ns);

#endif
