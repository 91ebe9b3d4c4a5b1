/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the memory that a thread waits for at a sampled address. Interrupts come between two
 * instructions, mostly after one that had to wait for its memory.
 */
#ifndef QUARTZ_SYMBOLIZER_LAST_ACCESS_H
#define QUARTZ_SYMBOLIZER_LAST_ACCESS_H

#include "symbolizer/spin/cfg.h"

#define LAST_ACCESS_BEHIND	256 /* bytes after the address that are searched for branches to it */
#define LAST_ACCESS_MAX_DECODED (CFG_APPROACH + LAST_ACCESS_BEHIND + 1)

/*
 * The operand of the instruction before the address, if that was executed last and its registers
 * are unchanged; else that of the instruction at the address, which is executed next; size 0:
 * neither has one. `f` has the surroundings; start: of the procedure, 0: unknown.
 */
struct qz_operand last_access__find(struct cfg *f, uint64_t address, uint64_t start);

#endif
