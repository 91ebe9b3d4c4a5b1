/* SPDX-License-Identifier: GPL-2.0-only */
/* Commands that show a profile: report, threads, objects, pairs. */
#include <errno.h>
#include <stdlib.h>

#include "cli/costs/costs.h"
#include "cli/render/cells.h"
#include "cli/render/output.h"
#include "cli/query/interval.h"
#include "cli/query/view.h"
#include "cli/timeline/timeline.h"
#include "core/format/json_fields.h"
#include "core/html/html.h"
#include "core/report/report_json.h"
#include "core/timeline/timeline_json.h"

/* ---- text ---- */

/* Prints the part below the summary of scope i. */
typedef int print_body(const struct scope_view *s, const struct view *v, uint32_t i);

static int print_ranking(const struct scope_view *s, const struct view *v, uint32_t i)
{
	int err = s->config->tree ? tree__print(s) : ranking__print(s);

	return err || !s->config->threads ? err : threads__print(s);
}

static int print_threads(const struct scope_view *s, const struct view *v, uint32_t i)
{
	return threads__print(s);
}

static int print_objects(const struct scope_view *s, const struct view *v, uint32_t i)
{
	return objects__print(s);
}

static int print_woken(const struct scope_view *s, const struct view *v, uint32_t i)
{
	return wakeups__print(s);
}

static int print_costs(const struct scope_view *s, const struct view *v, uint32_t i)
{
	return costs__print(s);
}

static int print_timeline(const struct scope_view *s, const struct view *v, uint32_t i)
{
	return timeline__print(s);
}

static int print_together(const struct scope_view *s, const struct view *v, uint32_t i)
{
	return corun__print(s);
}

static int print_pairs(const struct scope_view *s, const struct view *v, uint32_t i)
{
	return pairs__print(s, v->rows[i]->procedure);
}

static int print_one(const struct scope_view *s, const struct view *v, uint32_t i)
{
	return v->rows[i] ? procedure__print(s, v->rows[i]) : object__print(s, v->objects[i]);
}

/* Findings are shown above the ranking only; other views answer another question. */
static int print_section(const struct view *v, const struct output *out, uint32_t i,
			 print_body *body)
{
	struct qz_advice *advice = qz_advise__new(v->reports[i]);
	bool rough = false;
	struct scope_view s = {v->config, out,	    v->reports[i],
			       advice,	  v->names, cells__decimals(v->reports[i]),
			       &rough};
	int err;

	if (!advice)
		return -ENOMEM;
	if (v->profile->nscopes > 1 && qz_profile__machine(v->profile) == QZ_NONE)
		fprintf(out->file, "Scope %u of %u\n", v->scopes[i], v->profile->nscopes);
	advice->input = v->config->input;
	advice->scope = v->config->scope;
	err = summary__print(&s, body == print_ranking);
	err = err ? err : body(&s, v, i);
	qz_advise__free(advice);
	return err;
}

static enum status print_text(const struct view *v, print_body *body)
{
	struct output out;
	bool first = true;
	int err = 0;

	output__open(&out, v->config);
	interval__print(out.file, v->profile);
	for (uint32_t i = 0; !err && i < v->n; i++) {
		if (v->config->procedure && !v->rows[i] && !v->objects[i])
			continue;
		fputs(first ? "" : "\n\n", out.file);
		first = false;
		err = print_section(v, &out, i, body);
	}
	output__close(&out);
	return err ? out_of_memory() : STATUS_OK;
}

/* ---- JSON ---- */

static uint32_t max_rows(const struct view *v)
{
	return v->config->rows > 0 ? (uint32_t)v->config->rows : UINT32_MAX;
}

/* Prints and frees a text. */
static enum status put(char *text)
{
	if (!text)
		return out_of_memory();
	fputs(text, stdout);
	free(text);
	return STATUS_OK;
}

static enum status print_all(const struct view *v)
{
	const struct qz_html_names names = {v->config->input, v->config->scope};
	int err = qz_html__write(stdout, (const struct qz_report *const *)v->reports, v->n, &names);

