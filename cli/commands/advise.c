/* SPDX-License-Identifier: GPL-2.0-only */
/* quartzctl advise: what limits the program, and what it would gain without. */
#include <errno.h>
#include <stdlib.h>

#include "cli/query/interval.h"
#include "cli/query/view.h"
#include "cli/render/cells.h"
#include "cli/render/output.h"
#include "cli/render/scope_label.h"
#include "cli/tries/ledger.h"
#include "cli/tries/tries.h"
#include "core/advise/advise_json.h"
#include "core/advise/advise_text.h"
#include "core/advise/verdict.h"
#include "core/format/json_fields.h"
#include "core/model/allowed.h"
#include "core/remedies/remedies_json.h"
#include "core/report/report_json.h"

static uint32_t findings_wanted(const struct config *config)
{
	return config->rows > 0 ? (uint32_t)config->rows : UINT32_MAX;
}

/* ---- text ---- */

static int print_scope(const struct view *v, const struct output *out, uint32_t i)
{
	const struct qz_report *r = v->reports[i];
	struct qz_advice *a = qz_advise__new(r);
	char *label = scope_label(&v->profile->scopes[v->scopes[i]], out->width);
	int err = a && label ? 0 : -ENOMEM;

	if (!err) {
		a->input = v->config->input;
		a->scope = v->config->scope;
		fprintf(out->file, "%s, %.2f s elapsed, %s thread%s\n", label,
			(double)r->elapsed_ns / 1e9, cells__count(r->nthreads).text,
			r->nthreads == 1 ? "" : "s");
		err = qz_advise_text__all(out->file, a, out->width, findings_wanted(v->config));
	}
	free(label);
	qz_advise__free(a);
	return err;
}

static enum status print_text(const struct view *v)
{
	struct output out;
	int err = 0;

	output__open(&out, v->config);
	interval__print(out.file, v->profile);
	for (uint32_t i = 0; !err && i < v->n; i++) {
		fputs(i ? "\n\n" : "", out.file);
		err = print_scope(v, &out, i);
	}
	output__close(&out);
	return err ? out_of_memory() : STATUS_OK;
}

/* ---- JSON ---- */

/* Findings of all scopes, to be sorted together. */
struct found {
	const struct qz_advice *advice;
	const struct qz_finding *finding;
	const struct qz_remedies *remedies; /* of its scope */
};

static uint64_t middle(const struct found *f)
{
	return f->finding->gain_low_ns / 2 + f->finding->gain_high_ns / 2;
}

static int compare(const void *x, const void *y)
{
	const struct found *f = x, *g = y;
	uint64_t a = middle(f), b = middle(g);

	if (a != b)
		return a < b ? 1 : -1;
	if (f->advice->report->scope != g->advice->report->scope)
		return f->advice->report->scope < g->advice->report->scope ? -1 : 1;
	return f->finding < g->finding ? -1 : 1;
}

static json_t *finding_of(const struct found *f)
{
	json_t *finding = qz_advise_json__finding(f->advice, f->finding);
	uint32_t i = (uint32_t)(f->finding - f->advice->findings);
	bool failed = json_object_set_new(finding, "remedies",
					  qz_remedies_json__of_finding(f->remedies, i));

	return qz_json_fields__unless(failed, finding);
}

static json_t *findings_of(const struct view *v, struct qz_advice *const *advices,
			   const struct qz_remedies *remedies)
{
	json_t *array = json_array();
	struct found *all;
	uint32_t n = 0;
	bool failed;

	for (uint32_t i = 0; i < v->n; i++)
		n += advices[i]->n;
	all = calloc((size_t)n + 1, sizeof(*all));
	failed = !array || !all;
	n = 0;
	for (uint32_t i = 0; !failed && i < v->n; i++)
		for (uint32_t k = 0; k < advices[i]->n; k++)
			all[n++] =
				(struct found) {advices[i], &advices[i]->findings[k], &remedies[i]};
	if (n)
		qsort(all, n, sizeof(*all), compare);
	for (uint32_t i = 0; !failed && i < n && i < findings_wanted(v->config); i++)
		failed = json_array_append_new(array, finding_of(&all[i]));
	free(all);
	return qz_json_fields__unless(failed, array);
}

