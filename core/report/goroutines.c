/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/report/goroutines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/figure.h"
#include "core/report/kernel_rows.h"
#include "core/util/hash_table.h"
#include "core/util/order.h"

bool qz_goroutines__begin_with(const struct qz_procedure *procedure)
{
	return !strcmp(procedure->name, "runtime.goexit") ||
	       !strcmp(procedure->name, "runtime.goexit.abi0");
}

static bool begins_with(const struct qz_profile *p, uint32_t node)
{
	const struct qz_location *l = &p->locations[p->nodes[node].location];

	return qz_goroutines__begin_with(&p->procedures[l->lines[l->nlines - 1].procedure]);
}

/* That of a thread is below the goroutine that has started it: a mark is between. */
static bool is_mark(const struct qz_profile *p, uint32_t node)
{
	const struct qz_location *l = &p->locations[p->nodes[node].location];

	return p->procedures[l->lines[0].procedure].kind == QZ_THREAD_START;
}

uint32_t qz_goroutines__node(const struct qz_profile *p, uint32_t leaf)
{
	for (uint32_t node = leaf; node && !is_mark(p, node); node = p->nodes[node].parent)
		if (p->nodes[node].parent && begins_with(p, p->nodes[node].parent))
			return node;
	return 0;
}

/* ---- one stack ---- */

struct origin {
	uint32_t start, creator;
	uint32_t inner; /* what `start` has called; QZ_NONE: nothing */
};

/* False: it is no goroutine's. */
static bool find_origin(const struct qz_profile *p, uint32_t leaf, struct origin *o)
{
	struct qz_frames frames = {.profile = p, .node = leaf};
	uint32_t procedure;

	*o = (struct origin) {QZ_NONE, QZ_NONE, QZ_NONE};
	while ((procedure = qz_frames__next(&frames)) != QZ_NONE) {
		if (p->procedures[procedure].kind == QZ_THREAD_START)
			return false; /* a thread's own stack, which a goroutine has started */
		if (p->procedures[procedure].kind != QZ_PROCEDURE)
			continue;
		if (qz_goroutines__begin_with(&p->procedures[procedure]))
			break;
		o->inner = o->start;
		o->start = procedure;
	}
	if (procedure == QZ_NONE || o->start == QZ_NONE)
		return false;
	procedure = qz_frames__next(&frames);
	if (procedure != QZ_NONE && p->procedures[procedure].kind == QZ_THREAD_START)
		o->creator = qz_frames__next(&frames);
	return true;
}

/* ---- wrappers ---- */

/* A go statement. `inner`: what all stacks have inside `start`; QZ_NONE: not all have the same. */
struct statements {
	struct origin *items;
	uint32_t n;
	struct qz_hash_table table;
	struct qz_hash_table rows; /* by start and creator */
};

static int add_statement(struct statements *s, const struct qz_profile *p, uint32_t node)
{
	struct origin o;
	int64_t i;

	if (!find_origin(p, node, &o))
		return 0;
	i = QZ_INTERN(&s->table, &s->items, &s->n, &o, creator);
	if (i < 0)
		return (int)i;
	if (s->items[i].inner != o.inner)
		s->items[i].inner = QZ_NONE;
	return 0;
}

/* One with arguments starts a closure that the compiler makes, named after who has it: main.load.func2. */
static bool is_wrapper(const struct qz_profile *p, const struct origin *o)
{
	const char *name = p->procedures[o->start].name, *outer;
	size_t length;

	if (o->creator == QZ_NONE || o->inner == QZ_NONE ||
	    !strncmp(p->procedures[o->inner].name, "runtime.", 8) ||
	    qz_procedure__is_kernel(&p->procedures[o->inner]))
		return false;
	outer = p->procedures[o->creator].name;
	length = strlen(outer);
	return !strncmp(name, outer, length) && !strncmp(name + length, ".func", 5) &&
	       !name[length + 5 + strspn(name + length + 5, "0123456789")];
}

static bool has_any(const struct qz_profile *p)
{
	for (uint32_t i = 0; i < p->nprocedures; i++)
		if (qz_goroutines__begin_with(&p->procedures[i]))
			return true;
	return false;
}

