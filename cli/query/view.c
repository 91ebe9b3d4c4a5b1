/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/query/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/query/scope_select.h"
#include "cli/render/cells.h"
#include "cli/query/profile_source.h"
#include "cli/render/text_table.h"

#define MAX_CANDIDATES 5

void view__close(struct view *v)
{
	for (uint32_t i = 0; v->reports && i < v->n; i++)
		qz_report__free(v->reports[i]);
	free(v->reports);
	free(v->rows);
	free(v->objects);
	free(v->scopes);
	names__free(v->names);
	qz_profile__free(v->profile);
}

static enum status select_scopes(struct view *v)
{
	switch (scope_select__select(v->profile, v->config->scope, &v->scopes, &v->n)) {
	case 0:
		return STATUS_OK;
	case -EINVAL:
		complain("--scope: '%s' is none of machine, kernel, all, pid=N, comm=NAME, "
			 "unit=NAME, cgroup=PATH or an index",
			 v->config->scope);
		return STATUS_USAGE;
	case -ENOENT:
		if (v->config->scope)
			scope_select__complain(v->profile, v->config->scope);
		else
			complain("this profile has no scope");
		return STATUS_FAILURE;
	default:
		return out_of_memory();
	}
}

static enum status make_reports(struct view *v)
{
	v->reports = calloc(v->n, sizeof(*v->reports));
	v->rows = calloc(v->n, sizeof(*v->rows));
	v->objects = calloc(v->n, sizeof(*v->objects));
	if (!v->reports || !v->rows || !v->objects)
		return out_of_memory();
	for (uint32_t i = 0; i < v->n; i++) {
		v->reports[i] = qz_report__new(v->profile, v->scopes[i]);
		if (!v->reports[i])
			return out_of_memory();
	}
	v->names = names__new(v->profile, v->reports, v->n);
	return v->names ? STATUS_OK : out_of_memory();
}

/* ---- which procedure ---- */

static const struct qz_row *find_row(const struct qz_report *r, uint32_t procedure)
{
	for (uint32_t i = 0; i < r->nrows; i++)
		if (r->rows[i].procedure == procedure)
			return &r->rows[i];
	return NULL;
}

/* Objects whose names contain what was asked for, when no procedure's does. Returns how many. */
static uint32_t list_similar_objects(const struct view *v, FILE *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->n; i++) {
		const struct qz_report *r = v->reports[i];

		for (uint32_t k = 0; k < r->nobjects && n < MAX_CANDIDATES; k++) {
			uint32_t object = r->objects[k].object;
			char *label = NULL;

			if (strcasestr(v->profile->objects[object].name, v->config->procedure))
				label = cells__object(r, object);
			if (label)
				fprintf(out, "%s%s", n++ ? ", " : "", label);
			free(label);
		}
	}
	return n;
}

/*
 * "PROBLEM 'PROCEDURE'", and the candidates after `intro`, when there are any. They are objects of the report
 * r, or procedures where that is NULL.
 */
static enum status complain_candidates(const struct view *v, const struct qz_report *r,
				       const char *problem, const char *intro,
				       const uint32_t *candidates, uint32_t n)
{
	char *list = NULL;
	size_t size;
	FILE *out = open_memstream(&list, &size);

	if (!out)
		return out_of_memory();
	for (uint32_t i = 0; i < n && i < MAX_CANDIDATES; i++) {
		char *name = r ? cells__object(r, candidates[i])
			       : names__format(v->names, candidates[i]);

		fprintf(out, "%s%s", i ? ", " : "", name ? name : "?");
		free(name);
	}
	if (n > MAX_CANDIDATES)
		fputs(", ...", out);
	if (!n)
		n = list_similar_objects(v, out);
	if (fclose(out)) {
		free(list);
		return out_of_memory();
	}
	complain("%s '%s'%s%s", problem, v->config->procedure, n ? intro : "", list);
	free(list);
	return STATUS_FAILURE;
}

/* The procedures whose names contain what was asked for, by normalized time: one more than are listed, at most. */
static uint32_t find_similar(const struct view *v, uint32_t similar[MAX_CANDIDATES + 1])
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->n; i++) {
		const struct qz_report *r = v->reports[i];

		for (uint32_t k = 0; k < r->nrows && n <= MAX_CANDIDATES; k++) {
			uint32_t procedure = r->rows[k].procedure;
			bool known = false;

			for (uint32_t j = 0; j < n; j++)
				known |= similar[j] == procedure;
			if (!known && strcasestr(v->profile->procedures[procedure].name,
						 v->config->procedure))
				similar[n++] = procedure;
		}
	}
	return n;
}

