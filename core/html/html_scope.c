/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/html/html_scope.h"

#include <errno.h>
#include <stdlib.h>

#include "core/advise/advise_json.h"
#include "core/advise/verdict.h"
#include "core/format/json_fields.h"
#include "core/model/objects.h"
#include "core/html/html_columns.h"
#include "core/html/html_rows.h"
#include "core/html/html_threads.h"
#include "core/html/html_timeline.h"
#include "core/html/html_together.h"
#include "core/report/report_json.h"

#define INNER QZ_HTML_COLUMN

/* ---- findings ---- */

/* Index of a finding's subject in the document; -1: it has none. */
static int64_t index_of(const struct qz_report *r, const struct qz_subject *subject)
{
	switch (subject->kind) {
	case QZ_SUBJECT_PROCEDURE:
	case QZ_SUBJECT_CAUSE:
		return subject->index;
	case QZ_SUBJECT_THREAD:
		for (uint32_t i = 0; i < r->nthreads; i++)
			if (r->threads[i].thread == subject->index)
				return i;
		return -1;
	case QZ_SUBJECT_OBJECT:
		for (uint32_t i = 0; i < r->nobjects; i++)
			if (r->objects[i].object == subject->index)
				return i;
		return -1;
	default:
		return -1;
	}
}

static json_t *findings_of(const struct qz_advice *a)
{
	json_t *array = json_array();
	bool failed = !array;

	for (uint32_t i = 0; !failed && i < a->n; i++) {
		json_t *finding = qz_advise_json__finding(a, &a->findings[i]);

		failed = json_object_set_new(
				 finding, "index",
				 json_integer(index_of(a->report, &a->findings[i].subject))) ||
			 json_array_append(array, finding);
		json_decref(finding);
	}
	return qz_json_fields__unless(failed, array);
}

static int put_findings(FILE *out, const struct qz_report *r, const struct qz_html_names *names)
{
	struct qz_advice *a = qz_advise__new(r);
	char *verdict = NULL;
	int err = a ? 0 : -ENOMEM;

	if (a) {
		a->input = names->input;
		a->scope = names->scope;
		verdict = qz_verdict__text(a);
		err = verdict ? 0 : -ENOMEM;
	}
	if (!err) {
		fputs(",\n\"verdict\":", out);
		err = qz_json_fields__put(out, qz_json_fields__text(verdict));
		fputs(",\n\"findings\":", out);
		err = err ? err : qz_json_fields__put(out, findings_of(a));
	}
	free(verdict);
	qz_advise__free(a);
	return err;
}

/* ---- procedures ---- */

static const struct qz_field procedure_fields[] = {
	INNER(U32, qz_row, "procedure", procedure),
	INNER(U64, qz_row, "self_norm_ns", self.norm_ns),
	INNER(U64, qz_row, "self_cpu_ns", self.cpu_ns),
	INNER(U64, qz_row, "self_spin_ns", self.spin_ns),
	INNER(U64, qz_row, "self_ci_ns", self.ci_ns),
	INNER(U64, qz_row, "self_blocked_ns", self_waits.blocked_ns),
	INNER(U64, qz_row, "self_idle_ns", self_waits.idle_ns),
	INNER(U64, qz_row, "norm_ns", total.norm_ns),
	INNER(U64, qz_row, "cpu_ns", total.cpu_ns),
	INNER(U64, qz_row, "spin_ns", total.spin_ns),
	INNER(U64, qz_row, "ci_ns", total.ci_ns),
	INNER(U64, qz_row, "samples", total.samples),
	INNER(U64, qz_row, "waits", total_waits.count),
	INNER(U64, qz_row, "blocked_ns", total_waits.blocked_ns),
	INNER(U64, qz_row, "idle_ns", total_waits.idle_ns),
	INNER(U64, qz_row, "ready_ns", total_waits.ready_ns),
	{0},
};

