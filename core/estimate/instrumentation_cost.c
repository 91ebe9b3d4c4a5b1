/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/estimate/instrumentation_cost.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/util/apportion.h"
#include "core/model/frames.h"
#include "core/util/base_name.h"

#define LIBRARY "libquartz.so"

/* Indices of rows in the order of their scopes: with thousands of scopes, no pass may read all rows for each of them. */
struct rows {
	uint32_t *first; /* by scope; one more, the end */
	uint32_t *all;
};

/* One scope at a time. */
struct taking {
	struct qz_profile *profile;
	struct rows samples, calls;
	uint32_t scope;
	struct qz_split
		*costs; /* by procedure, 0 between scopes; the total is the time that there is */
	bool counted;	/* the program counts its calls: it has libquartz */
	int64_t marker; /* node */
};

/* ---- rows by scope ---- */

static uint32_t scope_of_sample(const struct qz_profile *p, uint32_t i)
{
	return p->samples[i].scope;
}

static uint32_t scope_of_call(const struct qz_profile *p, uint32_t i)
{
	return p->calls[i].scope;
}

/* Counting sort. The rows of a scope stay in their order. */
static int sort_rows(struct rows *r, const struct qz_profile *p, uint32_t n,
		     uint32_t (*scope_of)(const struct qz_profile *p, uint32_t i))
{
	r->first = calloc(p->nscopes + 2ul, sizeof(*r->first));
	r->all = malloc((n + 1ul) * sizeof(*r->all));
	if (!r->first || !r->all)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		r->first[scope_of(p, i) + 2]++;
	for (uint32_t scope = 0; scope < p->nscopes; scope++)
		r->first[scope + 2] += r->first[scope + 1];
	for (uint32_t i = 0; i < n; i++)
		r->all[r->first[scope_of(p, i) + 1]++] = i;
	return 0;
}

static void free_rows(struct rows *r)
{
	free(r->first);
	free(r->all);
}

/* ---- libquartz's own code ---- */

