/* SPDX-License-Identifier: GPL-2.0-only */
/* quartzctl diff: what changed between two sides of one or more profiles. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/files/html_file.h"
#include "cli/query/view.h"
#include "cli/render/cells.h"
#include "cli/comparison/limits.h"
#include "cli/render/output.h"
#include "core/format/json_fields.h"
#include "core/html/html_changes.h"
#include "core/report/ranking.h"

struct diff_config {
	struct config common;
	struct qz_texts fail_above;
};

#define MAX_LISTED 5 /* scopes in a message */

/* One profile, and which of its scopes have been compared. */
struct source {
	const char *file;
	struct config config; /* of the view */
	struct view view;
	bool *taken; /* by scope of the view */
};

struct diff {
	const struct config *config;
	uint32_t n, nbefore; /* sources */
	struct source *sources;
	struct qz_identities ids;
	uint32_t nscopes;
	struct compared_scope *scopes;
	const struct qz_report **reports; /* by scope, and by source */
	struct growth_limit *limits;	  /* as many as --fail-above was given */
};

/* ---- the limits ---- */

static enum status parse_limits(struct diff *d)
{
	const struct qz_texts *texts = &OWN(diff_config, d->config)->fail_above;
	enum status status = STATUS_OK;

	d->limits = calloc(texts->n + 1, sizeof(*d->limits));
	if (!d->limits)
		return out_of_memory();
	for (size_t i = 0; status == STATUS_OK && i < texts->n; i++)
		status = limits__parse(texts->items[i], &d->limits[i]);
	return status;
}

/* All of them, so that all is said that grew. */
static enum status check_limits(const struct diff *d)
{
	enum status worst = STATUS_OK;

	for (size_t i = 0; i < OWN(diff_config, d->config)->fail_above.n; i++) {
		enum status status = limits__check(&d->limits[i], d->scopes, d->nscopes);

		if (worst != STATUS_FAILURE && status != STATUS_OK)
			worst = status;
	}
	return worst;
}

/* ---- sources ---- */

static enum status open_sources(struct diff *d)
{
	const struct qz_texts *files = &d->config->profiles;

	d->sources = calloc(files->n, sizeof(*d->sources));
	if (!d->sources)
		return out_of_memory();
	d->nbefore = (uint32_t)d->config->nbefore;
	for (size_t i = 0; i < files->n; i++) {
		struct source *s = &d->sources[d->n++];
		enum status status;

		s->file = files->items[i];
		s->config = *d->config;
		s->config.input = s->file;
		status = view__open(&s->view, &s->config);
		if (status != STATUS_OK)
			return status;
		s->taken = calloc(s->view.n, sizeof(*s->taken));
		if (!s->taken || qz_identities__add_profile(&d->ids, s->view.profile))
			return out_of_memory();
	}
	return STATUS_OK;
}

/* ---- which scopes are compared ---- */

static const struct qz_scope *scope_of(const struct source *s, uint32_t i)
{
	return &s->view.profile->scopes[s->view.scopes[i]];
}

/* Machines and kernels are what they are, whatever they are called. */
static bool are_alike(const struct qz_scope *a, const struct qz_scope *b)
{
	bool special = a->kind == QZ_SCOPE_MACHINE || a->kind == QZ_SCOPE_KERNEL;

	if (special || b->kind == QZ_SCOPE_MACHINE || b->kind == QZ_SCOPE_KERNEL)
		return a->kind == b->kind;
	return !strcmp(a->comm, b->comm);
}

static bool is_single(const struct diff *d)
{
	for (uint32_t i = 0; i < d->n; i++)
		if (d->sources[i].view.n != 1)
			return false;
	return true;
}

/* The first one that is like this scope, and has not been taken. QZ_NONE: none. */
static uint32_t find_like(const struct source *s, const struct qz_scope *scope)
{
	for (uint32_t i = 0; i < s->view.n; i++)
		if (!s->taken[i] && are_alike(scope_of(s, i), scope))
			return i;
	return QZ_NONE;
}

