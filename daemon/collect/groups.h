/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes that ended within a second, as daemon/log/live_groups.h puts them together. A group is a scope of the profile
 * without a PID. A process may be reported because it was sampled or waited. At first it is not known whether it is a scope
 * of its own or one of a group: this is decided at the next drain, before its samples and waits become part of the profile.
 */
#ifndef QUARTZ_DAEMON_GROUPS_H
#define QUARTZ_DAEMON_GROUPS_H

#include "daemon/attribution/threads.h"
#include "daemon/collect/scopes.h"
#include "daemon/target/address_spaces.h"

struct groups;

struct groups_context {
	struct bpf_runtime *bpf;
	struct qz_profile *profile;
	struct scopes *scopes;
	struct threads *threads;
	struct address_spaces *spaces;
};

/* All borrowed. NULL with errno ENOMEM. */
struct groups *groups__new(const struct groups_context *context);
void groups__free(struct groups *g);

/* There is a new group. */
void groups__add(struct groups *g, const struct qz_group_event *e);

/* A process was reported. False: it is a scope of its own. Otherwise the report is kept until groups__decide(). */
bool groups__keep(struct groups *g, const struct qz_process_event *e);

/* Decides all reports that are kept. To be called before each drain is added to the profile. */
void groups__decide(struct groups *g);

/* Brings the rows of threads of all groups up to date; groups that nothing was added to for long end. */
void groups__refresh(struct groups *g, uint64_t until);

#endif
