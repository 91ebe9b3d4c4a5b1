/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A timer (cpu-clock) that samples one processor. quartzd opens it, or has the keeper open it, if the kernel requires a privilege
 * that quartzd has given up.
 */
#ifndef QUARTZ_DAEMON_SAMPLE_EVENT_H
#define QUARTZ_DAEMON_SAMPLE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

/* Of its ring, beside the first one: room for some 4,000 mappings between two ticks. */
#define SAMPLE_EVENT_PAGES 64

struct sample_event {
	uint32_t cpu;
	uint32_t reports; /* 1: what is mapped and executed is reported in its ring */
	uint64_t period;  /* ns */
};

/* Disabled, without a program. A descriptor or -errno; -ENODEV or -ENXIO: the processor is offline. */
int sample_event__open(const struct sample_event *event);

/*
 * Whether this kernel may want CAP_SYS_ADMIN for any perf event, and CAP_PERFMON is not enough: so do
 * Debian's with kernel.perf_event_paranoid above 2, which is their default ("security,perf: Allow further
 * restriction of perf_event_open"). Others take such a number for 2.
 */
bool sample_event__wants_admin(void);

#endif
