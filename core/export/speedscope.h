/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file format of speedscope (https://www.speedscope.app/file-format-schema.json): a "sampled" profile in
 * nanoseconds for normalized time, processor time, blocked and spin time each, over the same frames. Profiles that are 0
 * throughout are left out, except normalized time. Samples are in the order of the tree of calls, since a profile has no
 * time axis: in speedscope's view by time, equal callers are side by side.
 */
#ifndef QUARTZ_CORE_EXPORT_SPEEDSCOPE_H
#define QUARTZ_CORE_EXPORT_SPEEDSCOPE_H

#include <stdio.h>

#include "core/export/stacks.h"

/* Weights add up to the sum of the value, exactly. `name` is the file's. 0 or -ENOMEM; write errors stay in out. */
int qz_speedscope__write(FILE *out, const struct qz_stacks *s, const char *name);

#endif