static int compare_scope(struct diff *d, const uint32_t *chosen)
{
	const struct qz_report **reports = d->reports + (size_t)d->nscopes * d->n;
	struct compared_scope *s = &d->scopes[d->nscopes++];

	s->ids = &d->ids;
	s->before = calloc(d->n, sizeof(struct qz_run *));
	if (!s->before)
		return -ENOMEM;
	s->after = s->before + d->nbefore;
	for (uint32_t i = 0; i < d->n; i++) {
		reports[i] = d->sources[i].view.reports[chosen[i]];
		s->before[i] = qz_run__new(&d->ids, reports[i]);
		if (!s->before[i])
			return -ENOMEM;
		d->sources[i].taken[chosen[i]] = true;
	}
	return 0;
}

/* Of what is in all profiles. Several of one program are taken in their order. */
static int compare_scopes(struct diff *d)
{
	const struct source *first = &d->sources[0];
	uint32_t *chosen = calloc(d->n, sizeof(*chosen)), i;
	bool single = is_single(d);
	int err = 0;

	d->scopes = calloc(first->view.n, sizeof(*d->scopes));
	d->reports = calloc(first->view.n, d->n * sizeof(*d->reports));
	err = chosen && d->scopes && d->reports ? 0 : -ENOMEM;
	for (uint32_t k = 0; !err && k < first->view.n; k++) {
		chosen[0] = k;
		for (i = 1; i < d->n && !single; i++) {
			chosen[i] = find_like(&d->sources[i], scope_of(first, k));
			if (chosen[i] == QZ_NONE)
				break;
		}
		if (single || i == d->n)
			err = compare_scope(d, chosen);
	}
	free(chosen);
	return err;
}

/* The kinds of rows, by those of --kind. */
static unsigned int kinds_of(const struct config *config)
{
	return (config->kinds & QZ_RANK_PROCEDURES ? QZ_COMPARE_ADDING : 0) |
	       (config->kinds & QZ_RANK_OBJECTS ? 1u << QZ_IDENTITY_OBJECT : 0) |
	       (config->kinds & QZ_RANK_THREADS ? 1u << QZ_IDENTITY_THREADS : 0);
}

/* When all runs are known, so that each knows all identities. */
static int compare_runs(struct diff *d)
{
	uint32_t nafter = d->n - d->nbefore;

	for (uint32_t i = 0; i < d->nscopes; i++) {
		struct compared_scope *s = &d->scopes[i];

		s->waits = qz_compare__new(&d->ids, s->before, d->nbefore, s->after, nafter,
					   1u << QZ_IDENTITY_WAITS, QZ_COMPARE_BY_BLOCKED);
		s->comparison = qz_compare__new(&d->ids, s->before, d->nbefore, s->after, nafter,
						kinds_of(d->config),
						(enum qz_compare_key)d->config->sort);
		s->classes = qz_compare__new(&d->ids, s->before, d->nbefore, s->after, nafter,
					     1u << QZ_IDENTITY_CLASS, QZ_COMPARE_BY_CPU);
		if (!s->comparison || !s->waits || !s->classes)
			return -ENOMEM;
	}
	return 0;
}

/* ---- what is not compared ---- */

/* "nginx, worker, ..."; gives how many there are. */
static uint32_t list_rest(FILE *out, const struct source *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->view.n; i++) {
		const struct qz_scope *scope = scope_of(s, i);
		char *comm;

		if (s->taken[i] || n++ > MAX_LISTED)
			continue;
		if (n > MAX_LISTED) {
			fputs(", ...", out);
			continue;
		}
		comm = output__escape(scope->kind == QZ_SCOPE_MACHINE ? "machine" : scope->comm);
		fprintf(out, "%s%s", n > 1 ? ", " : "", comm ? comm : "?");
		free(comm);
	}
	return n;
}

