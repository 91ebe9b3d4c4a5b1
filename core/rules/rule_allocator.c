/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads share one arena of the memory allocator. */
#include "core/locks/lock_finding.h"

static void say(struct qz_finding *f, const struct qz_report *r, const struct qz_lock_gain *gain)
{
	qz_finding__say(f, &f->what, "Threads queue for %s in malloc and free %.0f%% of the time.",
			f->shown, qz_finding__percent(r, gain->row->cost.queued_ns));
}

static const struct qz_lock_rule rule = {
	.name = "allocator",
	.kind = QZ_LOCK_ALLOCATOR,
	.blocked = false,
	.remedy = "let threads have arenas of their own (MALLOC_ARENA_MAX, M_ARENA_MAX), link "
		  "jemalloc or tcmalloc, or keep blocks for reuse",
	.say = say,
};

int qz_rule__allocator(const struct qz_report *r, struct qz_advice *a)
{
	return qz_lock_finding__add(r, a, &rule);
}
