/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rounds: what all processors did at one instant. For each scope, a round shows how many of its running threads were busy
 * while others were spinning. Pure.
 *
 * The running level is exact, and is in each answer. If the host had stopped a processor, a later sample may show what its
 * thread did (missed_instants.h). Such answers are used up to the level. A running thread without an answer counts as busy.
 *
 * The instants of a round are some microseconds apart. A thread can hand a lock to another in between, and be seen
 * spinning, as the other was before: then all running threads spin, though one of them held the lock. Or both are seen
 * busy. On average the two are equally frequent. So a round is impossible where all threads of the scope that run spin in
 * one loop, and one of them is busy in a round before or after it without others having run meanwhile. It counts as if one
 * were busy, and another round with the same threads, which has more than one, as if it had one less.
 *
 * There is an exception, since the host can stop the thread that was just handed the lock. All others spin until it
 * goes on, for milliseconds. So where some samples of a round are late, the thread that is busy before or after it must
 * be one whose sample is not late; else the round is possible.
 */
#ifndef QUARTZ_DAEMON_ROUND_JOIN_H
#define QUARTZ_DAEMON_ROUND_JOIN_H

#include <stdbool.h>
#include <stdint.h>

struct round_join;

/* What one processor did in a round. */
struct round_answer {
	int64_t round; /* numbers in the order of time */
	uint32_t scope;
	uint32_t serial; /* of the thread */
	uint32_t place;	 /* for the caller */
	uint32_t time;	 /* for the caller, in units of 2^QZ_ROUND_SHIFT ns */
	uint64_t spot;	 /* where it spins; 0: not known */
	bool spinning;
	bool late; /* the host had stopped its processor at the instant */
	bool missed; /* told by a later sample, see missed_instants.h: it counts, but has no results */
	uint16_t level,
		machine; /* running threads of the scope; busy processors of the machine; 0: not known */
	/* Results. */
	uint16_t busy, machine_busy; /* of these, those that did not spin */
	/* Its round was impossible, was changed for an impossible one, or has answers from later samples. */
	bool doubtful;
};

/* Puts the answers of one round in the order of scopes. */
void round_answers__sort(struct round_answer *answers, uint32_t n);

/* Sums over all that was joined. */
struct round_figures {
	uint64_t rounds;     /* of each scope: those in which it gave an answer */
	uint64_t unanswered; /* running threads that gave none */
	uint64_t told_later; /* running threads for which only a later sample answers */
	uint64_t impossible;
	uint64_t
		moved; /* rounds that got one busy thread less for these; fewer if there were none */
};

/* NULL with errno ENOMEM. */
struct round_join *round_join__new(void);
void round_join__free(struct round_join *j);

/*
 * Sets the results of n answers, which are in the order of rounds; those of one round are put in the order of scopes.
 * All of one round must come in one call. 0 or -ENOMEM.
 */
int round_join__run(struct round_join *j, struct round_answer *answers, uint32_t n);

const struct round_figures *round_join__figures(const struct round_join *j);

#endif
