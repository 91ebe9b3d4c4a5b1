/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs of several threads on a made-up machine, which takes them through locks, queues and barriers and knows how
 * long they take: as they are, and with a procedure that takes less time. It gives the records that the log would have to
 * a replay.
 *
 * Its scheduler is not that of core/replay/rerun.c: each processor has a queue of its own, looks at it once in a
 * millisecond, and takes from others when it has nothing to do.
 */
#ifndef QUARTZ_TESTS_UNIT_CORE_REPLAY_MACHINE_H
#define QUARTZ_TESTS_UNIT_CORE_REPLAY_MACHINE_H

#include <stdint.h>

#include "core/replay/replay.h"

#define MACHINE_THREADS	   8
#define MACHINE_ACTIONS	   16
#define MACHINE_OBJECTS	   8
#define MACHINE_PROCESSORS 8
#define MACHINE_BEGAN	   1000000000ull /* ns */
#define MACHINE_PID	   100 /* of the program; its threads have the numbers behind it */

enum action_kind {
	EXIT,
	RUN,	/* us, more or less, in procedure `n` - 1 */
	REPEAT, /* the actions from `n` on, us times in all */
	LOCK,	/* n */
	UNLOCK,
	PUT,   /* into queue n */
	GET,   /* something out of it; where it is empty for good, the thread exits */
	SHUT,  /* the queue will get no more */
	MEET,  /* at barrier n */
	NAP,   /* us */
	START, /* thread n */
	JOIN,
};

struct action {
	enum action_kind kind;
	uint32_t n;
	uint32_t us;
};

/* Thread 0 is the first one. Queues and barriers have a size; of a queue that is shared, all wait at one condition. */
struct program {
	const char *name;
	uint32_t processors;
	uint32_t noise; /* percent that a RUN differs, at most */
	struct action threads[MACHINE_THREADS][MACHINE_ACTIONS];
	uint32_t sizes[MACHINE_OBJECTS];
	bool shared;
	bool easy; /* what others make of it is near, always */
};

struct machine_options {
	uint64_t seed;
	uint32_t procedure; /* + 1, that takes only percent of its time; 0: none */
	uint32_t percent;
	struct replay *replay; /* NULL: it is not compared */
	/* Or each record is given to this. */
	void (*write)(void *context, uint32_t cpu, const struct qz_log_record *record);
	void *context;
	uint64_t period_ns; /* of samples of each processor */
	uint64_t known_at;  /* procedures are, since then */
};

/* How long it takes, in ns. */
uint64_t machine__run(const struct program *p, const struct machine_options *options);

#endif
