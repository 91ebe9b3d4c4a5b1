/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Small procedures without visible effects, such as those that read a hidden flag. A loop that
 * calls them is analyzed as if it contained their code.
 */
#ifndef QUARTZ_SYMBOLIZER_CALLEE_EFFECTS_H
#define QUARTZ_SYMBOLIZER_CALLEE_EFFECTS_H

#include "symbolizer/insn/insn.h"

#define LEAF_BYTES	  256
#define LEAF_INSTRUCTIONS 48
#define LEAF_DEPTH	  2 /* depth of their calls */

/* The source of code. */
struct code_source {
	void *context;
	/* Finds the range of code that contains an address; nothing outside of it is read. */
	bool (*range)(void *context, uint64_t address, uint64_t *start, uint64_t *end);
	/* Reads up to `size` bytes of code at an address; returns their number. */
	size_t (*read)(void *context, uint64_t address, uint8_t *to, size_t size);
	/* Whether the procedure that begins at the address is known to yield the processor. */
	bool (*yields)(void *context, uint64_t address);
};

enum leaf_kind {
	LEAF_NONE, /* it has effects or loops, or is too large */
	LEAF_PURE,
	LEAF_RELAX, /* it pauses or yields the processor */
};

struct callee_effects {
	enum leaf_kind kind;
	uint64_t end;		/* of the code that was read */
	uint64_t reads, writes; /* registers of its caller that it reads; that it may write */
	uint64_t kills;		/* registers that it writes in any case */
	bool loads;
	bool straight; /* of LEAF_RELAX: it always relaxes */
	bool complete; /* it was read to its end, so reads and writes are complete */
};

/* Analyzes the procedure that begins at the address. */
void callee_effects__read(struct decoder *d, const struct code_source *source, uint64_t address,
			  struct callee_effects *leaf);

#endif
