/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes that ended within a second, having had one thread: their figures are kept by group, not by process; a group has
 * the processes of one program in one control group. One thread at a time.
 */
#ifndef QUARTZ_DAEMON_LIVE_GROUPS_H
#define QUARTZ_DAEMON_LIVE_GROUPS_H

#include "core/replay/replay.h"
#include "daemon/kernel/bpf_scopes.h"

struct live_groups;

/* Borrows it. NULL: no memory. */
struct live_groups *live_groups__new(struct bpf_runtime *bpf);
void live_groups__free(struct live_groups *g);

/* A process that is known is in a control group: groups there are named by it. */
void live_groups__know(struct live_groups *g, uint64_t unit, uint32_t image);

/* Where the waits of a process are that was put into a group: its scope, and in the place of a thread's its serial. */
struct live_group_place {
	uint32_t scope, serial;
};

/* The group of a process with one thread, which is made if there is none. -ENOMEM or -ENOSPC: there is none then, which is counted. */
int live_groups__find(struct live_groups *g, const struct replay_scope *scope,
		      const struct replay_thread *thread, struct live_group_place *place);

/* Adds what a process did, all by one thread, to the group that was found for it. 0 or -ENOMEM. */
int live_groups__add(struct live_groups *g, const struct live_group_place *place,
		     const struct replay_scope *scope, const struct replay_thread *thread);

/* Each group that was made since the last time. */
void live_groups__take(struct live_groups *g,
		       void (*call)(void *context, const struct qz_group_event *e), void *context);

#endif
