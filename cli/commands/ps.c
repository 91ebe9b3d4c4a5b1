/* SPDX-License-Identifier: GPL-2.0-only */
/* quartzctl ps: one row for each process, program, unit or control group. */
#include <errno.h>
#include <stdlib.h>

#include "cli/query/interval.h"
#include "cli/render/text_table.h"
#include "cli/render/quality.h"
#include "cli/query/scope_select.h"
#include "cli/render/cells.h"
#include "cli/query/profile_source.h"
#include "core/estimate/estimate.h"
#include "core/format/json_fields.h"
#include "core/report/report_json.h"
#include "core/model/objects.h"
#include "core/report/process_table.h"
#include "core/util/systemd_unit.h"

#define SCHEMA "quartz.processes/v1"

struct table {
	const struct config *config;
	struct qz_profile *profile;
	uint32_t *scopes, nscopes;
	struct qz_process_table processes;
	bool spun; /* any row has spin time */
};

static const char *const heads_by[] = {"process", "program", "unit", "control group"};
static const char *const plural_by[] = {"processes", "programs", "units", "control groups"};

/* ---- text ---- */

static char *top_object(const struct table *t, const struct qz_process_row *row)
{
	char *label, *escaped;

	if (row->top_object == QZ_NONE)
		return output__escape("");
	label = qz_objects__label(&t->profile->objects[row->top_object]);
	escaped = label ? output__escape(label) : NULL;
	free(label);
	return escaped;
}

static void add_row_norm(const struct table *t, struct text_table *table,
			 const struct qz_process_row *row)
{
	double percent = t->profile->window_ns ? 100 / (double)t->profile->window_ns : 0;
	bool rough = qz_process_table__is_rough(&t->processes, row);
	const struct estimate s = {(double)row->norm_ns / 1e9, (double)row->ci_ns / 1e9, 3, rough};
	const struct estimate p = {percent * (double)row->norm_ns, percent * (double)row->ci_ns, 1,
				   rough};

	cells__add_estimate(table, PLAIN, &s);
	cells__add_estimate(table, cells__emphasis(p.value), &p);
}

/* A figure of levels. Merged processes have none. */
static void add_row_levels(struct text_table *table, const struct qz_process_row *row)
{
	if (!row->busy_ns) {
		text_table__add(table, PLAIN, "-");
		text_table__add(table, PLAIN, "-");
		return;
	}
	text_table__add(table, PLAIN, "%.1f", qz_process_row__parallelism(row));
	text_table__add(table, PLAIN, "%.0f", 100 * qz_process_row__serial(row));
}

static void add_row_spun(struct text_table *table, const struct qz_process_row *row)
{
	uint64_t ci = qz_share_half_width(row->cpu_ns, row->spin_samples, row->samples);
	const struct estimate e = {(double)row->spin_ns / 1e9, (double)ci / 1e9, 3,
				   row->spin_samples && row->spin_samples < QZ_FEW_SAMPLES};

	cells__add_estimate(table, PLAIN, &e);
}

static void add_row(const struct table *t, struct text_table *table,
		    const struct qz_process_row *row)
{
	const struct qz_scope *scope = &t->profile->scopes[row->scope];
	bool top = row->top_procedure != QZ_NONE, one = t->config->by == QZ_BY_PROCESS;

	if (one && !scope->pid)
		text_table__add(table, PLAIN, "-");
	else
		text_table__add(table, PLAIN, "%llu",
				one ? (unsigned long long)scope->pid
				    : (unsigned long long)row->processes);
	text_table__add(table, PLAIN, "%.3f", (double)row->cpu_ns / 1e9);
	add_row_norm(t, table, row);
	add_row_levels(table, row);
	if (t->spun)
		add_row_spun(table, row);
	text_table__add(table, PLAIN, "%llu", (unsigned long long)row->threads);
	text_table__take(table, output__escape(*row->name ? row->name : "-"));
	text_table__take(table, output__escape(top ? t->profile->procedures[row->top_procedure].name
						   : ""));
	text_table__take(table, top_object(t, row));
}

/* "17 processes used 1.5 of 4 CPUs on average, for 10.000 s; make used most: 1.3." */
static void print_use(const struct table *t, FILE *out)
{
	double window = t->profile->window_ns ? (double)t->profile->window_ns : 1;
	const struct qz_process_row *most = NULL;
	uint64_t cpu_ns = 0;
	char *name;

	for (uint32_t i = 0; i < t->processes.n; i++) {
		const struct qz_process_row *row = &t->processes.rows[i];

		cpu_ns += row->cpu_ns;
		most = !most || row->cpu_ns > most->cpu_ns ? row : most;
	}
	fprintf(out, "%u %s used %.1f of %u CPUs on average, for %.3f s", t->processes.n,
		t->processes.n == 1 ? heads_by[t->config->by] : plural_by[t->config->by],
		(double)cpu_ns / window, t->profile->processors,
		(double)t->profile->window_ns / 1e9);
	name = most && most->cpu_ns && *most->name ? output__escape(most->name) : NULL;
	if (name)
		fprintf(out, "; %s used most: %.1f", name, (double)most->cpu_ns / window);
	fputs(".\n", out);
	free(name);
}