static json_t *scope_of(const struct qz_advice *a)
{
	json_t *scope = scope__json(a->report);
	char *verdict = qz_verdict__text(a);
	bool failed = !verdict ||
		      json_object_set_new(scope, "verdict", qz_json_fields__text(verdict)) ||
		      json_object_set_new(scope, "idle_ns",
					  qz_json_fields__integer(a->report->idle_ns)) ||
		      json_object_set_new(scope, "serial_ns",
					  qz_json_fields__integer(a->report->serial_ns));

	free(verdict);
	return qz_json_fields__unless(failed, scope);
}

static json_t *document(const struct view *v, struct qz_advice *const *advices,
			const struct qz_remedies *remedies)
{
	json_t *root = json_object(), *scopes = json_array();
	bool failed = !root || !scopes;

	for (uint32_t i = 0; !failed && i < v->n; i++)
		failed = json_array_append_new(scopes, scope_of(advices[i]));
	failed = failed || json_object_set_new(root, "schema", json_string("quartz.advice/v1")) ||
		 json_object_set_new(root, "processors", json_integer(v->profile->processors)) ||
		 qz_report_json__add_rate(root, v->profile) ||
		 json_object_set(root, "scopes", scopes) ||
		 json_object_set_new(root, "findings", findings_of(v, advices, remedies));
	json_decref(scopes);
	return qz_json_fields__unless(failed, root);
}

static uint32_t processors_of(const struct qz_report *r)
{
	struct qz_allowed allowed;

	qz_allowed__find(r->profile, r->scope, &allowed);
	return allowed.processors;
}

static enum status print_json(const struct view *v)
{
	struct qz_advice **advices = calloc(v->n, sizeof(struct qz_advice *));
	struct qz_remedies *remedies = calloc(v->n, sizeof(*remedies));
	struct qz_remedy_place place = {.is_root = true};
	bool failed = !advices || !remedies;
	json_t *root = NULL;

	qz_remedy_code__find(&place.code, v->profile);
	for (uint32_t i = 0; !failed && i < v->n; i++) {
		place.processors = processors_of(v->reports[i]);
		advices[i] = qz_advise__new(v->reports[i]);
		failed = !advices[i] || qz_remedies__find(&remedies[i], advices[i], &place);
	}
	if (!failed)
		root = document(v, advices, remedies);
	for (uint32_t i = 0; i < v->n; i++) {
		qz_advise__free(advices ? advices[i] : NULL);
		if (remedies)
			qz_remedies__free(&remedies[i]);
	}
	free(advices);
	free(remedies);
	return output__json(root, 1);
}

/* What does not go together; NULL: nothing. */
static const char *find_misuse(const struct config *config)
{
	if (config->record && (config->try_remedies || config->input || config->live))
		return "--record shows what was tried before: not with --try, nor with a profile";
	if (!config->try_remedies &&
	    (config->runs || config->limit || config->check || config->user || config->dry_run ||
	     config->html || config->pid || config->events || config->duration ||
	     OWN(try_config, config)->unit || OWN(try_config, config)->knobs.n))
		return "--pid, --unit, --knob, --events, --duration, --runs, --for, --check, "
		       "--user "
		       "and --dry-run need --try";
	return config->open && !config->html ? "--open needs --html" : NULL;
}

static enum status advise(const struct config *config)
{
	const char *why = find_misuse(config);
	struct view v;
	enum status status;

