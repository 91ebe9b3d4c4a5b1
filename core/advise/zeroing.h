/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a run would gain if a procedure or an object took no time, or less: one figure, from what was computed during the
 * run (core/model/what_if.h), and its interval due to few samples. doc/what-if.md says what it assumes.
 */
#ifndef QUARTZ_CORE_ZEROING_H
#define QUARTZ_CORE_ZEROING_H

#include "core/model/what_if.h"
#include "core/report/report.h"

/* What limits how short the run could be. */
enum qz_zeroing_limit {
	QZ_ZEROING_PATH,       /* the longest path of dependencies */
	QZ_ZEROING_THREAD,     /* the running time of one thread */
	QZ_ZEROING_PROCESSORS, /* the running time of all threads, on the available processors */
};

struct qz_zeroing {
	uint64_t gain_ns, low_ns, high_ns; /* of the elapsed time; the 95 % interval */
	enum qz_zeroing_limit limit;
};

/* Whether anything is known of a candidate of the report's scope. */
bool qz_zeroing__is_known(const struct qz_report *r, const struct qz_what_if *w);

/* speed: index of run_ns. The candidate must be known. */
struct qz_zeroing qz_zeroing__find(const struct qz_report *r, const struct qz_what_if *w,
				   uint32_t speed);

/* The candidate of the report's scope that has this name, or NULL. */
const struct qz_what_if *qz_zeroing__of_name(const struct qz_report *r, const char *name);

#endif