/* One line for each profile that has scopes without a counterpart. */
static enum status print_rest_of(const struct diff *d, FILE *out)
{
	for (uint32_t i = 0; i < d->n; i++) {
		char *list = NULL, *file = output__escape(d->sources[i].file);
		size_t size;
		FILE *text = open_memstream(&list, &size);
		uint32_t n = text ? list_rest(text, &d->sources[i]) : 0;

		if (!text || fclose(text) || !file) {
			free(list);
			free(file);
			return out_of_memory();
		}
		if (n)
			fprintf(out, "not compared, %u of %s: %s\n", n, file, list);
		free(list);
		free(file);
	}
	return STATUS_OK;
}

static enum status complain_nothing_alike(const struct diff *d)
{
	char *list = NULL;
	size_t size;
	FILE *text = open_memstream(&list, &size);

	if (!text)
		return out_of_memory();
	for (uint32_t i = 0; i < 2; i++) {
		fputs(i ? " | " : "", text);
		list_rest(text, &d->sources[i ? d->nbefore : 0]);
	}
	if (!fclose(text))
		complain("no program is in all profiles, choose with --scope: %s", list);
	free(list);
	return STATUS_FAILURE;
}

/* ---- output ---- */

static enum status print_text(const struct diff *d)
{
	struct output out;
	enum status status;
	int err = 0;

	output__open(&out, d->config);
	for (uint32_t i = 0; !err && i < d->nscopes; i++) {
		fputs(i ? "\n\n" : "", out.file);
		err = comparison__print(&d->scopes[i], &out, d->config);
	}
	status = err ? out_of_memory() : print_rest_of(d, out.file);
	output__close(&out);
	return status;
}

/* The files, and how many of their scopes have no counterpart. */
static json_t *profiles_of(const struct diff *d)
{
	json_t *array = json_array();
	bool failed = !array;

	for (uint32_t i = 0; !failed && i < d->n; i++) {
		const struct source *s = &d->sources[i];
		uint32_t rest = 0;

		for (uint32_t k = 0; k < s->view.n; k++)
			rest += !s->taken[k];
		failed = json_array_append_new(
			array, json_pack("{so, ss, si}", "file", qz_json_fields__text(s->file),
					 "side", i < d->nbefore ? "before" : "after",
					 "scopes_not_compared", (int)rest));
	}
	return qz_json_fields__unless(failed, array);
}

static enum status print_json(const struct diff *d)
{
	uint32_t max = d->config->rows > 0 ? (uint32_t)d->config->rows : UINT32_MAX;
	json_t *root = json_object(), *scopes = json_array();
	bool failed = !root || !scopes;

	for (uint32_t i = 0; !failed && i < d->nscopes; i++)
		failed = json_array_append_new(scopes, comparison__json(&d->scopes[i], max));
	failed = failed || json_object_set_new(root, "schema", json_string("quartz.diff/v1")) ||
		 json_object_set_new(root, "profiles", profiles_of(d)) ||
		 json_object_set(root, "scopes", scopes);
	json_decref(scopes);
	return output__json(qz_json_fields__unless(failed, root), 1);
}

/* ---- page ---- */

static int find_compared(const struct diff *d, struct qz_html_compared *scopes)
{
	for (uint32_t i = 0; i < d->nscopes; i++) {
		scopes[i] = (struct qz_html_compared) {
			.comparison = comparison__html_json(&d->scopes[i], d->config),
			.rows = d->scopes[i].comparison,
			.reports = d->reports + (size_t)i * d->n,
		};
		if (!scopes[i].comparison)
			return -ENOMEM;
	}
	return 0;
}

static int put_document(FILE *out, void *context)
{
	struct diff *d = context;
	struct qz_html_compared *scopes = calloc(d->nscopes, sizeof(*scopes));
	json_t *profiles = profiles_of(d);
	int err = scopes && profiles ? find_compared(d, scopes) : -ENOMEM;

	err = err ? err : qz_html_changes__write(out, &d->ids, profiles, scopes, d->nscopes);
	for (uint32_t i = 0; scopes && i < d->nscopes; i++)
		json_decref(scopes[i].comparison);
	json_decref(profiles);
	free(scopes);
	return err;
}

static enum status write_page(struct diff *d)
{
	const struct html_file file = {d->config->html, "--html", put_document, d, d->config->open};

