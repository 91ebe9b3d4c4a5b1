/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The last string of a snapshot, quartz.meta/v1: data that pprof cannot hold, as JSON, which all versions of Quartz read. A
 * protobuf message would have a third of the size and take a tenth of the time (for 32,000 threads, objects and scopes 12
 * ms to write instead of 110, of 700 for the whole file), but would describe each struct a second time, and the JSON reader
 * would still be needed.
 */
#ifndef QUARTZ_CORE_SNAPSHOT_META_H
#define QUARTZ_CORE_SNAPSHOT_META_H

#include <jansson.h>

#include "core/model/profile.h"

/* The text for p, to be freed. NULL: ENOMEM. */
char *qz_snapshot_meta__write(const struct qz_profile *p);

/* Whether a string claims to be such a text, of any version. */
bool qz_snapshot_meta__is_ours(const char *text);

/* Parses a text. NULL with errno EBADMSG, ENOTSUP (another version), EFBIG, ENOMEM. */
json_t *qz_snapshot_meta__parse(const char *text);

/* Adds run, ledger, scopes, threads, causes and objects to a new profile. -EBADMSG, -EFBIG, -ENOMEM. */
int qz_snapshot_meta__fill(const json_t *meta, struct qz_profile *p);

/*
 * Sets kind and module, a text to be freed, of the procedure with this index. 0, -EBADMSG or -ENOMEM.
 */
int qz_snapshot_meta__procedure(const json_t *meta, size_t index, struct qz_procedure *proc);

/* The number of procedures for which it has these. */
size_t qz_snapshot_meta__procedures(const json_t *meta);

/* The procedure of the part with this index. -EBADMSG. */
int qz_snapshot_meta__part(const json_t *meta, size_t index, struct qz_procedure_part *part);

/* Adds the numbers of calls, once the procedures are there. -EBADMSG, -EFBIG, -ENOMEM. */
int qz_snapshot_meta__calls(const json_t *meta, struct qz_profile *p);

#endif