	if (err != -E2BIG)
		return err ? out_of_memory() : STATUS_OK;
	complain("the profile has too many stacks for one document; --scope chooses a part of it");
	return STATUS_FAILURE;
}

static enum status print_report_json(const struct view *v)
{
	const struct qz_json_rows which = {v->config->kinds, (enum qz_rank_key)v->config->rank,
					   max_rows(v),
					   v->config->timeline ? qz_timeline_json__object : NULL};

	if (v->config->all)
		return print_all(v);
	return put(
		qz_report_json__report((const struct qz_report *const *)v->reports, v->n, &which));
}

/* Makes the object of scope i in a document; json_null() to leave it out. */
typedef json_t *make_scope(const struct view *v, uint32_t i);

static json_t *one_of(const struct view *v, uint32_t i)
{
	if (v->rows[i])
		return procedure__json(v->reports[i], v->rows[i]);
	return v->objects[i] ? object__json(v->reports[i], v->objects[i]) : json_null();
}

static json_t *objects_of(const struct view *v, uint32_t i)
{
	return objects__json(v->reports[i], max_rows(v));
}

static json_t *woken_of(const struct view *v, uint32_t i)
{
	return wakeups__json(v->reports[i], max_rows(v));
}

static json_t *costs_of(const struct view *v, uint32_t i)
{
	return costs__json(v->reports[i], max_rows(v));
}

static json_t *together_of(const struct view *v, uint32_t i)
{
	return corun__json(v->reports[i], max_rows(v));
}

static json_t *pairs_of(const struct view *v, uint32_t i)
{
	return v->rows[i] ? pairs__json(v->reports[i], v->rows[i]->procedure, max_rows(v))
			  : json_null();
}

static enum status print_scopes_json(const struct view *v, const char *schema, make_scope *make)
{
	json_t *root = json_object(), *scopes = json_array();
	bool failed = !root || !scopes;

	for (uint32_t i = 0; !failed && i < v->n; i++) {
		json_t *scope = make(v, i);

		failed = !scope || (!json_is_null(scope) && json_array_append(scopes, scope));
		json_decref(scope);
	}
	failed = failed || json_object_set_new(root, "schema", json_string(schema)) ||
		 json_object_set_new(root, "processors", json_integer(v->profile->processors)) ||
		 qz_report_json__add_rate(root, v->profile) ||
		 json_object_set(root, "scopes", scopes);
	json_decref(scopes);
	return output__json(qz_json_fields__unless(failed, root), 1);
}

static bool is_procedure(const struct view *v)
{
	for (uint32_t i = 0; i < v->n; i++)
		if (v->rows[i])
			return true;
	return false;
}

static enum status print_one_json(const struct view *v)
{
	return print_scopes_json(v, is_procedure(v) ? "quartz.procedure/v1" : "quartz.object/v1",
				 one_of);
}

static enum status print_objects_json(const struct view *v)
{
	return print_scopes_json(v, "quartz.objects/v1", objects_of);
}

static enum status print_woken_json(const struct view *v)
{
	return print_scopes_json(v, "quartz.woken/v1", woken_of);
}

static enum status print_costs_json(const struct view *v)
{
	return print_scopes_json(v, "quartz.costs/v1", costs_of);
}

static enum status print_together_json(const struct view *v)
{
	return print_scopes_json(v, "quartz.together/v1", together_of);
}

static enum status print_pairs_json(const struct view *v)
{
	return print_scopes_json(v, "quartz.pairs/v1", pairs_of);
}

/* ---- commands ---- */

static enum status complain_without_samples(const struct view *v)
{
	for (uint32_t i = 0; i < v->n; i++)
		if (qz_scope__is_measured(v->profile, v->scopes[i]))
			return STATUS_OK;
	complain("no samples were captured");
	return STATUS_NO_SAMPLES;
}

typedef enum status print_document(const struct view *v);

static enum status show(const struct config *config, print_body *body, print_document *document)
{
	struct view v;
	enum status status = view__open(&v, config);

