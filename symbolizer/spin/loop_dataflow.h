/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What one turn of a loop does with values: which it keeps for the next turn, and what makes it
 * leave. Registers and the variables in the procedure's frame are treated alike.
 */
#ifndef QUARTZ_SYMBOLIZER_LOOP_DATAFLOW_H
#define QUARTZ_SYMBOLIZER_LOOP_DATAFLOW_H

#include "symbolizer/spin/cfg.h"
#include "symbolizer/spin/callee_effects.h"

#define TURN_SLOTS 30

/* Sets of values are those of registers, see REGISTER_BOTH, and above them a bit for each slot. */
#define TURN_SLOT(n) (1ull << (33 + (n)))

struct loop_dataflow_effects {
	uint64_t reads, writes;
	uint64_t kills; /* written whatever happens, and wholly */
	bool loads;
};

/* Bytes of the frame that are accessed together. */
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
	bool atomic;	  /* a node is */
	uint64_t written; /* by any node */
	/*
	 * Read in a turn before it is written, and written. Where a node is atomic, not what has the
	 * same constant at the end of all turns: what a compare-and-swap expects.
	 */
	uint64_t carried;
	uint64_t in[FLOW_MAX]; /* what holds of values before a node */
};

void loop_dataflow__begin(struct loop_dataflow *t, const struct cfg *flow,
			  const struct cfg_loop *loop);

/*
 * Adds a node of the loop; leaf is what it calls, if it calls. false: it has effects that others can
 * see, other than those of atomic instructions.
 */
bool loop_dataflow__add(struct loop_dataflow *t, uint16_t node, const struct callee_effects *leaf);

/* After all nodes: finds out what is carried. false: that is not known, or nothing is loaded. */
bool loop_dataflow__finish(struct loop_dataflow *t);

/* Whether what the atomic instructions put does not depend on what the loop has loaded. */
bool loop_dataflow__takes(struct loop_dataflow *t);

/*
 * The values before each node that stem from loads, in t->in, and those that stem from what is carried.
 * false: not settled in time.
 */
bool loop_dataflow__find_origins(struct loop_dataflow *t, uint64_t counted[FLOW_MAX],
				 uint64_t carried);

#endif
