/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The scopes of the engine in the profile: which is which, what each is called, and its exact figures.
 *
 * One thread at a time. Functions give 0 or -errno.
 */
#ifndef QUARTZ_DAEMON_SCOPES_H
#define QUARTZ_DAEMON_SCOPES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/merge.h"
#include "core/profile.h"
#include "daemon/engine.h"
#include "daemon/images.h"
#include "daemon/threads.h"
#include "daemon/waits.h"

struct scopes;

/* Borrows both. NULL with errno ENOMEM. */
struct scopes *scopes__new(struct engine *engine, struct qz_profile *profile);
void scopes__free(struct scopes *s);

/* Tells what a scope of the engine is. Gives its index in the profile or -errno. */
int64_t scopes__add(struct scopes *s, uint32_t scope, enum qz_scope_kind kind, int pid,
		    const char *comm, const char *command);

/* Its index in the profile, QZ_NONE: it is not known. Any number may be asked for. */
uint32_t scopes__index(const struct scopes *s, uint32_t scope);

/* The index of the machine's, QZ_NONE: there is none. */
uint32_t scopes__machine(const struct scopes *s);

/* Of one that is not known: a process. */
enum qz_scope_kind scopes__kind(const struct scopes *s, uint32_t scope);

/*
 * A process is called as the program that it executed last, and is where it was then; until it has
 * executed one, it is what its parent is, whose image may be NULL.
 */
void scopes__describe(struct scopes *s, const struct qz_process_event *e,
		      const struct image *parent);

/* How a scope stands. False: it is not known. */
bool scopes__read(struct scopes *s, uint32_t scope, struct qz_scope_state *state);

/*
 * One that has ended for good: its figures are part of the profile and its number means nothing any
 * more. Gives its index.
 */
uint32_t scopes__retire(struct scopes *s, uint32_t scope, struct waits *waits);

/* Whether one of the profile still has a number of the engine. */
bool scopes__has_number(const struct scopes *s, uint32_t index);

/* Whether one of a profile stands for many that have ended. */
bool scopes__is_other(const struct qz_scope *scope);

/* Scopes of the profile were folded (core/merge.h). */
void scopes__folded(struct scopes *s, const struct qz_maps *maps);

/* Threads of all of them that have not ended; whether all have. */
uint64_t scopes__alive(struct scopes *s);
bool scopes__ended(struct scopes *s);

/*
 * Brings all up to date: between the two calls, the figures of living threads are added up in what
 * scopes__living gives.
 */
void scopes__begin_refresh(struct scopes *s);
struct living *scopes__living(struct scopes *s, uint32_t scope);
void scopes__refresh(struct scopes *s, struct waits *waits, uint64_t until);

#endif
