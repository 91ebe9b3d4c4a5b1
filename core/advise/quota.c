/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/advise/quota.h"

#include "core/advise/usage.h"
#include "core/model/allowed.h"
#include "core/util/order.h"

/* By when in a period of its quota it begins, a run takes up to one more. */
static double period_ns(const struct qz_report *r)
{
	return 1e3 * (double)r->profile->scopes[r->scope].quota_period_us;
}

/*
 * Throttled in each period, it takes as long as the quota takes to give it its processor time. Throttled in some of them, it
 * takes this long there, and as long as its threads need elsewhere.
 */
struct qz_bounds qz_quota__save(const struct qz_report *r, struct qz_bounds b,
				struct qz_bounds saved_cpu)
{
	const struct qz_scope *s = &r->profile->scopes[r->scope];
	double cpu = (double)qz_scope__running_ns(s), low, high;
	double elapsed = (double)r->elapsed_ns;
	struct qz_usage u;

	if (!s->throttled_ns || !s->quota_us || cpu <= 0)
		return b;
	qz_usage__find(r, &u);
	low = elapsed * (double)saved_cpu.low_ns / cpu - period_ns(r);
	high = elapsed * (double)saved_cpu.high_ns / cpu + period_ns(r);
	low = low > 0 ? low : 0;
	high = high < elapsed ? high : elapsed;
	if (u.used_up || low < (double)b.low_ns)
		b.low_ns = (uint64_t)low;
	if (u.used_up || high > (double)b.high_ns)
		b.high_ns = (uint64_t)high;
	return qz_bounds__within(r, b);
}

uint64_t qz_quota__beyond(const struct qz_report *r)
{
	const struct qz_scope *s = &r->profile->scopes[r->scope];
	struct qz_allowed allowed;
	double ns;

	qz_allowed__find(r->profile, r->scope, &allowed);
	if (allowed.quota <= 0)
		return r->elapsed_ns;
	ns = (double)r->elapsed_ns - (double)qz_scope__running_ns(s) / allowed.quota;
	ns = (ns > 0 ? ns : 0) + period_ns(r);
	return qz_least((uint64_t)ns, r->elapsed_ns);
}
