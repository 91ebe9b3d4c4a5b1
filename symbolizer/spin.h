/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether the code at an address is a wait, by its shape: doc/spinning.md has the rules and what
 * they rest on. Symbols are not needed. For each address the work is bounded.
 */
#ifndef QUARTZ_SYMBOLIZER_SPIN_H
#define QUARTZ_SYMBOLIZER_SPIN_H

#include <quartz/spin.h>

#include "symbolizer/flow.h"
#include "symbolizer/leaf.h"

struct spin;

/* See struct symbolizer_verdict in daemon/symbolizer.h; here addresses are virtual. */
struct spin_verdict {
	enum qz_spin_class class;
	bool confirm, by_caller;
	uint32_t written;
	uint64_t start, end;
	struct place watched;
};

/* Instructions that are decoded for one verdict, at most. */
#define SPIN_MAX_CALLS	 16  /* procedures that are looked into */
#define SPIN_APPROACH	 128 /* bytes before the address */
#define SPIN_MAX_DECODED (FLOW_MAX + SPIN_APPROACH + (SPIN_MAX_CALLS + 1) * LEAF_INSTRUCTIONS)

/* For one architecture (ELF e_machine). NULL with errno: ENOTSUP, ENOMEM. */
struct spin *spin__new(uint16_t machine);
void spin__free(struct spin *s);

/*
 * Judges an address at which an instruction stands. [start, end) is the procedure it is in, as far
 * as that is known; both are 0 otherwise.
 */
void spin__judge(struct spin *s, const struct code_source *source, uint64_t address, uint64_t start,
		 uint64_t end, struct spin_verdict *verdict);

/* Instructions decoded so far, for all verdicts. */
uint64_t spin__decoded(const struct spin *s);

#endif
