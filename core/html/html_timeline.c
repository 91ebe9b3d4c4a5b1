/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/html/html_timeline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "core/html/html_columns.h"
#include "core/html/html_places.h"
#include "core/html/html_rows.h"
#include "core/timeline/slots.h"

/* ---- slots: figures of all threads ---- */

static const struct qz_field slot_fields[] = {
	QZ_SHOWN_FIELD(U64, qz_slot_figures, elapsed_ns),
	QZ_SHOWN_FIELD(U64, qz_slot_figures, running_ns),
	QZ_SHOWN_FIELD(U64, qz_slot_figures, spin_ns),
	QZ_SHOWN_FIELD(U64, qz_slot_figures, ready_ns),
	QZ_SHOWN_FIELD(U64, qz_slot_figures, blocked_ns),
	{0},
};

static void put_levels(FILE *out, const char *name, const struct qz_slots *s, bool busy)
{
	fprintf(out, ",\n\"%s\":[", name);
	for (uint32_t i = 0; i < s->n; i++) {
		const uint64_t *ns = busy ? s->all[i].busy_ns : s->all[i].level_ns;

		for (uint32_t level = 0; level < s->nlevels; level++)
			fprintf(out, "%s%" PRIu64, level ? "," : i ? ",[" : "[", ns[level]);
		fputs("]", out);
	}
	fputs("]", out);
}

static int put_slots(FILE *out, const struct qz_slots *s)
{
	int err;

	fprintf(out,
		",\n\"timeline\":{\"slot_ns\":%" PRIu64 ",\"begin_ns\":%" PRId64 ",\n\"slots\":{",
		s->slot_ns, s->begin_ns);
	err = qz_html_columns__put(out, "", slot_fields,
				   &(struct qz_html_table) {s->all, s->n, sizeof(*s->all)});
	put_levels(out, "levels_ns", s, false);
	put_levels(out, "busy_ns", s, true);
	fputs("}", out);
	return err;
}

/* ---- samples and waits of each slot: rows whose first key is the slot ---- */

static const struct qz_field sample_fields[] = {
	QZ_HTML_COLUMN(U32, qz_html_row, "slot_step", keys[0]),
	QZ_HTML_COLUMN(U32, qz_html_row, "node", keys[1]),
	QZ_HTML_COLUMN(U32, qz_html_row, "thread", keys[2]),
	QZ_HTML_COLUMN(U32, qz_html_row, "level", keys[3]),
	QZ_HTML_COLUMN(U32, qz_html_row, "busy", keys[4]),
	QZ_HTML_COLUMN(U32, qz_html_row, "spinning", keys[5]),
	QZ_HTML_COLUMN(U64, qz_html_row, "norm_ns", values[0]),
	QZ_HTML_COLUMN(U64, qz_html_row, "cpu_ns", values[1]),
	{0},
};

static const struct qz_field wait_fields[] = {
	QZ_HTML_COLUMN(U32, qz_html_row, "slot_step", keys[0]),
	QZ_HTML_COLUMN(U32, qz_html_row, "node", keys[1]),
	QZ_HTML_COLUMN(U32, qz_html_row, "thread", keys[2]),
	QZ_HTML_COLUMN(U32, qz_html_row, "cause", keys[3]),
	QZ_HTML_COLUMN(U32, qz_html_row, "object", keys[4]),
	QZ_HTML_COLUMN(U64, qz_html_row, "blocked_ns", values[0]),
	QZ_HTML_COLUMN(U64, qz_html_row, "ready_ns", values[1]),
	{0},
};

struct builder {
	const struct qz_profile *p;
	const struct qz_html_nodes *nodes;
	struct qz_html_places places;
	struct qz_html_rows samples, waits;
};

/* What took no time is nothing to see; a node that no page has is of another scope's time. */
static int add_sample(struct builder *b, uint32_t slot, const struct qz_slot_sample *sample)
{
	const struct qz_sample *s = &b->p->samples[sample->sample];
	const struct qz_html_row row = {
		{slot, b->nodes->of[s->node], qz_html_places__of(b->places.thread, s->thread),
		 s->level, s->busy, s->spinning},
		{sample->norm_ns, sample->cpu_ns},
	};

	return sample->norm_ns || sample->cpu_ns ? qz_html_rows__add(&b->samples, &row) : 0;
}

static int add_wait(struct builder *b, uint32_t slot, const struct qz_slot_wait *wait)
{
	const struct qz_wait *w = &b->p->waits[wait->wait];
	const struct qz_html_row row = {
		{slot, b->nodes->of[w->node], qz_html_places__of(b->places.thread, w->thread),
		 w->cause, qz_html_places__of(b->places.object, w->object)},
		{wait->blocked_ns, wait->ready_ns},
	};

	return wait->blocked_ns || wait->ready_ns ? qz_html_rows__add(&b->waits, &row) : 0;
}

static int add_all(struct builder *b, const struct qz_slots *s)
{
	int err = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct qz_slot_figures *f = &s->all[i];

		for (uint32_t k = 0; !err && k < f->nsamples; k++)
			err = add_sample(b, i, &f->samples[k]);
		for (uint32_t k = 0; !err && k < f->nwaits; k++)
			err = add_wait(b, i, &f->waits[k]);
	}
	return err;
}

/* Frees the rows. */
static int put_rows(FILE *out, const char *name, const struct qz_field *fields,
		    struct qz_html_rows *rows)
{
	int err;

	qz_html_rows__merge(rows);
	qz_html_rows__make_steps(rows);
	fprintf(out, ",\n\"%s\":{", name);
	err = qz_html_columns__put(out, "", fields,
				   &(struct qz_html_table) {rows->rows, rows->n,
							    sizeof(*rows->rows)});
	fputs("}", out);
	return err;
}

int qz_html_timeline__put(FILE *out, const struct qz_report *r, const struct qz_html_nodes *nodes)
{
	struct builder b = {.p = r->profile, .nodes = nodes};
	struct qz_slots *s = qz_slots__new(r);
	int err;

	if (!s)
		return errno == ENODATA ? 0 : -ENOMEM;
	err = qz_html_places__find(r, &b.places);
	err = err ? err : add_all(&b, s);
	err = err ? err : put_slots(out, s);
	err = err ? err : put_rows(out, "samples", sample_fields, &b.samples);
	err = err ? err : put_rows(out, "waits", wait_fields, &b.waits);
	fputs("}", out);
	free(b.samples.rows);
	free(b.waits.rows);
	qz_html_places__free(&b.places);
	qz_slots__free(s);
	return err;
}
