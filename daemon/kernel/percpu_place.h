/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the kernel keeps what it has of each processor, by its types: many kernels have no symbols of it. */
#ifndef QUARTZ_DAEMON_PERCPU_PLACE_H
#define QUARTZ_DAEMON_PERCPU_PLACE_H

#include <stdint.h>

/*
 * Bytes from a processor's variable `from` to its variable `to`, the same for each processor; 0: not known. Reads all
 * types of the kernel, which takes some 20 ms.
 */
int64_t percpu_place__distance(const char *from, const char *to);

#endif
