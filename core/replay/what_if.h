/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long the threads of a scope would have taken if a candidate, a procedure or an object, took no time, or less.
 *
 * A replay that is asked for it keeps the steps of each thread: it ran for so long, waited, woke another one, created
 * one, slept, ended. At the end these are run again, on as many processors, once as they were and once for each
 * candidate and speed: who runs, is ready or waits at each instant follows anew from the steps. How much of what a
 * thread ran is a candidate's is known from samples. rules.c has what is taken to depend on what.
 *
 * Of long runs, only so many steps are kept, from when candidates are known, and stand for the rest.
 */
#ifndef QUARTZ_CORE_REPLAY_WHAT_IF_H
#define QUARTZ_CORE_REPLAY_WHAT_IF_H

#include "core/replay/replay.h"

#define REPLAY_CANDIDATES 16 /* bits of `cause` of a SAMPLE */
#define REPLAY_SPEEDS	  3  /* all of a candidate's time is gone, half of it, a quarter */

struct replay_what_if {
	uint64_t elapsed_ns; /* of the scope, as it was */
	uint64_t kept_ns;    /* elapsed time that the steps which were kept are of */
	uint64_t again_ns;   /* that time as the steps tell it, run again as they were */
	uint64_t run_ns[REPLAY_CANDIDATES][REPLAY_SPEEDS]; /* instead of elapsed_ns */
	/* the same, by other rules of who runs first that tell what was as well */
	uint64_t low_ns[REPLAY_CANDIDATES][REPLAY_SPEEDS],
		high_ns[REPLAY_CANDIDATES][REPLAY_SPEEDS];
	uint64_t most_ns[REPLAY_CANDIDATES]
			[REPLAY_SPEEDS];     /* that one of its threads would have run */
	uint64_t work_ns[REPLAY_CANDIDATES]; /* running time that is a candidate's */
	uint64_t outside_ns; /* blocked until what is no thread of the scope came: stays */
	uint64_t inside_ns;  /* blocked until a thread of the scope came */
	uint64_t spinning;   /* samples in loops that wait: that time stays, too */
	uint64_t samples;
};

/*
 * From now on, samples know all code of the candidate. Those before do not count for it. Nothing is kept where
 * replay_options did not ask for it.
 */
void replay__know_candidate(struct replay *r, uint32_t candidate);

/* The candidate is that nobody waits for the object; REPLAY_NONE: none is. 0 or -ENOMEM. */
int replay__set_candidate_object(struct replay *r, uint32_t object, uint32_t candidate);

/*
 * Of a scope that has ended and is there still. 0; -ENOENT: it is not, or nothing was kept of it; -ENOMEM, also where there was none while the
 * steps were kept.
 */
int replay__what_if(const struct replay *r, uint32_t scope, struct replay_what_if *w);

#endif
