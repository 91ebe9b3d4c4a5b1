/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why a program is not P times as fast on P processors, from runs on some numbers of processors (Acar, Charguéraud and
 * Rainey, Parallel Work Inflation, Memory Effects, and their Empirical Analysis, 2017):
 *
 *	P * T_P = T_1 + I_P + F_P	elapsed times P processors = work on one + idle time + work inflation
 *
 * The paper assumes that a run on one processor is never idle. Here the idle time I_1 of such runs, when the program waited
 * for a disk or others had the processor, is not part of T_1; otherwise it would be subtracted from the inflation of other
 * runs.
 *
 * Each term is the median of its runs, and F_P is the remainder, so that terms add up. Intervals are 95 %: that
 * of a median is sqrt(pi / 2) times that of the mean by Student's t, which holds where runs differ by chance.
 */
#ifndef QUARTZ_CORE_SCALE_SCALE_H
#define QUARTZ_CORE_SCALE_SCALE_H

#include "core/scale/scale_run.h"

/* Half width of an interval that is not known, because there is no second run. */
#define QZ_SCALE_UNKNOWN (-1.0)
/* Runs of one number of processors. By two, the interval is sixteen times as wide as they are apart: it says nothing. */
#define QZ_SCALE_LEAST_RUNS 3

struct qz_scale_value {
	double value, ci; /* half width, or QZ_SCALE_UNKNOWN */
};

/* Runs on one number of processors. Times are nanoseconds of processor time, but for elapsed. */
struct qz_scale_point {
	uint32_t processors, runs;
	struct qz_scale_value elapsed;
	struct qz_scale_value work;	 /* processors * elapsed - idle */
	struct qz_scale_value idle;	 /* I_P */
	struct qz_scale_value inflation; /* F_P, negative where less was to be done than on one */
	struct qz_scale_value spin, others, quartz, late,
		lacking; /* parts of idle: lacking is the rest */
	/* Speed-ups: with only the overhead of the parallel program, ... */
	double maximal, idle_specific, inflation_specific;
	struct qz_scale_value actual;
	double beyond; /* share of the time in which more processors than these ran it, in the worst run */
};

/* A procedure, or another row whose self times add up. Processor time without spinning. */
struct qz_scale_row {
	uint32_t identity;
	uint64_t samples;
	struct qz_scale_value *work;	  /* by point */
	struct qz_scale_value *inflation; /* by point, against the one of one processor */
	struct qz_scale_value *beside;	  /* by point: idle processor time while it ran */
};

struct qz_scale_cause {
	enum qz_idle_cause_kind kind;
	uint32_t identity;
	struct qz_scale_value *idle; /* by point */
};

struct qz_scale {
	bool has_baseline;
	struct qz_scale_value
		baseline; /* T_s: elapsed time of another program, or of this one on one processor */
	uint32_t n;
	struct qz_scale_point *points; /* by processors, ascending; the first one has 1 */
	uint32_t nrows;
	struct qz_scale_row *rows; /* by the size of the inflation at the last point, descending */
	uint32_t nclasses;
	struct qz_scale_row *classes; /* of costs, with work and spinning, in the same order */
	uint32_t ncauses;
	struct qz_scale_cause *causes; /* by idle time at the last point, descending */
};

/*
 * Computes the terms from runs of one program, at least one of them on one processor, and from runs of a baseline, which
 * may be none. NULL with EINVAL: none on one processor; or ENOMEM.
 */
struct qz_scale *qz_scale__new(const struct qz_identities *ids, struct qz_scale_run *const *runs,
			       uint32_t nruns, struct qz_scale_run *const *baseline,
			       uint32_t nbaseline);
void qz_scale__free(struct qz_scale *s);

/* The median of n >= 1 values, and its interval; cis are those of single values by sampling, or NULL. Sorts nothing. */
struct qz_scale_value qz_scale__median(const double *values, const double *cis, uint32_t n,
				       double *sorted);

/* Processor time of all classes at a point. */
double qz_scale__class_time(const struct qz_scale *s, uint32_t point);

/*
 * The class that grows most from one processor to the last point, by more than a tenth of the processor time there and by
 * more than chance, where that is known. NULL: none does.
 */
const struct qz_scale_row *qz_scale__growing(const struct qz_scale *s);

/* Whether the interval is known and does not include 0. */
bool qz_scale_value__is_certain(const struct qz_scale_value *v);

#endif
