/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether the code at an address is a wait, by its shape: doc/spinning.md has the rules and what
 * they rest on. Symbols are not needed. For each address the work is bounded.
 */
#ifndef QUARTZ_SYMBOLIZER_SPIN_H
#define QUARTZ_SYMBOLIZER_SPIN_H

#include <quartz/symbolizer.h>

#include "symbolizer/spin/cfg.h"
#include "symbolizer/spin/callee_effects.h"
#include "symbolizer/spin/last_access.h"
#include "symbolizer/spin/loop_counter.h"

struct spin;

/* Instructions that are decoded for one address, at most. */
#define SPIN_MAX_CALLS 16 /* procedures that are looked into */
#define SPIN_MAX_DECODED                                                                           \
	(FLOW_MAX + 4 * CFG_APPROACH + COUNTER_APPROACH + LAST_ACCESS_MAX_DECODED +                \
	 (SPIN_MAX_CALLS + 1) * LEAF_INSTRUCTIONS)

/* For one architecture (ELF e_machine). NULL with errno: ENOTSUP, ENOMEM. */
struct spin *spin__new(uint16_t machine);
void spin__free(struct spin *s);

/*
 * What the code is at an address at which an instruction stands. [start, end) is the procedure it is in, as
 * far as that is known; both are 0 otherwise. Addresses are virtual.
 */
void spin__classify(struct spin *s, const struct code_source *source, uint64_t address,
		    uint64_t start, uint64_t end, struct spin_code *code);

/* Instructions decoded so far, for all addresses. */
uint64_t spin__decoded(const struct spin *s);

#endif
