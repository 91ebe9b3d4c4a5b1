/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The scopes of BPF in the profile: their indices, names and exact figures.
 *
 * One thread at a time. Functions give 0 or -errno.
 */
#ifndef QUARTZ_DAEMON_SCOPES_H
#define QUARTZ_DAEMON_SCOPES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/model/profile.h"
#include "daemon/kernel/bpf_runtime.h"
#include "daemon/target/address_spaces.h"
#include "daemon/attribution/threads.h"
#include "daemon/collect/allowances.h"
#include "daemon/waits/wait_drain.h"

struct scopes;

/* Borrows all. NULL with errno ENOMEM. */
struct scopes *scopes__new(struct bpf_runtime *bpf, struct qz_profile *profile,
			   struct allowances *allowances);
void scopes__free(struct scopes *s);

/* Adds a scope of BPF to the profile. Returns its index there, or -errno. */
int64_t scopes__add(struct scopes *s, uint32_t scope, enum qz_scope_kind kind, int pid,
		    const char *comm, const char *command);

/* A scope in BPF that is folded: its samples and waits belong to its group, another scope, which must be known. */
void scopes__join(struct scopes *s, uint32_t scope, uint32_t group);

/* Its index in the profile, QZ_NONE: it is not known. Any number may be asked for. */
uint32_t scopes__index(const struct scopes *s, uint32_t scope);

/* All of these, by number in BPF. */
const uint32_t *scopes__rows(const struct scopes *s);

/* The index of the machine's, QZ_NONE: there is none. */
uint32_t scopes__machine(const struct scopes *s);

/* What kind a scope is; a process where it is not known. */
enum qz_scope_kind scopes__kind(const struct scopes *s, uint32_t scope);

/*
 * Names a process: it has the name and control group of the program that it executed last. If it has
 * not executed any, it has those of its parent. The same holds for the processors that it may use. Each image may be NULL.
 */
void scopes__describe(struct scopes *s, const struct qz_process_event *e, struct image *image,
		      const struct image *parent);

/* Names a process after its first thread, whose name prctl(2) changes without any event. */
void scopes__name(struct scopes *s, const struct qz_thread_event *e);

/* A scope's present figures in BPF. False: it is not known. */
bool scopes__read(struct scopes *s, uint32_t scope, struct qz_scope_state *state);

/*
 * Ends a scope for good: its figures become part of the profile, and its number in BPF means nothing
 * any more.
 */
void scopes__retire(struct scopes *s, uint32_t scope, struct wait_drain *waits);

/* Whether one of the profile still has a number in BPF. */
bool scopes__has_number(const struct scopes *s, uint32_t index);

/* Whether all threads of all scopes have ended. */
bool scopes__ended(struct scopes *s);

/*
 * Brings all up to date: between the two calls, the figures of living threads are added up in what
 * scopes__living gives.
 */
void scopes__begin_refresh(struct scopes *s);
struct living *scopes__living(struct scopes *s, uint32_t scope);
void scopes__refresh(struct scopes *s, struct wait_drain *waits, uint64_t until);

#endif
