/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads use one stdio stream, whose lock each call takes. */
#include "core/locks/lock_finding.h"

static void say(struct qz_finding *f, const struct qz_report *r, const struct qz_lock_gain *gain)
{
	qz_finding__say(f, &f->what, "Threads queue for %s %.0f%% of the time.", f->shown,
			qz_finding__percent(r, gain->row->cost.queued_ns));
}

static const struct qz_lock_rule rule = {
	.name = "stdio",
	.kind = QZ_LOCK_STDIO,
	.blocked = false,
	.remedy = "format into a buffer of each thread and write that at once, or use "
		  "putc_unlocked and a file per thread",
	.say = say,
};

int qz_rule__stdio(const struct qz_report *r, struct qz_advice *a)
{
	return qz_lock_finding__add(r, a, &rule);
}
