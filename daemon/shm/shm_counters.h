/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What page sets have besides stacks: names of threads, exact numbers of calls between procedures,
 * and what the programs had no room for. Also ends page sets, after their last
 * figures were read.
 *
 * Main thread only.
 */
#ifndef QUARTZ_DAEMON_SHM_COUNTERS_H
#define QUARTZ_DAEMON_SHM_COUNTERS_H

#include "daemon/attribution/threads.h"
#include "core/model/profile.h"
#include "daemon/kernel/bpf_runtime.h"
#include "daemon/attribution/shm_sets.h"
#include "daemon/attribution/instrumented_stacks.h"

struct shm_counters;

/* All borrowed. NULL with errno ENOMEM. */
struct shm_counters *shm_counters__new(struct shm_sets *sets, struct bpf_runtime *bpf,
				       const struct stack_context *context);
void shm_counters__free(struct shm_counters *counters);

/* Brings the numbers of calls in the profile up to date. */
void shm_counters__refresh(struct shm_counters *counters);

/* To be called after each drain of samples: frees what no sample can refer to any more. */
void shm_counters__drained(struct shm_counters *counters);

/* Adds events to the ledger: overflows of profile stacks, and what found no room. */
void shm_counters__ledger(struct shm_counters *counters, struct qz_ledger *ledger);

/*
 * The name that a thread gave itself, or an empty one. False when it has no slot, or the slot is
 * another thread's by now.
 */
bool shm_counters__thread_name(struct shm_counters *counters, const struct thread *thread,
			       uint32_t image, char name[QZ_THREAD_NAME_LENGTH]);

#endif
