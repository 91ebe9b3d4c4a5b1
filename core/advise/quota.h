/* SPDX-License-Identifier: GPL-2.0-only */
/* What changes gain under the quota of a control group, which gives out processor time. */
#ifndef QUARTZ_CORE_QUOTA_H
#define QUARTZ_CORE_QUOTA_H

#include "core/advise/bounds.h"

/*
 * The range of a finding that saves processor time, `b` by the time that the scope was able to run: under a quota, less
 * processor time also means that it is throttled less. Without a quota that throttled it: `b`.
 */
struct qz_bounds qz_quota__save(const struct qz_report *r, struct qz_bounds b,
				struct qz_bounds saved_cpu);

/* The most that a change gains which saves no processor time: its quota gives it no more of that in less time. ns. */
uint64_t qz_quota__beyond(const struct qz_report *r);

#endif
