/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The threads of all scopes, by serial number: the row of the profile of each, and the node below which its stacks are.
 */
#ifndef QUARTZ_DAEMON_THREADS_H
#define QUARTZ_DAEMON_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/model/profile.h"
#include "quartz/records.h"

/* Rows per scope; ended threads beyond share one row per command name. */
#define THREAD_ROWS 10000

struct threads;

/* Times of a thread, as of struct qz_thread. */
struct thread_times {
	uint64_t cpu, running, ready, blocked, unknown;
	struct qz_loop loop;
	struct qz_transfers transfers;
};

struct thread {
	uint32_t serial;
	uint32_t row;  /* in the profile, QZ_NONE before it is described */
	uint32_t node; /* of its creation; stacks hang below */
	uint32_t
		outermost; /* location of its first procedure, if the profile stack does not have it */
	bool placed;	   /* node is known */
	bool kept;	   /* by the collector, as it stood when the clock stopped */
	uint32_t page, slot,
		claims; /* of its process' page set, as in struct qz_thread_state; slot 0: none */
	uint32_t ended; /* at which drain, from 1; 0: it has not */
	uint64_t loop;	/* that it was in in its last sample and may have waited in; 0: none */
	uint16_t loop_written;	  /* registers that this writes */
	uint16_t woken;		  /* how often, in its last sample: struct qz_sample_record */
	uint8_t asked;		  /* samples in which it asked in vain, see daemon/spin/asking.h */
	struct thread_times seen; /* when it was seen last; its row has them */
};

struct threads *threads__new(struct qz_profile *profile);
void threads__free(struct threads *t);

/* The thread of a serial number, added when it is new. NULL without memory. */
struct thread *threads__get(struct threads *t, uint32_t serial);

/*
 * Row of the profile for a thread of which only the serial number is known yet. QZ_NONE: no memory, or
 * the thread is known to be of another scope.
 */
uint32_t threads__row(struct threads *t, struct thread *thread, uint32_t scope, int pid);

/*
 * The node of a thread, and of one whose creation was not seen (found at attach, or the event was
 * lost) that of its image, which may be NULL.
 */
struct image;
uint32_t thread__node(struct thread *thread, const struct image *image);

/* How much of a thread's blocked time is from before its scope's clock began, and does not count. */
uint64_t thread__before(const struct qz_thread_event *event, uint64_t scope_began);

/* Sums over the living threads of a scope. */
struct living {
	uint64_t cpu_ns, running_ns, runnable_ns;
};

/*
 * A thread has ended, or is seen alive at a refresh: what has come since it was seen last is added to its row.
 * The figures of living ones are added to *sum.
 */
int threads__ended(struct threads *t, uint32_t scope, const struct qz_thread_event *event,
		   uint64_t scope_began);
int threads__alive(struct threads *t, uint32_t scope, const struct qz_thread_event *event,
		   uint64_t scope_began, uint64_t until, struct living *sum);

/* The row that stands for ended threads of a scope under this name. QZ_NONE: no memory. */
uint32_t threads__merged_row(struct threads *t, uint32_t scope, const char *comm);

/* Adds an ended thread to a merged row. */
void threads__join(struct threads *t, uint32_t serial, uint32_t row);

/*
 * To be called after each drain: forgets threads that ended so long ago that no more data of them can arrive.
 * Their rows stay.
 */
void threads__forget(struct threads *t);

/* The same, now, of those whose rows are vacant (core/model/fold.h), before these are used again. */
void threads__forget_vacant(struct threads *t);

#endif
