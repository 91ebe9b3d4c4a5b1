/* SPDX-License-Identifier: GPL-2.0-only */
/* What threads did, as steps that can be run again: see core/replay/what_if.h. */
#ifndef QUARTZ_CORE_REPLAY_STEPS_H
#define QUARTZ_CORE_REPLAY_STEPS_H

#include "core/replay/state.h"
#include "core/replay/what_if.h"

#define STEPS_MOST    (1u << 17)
#define SEGMENTS_MOST 8192

enum step_kind {
	STEP_RUN,     /* nothing but what was run before it */
	STEP_SAMPLES, /* `other` samples met the candidates of `object`, a bit each */
	STEP_WAIT,    /* until step `other` of another thread; REPLAY_NONE: for ever */
	STEP_SLEEP, /* for step__sleep(): until something other than a thread of the scope ended it */
	STEP_WAKE, /* ends the wait at step `other` of another thread */
	STEP_FORK, /* thread `other` begins */
	STEP_END,
};

#define STEP_LOCKED  1	/* of a WAIT: the word was that of a lock which is held */
#define STEP_DROPPED 2	/* of a WAIT: it is passed, the thread waits again at once */
#define STEP_KILLED  4	/* of an END: by another thread */
#define STEP_BOUND   8	/* a segment ends here */
#define STEP_LOCK    32 /* of a WAIT and its WAKE: the object is a lock, as far as is known */
#define STEP_BURST   16 /* of a WAKE: not before the thread's next one could be, too */

struct step {
	uint32_t next;	 /* of the same thread */
	uint32_t thread; /* in steps.threads */
	uint32_t run;	 /* ns before it, from the step before */
	uint32_t late;	 /* ns on its way to a processor, before it ran */
	uint32_t other;
	uint32_t
		object; /* of a WAIT; of SAMPLES the candidates; of a SLEEP the upper half of the time */
	uint32_t
		need; /* of a WAKE: the other thread's WAIT that must come before it; of that WAIT: the WAKE. Or REPLAY_NONE */
	uint16_t segment; /* that it is part of */
	uint8_t kind, flags;
};

_Static_assert(sizeof(struct step) == 32, "two to a cache line");

/* A thread since it was kept. */
struct step_thread {
	uint32_t scope, first, last;
	uint32_t open;	/* the first step of the segment that has not ended */
	uint32_t place; /* where that began */
	uint32_t wait;	/* the WAIT that it is in, or REPLAY_NONE */
	uint32_t spins, samples;
	bool created;	/* by a FORK step; else it was there at `from` */
	bool preempted; /* it is ready because of that */
	uint64_t from;
	uint64_t settled;  /* of its running time: that is in steps */
	uint64_t ready_at; /* since when it is ready */
	uint64_t room_ns;  /* of the scope, then */
	uint64_t stretch, late;
};

/*
 * The running time between two places of the code. There are few samples for such segments, so a segment has the
 * candidates' share in all segments between the same two places; the more samples of its own it has, the more these count.
 */
struct step_segment {
	uint32_t from, to;
	uint32_t
		length; /* class of running time, since the same code may have gone round more than once; 0: any */
	uint32_t general; /* that of any length */
	uint32_t samples[REPLAY_CANDIDATES],
		in[REPLAY_CANDIDATES]; /* by those that knew the candidate */
};

struct replay_steps {
	struct step *steps; /* STEPS_MOST */
	uint32_t n;
	struct step_thread *threads;
	uint32_t nthreads;
	struct step_segment *segments; /* the first one: not known */
	uint32_t nsegments;
	struct qz_hash_table index; /* of these */
	uint32_t candidates;
	uint32_t known_from
		[REPLAY_CANDIDATES]; /* samples before this step do not know the candidate */
	uint32_t known_last;	     /* the last one of these */
	uint32_t *candidate_of;	     /* by object: candidate + 1 */
	uint32_t nobjects;	     /* entries of that */
	uint64_t full;		     /* when there was no room for another step; 0: there is */
	bool failed;		     /* no memory */
	bool part;		     /* they began anew: what was before is not in them */
	uint64_t outside_ns, inside_ns;
};

static inline uint64_t step__sleep(const struct step *s)
{
	return (uint64_t)s->object << 32 | s->other;
}

/* Figures that records made up may be anything. */
static inline uint64_t steps__ns(double ns)
{
	if (!(ns > 0))
		return 0;
	return ns < (double)INT64_MAX ? (uint64_t)ns : INT64_MAX;
}

/* The rules by which a thread gets a processor. */
struct scheduling {
	uint64_t slice;	 /* ns that a thread runs while others are ready, at least */
	uint64_t margin; /* a thread takes the processor of one that ran so much longer */
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
 * The total time, of kept_ns, for which the lock that is held longest is held without the candidate. A thread that finds a
 * lock free leaves no record; but those that do not show how often it is held. 0: there is no lock; < 0: no memory.
 */
double locks__hold(const struct replay_steps *all, const struct rerun_options *options,
		   uint64_t kept_ns);

/* Marks dependencies between steps. 0 or -ENOMEM. */
int rules__apply(struct replay_steps *all);

#endif
