/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How Go's runtime.systemstack leaves the stack of a goroutine and comes back, and where a goroutine has what it was started by: read from
 * the runtime's own code, also of stripped programs. One file for each architecture.
 */
#ifndef QUARTZ_SYMBOLIZER_GO_SWITCH_H
#define QUARTZ_SYMBOLIZER_GO_SWITCH_H

#include "symbolizer/elf/elf_file.h"

/*
 * Whether the function at `start` comes back in the way that the unwinder knows: to the stack pointer in the goroutine
 * that runs on the thread: m = g->m; g = m->curg; sp = g->sched.sp. *slot: where from the thread pointer the goroutine's
 * address is.
 */
bool go_switch__find(const struct elf_file *file, uint64_t start, int32_t *slot);

/*
 * Where a goroutine's g has the address of the go statement (g.gopc), in bytes: runtime.printcreatedby at `start` loads it from
 * its argument first, before it asks whether the goroutine is number 1. 0: the code is not such.
 */
uint32_t go_switch__creator(const struct elf_file *file, uint64_t start);

#endif
