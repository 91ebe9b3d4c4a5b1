/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long the threads of a scope would have taken if a candidate, a procedure or an object, took no time, or less.
 *
 * A replay that is asked for it keeps the steps of each thread: it ran for so long, waited, woke another one, created
 * one, slept, ended. At the end these are run again, on as many processors, once as they were and once for each
 * candidate and speed: who runs, is ready or waits at each instant follows anew from the steps. A candidate's part of the
 * running time is known from samples. rules.c has the rules for dependencies.
 *
 * Of long runs, a limited number of steps is kept, from the time when candidates are known; they represent the rest.
 */
#ifndef QUARTZ_CORE_REPLAY_WHAT_IF_H
#define QUARTZ_CORE_REPLAY_WHAT_IF_H

#include "core/replay/replay.h"

#define REPLAY_CANDIDATES 16 /* bits of `cause` of a SAMPLE */
#define REPLAY_SPEEDS	  3  /* all of a candidate's time is gone, half of it, a quarter */

struct replay_what_if {
	uint64_t elapsed_ns; /* of the scope, as it was */
	uint64_t kept_ns;    /* elapsed time of the kept steps */
	uint64_t again_ns;   /* that time when the steps are run again unchanged */
	uint64_t run_ns[REPLAY_CANDIDATES][REPLAY_SPEEDS]; /* instead of elapsed_ns */
	/* the same, by other scheduling rules that reproduce the recorded run as well */
	uint64_t low_ns[REPLAY_CANDIDATES][REPLAY_SPEEDS],
		high_ns[REPLAY_CANDIDATES][REPLAY_SPEEDS];
	uint64_t most_ns[REPLAY_CANDIDATES]
			[REPLAY_SPEEDS];     /* the longest running time of one thread */
	uint64_t work_ns[REPLAY_CANDIDATES]; /* running time that is a candidate's */
	uint64_t
		outside_ns; /* blocked until something other than a thread of the scope ended the wait: stays */
	uint64_t inside_ns; /* blocked until a thread of the scope ended the wait */
	uint64_t spinning;  /* samples in loops that wait: that time stays, too */
	uint64_t samples;
};

/*
 * From now on, samples know all code of the candidate; earlier samples do not count for it. No effect without
 * replay_options.what_if.
 */
void replay__know_candidate(struct replay *r, uint32_t candidate);

/* The candidate is that no thread waits for the object; REPLAY_NONE: none. 0 or -ENOMEM. */
int replay__set_candidate_object(struct replay *r, uint32_t object, uint32_t candidate);

/*
 * Computes the results for a scope that has ended and was not dropped. 0; -ENOENT: there is no such scope, or it has no
 * steps; -ENOMEM, also if memory was short while the steps were kept.
 */
int replay__what_if(const struct replay *r, uint32_t scope, struct replay_what_if *w);

#endif
