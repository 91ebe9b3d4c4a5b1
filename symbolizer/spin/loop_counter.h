/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loops that wait for a limited number of iterations: what they carry over only counts these, or
 * the length of a pause.
 */
#ifndef QUARTZ_SYMBOLIZER_LOOP_COUNTER_H
#define QUARTZ_SYMBOLIZER_LOOP_COUNTER_H

#include "symbolizer/spin/loop_dataflow.h"

/* A register that counts the iterations. */
struct loop_counter {
	bool known;
	uint8_t number; /* of the register */
	int32_t step;	/* added in each iteration; only the low 32 bits count */
	int32_t first;	/* initial value */
};

/*
 * Whether all carried values change by steps, independent of others, and are only compared, and the
 * loop can also be left by what it loads.
 */
bool loop_counter__only_counts(struct loop_dataflow *t);

/* Bytes before a loop that are searched for the initial value. */
#define COUNTER_APPROACH 128

/*
 * Finds the counter of such a loop. It is unknown if there are several, if none is in a register,
 * or if the loop does not always begin with the same constant. start: of the procedure; 0: unknown.
 */
void loop_counter__find(struct loop_dataflow *t, uint64_t start, struct loop_counter *c);

#endif
