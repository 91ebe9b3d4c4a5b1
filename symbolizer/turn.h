/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What one turn of a loop does with values: which it keeps for the next turn, and what makes it
 * leave. Registers and the variables in the procedure's frame are treated alike.
 */
#ifndef QUARTZ_SYMBOLIZER_TURN_H
#define QUARTZ_SYMBOLIZER_TURN_H

#include "symbolizer/flow.h"
#include "symbolizer/leaf.h"

#define TURN_SLOTS 30

/* Sets of values are those of registers, see REGISTER_BOTH, and above them a bit for each slot. */
#define TURN_SLOT(n) (1ull << (33 + (n)))

struct turn_effects {
	uint64_t reads, writes;
	uint64_t kills; /* written whatever happens, and wholly */
	bool loads;
};

/* Bytes of the frame that are accessed together. */
struct turn_slot {
	int32_t start, end;
	bool by_frame_pointer;
};

struct turn {
	const struct flow *flow;
	const struct flow_loop *loop;
	struct turn_effects effects[FLOW_MAX];
	struct turn_slot slots[TURN_SLOTS];
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

void turn__begin(struct turn *t, const struct flow *flow, const struct flow_loop *loop);

/*
 * Adds a node of the loop; leaf is what it calls, if it calls. false: it has effects that others can
 * see, other than those of atomic instructions.
 */
bool turn__add(struct turn *t, uint16_t node, const struct leaf *leaf);

/* After all nodes: finds out what is carried. false: that is not known, or nothing is loaded. */
bool turn__finish(struct turn *t);

/* Whether what the atomic instructions put does not depend on what the loop has loaded. */
bool turn__takes(struct turn *t);

/* Whether all that is carried only counts turns, and the loop also leaves by what it loads alone. */
bool turn__is_counted(struct turn *t);

#endif
