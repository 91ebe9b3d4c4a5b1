/* SPDX-License-Identifier: GPL-2.0-only */
/* ps: one line for each process, or for each unit. */
#include <errno.h>
#include <stdlib.h>

#include "cli/columns.h"
#include "cli/scopes.h"
#include "cli/section.h"
#include "cli/source.h"
#include "core/fields.h"
#include "core/json.h"
#include "core/objects.h"
#include "core/processes.h"
#include "core/unit.h"

#define SCHEMA "quartz.processes/v1"

struct table {
	const struct config *config;
	struct qz_profile *profile;
	uint32_t *scopes, nscopes;
	struct qz_processes processes;
};

static const char *const heads_by[] = {"process", "program", "unit", "control group"};
static const char *const plural_by[] = {"processes", "programs", "units", "control groups"};

/* ---- text ---- */

static char *top_object(const struct table *t, const struct qz_process_row *row)
{
	char *label, *escaped;

	if (row->top_object == QZ_NONE)
		return escape_name("");
	label = qz_object__label(&t->profile->objects[row->top_object]);
	escaped = label ? escape_name(label) : NULL;
	free(label);
	return escaped;
}

static int add_row(const struct table *t, struct columns *c, const struct qz_process_row *row)
{
	const struct qz_scope *scope = &t->profile->scopes[row->scope];
	bool top = row->top_procedure != QZ_NONE, one = t->config->by == QZ_BY_PROCESS;
	char *name = escape_name(*row->name ? row->name : "-");
	char *procedure = escape_name(top ? t->profile->procedures[row->top_procedure].name : "");
	char *object = top_object(t, row);
	int err = name && procedure && object ? 0 : -ENOMEM;

	if (!err) {
		if (one && !scope->pid)
			columns__add(c, PLAIN, "-");
		else
			columns__add(c, PLAIN, "%llu",
				     one ? (unsigned long long)scope->pid
					 : (unsigned long long)row->processes);
		columns__add(c, PLAIN, "%.3f", (double)row->cpu_ns / 1e9);
		columns__add(c, PLAIN, "%.3f", (double)row->norm_ns / 1e9);
		add_part(c, row->norm_ns, t->profile->window_ns);
		columns__add(c, PLAIN, "%.1f", qz_process_row__parallelism(row));
		columns__add(c, PLAIN, "%.0f", 100 * qz_process_row__serial(row));
		columns__add(c, PLAIN, "%.3f", (double)row->spin_ns / 1e9);
		columns__add(c, PLAIN, "%llu", (unsigned long long)row->threads);
		columns__add(c, PLAIN, "%s", name);
		columns__add(c, PLAIN, "%s", procedure);
		columns__add(c, PLAIN, "%s", object);
	}
	free(name);
	free(procedure);
	free(object);
	return err;
}

static void print_quality(const struct table *t, FILE *out)
{
	uint64_t samples = 0, unresolved = 0;

	for (uint32_t i = 0; i < t->processes.n; i++) {
		samples += t->processes.rows[i].samples;
		unresolved += t->processes.rows[i].unresolved;
	}
	fprintf(out, "elapsed %.3f s, %u processors; samples %s, lost %s, unresolved %s",
		(double)t->profile->window_ns / 1e9, t->profile->processors,
		group_digits(samples).text, group_digits(qz_ledger__lost(&t->profile->ledger)).text,
		share(unresolved, samples).text);
	if (t->processes.unattributed_ns)
		fprintf(out, ", without a sample %.3f s",
			(double)t->processes.unattributed_ns / 1e9);
	fputs("\n\n", out);
}

static int print_text(const struct table *t)
{
	const struct column heads[] = {
		{{"", t->config->by == QZ_BY_PROCESS ? "pid" : "procs"}},
		{{"CPU", "s"}},
		{{"norm", "s"}},
		{{"", "%"}, .joined = true},
		{{"paral-", "lelism"}},
		{{"serial", "%"}},
		{{"spin", "s"}},
		{{"", "threads"}},
		{{"", heads_by[t->config->by]}, .left = true},
		{{"top", "procedure"}, .left = true},
		{{"top", "object"}, .left = true},
	};
	int n = sizeof(heads) / sizeof(*heads), err;
	uint32_t shown = rows_wanted(t->config, DEFAULT_ROWS, t->processes.n);
	struct columns *c = columns__new(heads, n);
	struct output out;

	err = c ? 0 : -ENOMEM;
	for (uint32_t i = 0; !err && i < shown; i++)
		err = add_row(t, c, &t->processes.rows[i]);
	if (!err) {
		output__open(&out, t->config);
		print_quality(t, out.file);
		err = columns__print(c, &out);
		if (!err)
			fprintf(out.file, "\n%s %u, not shown %u%s\n", plural_by[t->config->by],
				t->processes.n, t->processes.n - shown,
				t->processes.n > shown ? " (-n 0 shows all)" : "");
		output__close(&out);
	}
	columns__free(c);
	return err;
}

/* ---- JSON ---- */

