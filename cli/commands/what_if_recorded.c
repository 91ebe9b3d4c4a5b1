/* SPDX-License-Identifier: GPL-2.0-only */
/* What a scope would gain without each of the candidates of record --what-if, as text and as JSON. */
#include "cli/commands/what_if_recorded.h"

#include <errno.h>
#include <stdlib.h>

#include "cli/render/cells.h"
#include "core/advise/bounds.h"
#include "core/advise/zeroing.h"
#include "core/format/json_fields.h"

static const char *const kinds[QZ_WHAT_IF_KINDS] = {"unknown", "procedure", "object"};

static struct qz_bounds bounds_of(const struct qz_report *r, const struct qz_what_if *w)
{
	uint32_t found;

	if (w->kind == QZ_WHAT_IF_PROCEDURE && qz_lookup__procedures(r, w->name, &found, 1))
		for (uint32_t i = 0; i < r->nrows; i++)
			if (r->rows[i].procedure == found)
				return qz_bounds__remove(r, qz_part__of_procedure(r, &r->rows[i]));
	if (w->kind == QZ_WHAT_IF_OBJECT && qz_lookup__objects(r, w->name, &found, 1))
		for (uint32_t i = 0; i < r->nobjects; i++)
			if (r->objects[i].object == found)
				return qz_bounds__remove(r, qz_part__of_object(r, &r->objects[i]));
	return (struct qz_bounds) {0, r->elapsed_ns};
}

/* ---- text ---- */

static void add_gain(const struct scope_view *s, struct text_table *table,
		     const struct qz_what_if *w, uint32_t speed)
{
	struct qz_zeroing z = qz_zeroing__find(s->report, w, speed);

	cells__add_seconds(s, table, z.gain_ns);
	if (!speed)
		text_table__add(table, PLAIN, "%s%.*f", cells__plus_minus(s->out), s->decimals,
				(double)(z.high_ns - z.low_ns) / 2e9);
	cells__add_percent(s, table, z.gain_ns);
}

static int compare(const void *a, const void *b, void *context)
{
	const struct qz_what_if *const *x = a, *const *y = b;
	uint64_t m = qz_zeroing__find(context, *x, 0).gain_ns;
	uint64_t n = qz_zeroing__find(context, *y, 0).gain_ns;

	return m != n ? (m < n ? 1 : -1) : (*x < *y ? -1 : *x > *y);
}

/* Those of the scope of which something is known, the one that gains most first. */
static uint32_t gather(const struct qz_report *r, const struct qz_what_if **rows)
{
	const struct qz_profile *p = r->profile;
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->nwhat_ifs; i++)
		if (qz_zeroing__is_known(r, &p->what_ifs[i]))
			rows[n++] = &p->what_ifs[i];
	qsort_r(rows, n, sizeof(*rows), compare, (void *)r);
	return n;
}

static void add_row(const struct scope_view *s, struct text_table *table,
		    const struct qz_what_if *w)
{
	static const char *const limits[] = {"", "one thread", "processors"};
	struct qz_bounds b = bounds_of(s->report, w);
	struct qz_zeroing all = qz_zeroing__find(s->report, w, 0);

	for (uint32_t k = 0; k < QZ_WHAT_IF_SPEEDS; k++)
		add_gain(s, table, w, k);
	cells__add_seconds(s, table, b.low_ns);
	cells__add_seconds(s, table, b.high_ns);
	text_table__add(table, PLAIN, "%s", limits[all.limit]);
	text_table__take(table, output__escape(w->name));
}

static void print_unknown(FILE *out, const struct qz_what_if *w)
{
	char *name = output__escape(w->name);

	fprintf(out, "Not met in code with a name of its own: %s\n", name ? name : "?");
	free(name);
}

static void print_notes(const struct scope_view *s)
{
	const struct qz_profile *p = s->report->profile;
	FILE *out = s->out->file;
	bool told = false;

	for (uint32_t i = 0; i < p->nwhat_ifs; i++) {
		const struct qz_what_if *w = &p->what_ifs[i];

		if (w->scope != s->report->scope)
			continue;
		if (!told)
			fprintf(out,
				"Taken to last as long as it did: %.*f s of waits for clocks, "
				"devices and other programs,\nand %.*f s in loops that wait.\n",
				s->decimals, (double)w->kept_ns / 1e9, s->decimals,
				(double)w->spinning_ns / 1e9);
		told = true;
		if (!qz_zeroing__is_known(s->report, w))
			print_unknown(out, w);
	}
}

int what_if_recorded__print(const struct scope_view *s)
{
	static const struct column heads[] = {
		{{"all", "s"}},
		{{"gone", ""}, .joined = true},
		{{"", "%"}, .joined = true},
		{{"half", "s"}},
		{{"", "%"}, .joined = true},
		{{"a quar-", "s"}},
		{{"ter", "%"}, .joined = true},
		{{"at", "least"}},
		{{"at", "most"}},
		{{"limited", "by"}, .left = true},
		{{"", "of which so much is gone"}, .left = true},
	};
	const struct qz_report *r = s->report;
	const struct qz_what_if **rows = calloc(r->profile->nwhat_ifs + 1, sizeof(*rows));
	struct text_table *table = text_table__new(heads, sizeof(heads) / sizeof(*heads));
	uint32_t n;
	int err;

	if (!rows) {
		text_table__print(table, s->out);
		return -ENOMEM;
	}
	n = gather(r, rows);
	for (uint32_t i = 0; i < n; i++)
		add_row(s, table, rows[i]);
	fprintf(s->out->file, "\nWhat would be gained of %.*f s:\n\n", s->decimals,
		(double)r->elapsed_ns / 1e9);
	err = text_table__print(table, s->out);
	if (!err)
		print_notes(s);
	free(rows);
	return err;
}

/* ---- JSON ---- */

static json_t *gain_json(const struct qz_report *r, const struct qz_what_if *w, uint32_t speed)
{
	static const char *const limits[] = {"path", "thread", "processors"};
	struct qz_zeroing z = qz_zeroing__find(r, w, speed);

	return json_pack("{sI, sI, sI, sI, ss}", "percent", (json_int_t)(100 >> speed), "gain_ns",
			 (json_int_t)z.gain_ns, "low_ns", (json_int_t)z.low_ns, "high_ns",
			 (json_int_t)z.high_ns, "limit", limits[z.limit]);
}

json_t *what_if_recorded__json(const struct qz_report *r, const struct qz_what_if *w)
{
	struct qz_bounds b = bounds_of(r, w);
	json_t *object = json_object(), *gains = json_array();
	bool failed = !object || !gains;

	for (uint32_t k = 0; !failed && qz_zeroing__is_known(r, w) && k < QZ_WHAT_IF_SPEEDS; k++)
		failed = json_array_append_new(gains, gain_json(r, w, k)) != 0;
	failed =
		failed || json_object_set(object, "gains", gains) ||
		json_object_set_new(object, "kind", json_string(kinds[w->kind])) ||
		json_object_set_new(object, "name", qz_json_fields__text(w->name)) ||
		json_object_set_new(object, "gain_low_ns", qz_json_fields__integer(b.low_ns)) ||
		json_object_set_new(object, "gain_high_ns", qz_json_fields__integer(b.high_ns)) ||
		json_object_set_new(object, "kept_ns", qz_json_fields__integer(w->kept_ns)) ||
		json_object_set_new(object, "spinning_ns", qz_json_fields__integer(w->spinning_ns));
	json_decref(gains);
	return qz_json_fields__unless(failed, object);
}
