/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a change would gain at least and at most, from exact times by level. doc/advice.md derives
 * these. All assume that the processors of the profile are there for the program, and that the scope is closed:
 * that a wait for something outside would become shorter with the change, too. Of quotas
 * knows core/advise/quota.h.
 */
#ifndef QUARTZ_CORE_BOUNDS_H
#define QUARTZ_CORE_BOUNDS_H

#include "core/report/report.h"

/* Of the elapsed time; low <= high <= elapsed. */
struct qz_bounds {
	uint64_t low_ns, high_ns;
};

/*
 * The gain if work that ran alone for `least_ns` to `most_ns` is divided among `width` processors (struct qz_usage). Low: with the
 * additional processor time of known parallel programs; high: without. doc/advice.md.
 */
struct qz_bounds qz_bounds__divide(uint64_t least_ns, uint64_t most_ns, double width);

/* The parts of the elapsed time in which an entity was involved. */
struct qz_part {
	uint64_t alone_ns;  /* it ran, or was ready, and no other thread could run */
	uint64_t beside_ns; /* it ran at the same time as others: at most so long */
	uint64_t idle_ns;   /* threads waited for it, or it waited, and no thread could run */
	uint64_t queue_ns;  /* of an object: at least one thread waited for it */
};

struct qz_part qz_part__of_procedure(const struct qz_report *r, const struct qz_row *row);
struct qz_part qz_part__of_object(const struct qz_report *r, const struct qz_object_row *row);
struct qz_part qz_part__of_cause(const struct qz_report *r, uint32_t cause);

/* It is divided among so many processors: 0 .. idle + alone * (1 - more / P). */
struct qz_bounds qz_bounds__spread(const struct qz_report *r, struct qz_part part,
				   double processors, double more);

/* It is gone: alone .. alone + beside + idle; of an object, whose waiters then run: 0 .. queue. */
struct qz_bounds qz_bounds__remove(const struct qz_report *r, struct qz_part part);

/* It runs `factor` times as fast: the gain of removing it, times 1 - 1 / factor. */
struct qz_bounds qz_bounds__speedup(const struct qz_report *r, struct qz_part part, double factor);

/* What is waited for goes on while threads run: 0 .. idle. */
struct qz_bounds qz_bounds__overlap(const struct qz_report *r, struct qz_part part);

/* Cuts both to the elapsed time, and low to high. */
struct qz_bounds qz_bounds__within(const struct qz_report *r, struct qz_bounds b);

#endif
