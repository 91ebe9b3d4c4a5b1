/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads queue for a lock while its holders run, or are blocked for something else. */
#include "core/locks/lock_finding.h"

static void say_running(struct qz_finding *f, const struct qz_report *r,
			const struct qz_lock_gain *gain)
{
	qz_finding__say(f, &f->what,
			"Threads queue for %s %.0f%% of the time, while its holders run.", f->shown,
			qz_finding__percent(r, gain->row->cost.queued_ns));
}

static void say_blocked(struct qz_finding *f, const struct qz_report *r,
			const struct qz_lock_gain *gain)
{
	qz_finding__say(f, &f->what,
			"Threads queue for %s %.0f%% of the time; its holders are blocked for "
			"something else %.0f%%.",
			f->shown, qz_finding__percent(r, gain->row->cost.queued_ns),
			qz_finding__percent(r, gain->row->cost.held_blocked_ns));
}

static const struct qz_lock_rule running = {
	.name = "contention",
	.kind = QZ_LOCK_PROGRAM,
	.blocked = false,
	.remedy = "hold it for less time, give each part of the data a lock of its own, or each "
		  "thread its own copy",
	.say = say_running,
};

static const struct qz_lock_rule blocked = {
	.name = "lock-io",
	.kind = QZ_LOCK_PROGRAM,
	.blocked = true,
	.remedy = "do input, output and sleep after the lock is released, or give them to a thread "
		  "of their own",
	.say = say_blocked,
};

int qz_rule__contention(const struct qz_report *r, struct qz_advice *a)
{
	return qz_lock_finding__add(r, a, &running);
}

int qz_rule__blocking_holder(const struct qz_report *r, struct qz_advice *a)
{
	return qz_lock_finding__add(r, a, &blocked);
}
