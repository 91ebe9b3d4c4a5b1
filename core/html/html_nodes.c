/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/html/html_nodes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "core/util/preorder.h"
#include "core/util/vec.h"

int64_t qz_html_nodes__intern(struct qz_html_nodes *t, uint32_t parent, uint32_t procedure)
{
	const struct qz_html_node new = {parent, procedure};
	int64_t i = QZ_INTERN(&t->table, &t->nodes, &t->n, &new, procedure);

	return i < QZ_HTML_MAX_NODES ? i : -E2BIG;
}

/* Nodes come after their parents, in a profile as here. */
static int intern_all(struct qz_html_nodes *t, const struct qz_profile *p, bool *wanted)
{
	for (uint32_t i = p->nnodes; i-- > 1;)
		wanted[p->nodes[i].parent] |= wanted[i];
	for (uint32_t i = 1; i < p->nnodes; i++) {
		const struct qz_location *loc = &p->locations[p->nodes[i].location];
		int64_t node = t->of[p->nodes[i].parent];

		if (!wanted[i])
			continue;
		for (uint32_t k = loc->nlines; node >= 0 && k-- > 0;)
			node = qz_html_nodes__intern(t, (uint32_t)node, loc->lines[k].procedure);
		if (node < 0)
			return (int)node;
		t->of[i] = (uint32_t)node;
	}
	return 0;
}

/* ---- order ---- */

int qz_html_nodes__sort(struct qz_html_nodes *t, uint32_t *indices, uint32_t n)
{
	struct qz_html_node *sorted = calloc(t->n, sizeof(*sorted));
	uint32_t *places = qz_preorder__places(t->nodes, sizeof(*t->nodes), t->n);

	if (!sorted || !places) {
		free(sorted);
		free(places);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < t->n; i++)
		sorted[places[i]] =
			(struct qz_html_node) {places[t->nodes[i].parent], t->nodes[i].procedure};
	for (uint32_t i = 0; i < n; i++)
		if (indices[i] != QZ_NONE)
			indices[i] = places[indices[i]];
	free(t->nodes);
	free(places);
	t->nodes = sorted;
	return 0;
}

int qz_html_nodes__init(struct qz_html_nodes *t)
{
	*t = (struct qz_html_nodes) {0};
	if (qz_array__reserve((void **)&t->nodes, 0, sizeof(*t->nodes)))
		return -ENOMEM;
	t->nodes[t->n++] = (struct qz_html_node) {0, QZ_NONE};
	return 0;
}

int qz_html_nodes__build(struct qz_html_nodes *t, const struct qz_profile *p, bool *wanted)
{
	int err = qz_html_nodes__init(t);

	t->of = malloc(((size_t)p->nnodes + 1) * sizeof(*t->of));
	if (err || !t->of)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->nnodes; i++)
		t->of[i] = QZ_NONE;
	t->of[0] = 0;
	err = intern_all(t, p, wanted);
	return err ? err : qz_html_nodes__sort(t, t->of, p->nnodes);
}

/* The distance of each node from its parent, which gzip packs into less than a byte. */
void qz_html_nodes__put(FILE *out, const struct qz_html_nodes *t)
{
	fputs(",\n\"nodes\":{\"back\":[", out);
	for (uint32_t i = 0; i < t->n; i++)
		fprintf(out, "%s%" PRIu32, i ? "," : "", i - t->nodes[i].parent);
	fputs("],\n\"procedure\":[", out);
	for (uint32_t i = 0; i < t->n; i++)
		fprintf(out, "%s%" PRId64, i ? "," : "",
			t->nodes[i].procedure == QZ_NONE ? -1 : (int64_t)t->nodes[i].procedure);
	fputs("]}", out);
}

void qz_html_nodes__free(struct qz_html_nodes *t)
{
	qz_hash_table__free(&t->table);
	free(t->nodes);
	free(t->of);
}
