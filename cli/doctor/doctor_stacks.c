/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/doctor/doctor_stacks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quartz/unwind.h>

#include "cli/doctor/finding.h"
#include "cli/render/stack_end.h"
#include "cli/render/scope_label.h"
#include "cli/query/scope_select.h"
#include "cli/render/cells.h"
#include "cli/query/profile_source.h"
#include "core/model/frames.h"

#define LINE_WIDTH 80
#define IS_32_BITS "32_bits"

/*
 * A reason that occurs in more than 1 % of the samples gets a remedy, unless frame pointers led to
 * the outermost frame anyway.
 */
static void examine(const struct qz_scope *scope, const struct qz_loss *loss, struct finding *f)
{
	const struct stack_end *end = stack_end__find(loss->cause);
	uint64_t few = scope->samples / 100;
	bool often = !end->whole && loss->count > few && scope->truncated > few;

	f->verdict = often ? CHECK_WARN : CHECK_OK;
	f->remedy = often ? end->remedy : NULL;
	snprintf(f->detail, sizeof(f->detail), "%s (%s): %s", cells__count(loss->count).text,
		 cells__share(loss->count, scope->samples).text, end->meaning);
}

/* What is not read at all. False: there is none. */
static bool examine_32_bits(const struct qz_profile *p, const struct qz_scope *scope,
			    struct finding *f, uint64_t *samples)
{
	*samples = 0;
	for (uint32_t i = 0; i < p->nsamples; i++) {
		const struct qz_sample *s = &p->samples[i];
		struct qz_frames frames = {.profile = p, .node = s->node};
		uint32_t code = &p->scopes[s->scope] == scope ? qz_frames__next(&frames) : QZ_NONE;

		if (code != QZ_NONE && qz_procedure__is_of_32_bits(&p->procedures[code]))
			*samples += qz_sample__weight(s);
	}
	f->verdict = CHECK_WARN;
	f->remedy = "build the program for 64 bits";
	snprintf(f->detail, sizeof(f->detail),
		 "%s (%s): code of 32 bits has no names, and its locks and callers are not known",
		 cells__count(*samples).text, cells__share(*samples, scope->samples).text);
	return *samples;
}

static bool print_scope(const struct qz_profile *p, const struct qz_scope *scope)
{
	char *label = scope_label(scope, LINE_WIDTH);
	bool complete = label;
	struct finding narrow;
	uint64_t samples;

	if (complete)
		printf("%s\nsamples %s, stacks complete %s\n\n", label,
		       cells__count(scope->samples).text,
		       cells__share(scope->samples - scope->truncated, scope->samples).text);
	free(label);
	if (complete && examine_32_bits(p, scope, &narrow, &samples))
		complete = finding__print(IS_32_BITS, &narrow);
	for (uint32_t i = 0; complete && i < scope->nstack_ends; i++) {
		struct finding f;

		examine(scope, &scope->stack_ends[i], &f);
		if (scope->stack_ends[i].count)
			complete = finding__print(scope->stack_ends[i].cause, &f);
	}
	return complete;
}

static bool add_check(json_t *findings, const char *name, const struct finding *f, uint64_t samples)
{
	json_t *check = finding__json(name, f);
	bool complete = !json_object_set_new(check, "samples", json_integer((json_int_t)samples)) &&
			!json_array_append(findings, check);

	json_decref(check);
	return complete;
}

static json_t *checks_of(const struct qz_profile *p, const struct qz_scope *scope)
{
	json_t *findings = json_array();
	bool complete = findings;
	struct finding f;
	uint64_t samples;

	if (complete && examine_32_bits(p, scope, &f, &samples))
		complete = add_check(findings, IS_32_BITS, &f, samples);
	for (uint32_t i = 0; complete && i < scope->nstack_ends; i++) {
		const struct qz_loss *loss = &scope->stack_ends[i];

		examine(scope, loss, &f);
		complete = add_check(findings, loss->cause, &f, loss->count);
	}
	if (complete)
		return findings;
	json_decref(findings);
	return NULL;
}

static bool add_scope(json_t *list, const struct qz_profile *p, const struct qz_scope *scope)
{
	return !json_array_append_new(list, json_pack("{si, sI, sI, so}", "pid", scope->pid,
						      "samples", (json_int_t)scope->samples,
						      "truncated", (json_int_t)scope->truncated,
						      "checks", checks_of(p, scope)));
}

static int compare(const void *a, const void *b)
{
	const struct qz_loss *x = a, *y = b;

	return x->count < y->count ? 1 : x->count > y->count ? -1 : strcmp(x->cause, y->cause);
}

static enum status show(const struct config *config, struct qz_profile *p, const uint32_t *scopes,
			uint32_t n)
{
	enum status status = STATUS_OK;
	json_t *list = json_array();
	bool complete = list;

	for (uint32_t i = 0; complete && i < n; i++) {
		struct qz_scope *scope = &p->scopes[scopes[i]];

		if (scope->nstack_ends)
			qsort(scope->stack_ends, scope->nstack_ends, sizeof(*scope->stack_ends),
			      compare);
		fputs(i && !config->json ? "\n" : "", stdout);
		complete = config->json ? add_scope(list, p, scope) : print_scope(p, scope);
	}
	if (!complete)
		status = out_of_memory();
	else if (config->json)
		status = finding__print_list("scopes", list);
	json_decref(list);
	return status;
}

static enum status select_scopes(const struct config *config, const struct qz_profile *p,
				 uint32_t **scopes, uint32_t *n)
{
	uint64_t samples = 0;
	char text[32];

	snprintf(text, sizeof(text), "pid=%lld", (long long)config->pid);
	switch (scope_select__select(p, text, scopes, n)) {
	case 0:
		break;
	case -ENOENT:
		scope_select__complain(p, text);
		return STATUS_FAILURE;
	default:
		return out_of_memory();
	}
	for (uint32_t i = 0; i < *n; i++)
		samples += p->scopes[(*scopes)[i]].samples;
	if (samples)
		return STATUS_OK;
	complain("no samples were captured");
	return STATUS_NO_SAMPLES;
}

enum status doctor_stacks__examine(const struct config *config)
{
	struct qz_profile *profile = NULL;
	uint32_t *scopes = NULL, n = 0;
	enum status status = profile_source__read(config, &profile);

	if (status == STATUS_OK)
		status = select_scopes(config, profile, &scopes, &n);
	if (status == STATUS_OK)
		status = show(config, profile, scopes, n);
	free(scopes);
	qz_profile__free(profile);
	return status;
}
