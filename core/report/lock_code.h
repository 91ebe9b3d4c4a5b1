/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The code by which threads take and release objects: from the procedure that locks or unlocks down to the
 * kernel, at the places from where threads waited for the object or woke those who did.
 */
#ifndef QUARTZ_CORE_LOCK_CODE_H
#define QUARTZ_CORE_LOCK_CODE_H

#include "core/report/report.h"

/* Calls of one lock procedure from one place. */
struct qz_lock_site {
	uint32_t caller;    /* node that called it */
	uint32_t procedure; /* that locks or unlocks */
	uint32_t object;
	uint64_t count; /* of waits and wake-ups there */
};

struct qz_lock_code {
	const struct qz_profile *profile;
	uint32_t n;
	struct qz_lock_site *sites; /* by caller, procedure, object; no two are equal */
	bool *calls;		    /* of each node: whether it is the caller of one */
};

/* All sites of the objects of a scope. 0 or -ENOMEM; free in either case. */
int qz_lock_code__find(struct qz_lock_code *code, const struct qz_report *r);
void qz_lock_code__free(struct qz_lock_code *code);

/*
 * The first of the sites that the code of a stack is at, and how many there are, of different objects; NULL: it is
 * no such code.
 */
const struct qz_lock_site *qz_lock_code__at(const struct qz_lock_code *code, uint32_t node,
					    uint32_t *n);

/* Whether the procedure is one of those that threads libraries wait and wake with. */
bool qz_lock_code__is(const struct qz_procedure *procedure);

#endif
