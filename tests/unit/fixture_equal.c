/* SPDX-License-Identifier: GPL-2.0-only */
/* Compares profiles member by member. */
#include <check.h>

#include <string.h>

#include "tests/unit/fixture.h"

static void compare_runs(const struct qz_profile *a, const struct qz_profile *b)
{
	const struct qz_ledger *k = &a->ledger, *l = &b->ledger;

	ck_assert_str_eq(a->quartz_version, b->quartz_version);
	ck_assert_str_eq(a->kernel, b->kernel);
	ck_assert_str_eq(a->machine, b->machine);
	ck_assert_str_eq(a->event, b->event);
	ck_assert_uint_eq(a->rate_hz, b->rate_hz);
	ck_assert_uint_eq(a->halvings, b->halvings);
	ck_assert_uint_eq(a->ceiling_ppm, b->ceiling_ppm);
	ck_assert_mem_eq(&a->costs, &b->costs, sizeof(a->costs));
	ck_assert_uint_eq(a->processors, b->processors);
	ck_assert_uint_eq(a->wall_start_ns, b->wall_start_ns);
	ck_assert_uint_eq(a->window_ns, b->window_ns);
	ck_assert_int_eq(a->live, b->live);
	ck_assert_uint_eq(k->expected, l->expected);
	ck_assert_uint_eq(k->accepted, l->accepted);
	ck_assert_uint_eq(k->filtered, l->filtered);
	ck_assert_int_eq(k->unaccounted, l->unaccounted);
	ck_assert_uint_eq(k->nlosses, l->nlosses);
	for (uint32_t i = 0; i < k->nlosses; i++) {
		ck_assert_str_eq(k->losses[i].cause, l->losses[i].cause);
		ck_assert_uint_eq(k->losses[i].count, l->losses[i].count);
	}
	ck_assert_uint_eq(k->nevents, l->nevents);
	for (uint32_t i = 0; i < k->nevents; i++) {
		ck_assert_str_eq(k->events[i].cause, l->events[i].cause);
		ck_assert_uint_eq(k->events[i].count, l->events[i].count);
	}
}

static void compare_scopes(const struct qz_scope *a, const struct qz_scope *b)
{
	ck_assert_uint_eq(a->kind, b->kind);
	ck_assert_int_eq(a->pid, b->pid);
	ck_assert_str_eq(a->comm, b->comm);
	ck_assert_str_eq(a->command, b->command);
	ck_assert_uint_eq(a->start_ns, b->start_ns);
	ck_assert_uint_eq(a->elapsed_ns, b->elapsed_ns);
	ck_assert_uint_eq(a->cpu_ns, b->cpu_ns);
	ck_assert_uint_eq(a->runnable_ns, b->runnable_ns);
	ck_assert_uint_eq(a->nlevels, b->nlevels);
	for (uint32_t n = 0; n < a->nlevels; n++)
		ck_assert_uint_eq(a->level_ns[n], b->level_ns[n]);
	ck_assert_uint_eq(a->samples, b->samples);
	ck_assert_uint_eq(a->truncated, b->truncated);
	ck_assert_uint_eq(a->unresolved, b->unresolved);
	ck_assert_mem_eq(&a->counters, &b->counters, sizeof(a->counters));
	ck_assert_int_eq(a->ended, b->ended);
}

static void compare_threads(const struct qz_thread *a, const struct qz_thread *b)
{
	ck_assert_uint_eq(a->scope, b->scope);
	ck_assert_int_eq(a->tid, b->tid);
	ck_assert_int_eq(a->pid, b->pid);
	ck_assert_str_eq(a->comm, b->comm);
	ck_assert_str_eq(a->name, b->name);
	ck_assert_uint_eq(a->start_ns, b->start_ns);
	ck_assert_uint_eq(a->end_ns, b->end_ns);
	ck_assert_uint_eq(a->cpu_ns, b->cpu_ns);
	ck_assert_uint_eq(a->running_ns, b->running_ns);
	ck_assert_uint_eq(a->ready_ns, b->ready_ns);
	ck_assert_uint_eq(a->blocked_ns, b->blocked_ns);
	ck_assert_uint_eq(a->unknown_ns, b->unknown_ns);
	ck_assert_int_eq(a->ended, b->ended);
	ck_assert_int_eq(a->merged, b->merged);
}

static void compare_mappings(const struct qz_mapping *a, const struct qz_mapping *b)
{
	ck_assert_str_eq(a->path, b->path);
	ck_assert_str_eq(a->build_id, b->build_id);
	ck_assert_uint_eq(a->start, b->start);
	ck_assert_uint_eq(a->limit, b->limit);
	ck_assert_uint_eq(a->offset, b->offset);
}

