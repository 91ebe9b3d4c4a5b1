/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of the collector share; collector.h is for others. Every int is 0 or -errno. */
#ifndef QUARTZ_DAEMON_COLLECTOR_STATE_H
#define QUARTZ_DAEMON_COLLECTOR_STATE_H

#include "daemon/collect/collector.h"
#include "daemon/collect/outside.h"
#include "daemon/attribution/stacks.h"
#include "daemon/kernel/bpf_runtime.h"
#include "daemon/kernel/perf_sampler.h"

struct collector {
	struct bpf_runtime *bpf;
	struct perf_sampler *sampler;
	struct symbolizer *symbolizer;
	struct modules *modules;
	struct address_spaces *spaces;
	struct address_cache *addresses;
	struct python_codes *python;
	struct spawn_stacks *spawn;
	struct threads *threads;
	struct object_naming_context *names;
	struct wait_drain *waits;
	struct map_quota *quota;
	struct shm_counters *counters; /* NULL: no page sets are in use */
	struct shm_polling *polling;   /* NULL: nor is a poller */
	struct rounds *rounds;	       /* NULL: nor are instants taken */
	struct live *live;	       /* NULL: BPF programs work out what threads do */
	struct candidates *candidates; /* NULL: without --what-if */
	struct spin_classify *classes;
	struct spin_tracker *tracker;
	struct asking *asking;
	struct stack_context stacks;
	struct qz_profile *profile;
	struct scopes *scopes;
	struct groups *groups;
	struct allowances *allowances;
	struct outside outside; /* where not every process is a scope */

	struct event_reader *reader;
	struct unwind_worker *worker; /* of unwind tables, in a thread of its own */
	struct reorder_buffer *reorder;
	uint64_t complete, processed; /* what was reported by then is in `reports`, was processed */
	uint64_t behind;	      /* from the latter to where the last tick should have come */
	uint64_t hurry;		      /* when others have waited for long enough; 0: none waits */
	struct sample_rounds *sampled;
	struct line_samples *lines;
	struct scope_gc *gc;   /* NULL: not every process is a scope */
	struct shm_sets *sets; /* NULL: none are in use */
	void (*before_fold)(void *context);
	void (*after_fold)(void *context);
	void *fold_context;

	struct bpf_runtime_buffer buffer;
	bool buffer_waits, buffer_ages; /* the latter: see wait_drain__take */
	uint64_t swapped;		/* when the buffer that waits was taken */
	uint64_t aged; /* when one was taken that counts for what is left unused for some drains */
	uint64_t due;  /* see collector__drain_at; 0: within SWAP_PERIOD */
	bool drained;  /* since that was asked for */
	/* Of the rates: of the buffer that waits, of that in which is sampled, and to be. */
	uint32_t halvings_drained, halvings, halvings_wanted;
	struct timer_schedule schedule_drained; /* of the buffer that waits */
	struct joined_sample *joined;		/* of that buffer, of sample_rounds.h */
	int64_t njoined;

	/* Samples that the kernel side has accepted, and that are lost since. */
	uint64_t not_stored; /* their stack had no room */
	uint64_t misplaced;  /* they cannot be right: of two processes, or of an impossible level */
	uint64_t unplaced;   /* nothing is known of their process, or there was no memory */
	uint64_t refreshed;  /* the `until` of a refresh in progress */

	bool frozen;
};

/* ---- collector_events.c ---- */

/* With --system, a thread may be seen before its process was reported. */
void collector__know_scope(struct collector *c, const struct qz_thread_event *e);

/* Reports of the BPF programs about processes and threads, in order of time. */
void collector__process_event(struct collector *c, const struct qz_event *e);

/* Which processors it may use; one that has ended, those of its process at last. */
void collector__allow_thread(struct collector *c, const struct qz_thread_event *e, bool lives);

/* A thread has ended. */
void collector__end_thread(struct collector *c, const struct qz_thread_event *e);

/* By the name that it has given itself, if any. */
void collector__name_thread(struct collector *c, const struct qz_thread_event *e);

/* ---- collector_log.c ---- */

/* Takes in the log, up to now. */
int collector__follow_log(struct collector *c);

/* Threads that have ended by then, and the code of scopes. */
void collector__take_ended(struct collector *c, uint64_t until);

/* After the tables were taken out: waits and wake-ups since the last time. */
void collector__take_waits(struct collector *c);

/* During a refresh: waits that are not yet part of the profile. */
void collector__open_waits(struct collector *c);

/* ---- sample_drain.c ---- */

/* Takes all out of the buffer of the sampler that waits. */
int collector__drain_buffer(struct collector *c);

#endif
