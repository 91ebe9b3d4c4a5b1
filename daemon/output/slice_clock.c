// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/output/slice_clock.h"

void slice_clock__begin(struct slice_clock *c, uint64_t wall, uint64_t steady)
{
	*c = (struct slice_clock) {.until = wall, .steady = steady};
}

/* Whether the wall clock is to be followed again. */
static bool follows(struct slice_clock *c, uint64_t wall, uint64_t steady, uint64_t expected)
{
	uint64_t difference = wall > expected ? wall - expected : expected - wall;

	if (difference <= SLICE_CLOCK_STEP) {
		c->differs = 0;
		return true;
	}
	if (!c->differs)
		c->differs = steady;
	if (steady - c->differs < SLICE_CLOCK_LASTING)
		return false;
	c->differs = 0;
	c->set = steady;
	return true;
}

struct slice_span slice_clock__cut(struct slice_clock *c, uint64_t wall, uint64_t steady)
{
	uint64_t length = steady > c->steady ? steady - c->steady : 1, before = c->set;
	struct slice_span span = {c->until, c->until + length};

	if (follows(c, wall, steady, span.until))
		span.until = wall;
	if (c->set != before) /* it begins by the new clock, too */
		span.from = wall > length ? wall - length : 0;
	else if (span.until <= span.from)
		span.until = span.from + 1;
	c->until = span.until;
	c->steady = steady;
	return span;
}

bool slice_clock__is_old(const struct slice_clock *c, uint64_t until, uint64_t age)
{
	if (c->set && c->steady - c->set < age)
		return false;
	return until + age < c->until;
}
