/* SPDX-License-Identifier: GPL-2.0-only */
/* What a lock protects, by its name and the code around it: each kind has a remedy, and a rule. */
#ifndef QUARTZ_CORE_LOCK_KIND_H
#define QUARTZ_CORE_LOCK_KIND_H

#include "core/report/report.h"

enum qz_lock_kind {
	QZ_LOCK_NONE, /* not an object that can be held */
	QZ_LOCK_PROGRAM,
	QZ_LOCK_ALLOCATOR,
	QZ_LOCK_INTERPRETER,
	QZ_LOCK_STDIO,
};

/* The procedure from which most of the waits for an object came: the innermost one that is not code of locks, or QZ_NONE. */
uint32_t qz_lock_kind__locker(const struct qz_report *r, uint32_t object);

/* Whether a procedure has a name of code of the C library's allocator. */
bool qz_lock_kind__is_allocator(const struct qz_profile *p, uint32_t procedure);

/* The remedy for a lock of the kernel, by its name; NULL: as for any other lock. Static. */
const char *qz_lock_kind__remedy(const struct qz_object *o);

enum qz_lock_kind qz_lock_kind__of(const struct qz_report *r, uint32_t object);

#endif
