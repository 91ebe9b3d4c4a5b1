/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The control flow around an address: the instructions that can be reached from it nearby, and the
 * loops among them that it is in.
 *
 * Only code that is reached is decoded, so that data between procedures does no harm, and the start
 * of the procedure need not be known. All work is bounded.
 */
#ifndef QUARTZ_SYMBOLIZER_CFG_H
#define QUARTZ_SYMBOLIZER_CFG_H

#include "symbolizer/insn/insn.h"

#define FLOW_REACH 1024 /* bytes before and behind the address; no loop is longer */
#define FLOW_BYTES (2 * FLOW_REACH + CODE_MAX_LENGTH)
#define FLOW_MAX   512 /* instructions */
#define FLOW_LOOPS 32
#define FLOW_NONE  UINT16_MAX

#define CFG_APPROACH 128 /* bytes before the address, from where decoding falls into step */

/*
 * Addresses that are asked for stand near each other: of a hot loop, all. What their surroundings share is decoded once.
 * What an instruction means depends on its bytes, on its address, and on a few bytes in front of it.
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
		[2]; /* where it goes: on, and to its target; FLOW_NONE: out of sight, or nowhere */
	bool leaves; /* it may go where it is out of sight, or to the caller */
};

struct cfg {
	struct decoder *decoder;
	struct cfg_decoded decoded[DECODED];
	uint64_t start; /* address of the first byte */
	size_t size;
	uint8_t bytes[FLOW_BYTES];
	uint16_t at[FLOW_BYTES]; /* the node that begins at a byte */
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

/* A natural loop: a branch back to its head, and all that leads to it from there. */
struct cfg_loop {
	bool narrowed; /* only the part between head and branch */
	uint16_t head, back;
	uint16_t size; /* nodes */
	struct cfg_set body;
	uint64_t start, end; /* addresses */
};

/*
 * Follows the code from the address, of which start, size and bytes hold the surroundings. false:
 * no instruction stands there.
 */
bool cfg__follow(struct cfg *f, uint64_t address);

/*
 * The offset from which code can be decoded, so that it is in step at the address; start: of the procedure, 0: not known.
 * Decodes what stands at an offset; what is no instruction ends the way there.
 */
size_t cfg__approach(const struct cfg *f, uint64_t address, uint64_t start);
void cfg__decode(struct cfg *f, size_t at, struct instruction *code);

/* The loops that node 0 is in, smallest first, then narrowed ones; their number, up to FLOW_LOOPS. */
unsigned int cfg__loops(const struct cfg *f, struct cfg_loop *loops);

/* Whether a way of at least one step leads from one node to the other, by nodes of the set. */
bool cfg__leads(const struct cfg *f, uint16_t from, uint16_t to, const struct cfg_set *within);

#endif