static int find_statements(struct statements *s, const struct qz_report *r)
{
	const struct qz_profile *p = r->profile;
	int err = 0;

	for (uint32_t i = 0; !err && i < p->nsamples; i++)
		if (p->samples[i].scope == r->scope)
			err = add_statement(s, p, p->samples[i].node);
	for (uint32_t i = 0; !err && i < p->nwaits; i++)
		if (qz_scope__covers(p, r->scope, p->waits[i].scope))
			err = add_statement(s, p, p->waits[i].node);
	return err;
}

/* ---- rows ---- */

/* The row of a stack. NULL, with *err 0: it is no goroutine's. */
static struct qz_goroutine_row *row_of(struct qz_goroutines *g, const struct qz_report *r,
				       struct statements *s, uint32_t node, int *err)
{
	struct qz_goroutine_row row;
	uint32_t known, before = g->n;
	struct origin o;
	int64_t i;

	*err = 0;
	if (!find_origin(r->profile, node, &o))
		return NULL;
	known = QZ_FIND(&s->table, s->items, &o, creator);
	row = (struct qz_goroutine_row) {.start = o.start, .creator = o.creator};
	if (known != UINT32_MAX && is_wrapper(r->profile, &s->items[known]))
		row.start = s->items[known].inner;
	i = QZ_INTERN(&s->rows, &g->rows, &g->n, &row, creator);
	*err = i < 0 ? (int)i : g->n > before ? qz_figure__init(&g->rows[i].figure, r) : 0;
	return *err ? NULL : &g->rows[i];
}

static int add_samples(struct qz_goroutines *g, const struct qz_report *r, struct statements *s)
{
	const struct qz_profile *p = r->profile;
	int err = 0;

	for (uint32_t i = 0; !err && i < p->nsamples; i++) {
		const struct qz_sample *sample = &p->samples[qz_report__sample(r, i)];
		struct qz_goroutine_row *row =
			sample->scope == r->scope ? row_of(g, r, s, sample->node, &err) : NULL;

		if (row)
			qz_figure__add(&row->figure, r, sample);
	}
	return err;
}

static int add_waits(struct qz_goroutines *g, const struct qz_report *r, struct statements *s)
{
	const struct qz_profile *p = r->profile;
	int err = 0;

	for (uint32_t i = 0; !err && i < p->nwaits; i++) {
		const struct qz_wait *w = &p->waits[i];
		struct qz_goroutine_row *row = qz_scope__covers(p, r->scope, w->scope)
						       ? row_of(g, r, s, w->node, &err)
						       : NULL;

		if (row)
			row->blocked_ns += w->blocked_ns;
	}
	return err;
}

static int compare(const void *x, const void *y)
{
	const struct qz_goroutine_row *a = x, *b = y;

	return qz_order(b->figure.norm_ns, a->figure.norm_ns)
		?: qz_order(b->blocked_ns, a->blocked_ns)
		?: qz_order(a->start, b->start) ?: qz_order(a->creator, b->creator);
}

int qz_goroutines__find(const struct qz_report *r, struct qz_goroutines *g)
{
	struct statements statements = {0};
	int err;

	*g = (struct qz_goroutines) {0};
	if (!has_any(r->profile))
		return 0;
	err = find_statements(&statements, r);
	err = err ?: add_samples(g, r, &statements);
	err = err ?: add_waits(g, r, &statements);
	free(statements.items);
	qz_hash_table__free(&statements.table);
	qz_hash_table__free(&statements.rows);
	for (uint32_t i = 0; !err && i < g->n; i++)
		qz_figure__finish(&g->rows[i].figure, r);
	if (!err && g->n)
		qsort(g->rows, g->n, sizeof(*g->rows), compare);
	return err;
}

void qz_goroutines__free(struct qz_goroutines *g)
{
	for (uint32_t i = 0; i < g->n; i++)
		qz_figure__clear(&g->rows[i].figure);
	free(g->rows);
	*g = (struct qz_goroutines) {0};
}
