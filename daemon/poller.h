/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sampler that does not interrupt (Quartz 1990, 3.3): threads of quartzd on processors of their
 * own read who runs where, how many processors are busy, and the profile stacks that the running
 * threads keep in their page sets. They write nothing that an application reads, and take no lock.
 *
 * Each poller takes its share of the processors; a round looks at each of them once.
 */
#ifndef QUARTZ_DAEMON_POLLER_H
#define QUARTZ_DAEMON_POLLER_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/engine.h"
#include "daemon/event_log.h"
#include "daemon/pages.h"
#include "daemon/poll_table.h"

#define MAX_POLL_CPUS 16

struct poller_options {
	uint32_t ncpus;
	int cpus[MAX_POLL_CPUS]; /* one poller on each; none: one that runs where it may */
	uint32_t rate;		 /* rounds per second */
	bool busy;		 /* rounds without a pause instead */
};

struct poller;

/* Borrows engine and pages. NULL with errno. The threads run from the first page set on. */
struct poller *poller__new(const struct poller_options *options, struct engine *engine,
			   struct pages *pages, struct event_log *events);

/* Stops the threads; what they counted can be read. Idempotent. */
void poller__stop(struct poller *p);
void poller__free(struct poller *p);

/*
 * Turns to the other halves; then poller__each gives what was counted before, any number of times,
 * until poller__clear forgets it, which must come before the next turn.
 */
typedef void poller_call(void *context, const struct poll_sample *sample, const uint32_t *ids);
void poller__turn(struct poller *p);
void poller__each(struct poller *p, poller_call *call, void *context);
void poller__clear(struct poller *p);

struct poller_figures {
	uint64_t rounds;  /* of all pollers */
	uint64_t slots;	  /* copied */
	uint64_t samples; /* counted */
	uint64_t lost;	  /* no room */
	uint64_t invalid; /* slots not according to the contract */
	uint64_t torn;	  /* the thread left its processor during the copy */
	uint64_t late;	  /* rounds due that were left out: the poller did not get its processor */
	bool real_time;	  /* all of them have real-time priority */
};

void poller__figures(const struct poller *p, struct poller_figures *figures);

#endif
