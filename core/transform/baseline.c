/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/transform/baseline.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/model/fields.h"

/* Figures of n entities, so many of each, one entity after the other. */
struct kept {
	uint64_t *values;
	uint32_t n, each;
};

enum what {
	RUN,
	INSTANTS,
	COSTS,
	LEDGER,
	LOSSES,
	EVENTS,
	SCOPES,
	THREADS,
	SAMPLES,
	WAITS,
	WAKINGS,
	OBJECTS,
	CALLS,
	ROUNDS,
	LISTED, /* so many kinds of entities have the same figures each; of the others each scope has a list */
	LEVELS = LISTED,
	ENDS,
	WHAT,
};

struct qz_baseline {
	struct kept kept[WHAT];
};

/* What is done with each figure, and with the one that is kept of it. */
typedef void visit_figure(uint64_t *figure, uint64_t *kept);

struct entities {
	void *first;
	uint32_t n;
	size_t size;
	const struct qz_field *figures;
};

struct qz_baseline *qz_baseline__new(void)
{
	return calloc(1, sizeof(struct qz_baseline));
}

void qz_baseline__free(struct qz_baseline *b)
{
	if (!b)
		return;
	for (int i = 0; i < WHAT; i++)
		free(b->kept[i].values);
	free(b);
}

/* Of entities that are new, 0 was kept. */
static int grow(struct kept *k, uint32_t n, uint32_t each)
{
	uint64_t *values;

	if (n <= k->n && each <= k->each)
		return 0;
	n = n < k->n ? k->n : n;
	each = each < k->each ? k->each : each;
	values = calloc((size_t)n * each + 1, sizeof(*values));
	if (!values)
		return -ENOMEM;
	for (uint32_t i = 0; i < k->n; i++)
		memcpy(&values[(size_t)i * each], &k->values[(size_t)i * k->each],
		       k->each * sizeof(*values));
	free(k->values);
	*k = (struct kept) {values, n, each};
	return 0;
}

static uint64_t *row(const struct kept *k, uint32_t i)
{
	return &k->values[(size_t)i * k->each];
}

static struct entities entities_of(struct qz_profile *p, enum what what)
{
	const struct entities all[LISTED] = {
		[RUN] = {p, 1, 0, qz_run_fields},
		[INSTANTS] = {&p->instants, 1, 0, qz_instants_fields},
		[COSTS] = {p, 1, 0, qz_cost_fields},
		[LEDGER] = {&p->ledger, 1, 0, qz_ledger_fields},
		[LOSSES] = {p->ledger.losses, p->ledger.nlosses, sizeof(struct qz_loss),
			    qz_loss_fields},
		[EVENTS] = {p->ledger.events, p->ledger.nevents, sizeof(struct qz_loss),
			    qz_loss_fields},
		[SCOPES] = {p->scopes, p->nscopes, sizeof(*p->scopes), qz_scope_fields},
		[THREADS] = {p->threads, p->nthreads, sizeof(*p->threads), qz_thread_fields},
		[SAMPLES] = {p->samples, p->nsamples, sizeof(*p->samples), qz_sample_fields},
		[WAITS] = {p->waits, p->nwaits, sizeof(*p->waits), qz_wait_fields},
		[WAKINGS] = {p->wakings, p->nwakings, sizeof(*p->wakings), qz_waking_fields},
		[OBJECTS] = {p->objects, p->nobjects, sizeof(*p->objects), qz_object_fields},
		[CALLS] = {p->calls, p->ncalls, sizeof(*p->calls), qz_call_fields},
		[ROUNDS] = {p->rounds, p->nrounds, sizeof(*p->rounds), qz_round_fields},
	};

	return all[what];
}

/* Makes room for all that can be kept of p. */
static int make_room(struct qz_baseline *b, struct qz_profile *p)
{
	uint32_t levels = 0, ends = 0;
	int err = 0;

	for (enum what i = 0; !err && i < LISTED; i++) {
		struct entities e = entities_of(p, i);

		err = grow(&b->kept[i], e.n, qz_fields__count(e.figures));
	}
	for (uint32_t i = 0; i < p->nscopes; i++) {
		levels = p->scopes[i].nlevels > levels ? p->scopes[i].nlevels : levels;
		ends = p->scopes[i].nstack_ends > ends ? p->scopes[i].nstack_ends : ends;
	}
	err = err ? err : grow(&b->kept[LEVELS], p->nscopes, levels);
	return err ? err : grow(&b->kept[ENDS], p->nscopes, ends);
}

