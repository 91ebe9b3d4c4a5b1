/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Small procedures without effects on others: they read memory and give what they found, as those
 * do that hide a flag. A loop that calls them is like one that has their code in itself.
 */
#ifndef QUARTZ_SYMBOLIZER_CALLEE_EFFECTS_H
#define QUARTZ_SYMBOLIZER_CALLEE_EFFECTS_H

#include "symbolizer/insn/insn.h"

#define LEAF_BYTES	  256
#define LEAF_INSTRUCTIONS 48
#define LEAF_DEPTH	  2 /* calls in them to others */

/* Where code comes from. */
struct code_source {
	void *context;
	/* The range of code that holds an address; nothing outside of it is read. */
	bool (*range)(void *context, uint64_t address, uint64_t *start, uint64_t *end);
	/* Reads up to `size` bytes of code at an address; gives their number. */
	size_t (*read)(void *context, uint64_t address, uint8_t *to, size_t size);
	/* Whether the procedure that begins at the address is known to yield the processor. */
	bool (*yields)(void *context, uint64_t address);
};

enum leaf_kind {
	LEAF_NONE, /* it has effects, or loops, or is not small */
	LEAF_PURE,
	LEAF_RELAX, /* it pauses or yields the processor */
};

struct callee_effects {
	enum leaf_kind kind;
	uint64_t end;		/* of the code that was read */
	uint64_t reads, writes; /* registers that it reads from its caller; that it may write */
	uint64_t kills;		/* registers that it writes in any case */
	bool loads;
	bool straight; /* a relaxing one always relaxes */
	bool complete; /* it was read to its end: what it reads and writes is known */
};

/* Analyzes the procedure that begins at the address. */
void callee_effects__read(struct decoder *d, const struct code_source *source, uint64_t address,
			  struct callee_effects *leaf);

#endif
