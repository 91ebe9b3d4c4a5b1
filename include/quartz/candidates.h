/* SPDX-License-Identifier: GPL-2.0-only */
/* Candidates of --what-if: the addresses of their code, written by quartzd for the sampler. */
#ifndef QUARTZ_CANDIDATES_H
#define QUARTZ_CANDIDATES_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define QZ_CANDIDATES	    16 /* bits of `cause` of a QZ_LOG_SAMPLE */
#define QZ_CANDIDATE_RANGES 64 /* of one image; of more, the first ones */

/* Code of a candidate, by its addresses in an image. */
struct qz_candidate_range {
	__u64 start, end;
	__u32 candidate;
	__u32 zero;
};

struct qz_candidate_code {
	__u32 n;
	__u32 zero;
	struct qz_candidate_range ranges[QZ_CANDIDATE_RANGES];
};

#endif
