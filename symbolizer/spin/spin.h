/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decides whether the code at an address is a wait, by its form: doc/spinning.md has the rules and
 * their reasons. Needs no symbols. The work for each address is bounded.
 */
#ifndef QUARTZ_SYMBOLIZER_SPIN_H
#define QUARTZ_SYMBOLIZER_SPIN_H

#include <quartz/symbolizer.h>

#include "symbolizer/spin/cfg.h"
#include "symbolizer/spin/callee_effects.h"
#include "symbolizer/spin/last_access.h"
#include "symbolizer/spin/loop_counter.h"

struct spin;

/* Most instructions that are decoded for one address. */
#define SPIN_MAX_CALLS 16 /* most callees that are analyzed */
#define SPIN_MAX_DECODED                                                                           \
	(FLOW_MAX + 4 * CFG_APPROACH + COUNTER_APPROACH + LAST_ACCESS_MAX_DECODED +                \
	 (SPIN_MAX_CALLS + 1) * LEAF_INSTRUCTIONS)

/* For one architecture (ELF e_machine). NULL with errno ENOTSUP or ENOMEM. */
struct spin *spin__new(uint16_t machine);
void spin__free(struct spin *s);

/*
 * Classifies the code at an address where an instruction begins. [start, end) is its procedure if
 * that is known, else both are 0. Addresses are virtual.
 */
void spin__classify(struct spin *s, const struct code_source *source, uint64_t address,
		    uint64_t start, uint64_t end, struct spin_code *code);

/* The number of instructions decoded so far, for all addresses. */
uint64_t spin__decoded(const struct spin *s);

#endif
