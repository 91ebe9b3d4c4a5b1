/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/html/html.h"

#include <errno.h>
#include <stdlib.h>

#include "core/format/json_fields.h"
#include "core/html/html_columns.h"
#include "core/html/html_nodes.h"
#include "core/html/html_rows.h"
#include "core/html/html_scope.h"
#include "core/html/html_together.h"
#include "core/report/report_json.h"

#define SCHEMA "quartz.page/v1"

static const struct qz_field procedure_fields[] = {
	QZ_SHOWN_FIELD(TEXT, qz_procedure, name), QZ_SHOWN_FIELD(TEXT, qz_procedure, module),
	QZ_SHOWN_FIELD(TEXT, qz_procedure, file), QZ_SHOWN_FIELD(U32, qz_procedure, line),
	QZ_SHOWN_FIELD(U32, qz_procedure, kind),  {0},
};

/* ---- procedures: those on no stack are empty, so that indices are the profile's ---- */

static void mark_rows(const struct qz_report *r, bool *used)
{
	for (uint32_t i = 0; i < r->nrows; i++)
		used[r->rows[i].procedure] = true;
}

static int put_procedures(FILE *out, const struct qz_profile *p, const bool *used)
{
	static char nothing[] = "";
	struct qz_procedure *all = calloc((size_t)p->nprocedures + 1, sizeof(*all));
	int err;

	if (!all)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->nprocedures; i++)
		all[i] = used[i] ? p->procedures[i]
				 : (struct qz_procedure) {nothing, nothing, nothing};
	fputs(",\n\"procedures\":{", out);
	err = qz_html_columns__put(out, "", procedure_fields,
				   &(struct qz_html_table) {all, p->nprocedures, sizeof(*all)});
	fputs("}", out);
	free(all);
	return err;
}

/* ---- the others ---- */

static int put_causes(FILE *out, const struct qz_profile *p)
{
	int err = 0;

	fputs(",\n\"causes\":[", out);
	for (uint32_t i = 0; !err && i < p->ncauses; i++) {
		fputs(i ? "," : "", out);
		err = qz_json_fields__put(out, qz_json_fields__text(p->causes[i]));
	}
	fputs("]", out);
	return err;
}

static int put_scopes(FILE *out, const struct qz_report *const *reports, uint32_t n,
		      const struct qz_html_nodes *nodes, const struct qz_html_names *names)
{
	int err = 0;

	fputs(",\n\"scopes\":[", out);
	for (uint32_t i = 0; !err && i < n; i++) {
		fputs(i ? ",\n" : "\n", out);
		err = qz_html_scope__put(out, reports[i], nodes, names);
	}
	fputs("]}\n", out);
	return err;
}

/* `marks` has room for a mark of each node, and of each procedure. */
static int put_all(FILE *out, const struct qz_report *const *reports, uint32_t n,
		   const struct qz_html_names *names, bool *marks)
{
	const struct qz_profile *p = reports[0]->profile;
	bool *used = marks + p->nnodes;
	struct qz_html_nodes nodes;
	int err;

	for (uint32_t i = 0; i < n; i++) {
		qz_html_rows__mark(reports[i], marks);
		mark_rows(reports[i], used);
		qz_html_together__mark(reports[i], used);
	}
	err = qz_html_nodes__build(&nodes, p, marks);
	for (uint32_t i = 1; !err && i < nodes.n; i++)
		used[nodes.nodes[i].procedure] = true;
	if (!err) {
		fputs("{\"schema\":\"" SCHEMA "\",\n\"run\":", out);
		err = qz_json_fields__put(out, qz_report_json__run(p));
	}
	err = err ? err : put_causes(out, p);
	err = err ? err : put_procedures(out, p, used);
	if (!err) {
		qz_html_nodes__put(out, &nodes);
		err = put_scopes(out, reports, n, &nodes, names);
	}
	qz_html_nodes__free(&nodes);
	return err;
}

int qz_html__write(FILE *out, const struct qz_report *const *reports, uint32_t n,
		   const struct qz_html_names *names)
{
	const struct qz_profile *p = reports[0]->profile;
	bool *marks = calloc((size_t)p->nnodes + p->nprocedures + 1, sizeof(*marks));
	int err = marks ? put_all(out, reports, n, names, marks) : -ENOMEM;

	free(marks);
	return err;
}
