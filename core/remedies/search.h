/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which values of a knob are tried, in rounds. Few are all tried. Of more, the first round has some
 * that are spread over the range, and each other one those halfway between the best one and its
 * neighbours. This assumes that the time falls up to the best value and rises behind it. Pure.
 */
#ifndef QUARTZ_CORE_SEARCH_H
#define QUARTZ_CORE_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#define QZ_SEARCH_FEW 6 /* values that are all tried */

enum qz_value_state {
	QZ_VALUE_OPEN,
	QZ_VALUE_KNOWN, /* tried, or the start, which each is compared with */
	QZ_VALUE_UNUSABLE,
};

struct qz_search {
	uint32_t n;
	const double *positions; /* ascending; places among others: values, or their logarithms */
	uint8_t *states;	 /* enum qz_value_state */
	uint32_t left;		 /* so many may still be tried */
	bool unordered; /* neighbours have nothing in common: as many as possible are tried */
};

/*
 * The values of the first round, and of the next one, with the best value so far. They become known.
 * Returns their number, at most QZ_SEARCH_FEW or, unordered, n; 0: there is nothing more to try.
 */
uint32_t qz_search__begin(struct qz_search *s, uint32_t *found);
uint32_t qz_search__go_on(struct qz_search *s, uint32_t best, uint32_t *found);

#endif