/* Which mapping of b is which of a: a file has the executable's first. */
static uint32_t place_of_first(const struct qz_profile *a, const struct qz_profile *b)
{
	uint32_t i = 0;

	while (i < a->nmappings && (strcmp(a->mappings[i].path, b->mappings[0].path) ||
				    a->mappings[i].offset != b->mappings[0].offset ||
				    a->mappings[i].start != b->mappings[0].start))
		i++;
	return i;
}

static void compare_code(const struct qz_profile *a, const struct qz_profile *b)
{
	uint32_t first;

	ck_assert_uint_eq(a->nmappings, b->nmappings);
	first = a->nmappings ? place_of_first(a, b) : 0;
	for (uint32_t i = 0; i < a->nmappings; i++)
		compare_mappings(&a->mappings[i], &b->mappings[i == first ? 0 : i + (i < first)]);
	ck_assert_uint_eq(a->nprocedures, b->nprocedures);
	for (uint32_t i = 0; i < a->nprocedures; i++) {
		ck_assert_str_eq(a->procedures[i].name, b->procedures[i].name);
		ck_assert_str_eq(a->procedures[i].module, b->procedures[i].module);
		ck_assert_str_eq(a->procedures[i].file, b->procedures[i].file);
		ck_assert_uint_eq(a->procedures[i].line, b->procedures[i].line);
		ck_assert_uint_eq(a->procedures[i].kind, b->procedures[i].kind);
	}
	ck_assert_uint_eq(a->nlocations, b->nlocations);
	for (uint32_t i = 0; i < a->nlocations; i++) {
		const struct qz_location *k = &a->locations[i], *l = &b->locations[i];

		ck_assert_uint_eq(k->address, l->address);
		ck_assert_int_eq(k->mapping == QZ_NONE, l->mapping == QZ_NONE);
		if (k->mapping != QZ_NONE)
			compare_mappings(&a->mappings[k->mapping], &b->mappings[l->mapping]);
		ck_assert_uint_eq(k->nlines, l->nlines);
		ck_assert_mem_eq(k->lines, l->lines, k->nlines * sizeof(*k->lines));
	}
}

static void compare_files(const struct qz_profile *a, const struct qz_location *l,
			  const struct qz_profile *b, const struct qz_location *m)
{
	ck_assert_uint_eq(l->nlines, m->nlines);
	for (uint32_t i = 0; i < l->nlines; i++)
		ck_assert_str_eq(qz_line__file(a, &l->lines[i]), qz_line__file(b, &m->lines[i]));
}

static void compare_stacks(const struct qz_profile *a, uint32_t m, const struct qz_profile *b,
			   uint32_t n)
{
	while (m && n) {
		ck_assert_uint_eq(a->nodes[m].location, b->nodes[n].location);
		ck_assert_uint_eq(a->nodes[m].depth, b->nodes[n].depth);
		compare_files(a, &a->locations[a->nodes[m].location], b,
			      &b->locations[b->nodes[n].location]);
		m = a->nodes[m].parent;
		n = b->nodes[n].parent;
	}
	ck_assert_uint_eq(m, n);
}

static void compare_samples(const struct qz_profile *a, const struct qz_profile *b)
{
	ck_assert_uint_eq(a->nsamples, b->nsamples);
	for (uint32_t i = 0; i < a->nsamples; i++) {
		const struct qz_sample *s = &a->samples[i], *t = &b->samples[i];

		ck_assert_uint_eq(s->scope, t->scope);
		ck_assert_uint_eq(s->thread, t->thread);
		ck_assert_uint_eq(s->level, t->level);
		ck_assert_uint_eq(s->busy, t->busy);
		ck_assert_uint_eq(s->object, t->object);
		ck_assert_int_eq(s->spinning, t->spinning);
		ck_assert_uint_eq(s->halvings, t->halvings);
		ck_assert_uint_eq(s->below, t->below);
		ck_assert_uint_eq(s->seen, t->seen);
		ck_assert_uint_eq(s->count, t->count);
		ck_assert_uint_eq(s->cpu_ns, t->cpu_ns);
		ck_assert_uint_eq(s->norm_ns, t->norm_ns);
		compare_stacks(a, s->node, b, t->node);
	}
}

static void compare_objects(const struct qz_object *a, const struct qz_object *b)
{
	ck_assert_uint_eq(a->scope, b->scope);
	ck_assert_uint_eq(a->kind, b->kind);
	ck_assert_int_eq(a->pid, b->pid);
	ck_assert_uint_eq(a->address, b->address);
	ck_assert_str_eq(a->name, b->name);
	ck_assert_str_eq(a->module, b->module);
	ck_assert_uint_eq(a->grouped, b->grouped);
	ck_assert_uint_eq(a->waits, b->waits);
	ck_assert_uint_eq(a->wakes, b->wakes);
	ck_assert_uint_eq(a->wait_ns, b->wait_ns);
	ck_assert_mem_eq(a->queue_ns, b->queue_ns, sizeof(a->queue_ns));
	ck_assert_mem_eq(a->arrivals, b->arrivals, sizeof(a->arrivals));
}

