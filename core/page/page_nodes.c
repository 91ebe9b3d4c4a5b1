/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/page/page_nodes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "core/util/vec.h"

static bool is_node(const void *context, uint32_t index, const void *key)
{
	const struct qz_page_node *node = &((const struct qz_page_nodes *)context)->nodes[index];
	const struct qz_page_node *k = key;

	return node->parent == k->parent && node->procedure == k->procedure;
}

int64_t qz_page_nodes__intern(struct qz_page_nodes *t, uint32_t parent, uint32_t procedure)
{
	struct qz_page_node key = {parent, procedure};
	uint32_t hash = qz_hash_table__hash_number(parent, procedure);
	uint32_t i = qz_hash_table__find(&t->table, hash, is_node, t, &key);

	if (i != QZ_NONE)
		return i;
	if (t->n >= QZ_PAGE_MAX_NODES)
		return -E2BIG;
	return qz_hash_table__append(&t->table, hash, (void **)&t->nodes, &t->n, &key, sizeof(key));
}

/* Nodes stand behind their parents, in a profile as here. */
static int intern_all(struct qz_page_nodes *t, const struct qz_profile *p, bool *wanted)
{
	for (uint32_t i = p->nnodes; i-- > 1;)
		wanted[p->nodes[i].parent] |= wanted[i];
	for (uint32_t i = 1; i < p->nnodes; i++) {
		const struct qz_location *loc = &p->locations[p->nodes[i].location];
		int64_t node = t->of[p->nodes[i].parent];

		if (!wanted[i])
			continue;
		for (uint32_t k = loc->nlines; node >= 0 && k-- > 0;)
			node = qz_page_nodes__intern(t, (uint32_t)node, loc->lines[k].procedure);
		if (node < 0)
			return (int)node;
		t->of[i] = (uint32_t)node;
	}
	return 0;
}

/* ---- order ---- */

struct links {
	uint32_t *child, *sibling; /* QZ_NONE: none */
	uint32_t *place;	   /* of each node in the new order */
};

static void link_children(const struct qz_page_nodes *t, struct links *l)
{
	for (uint32_t i = 0; i < t->n; i++)
		l->child[i] = l->sibling[i] = QZ_NONE;
	for (uint32_t i = t->n; i-- > 1;) {
		l->sibling[i] = l->child[t->nodes[i].parent];
		l->child[t->nodes[i].parent] = i;
	}
}

/* From each to what it calls, and then to the next. */
static void find_places(const struct qz_page_nodes *t, struct links *l)
{
	uint32_t at = 0, n = 0;

	for (;;) {
		l->place[at] = n++;
		if (l->child[at] != QZ_NONE) {
			at = l->child[at];
			continue;
		}
		while (at && l->sibling[at] == QZ_NONE)
			at = t->nodes[at].parent;
		if (!at)
			return;
		at = l->sibling[at];
	}
}

int qz_page_nodes__sort(struct qz_page_nodes *t, uint32_t *indices, uint32_t n)
{
	struct qz_page_node *sorted = calloc(t->n, sizeof(*sorted));
	uint32_t *room = calloc(t->n, 3 * sizeof(*room));
	struct links l = {room, room + t->n, room + 2 * (size_t)t->n};

	if (!sorted || !room) {
		free(sorted);
		free(room);
		return -ENOMEM;
	}
	link_children(t, &l);
	find_places(t, &l);
	for (uint32_t i = 0; i < t->n; i++)
		sorted[l.place[i]] =
			(struct qz_page_node) {l.place[t->nodes[i].parent], t->nodes[i].procedure};
	for (uint32_t i = 0; i < n; i++)
		if (indices[i] != QZ_NONE)
			indices[i] = l.place[indices[i]];
	free(t->nodes);
	free(room);
	t->nodes = sorted;
	return 0;
}

int qz_page_nodes__init(struct qz_page_nodes *t)
{
	*t = (struct qz_page_nodes) {0};
	if (qz_array__reserve((void **)&t->nodes, 0, sizeof(*t->nodes)))
		return -ENOMEM;
	t->nodes[t->n++] = (struct qz_page_node) {0, QZ_NONE};
	return 0;
}

int qz_page_nodes__build(struct qz_page_nodes *t, const struct qz_profile *p, bool *wanted)
{
	int err = qz_page_nodes__init(t);

	t->of = malloc(((size_t)p->nnodes + 1) * sizeof(*t->of));
	if (err || !t->of)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->nnodes; i++)
		t->of[i] = QZ_NONE;
	t->of[0] = 0;
	err = intern_all(t, p, wanted);
	return err ? err : qz_page_nodes__sort(t, t->of, p->nnodes);
}

/* How far back the parent of each node stands, which gzip packs into less than a byte. */
void qz_page_nodes__put(FILE *out, const struct qz_page_nodes *t)
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

void qz_page_nodes__free(struct qz_page_nodes *t)
{
	qz_hash_table__free(&t->table);
	free(t->nodes);
	free(t->of);
}
