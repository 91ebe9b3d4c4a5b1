/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/report/process_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/util/vec.h"
#include "core/estimate/estimate.h"
#include "core/transform/merge.h"
#include "core/util/hash_table.h"
#include "core/util/order.h"
#include "core/util/systemd_unit.h"

/* What a row has of one procedure or object. */
struct part {
	uint32_t row, what;
	bool object;
	uint64_t norm_ns, wait_ns;
};

struct making {
	const struct qz_profile *p;
	struct qz_process_table *t;
	uint32_t machine;
	uint32_t *row_of; /* of each scope, QZ_NONE: not wanted */
	struct qz_hash_table by_name;
	struct part *parts;
	uint32_t nparts;
	struct qz_hash_table by_part;
};

double qz_process_row__parallelism(const struct qz_process_row *row)
{
	return row->busy_ns ? (double)row->busy_cpu_ns / (double)row->busy_ns : 0;
}

double qz_process_row__serial(const struct qz_process_row *row)
{
	return row->busy_ns ? (double)row->serial_ns / (double)row->busy_ns : 0;
}

void qz_process_table__free(struct qz_process_table *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		free(t->rows[i].name);
	free(t->rows);
	*t = (struct qz_process_table) {0};
}

/* ---- rows ---- */

static void name_of(const struct qz_scope *s, enum qz_process_group by, const char **name,
		    char unit[QZ_UNIT_LENGTH])
{
	*name = s->comm;
	if (by == QZ_BY_PROCESS && qz_scope__is_group(s)) {
		snprintf(unit, QZ_UNIT_LENGTH, "%s (short-lived)", s->comm);
		*name = unit;
	}
	if (by == QZ_BY_CGROUP)
		*name = s->cgroup;
	if (by != QZ_BY_UNIT)
		return;
	qz_systemd_unit__of_cgroup(s->cgroup, unit);
	*name = unit;
}

static bool same_name(const void *context, uint32_t index, const void *key)
{
	return !strcmp(((const struct qz_process_table *)context)->rows[index].name, key);
}

static uint32_t add_row(struct making *m, const char *name, uint32_t scope)
{
	struct qz_process_table *t = m->t;
	struct qz_process_row *row;

	if (qz_array__reserve((void **)&t->rows, t->n, sizeof(*t->rows)))
		return QZ_NONE;
	row = &t->rows[t->n];
	*row = (struct qz_process_row) {
		.scope = scope, .top_procedure = QZ_NONE, .top_object = QZ_NONE};
	row->name = strdup(name);
	return row->name ? t->n++ : QZ_NONE;
}

/*
 * The row of a scope; the kernel's threads are a row of their own in each table, and ended processes that were put
 * together are not one with a program that calls itself so.
 */
static uint32_t find_row(struct making *m, uint32_t scope, enum qz_process_group by)
{
	const struct qz_scope *s = &m->p->scopes[scope];
	char unit[QZ_UNIT_LENGTH];
	const char *name;
	uint32_t hash, row;

	if (s->kind == QZ_SCOPE_KERNEL)
		return add_row(m, "[kernel]", scope);
	name_of(s, by, &name, unit);
	if (by == QZ_BY_PROCESS || (by == QZ_BY_COMM && qz_scope__is_folded(s)))
		return add_row(m, name, scope);
	hash = qz_hash_table__hash_string(1, name);
	row = qz_hash_table__find(&m->by_name, hash, same_name, m->t, name);
	if (row != QZ_NONE)
		return row;
	if (qz_hash_table__reserve(&m->by_name))
		return QZ_NONE;
	row = add_row(m, name, scope);
	if (row != QZ_NONE)
		qz_hash_table__insert(&m->by_name, hash, row);
	return row;
}

static int add_scope(struct making *m, uint32_t scope, enum qz_process_group by)
{
	const struct qz_scope *s = &m->p->scopes[scope];
	struct qz_process_row *row;

	m->row_of[scope] = find_row(m, scope, by);
	if (m->row_of[scope] == QZ_NONE)
		return -ENOMEM;
	row = &m->t->rows[m->row_of[scope]];
	row->processes += qz_scope__is_group(s) ? s->counters.threads_seen : 1;
	row->threads += s->counters.threads_seen;
	row->cpu_ns += s->cpu_ns;
	row->samples += s->samples;
	row->unresolved += s->unresolved;
	return 0;
}

