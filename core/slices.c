/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/slices.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/figures.h"
#include "core/merge.h"

/* Figures of n entities, so many of each, one entity after the other. */
struct told {
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
	SEEN,
	LEVELS,
	ENDS,
	THREADS,
	SAMPLES,
	WAITS,
	WAKINGS,
	OBJECTS,
	CALLS,
	MOMENTS,
	WHAT,
};

struct qz_slices {
	struct told told[WHAT];
};

#define MAX_ENDS 32 /* ways in which the walk of a stack ends */

static const struct qz_figures window_figures[] = {{offsetof(struct qz_profile, window_ns), 1},
						   {0}};
static const struct qz_figures seen_figures[] = {{offsetof(struct qz_scope, threads_seen), 1}, {0}};

struct qz_slices *qz_slices__new(void)
{
	return calloc(1, sizeof(struct qz_slices));
}

void qz_slices__free(struct qz_slices *s)
{
	if (!s)
		return;
	for (int i = 0; i < WHAT; i++)
		free(s->told[i].values);
	free(s);
}

/* Room for what entities that are new since the last cut will have been told. */
static int grow(struct told *t, uint32_t n, uint32_t each)
{
	size_t before = (size_t)t->n * t->each, size = (size_t)n * each;
	uint64_t *values;

	if (each != t->each)
		before = 0;
	if (size <= before)
		return 0;
	values = reallocarray(t->values, size, sizeof(*values));
	if (!values)
		return -ENOMEM;
	memset(values + before, 0, (size - before) * sizeof(*values));
	t->values = values;
	t->n = n;
	t->each = each;
	return 0;
}

/* Leaves in *figure what was not told yet, and keeps that it is now. */
static void tell(uint64_t *figure, uint64_t *told)
{
	uint64_t more = *figure > *told ? *figure - *told : 0;

	*figure = more;
	*told += more;
}

/* The figures of n entities of this size. */
static int tell_all(struct told *t, void *entities, uint32_t n, size_t size,
		    const struct qz_figures *figures)
{
	uint32_t each = qz_figures__count(figures);
	int err = grow(t, n, each);

	for (uint32_t i = 0; !err && i < n; i++)
		for (uint32_t k = 0; k < each; k++)
			tell(qz_figures__at((char *)entities + i * size, figures, k),
			     &t->values[(size_t)i * each + k]);
	return err;
}

/* ---- a copy whose figures can be changed ---- */

/* Entities and their lists of figures are its own; what they name is the run's. */
struct copy {
	struct qz_profile p;
	uint64_t *levels;
	struct qz_loss *ends;
	uint32_t nlevels, nends; /* of all scopes */
};

static void *copy_of(const void *from, uint32_t n, size_t size)
{
	void *to = malloc((n + 1ul) * size);

	return to && n ? memcpy(to, from, n * size) : to;
}

/* Those that the estimator makes are left out: it makes them anew each time. */
static void drop_unattributed(struct qz_profile *p)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < p->nsamples; i++)
		if (!qz_sample__is_unattributed(p, &p->samples[i]))
			p->samples[kept++] = p->samples[i];
	p->nsamples = kept;
}

static void copy_lists(struct copy *c)
{
	uint32_t level = 0, end = 0;

	for (uint32_t i = 0; i < c->p.nscopes; i++) {
		struct qz_scope *s = &c->p.scopes[i];

		memcpy(&c->levels[level], s->level_ns, s->nlevels * sizeof(*c->levels));
		s->level_ns = &c->levels[level];
		level += s->nlevels;
		if (s->nstack_ends)
			memcpy(&c->ends[end], s->stack_ends, s->nstack_ends * sizeof(*c->ends));
		s->stack_ends = &c->ends[end];
		end += s->nstack_ends;
	}
}

