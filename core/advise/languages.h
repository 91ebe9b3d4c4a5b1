/* SPDX-License-Identifier: GPL-2.0-only */
/* Languages with a runtime of their own, and what their programs do about a finding: one table, in languages.c. */
#ifndef QUARTZ_CORE_LANGUAGES_H
#define QUARTZ_CORE_LANGUAGES_H

#include "core/report/report.h"

/* NULL: nothing of its own. */
struct qz_language {
	const char *divide; /* how to divide work */
	const char *loop;   /* how a thread that waits for events gets rid of work */
	const char
		*lock; /* whose threads run one at a time, where nothing on their stacks names it */
	const char *unlock; /* what is done about that */
};

/*
 * What a text calls a procedure: by its name, but the code of an interpreter, whose methods have no names, "Ruby code". Constant, or of
 * the procedure.
 */
const char *qz_language__call(const struct qz_procedure *procedure);

/*
 * Where a procedure is among methods without names, if most of its time is theirs: it interprets them, is called by one, or, of the
 * runtime itself, runs them. NULL: nothing. Constant.
 */
const char *qz_language__among_nameless(const struct qz_report *r, uint32_t procedure);

/* The language in whose files this procedure's code is, or NULL: none of these. Constant. */
const struct qz_language *qz_language__of(const struct qz_procedure *procedure);

#endif