static void visit_scope(struct qz_baseline *b, struct qz_profile *p, uint32_t scope,
			visit_figure *visit)
{
	struct qz_scope *s = &p->scopes[scope];

	for (uint32_t k = 0; k < s->nlevels; k++)
		visit(&s->level_ns[k], row(&b->kept[LEVELS], scope) + k);
	for (uint32_t k = 0; k < s->nstack_ends; k++)
		visit(&s->stack_ends[k].count, row(&b->kept[ENDS], scope) + k);
}

/* Entities are only added, each list at its end, so that what is kept stays in its place. */
static void visit_all(struct qz_baseline *b, struct qz_profile *p, visit_figure *visit)
{
	for (enum what i = 0; i < LISTED; i++) {
		struct entities e = entities_of(p, i);

		for (uint32_t n = 0; n < e.n; n++)
			for (uint32_t k = 0; k < b->kept[i].each; k++)
				visit(qz_fields__at((char *)e.first + n * e.size, e.figures, k),
				      row(&b->kept[i], n) + k);
	}
	for (uint32_t i = 0; i < p->nscopes; i++)
		visit_scope(b, p, i, visit);
}

static void keep(uint64_t *figure, uint64_t *kept)
{
	*kept = *figure;
}

static void restore(uint64_t *figure, uint64_t *kept)
{
	*figure = *kept;
}

static void exchange(uint64_t *figure, uint64_t *kept)
{
	uint64_t added = *figure - *kept;

	*figure = *kept;
	*kept = added;
}

static void subtract(uint64_t *figure, uint64_t *kept)
{
	*figure -= *figure < *kept ? *figure : *kept;
}

static void advance(uint64_t *figure, uint64_t *kept)
{
	*kept += *figure;
}

int qz_baseline__set(struct qz_baseline *b, struct qz_profile *p)
{
	int err = make_room(b, p);

	if (!err)
		visit_all(b, p, keep);
	return err;
}

void qz_baseline__restore(struct qz_baseline *b, struct qz_profile *p)
{
	visit_all(b, p, restore);
	qz_ledger__close(&p->ledger);
}

int qz_baseline__exchange(struct qz_baseline *b, struct qz_profile *p)
{
	int err = make_room(b, p);

	if (!err)
		visit_all(b, p, exchange);
	return err;
}

void qz_baseline__advance(struct qz_baseline *b, struct qz_profile *p)
{
	visit_all(b, p, advance);
}

/* ---- subtraction ---- */

/* Of the waits of a thread: what is kept and is not in p any more. */
struct excess {
	uint64_t figures[4];
};

static uint64_t *wait_figure(struct qz_profile *p, uint32_t wait, uint32_t k)
{
	return qz_fields__at(&p->waits[wait], qz_wait_fields, k);
}

/* Waits of no thread are one thread more. */
static uint64_t *excess_of(struct excess *all, const struct qz_profile *p, uint32_t wait,
			   uint32_t k)
{
	uint32_t thread = p->waits[wait].thread;

	return &all[thread == QZ_NONE ? p->nthreads : thread].figures[k];
}

static void find_excess(const struct kept *waits, struct qz_profile *p, struct excess *all)
{
	for (uint32_t i = 0; i < p->nwaits; i++)
		for (uint32_t k = 0; k < waits->each; k++) {
			uint64_t now = *wait_figure(p, i, k), kept = row(waits, i)[k];

			if (kept > now)
				*excess_of(all, p, i, k) += kept - now;
		}
}

/* What is not left because of the excess will be later, when there is none any more. */
static void take_excess(const struct kept *waits, struct qz_profile *p, struct excess *all)
{
	for (uint32_t i = 0; i < p->nwaits; i++)
		for (uint32_t k = 0; k < waits->each; k++) {
			uint64_t *figure = wait_figure(p, i, k), *rest = excess_of(all, p, i, k);
			uint64_t less = *figure < *rest ? *figure : *rest;

			*figure -= less;
			*rest -= less;
		}
}

int qz_baseline__subtract(struct qz_baseline *b, struct qz_profile *p)
{
	struct excess *all = calloc(p->nthreads + 1ul, sizeof(*all));
	int err = all ? make_room(b, p) : -ENOMEM;

	if (!err) {
		find_excess(&b->kept[WAITS], p, all);
		visit_all(b, p, subtract);
		take_excess(&b->kept[WAITS], p, all);
		qz_ledger__close(&p->ledger);
	}
	for (uint32_t i = 0; !err && i < p->nscopes; i++) {
		struct qz_scope *s = &p->scopes[i];

		s->elapsed_ns = 0;
		for (uint32_t k = 0; k < s->nlevels; k++)
			s->elapsed_ns += s->level_ns[k];
	}
	free(all);
	return err;
}
