/* SPDX-License-Identifier: GPL-2.0-only */
/* Holders of a lock do input or output, or sleep, while others queue. */
#include "core/locks/lock_finding.h"

static void say(struct qz_finding *f, const struct qz_report *r, const struct qz_lock_gain *gain)
{
	qz_finding__say(f, &f->what,
			"Threads queue for %s %.0f%% of the time; its holders are blocked for "
			"something else %.0f%%.",
			f->shown, qz_finding__percent(r, gain->row->cost.queued_ns),
			qz_finding__percent(r, gain->row->cost.held_blocked_ns));
}

static const struct qz_lock_rule rule = {
	.name = "lock-io",
	.kind = QZ_LOCK_PROGRAM,
	.blocked = true,
	.remedy = "do input, output and sleep after the lock is released, or give them to a thread "
		  "of their own",
	.say = say,
};

int qz_rule__blocking_holder(const struct qz_report *r, struct qz_advice *a)
{
	return qz_lock_finding__add(r, a, &rule);
}
