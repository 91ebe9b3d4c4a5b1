/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/timeline/slots.h"

#include <errno.h>
#include <stdlib.h>

#include "core/model/figures.h"
#include "core/model/timeline.h"
#include "core/util/apportion.h"
#include "core/util/order.h"

/* Samples of a level that say that so many processors were busy. */
struct part {
	uint32_t level, busy;
	uint64_t weight, all; /* of one slot, and of the run */
};

/* The slots of one scope in the making. */
struct making {
	const struct qz_report *r;
	const struct qz_profile *p;
	const struct qz_timeline *t;
	struct qz_slots *s;
	struct qz_split *norm, *cpu; /* of each group of samples */
	struct part *parts;	     /* by level and busy processors */
	uint32_t nparts;
	uint32_t samples, blocked, ready, running, thread_ready, thread_blocked; /* columns */
};

static bool covers(const struct making *m, uint32_t scope)
{
	return qz_scope__covers(m->p, m->r->scope, scope);
}

static int compare(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return qz_order(x->level, y->level) ?: qz_order(x->busy, y->busy);
}

static struct part *part_of(const struct making *m, const struct qz_sample *s)
{
	struct part key = {s->level, s->busy, 0, 0};

	return bsearch(&key, m->parts, m->nparts, sizeof(key), compare);
}

/* ---- exact figures ---- */

static void add_levels(const struct making *m, uint32_t slot)
{
	struct qz_slot_figures *f = &m->s->all[slot];

	for (uint32_t level = 0; level < m->s->nlevels; level++) {
		f->level_ns[level] = qz_timeline__sum(m->t, slot, slot + 1,
						      QZ_FIGURE_LEVELS + level, m->r->scope);
		f->elapsed_ns += f->level_ns[level];
	}
}

static uint64_t sum_threads(const struct making *m, uint32_t slot, uint32_t column)
{
	uint64_t sum = 0;
	uint32_t n;
	const struct qz_added *a = qz_timeline__column(&m->t->slots[slot], column, &n);

	for (uint32_t i = 0; i < n; i++)
		if (covers(m, m->p->threads[a[i].entity].scope))
			sum += a[i].value;
	return sum;
}

static void add_threads(const struct making *m, uint32_t slot)
{
	struct qz_slot_figures *f = &m->s->all[slot];

	f->running_ns = sum_threads(m, slot, m->running);
	f->ready_ns = sum_threads(m, slot, m->thread_ready);
	f->blocked_ns = sum_threads(m, slot, m->thread_blocked);
}

/* The wait's place in a list that has both columns, each in the order of groups. */
static struct qz_slot_wait *wait_at(struct qz_slot_figures *f, uint32_t wait)
{
	if (!f->nwaits || f->waits[f->nwaits - 1].wait != wait)
		f->waits[f->nwaits++] = (struct qz_slot_wait) {.wait = wait};
	return &f->waits[f->nwaits - 1];
}

static int add_waits(const struct making *m, uint32_t slot)
{
	struct qz_slot_figures *f = &m->s->all[slot];
	uint32_t nb, nr, b = 0, r = 0;
	const struct qz_added *blocked = qz_timeline__column(&m->t->slots[slot], m->blocked, &nb);
	const struct qz_added *ready = qz_timeline__column(&m->t->slots[slot], m->ready, &nr);

	f->waits = calloc((size_t)nb + nr + 1, sizeof(*f->waits));
	if (!f->waits)
		return -ENOMEM;
	while (b < nb || r < nr) {
		bool is_blocked = r == nr || (b < nb && blocked[b].entity <= ready[r].entity);
		const struct qz_added *a = is_blocked ? &blocked[b++] : &ready[r++];

		if (!covers(m, m->p->waits[a->entity].scope))
			continue;
		if (is_blocked)
			wait_at(f, a->entity)->blocked_ns = a->value;
		else
			wait_at(f, a->entity)->ready_ns = a->value;
	}
	return 0;
}

/* ---- samples ---- */

static void put_sample(const struct making *m, struct qz_slot_figures *f, uint32_t sample,
		       uint64_t count)
{
	const struct qz_sample *s = &m->p->samples[sample];
	struct qz_slot_sample *to = &f->samples[f->nsamples];

	*to = (struct qz_slot_sample) {.sample = sample};
	if (m->norm[sample].total) {
		to->norm_ns = qz_split__next(&m->norm[sample], count);
		to->cpu_ns = qz_split__next(&m->cpu[sample], count);
	}
	f->nsamples += to->norm_ns || to->cpu_ns;
	if (s->spinning)
		f->spin_ns += to->cpu_ns;
	if (s->count)
		part_of(m, s)->weight += count << s->halvings;
}

static bool has_no_samples(const struct making *m, const struct qz_sample *s)
{
	return !s->count && s->scope == m->r->scope;
}

/* Groups of samples, and of time that has none. */
static int add_samples(const struct making *m, uint32_t slot, uint32_t nwithout)
{
	struct qz_slot_figures *f = &m->s->all[slot];
	uint32_t n;
	const struct qz_added *a = qz_timeline__column(&m->t->slots[slot], m->samples, &n);

	f->samples = calloc((size_t)n + nwithout + 1, sizeof(*f->samples));
	if (!f->samples)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		if (m->p->samples[a[i].entity].scope == m->r->scope)
			put_sample(m, f, a[i].entity, a[i].value);
	for (uint32_t i = 0; nwithout && i < m->p->nsamples; i++)
		if (has_no_samples(m, &m->p->samples[i]))
			put_sample(m, f, i, f->level_ns[m->p->samples[i].level]);
	return 0;
}

