/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A profile without the parts that a reader does not want: small, also after a long run. It is a profile like any other,
 * and the difference of two (core/transform/delta.h) is what was measured in between.
 *
 * Pure.
 */
#ifndef QUARTZ_CORE_COMPACT_H
#define QUARTZ_CORE_COMPACT_H

#include "core/model/profile.h"

struct qz_compact {
	bool procedures; /* of each stack the innermost procedure stays; otherwise no code */
	uint64_t
		since_ns; /* CLOCK_MONOTONIC: threads that ended before then are not kept separately */
	uint32_t whole; /* scope that is kept in full, QZ_NONE: none */
};

/*
 * Levels, samples by level and all sums of scopes stay, and the sums of their threads as one row; waits,
 * wake-ups, objects, calls and instants go. Processes that ended some seconds before since_ns are put together.
 * Threads that ended before since_ns are not among those that were seen. To be estimated. NULL with errno ENOMEM.
 */
struct qz_profile *qz_compact__profile(const struct qz_profile *p, const struct qz_compact *what);

/* The last scope of this process and start (0: any), QZ_NONE: there is none. The machine's is never found. */
uint32_t qz_compact__find_scope(const struct qz_profile *p, int32_t pid, uint64_t start_ns);

#endif