/* In a program that is linked with libquartz.a, its code is the program's. */
static bool is_hook(const char *name)
{
	static const char *const names[] = {
		"__cyg_profile_func_enter", "__cyg_profile_func_exit",
		"quartz_return_",	    "hooks__called",
		"hooks__called_slowly",	    "hooks__returns",
		"quartz_attach_",	    "quartz_count_",
		"quartz_object_",	    "quartz_register_",
		"quartz_task_capture",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static bool is_library(const struct taking *t, const struct qz_procedure *p)
{
	return !strncmp(qz_base_name(p->module), LIBRARY, strlen(LIBRARY)) ||
	       (t->counted && is_hook(p->name));
}

/* The symbol table's procedure, not what was put into it. */
static const struct qz_procedure *procedure_at(const struct qz_profile *p, uint32_t node)
{
	const struct qz_location *l = &p->locations[p->nodes[node].location];

	return l->nlines ? &p->procedures[l->lines[l->nlines - 1].procedure] : NULL;
}

static bool ends_in_library(const struct taking *t, uint32_t node)
{
	const struct qz_profile *p = t->profile;
	const struct qz_procedure *procedure = NULL;

	for (; node; node = p->nodes[node].parent) {
		procedure = procedure_at(p, node);
		if (!procedure || strcmp(procedure->module, "[kernel]"))
			break;
	}
	return node && procedure && is_library(t, procedure);
}

/* ---- who pays ---- */

static void add_costs(struct taking *t)
{
	const struct qz_profile *p = t->profile;

	for (uint32_t i = t->calls.first[t->scope]; i < t->calls.first[t->scope + 1]; i++) {
		const struct qz_call_count *c = &p->calls[t->calls.all[i]];
		uint64_t half = c->caller == QZ_NONE ? 0 : c->cost_ns / 2;

		t->counted = true;
		t->costs[c->callee].amount += c->cost_ns - half;
		if (half)
			t->costs[c->caller].amount += half;
	}
}

/* The procedure whose cost the sample has a share of, or QZ_NONE. */
static uint32_t payer(const struct taking *t, uint32_t node)
{
	struct qz_frames frames = {.profile = t->profile, .node = node};
	uint32_t procedure;

	do
		procedure = qz_frames__next(&frames);
	while (procedure != QZ_NONE && !t->costs[procedure].amount);
	return procedure;
}

static bool can_pay(const struct qz_sample *s)
{
	return !s->spinning && s->count && s->cpu_ns;
}

static void limit(struct qz_split *cost)
{
	if (cost->amount > cost->total)
		cost->amount = (uint64_t)cost->total;
}

static void add_payers(struct taking *t)
{
	const struct qz_profile *p = t->profile;

	for (uint32_t i = t->samples.first[t->scope]; i < t->samples.first[t->scope + 1]; i++) {
		const struct qz_sample *s = &p->samples[t->samples.all[i]];
		uint32_t procedure;

		if (!can_pay(s) || ends_in_library(t, s->node))
			continue;
		procedure = payer(t, s->node);
		if (procedure != QZ_NONE)
			t->costs[procedure].total += s->cpu_ns;
	}
	for (uint32_t i = t->calls.first[t->scope]; i < t->calls.first[t->scope + 1]; i++) {
		const struct qz_call_count *c = &p->calls[t->calls.all[i]];

		limit(&t->costs[c->callee]);
		if (c->caller != QZ_NONE)
			limit(&t->costs[c->caller]);
	}
}

/* For the next scope. No other procedures have costs. */
static void clear_costs(struct taking *t)
{
	for (uint32_t i = t->calls.first[t->scope]; i < t->calls.first[t->scope + 1]; i++) {
		const struct qz_call_count *c = &t->profile->calls[t->calls.all[i]];

		t->costs[c->callee] = (struct qz_split) {0};
		if (c->caller != QZ_NONE)
			t->costs[c->caller] = (struct qz_split) {0};
	}
}

/* ---- moving ---- */

static int64_t marker_node(struct taking *t)
{
	int64_t location;

	if (t->marker)
		return t->marker;
	location = qz_profile__marker(t->profile, QZ_INSTRUMENTATION);
	if (location < 0)
		return location;
	t->marker = qz_profile__intern_node(t->profile, 0, (uint32_t)location);
	return t->marker;
}

static int move(struct taking *t, uint32_t from, uint64_t cpu_ns)
{
	struct qz_sample *s = &t->profile->samples[from], key = *s;
	uint64_t norm_ns = (uint64_t)((unsigned __int128)s->norm_ns * cpu_ns / s->cpu_ns);
	int64_t node = marker_node(t), to;

	if (node < 0)
		return (int)node;
	key.node = (uint32_t)node;
	key.object = QZ_NONE;
	key.halvings = 0;
	to = qz_profile__intern_sample(t->profile, &key);
	if (to < 0)
		return (int)to;
	s = &t->profile->samples[from];
	s->cpu_ns -= cpu_ns;
	s->norm_ns -= norm_ns;
	t->profile->samples[to].cpu_ns += cpu_ns;
	t->profile->samples[to].norm_ns += norm_ns;
	return 0;
}

static uint64_t due(const struct taking *t, const struct qz_sample *s)
{
	uint32_t procedure;

	if (ends_in_library(t, s->node))
		return s->cpu_ns;
	procedure = t->counted ? payer(t, s->node) : QZ_NONE;
	return procedure == QZ_NONE ? 0 : qz_split__next(&t->costs[procedure], s->cpu_ns);
}

static int take_scope(struct taking *t)
{
	int err = 0;

	t->counted = false;
	add_costs(t);
	if (t->counted)
		add_payers(t);
	for (uint32_t i = t->samples.first[t->scope]; i < t->samples.first[t->scope + 1] && !err;
	     i++) {
		uint32_t sample = t->samples.all[i];
		uint64_t cpu_ns = can_pay(&t->profile->samples[sample])
					  ? due(t, &t->profile->samples[sample])
					  : 0;

		if (cpu_ns)
			err = move(t, sample, cpu_ns);
	}
	clear_costs(t);
	return err;
}

/* Most profiles have none, and are left alone. */
static bool is_instrumented(const struct qz_profile *p)
{
	for (uint32_t i = 0; i < p->nprocedures; i++)
		if (!strncmp(qz_base_name(p->procedures[i].module), LIBRARY, strlen(LIBRARY)))
			return true;
	return p->ncalls;
}

int qz_instrumentation_cost__subtract(struct qz_profile *p)
{
	struct taking t = {.profile = p};
	int err;

	if (!is_instrumented(p))
		return 0;
	/* and one for the marker, which may become a procedure on the way */
	t.costs = calloc(p->nprocedures + 1ul, sizeof(*t.costs));
	err = t.costs ? sort_rows(&t.samples, p, p->nsamples, scope_of_sample) : -ENOMEM;
	err = err ?: sort_rows(&t.calls, p, p->ncalls, scope_of_call);
	for (t.scope = 0; t.scope < p->nscopes && !err; t.scope++)
		err = take_scope(&t);
	free_rows(&t.samples);
	free_rows(&t.calls);
	free(t.costs);
	return err;
}
