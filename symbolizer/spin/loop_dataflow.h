/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The data flow of one iteration of a loop: which values are carried into the next iteration, and
 * which make it leave. Registers and variables in the procedure's frame are treated alike.
 */
#ifndef QUARTZ_SYMBOLIZER_LOOP_DATAFLOW_H
#define QUARTZ_SYMBOLIZER_LOOP_DATAFLOW_H

#include "symbolizer/spin/cfg.h"
#include "symbolizer/spin/callee_effects.h"

#define TURN_SLOTS 30

/* Sets of values: registers as in REGISTER_BOTH, and a bit for each slot above them. */
#define TURN_SLOT(n) (1ull << (33 + (n)))

struct loop_dataflow_effects {
	uint64_t reads, writes;
	uint64_t kills; /* always and completely written */
	bool loads;
};

/* Bytes of the frame that are accessed as one variable. */
struct loop_dataflow_slot {
	int32_t start, end;
	bool by_frame_pointer;
};

struct loop_dataflow {
	const struct cfg *flow;
	const struct cfg_loop *loop;
	struct loop_dataflow_effects effects[FLOW_MAX];
	struct loop_dataflow_slot slots[TURN_SLOTS];
	unsigned int nslots;
	unsigned int loads;
	bool atomic;	  /* some node is atomic */
	uint64_t written; /* written by any node */
	/*
	 * Read in an iteration before it is written, and written. If a node is atomic, without
	 * values that have the same constant at the end of every iteration: what a compare-and-swap
	 * expects.
	 */
	uint64_t carried;
	uint64_t in[FLOW_MAX]; /* values before a node, by the present analysis */
};

void loop_dataflow__begin(struct loop_dataflow *t, const struct cfg *flow,
			  const struct cfg_loop *loop);

/*
 * Adds a node of the loop; leaf: the effects of its callee, if it calls. False: it has visible
 * effects other than those of atomic instructions.
 */
bool loop_dataflow__add(struct loop_dataflow *t, uint16_t node, const struct callee_effects *leaf);

/* Finds what is carried, after all nodes were added. False: unknown, or nothing is loaded. */
bool loop_dataflow__finish(struct loop_dataflow *t);

/* Whether the values that atomic instructions write do not depend on what the loop has loaded. */
bool loop_dataflow__takes(struct loop_dataflow *t);

/*
 * Finds the values before each node that derive from loads, in t->in, and those that derive from
 * `carried`. False: no result within the limit.
 */
bool loop_dataflow__find_origins(struct loop_dataflow *t, uint64_t counted[FLOW_MAX],
				 uint64_t carried);

#endif
