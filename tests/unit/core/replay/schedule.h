/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A made-up machine whose scheduler does as chance tells, and knows the truth: how long each thread was in which state, each
 * scope at which level, each queue of which length. It writes the records that the log would have.
 */
#ifndef QUARTZ_TESTS_UNIT_CORE_REPLAY_SCHEDULE_H
#define QUARTZ_TESTS_UNIT_CORE_REPLAY_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/replay/replay.h"

#define SCHEDULE_OBJECTS 24
#define SCHEDULE_TIDS	 64
#define SCHEDULE_NEAR_NS 1000 /* clocks of processors are off by so much at most */

struct schedule_options {
	uint64_t seed;
	uint32_t processors, threads, steps; /* threads: that live at once, at most */
	uint64_t step_ns;		     /* between two steps, at most */
	bool every_process;
	bool ties;  /* steps of different processors at the same time */
	bool skew;  /* clocks that are off */
	bool gaps;  /* records are left out */
	bool spans; /* all of one processor, for a while */
};

struct schedule_wait {
	uint32_t site;
	uint16_t cause, nominal;
	uint32_t object; /* of the schedule; REPLAY_NONE: none */
	uint64_t count, blocked_ns, ready_ns;
};

struct schedule_thread {
	uint32_t tid, process; /* process: index */
	uint32_t live_at;      /* in `live` */
	uint64_t began, ended;
	bool alive;
	enum replay_state state, told; /* told: what records have told so far */
	uint64_t ns[REPLAY_STATES];
	uint32_t cpu;
	uint64_t changes;	/* of state */
	uint64_t last;		/* when anything happened to it */
	bool near;		/* and to that the thing before was near */
	bool early;		/* it was woken before it left */
	uint32_t waker;		/* of that */
	bool by_futex, by_call; /* the same, or when it was woken last */
	uint64_t woken;
	uint32_t nwaits;
	struct schedule_wait *waits;
	struct {
		uint32_t site, object;
		uint16_t cause;
		uint64_t blocked_ns, ready_ns, runnable_ns, room_ns;
	} now;
};

struct schedule_process {
	uint32_t pid, scope; /* REPLAY_NONE: not followed */
	uint32_t alive;
	bool found; /* it was there at the beginning */
};

struct schedule_scope {
	uint32_t process; /* pid */
	bool follows;
	uint64_t began, ended;
	uint32_t alive, running, runnable;
	uint64_t *level_ns; /* processors + 1 */
};

struct schedule_object {
	uint32_t scope, process;
	uint8_t tag;
	uint64_t address;
	uint32_t waiters;
	uint64_t length_ns[REPLAY_LENGTHS], arrivals[REPLAY_LENGTHS], beyond_ns, wakes;
	bool retired; /* its process has ended, or has another image */
};

struct schedule_wakeup {
	uint32_t scope, waker, object; /* waker: index of a thread, REPLAY_NONE: none */
	uint64_t count, blocked_ns;
};

/* Records of one processor. */
struct schedule_log {
	struct qz_log_record *records;
	uint32_t n, room;
	uint32_t running; /* thread, or REPLAY_NONE */
	int64_t skew;
	uint64_t lost_from,
		lost_until; /* a span that is lost; until 0: none, or it has not ended */
};

struct schedule {
	struct schedule_options options;
	uint64_t random, now, began;
	struct schedule_log *logs;
	struct schedule_thread *threads;
	uint32_t nthreads;
	uint32_t *live, nlive; /* of these, that have not ended */
	struct schedule_process *processes;
	uint32_t nprocesses;
	struct schedule_scope *scopes;
	uint32_t nscopes;
	struct schedule_object objects[SCHEDULE_OBJECTS];
	uint32_t nobjects;
	struct schedule_wakeup *wakeups;
	uint32_t nwakeups;
	uint64_t *machine_ns; /* by level */
	uint32_t machine, next_tid;
	uint32_t free_tids[SCHEDULE_TIDS], nfree_tids; /* of threads that have ended */
	bool freed_near;			       /* its end was near to what came before */
	uint64_t freed_at;			       /* the last one */
};

/* Runs it to its end. */
struct schedule *schedule__make(const struct schedule_options *options);
void schedule__free(struct schedule *s);

/* Opens the scopes in a replay, before the first record. */
void schedule__open_scopes(const struct schedule *s, struct replay *r);

/*
 * Gives the records to the replay in the order of their times, with lost spans, and calls in between now and then, as
 * of the last time: a word ends it, and is given.
 */
const char *schedule__replay(const struct schedule *s, struct replay *r,
			     const char *(*look)(void *context, struct replay *r, uint64_t now),
			     void *context);

/* A number below n. */
uint32_t schedule__random(struct schedule *s, uint32_t n);

#endif
