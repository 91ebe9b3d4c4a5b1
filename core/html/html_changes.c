/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/html/html_changes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/format/json_fields.h"
#include "core/html/html_columns.h"
#include "core/html/html_stacks.h"
#include "core/report/report_json.h"

#define SCHEMA "quartz.diff-page/v1"

/* ---- identities, as the procedures of the document ---- */

struct name {
	char *name, *module; /* the latter is owned */
	uint32_t kind;	     /* enum qz_identity_kind */
};

static const struct qz_field name_fields[] = {
	QZ_SHOWN_FIELD(TEXT, name, name),
	QZ_SHOWN_FIELD(TEXT, name, module),
	QZ_SHOWN_FIELD(U32, name, kind),
	{0},
};

static int find_names(const struct qz_identities *ids, struct name *names)
{
	for (uint32_t i = 0; i < ids->keys.n; i++) {
		struct qz_identity id = qz_identities__get(ids, i);

		names[i] = (struct name) {
			.name = (char *)id.name,
			.module = strndup(id.module, (size_t)id.module_length),
			.kind = id.kind,
		};
		if (!names[i].module)
			return -ENOMEM;
	}
	return 0;
}

static int put_names(FILE *out, const struct qz_identities *ids)
{
	struct name *names = calloc((size_t)ids->keys.n + 1, sizeof(*names));
	int err = names ? find_names(ids, names) : -ENOMEM;

	if (!err) {
		fputs(",\n\"procedures\":{", out);
		err = qz_html_columns__put(out, "", name_fields,
					   &(struct qz_html_table) {names, ids->keys.n,
								    sizeof(*names)});
		fputs("}", out);
	}
	for (uint32_t i = 0; names && i < ids->keys.n; i++)
		free(names[i].module);
	free(names);
	return err;
}

/* ---- scopes ---- */

/* Keys: node, whether it is of after, spinning. */
static const struct qz_field stack_fields[] = {
	QZ_HTML_COLUMN(U32, qz_html_row, "node_step", keys[0]),
	QZ_HTML_COLUMN(U32, qz_html_row, "after", keys[1]),
	QZ_HTML_COLUMN(U32, qz_html_row, "spinning", keys[2]),
	QZ_HTML_COLUMN(U64, qz_html_row, "norm_ns", values[0]),
	QZ_HTML_COLUMN(U64, qz_html_row, "cpu_ns", values[1]),
	QZ_HTML_COLUMN(U64, qz_html_row, "blocked_ns", values[2]),
	{0},
};

static int put_scope(FILE *out, const struct qz_html_compared *scope,
		     const struct qz_html_rows *stacks)
{
	int err;

	fputs("{\"comparison\":", out);
	err = qz_json_fields__put(out, json_incref(scope->comparison));
	fputs(",\n\"identities\":[", out);
	for (uint32_t i = 0; i < scope->rows->n; i++)
		fprintf(out, "%s%" PRIu32, i ? "," : "", scope->rows->rows[i].identity);
	fputs("],\n\"stacks\":{", out);
	err = err ? err
		  : qz_html_columns__put(out, "", stack_fields,
					 &(struct qz_html_table) {stacks->rows, stacks->n,
								  sizeof(*stacks->rows)});
	fputs("}}", out);
	return err;
}

static int put_all(FILE *out, const struct qz_html_stacks *stacks, json_t *profiles,
		   const struct qz_html_compared *scopes)
{
	const struct qz_html_compared *first = scopes;
	int err;

	fputs("{\"schema\":\"" SCHEMA "\",\n\"run\":", out);
	err = qz_json_fields__put(
		out, qz_report_json__run(first->reports[first->rows->nbefore]->profile));
	fputs(",\n\"profiles\":", out);
	err = err ? err : qz_json_fields__put(out, json_incref(profiles));
	err = err ? err : put_names(out, stacks->ids);
	qz_html_nodes__put(out, &stacks->nodes);
	fputs(",\n\"scopes\":[", out);
	for (uint32_t i = 0; !err && i < stacks->nscopes; i++) {
		fputs(i ? ",\n" : "\n", out);
		err = put_scope(out, &scopes[i], &stacks->scopes[i]);
	}
	fputs("]}\n", out);
	return err;
}

int qz_html_changes__write(FILE *out, struct qz_identities *ids, json_t *profiles,
			   const struct qz_html_compared *scopes, uint32_t n)
{
	struct qz_html_stacks stacks;
	int err = qz_html_stacks__init(&stacks, ids, n);

	for (uint32_t i = 0; !err && i < n; i++)
		for (uint32_t k = 0; !err && k < scopes[i].rows->nbefore + scopes[i].rows->nafter;
		     k++)
			err = qz_html_stacks__add(&stacks, i, scopes[i].reports[k],
						  k >= scopes[i].rows->nbefore);
	err = err ? err : qz_html_stacks__finish(&stacks);
	err = err ? err : put_all(out, &stacks, profiles, scopes);
	qz_html_stacks__free(&stacks);
	return err;
}