static void compare_waits(const struct qz_profile *a, const struct qz_profile *b)
{
	ck_assert_uint_eq(a->ncauses, b->ncauses);
	for (uint32_t i = 0; i < a->ncauses; i++)
		ck_assert_str_eq(a->causes[i], b->causes[i]);
	ck_assert_uint_eq(a->nwaits, b->nwaits);
	for (uint32_t i = 0; i < a->nwaits; i++) {
		const struct qz_wait *v = &a->waits[i], *w = &b->waits[i];

		ck_assert_uint_eq(v->scope, w->scope);
		ck_assert_uint_eq(v->thread, w->thread);
		ck_assert_uint_eq(v->cause, w->cause);
		ck_assert_uint_eq(v->object, w->object);
		ck_assert_uint_eq(v->nominal, w->nominal);
		ck_assert_uint_eq(v->count, w->count);
		ck_assert_uint_eq(v->blocked_ns, w->blocked_ns);
		ck_assert_uint_eq(v->ready_ns, w->ready_ns);
		ck_assert_uint_eq(v->variance, w->variance);
		ck_assert_uint_eq(v->handed, w->handed);
		compare_stacks(a, v->node, b, w->node);
	}
}

static void compare_wakings(const struct qz_profile *a, const struct qz_profile *b)
{
	ck_assert_uint_eq(a->nwakings, b->nwakings);
	for (uint32_t i = 0; i < a->nwakings; i++) {
		const struct qz_waking *v = &a->wakings[i], *w = &b->wakings[i];

		ck_assert_uint_eq(v->scope, w->scope);
		ck_assert_uint_eq(v->thread, w->thread);
		ck_assert_uint_eq(v->object, w->object);
		ck_assert_uint_eq(v->count, w->count);
		ck_assert_uint_eq(v->woken_ns, w->woken_ns);
		compare_stacks(a, v->node, b, w->node);
	}
}

static void compare_calls(const struct qz_profile *a, const struct qz_profile *b)
{
	ck_assert_uint_eq(a->ncalls, b->ncalls);
	for (uint32_t i = 0; i < a->ncalls; i++) {
		const struct qz_call_count *v = &a->calls[i], *w = &b->calls[i];

		ck_assert_uint_eq(v->scope, w->scope);
		ck_assert_uint_eq(v->caller, w->caller);
		ck_assert_uint_eq(v->callee, w->callee);
		ck_assert_uint_eq(v->count, w->count);
	}
}

static void compare_rounds(const struct qz_profile *a, const struct qz_profile *b)
{
	const struct qz_rounds *x = &a->instants, *y = &b->instants;

	ck_assert_uint_eq(x->rate_hz, y->rate_hz);
	ck_assert_uint_eq(x->taken, y->taken);
	ck_assert_uint_eq(x->incomplete, y->incomplete);
	ck_assert_uint_eq(x->unplaced, y->unplaced);
	ck_assert_uint_eq(x->skew_ns, y->skew_ns);
	ck_assert_uint_eq(x->skew_max_ns, y->skew_max_ns);
	ck_assert_uint_eq(x->outside, y->outside);
	ck_assert_uint_eq(x->compared, y->compared);
	ck_assert_uint_eq(x->differing, y->differing);
	ck_assert_uint_eq(a->nrounds, b->nrounds);
	for (uint32_t i = 0; i < a->nrounds; i++) {
		const struct qz_round *v = &a->rounds[i], *w = &b->rounds[i];

		ck_assert_uint_eq(v->scope, w->scope);
		ck_assert_uint_eq(v->count, w->count);
		ck_assert_uint_eq(v->n, w->n);
		for (uint32_t k = 0; k < v->n; k++)
			ck_assert_uint_eq(v->members[k], w->members[k]);
	}
}

void fixture__assert_equal(const struct qz_profile *a, const struct qz_profile *b)
{
	compare_runs(a, b);
	ck_assert_uint_eq(a->nscopes, b->nscopes);
	for (uint32_t i = 0; i < a->nscopes; i++)
		compare_scopes(&a->scopes[i], &b->scopes[i]);
	ck_assert_uint_eq(a->nthreads, b->nthreads);
	for (uint32_t i = 0; i < a->nthreads; i++)
		compare_threads(&a->threads[i], &b->threads[i]);
	compare_code(a, b);
	compare_samples(a, b);
	ck_assert_uint_eq(a->nobjects, b->nobjects);
	for (uint32_t i = 0; i < a->nobjects; i++)
		compare_objects(&a->objects[i], &b->objects[i]);
	compare_waits(a, b);
	compare_wakings(a, b);
	compare_calls(a, b);
	compare_rounds(a, b);
}
