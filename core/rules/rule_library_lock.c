/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads queue for a lock of a library or a runtime: the allocator's, a stdio stream's, the interpreter's. */
#include "core/locks/lock_finding.h"

static void say_allocator(struct qz_finding *f, const struct qz_report *r,
			  const struct qz_lock_gain *gain)
{
	qz_finding__say(f, &f->what, "Threads queue for %s in malloc and free %.0f%% of the time.",
			f->shown, qz_finding__percent(r, gain->row->cost.queued_ns));
}

static void say_stdio(struct qz_finding *f, const struct qz_report *r,
		      const struct qz_lock_gain *gain)
{
	qz_finding__say(f, &f->what, "Threads queue for %s %.0f%% of the time.", f->shown,
			qz_finding__percent(r, gain->row->cost.queued_ns));
}

static void say_interpreter(struct qz_finding *f, const struct qz_report *r,
			    const struct qz_lock_gain *gain)
{
	qz_finding__say(f, &f->what,
			"Threads queue for %s %.0f%% of the time: only one of them can run.",
			f->shown, qz_finding__percent(r, gain->row->cost.queued_ns));
}

static const struct qz_lock_rule allocator = {
	.name = "allocator",
	.kind = QZ_LOCK_ALLOCATOR,
	.remedy = "let threads have arenas of their own (MALLOC_ARENA_MAX, M_ARENA_MAX), link "
		  "jemalloc or tcmalloc, or keep blocks for reuse",
	.say = say_allocator,
};

static const struct qz_lock_rule stdio = {
	.name = "stdio",
	.kind = QZ_LOCK_STDIO,
	.remedy = "format into a buffer of each thread and write that at once, or use "
		  "putc_unlocked and a file per thread",
	.say = say_stdio,
};

static const struct qz_lock_rule interpreter = {
	.name = "interpreter",
	.kind = QZ_LOCK_INTERPRETER,
	.remedy = "use processes (multiprocessing, concurrent.futures), or code that lets go of "
		  "the lock",
	.say = say_interpreter,
};

int qz_rule__allocator(const struct qz_report *r, struct qz_advice *a)
{
	return qz_lock_finding__add(r, a, &allocator);
}

int qz_rule__stdio(const struct qz_report *r, struct qz_advice *a)
{
	return qz_lock_finding__add(r, a, &stdio);
}

int qz_rule__interpreter(const struct qz_report *r, struct qz_advice *a)
{
	return qz_lock_finding__add(r, a, &interpreter);
}
