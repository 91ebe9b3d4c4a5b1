/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/remedies/search.h"

#include <math.h>

#define SPREAD 5

/* Takes the open value from `lo` to `hi` that is nearest to the position. Returns how many: 1 or 0. */
static uint32_t take_nearest(struct qz_search *s, double position, uint32_t lo, uint32_t hi,
			     uint32_t *found)
{
	uint32_t best = s->n;

	for (uint32_t i = lo; i <= hi && i < s->n; i++)
		if (s->states[i] == QZ_VALUE_OPEN &&
		    (best == s->n ||
		     fabs(s->positions[i] - position) < fabs(s->positions[best] - position)))
			best = i;
	if (best == s->n || !s->left)
		return 0;
	s->states[best] = QZ_VALUE_KNOWN;
	s->left--;
	*found = best;
	return 1;
}

uint32_t qz_search__begin(struct qz_search *s, uint32_t *found)
{
	uint32_t open = 0, n = 0;
	double first, width;

	for (uint32_t i = 0; i < s->n; i++)
		open += s->states[i] == QZ_VALUE_OPEN;
	if (!s->unordered && open > QZ_SEARCH_FEW)
		open = SPREAD;
	if (!open)
		return 0;
	first = s->positions[0];
	width = s->positions[s->n - 1] - first;
	for (uint32_t i = 0; i < open; i++)
		n += take_nearest(s, open > 1 ? first + width * i / (open - 1) : first, 0, s->n - 1,
				  found + n);
	return n;
}

uint32_t qz_search__go_on(struct qz_search *s, uint32_t best, uint32_t *found)
{
	uint32_t lo = best, hi = best, n = 0;

	while (lo && s->states[lo - 1] != QZ_VALUE_KNOWN)
		lo--;
	while (hi + 1 < s->n && s->states[hi + 1] != QZ_VALUE_KNOWN)
		hi++;
	if (lo < best)
		n += take_nearest(s, (s->positions[lo] + s->positions[best]) / 2, lo, best - 1,
				  found);
	if (hi > best)
		n += take_nearest(s, (s->positions[hi] + s->positions[best]) / 2, best + 1, hi,
				  found + n);
	return n;
}
