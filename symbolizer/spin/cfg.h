/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The control flow graph around an address: the instructions near it that can be reached from it,
 * and the loops that contain it. Only reached code is decoded, so data between procedures do no
 * harm, and the start of the procedure need not be known. All work is bounded.
 */
#ifndef QUARTZ_SYMBOLIZER_CFG_H
#define QUARTZ_SYMBOLIZER_CFG_H

#include "symbolizer/insn/insn.h"

#define FLOW_REACH 1024 /* bytes before and after the address; no loop is longer */
#define FLOW_BYTES (2 * FLOW_REACH + CODE_MAX_LENGTH)
#define FLOW_MAX   512 /* instructions */
#define FLOW_LOOPS 32
#define FLOW_NONE  UINT16_MAX

#define CFG_APPROACH 128 /* bytes before the address from which decoding becomes aligned with it */

/*
 * A cache of decoded instructions, since requested addresses are near each other: all of a hot
 * loop. An instruction depends on its bytes, on its address, and on a few bytes before it.
 */
#define DECODED	       2048 /* a power of two */
#define DECODED_BEFORE 5

struct cfg_decoded {
	uint64_t address;
	uint8_t bytes[DECODED_BEFORE + CODE_MAX_LENGTH];
	struct instruction code; /* length 0: there is none */
};

struct cfg_node {
	struct instruction code;
	uint16_t next
		[2]; /* successors: the next node and the target; FLOW_NONE: out of reach, or none */
	bool leaves; /* it may lead out of reach, or return */
};

struct cfg {
	struct decoder *decoder;
	struct cfg_decoded decoded[DECODED];
	uint64_t start; /* address of the first byte */
	size_t size;
	uint8_t bytes[FLOW_BYTES];
	uint16_t at[FLOW_BYTES]; /* indexed by byte: the node that begins there */
	uint16_t n;		 /* node 0 is the address */
	struct cfg_node nodes[FLOW_MAX];
	uint16_t npredecessors[FLOW_MAX];
	uint16_t first_predecessor[FLOW_MAX + 1];
	uint16_t predecessors[2 * FLOW_MAX];
};

/* A set of nodes. */
struct cfg_set {
	uint64_t words[FLOW_MAX / 64];
};

static inline bool cfg_set__has(const struct cfg_set *set, uint16_t node)
{
	return set->words[node / 64] >> node % 64 & 1;
}

static inline void cfg_set__add(struct cfg_set *set, uint16_t node)
{
	set->words[node / 64] |= 1ull << node % 64;
}

static inline void cfg_set__remove(struct cfg_set *set, uint16_t node)
{
	set->words[node / 64] &= ~(1ull << node % 64);
}

/* A natural loop: a branch back to its head, and all nodes in between. */
struct cfg_loop {
	bool narrowed; /* only the part between head and branch */
	uint16_t head, back;
	uint16_t size; /* nodes */
	struct cfg_set body;
	uint64_t start, end; /* addresses */
};

/*
 * Builds the graph from the address; start, size and bytes are set. False: no valid instruction is
 * there.
 */
bool cfg__follow(struct cfg *f, uint64_t address);

/*
 * The offset from which decoding is aligned with the address; start: of the procedure, 0: unknown.
 * cfg__decode decodes the instruction at an offset; an invalid one has no successors.
 */
size_t cfg__approach(const struct cfg *f, uint64_t address, uint64_t start);
void cfg__decode(struct cfg *f, size_t at, struct instruction *code);

/*
 * Finds the loops that contain node 0, smallest first, then narrowed ones. Returns their number, at
 * most FLOW_LOOPS.
 */
unsigned int cfg__loops(const struct cfg *f, struct cfg_loop *loops);

/*
 * Whether a path of at least one edge leads from one node to the other, through nodes of the set.
 */
bool cfg__leads(const struct cfg *f, uint16_t from, uint16_t to, const struct cfg_set *within);

#endif
