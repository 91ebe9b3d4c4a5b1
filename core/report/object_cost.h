/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cost of an object: the elapsed time for which its holders, running or blocked, keep others waiting; the time of
 * locking and unlocking; and the time in which threads queue for it although processors are free. doc/advice.md derives the
 * parts.
 */
#ifndef QUARTZ_CORE_OBJECT_COST_H
#define QUARTZ_CORE_OBJECT_COST_H

#include <stdbool.h>
#include <stdint.h>

struct qz_report;
struct qz_object_row;
struct qz_object;

/*
 * Elapsed times. The parts of queued_ns are disjoint: while there is a queue, the holder runs, waits for something else, or
 * is not seen.
 */
struct qz_object_cost {
	uint64_t queued_ns;	  /* with one waiter at least; 0 for objects that are not held */
	uint64_t held_running_ns; /* of it: a holder ran; normalized */
	uint64_t held_blocked_ns; /* of it: no holder ran, and threads were blocked in the
				     procedures that hold it */
	uint64_t free_ns; /* of the rest: times the share of processors that had nothing to do */
	uint64_t lock_ns; /* normalized time of taking and releasing it, not while held */
	uint64_t lock_cpu_ns;
	uint64_t line_ns; /* of a cache line: normalized time of waiting for it */
	uint64_t
		cost_ns; /* held_running + held_blocked + free + lock + line; at most the elapsed time */
};

/*
 * Whether the object of a row is held: it can be, or it is a semaphore of System V, an eventfd or a pipe that a thread was
 * seen to hold, by reading a token and writing it back.
 */
bool qz_object_cost__is_held(const struct qz_report *r, const struct qz_object_row *row);

/* Sets the costs of all objects of a report that is otherwise complete. 0 or -ENOMEM. */
int qz_object_cost__build(struct qz_report *r);

#endif
