/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How well it is known what ran below profile stacks that pollers saw (daemon/shm/poll_join.h). Of the n
 * samples of a stack, the kernel's sampler has seen but c with what ran below, and the share q of one
 * thing there is known as well as from c samples. The interval is made of all counts as if n had told
 * it; so what is missing in the variance of a time t * q of the stack's t is
 *
 *	t^2 q (1 - q) (1/c - 1/n)
 *
 * c counts all levels and threads, as the shares are the same on all of them.
 */
#ifndef QUARTZ_CORE_POLLED_H
#define QUARTZ_CORE_POLLED_H

#include "core/report/report.h"

/* What the pollers saw with one profile stack, and was shared out below it. */
struct qz_polled_stack {
	uint32_t node;
	uint64_t norm_ns;
	uint64_t count; /* polled */
	uint64_t seen;	/* by the kernel's sampler */
};

/* Sets the report's stacks and order, in which the samples of a stack follow each other. 0 or -ENOMEM. */
int qz_polled__build(struct qz_report *r);

/* The stack that a sample was shared out below. */
uint32_t qz_polled__node(const struct qz_profile *p, const struct qz_sample *s);

/* The variance that is missing where something has so much of the time of a stack. */
double qz_polled__square(const struct qz_report *r, uint32_t node, double norm_ns);

#endif
