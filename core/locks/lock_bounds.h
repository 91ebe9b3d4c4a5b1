/* SPDX-License-Identifier: GPL-2.0-only */
/* What a program would gain if no thread had to wait for a lock: doc/advice.md derives the bounds. */
#ifndef QUARTZ_CORE_LOCK_BOUNDS_H
#define QUARTZ_CORE_LOCK_BOUNDS_H

#include "core/advise/bounds.h"

struct qz_lock_gain {
	const struct qz_object_row *row;
	struct qz_bounds running; /* without the queue and the code of the lock */
	struct qz_bounds blocked; /* when its holders do not block for anything else, too */
	double queue;		  /* mean number of waiters while there are any */
};

/* 0 or -ENOMEM. */
int qz_lock_bounds__find(const struct qz_report *r, const struct qz_object_row *row,
			 struct qz_lock_gain *gain);

#endif