static int make(struct copy *c, const struct qz_profile *from)
{
	struct qz_profile *p = &c->p;

	*c = (struct copy) {.p = *from};
	for (uint32_t i = 0; i < from->nscopes; i++) {
		c->nlevels += from->scopes[i].nlevels;
		c->nends += from->scopes[i].nstack_ends;
	}
	c->levels = calloc(c->nlevels + 1ul, sizeof(*c->levels));
	c->ends = calloc(c->nends + 1ul, sizeof(*c->ends));
	p->scopes = copy_of(from->scopes, from->nscopes, sizeof(*p->scopes));
	p->threads = copy_of(from->threads, from->nthreads, sizeof(*p->threads));
	p->samples = copy_of(from->samples, from->nsamples, sizeof(*p->samples));
	p->waits = copy_of(from->waits, from->nwaits, sizeof(*p->waits));
	p->wakings = copy_of(from->wakings, from->nwakings, sizeof(*p->wakings));
	p->objects = copy_of(from->objects, from->nobjects, sizeof(*p->objects));
	p->calls = copy_of(from->calls, from->ncalls, sizeof(*p->calls));
	p->moments = copy_of(from->moments, from->nmoments, sizeof(*p->moments));
	p->ledger.losses =
		copy_of(from->ledger.losses, from->ledger.nlosses, sizeof(*p->ledger.losses));
	p->ledger.events =
		copy_of(from->ledger.events, from->ledger.nevents, sizeof(*p->ledger.events));
	if (!c->levels || !c->ends || !p->scopes || !p->threads || !p->samples || !p->waits ||
	    !p->wakings || !p->objects || !p->calls || !p->moments || !p->ledger.losses ||
	    !p->ledger.events)
		return -ENOMEM;
	copy_lists(c);
	drop_unattributed(p);
	return 0;
}

static void end(struct copy *c)
{
	free(c->levels);
	free(c->ends);
	free(c->p.scopes);
	free(c->p.threads);
	free(c->p.samples);
	free(c->p.waits);
	free(c->p.wakings);
	free(c->p.objects);
	free(c->p.calls);
	free(c->p.moments);
	free(c->p.ledger.losses);
	free(c->p.ledger.events);
}

/* ---- waits ---- */

/* Of the waits of a thread: what was told and is not in the run any more. */
struct excess {
	uint64_t figures[3];
};

/* Waits of no thread are one thread more. */
static struct excess *excess_of(struct excess *all, const struct qz_profile *p, uint32_t wait)
{
	uint32_t thread = p->waits[wait].thread;

	return &all[thread == QZ_NONE ? p->nthreads : thread];
}

static uint64_t *figure(struct qz_wait *w, uint32_t k)
{
	return qz_figures__at(w, qz_wait_figures, k);
}

/* What is not told because of the excess is told later, when there is none any more. */
static void take_off(uint64_t *figure, uint64_t *told, uint64_t *excess)
{
	uint64_t less = *figure < *excess ? *figure : *excess;

	*figure -= less;
	*told -= less;
	*excess -= less;
}

static int tell_waits(struct told *t, struct qz_profile *p)
{
	struct excess *all = calloc(p->nthreads + 1ul, sizeof(*all));
	int err = all ? grow(t, p->nwaits, 3) : -ENOMEM;

	for (uint32_t i = 0; !err && i < p->nwaits; i++)
		for (uint32_t k = 0; k < 3; k++) {
			uint64_t now = *figure(&p->waits[i], k), told = t->values[3ul * i + k];

			if (told > now)
				excess_of(all, p, i)->figures[k] += told - now;
		}
	err = err ? err : tell_all(t, p->waits, p->nwaits, sizeof(*p->waits), qz_wait_figures);
	for (uint32_t i = 0; !err && i < p->nwaits; i++)
		for (uint32_t k = 0; k < 3; k++)
			take_off(figure(&p->waits[i], k), &t->values[3ul * i + k],
				 &excess_of(all, p, i)->figures[k]);
	free(all);
	return err;
}

/* ---- scopes ---- */

/* Causes of one scope are added at the end of its list: each has a place that stays. */
static int tell_ends(struct told *t, struct qz_profile *p)
{
	int err = grow(t, p->nscopes, MAX_ENDS);

	for (uint32_t i = 0; !err && i < p->nscopes; i++) {
		struct qz_scope *s = &p->scopes[i];

		for (uint32_t k = 0; k < s->nstack_ends && k < MAX_ENDS; k++)
			tell(&s->stack_ends[k].count, &t->values[(size_t)i * MAX_ENDS + k]);
	}
	return err;
}

