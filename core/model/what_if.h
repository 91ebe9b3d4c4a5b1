/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long a run would have been if a procedure or an object took no time, or less: see
 * core/replay/what_if.h. Only of scopes that ended.
 */
#ifndef QUARTZ_CORE_WHAT_IF_H
#define QUARTZ_CORE_WHAT_IF_H

#include "core/model/profile.h"

#define QZ_WHAT_IF_SPEEDS 3 /* all of its time goes, half of it, a quarter */

enum qz_what_if_kind {
	QZ_WHAT_IF_UNKNOWN, /* the name was not found */
	QZ_WHAT_IF_PROCEDURE,
	QZ_WHAT_IF_OBJECT,
	QZ_WHAT_IF_KINDS,
};

/* One candidate in one scope. */
struct qz_what_if {
	uint32_t scope;
	uint32_t kind; /* enum qz_what_if_kind */
	char *name;    /* as the user wrote it; of an object, possibly with its kind before it */
	uint64_t run_ns
		[QZ_WHAT_IF_SPEEDS]; /* how long the run would have been, on as many processors */
	uint64_t low_ns[QZ_WHAT_IF_SPEEDS],
		high_ns[QZ_WHAT_IF_SPEEDS];  /* bounds of run_ns; 0: not known */
	uint64_t most_ns[QZ_WHAT_IF_SPEEDS]; /* the longest running time of one thread */
	uint64_t work_ns; /* processor time of the procedure, from the samples at that time */
	/* of the scope: */
	uint64_t
		kept_ns; /* blocked until something other than a thread of the scope ended the wait */
	uint64_t freed_ns;    /* blocked until a thread of the scope ended the wait */
	uint64_t spinning_ns; /* in loops that wait */
};

/* Adds a copy. 0, -EINVAL: no such scope or kind, -E2BIG, -ENOMEM. */
int qz_what_ifs__add(struct qz_profile *p, const struct qz_what_if *w);

/* Whether `name` stands for the procedure, or for the object: with its kind before it, or without. */
bool qz_what_if__is_object(const char *name, const struct qz_object *o);

#endif
