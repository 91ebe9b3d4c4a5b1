/* SPDX-License-Identifier: GPL-2.0-only */
/* Instants for programs: scopes of the schemas quartz.together/v1 and quartz.pairs/v1. */
#include <stdlib.h>

#include "cli/render/scope_view.h"
#include "core/format/json_fields.h"
#include "core/report/corun.h"

static const struct qz_field together_fields[] = {
	QZ_SHOWN_FIELD(U64, qz_corun, instants),
	QZ_SHOWN_FIELD(U64, qz_corun, running),
	QZ_SHOWN_FIELD(U64, qz_corun, spinning),
	{0},
};

static const struct qz_field row_fields[] = {
	QZ_SHOWN_FIELD(U64, qz_corun_row, instants),
	QZ_SHOWN_FIELD(U64, qz_corun_row, busy),
	QZ_SHOWN_FIELD(U64, qz_corun_row, spinning),
	{0},
};

/* The procedure, and whether it spins, of each processor. */
static json_t *members_of(const struct qz_profile *p, const struct qz_round *m)
{
	json_t *array = json_array();
	bool failed = !array;

	for (uint32_t i = 0; !failed && i < m->n; i++) {
		json_t *member = json_object();

		failed = json_object_set_new(
				 member, "procedure",
				 procedure_name__json(p, QZ_MEMBER_PROCEDURE(m->members[i]))) ||
			 json_object_set_new(member, "spinning",
					     json_boolean(QZ_MEMBER_SPINS(m->members[i]))) ||
			 json_array_append(array, member);
		json_decref(member);
	}
	return qz_json_fields__unless(failed, array);
}

static json_t *row_of(const struct qz_profile *p, const struct qz_corun_row *row)
{
	json_t *object = qz_json_fields__object(row_fields, row);
	bool failed = row->round != QZ_NONE
			      ? json_object_set_new(object, "members",
						    members_of(p, &p->rounds[row->round]))
			      : json_object_set_new(object, "procedure",
						    procedure_name__json(p, row->procedure));

	return qz_json_fields__unless(failed, object);
}

static json_t *rows_of(const struct qz_profile *p, const struct qz_corun *corun, uint32_t max_rows)
{
	json_t *array = json_array();
	bool failed = !array;

	for (uint32_t i = 0; !failed && i < corun->nrows && i < max_rows; i++)
		failed = json_array_append_new(array, row_of(p, &corun->rows[i])) != 0;
	return qz_json_fields__unless(failed, array);
}

static json_t *document_of(const struct qz_report *r, const struct qz_corun *corun,
			   const char *rows, uint32_t max_rows)
{
	json_t *scope = scope__json(r);
	bool failed =
		!scope || qz_json_fields__write(scope, together_fields, corun) ||
		json_object_set_new(scope, "snapshots",
				    qz_json_fields__object(qz_instants_fields,
							   &r->profile->instants)) ||
		json_object_set_new(scope, "busy_instants",
				    qz_json_fields__integers(corun->levels, corun->nlevels)) ||
		json_object_set_new(scope, "rows_total", json_integer(corun->nrows)) ||
		json_object_set_new(scope, rows, rows_of(r->profile, corun, max_rows));

	return qz_json_fields__unless(failed, scope);
}

json_t *corun__json(const struct qz_report *r, uint32_t max_rows)
{
	struct qz_corun corun;
	json_t *scope = NULL;

	if (!qz_corun__sets(r->profile, r->scope, &corun))
		scope = document_of(r, &corun, "sets", max_rows);
	qz_corun__clear(&corun);
	return scope;
}

json_t *pairs__json(const struct qz_report *r, uint32_t procedure, uint32_t max_rows)
{
	struct qz_corun corun;
	json_t *scope = NULL;
	bool failed = qz_corun__pairs(r->profile, r->scope, procedure, &corun);

	if (!failed) {
		scope = document_of(r, &corun, "others", max_rows);
		failed = json_object_set_new(scope, "procedure",
					     procedure_name__json(r->profile, procedure)) ||
			 json_object_set_new(scope, "alone", qz_json_fields__integer(corun.alone));
	}
	qz_corun__clear(&corun);
	return qz_json_fields__unless(failed, scope);
}