static const struct qz_field row_fields[] = {
	QZ_FIELD(U64, qz_process_row, processes),
	QZ_FIELD(U64, qz_process_row, threads),
	QZ_FIELD(U64, qz_process_row, cpu_ns),
	QZ_FIELD(U64, qz_process_row, norm_ns),
	QZ_FIELD(U64, qz_process_row, busy_ns),
	QZ_FIELD(U64, qz_process_row, serial_ns),
	QZ_FIELD(U64, qz_process_row, busy_cpu_ns),
	QZ_FIELD(U64, qz_process_row, spin_ns),
	QZ_FIELD(U64, qz_process_row, samples),
	QZ_FIELD(U64, qz_process_row, unresolved),
	{0},
};

static int describe_process(json_t *object, const struct qz_scope *scope)
{
	return json_object_set_new(object, "pid", json_integer(scope->pid)) ||
	       json_object_set_new(object, "ended", json_boolean(scope->ended)) ||
	       qz_json__add_cgroup(object, scope);
}

static json_t *row_json(const struct table *t, const struct qz_process_row *row)
{
	const struct qz_scope *scope = &t->profile->scopes[row->scope];
	json_t *object = qz_fields__object(row_fields, row);
	const char *top = row->top_procedure == QZ_NONE
				  ? NULL
				  : t->profile->procedures[row->top_procedure].name;
	char *label = row->top_object == QZ_NONE
			      ? NULL
			      : qz_object__label(&t->profile->objects[row->top_object]);
	bool failed =
		!object || (row->top_object != QZ_NONE && !label) ||
		json_object_set_new(object, "kind", json_string(qz_json__scope_kind(scope))) ||
		json_object_set_new(object, "name", qz_json__text(row->name)) ||
		(t->config->by == QZ_BY_PROCESS && describe_process(object, scope)) ||
		json_object_set_new(object, "top_procedure",
				    top ? qz_json__text(top) : json_null()) ||
		json_object_set_new(object, "top_object",
				    label ? qz_json__text(label) : json_null());

	free(label);
	return qz_fields__unless(failed, object);
}

static char *make_json(const struct table *t)
{
	static const char *const words[] = {"process", "comm", "unit", "cgroup"};
	json_t *root = json_object(), *rows = json_array();
	uint32_t shown = rows_wanted(t->config, 0, t->processes.n);
	bool failed = !root || !rows;
	char *text;

	for (uint32_t i = 0; !failed && i < shown; i++)
		failed = json_array_append_new(rows, row_json(t, &t->processes.rows[i])) != 0;
	failed =
		failed || json_object_set_new(root, "schema", json_string(SCHEMA)) ||
		json_object_set_new(root, "by", json_string(words[t->config->by])) ||
		json_object_set_new(root, "processors", json_integer(t->profile->processors)) ||
		json_object_set_new(root, "window_ns", qz_fields__integer(t->profile->window_ns)) ||
		json_object_set_new(root, "busy_ns", qz_fields__integer(t->processes.busy_ns)) ||
		json_object_set_new(root, "unattributed_ns",
				    qz_fields__integer(t->processes.unattributed_ns)) ||
		json_object_set_new(root, "lost",
				    qz_fields__integer(qz_ledger__lost(&t->profile->ledger))) ||
		json_object_set_new(root, "rows_total", json_integer(t->processes.n)) ||
		json_object_set(root, "rows", rows);
	text = failed ? NULL : qz_fields__dump(root, JSON_INDENT(1) | JSON_SORT_KEYS);
	json_decref(rows);
	json_decref(root);
	return text;
}

static int print_json(const struct table *t)
{
	char *text = make_json(t);

	if (!text)
		return -ENOMEM;
	fputs(text, stdout);
	free(text);
	return 0;
}

/* ---- the command ---- */

static enum status select_scopes(struct table *t)
{
	const char *text = t->config->scope ? t->config->scope : "all";
	int err = scopes__select(t->profile, text, &t->scopes, &t->nscopes);

	if (!err)
		return STATUS_OK;
	if (err == -ENOMEM)
		return out_of_memory();
	complain(err == -EINVAL ? "--scope: '%s' is no scope; 'quartzctl ps --help' lists them"
				: "no scope '%s' in this profile",
		 text);
	return err == -EINVAL ? STATUS_USAGE : STATUS_FAILURE;
}

enum status cmd_ps(const struct config *config)
{
	struct table t = {.config = config};
	enum status status = source__read(config, &t.profile);
	int err;

	if (status == STATUS_OK)
		status = select_scopes(&t);
	if (status == STATUS_OK) {
		err = qz_processes__make(&t.processes, t.profile, t.scopes, t.nscopes,
					 (enum qz_process_group)config->by,
					 (enum qz_process_order)config->sort);
		err = err ? err : config->json ? print_json(&t) : print_text(&t);
		if (err)
			status = out_of_memory();
	}
	qz_processes__free(&t.processes);
	free(t.scopes);
	qz_profile__free(t.profile);
	return status;
}