	if (why) {
		complain("%s; try 'quartzctl advise --help'", why);
		return STATUS_USAGE;
	}
	if (config->try_remedies)
		return tries__run(config);
	if (config->record)
		return ledger__show(config);
	status = view__open(&v, config);
	if (status == STATUS_OK)
		status = config->json ? print_json(&v) : print_text(&v);
	view__close(&v);
	return status;
}

static const struct qz_option options[] = {
	{"try", 0, QZ_OPTION_FLAG, FIELD(try_remedies), NULL,
	 "Run COMMAND with and without each remedy that needs no\nchange of the program, and tell "
	 "what helps."},
	{"pid", 'p', QZ_OPTION_INTEGER, FIELD(pid), "PID",
	 "With --try: instead of a COMMAND, try on this running\nprocess and its children what can "
	 "be undone while it\nruns.",
	 1, INT32_MAX},
	{"unit", 0, QZ_OPTION_STRING, OWN_FIELD(try_config, unit), "NAME",
	 "With --try: the same for the processes of this systemd unit."},
	{"knob", 'k', QZ_OPTION_STRINGS, OWN_FIELD(try_config, knobs), "KNOB",
	 "With --try: try these values, too; may be repeated.\nNAME:VALUES:LINE: {} in LINE, for "
	 "sh, stands "
	 "for the\nvalue. LINE is what is run instead of COMMAND; with --pid\nit changes the "
	 "process, and the "
	 "first value is what it\nhas. cpus:VALUES, nice:VALUES; with --pid, NAME[:VALUES]\nof "
	 "libquartz."},
	{"events", 'e', QZ_OPTION_STRING, FIELD(events), "COMMAND",
	 "With --pid: a line for sh that prints how many requests,\nor the like, it has done so "
	 "far. "
	 "Default: events of\nlibquartz, or else bytes that its clients got by TCP."},
	{"duration", 'd', QZ_OPTION_DURATION, FIELD(duration), "TIME",
	 "With --pid: measure so long each time [1s].", 100000000, INT64_MAX},
	{"runs", 'r', QZ_OPTION_INTEGER, FIELD(runs), "N",
	 "With --try: pairs of runs of each remedy at least\n[3].", 3, 32},
	{"for", 0, QZ_OPTION_DURATION, FIELD(limit), "TIME",
	 "With --try: time for all trials at most [60s].", 1, INT64_MAX},
	{"check", 0, QZ_OPTION_STRING, FIELD(check), "COMMAND",
	 "With --try: a line for sh that fails if what a run\nhas printed, its input, is wrong. "
	 "Default: all runs\nmust print the same."},
	{"user", 'u', QZ_OPTION_STRING, FIELD(user), "USER",
	 "With --try: run COMMAND as this user. Default: the\nuser who called sudo, else root."},
	{"dry-run", 0, QZ_OPTION_FLAG, FIELD(dry_run), NULL,
	 "With --try: only tell what would be tried."},
	{"html", 0, QZ_OPTION_STRING, FIELD(html), "FILE",
	 "With --try: write a page for the browser, too."},
	{"open", 0, QZ_OPTION_FLAG, FIELD(open), NULL, "With --html: open it in the browser."},
	{"record", 0, QZ_OPTION_FLAG, FIELD(record), NULL,
	 "Show how often predicted ranges held in all tries of\nthis user."},
	{0},
};

const struct command cmd_advise = {
	.name = "advise",
	.operands = " [--try [--] COMMAND [ARGUMENT...]]",
	.size = sizeof(struct try_config),
	.summary = "Show what limits the program, and what it would gain",
	.details =
		"Findings, the one that gains most first: what, how much, the figures that show\n"
		"it, and what people do about it. With --try, what needs no change of the program\n"
		"is tried: COMMAND is measured, which needs root, unless there is an --input, and\n"
		"run with and without.\n",
	.options = options,
	.shared = SHARED_SCOPE | SHARED_SOURCE | SHARED_PART | SHARED_FIGURES,
	.run = advise,
};
