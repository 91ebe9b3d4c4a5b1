/* SPDX-License-Identifier: GPL-2.0-only */
/* Languages with a runtime of their own, and their remedies for findings: one table, in languages.c. */
#ifndef QUARTZ_CORE_LANGUAGES_H
#define QUARTZ_CORE_LANGUAGES_H

#include "core/report/report.h"

/* NULL: nothing of its own. */
struct qz_language {
	const char *divide; /* how to divide work */
	const char *loop;   /* how to take work from a thread that waits for events */
	const char *
		lock; /* name of the lock that lets one thread run at a time, if no procedure on the stacks names it */
	const char *unlock; /* remedy for that */
	/* Of an interpreter whose procedures have no names here: what texts call the code that it runs, */
	const char *code;
	const char *loops
		[5]; /* its own procedures that run it: there, any without a name may be one, too */
	const char *nameless; /* and a remark about the names */
};

/*
 * The word for a procedure in texts: its name, or, for the loop of an interpreter whose procedures have no names, "Ruby code".
 * Static, or borrowed from the procedure.
 */
const char *qz_language__call(const struct qz_procedure *procedure);

/*
 * How a procedure is related to methods without names, if most of its time is with them: it interprets them, is called by
 * one, or, as part of the runtime, runs them. NULL: not related. Static.
 */
const char *qz_language__among_nameless(const struct qz_report *r, uint32_t procedure);

/* The language in whose files this procedure's code is, or NULL: none of these. Constant. */
const struct qz_language *qz_language__of(const struct qz_procedure *procedure);

#endif