static enum status complain_unknown(const struct view *v)
{
	uint32_t similar[MAX_CANDIDATES + 1], n = find_similar(v, similar);

	return complain_candidates(v, NULL,
				   v->profile->nobjects ? "no procedure or object" : "no procedure",
				   "; similar: ", similar, n);
}

/* Whether a table shows this label, which is freed, so; `cut`: where it had no room for all of it. */
static bool is_shown_as(char *label, const char *wanted, bool cut)
{
	bool is = label && (cut ? text_table__is_cut(wanted, label) : !strcmp(wanted, label));

	free(label);
	return is;
}

/*
 * The procedures that tables show under exactly this name, so that namesakes can be told apart, or else those that they show
 * so if it is cut. Returns how many.
 */
static uint32_t find_labels(const struct view *v, const struct qz_report *r,
			    uint32_t found[MAX_CANDIDATES + 1])
{
	uint32_t n = 0;

	for (int cut = 0; !n && cut <= 1; cut++)
		for (uint32_t i = 0; i < r->nrows && n <= MAX_CANDIDATES; i++)
			if (is_shown_as(names__format(v->names, r->rows[i].procedure),
					v->config->procedure, cut))
				found[n++] = r->rows[i].procedure;
	return n;
}

/* The same for objects. */
static uint32_t find_object_labels(const struct view *v, const struct qz_report *r,
				   uint32_t found[MAX_CANDIDATES + 1])
{
	uint32_t n = 0;

	for (int cut = 0; !n && cut <= 1; cut++)
		for (uint32_t i = 0; i < r->nobjects && n <= MAX_CANDIDATES; i++)
			if (is_shown_as(cells__object(r, r->objects[i].object),
					v->config->procedure, cut))
				found[n++] = r->objects[i].object;
	return n;
}

static enum status find_object(struct view *v)
{
	uint32_t found[MAX_CANDIDATES + 1];
	bool any = false;

	for (uint32_t i = 0; i < v->n; i++) {
		const struct qz_report *r = v->reports[i];
		uint32_t n = find_object_labels(v, r, found);

		if (!n)
			n = qz_lookup__objects(r, v->config->procedure, found, MAX_CANDIDATES);
		if (n > 1)
			return complain_candidates(v, r, "more than one object", ": ", found, n);
		for (uint32_t k = 0; n && !v->objects[i] && k < r->nobjects; k++)
			if (r->objects[k].object == found[0])
				v->objects[i] = &r->objects[k];
		any |= v->objects[i] != NULL;
	}
	return any ? STATUS_OK : complain_unknown(v);
}

static enum status find_procedure(struct view *v)
{
	uint32_t found[MAX_CANDIDATES + 1];
	bool any = false;

	for (uint32_t i = 0; i < v->n; i++) {
		const struct qz_report *r = v->reports[i];
		uint32_t n = qz_lookup__procedures(r, v->config->procedure, found, MAX_CANDIDATES);

		if (n != 1) {
			uint32_t labels[MAX_CANDIDATES + 1], shown = find_labels(v, r, labels);

			if (shown)
				memcpy(found, labels, shown * sizeof(*found));
			n = shown ? shown : n;
		}
		if (n > 1)
			return complain_candidates(v, NULL, "more than one procedure", ": ", found,
						   n);
		v->rows[i] = n ? find_row(r, found[0]) : NULL;
		any |= v->rows[i] != NULL;
	}
	if (!any && v->config->by_part && find_similar(v, found) == 1) {
		for (uint32_t i = 0; i < v->n; i++)
			v->rows[i] = find_row(v->reports[i], found[0]);
		any = true;
	}
	return any ? STATUS_OK : find_object(v);
}

enum status view__open(struct view *v, const struct config *config)
{
	enum status status;

	*v = (struct view) {.config = config};
	status = profile_source__read(config, &v->profile);
	if (status == STATUS_OK)
		status = select_scopes(v);
	if (status == STATUS_OK)
		status = make_reports(v);
	if (status == STATUS_OK && config->procedure)
		status = find_procedure(v);
	return status;
}
