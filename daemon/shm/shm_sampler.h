/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sampler that does not interrupt (Quartz 1990, 3.3): threads of quartzd on processors of their
 * own read which thread runs where, how many processors are busy, and the profile stacks that the running
 * threads keep in their page sets. They write nothing that an application reads, and take no lock.
 *
 * Each poller takes its share of the processors; a round reads each of them once.
 */
#ifndef QUARTZ_DAEMON_SHM_SAMPLER_H
#define QUARTZ_DAEMON_SHM_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/kernel/bpf_runtime.h"
#include "daemon/shm/event_log.h"
#include "daemon/attribution/shm_sets.h"
#include "daemon/shm/poll_table.h"

#define MAX_POLL_CPUS 16

struct shm_sampler_options {
	uint32_t ncpus;
	int cpus[MAX_POLL_CPUS]; /* one poller on each; none: one that runs where it may */
	uint32_t rate;		 /* rounds per second */
	bool busy;		 /* rounds without a pause instead */
};

struct shm_sampler;

/* Borrows bpf and the page sets. NULL with errno. The threads run from the first page set on. */
struct shm_sampler *shm_sampler__new(const struct shm_sampler_options *options,
				     struct bpf_runtime *bpf, struct shm_sets *sets,
				     struct event_log *events);

/* Stops the threads; what they counted can be read. Idempotent. */
void shm_sampler__stop(struct shm_sampler *p);
void shm_sampler__free(struct shm_sampler *p);

/*
 * Turns to the other buffers; then shm_sampler__each gives what was counted before, any number of times,
 * until shm_sampler__clear forgets it, which must come before the next swap.
 */
typedef void poller_call(void *context, const struct poll_sample *sample, const uint32_t *ids);
void shm_sampler__swap_buffers(struct shm_sampler *p);
void shm_sampler__each(struct shm_sampler *p, poller_call *call, void *context);
void shm_sampler__clear(struct shm_sampler *p);

struct shm_sampler_figures {
	uint64_t rounds;  /* of all pollers */
	uint64_t slots;	  /* copied */
	uint64_t samples; /* counted */
	uint64_t lost;	  /* no room */
	uint64_t invalid; /* slots not according to the contract */
	uint64_t torn;	  /* the thread left its processor during the copy */
	uint64_t late;	  /* rounds due that were left out: the poller did not get its processor */
	bool real_time;	  /* all of them have real-time priority */
};

void shm_sampler__figures(const struct shm_sampler *p, struct shm_sampler_figures *figures);

#endif
