/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads of an interpreter run one after another: each needs its lock. */
#include "core/locks/lock_finding.h"

static void say(struct qz_finding *f, const struct qz_report *r, const struct qz_lock_gain *gain)
{
	qz_finding__say(f, &f->what,
			"Threads queue for %s %.0f%% of the time: only one of them can run.",
			f->shown, qz_finding__percent(r, gain->row->cost.queued_ns));
}

static const struct qz_lock_rule rule = {
	.name = "interpreter",
	.kind = QZ_LOCK_INTERPRETER,
	.blocked = false,
	.remedy = "use processes (multiprocessing, concurrent.futures), or code that lets go of "
		  "the lock",
	.say = say,
};

int qz_rule__interpreter(const struct qz_report *r, struct qz_advice *a)
{
	return qz_lock_finding__add(r, a, &rule);
}
