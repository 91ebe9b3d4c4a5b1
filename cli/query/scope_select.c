/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/query/scope_select.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/render/output.h"
#include "core/util/options.h"
#include "core/util/systemd_unit.h"

#define MAX_LISTED 8 /* in a message */

struct criterion {
	const char *comm, *unit, *cgroup; /* NULL: not by this */
	int64_t pid, index;		  /* INT64_MIN: not by this */
	int kind;			  /* -1: not by this */
	bool all;
};

/* What follows "KEY=", or NULL. */
static const char *value_of(const char *text, const char *key)
{
	size_t n = strlen(key);

	return !strncmp(text, key, n) && text[n] == '=' ? text + n + 1 : NULL;
}

static int parse(const char *text, struct criterion *c)
{
	*c = (struct criterion) {.pid = INT64_MIN, .index = INT64_MIN, .kind = -1};
	c->all = !strcmp(text, "all");
	c->comm = value_of(text, "comm");
	c->unit = value_of(text, "unit");
	c->cgroup = value_of(text, "cgroup");
	if (!strcmp(text, "machine"))
		c->kind = QZ_SCOPE_MACHINE;
	else if (!strcmp(text, "kernel"))
		c->kind = QZ_SCOPE_KERNEL;
	if (c->all || c->comm || c->unit || c->cgroup || c->kind >= 0)
		return 0;
	if (!strncmp(text, "pid=", 4))
		return qz_options__integer(text + 4, 1, INT32_MAX, &c->pid) ? -EINVAL : 0;
	return qz_options__integer(text, 0, INT32_MAX, &c->index) ? -EINVAL : 0;
}

static bool is_in_unit(const struct qz_scope *scope, const char *wanted)
{
	char unit[QZ_UNIT_LENGTH];

	qz_systemd_unit__of_cgroup(scope->cgroup, unit);
	return !strcmp(unit, wanted);
}

/* Those below it are in it, too. */
static bool is_in_cgroup(const struct qz_scope *scope, const char *wanted)
{
	size_t n = strlen(wanted);

	while (n && wanted[n - 1] == '/')
		n--;
	return *scope->cgroup && !strncmp(scope->cgroup, wanted, n) &&
	       (scope->cgroup[n] == '/' || !scope->cgroup[n]);
}

static bool matches(const struct criterion *c, const struct qz_scope *scope, uint32_t index)
{
	bool program = scope->kind != QZ_SCOPE_MACHINE && scope->kind != QZ_SCOPE_KERNEL;

	if (c->all || c->index == index || c->kind == (int)scope->kind)
		return true;
	return program && (c->pid == scope->pid || (c->comm && !strcmp(c->comm, scope->comm)) ||
			   (c->unit && is_in_unit(scope, c->unit)) ||
			   (c->cgroup && is_in_cgroup(scope, c->cgroup)));
}

int scope_select__select(const struct qz_profile *p, const char *text, uint32_t **scopes,
			 uint32_t *n)
{
	struct criterion criterion;
	uint32_t count = 0, *found;
	int err;

	if (!text)
		text = qz_profile__machine(p) == QZ_NONE ? "all" : "machine";
	err = parse(text, &criterion);
	if (err)
		return err;
	found = calloc((size_t)p->nscopes + 1, sizeof(*found));
	if (!found)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->nscopes; i++)
		if (matches(&criterion, &p->scopes[i], i))
			found[count++] = i;
	if (!count) {
		free(found);
		return -ENOENT;
	}
	*scopes = found;
	*n = count;
	return 0;
}

static bool is_busier(const struct qz_scope *a, const struct qz_scope *b)
{
	return a->cpu_ns > b->cpu_ns;
}

/* As --scope wants them, with the program's name. */
static void print_scope(FILE *out, const struct qz_scope *scope, bool first)
{
	char *comm = output__escape(scope->comm);

	fputs(first ? "" : ", ", out);
	if (scope->kind == QZ_SCOPE_MACHINE || scope->kind == QZ_SCOPE_KERNEL)
		fputs(scope->kind == QZ_SCOPE_MACHINE ? "machine" : "kernel", out);
	else
		fprintf(out, "pid=%d (%s)", scope->pid, comm ? comm : "?");
	free(comm);
}

/* Those that took most processor time, when there are many. NULL without memory. */
static char *list_scopes(const struct qz_profile *p)
{
	uint32_t shown = p->nscopes < MAX_LISTED ? p->nscopes : MAX_LISTED;
	bool *done = calloc((size_t)p->nscopes + 1, sizeof(*done));
	char *list = NULL;
	size_t size;
	FILE *out = done ? open_memstream(&list, &size) : NULL;

	for (uint32_t n = 0; out && n < shown; n++) {
		uint32_t best = 0;

		while (done[best])
			best++;
		for (uint32_t i = best + 1; i < p->nscopes; i++)
			if (!done[i] && is_busier(&p->scopes[i], &p->scopes[best]))
				best = i;
		done[best] = true;
		print_scope(out, &p->scopes[best], !n);
	}
	if (out && shown < p->nscopes)
		fputs(", ...", out);
	free(done);
	if (!out || fclose(out)) {
		free(list);
		return NULL;
	}
	return list;
}

void scope_select__complain(const struct qz_profile *p, const char *wanted)
{
	char *list = list_scopes(p);

	complain("no scope '%s' among the %u of this profile: %s", wanted, p->nscopes,
		 list && *list ? list : "none");
	free(list);
}