static void print_quality(const struct table *t, FILE *out)
{
	struct rate_text rate = quality__rate(t->profile);
	uint64_t samples = 0, unresolved = 0;

	for (uint32_t i = 0; i < t->processes.n; i++) {
		samples += t->processes.rows[i].samples;
		unresolved += t->processes.rows[i].unresolved;
	}
	print_use(t, out);
	fprintf(out, "samples %s, lost %s, unresolved %s", cells__count(samples).text,
		cells__count(qz_ledger__lost(&t->profile->ledger)).text,
		cells__share(unresolved, samples).text);
	if (t->processes.unattributed_ns)
		fprintf(out, ", without a sample %.3f s",
			(double)t->processes.unattributed_ns / 1e9);
	fputc('\n', out);
	if (*rate.text)
		fprintf(out, "sampled at %s\n", rate.text);
	quality__print_ledger(out, t->profile, samples,
			      !t->config->scope && t->processes.estimated);
	fputc('\n', out);
}

/* Notes about rows with few samples, and about an automatic sort key. */
static void print_notes(const struct table *t, uint32_t shown, FILE *out)
{
	bool rough = false;

	for (uint32_t i = 0; i < shown; i++)
		rough |= qz_process_table__is_rough(&t->processes, &t->processes.rows[i]);
	if (rough)
		cells__print_rough(out);
	if (t->config->sort == QZ_ORDER_AUTO && t->processes.order == QZ_ORDER_CPU)
		fputs("sorted by CPU: most of it is of rows with too few samples to be sorted by "
		      "norm\n",
		      out);
}

/*
 * The spin column is shown if any row has spin time. Names of programs are short, those of units
 * are long.
 */
static int make_heads(const struct table *t, struct column *heads)
{
	bool one = t->config->by == QZ_BY_PROCESS;
	int n = 0;

	heads[n++] = (struct column) {{"", one ? "pid" : "procs"}};
	heads[n++] = (struct column) {{"CPU", "s"}};
	heads[n++] = (struct column) {{"norm", "s"}};
	heads[n++] = (struct column) {{"", "%"}, .joined = true};
	heads[n++] = (struct column) {{"paral-", "lelism"}};
	heads[n++] = (struct column) {{"serial", "%"}};
	if (t->spun)
		heads[n++] = (struct column) {{"spin", "s"}};
	heads[n++] = (struct column) {{"", "threads"}};
	heads[n++] = (struct column) {
		{"", heads_by[t->config->by]}, .left = true, .elastic = t->config->by > QZ_BY_COMM};
	heads[n++] = (struct column) {{"top", "procedure"}, .left = true, .elastic = true};
	heads[n++] = (struct column) {{"top", "object"}, .left = true};
	return n;
}

static int print_text(const struct table *t)
{
	struct column heads[11];
	uint32_t shown = cells__rows_wanted(t->config, DEFAULT_ROWS, t->processes.n);
	struct text_table *table = text_table__new(heads, make_heads(t, heads));
	struct output out;
	int err;

	for (uint32_t i = 0; i < shown; i++)
		add_row(t, table, &t->processes.rows[i]);
	output__open(&out, t->config);
	interval__print(out.file, t->profile);
	print_quality(t, out.file);
	err = text_table__print(table, &out);
	if (!err) {
		fprintf(out.file, "\n%s %u, not shown %u%s\n", plural_by[t->config->by],
			t->processes.n, t->processes.n - shown,
			t->processes.n > shown ? " (-n 0 shows all)" : "");
		print_notes(t, shown, out.file);
	}
	output__close(&out);
	return err;
}

/* ---- JSON ---- */

static const struct qz_field row_fields[] = {
	QZ_SHOWN_FIELD(U64, qz_process_row, processes),
	QZ_SHOWN_FIELD(U64, qz_process_row, threads),
	QZ_SHOWN_FIELD(U64, qz_process_row, cpu_ns),
	QZ_SHOWN_FIELD(U64, qz_process_row, norm_ns),
	QZ_SHOWN_FIELD(U64, qz_process_row, ci_ns),
	QZ_SHOWN_FIELD(U64, qz_process_row, busy_ns),
	QZ_SHOWN_FIELD(U64, qz_process_row, serial_ns),
	QZ_SHOWN_FIELD(U64, qz_process_row, busy_cpu_ns),
	QZ_SHOWN_FIELD(U64, qz_process_row, spin_ns),
	QZ_SHOWN_FIELD(U64, qz_process_row, spin_samples),
	QZ_SHOWN_FIELD(U64, qz_process_row, samples),
	QZ_SHOWN_FIELD(U64, qz_process_row, unresolved),
	{0},
};

