/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which memory a thread waits for that is sampled at an address. An interrupt comes between two instructions: it waits for
 * the one that is being executed, and where that one has to wait for its memory, most interrupts come behind it.
 */
#ifndef QUARTZ_SYMBOLIZER_LAST_ACCESS_H
#define QUARTZ_SYMBOLIZER_LAST_ACCESS_H

#include "symbolizer/spin/cfg.h"

#define LAST_ACCESS_BEHIND	256 /* bytes behind the address that are searched for branches to it */
#define LAST_ACCESS_MAX_DECODED (CFG_APPROACH + LAST_ACCESS_BEHIND + 1)

/*
 * The operand of the instruction before the address, if that one led there and its registers still tell where it is; else of
 * the one at the address, which will be executed next; size 0: neither has one. `f` holds the surroundings; start: of
 * the procedure, 0: not known.
 */
struct qz_operand last_access__find(struct cfg *f, uint64_t address, uint64_t start);

#endif
