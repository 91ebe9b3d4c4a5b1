/* SPDX-License-Identifier: GPL-2.0-only */
/* Which candidates of --what-if are on a stack. What follows from it is worked out by core/replay. */
#ifndef QUARTZ_CANDIDATES_BPF_H
#define QUARTZ_CANDIDATES_BPF_H

#include "quartz/candidates.h"

const volatile bool wanted_what_if; /* samples tell of candidates */

/* Key: image. Written by quartzd. The least recently used ones go when it is full: processes that have ended. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct qz_candidate_code);
} candidate_codes SEC(".maps");

/* The candidate whose code is at an address, + 1; 0: none. */
__noinline u32 candidate__at(const struct qz_candidate_code *code, u64 address)
{
	u32 n;

	if (!code)
		return 0;
	n = code->n;
	for (u32 i = 0; i < QZ_CANDIDATE_RANGES; i++) {
		if (i >= n)
			break;
		if (address - code->ranges[i].start < code->ranges[i].end - code->ranges[i].start)
			return code->ranges[i].candidate + 1;
	}
	return 0;
}

/* Those on a stack: a bit for each. */
__noinline u32 candidates__on(const struct unwinding *u, u32 image)
{
	struct qz_candidate_code *code = bpf_map_lookup_elem(&candidate_codes, &image);
	u32 on = 0, found;

	if (!code || !u)
		return 0;
	for (u32 i = 0; i < QZ_USER_FRAMES; i++) {
		if (i >= unwind__own_frames(u))
			break;
		found = candidate__at(code, u->frames[i] - !!i);
		if (found)
			on |= 1u << ((found - 1) & (QZ_CANDIDATES - 1));
	}
	return on;
}

#endif
