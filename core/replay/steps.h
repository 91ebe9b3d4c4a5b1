/* SPDX-License-Identifier: GPL-2.0-only */
/* What threads did, as steps that can be run again: see core/replay/what_if.h. */
#ifndef QUARTZ_CORE_REPLAY_STEPS_H
#define QUARTZ_CORE_REPLAY_STEPS_H

#include "core/replay/state.h"
#include "core/replay/what_if.h"

#define STEPS_MOST    (1u << 17)
#define SEGMENTS_MOST 8192

enum step_kind {
	STEP_RUN, /* only the running time before it */
	STEP_SAMPLES, /* of `other` samples, each had the candidates in `object` (a bit each) on its stack */
	STEP_WAIT,  /* until step `other` of another thread; REPLAY_NONE: for ever */
	STEP_SLEEP, /* for step__sleep(): a wait that no thread of the scope ended */
	STEP_WAKE,  /* ends the wait at step `other` of another thread */
	STEP_FORK,  /* thread `other` begins */
	STEP_END,
};

#define STEP_LOCKED  1	/* of a WAIT: the futex word was that of a held lock */
#define STEP_DROPPED 2	/* of a WAIT: left out, because the thread found no work and waited again */
#define STEP_KILLED  4	/* of an END: another thread ended this one */
#define STEP_BOUND   8	/* a segment ends here */
#define STEP_LOCK    32 /* of a WAIT and its WAKE: the object probably is a lock */
#define STEP_BURST   16 /* of a WAKE: done only when the thread's next WAKE can be done, too */

struct step {
	uint32_t next;	 /* of the same thread */
	uint32_t thread; /* in steps.threads */
	uint32_t run;	 /* running time before it, since the step before, ns */
	uint32_t late;	 /* ns from its wake-up to a free processor, before that running time */
	uint32_t other;
	uint32_t
		object; /* of a WAIT; of SAMPLES the candidates; of a SLEEP the upper half of the time */
	uint32_t
		need; /* of a WAKE: the other thread's WAIT that must come before it; of that WAIT: the WAKE. Or REPLAY_NONE */
	uint16_t segment; /* the segment that it is part of */
	uint8_t kind, flags;
};

_Static_assert(sizeof(struct step) == 32, "two to a cache line");

/* A thread whose steps are kept. */
struct step_thread {
	uint32_t scope, first, last;
	uint32_t open;	/* first step of its present segment */
	uint32_t place; /* where that segment began */
	uint32_t wait;	/* its present WAIT, or REPLAY_NONE */
	uint32_t spins, samples;
	bool created;	/* by a FORK step; else it was there at `from` */
	bool preempted; /* it is ready because it was preempted */
	uint64_t from;
	uint64_t settled;  /* running time that steps have already */
	uint64_t ready_at; /* since when it is ready */
	uint64_t room_ns;  /* that of its scope at that time */
	uint64_t stretch, late;
};

/*
 * A segment: the running time of a thread between two places of the code. One segment has few samples, so its share of a
 * candidate is that of all segments between the same two places; the more samples it has itself, the more these count.
 */
struct step_segment {
	uint32_t from, to;
	uint32_t
		length; /* class of running time, since the same code may have gone round more than once; 0: any */
	uint32_t general; /* the segment of any length between these places */
	uint32_t samples[REPLAY_CANDIDATES],
		in[REPLAY_CANDIDATES]; /* by those that knew the candidate */
};

struct replay_steps {
	struct step *steps; /* STEPS_MOST */
	uint32_t n;
	struct step_thread *threads;
	uint32_t nthreads;
	struct step_segment *segments; /* [0]: not known */
	uint32_t nsegments;
	struct qz_hash_table index; /* of these */
	uint32_t candidates;
	uint32_t known_from
		[REPLAY_CANDIDATES]; /* samples before this step do not know the candidate */
	uint32_t known_last;	     /* the highest of these */
	uint32_t *candidate_of;	     /* by object: candidate + 1 */
	uint32_t nobjects;	     /* entries of that */
	uint64_t full;		     /* when the room for steps was used up; 0: it is not */
	bool failed;		     /* memory was short */
	bool part; /* steps were begun anew: the beginning of the run is not in them */
	uint64_t outside_ns, inside_ns;
};

static inline uint64_t step__sleep(const struct step *s)
{
	return (uint64_t)s->object << 32 | s->other;
}

/* Records may be arbitrary, so sums must not overflow. */
static inline uint64_t steps__ns(double ns)
{
	if (!(ns > 0))
		return 0;
	return ns < (double)INT64_MAX ? (uint64_t)ns : INT64_MAX;
}

/* The rules by which a thread gets a processor. */
struct scheduling {
	uint64_t slice;	 /* ns that a thread may run while others are ready */
	uint64_t margin; /* a woken thread takes the processor of one that has run longer by this */
};

/* A run of a scope's steps, without the candidate. */
struct rerun_options {
	uint32_t scope;
	uint32_t processors;
	uint32_t candidate; /* REPLAY_NONE: all as it was */
	uint32_t speed;
	const float *shares; /* of the candidate */
	struct scheduling by;
};

/* When the last thread ends, since the steps began; 0: no memory. */
uint64_t rerun__run(const struct replay_steps *all, const struct rerun_options *options);

/*
 * The candidate's part in the run of each step, between 0 and 1, where samples are known; `shares` has an entry for
 * each step.
 */
void shares__find(const struct replay_steps *all, uint32_t candidate, float *shares);

/* Counts samples into segments. */
void shares__learn(struct replay_steps *all);

/*
 * The time, of kept_ns, for which the most used lock would be held without the candidate. A thread that finds a lock free
 * leaves no record, but those that find it held show how often it is. 0: there is no lock; < 0: no memory.
 */
double locks__hold(const struct replay_steps *all, const struct rerun_options *options,
		   uint64_t kept_ns);

/* Marks dependencies between steps. 0 or -ENOMEM. */
int rules__apply(struct replay_steps *all);

#endif