/* All scopes of a run have as many levels. */
static int tell_levels(struct told *t, struct copy *c)
{
	uint32_t each = c->p.nscopes ? c->p.scopes[0].nlevels : 1;
	int err = grow(t, c->p.nscopes, each);

	for (uint32_t i = 0; !err && i < c->p.nscopes; i++) {
		struct qz_scope *s = &c->p.scopes[i];

		s->elapsed_ns = 0;
		for (uint32_t k = 0; k < s->nlevels && k < each; k++) {
			tell(&s->level_ns[k], &t->values[(size_t)i * each + k]);
			s->elapsed_ns += s->level_ns[k];
		}
	}
	return err;
}

static int tell_copy(struct qz_slices *s, struct copy *c)
{
	struct qz_profile *p = &c->p;
	struct told *t = s->told;
	int err = tell_all(&t[RUN], p, 1, 0, window_figures);

	err = err ? err : tell_all(&t[INSTANTS], &p->instants, 1, 0, qz_instants_figures);
	err = err ? err : tell_all(&t[COSTS], &p->costs, 1, 0, qz_costs_figures);
	err = err ? err : tell_all(&t[LEDGER], &p->ledger, 1, 0, qz_ledger_figures);
	err = err ? err
		  : tell_all(&t[LOSSES], p->ledger.losses, p->ledger.nlosses,
			     sizeof(struct qz_loss), qz_loss_figures);
	err = err ? err
		  : tell_all(&t[EVENTS], p->ledger.events, p->ledger.nevents,
			     sizeof(struct qz_loss), qz_loss_figures);
	err = err ? err
		  : tell_all(&t[SCOPES], p->scopes, p->nscopes, sizeof(*p->scopes),
			     qz_scope_figures);
	err = err ? err
		  : tell_all(&t[SEEN], p->scopes, p->nscopes, sizeof(*p->scopes), seen_figures);
	err = err ? err : tell_levels(&t[LEVELS], c);
	err = err ? err : tell_ends(&t[ENDS], p);
	err = err ? err
		  : tell_all(&t[THREADS], p->threads, p->nthreads, sizeof(*p->threads),
			     qz_thread_figures);
	err = err ? err
		  : tell_all(&t[SAMPLES], p->samples, p->nsamples, sizeof(*p->samples),
			     qz_sample_figures);
	err = err ? err : tell_waits(&t[WAITS], p);
	err = err ? err
		  : tell_all(&t[WAKINGS], p->wakings, p->nwakings, sizeof(*p->wakings),
			     qz_waking_figures);
	err = err ? err
		  : tell_all(&t[OBJECTS], p->objects, p->nobjects, sizeof(*p->objects),
			     qz_object_figures);
	err = err ? err
		  : tell_all(&t[CALLS], p->calls, p->ncalls, sizeof(*p->calls), qz_call_figures);
	err = err ? err
		  : tell_all(&t[MOMENTS], p->moments, p->nmoments, sizeof(*p->moments),
			     qz_moment_figures);
	qz_ledger__close(&p->ledger);
	return err;
}

struct qz_profile *qz_slices__cut(struct qz_slices *s, const struct qz_profile *p)
{
	struct qz_profile *slice = qz_profile__new();
	struct copy c = {0};
	int err = slice ? make(&c, p) : -ENOMEM;

	err = err ? err : tell_copy(s, &c);
	err = err ? err : qz_profile__merge_busy(slice, &c.p);
	end(&c);
	if (!err)
		return slice;
	qz_profile__free(slice);
	errno = -err;
	return NULL;
}

int qz_slices__told(struct qz_slices *s, const struct qz_profile *p)
{
	struct copy c = {0};
	int err = make(&c, p);

	for (int i = SCOPES; i < WHAT; i++) {
		free(s->told[i].values);
		s->told[i] = (struct told) {0};
	}
	err = err ? err : tell_copy(s, &c);
	end(&c);
	return err;
}
