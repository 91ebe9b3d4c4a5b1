/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/stacks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quartz/unwind.h>

#include "cli/doctor.h"
#include "cli/scopes.h"
#include "cli/section.h"
#include "cli/source.h"

#define LINE_WIDTH 80

struct end {
	bool whole;
	const char *meaning, *remedy;
};

static const char *const names[] = QZ_UNWIND_END_NAMES;

static const struct end ends[QZ_UNWIND_ENDS] = {
	[QZ_UNWIND_OUTERMOST] = {true, "followed to the outermost frame"},
	[QZ_UNWIND_GUESSED] = {true, "whole, the innermost caller was searched for on the stack"},
	[QZ_UNWIND_NOT_READY] = {false, "no unwind tables yet, frame pointers were used",
				 "none needed: the tables are made soon after a program begins"},
	[QZ_UNWIND_STALE] = {false, "code was mapped since the tables were made",
			     "none: a program that maps code all the time outruns the tables"},
	[QZ_UNWIND_NO_REGION] = {false, "came to an address outside of all code",
				 "let generated code keep frame pointers "
				 "(java -XX:+PreserveFramePointer)"},
	[QZ_UNWIND_NO_ROW] = {false, "code without call frame information",
			      "build it with -fasynchronous-unwind-tables"},
	[QZ_UNWIND_UNSUPPORTED] = {false, "call frame information of an unusual form",
				   "none: this is hand-written code, mostly"},
	[QZ_UNWIND_FAULT] = {false, "the memory of the stack could not be read",
			     "none: it was paged out, or is no stack"},
	[QZ_UNWIND_TOO_DEEP] = {false, "more frames than are followed",
				"make the recursion less deep"},
	[QZ_UNWIND_BACKWARDS] = {false, "the chain of frames did not lead upwards",
				 "build the code with -fasynchronous-unwind-tables or "
				 "-fno-omit-frame-pointer"},
};

static const struct end *find_end(const char *name)
{
	static const struct end unknown = {.meaning = "a reason that this quartzctl does not know"};

	for (size_t i = 0; i < QZ_UNWIND_ENDS; i++)
		if (ends[i].meaning && !strcmp(names[i], name))
			return &ends[i];
	return &unknown;
}

bool stacks__are_whole(const char *end)
{
	return find_end(end)->whole;
}

/*
 * What happens in more than one of a hundred samples is worth a remedy, unless frame pointers led
 * to the outermost frame all the same.
 */
static void examine(const struct qz_scope *scope, const struct qz_loss *loss, struct finding *f)
{
	const struct end *end = find_end(loss->cause);
	uint64_t few = scope->samples / 100;
	bool often = !end->whole && loss->count > few && scope->truncated > few;

	f->verdict = often ? CHECK_WARN : CHECK_OK;
	f->remedy = often ? end->remedy : NULL;
	snprintf(f->detail, sizeof(f->detail), "%s (%s): %s", group_digits(loss->count).text,
		 share(loss->count, scope->samples).text, end->meaning);
}

static bool print_scope(const struct qz_scope *scope)
{
	char *label = scopes__label(scope, LINE_WIDTH);
	bool complete = label;

	if (complete)
		printf("%s\nsamples %s, stacks complete %s\n\n", label,
		       group_digits(scope->samples).text,
		       share(scope->samples - scope->truncated, scope->samples).text);
	free(label);
	for (uint32_t i = 0; complete && i < scope->nstack_ends; i++) {
		struct finding f;

		examine(scope, &scope->stack_ends[i], &f);
		if (scope->stack_ends[i].count)
			complete = doctor__print(scope->stack_ends[i].cause, &f);
	}
	return complete;
}

static json_t *checks_of(const struct qz_scope *scope)
{
	json_t *findings = json_array();
	bool complete = findings;

	for (uint32_t i = 0; complete && i < scope->nstack_ends; i++) {
		const struct qz_loss *loss = &scope->stack_ends[i];
		struct finding f;
		json_t *check;

		examine(scope, loss, &f);
		check = doctor__json(loss->cause, &f);
		complete = !json_object_set_new(check, "samples",
						json_integer((json_int_t)loss->count)) &&
			   !json_array_append(findings, check);
		json_decref(check);
	}
	if (complete)
		return findings;
	json_decref(findings);
	return NULL;
}

static bool add_scope(json_t *list, const struct qz_scope *scope)
{
	return !json_array_append_new(list, json_pack("{si, sI, sI, so}", "pid", scope->pid,
						      "samples", (json_int_t)scope->samples,
						      "truncated", (json_int_t)scope->truncated,
						      "checks", checks_of(scope)));
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
		complete = config->json ? add_scope(list, scope) : print_scope(scope);
	}
	if (!complete)
		status = out_of_memory();
	else if (config->json)
		status = doctor__print_json("scopes", list);
	json_decref(list);
	return status;
}

static enum status select_scopes(const struct config *config, const struct qz_profile *p,
				 uint32_t **scopes, uint32_t *n)
{
	uint64_t samples = 0;
	char text[32];

	snprintf(text, sizeof(text), "pid=%lld", (long long)config->pid);
	switch (scopes__select(p, text, scopes, n)) {
	case 0:
		break;
	case -ENOENT:
		complain("this profile has no scope with pid %lld", (long long)config->pid);
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

enum status stacks__examine(const struct config *config)
{
	struct qz_profile *profile = NULL;
	uint32_t *scopes = NULL, n = 0;
	enum status status = source__read(config, &profile);

	if (status == STATUS_OK)
		status = select_scopes(config, profile, &scopes, &n);
	if (status == STATUS_OK)
		status = show(config, profile, scopes, n);
	free(scopes);
	qz_profile__free(profile);
	return status;
}
