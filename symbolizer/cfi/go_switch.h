/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds how Go's runtime.systemstack switches from the stack of a goroutine and back, and where a
 * goroutine keeps the address of the go statement that started it. Reads the runtime's code, also
 * in stripped programs. One file for each architecture.
 */
#ifndef QUARTZ_SYMBOLIZER_GO_SWITCH_H
#define QUARTZ_SYMBOLIZER_GO_SWITCH_H

#include "symbolizer/elf/elf_file.h"

/*
 * Whether the function at `start` switches back in the way that the unwinder knows, to the stack
 * pointer of the thread's current goroutine: m = g->m; g = m->curg; sp = g->sched.sp. *slot: offset
 * of g from the thread pointer.
 */
bool go_switch__find(const struct elf_file *file, uint64_t start, int32_t *slot);

/*
 * The offset of the go statement's address in a goroutine's g (g.gopc), bytes.
 * runtime.printcreatedby at `start` loads it from its argument first, before it asks whether the
 * goroutine is number 1. 0: the code has another form.
 */
uint32_t go_switch__creator(const struct elf_file *file, uint64_t start);

#endif