static int put_procedures(FILE *out, const struct qz_report *r)
{
	const struct qz_html_table table = {r->rows, r->nrows, sizeof(*r->rows)};
	int err;

	fputs(",\n\"procedures\":{", out);
	err = qz_html_columns__put(out, "", procedure_fields, &table);
	fputs("}", out);
	return err;
}

/* ---- objects ---- */

static json_t *object_of(const struct qz_report *r, const struct qz_object_row *row)
{
	json_t *object = qz_report_json__object(r, row);
	char *label = qz_objects__label(&r->profile->objects[row->object]);
	bool failed = !label || json_object_set_new(object, "label", qz_json_fields__text(label));

	free(label);
	return qz_json_fields__unless(failed, object);
}

static int put_objects(FILE *out, const struct qz_report *r)
{
	int err = 0;

	fputs(",\n\"objects\":[", out);
	for (uint32_t i = 0; !err && i < r->nobjects; i++) {
		fputs(i ? ",\n" : "", out);
		err = qz_json_fields__put(out, object_of(r, &r->objects[i]));
	}
	fputs("]", out);
	return err;
}

/* ---- what is added up ---- */

#define KEY(called, i)	 INNER(U32, qz_html_row, called, keys[i])
#define VALUE(called, i) INNER(U64, qz_html_row, called, values[i])

static const struct qz_field sample_fields[] = {
	KEY("node_step", 0), KEY("thread", 1),
	KEY("object", 2),    KEY("level", 3),
	KEY("busy", 4),	     KEY("spinning", 5),
	VALUE("norm_ns", 0), VALUE("cpu_ns", 1),
	VALUE("samples", 2), {0},
};

static const struct qz_field wait_fields[] = {
	KEY("node_step", 0),	KEY("thread", 1),     KEY("object", 2),	 KEY("cause", 3),
	VALUE("blocked_ns", 0), VALUE("ready_ns", 1), VALUE("waits", 2), {0},
};

static const struct qz_field wake_fields[] = {
	KEY("node_step", 0),  KEY("thread", 1),	 KEY("object", 2),
	VALUE("woken_ns", 0), VALUE("wakes", 1), {0},
};

static int put_rows(FILE *out, const struct qz_report *r, const struct qz_html_nodes *nodes)
{
	static const struct {
		const char *name;
		const struct qz_field *fields;
	} kinds[QZ_HTML_KINDS] = {
		[QZ_HTML_SAMPLES] = {"samples", sample_fields},
		[QZ_HTML_WAITS] = {"waits", wait_fields},
		[QZ_HTML_WAKES] = {"wakes", wake_fields},
	};
	int err = 0;

	for (enum qz_html_kind kind = 0; !err && kind < QZ_HTML_KINDS; kind++) {
		struct qz_html_rows rows;

		err = qz_html_rows__find(r, nodes, kind, &rows);
		if (!err) {
			qz_html_rows__make_steps(&rows);
			fprintf(out, ",\n\"%s\":{", kinds[kind].name);
			err = qz_html_columns__put(out, "", kinds[kind].fields,
						   &(struct qz_html_table) {rows.rows, rows.n,
									    sizeof(*rows.rows)});
			fputs("}", out);
		}
		free(rows.rows);
	}
	return err;
}

int qz_html_scope__put(FILE *out, const struct qz_report *r, const struct qz_html_nodes *nodes,
		       const struct qz_html_names *names)
{
	int err;

	fputs("{\"summary\":", out);
	err = qz_json_fields__put(out, qz_report_json__scope(r));
	err = err ? err : put_findings(out, r, names);
	err = err ? err : qz_html_threads__put(out, r);
	err = err ? err : put_procedures(out, r);
	err = err ? err : put_objects(out, r);
	err = err ? err : put_rows(out, r, nodes);
	err = err ? err : qz_html_timeline__put(out, r, nodes);
	err = err ? err : qz_html_together__put(out, r);
	fputs("}", out);
	return err;
}
