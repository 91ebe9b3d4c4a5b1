/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/util/preorder.h"

#include <errno.h>
#include <stdlib.h>

/* n: it is a root. */
static uint32_t parent_of(const void *nodes, size_t size, uint32_t n, uint32_t i)
{
	uint32_t parent = *(const uint32_t *)((const char *)nodes + i * size);

	return parent < i ? parent : n;
}

uint32_t *qz_preorder__places(const void *nodes, size_t size, uint32_t n)
{
	uint32_t *places = malloc(((size_t)n + 1) * sizeof(*places));
	/* how many nodes a tree has, and then where its next child goes; the last is of the roots */
	uint32_t *next = calloc((size_t)n + 1, sizeof(*next));

	if (!places || !next) {
		free(places);
		free(next);
		errno = ENOMEM;
		return NULL;
	}
	for (uint32_t i = n; i-- > 0;)
		next[parent_of(nodes, size, n, i)] += ++next[i];
	next[n] = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t *at = &next[parent_of(nodes, size, n, i)];

		places[i] = *at;
		*at += next[i];
		next[i] = places[i] + 1;
	}
	free(next);
	return places;
}
