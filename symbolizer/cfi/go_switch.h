/* SPDX-License-Identifier: GPL-2.0-only */
/* How Go's runtime.systemstack leaves the stack of a goroutine and comes back. One file for each architecture. */
#ifndef QUARTZ_SYMBOLIZER_GO_SWITCH_H
#define QUARTZ_SYMBOLIZER_GO_SWITCH_H

#include "symbolizer/elf/elf_file.h"

/*
 * Whether the function at `start` comes back in the way that the unwinder knows: to the stack pointer in the goroutine
 * that runs on the thread: m = g->m; g = m->curg; sp = g->sched.sp. *slot: where from the thread pointer the goroutine's
 * address is.
 */
bool go_switch__find(const struct elf_file *file, uint64_t start, int32_t *slot);

#endif
