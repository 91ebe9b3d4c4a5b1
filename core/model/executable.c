/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/model/executable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/util/base_name.h"

/* libz.so.1.2.13, ld-linux-x86-64.so.2, plugin.so; and what is no file at all, such as [vdso]. */
static bool is_library(const char *path)
{
	const char *name = qz_base_name(path), *so;

	if (*name == '\0' || *name == '[')
		return true;
	for (so = strstr(name, ".so"); so; so = strstr(so + 1, ".so"))
		if (so[3] == '\0' || so[3] == '.')
			return true;
	return false;
}

/* The outermost mapping of each stack that is no library's, QZ_NONE where all are. */
static void find_outermost(const struct qz_profile *p, const bool *library, uint32_t *outermost)
{
	outermost[0] = QZ_NONE;
	for (uint32_t i = 1; i < p->nnodes; i++) {
		uint32_t mapping = p->locations[p->nodes[i].location].mapping;

		/* a node comes after its parent */
		outermost[i] = outermost[p->nodes[i].parent];
		if (outermost[i] == QZ_NONE && mapping != QZ_NONE && !library[mapping])
			outermost[i] = mapping;
	}
}

static uint32_t find_most(const struct qz_profile *p, const uint32_t *outermost, uint64_t *counts)
{
	uint32_t best = QZ_NONE;

	for (uint32_t i = 0; i < p->nsamples; i++)
		if (outermost[p->samples[i].node] != QZ_NONE)
			counts[outermost[p->samples[i].node]] += qz_sample__weight(&p->samples[i]);
	for (uint32_t i = 0; i < p->nmappings; i++)
		if (counts[i] && (best == QZ_NONE || counts[i] > counts[best]))
			best = i;
	return best;
}

int qz_profile__executable(const struct qz_profile *p, uint32_t *mapping)
{
	bool *library = calloc((size_t)p->nmappings + 1, sizeof(*library));
	uint32_t *outermost = calloc((size_t)p->nnodes + 1, sizeof(*outermost));
	uint64_t *counts = calloc((size_t)p->nmappings + 1, sizeof(*counts));
	int err = library && outermost && counts ? 0 : -ENOMEM;

	*mapping = QZ_NONE;
	if (!err) {
		for (uint32_t i = 0; i < p->nmappings; i++)
			library[i] = is_library(p->mappings[i].path);
		find_outermost(p, library, outermost);
		*mapping = find_most(p, outermost, counts);
	}
	free(library);
	free(outermost);
	free(counts);
	return err;
}
