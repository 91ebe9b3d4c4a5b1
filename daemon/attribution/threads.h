/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The threads of all scopes, by serial number. Each has a row in the profile, and a node below
 * which its stacks are.
 */
#ifndef QUARTZ_DAEMON_THREADS_H
#define QUARTZ_DAEMON_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/model/profile.h"
#include "quartz/records.h"

/* Rows per scope; beyond them, ended threads share one row per command name. */
#define THREAD_ROWS 10000

struct threads;

/* Times of a thread, as in struct qz_thread. */
struct thread_times {
	uint64_t cpu, running, ready, blocked, unknown;
	struct qz_loop loop;
	struct qz_transfers transfers;
};

#define AROUND_CALLERS 3

struct thread {
	uint32_t serial;
	uint32_t row;	    /* in the profile; QZ_NONE before it is described */
	uint32_t node;	    /* of its creation; its stacks are below */
	uint32_t outermost; /* location of its first procedure, unless the profile stack has it */
	bool placed;	    /* node is known */
	bool kept;	    /* by the collector, as it was when the clock stopped */
	uint32_t page, slot,
		claims; /* of its process's page set, as in struct qz_thread_state; slot 0: none */
	uint32_t ended; /* number of the drain at which it ended; 0: it lives */
	uint64_t loop;	/* of its last sample, in which it may have waited; 0: none */
	uint16_t loop_written; /* registers that the loop writes */
	uint16_t woken;	       /* wake-ups in its last sample: struct qz_sample_record */
	uint8_t asked;	     /* samples in which it polled for nothing, see daemon/spin/asking.h */
	uint8_t around_left; /* samples, see daemon/spin/around.h */
	uint64_t around[AROUND_CALLERS];
	struct thread_times seen; /* when it was last seen; its row has them */
};

struct threads *threads__new(struct qz_profile *profile);
void threads__free(struct threads *t);

/* The thread with a serial number, added if it is new. NULL: memory was short. */
struct thread *threads__get(struct threads *t, uint32_t serial);

/*
 * The row for a thread of which only the serial number is known yet. QZ_NONE: memory was short, or
 * the thread is known to be of another scope.
 */
uint32_t threads__row(struct threads *t, struct thread *thread, uint32_t scope, int pid);

/*
 * The node of a thread. If its creation was not seen (it is older than the profile, or the event
 * was lost), that of its image, which may be NULL.
 */
struct image;
uint32_t thread__node(struct thread *thread, const struct image *image);

/* Sums over the living threads of a scope. */
struct living {
	uint64_t cpu_ns, running_ns, runnable_ns;
};

/*
 * A thread has ended, or is alive at a refresh: adds what has come since it was last seen to its
 * row, and, for a living one, its figures to *sum.
 */
int threads__ended(struct threads *t, uint32_t scope, const struct qz_thread_event *event,
		   uint64_t scope_began);
int threads__alive(struct threads *t, uint32_t scope, const struct qz_thread_event *event,
		   uint64_t scope_began, uint64_t until, struct living *sum);

/* The row for the ended threads of a scope with this name. QZ_NONE: memory was short. */
uint32_t threads__merged_row(struct threads *t, uint32_t scope, const char *comm);

/* Adds an ended thread to a merged row. */
void threads__join(struct threads *t, uint32_t serial, uint32_t row);

/*
 * Call this after each drain. Forgets threads that ended so long ago that no more data of them can
 * come; their rows stay.
 */
void threads__forget(struct threads *t);

/*
 * The same at once, for threads whose rows are vacant (core/model/fold.h), before these are reused.
 */
void threads__forget_vacant(struct threads *t);

#endif
