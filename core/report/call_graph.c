/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/report/report.h"

#include <errno.h>
#include <stdlib.h>

#include "core/util/order.h"
#include "core/util/vec.h"
#include "core/report/figure.h"
#include "core/report/wait_report.h"

/* The other end of an edge. */
struct end {
	uint32_t procedure;
	uint32_t via;
};

/* Finds the end on the stack of this leaf; false when the procedure is not on it. */
typedef bool find_end(const struct qz_profile *p, uint32_t leaf, uint32_t procedure,
		      struct end *end);

static void pass_marker(struct end *end, uint32_t kind)
{
	if (kind > end->via)
		end->via = kind;
}

/* Remembers the frame inside of each occurrence; what was remembered last is the outermost. */
static bool find_callee(const struct qz_profile *p, uint32_t leaf, uint32_t procedure,
			struct end *end)
{
	struct qz_frames frames = {.profile = p, .node = leaf};
	struct end inner = {.procedure = QZ_NONE, .via = QZ_PROCEDURE};
	bool found = false;
	uint32_t frame;

	while ((frame = qz_frames__next(&frames)) != QZ_NONE) {
		if (p->procedures[frame].kind != QZ_PROCEDURE) {
			pass_marker(&inner, p->procedures[frame].kind);
			continue;
		}
		if (frame == procedure) {
			*end = inner;
			found = true;
		}
		inner = (struct end) {.procedure = frame, .via = QZ_PROCEDURE};
	}
	return found;
}

/* Finds the frame outside of it, for which it waits after each occurrence. */
static bool find_caller(const struct qz_profile *p, uint32_t leaf, uint32_t procedure,
			struct end *end)
{
	struct qz_frames frames = {.profile = p, .node = leaf};
	bool found = false, waiting = false;
	uint32_t frame;

	while ((frame = qz_frames__next(&frames)) != QZ_NONE) {
		if (frame == procedure) {
			*end = (struct end) {.procedure = QZ_NONE, .via = QZ_PROCEDURE};
			found = waiting = true;
		} else if (waiting && p->procedures[frame].kind != QZ_PROCEDURE) {
			pass_marker(end, p->procedures[frame].kind);
		} else if (waiting) {
			end->procedure = frame;
			waiting = false;
		}
	}
	return found;
}

struct edges {
	struct qz_edge *all;
	uint32_t n;
	uint32_t *slots; /* of each procedure and kind, and of none: index in all, or QZ_NONE */
};

static int edges_init(struct edges *edges, const struct qz_profile *p)
{
	size_t n = ((size_t)p->nprocedures + 1) * QZ_PROCEDURE_KINDS;

	*edges = (struct edges) {.slots = malloc(n * sizeof(*edges->slots))};
	if (!edges->slots)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		edges->slots[i] = QZ_NONE;
	return 0;
}

static struct qz_edge *edge_to(struct edges *edges, const struct qz_report *r, struct end end)
{
	uint32_t row = end.procedure == QZ_NONE ? r->profile->nprocedures : end.procedure;
	uint32_t *slot = &edges->slots[(size_t)row * QZ_PROCEDURE_KINDS + end.via];
	struct qz_edge *edge;

	if (*slot != QZ_NONE)
		return &edges->all[*slot];
	if (qz_array__reserve((void **)&edges->all, edges->n, sizeof(*edges->all)))
		return NULL;
	edge = &edges->all[edges->n];
	*edge = (struct qz_edge) {.procedure = end.procedure, .via = end.via};
	if (qz_figure__init(&edge->figure, r))
		return NULL;
	*slot = edges->n++;
	return edge;
}

static int compare_edges(const void *x, const void *y)
{
	const struct qz_edge *a = x, *b = y;

	return qz_order(b->figure.norm_ns, a->figure.norm_ns)
		?: qz_order(b->waits.blocked_ns, a->waits.blocked_ns)
		?: qz_order(b->calls, a->calls)
		?: qz_order(a->procedure, b->procedure)
		?: qz_order(a->via, b->via);
}

/* Of a call without a caller there is only what the callee says of it. */
static int collect_calls(struct edges *edges, const struct qz_report *r, uint32_t procedure,
			 bool callers)
{
	const struct qz_profile *p = r->profile;

	for (uint32_t i = 0; i < p->ncalls; i++) {
		const struct qz_call_count *c = &p->calls[i];
		struct end end = {callers ? c->caller : c->callee, QZ_PROCEDURE};
		struct qz_edge *edge;

		if (!qz_scope__covers(p, r->scope, c->scope) || !c->count ||
		    (callers ? c->callee : c->caller) != procedure)
			continue;
		edge = edge_to(edges, r, end);
		if (!edge)
			return -ENOMEM;
		edge->calls += c->count;
	}
	return 0;
}

static int collect(struct edges *edges, const struct qz_report *r, uint32_t procedure,
		   find_end *find)
{
	const struct qz_profile *p = r->profile;
	struct end end;
	int err;

	for (uint32_t i = 0; i < p->nsamples; i++) {
		const struct qz_sample *s = &p->samples[qz_report__sample(r, i)];
		struct qz_edge *edge;

		if (s->scope != r->scope || !find(p, s->node, procedure, &end))
			continue;
		edge = edge_to(edges, r, end);
		if (!edge)
			return -ENOMEM;
		qz_figure__add(&edge->figure, r, s);
	}
	for (uint32_t i = 0; i < p->nwaits; i++) {
		const struct qz_wait *w = &p->waits[i];
		struct qz_edge *edge;

		if (!qz_scope__covers(p, r->scope, w->scope) || !find(p, w->node, procedure, &end))
			continue;
		edge = edge_to(edges, r, end);
		if (!edge)
			return -ENOMEM;
		qz_wait_figure__add_at(&edge->waits, r, w);
	}
	err = collect_calls(edges, r, procedure, find == find_caller);
	if (err)
		return err;
	for (uint32_t i = 0; i < edges->n; i++)
		qz_figure__finish(&edges->all[i].figure, r);
	if (edges->n)
		qsort(edges->all, edges->n, sizeof(*edges->all), compare_edges);
	return 0;
}

static int edges_of(const struct qz_report *r, uint32_t procedure, find_end *find,
		    struct qz_edge **all, uint32_t *n)
{
	struct edges edges;
	int err;

	if (procedure >= r->profile->nprocedures ||
	    r->profile->procedures[procedure].kind != QZ_PROCEDURE)
		return -EINVAL;
	err = edges_init(&edges, r->profile);
	if (err)
		return err;
	err = collect(&edges, r, procedure, find);
	free(edges.slots);
	if (err) {
		qz_call_graph__free(edges.all, edges.n);
		return err;
	}
	*all = edges.all;
	*n = edges.n;
	return 0;
}

int qz_call_graph__callees(const struct qz_report *r, uint32_t procedure, struct qz_edge **edges,
			   uint32_t *n)
{
	return edges_of(r, procedure, find_callee, edges, n);
}

int qz_call_graph__callers(const struct qz_report *r, uint32_t procedure, struct qz_edge **edges,
			   uint32_t *n)
{
	return edges_of(r, procedure, find_caller, edges, n);
}

void qz_call_graph__free(struct qz_edge *edges, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		qz_figure__clear(&edges[i].figure);
	free(edges);
}
