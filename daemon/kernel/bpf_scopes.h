/* SPDX-License-Identifier: GPL-2.0-only */
/* Scopes: whose threads the BPF programs find, and their exact times. Conventions as in bpf_runtime.h. */
#ifndef QUARTZ_DAEMON_BPF_SCOPES_H
#define QUARTZ_DAEMON_BPF_SCOPES_H

#include "daemon/kernel/bpf_runtime.h"
#include "quartz/log.h"

/*
 * Opens a scope for a process, and for its descendants when `follows`; its clock starts
 * when its first thread is found. Returns its number or -ENOSPC.
 */
int bpf_scopes__open(struct bpf_runtime *bpf, int pid, bool follows);

/*
 * Finds the threads of all open scopes (bpf/attach.bpf.h): each gets a FOUND record and those that follow it. The log
 * has begun. To be called once. -ESRCH: there are none of one.
 */
typedef void bpf_scopes_record(void *context, const struct qz_log_record *record);
int bpf_scopes__find(struct bpf_runtime *bpf, bpf_scopes_record *call, void *context);

/* Writes FOUND records of all living threads again, after records were lost. 0 or -errno. */
int bpf_scopes__find_again(struct bpf_runtime *bpf, bpf_scopes_record *call, void *context);

/*
 * Restarts the clock of a scope. Only while none of its threads is running: for a command that waits for its start.
 */
void bpf_scopes__restart(struct bpf_runtime *bpf, uint32_t scope);

/* Where the log is replayed (daemon/log/live.h): the memory of a scope, and that it has ended. */
struct qz_scope_state *bpf_scopes__state(struct bpf_runtime *bpf, uint32_t scope);
void bpf_scopes__mark_ended(struct bpf_runtime *bpf, uint32_t scope);

/* A number for a scope that no BPF program has made; -ENOSPC. */
int bpf_scopes__take(struct bpf_runtime *bpf);

/* Whether the number is for another process to have. */
bool bpf_scopes__is_free(const struct bpf_runtime *bpf, uint32_t scope);

/* The next scope from `from` on for which bpf_scopes__ended() may be true; the number of scopes: none. */
uint32_t bpf_scopes__next_ended(const struct bpf_runtime *bpf, uint32_t from);

/* Whether all threads of a scope have ended and the last one has left its processor. */
bool bpf_scopes__ended(const struct bpf_runtime *bpf, uint32_t scope);

/* The pid of the process of a scope, if nothing else is known of it. */
int bpf_scopes__pid(const struct bpf_runtime *bpf, uint32_t scope);

/* Gives a scope number back whose figures were read. every_process only. */
int bpf_scopes__recycle(struct bpf_runtime *bpf, uint32_t scope);

/*
 * Young processes: bpf/tell.bpf.h makes them, and one that ends young is folded into a group (daemon/log/live_groups.h).
 * These return the youth of a scope; make it grown, and return whether it is; and return the scope of the group of a folded
 * one. Any thread.
 */
enum qz_youth bpf_scopes__youth(const struct bpf_runtime *bpf, uint32_t scope);
bool bpf_scopes__grow(struct bpf_runtime *bpf, uint32_t scope);
uint32_t bpf_scopes__group(const struct bpf_runtime *bpf, uint32_t scope);

/* Makes a young process folded into a group. False: it is not young. */
bool bpf_scopes__fold(struct bpf_runtime *bpf, uint32_t scope, uint32_t group);

/*
 * Makes BPF report processes that quartzd does not know (bpf/tell.bpf.h): all, or the one with this pid. Any thread. 0 or
 * -errno.
 */
int bpf_scopes__tell(struct bpf_runtime *bpf, int pid);

/* The same of all, with the records of what threads that are known have read and written. Not for several threads at a time. */
int bpf_scopes__tell_all(struct bpf_runtime *bpf, bpf_scopes_record *call, void *context);

/* Closes a group: no more processes are added. Soon it is a scope that has ended. */
void bpf_scopes__end_group(struct bpf_runtime *bpf, uint32_t scope);

/* What is called for threads. */
typedef void bpf_scopes_thread(void *context, const struct qz_thread_event *thread);

/* What a scope has, see enum qz_share. */
void bpf_scopes__set_share(struct bpf_runtime *bpf, uint32_t scope, enum qz_share what, uint32_t n);

/* Adds to its counter of that name: the BPF programs do not know rounds. */
void bpf_scopes__add_spin_turns(struct bpf_runtime *bpf, uint32_t scope, uint64_t n);

/* ---- levels: the exact time, in ns, with so many of its threads running ---- */

/* They are these n, or these n more. -ENOMEM: they are as they were. */
int bpf_scopes__set_levels(struct bpf_runtime *bpf, uint32_t scope, const uint64_t *ns, uint32_t n);
int bpf_scopes__add_levels(struct bpf_runtime *bpf, uint32_t scope, const uint64_t *ns, uint32_t n);

/* Copies them, up to `until`, to *ns, which has *n entries, and grows as qz_levels__reach() says. 0 or -ENOMEM. */
int bpf_scopes__read_levels(const struct bpf_runtime *bpf, uint32_t scope, uint64_t until,
			    uint64_t **ns, uint32_t *n);

#endif
