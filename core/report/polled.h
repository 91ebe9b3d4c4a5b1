/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The error of figures below profile stacks that pollers sampled (daemon/shm/poll_join.h). Of the n samples of a stack,
 * only c come from the kernel's sampler and show the procedures below it, so the share q of one of these is known as from c
 * samples. The interval is computed from all counts, as if there were n; so the variance of a time t * q, with t the
 * stack's time, lacks
 *
 *	t^2 q (1 - q) (1/c - 1/n)
 *
 * c counts all levels and threads, as the shares are the same on all of them.
 */
#ifndef QUARTZ_CORE_POLLED_H
#define QUARTZ_CORE_POLLED_H

#include "core/report/report.h"

/* The polled samples of one profile stack, which were divided below it. */
struct qz_polled_stack {
	uint32_t node;
	uint64_t norm_ns;
	uint64_t count; /* polled */
	uint64_t seen;	/* by the kernel's sampler */
};

/* Sets the report's stacks and order, in which the samples of a stack follow each other. 0 or -ENOMEM. */
int qz_polled__build(struct qz_report *r);

/* The polled stack below which a sample was counted. */
uint32_t qz_polled__node(const struct qz_profile *p, const struct qz_sample *s);

/* The missing variance of a figure with norm_ns of the time of a stack. */
double qz_polled__square(const struct qz_report *r, uint32_t node, double norm_ns);

#endif
