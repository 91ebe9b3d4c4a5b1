/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Critical path zeroing while the program runs (Hollingsworth, IEEE TPDS 9(10), 1998): how much earlier each thread
 * would be where it is, if a candidate, a procedure or an object, took no time. What BPF programs and quartzd share
 * of it, and its arithmetic, which unit tests compile as well.
 *
 * A thread has a saving for each candidate and speed: time now less saving is when it would have come here. So
 * savings neither drift nor need a common beginning. All times are nanoseconds.
 */
#ifndef QUARTZ_CRITICAL_PATH_H
#define QUARTZ_CRITICAL_PATH_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define QZ_CANDIDATES 16

/*
 * How much of a candidate's time goes: all, half, a quarter (a shift by the number). Each has savings of its own: with
 * half of the time gone another path may be the longest one.
 */
#define QZ_SPEEDS 3
#define QZ_PATHS  (QZ_CANDIDATES * QZ_SPEEDS)

/* ---- shares ---- */

/*
 * A thread between two events (a wake-up of it or by it, a fork, its end) runs a segment. How much of that is a
 * candidate's is known from samples; and these come once in a millisecond, while segments may be far shorter. Were
 * each sample's period taken off the thread that it met, then the savings of threads that wait for each other often
 * would differ by chance, and each wait keeps the smaller one: next to nothing would be left. So a segment gets the
 * candidate's share in all segments between the same two places of the code, in whichever thread, and its own samples
 * only count for more as they become many.
 */
#define QZ_SHARE_BITS 16
#define QZ_SHARE_ONE  (1u << QZ_SHARE_BITS)

#define QZ_PATH_PRIOR	 16 /* of the own samples, so many weigh as much as all that was learned */
#define QZ_PATH_MEMORY	 1024 /* samples of a segment; beyond, they count by half */
#define QZ_PATH_SEGMENTS 8192 /* a power of two */

/* What samples in segments between two places have met. A slot of a hash table. */
struct qz_path_segment {
	__u64 key; /* 0: free */
	__u32 generation;
	__u32 samples;
	__u32 in[QZ_CANDIDATES];
	__u32 share[QZ_CANDIDATES]; /* of QZ_SHARE_ONE */
};

/* in of samples, of QZ_SHARE_ONE. No samples: 0. */
static inline __u32 qz_path__share(__u32 in, __u32 samples)
{
	return samples ? (__u32)((__u64)in * QZ_SHARE_ONE / samples) : 0;
}

/* The share in a segment with samples of its own, where `known` was learned from so many before. */
static inline __u32 qz_path__blend(__u32 in, __u32 samples, __u32 known, __u32 learned)
{
	__u32 prior = learned < QZ_PATH_PRIOR ? learned : QZ_PATH_PRIOR;

	if (!samples && !prior)
		return known;
	return (__u32)(((__u64)in * QZ_SHARE_ONE + (__u64)known * prior) / (samples + prior));
}

/* What a candidate with this share takes of a run of ns. */
static inline __u64 qz_path__part(__u64 ns, __u32 share)
{
	return (ns >> QZ_SHARE_BITS) * share +
	       (((ns & (QZ_SHARE_ONE - 1)) * share) >> QZ_SHARE_BITS);
}

/* ---- dependencies ---- */

/*
 * A thread was held up for `held` ns, until another one let it go on. It would have come here when both had: it
 * itself, and the other. Waiting as such costs nothing.
 */
static inline __u64 qz_path__released(__u64 own, __u64 held, __u64 other)
{
	return own + held < other ? own + held : other;
}

/* The same where the object that it waited for is the candidate: of the wait, this part is gone. */
static inline __u64 qz_path__unheld(__u64 own, __u64 held, __u64 released, __u32 speed)
{
	__u64 spared = own + (held >> speed);

	return spared > released ? spared : released;
}

/* ---- what both sides have ---- */

#define QZ_PATH_RANGES 64 /* of one image; of more, the first ones */

/* Code of a candidate, by its addresses in an image. Written by quartzd. */
struct qz_path_range {
	__u64 start, end;
	__u32 candidate;
	__u32 zero;
};

struct qz_path_image {
	__u32 n;
	__u32 zero;
	struct qz_path_range ranges[QZ_PATH_RANGES];
};

/* What the threads of a scope that have ended tell. */
struct qz_path_scope {
	__u64 finish
		[QZ_PATHS]; /* when the last one would have ended; of those that ended by themselves */
	__u64 most[QZ_PATHS];	   /* that one of them ran, without the candidate */
	__u64 work[QZ_CANDIDATES]; /* the candidate's time as it was taken off */
	__u64 running;		   /* of all of them */
	__u64 ended;		   /* by themselves */
	__u64 kept; /* blocked until something came that is no thread of the scope: time that stays */
	__u64 freed;	/* blocked until a thread of the scope came */
	__u64 spinning; /* samples in loops that wait: time that stays, too */
};

#endif
