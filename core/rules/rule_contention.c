/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads queue for a lock whose holders run. */
#include "core/locks/lock_finding.h"

static void say(struct qz_finding *f, const struct qz_report *r, const struct qz_lock_gain *gain)
{
	qz_finding__say(f, &f->what,
			"Threads queue for %s %.0f%% of the time, while its holders run.", f->shown,
			qz_finding__percent(r, gain->row->cost.queued_ns));
}

static const struct qz_lock_rule rule = {
	.name = "contention",
	.kind = QZ_LOCK_PROGRAM,
	.blocked = false,
	.remedy = "hold it for less time, give each part of the data a lock of its own, or each "
		  "thread its own copy",
	.say = say,
};

int qz_rule__contention(const struct qz_report *r, struct qz_advice *a)
{
	return qz_lock_finding__add(r, a, &rule);
}