/* ---- parts ---- */

static struct part *part_of(struct making *m, uint32_t row, uint32_t what, bool object)
{
	const struct part new = {.row = row, .what = what, .object = object};
	int64_t i = QZ_INTERN(&m->by_part, &m->parts, &m->nparts, &new, object);

	return i < 0 ? NULL : &m->parts[i];
}

/* The procedure at whose own account a sample is, QZ_NONE for markers. */
static uint32_t leaf_of(const struct qz_profile *p, uint32_t node)
{
	const struct qz_location *location;
	uint32_t procedure;

	if (!node)
		return QZ_NONE;
	location = &p->locations[p->nodes[node].location];
	procedure = location->nlines ? location->lines[0].procedure : QZ_NONE;
	return procedure != QZ_NONE && p->procedures[procedure].kind == QZ_PROCEDURE ? procedure
										     : QZ_NONE;
}

static int add_parts(struct making *m, uint32_t row, const struct qz_sample *s)
{
	uint32_t leaf = leaf_of(m->p, s->node);
	struct part *part;

	if (leaf != QZ_NONE) {
		part = part_of(m, row, leaf, false);
		if (!part)
			return -ENOMEM;
		part->norm_ns += s->norm_ns;
	}
	if (s->object == QZ_NONE)
		return 0;
	part = part_of(m, row, s->object, true);
	if (!part)
		return -ENOMEM;
	part->norm_ns += s->norm_ns;
	return 0;
}

/* ---- samples ---- */

/* In the machine's table a sample belongs to the process of its thread. */
static int add_machine_sample(struct making *m, const struct qz_sample *s)
{
	uint32_t row;

	m->t->busy_ns += s->norm_ns;
	if (s->thread == QZ_NONE) {
		m->t->unattributed_ns += s->norm_ns;
		return 0;
	}
	row = m->row_of[m->p->threads[s->thread].scope];
	if (row == QZ_NONE)
		return 0;
	m->t->rows[row].norm_ns += s->norm_ns;
	return add_parts(m, row, s);
}

static int add_own_sample(struct making *m, const struct qz_sample *s)
{
	uint32_t at = m->row_of[s->scope];
	struct qz_process_row *row;

	if (at == QZ_NONE)
		return 0;
	row = &m->t->rows[at];
	row->busy_ns += s->norm_ns;
	row->busy_cpu_ns += s->busy * s->norm_ns;
	if (s->busy == 1)
		row->serial_ns += s->norm_ns;
	if (s->spinning) {
		row->spin_ns += s->cpu_ns;
		row->spin_samples += s->count;
	}
	if (m->machine != QZ_NONE)
		return 0;
	row->norm_ns += s->norm_ns;
	return add_parts(m, at, s);
}

static int add_samples(struct making *m)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < m->p->nsamples; i++) {
		const struct qz_sample *s = &m->p->samples[i];

		err = s->scope == m->machine ? add_machine_sample(m, s) : add_own_sample(m, s);
	}
	for (uint32_t i = 0; !err && i < m->p->nobjects; i++) {
		const struct qz_object *o = &m->p->objects[i];
		uint32_t row = m->row_of[o->scope];
		struct part *part;

		if (row == QZ_NONE || !o->wait_ns)
			continue;
		part = part_of(m, row, i, true);
		if (!part)
			err = -ENOMEM;
		else
			part->wait_ns += o->wait_ns;
	}
	return err;
}

static bool is_more(const struct part *a, const struct part *b)
{
	if (a->norm_ns != b->norm_ns)
		return a->norm_ns > b->norm_ns;
	return a->wait_ns != b->wait_ns ? a->wait_ns > b->wait_ns : a->what < b->what;
}

