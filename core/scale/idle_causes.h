/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The causes of the idle processor time of a run: P processors less those that were busy, summed over the time.
 *
 * Spinning, the time that others or Quartz had while a thread was ready, and the time from a wake-up until the thread was
 * on a processor are known directly. The rest is charged to waits during which fewer than P threads could run: first to
 * those of threads that work, then to those that join others, then to those of threads without work; each kind at most with
 * its blocked time, because a thread uses one processor. For the remainder there was no further thread.
 */
#ifndef QUARTZ_CORE_SCALE_IDLE_CAUSES_H
#define QUARTZ_CORE_SCALE_IDLE_CAUSES_H

#include "core/compare/identities.h"
#include "core/report/report.h"

enum qz_idle_cause_kind {
	QZ_IDLE_CAUSE_WAIT, /* of threads that work: identity is an object, or a cause of waits */
	QZ_IDLE_CAUSE_JOIN, /* of threads that wait for other threads or processes to end */
	QZ_IDLE_CAUSE_NO_WORK,	 /* of threads that hardly ran */
	QZ_IDLE_CAUSE_NO_THREAD, /* there was no further thread */
	QZ_IDLE_CAUSE_OTHERS,	 /* a thread was ready, and others had the processor */
	QZ_IDLE_CAUSE_QUARTZ,	 /* a thread was ready, and Quartz itself had the processor */
	QZ_IDLE_CAUSE_LATE,	 /* a thread had been woken and was not on a processor yet */
	QZ_IDLE_CAUSE_SPIN,	 /* identity is the procedure that spun, where one is known */
	QZ_IDLE_CAUSE_KINDS,
};

struct qz_idle_cause {
	enum qz_idle_cause_kind kind;
	uint32_t identity; /* QZ_NONE: none */
	double ns;	   /* of processor time */
};

struct qz_idle_causes {
	uint32_t n;
	struct qz_idle_cause *causes; /* each kind and identity once */
};

/* Adds to one that is there, or appends. -ENOMEM. */
int qz_idle_causes__add(struct qz_idle_causes *c, enum qz_idle_cause_kind kind, uint32_t identity,
			double ns);

/* Charges `lacking_ns`, for which no thread was ready, to waits and to the lack of threads. -ENOMEM or -E2BIG. */
int qz_idle_causes__charge(struct qz_idle_causes *c, struct qz_identities *ids,
			   const struct qz_report *r, double lacking_ns);
void qz_idle_causes__free(struct qz_idle_causes *c);

#endif
