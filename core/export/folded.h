/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Folded stacks, which flamegraph.pl, inferno and speedscope read: a line "frame;frame;frame VALUE" for each stack,
 * outermost frame first. Values are whole microseconds, as those of off-CPU tools: not all of these readers take
 * fractions. A ';' in a name is ':', as stackcollapse-perf.pl has it, and characters that cannot be printed are \xNN.
 */
#ifndef QUARTZ_CORE_EXPORT_FOLDED_H
#define QUARTZ_CORE_EXPORT_FOLDED_H

#include <stdio.h>

#include "core/export/stacks.h"

/*
 * The lines add up to the sum of this value, rounded; a line differs from its own time by less than 1 us, and lines of 0
 * are left out. 0 or -ENOMEM; write errors stay in out.
 */
int qz_folded__write(FILE *out, const struct qz_stacks *s, enum qz_stack_value which);

#endif
