/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The last string of a snapshot, quartz.meta/v1: what pprof has no place for, as JSON.
 */
#ifndef QUARTZ_CORE_PPROF_META_H
#define QUARTZ_CORE_PPROF_META_H

#include <jansson.h>

#include "core/profile.h"

/* The text for p, to be freed. NULL: ENOMEM. */
char *qz_meta__write(const struct qz_profile *p);

/* Tells whether a string claims to be such a text, of whatever version. */
bool qz_meta__is_ours(const char *text);

/* Parses a text. NULL with errno EBADMSG, ENOTSUP (another version), EFBIG, ENOMEM. */
json_t *qz_meta__parse(const char *text);

/* Adds run, ledger, scopes, threads, causes and objects to a new profile. -EBADMSG, -EFBIG, -ENOMEM. */
int qz_meta__fill(const json_t *meta, struct qz_profile *p);

/*
 * What pprof does not tell of the procedure with this index: kind, and module, a text to be freed.
 * -EBADMSG, -ENOMEM.
 */
int qz_meta__procedure(const json_t *meta, size_t index, struct qz_procedure *proc);

/* Adds the numbers of calls, once the procedures are there. -EBADMSG, -EFBIG, -ENOMEM. */
int qz_meta__calls(const json_t *meta, struct qz_profile *p);

#endif
