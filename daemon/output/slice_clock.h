/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The time axis of slices. It follows the wall clock, but goes on by itself where that is set: a clock that is wrong for some
 * minutes names no slices for tomorrow, and makes none of yesterday too old. Pure; all times are milliseconds.
 */
#ifndef QUARTZ_DAEMON_SLICE_CLOCK_H
#define QUARTZ_DAEMON_SLICE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define SLICE_CLOCK_STEP    10000  /* a larger difference is that of a clock that was set */
#define SLICE_CLOCK_LASTING 600000 /* which counts when it has lasted for so long */

struct slice_clock {
	uint64_t until;	  /* of the last slice, since 1970 */
	uint64_t steady;  /* then, by a clock that nobody sets */
	uint64_t differs; /* since then, by it, the wall clock differs; 0: it does not */
	uint64_t set;	  /* when a difference last counted; 0: none did */
};

struct slice_span {
	uint64_t from, until; /* from < until */
};

/* The first slice begins now. */
void slice_clock__begin(struct slice_clock *c, uint64_t wall, uint64_t steady);

/* A slice ends now: its span. Spans follow each other, but where a difference has begun to count. */
struct slice_span slice_clock__cut(struct slice_clock *c, uint64_t wall, uint64_t steady);

/* Whether a slice is too old by the clock: not where that was set within the last `age`, for who knows by how much. */
bool slice_clock__is_old(const struct slice_clock *c, uint64_t until, uint64_t age);

#endif