static int find_tops(struct making *m)
{
	/* of each row the first procedure and the first object so far */
	const struct part **tops = calloc(2 * (size_t)m->t->n + 1, sizeof(*tops));

	if (!tops)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->nparts; i++) {
		const struct part *part = &m->parts[i];
		const struct part **top = &tops[2 * part->row + part->object];

		if (!*top || is_more(part, *top))
			*top = part;
	}
	for (uint32_t i = 0; i < m->t->n; i++) {
		if (tops[2 * i])
			m->t->rows[i].top_procedure = tops[2 * i]->what;
		if (tops[2 * i + 1])
			m->t->rows[i].top_object = tops[2 * i + 1]->what;
	}
	free(tops);
	return 0;
}

/* ---- order ---- */

static int descending(double a, double b)
{
	return (a < b) - (a > b);
}

static int compare(const void *x, const void *y, void *context)
{
	const struct qz_process_row *a = x, *b = y;
	int order = 0;

	switch (*(enum qz_process_order *)context) {
	case QZ_ORDER_CPU:
		order = descending((double)a->cpu_ns, (double)b->cpu_ns);
		break;
	case QZ_ORDER_PARALLELISM:
		order = descending(qz_process_row__parallelism(a), qz_process_row__parallelism(b));
		break;
	case QZ_ORDER_SERIAL:
		order = descending(qz_process_row__serial(a), qz_process_row__serial(b));
		break;
	case QZ_ORDER_SPIN:
		order = descending((double)a->spin_ns, (double)b->spin_ns);
		break;
	case QZ_ORDER_THREADS:
		order = descending((double)a->threads, (double)b->threads);
		break;
	case QZ_ORDER_NAME:
		order = strcmp(a->name, b->name);
		break;
	case QZ_ORDER_AUTO:
	case QZ_ORDER_NORM:
		break;
	}
	order = order ? order : descending((double)a->norm_ns, (double)b->norm_ns);
	order = order ? order : descending((double)a->cpu_ns, (double)b->cpu_ns);
	return order ? order : qz_order(a->scope, b->scope);
}

bool qz_process_table__is_rough(const struct qz_process_table *t, const struct qz_process_row *row)
{
	return t->estimated && row->samples < QZ_FEW_SAMPLES && (row->cpu_ns || row->norm_ns);
}

static void add_intervals(struct qz_process_table *t, const struct qz_scope *machine)
{
	for (uint32_t i = 0; i < t->n; i++)
		t->rows[i].ci_ns =
			qz_share_half_width(t->busy_ns, t->rows[i].samples, machine->samples);
}

static enum qz_process_order order_of(const struct qz_process_table *t,
				      enum qz_process_order wanted)
{
	double all = 0, rough = 0;

	if (wanted != QZ_ORDER_AUTO)
		return wanted;
	for (uint32_t i = 0; i < t->n; i++) {
		all += (double)t->rows[i].cpu_ns;
		if (qz_process_table__is_rough(t, &t->rows[i]))
			rough += (double)t->rows[i].cpu_ns;
	}
	return rough > all / 2 ? QZ_ORDER_CPU : QZ_ORDER_NORM;
}

int qz_process_table__make(struct qz_process_table *t, const struct qz_profile *p,
			   const uint32_t *scopes, uint32_t n, enum qz_process_group by,
			   enum qz_process_order order)
{
	struct making m = {.p = p, .t = t, .machine = qz_profile__machine(p)};
	int err = 0;

	*t = (struct qz_process_table) {0};
	m.row_of = malloc(((size_t)p->nscopes + 1) * sizeof(*m.row_of));
	if (!m.row_of)
		return -ENOMEM;
	memset(m.row_of, 0xff, ((size_t)p->nscopes + 1) * sizeof(*m.row_of));
	for (uint32_t i = 0; !err && i < n; i++)
		if (scopes[i] != m.machine)
			err = add_scope(&m, scopes[i], by);
	err = err ? err : add_samples(&m);
	err = err ? err : find_tops(&m);
	t->estimated = m.machine != QZ_NONE;
	if (!err && t->estimated)
		add_intervals(t, &p->scopes[m.machine]);
	t->order = order_of(t, order);
	if (!err && t->n)
		qsort_r(t->rows, t->n, sizeof(*t->rows), compare, &t->order);
	free(m.row_of);
	free(m.parts);
	qz_hash_table__free(&m.by_name);
	qz_hash_table__free(&m.by_part);
	return err;
}
