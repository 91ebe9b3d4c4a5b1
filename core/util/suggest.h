/* SPDX-License-Identifier: GPL-2.0-only */
/* "Did you mean": which of some words is nearest to a misspelt one. */
#ifndef QUARTZ_CORE_SUGGEST_H
#define QUARTZ_CORE_SUGGEST_H

struct qz_suggestion {
	const char *word; /* the nearest so far, NULL: none is near */
	unsigned int distance;
};

/* Begin with all zero, and hand in one candidate after the other. Of equally near ones the first counts. */
void qz_suggestion__try(struct qz_suggestion *s, const char *written, const char *candidate);

#endif
