/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loops that wait for at most so many turns: what they carry from turn to turn only counts them, or
 * how long to pause.
 */
#ifndef QUARTZ_SYMBOLIZER_LOOP_COUNTER_H
#define QUARTZ_SYMBOLIZER_LOOP_COUNTER_H

#include "symbolizer/spin/loop_dataflow.h"

/* A register that counts the iterations. */
struct loop_counter {
	bool known;
	uint8_t number; /* of the register */
	int32_t step;	/* in each turn; its low 32 bits count */
	int32_t first;	/* what the loop begins with */
};

/*
 * Whether all that is carried changes by itself alone, step by step, and is read for nothing but comparisons,
 * and the loop also leaves by what it loads alone.
 */
bool loop_counter__only_counts(struct loop_dataflow *t);

/* Bytes before a loop that may set its counter. */
#define COUNTER_APPROACH 128

/*
 * Finds the counter of such a loop. It is not known where there are several, or none in a register, or where
 * the loop does not always begin with the same constant. start: of the procedure; 0: not known.
 */
void loop_counter__find(struct loop_dataflow *t, uint64_t start, struct loop_counter *c);

#endif