	if (status == STATUS_OK && !config->json)
		status = print_text(&v, body);
	else if (status == STATUS_OK)
		status = document(&v);
	if (status == STATUS_OK)
		status = complain_without_samples(&v);
	view__close(&v);
	return status;
}

/* ---- views that need a special recording ---- */

static enum status check_woken(const struct view *v)
{
	if (v->profile->nwakings && !v->profile->wakes_sampled)
		return STATUS_OK;
	complain("the time until woken was not measured: record with --woken");
	return STATUS_NO_SAMPLES;
}

static enum status check_instants(const struct view *v)
{
	if (v->profile->instants.rate_hz)
		return STATUS_OK;
	complain("no snapshots of all processors were taken: record with --snapshots HZ");
	return STATUS_NO_SAMPLES;
}

static enum status check_timeline(const struct view *v)
{
	if (v->profile->timeline)
		return STATUS_OK;
	return interval__complain("--timeline", v->profile);
}

static enum status check_procedure(const struct view *v)
{
	if (is_procedure(v))
		return STATUS_OK;
	complain("'%s' is an object, and only procedures run", v->config->procedure);
	return STATUS_FAILURE;
}

static enum status show_measured(const struct config *config, print_document *check,
				 print_body *body, print_document *document)
{
	struct view v;
	enum status status = view__open(&v, config);

	if (status == STATUS_OK)
		status = check(&v);
	if (status == STATUS_OK && config->procedure)
		status = check_procedure(&v);
	if (status == STATUS_OK)
		status = config->json ? document(&v) : print_text(&v, body);
	view__close(&v);
	return status;
}

static enum status pairs(const struct config *config)
{
	return show_measured(config, check_instants, print_pairs, print_pairs_json);
}

static enum status report(const struct config *config)
{
	if (config->snapshot)
		return show_measured(config, check_instants, print_together, print_together_json);
	if (config->timeline && (config->time || config->window)) {
		complain("--timeline shows all of the run: not with --time or --window");
		return STATUS_USAGE;
	}
	if (config->timeline)
		return show_measured(config, check_timeline, print_timeline, print_report_json);
	if (config->costs)
		return show(config, print_costs, print_costs_json);
	if (config->procedure)
		return show(config, print_one, print_one_json);
	if (config->woken)
		return show_measured(config, check_woken, print_woken, print_woken_json);
	return show(config, print_ranking, print_report_json);
}

static enum status threads(const struct config *config)
{
	return show(config, print_threads, print_report_json);
}

static enum status objects(const struct config *config)
{
	return show(config, print_objects, print_objects_json);
}

static const char *find_misuse(const struct config *config)
{
	if (config->callers && !config->procedure)
		return "--callers needs a procedure";
	if (config->woken && config->procedure)
		return "--woken ranks all procedures and takes none";
	if (config->snapshot && (config->procedure || config->woken))
		return "--snapshot shows all procedures and takes none, nor --woken";
	if (config->depth && !config->tree)
		return "--depth needs --tree";
	if (config->tree && (config->procedure || config->woken || config->snapshot))
		return "--tree shows all procedures and takes none, nor --woken or --snapshot";
	if (config->tree && (config->json || config->rank || config->kind || config->waits))
		return "--tree is a text with columns and an order of its own: not with --json, "
		       "--sort, --kind or --waits";
	if (config->costs &&
	    (config->procedure || config->woken || config->snapshot || config->timeline ||
	     config->tree || config->rank || config->kind || config->all || config->waits))
		return "--costs is a view of its own: not with a procedure, nor with --woken, "
		       "--snapshot, --timeline, --tree, --sort, --kind, --all or --waits";
	if (config->all && !config->json)
		return "--all needs --json";
	if (config->all && (config->procedure || config->woken || config->snapshot ||
			    config->rank || config->kind || config->rows >= 0))
		return "--all has all rows of all views: not with a procedure, --woken, "
		       "--snapshot, --sort, --kind or --rows";
	return NULL;
}

