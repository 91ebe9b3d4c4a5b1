/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/html/html_rows.h"

#include <stdlib.h>

#include "core/html/html_places.h"
#include "core/util/vec.h"

/* ---- what is in a report ---- */

static bool has_sample(const struct qz_report *r, const struct qz_sample *s)
{
	return s->scope == r->scope && (s->norm_ns || s->cpu_ns || s->count);
}

static bool has_wait(const struct qz_report *r, const struct qz_wait *w)
{
	return qz_scope__covers(r->profile, r->scope, w->scope) &&
	       (w->blocked_ns || w->ready_ns || w->count);
}

static bool has_waking(const struct qz_report *r, const struct qz_waking *w)
{
	return qz_scope__covers(r->profile, r->scope, w->scope) && (w->woken_ns || w->count);
}

void qz_html_rows__mark(const struct qz_report *r, bool *wanted)
{
	const struct qz_profile *p = r->profile;

	for (uint32_t i = 0; i < p->nsamples; i++)
		if (has_sample(r, &p->samples[i]))
			wanted[p->samples[i].node] = true;
	for (uint32_t i = 0; i < p->nwaits; i++)
		if (has_wait(r, &p->waits[i]))
			wanted[p->waits[i].node] = true;
	for (uint32_t i = 0; i < p->nwakings; i++)
		if (has_waking(r, &p->wakings[i]))
			wanted[p->wakings[i].node] = true;
}

/* ---- rows ---- */

struct builder {
	const struct qz_report *report;
	const struct qz_html_nodes *nodes;
	struct qz_html_places places;
	struct qz_html_rows *rows;
};

int qz_html_rows__add(struct qz_html_rows *rows, const struct qz_html_row *row)
{
	int err = qz_array__reserve((void **)&rows->rows, rows->n, sizeof(*rows->rows));

	if (!err)
		rows->rows[rows->n++] = *row;
	return err;
}

static int add_samples(struct builder *b)
{
	const struct qz_profile *p = b->report->profile;
	int err = 0;

	for (uint32_t i = 0; !err && i < p->nsamples; i++) {
		const struct qz_sample *s = &p->samples[i];

		if (has_sample(b->report, s))
			err = qz_html_rows__add(
				b->rows, &(struct qz_html_row) {
						 {b->nodes->of[s->node],
						  qz_html_places__of(b->places.thread, s->thread),
						  qz_html_places__of(b->places.object, s->object),
						  s->level, s->busy, s->spinning},
						 {s->norm_ns, s->cpu_ns, s->count}});
	}
	return err;
}

static int add_waits(struct builder *b)
{
	const struct qz_profile *p = b->report->profile;
	int err = 0;

	for (uint32_t i = 0; !err && i < p->nwaits; i++) {
		const struct qz_wait *w = &p->waits[i];

		if (has_wait(b->report, w))
			err = qz_html_rows__add(
				b->rows,
				&(struct qz_html_row) {
					{b->nodes->of[w->node],
					 qz_html_places__of(b->places.thread, w->thread),
					 qz_html_places__of(b->places.object, w->object), w->cause},
					{w->blocked_ns, w->ready_ns, w->count}});
	}
	return err;
}

static int add_wakes(struct builder *b)
{
	const struct qz_profile *p = b->report->profile;
	int err = 0;

	for (uint32_t i = 0; !err && i < p->nwakings; i++) {
		const struct qz_waking *w = &p->wakings[i];

		if (has_waking(b->report, w))
			err = qz_html_rows__add(
				b->rows, &(struct qz_html_row) {
						 {b->nodes->of[w->node],
						  qz_html_places__of(b->places.thread, w->thread),
						  qz_html_places__of(b->places.object, w->object)},
						 {w->woken_ns, w->count}});
	}
	return err;
}

static int compare(const void *x, const void *y)
{
	const struct qz_html_row *a = x, *b = y;

	for (int i = 0; i < QZ_HTML_KEYS; i++)
		if (a->keys[i] != b->keys[i])
			return a->keys[i] < b->keys[i] ? -1 : 1;
	return 0;
}

void qz_html_rows__merge(struct qz_html_rows *rows)
{
	uint32_t kept = 0;

	if (rows->n)
		qsort(rows->rows, rows->n, sizeof(*rows->rows), compare);
	for (uint32_t i = 0; i < rows->n; i++) {
		struct qz_html_row *row = &rows->rows[i];

		if (!kept || compare(row, &rows->rows[kept - 1])) {
			rows->rows[kept++] = *row;
			continue;
		}
		for (int k = 0; k < QZ_HTML_VALUES; k++)
			rows->rows[kept - 1].values[k] += row->values[k];
	}
	rows->n = kept;
}

void qz_html_rows__make_steps(struct qz_html_rows *rows)
{
	for (uint32_t i = rows->n; i-- > 1;)
		rows->rows[i].keys[0] -= rows->rows[i - 1].keys[0];
}

int qz_html_rows__find(const struct qz_report *r, const struct qz_html_nodes *nodes,
		       enum qz_html_kind kind, struct qz_html_rows *found)
{
	static int (*const adders[QZ_HTML_KINDS])(struct builder * b) = {
		[QZ_HTML_SAMPLES] = add_samples,
		[QZ_HTML_WAITS] = add_waits,
		[QZ_HTML_WAKES] = add_wakes,
	};
	struct builder b = {.report = r, .nodes = nodes, .rows = found};
	int err;

	*found = (struct qz_html_rows) {0};
	err = qz_html_places__find(r, &b.places);
	err = err ? err : adders[kind](&b);
	if (!err)
		qz_html_rows__merge(found);
	qz_html_places__free(&b.places);
	return err;
}
