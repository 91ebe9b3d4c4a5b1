/* SPDX-License-Identifier: GPL-2.0-only */
/* Scopes: whose threads the BPF programs find, and their exact times. Conventions as in bpf_runtime.h. */
#ifndef QUARTZ_DAEMON_BPF_SCOPES_H
#define QUARTZ_DAEMON_BPF_SCOPES_H

#include "daemon/kernel/bpf_runtime.h"

/*
 * Opens a scope for a process, and for its descendants when `follows`; its clock starts
 * when its first thread is found. Gives its number or -ENOSPC.
 */
int bpf_scopes__open(struct bpf_runtime *bpf, int pid, bool follows);

/*
 * Finds and settles the threads of all open scopes (bpf/attach.bpf.h). To be called once. -ESRCH: there
 * are none of one.
 */
int bpf_scopes__adopt(struct bpf_runtime *bpf);

/*
 * Starts the clock of a scope anew. Only while none of its threads is running: for a command that
 * waits to be let go.
 */
void bpf_scopes__restart(struct bpf_runtime *bpf, uint32_t scope);

/* Whether the number is for another process to have. */
bool bpf_scopes__is_free(const struct bpf_runtime *bpf, uint32_t scope);

/* The next one from `from` on of those that bpf_scopes__ended() may be said of; the number of scopes: none. */
uint32_t bpf_scopes__next_ended(const struct bpf_runtime *bpf, uint32_t from);

/* Whether all threads of a scope have ended and the last one has left its processor. */
bool bpf_scopes__ended(const struct bpf_runtime *bpf, uint32_t scope);

/* Whether a scope that was there at a time has threads. Any thread may ask. */
bool bpf_scopes__lives(const struct bpf_runtime *bpf, uint32_t scope, uint64_t since);

/* The pid of the process of a scope, for when nothing else is known of it. */
int bpf_scopes__pid(const struct bpf_runtime *bpf, uint32_t scope);

/* Gives a scope number back whose figures were read. every_process only. */
int bpf_scopes__recycle(struct bpf_runtime *bpf, uint32_t scope);

/*
 * Young processes, see bpf/group.bpf.h. What a scope is now; whether it is grown, having been young or not; and of one
 * that is folded, the scope of its group. Any thread may ask.
 */
enum qz_youth bpf_scopes__youth(const struct bpf_runtime *bpf, uint32_t scope);
bool bpf_scopes__grow(struct bpf_runtime *bpf, uint32_t scope);
uint32_t bpf_scopes__group(const struct bpf_runtime *bpf, uint32_t scope);

/* Makes a young process grown, and has it reported. Any thread may ask. */
int bpf_scopes__report_threads(struct bpf_runtime *bpf, uint32_t scope, int pid);

/*
 * Processes whose forks were passed (bpf/passed.bpf.h), all, or with a pid that one, are followed from now on. Any thread
 * may ask. 0 or -errno.
 */
int bpf_scopes__follow_passed(struct bpf_runtime *bpf, int pid);

/* As that, of all, by one thread. False: there were not enough scopes. */
bool bpf_scopes__follow_all_passed(struct bpf_runtime *bpf);

/* How many forks were passed. */
uint64_t bpf_scopes__forks_passed(const struct bpf_runtime *bpf);

/* Closes a group: no more processes are added. Soon it is a scope that has ended. */
void bpf_scopes__end_group(struct bpf_runtime *bpf, uint32_t scope, const struct qz_group_key *key);

/* What the dump of threads is given to. */
typedef void bpf_scopes_thread(void *context, const struct qz_thread_event *thread);

/* Calls `call` for each thread that is followed and lives. */
int bpf_scopes__dump(struct bpf_runtime *bpf, uint64_t until, bpf_scopes_thread *call,
		     void *context);

/* What a scope has, see enum qz_share. */
void bpf_scopes__set_share(struct bpf_runtime *bpf, uint32_t scope, enum qz_share what, uint32_t n);

/* Adds to its counter of that name: the BPF programs do not know rounds. */
void bpf_scopes__add_spin_turns(struct bpf_runtime *bpf, uint32_t scope, uint64_t n);

/* A copy of a scope and its exact level times up to `until`; levels has level_stride entries. */
void bpf_scopes__read(const struct bpf_runtime *bpf, uint32_t scope, uint64_t until,
		      struct qz_scope_state *state, uint64_t *level_ns);

/* Adds to the first n levels of a scope what was not counted. */
void bpf_scopes__add_levels(struct bpf_runtime *bpf, uint32_t scope, const uint64_t *add,
			    uint32_t n);

/*
 * How many threads of a scope run at this moment (QZ_LEVEL_MASK) and since when, as the BPF programs keep it: the
 * same twice means that it was so in between. Any thread may ask.
 */
uint64_t bpf_scopes__running(const struct bpf_runtime *bpf, uint32_t scope);

#endif
