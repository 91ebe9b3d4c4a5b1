/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/util/suggest.h"

#include <string.h>

#define MAX_LENGTH 32 /* of words that are compared */

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/*
 * How many letters must be left out, put in, replaced or exchanged with their neighbours (optimal string
 * alignment). Both words are at most MAX_LENGTH long.
 */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int rows[3][MAX_LENGTH + 1]; /* of the last three letters of a */
	size_t na = strlen(a), nb = strlen(b);

	for (size_t j = 0; j <= nb; j++)
		rows[0][j] = (unsigned int)j;
	for (size_t i = 1; i <= na; i++) {
		unsigned int *row = rows[i % 3], *above = rows[(i + 2) % 3];

		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= nb; j++) {
			row[j] = least(least(above[j], row[j - 1]) + 1,
				       above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], rows[(i + 1) % 3][j - 2] + 1);
		}
	}
	return rows[na % 3][nb];
}

void qz_suggestion__try(struct qz_suggestion *s, const char *written, const char *candidate)
{
	size_t length = strlen(written);
	unsigned int d, most = length < 6 ? 1 : (unsigned int)length / 3;

	if (length < 2 || length > MAX_LENGTH || strlen(candidate) > MAX_LENGTH)
		return;
	/* what was left off at the end is nearer than what is wrong */
	d = strncmp(candidate, written, length) ? distance(written, candidate) : 0;
	if (d > most || (s->word && d >= s->distance))
		return;
	s->word = candidate;
	s->distance = d;
}
