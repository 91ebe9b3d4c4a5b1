/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/transform/import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- maps ---- */

static uint32_t *new_map(uint32_t n)
{
	size_t size = ((size_t)n + 1) * sizeof(uint32_t);
	uint32_t *map = malloc(size);

	return map ? memset(map, 0xff, size) : NULL;
}

int qz_maps__new(struct qz_maps *maps, const struct qz_profile *from)
{
	*maps = (struct qz_maps) {
		.scopes = new_map(from->nscopes),
		.threads = new_map(from->nthreads),
		.objects = new_map(from->nobjects),
		.calls = new_map(from->ncalls),
		.mappings = new_map(from->nmappings),
		.procedures = new_map(from->nprocedures),
		.locations = new_map(from->nlocations),
		.nodes = new_map(from->nnodes),
		.causes = new_map(from->ncauses),
		.cuts = new_map(from->nlocations),
	};
	if (!maps->scopes || !maps->threads || !maps->objects || !maps->calls || !maps->mappings ||
	    !maps->procedures || !maps->locations || !maps->nodes || !maps->causes || !maps->cuts)
		return -ENOMEM;
	maps->nodes[0] = 0;
	return 0;
}

void qz_maps__free(struct qz_maps *maps)
{
	free(maps->scopes);
	free(maps->threads);
	free(maps->objects);
	free(maps->calls);
	free(maps->mappings);
	free(maps->procedures);
	free(maps->locations);
	free(maps->nodes);
	free(maps->causes);
	free(maps->cuts);
	*maps = (struct qz_maps) {0};
}

/* ---- code ---- */

int64_t qz_import__keep(uint32_t *entry, int64_t index)
{
	if (index >= 0)
		*entry = (uint32_t)index;
	return index;
}

static int64_t import_mapping(struct qz_import *m, uint32_t i)
{
	uint32_t *entry = &m->maps.mappings[i];

	if (*entry != QZ_NONE)
		return *entry;
	return qz_import__keep(entry, qz_profile__intern_mapping(m->to, &m->from->mappings[i]));
}

int64_t qz_import__procedure(struct qz_import *m, uint32_t i)
{
	uint32_t *entry = &m->maps.procedures[i];

	if (*entry != QZ_NONE)
		return *entry;
	return qz_import__keep(entry, qz_profile__intern_procedure(m->to, &m->from->procedures[i]));
}

static int import_line(struct qz_import *m, const struct qz_line *from, struct qz_line *to)
{
	int64_t index = qz_import__procedure(m, from->procedure);

	if (index < 0)
		return (int)index;
	*to = (struct qz_line) {.procedure = (uint32_t)index, .line = from->line};
	return from->part ? qz_profile__place_line(m->to, to, qz_line__file(m->from, from)) : 0;
}

static int64_t import_location(struct qz_import *m, uint32_t i)
{
	const struct qz_location *from = &m->from->locations[i];
	struct qz_location location = *from;
	uint32_t *entry = &m->maps.locations[i];
	int64_t index = 0;

	if (*entry != QZ_NONE)
		return *entry;
	location.lines = calloc(from->nlines + 1, sizeof(*location.lines));
	if (!location.lines)
		return -ENOMEM;
	if (from->mapping != QZ_NONE) {
		index = import_mapping(m, from->mapping);
		location.mapping = (uint32_t)index;
	}
	for (uint32_t k = 0; index >= 0 && k < from->nlines; k++)
		index = import_line(m, &from->lines[k], &location.lines[k]);
	if (index >= 0)
		index = qz_import__keep(entry, qz_profile__intern_location(m->to, &location));
	free(location.lines);
	return index;
}

int64_t qz_import__node(struct qz_import *m, uint32_t leaf)
{
	const struct qz_node *nodes = m->from->nodes;
	int64_t index = 0;

	while (index >= 0 && m->maps.nodes[leaf] == QZ_NONE) {
		uint32_t node = leaf;

		while (m->maps.nodes[nodes[node].parent] == QZ_NONE)
			node = nodes[node].parent;
		index = import_location(m, nodes[node].location);
		if (index >= 0)
			index = qz_profile__intern_node(m->to, m->maps.nodes[nodes[node].parent],
							(uint32_t)index);
		qz_import__keep(&m->maps.nodes[node], index);
	}
	return index < 0 ? index : m->maps.nodes[leaf];
}

int64_t qz_import__innermost(struct qz_import *m, uint32_t leaf)
{
	struct qz_line line = {0};
	struct qz_location cut = {.mapping = QZ_NONE, .nlines = 1, .lines = &line};
	const struct qz_location *from;
	uint32_t *entry;
	int64_t index;

	if (!leaf || !m->procedures)
		return 0;
	from = &m->from->locations[m->from->nodes[leaf].location];
	entry = &m->maps.cuts[m->from->nodes[leaf].location];
	if (*entry != QZ_NONE || !from->nlines)
		return from->nlines ? *entry : 0;
	index = qz_import__procedure(m, from->lines[0].procedure);
	if (index < 0)
		return index;
	line.procedure = (uint32_t)index;
	index = qz_profile__intern_location(m->to, &cut);
	if (index >= 0)
		index = qz_import__keep(entry, qz_profile__intern_node(m->to, 0, (uint32_t)index));
	return index;
}

int64_t qz_import__cause(struct qz_import *m, uint32_t i)
{
	uint32_t *entry = &m->maps.causes[i];

	if (*entry != QZ_NONE)
		return *entry;
	return qz_import__keep(entry, qz_waits__intern_cause(m->to, m->from->causes[i]));
}