static const struct qz_option report_options[] = {
	{"threads", 't', QZ_OPTION_FLAG, FIELD(threads), NULL, "Also show the table of threads."},
	{"callers", 'c', QZ_OPTION_FLAG, FIELD(callers), NULL,
	 "With PROCEDURE: show its callers instead of its\ncallees."},
	{"kind", 'k', QZ_OPTION_STRING, FIELD(kind), "KINDS",
	 "Kinds of rows to list, separated by commas:\nprocedure, object, thread "
	 "[procedure,object]."},
	{"waits", 'W', QZ_OPTION_FLAG, FIELD(waits), NULL,
	 "Show waits of each row instead of its own time."},
	{"woken", 0, QZ_OPTION_FLAG, FIELD(woken), NULL,
	 "Rank by time until woken; needs a profile of\nrecord --woken."},
	{"snapshot", 0, QZ_OPTION_FLAG, FIELD(snapshot), NULL,
	 "Show what ran at the same instant on all\nprocessors; needs record --snapshots."},
	{"timeline", 0, QZ_OPTION_FLAG, FIELD(timeline), NULL,
	 "Show how the program developed over the time."},
	{"sort", 'S', QZ_OPTION_CHOICE, FIELD(rank), "auto|total|self|blocked|spin|cpu|name",
	 "Sort rows by this. auto: total, or self where\nno main has half of the time [auto]."},
	{"flat", 0, QZ_OPTION_FLAG, FIELD(flat), NULL,
	 "Do not fold wrappers, nor the kernel's\nprocedures: a row for each procedure."},
	{"tree", 0, QZ_OPTION_FLAG, FIELD(tree), NULL, "Show who calls whom, largest parts first."},
	{"depth", 0, QZ_OPTION_INTEGER, FIELD(depth), "N",
	 "With --tree: at most N levels of calls.", 1, INT32_MAX},
	{"costs", 0, QZ_OPTION_FLAG, FIELD(costs), NULL,
	 "Show what processor time was for: work, starting,\nhanding over, calls; and who asked."},
	{"all", 0, QZ_OPTION_FLAG, FIELD(all), NULL,
	 "With --json: all that is known, as in the page of\n'quartzctl html'."},
	{"scope", 's', QZ_OPTION_STRING, FIELD(scope), "SCOPE",
	 "Scopes to show: machine, kernel, all, pid=N,\ncomm=NAME, unit=NAME, cgroup=PATH, or an "
	 "index.\nDefault: machine if profiled, else all."},
	{0},
};

const struct command cmd_report = {
	.name = "report",
	.operands = " [PROCEDURE|OBJECT]",
	.summary = "Show which procedures account for the elapsed time",
	.details = "With PROCEDURE: show its levels of parallelism, its callees, and what it\n"
		   "waited for. With OBJECT: show what waits for it, and what ends the waits.\n",
	.options = report_options,
	.shared = SHARED_SOURCE | SHARED_PART | SHARED_FIGURES,
	.takes_procedure = true,
	.find_misuse = find_misuse,
	.run = report,
};

static const struct qz_option threads_options[] = {
	{"each", 0, QZ_OPTION_FLAG, FIELD(each), NULL,
	 "A row for each thread, not for each start\nprocedure."},
	{0},
};

const struct command cmd_threads = {
	.name = "threads",
	.summary = "Show the threads and their normalized time",
	.options = threads_options,
	.shared = SHARED_SCOPE | SHARED_SOURCE | SHARED_PART | SHARED_FIGURES,
	.run = threads,
};

const struct command cmd_objects = {
	.name = "objects",
	.summary = "Show locks and other objects that threads waited for",
	.details = "'quartzctl locks' is the same command.\n",
	.shared = SHARED_SCOPE | SHARED_SOURCE | SHARED_PART | SHARED_FIGURES,
	.run = objects,
};

const struct command cmd_pairs = {
	.name = "pairs",
	.operands = " PROCEDURE",
	.summary = "Show what other processors did while a procedure ran",
	.details = "Needs a profile of 'quartzctl record --snapshots'.\n",
	.shared = SHARED_SCOPE | SHARED_SOURCE | SHARED_PART | SHARED_FIGURES,
	.takes_procedure = true,
	.needs_procedure = true,
	.run = pairs,
};