static int describe_process(json_t *object, const struct qz_scope *scope)
{
	return json_object_set_new(object, "pid", json_integer(scope->pid)) ||
	       json_object_set_new(object, "ended", json_boolean(scope->ended)) ||
	       qz_report_json__add_cgroup(object, scope);
}

static json_t *row_json(const struct table *t, const struct qz_process_row *row)
{
	const struct qz_scope *scope = &t->profile->scopes[row->scope];
	json_t *object = qz_json_fields__object(row_fields, row);
	const char *top = row->top_procedure == QZ_NONE
				  ? NULL
				  : t->profile->procedures[row->top_procedure].name;
	char *label = row->top_object == QZ_NONE
			      ? NULL
			      : qz_objects__label(&t->profile->objects[row->top_object]);
	bool failed = !object || (row->top_object != QZ_NONE && !label) ||
		      json_object_set_new(object, "kind",
					  json_string(qz_report_json__scope_kind(scope))) ||
		      json_object_set_new(object, "name", qz_json_fields__text(row->name)) ||
		      (t->config->by == QZ_BY_PROCESS && describe_process(object, scope)) ||
		      json_object_set_new(object, "top_procedure",
					  top ? qz_json_fields__text(top) : json_null()) ||
		      json_object_set_new(object, "top_object",
					  label ? qz_json_fields__text(label) : json_null());

	free(label);
	return qz_json_fields__unless(failed, object);
}

static char *make_json(const struct table *t)
{
	static const char *const words[] = {"process", "comm", "unit", "cgroup"};
	static const char *const orders[] = {"auto",   "norm", "cpu",	  "parallelism",
					     "serial", "spin", "threads", "name"};
	json_t *root = json_object(), *rows = json_array();
	uint32_t shown = cells__rows_wanted(t->config, 0, t->processes.n);
	bool failed = !root || !rows;
	char *text;

	for (uint32_t i = 0; !failed && i < shown; i++)
		failed = json_array_append_new(rows, row_json(t, &t->processes.rows[i])) != 0;
	failed = failed || json_object_set_new(root, "schema", json_string(SCHEMA)) ||
		 json_object_set_new(root, "by", json_string(words[t->config->by])) ||
		 qz_report_json__add_rate(root, t->profile) ||
		 json_object_set_new(root, "sorted_by", json_string(orders[t->processes.order])) ||
		 json_object_set_new(root, "processors", json_integer(t->profile->processors)) ||
		 json_object_set_new(root, "window_ns",
				     qz_json_fields__integer(t->profile->window_ns)) ||
		 json_object_set_new(root, "busy_ns",
				     qz_json_fields__integer(t->processes.busy_ns)) ||
		 json_object_set_new(root, "unattributed_ns",
				     qz_json_fields__integer(t->processes.unattributed_ns)) ||
		 json_object_set_new(
			 root, "lost",
			 qz_json_fields__integer(qz_ledger__lost(&t->profile->ledger))) ||
		 json_object_set_new(root, "rows_total", json_integer(t->processes.n)) ||
		 json_object_set(root, "rows", rows);
	text = failed ? NULL : qz_json_fields__dump(root, JSON_INDENT(1) | JSON_SORT_KEYS);
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
	int err = scope_select__select(t->profile, text, &t->scopes, &t->nscopes);

	if (!err)
		return STATUS_OK;
	if (err == -ENOMEM)
		return out_of_memory();
	if (err == -ENOENT) {
		scope_select__complain(t->profile, text);
		return STATUS_FAILURE;
	}
	complain("--scope: '%s' is no scope; 'quartzctl ps --help' lists them", text);
	return STATUS_USAGE;
}

static enum status ps(const struct config *config)
{
	struct table t = {.config = config};
	enum status status = profile_source__read(config, &t.profile);
	int err;

	if (status == STATUS_OK)
		status = select_scopes(&t);
	if (status == STATUS_OK) {
		err = qz_process_table__make(&t.processes, t.profile, t.scopes, t.nscopes,
					     (enum qz_process_group)config->by,
					     (enum qz_process_order)config->sort);
		for (uint32_t i = 0; i < t.processes.n; i++)
			t.spun |= t.processes.rows[i].spin_ns != 0;
		err = err ? err : config->json ? print_json(&t) : print_text(&t);
		if (err)
			status = out_of_memory();
	}
	qz_process_table__free(&t.processes);
	free(t.scopes);
	qz_profile__free(t.profile);
	return status;
}

static const struct qz_option options[] = {
	{"scope", 's', QZ_OPTION_STRING, FIELD(scope), "SCOPE",
	 "Show only these: comm=NAME, unit=NAME,\ncgroup=PATH, pid=N [all]."},
	{0},
};

const struct command cmd_ps = {
	.name = "ps",
	.summary = "Show the processes, or units, by their cost",
	.options = options,
	.shared = SHARED_PROCESSES | SHARED_SOURCE | SHARED_PART | SHARED_FIGURES,
	.live_first = true,
	.run = ps,
};