	return html_file__write(&file);
}

/* ---- command ---- */

static enum status complain_without_samples(const struct diff *d)
{
	for (uint32_t i = 0; i < d->n; i++) {
		const struct view *v = &d->sources[i].view;
		uint64_t samples = 0;
		char *file;

		for (uint32_t k = 0; k < v->n; k++)
			samples += v->profile->scopes[v->scopes[k]].samples;
		if (samples)
			continue;
		file = output__escape(d->sources[i].file);
		complain("%s: no samples were captured, so that its procedures are not known",
			 file ? file : "?");
		free(file);
		return STATUS_NO_SAMPLES;
	}
	return STATUS_OK;
}

static enum status compare(struct diff *d)
{
	enum status status = parse_limits(d);

	if (status == STATUS_OK)
		status = open_sources(d);
	if (status != STATUS_OK)
		return status;
	if (compare_scopes(d) || compare_runs(d))
		return out_of_memory();
	if (!d->nscopes)
		return complain_nothing_alike(d);
	if (d->config->json)
		status = print_json(d);
	else if (!d->config->html)
		status = print_text(d);
	if (status == STATUS_OK && d->config->html)
		status = write_page(d);
	if (status == STATUS_OK)
		status = check_limits(d);
	return status == STATUS_OK ? complain_without_samples(d) : status;
}

static void free_all(struct diff *d)
{
	for (uint32_t i = 0; i < d->nscopes; i++) {
		for (uint32_t k = 0; d->scopes[i].before && k < d->n; k++)
			qz_run__free(d->scopes[i].before[k]);
		free(d->scopes[i].before);
		qz_compare__free(d->scopes[i].comparison);
		qz_compare__free(d->scopes[i].waits);
		qz_compare__free(d->scopes[i].classes);
	}
	for (uint32_t i = 0; i < d->n; i++) {
		view__close(&d->sources[i].view);
		free(d->sources[i].taken);
	}
	free(d->limits);
	free(d->scopes);
	free(d->reports);
	free(d->sources);
	qz_identities__free(&d->ids);
}

static enum status diff(const struct config *config)
{
	struct diff d = {.config = config};
	enum status status = compare(&d);

	free_all(&d);
	free(config->profiles.items);
	free(OWN(diff_config, config)->fail_above.items);
	return status;
}

static const char *find_misuse(const struct config *config)
{
	return config->open && !config->html ? "--open needs --html" : NULL;
}

static const struct qz_option options[] = {
	{"fail-above", 0, QZ_OPTION_STRINGS, OWN_FIELD(diff_config, fail_above), "[WHAT:]LIMIT",
	 "Exit with 8 where the elapsed time grew by more\nthan this, and by more than chance: 5%, "
	 "200ms;\nor another time: cpu:5%, serial:5%, PROCEDURE:5%.\nMay be repeated."},
	{"html", 0, QZ_OPTION_STRING, FIELD(html), "FILE",
	 "Write a page with a differential flame graph to\nFILE, in place of the text."},
	{"open", 0, QZ_OPTION_FLAG, FIELD(open), NULL, "Open it in the browser."},
	{"kind", 'k', QZ_OPTION_STRING, FIELD(kind), "KINDS",
	 "Kinds of rows to list, separated by commas:\nprocedure, object, thread "
	 "[procedure,object]."},
	{"sort", 'S', QZ_OPTION_CHOICE, FIELD(sort), "self|total|cpu|blocked|name",
	 "Sort rows by the size of this change [self]."},
	{0},
};

const struct command cmd_diff = {
	.name = "diff",
	.operands = " BEFORE... [--] AFTER...",
	.summary = "Show what changed between two profiles, or two sets of them",
	.details = "Of several runs of each side, 'diff A1 A2 A3 -- B1 B2 B3', the means are\n"
		   "compared, and it is known how much runs differ.\n",
	.options = options,
	.shared = SHARED_SCOPE | SHARED_FIGURES,
	.size = sizeof(struct diff_config),
	.takes_profiles = true,
	.find_misuse = find_misuse,
	.run = diff,
};
