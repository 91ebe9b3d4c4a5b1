/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The time at level 0, in which nothing ran, charged to the things that threads waited for. Together with the normalized
 * time of procedures it is the elapsed time.
 */
#ifndef QUARTZ_CORE_IDLE_TIME_H
#define QUARTZ_CORE_IDLE_TIME_H

#include "core/report/report.h"

enum qz_idle_kind {
	QZ_IDLE_BLOCKED, /* threads were blocked for this cause and object */
	QZ_IDLE_READY,	 /* threads had no processor */
	QZ_IDLE_WORK,	 /* there was no work: threads that hardly ran waited for some */
	QZ_IDLE_UNKNOWN, /* no wait is known */
};

/* The charge of one wait. All charges add up to report->idle_ns, or to 0 if no wait is known. */
struct qz_idle_charge {
	uint64_t blocked_ns, ready_ns;
	bool no_work; /* blocked_ns is QZ_IDLE_WORK */
};

/* Which waits explain idle time best: those of threads with work, then waits for the end of others, then idle threads. */
enum qz_idle_rank { QZ_IDLE_WORKS, QZ_IDLE_JOINS, QZ_IDLE_HAS_NO_WORK, QZ_IDLE_RANKS };

enum qz_idle_rank qz_idle_time__rank(const struct qz_report *r, const struct qz_wait *w);

/* Sets the charges of a report that has its levels and its idle threads. 0 or -ENOMEM. */
int qz_idle_time__charge(struct qz_report *r);

struct qz_idle_row {
	enum qz_idle_kind kind;
	uint32_t cause;	 /* of profile->causes, or QZ_NONE */
	uint32_t object; /* of profile->objects, or QZ_NONE */
	uint64_t idle_ns;
};

struct qz_idle {
	uint32_t n;
	struct qz_idle_row *rows; /* by idle_ns, descending; they add up to report->idle_ns */
};

/* 0 or -ENOMEM; free rows in either case. */
int qz_idle_time__find(const struct qz_report *r, struct qz_idle *idle);

#endif