/* The parts of a level from *at on divide its time; without any, all that ran were busy. Moves *at on. */
static void divide_level(const struct making *m, struct qz_slot_figures *f, uint32_t level,
			 uint32_t *at)
{
	struct qz_split split = {.amount = f->level_ns[level]};
	uint64_t all = 0;
	uint32_t last = *at;

	for (; last < m->nparts && m->parts[last].level == level; last++) {
		split.total += m->parts[last].weight;
		all += m->parts[last].all;
	}
	if (!all)
		f->busy_ns[level] += f->level_ns[level];
	for (bool here = split.total; all && *at < last; (*at)++) {
		struct part *part = &m->parts[*at];

		split.total = here ? split.total : all;
		f->busy_ns[part->busy] += qz_split__next(&split, here ? part->weight : part->all);
		part->weight = 0;
	}
	*at = last;
}

static int add_slot(const struct making *m, uint32_t slot, uint32_t nwithout)
{
	struct qz_slot_figures *f = &m->s->all[slot];
	uint32_t part = 0;
	int err;

	f->level_ns = calloc(m->s->nlevels, sizeof(*f->level_ns));
	f->busy_ns = calloc(m->s->nlevels, sizeof(*f->busy_ns));
	if (!f->level_ns || !f->busy_ns)
		return -ENOMEM;
	add_levels(m, slot);
	add_threads(m, slot);
	err = add_waits(m, slot);
	err = err ? err : add_samples(m, slot, nwithout);
	for (uint32_t level = 0; !err && level < m->s->nlevels; level++)
		divide_level(m, f, level, &part);
	return err;
}

/* ---- all ---- */

/* The parts of the run, each once. */
static void find_parts(struct making *m)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->p->nsamples; i++) {
		const struct qz_sample *s = &m->p->samples[i];

		if (s->scope == m->r->scope && s->count)
			m->parts[n++] = (struct part) {s->level, s->busy, 0, qz_sample__weight(s)};
	}
	if (n)
		qsort(m->parts, n, sizeof(*m->parts), compare);
	for (uint32_t i = 0; i < n; i++) {
		if (m->nparts && !compare(&m->parts[m->nparts - 1], &m->parts[i]))
			m->parts[m->nparts - 1].all += m->parts[i].all;
		else
			m->parts[m->nparts++] = m->parts[i];
	}
}

/* What each group of samples is to divide among the slots. Returns how many have no samples. */
static uint32_t prepare(struct making *m)
{
	const uint64_t *level_ns = m->p->scopes[m->r->scope].level_ns;
	uint32_t nwithout = 0;

	for (uint32_t i = 0; i < m->p->nsamples; i++) {
		const struct qz_sample *s = &m->p->samples[i];
		uint64_t total = s->count;

		if (s->scope != m->r->scope)
			continue;
		if (has_no_samples(m, s)) {
			nwithout++;
			total = level_ns[s->level];
		}
		m->norm[i] = (struct qz_split) {.amount = s->norm_ns, .total = total};
		m->cpu[i] = (struct qz_split) {.amount = s->cpu_ns, .total = total};
	}
	return nwithout;
}

static int add_all(struct making *m)
{
	uint32_t nwithout;
	int err = 0;

	m->norm = calloc(m->p->nsamples + 1ul, sizeof(*m->norm));
	m->cpu = calloc(m->p->nsamples + 1ul, sizeof(*m->cpu));
	m->parts = calloc(m->p->nsamples + 1ul, sizeof(*m->parts));
	if (!m->norm || !m->cpu || !m->parts)
		return -ENOMEM;
	nwithout = prepare(m);
	find_parts(m);
	for (uint32_t i = 0; !err && i < m->s->n; i++)
		err = add_slot(m, i, nwithout);
	return err;
}

struct qz_slots *qz_slots__new(const struct qz_report *r)
{
	const struct qz_timeline *t = r->profile->timeline;
	struct qz_slots *s = calloc(1, sizeof(*s));
	struct making m = {.r = r,
			   .p = r->profile,
			   .t = t,
			   .s = s,
			   .samples = qz_figures__find("samples.count"),
			   .blocked = qz_figures__find("waits.blocked_ns"),
			   .ready = qz_figures__find("waits.ready_ns"),
			   .running = qz_figures__find("threads.running_ns"),
			   .thread_ready = qz_figures__find("threads.ready_ns"),
			   .thread_blocked = qz_figures__find("threads.blocked_ns")};
	int err = !s ? -ENOMEM : !t || !t->n ? -ENODATA : 0;

	if (!err) {
		s->all = calloc(t->n, sizeof(*s->all));
		s->n = s->all ? t->n : 0;
		s->nlevels = r->nlevels;
		s->slot_ns = t->slot_ns;
		s->begin_ns = (int64_t)(t->start_ns - r->profile->scopes[r->scope].start_ns);
		err = s->all ? add_all(&m) : -ENOMEM;
	}
	free(m.norm);
	free(m.cpu);
	free(m.parts);
	if (!err)
		return s;
	qz_slots__free(s);
	errno = -err;
	return NULL;
}

void qz_slots__free(struct qz_slots *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->n; i++) {
		free(s->all[i].level_ns);
		free(s->all[i].busy_ns);
		free(s->all[i].samples);
		free(s->all[i].waits);
	}
	free(s->all);
	free(s);
}
