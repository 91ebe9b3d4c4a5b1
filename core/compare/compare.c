/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/compare/compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The runs of one side, and the values of one figure in them. */
struct side {
	struct qz_run *const *runs;
	uint32_t n;
	double *values, *cis;
	uint32_t *place; /* by run and identity: its row, QZ_NONE: none */
	uint32_t nidentities;
};

static int side_init(struct side *s, struct qz_run *const *runs, uint32_t n, uint32_t nidentities)
{
	*s = (struct side) {.runs = runs, .n = n, .nidentities = nidentities};
	s->values = calloc(n, sizeof(*s->values));
	s->cis = calloc(n, sizeof(*s->cis));
	s->place = calloc((size_t)n * nidentities + 1, sizeof(*s->place));
	if (!s->values || !s->cis || !s->place)
		return -ENOMEM;
	for (size_t i = 0; i < (size_t)n * nidentities; i++)
		s->place[i] = QZ_NONE;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < runs[i]->n; k++)
			s->place[(size_t)i * nidentities + runs[i]->rows[k].identity] = k;
	return 0;
}

static void side_free(struct side *s)
{
	free(s->values);
	free(s->cis);
	free(s->place);
}

static const struct qz_run_row *row_in(const struct side *s, uint32_t run, uint32_t identity)
{
	uint32_t place = s->place[(size_t)run * s->nidentities + identity];

	return place == QZ_NONE ? NULL : &s->runs[run]->rows[place];
}

static struct qz_values values_of(const struct side *s)
{
	return (struct qz_values) {s->n, s->values, s->cis};
}

static struct qz_change change_of(const struct side *before, const struct side *after)
{
	struct qz_values a = values_of(before), b = values_of(after);

	return qz_spread__change(&a, &b);
}

/* ---- figures of the run ---- */

static void take_figure(struct side *s, size_t offset)
{
	for (uint32_t i = 0; i < s->n; i++) {
		memcpy(&s->values[i], (const char *)s->runs[i] + offset, sizeof(double));
		s->cis[i] = 0;
	}
}

static struct qz_change change_of_figure(struct side *before, struct side *after, size_t offset)
{
	take_figure(before, offset);
	take_figure(after, offset);
	return change_of(before, after);
}

/* ---- rows ---- */

/* ci 0: there is none. Where nothing was seen of what is sampled, something may have been missed. */
static void take_values(struct side *s, uint32_t identity, size_t value, size_t ci, bool sampled)
{
	for (uint32_t i = 0; i < s->n; i++) {
		const char *row = (const char *)row_in(s, i, identity);

		s->values[i] = 0;
		s->cis[i] = sampled ? s->runs[i]->absent_ci_ns : 0;
		if (row)
			memcpy(&s->values[i], row + value, sizeof(double));
		if (row && ci)
			memcpy(&s->cis[i], row + ci, sizeof(double));
	}
}

struct pair {
	struct side before, after;
};

static struct qz_change change_of_row(struct pair *p, uint32_t identity, size_t value, size_t ci,
				      bool sampled)
{
	take_values(&p->before, identity, value, ci, sampled);
	take_values(&p->after, identity, value, ci, sampled);
	return change_of(&p->before, &p->after);
}

#define OF_ROW(member) offsetof(struct qz_run_row, member)

/* Whether a row of this identity is in the side; `kept`: and is no wrapper in one of its runs. */
static bool is_in(const struct side *s, uint32_t identity, bool *kept, uint64_t *samples)
{
	bool is = false;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct qz_run_row *row = row_in(s, i, identity);

		if (!row)
			continue;
		is = true;
		*kept |= row->kept;
		*samples += row->samples;
	}
	return is;
}

/* False: neither side has it. */
static bool compare_row(struct pair *p, enum qz_identity_kind kind, uint32_t identity,
			struct qz_compared *c)
{
	/* What is not sampled has no interval in a run, and yet chance decides it. */
	bool unknown = kind == QZ_IDENTITY_NO_SAMPLES, kept = false;
	bool sampled = unknown || kind == QZ_IDENTITY_PROCEDURE || kind == QZ_IDENTITY_KERNEL ||
		       kind == QZ_IDENTITY_CLASS;
	size_t self_ci = unknown ? 0 : OF_ROW(self_ci_ns),
	       total_ci = unknown ? 0 : OF_ROW(total_ci_ns);

	*c = (struct qz_compared) {.identity = identity};
	c->in_before = is_in(&p->before, identity, &kept, &c->samples);
	c->in_after = is_in(&p->after, identity, &kept, &c->samples);
	if (!c->in_before && !c->in_after)
		return false;
	c->self = change_of_row(p, identity, OF_ROW(self_ns), self_ci, sampled);
	c->total = change_of_row(p, identity, OF_ROW(total_ns), total_ci, sampled);
	c->cpu = change_of_row(p, identity, OF_ROW(cpu_ns), OF_ROW(cpu_ci_ns), sampled);
	c->blocked = change_of_row(p, identity, OF_ROW(blocked_ns), 0, false);
	/* A wrapper says what the row says that it wraps. */
	c->certain = qz_change__is_certain(&c->self) ||
		     (kept && qz_change__is_certain(&c->total)) ||
		     (kind == QZ_IDENTITY_WAITS && qz_change__is_certain(&c->blocked));
	if (kind == QZ_IDENTITY_CLASS)
		c->certain = qz_change__is_certain(&c->cpu);
	return true;
}

/* ---- order ---- */

struct order {
	const struct qz_identities *ids;
	enum qz_compare_key key;
};

static double size_of(const struct qz_compared *c, enum qz_compare_key key)
{
	switch (key) {
	case QZ_COMPARE_BY_SELF:
		return fabs(qz_change__of(&c->self));
	case QZ_COMPARE_BY_CPU:
		return fabs(qz_change__of(&c->cpu));
	case QZ_COMPARE_BY_BLOCKED:
		return fabs(qz_change__of(&c->blocked));
	default:
		return fabs(qz_change__of(&c->total));
	}
}

static int by_name(const struct qz_identities *ids, const struct qz_compared *a,
		   const struct qz_compared *b)
{
	struct qz_identity x = qz_identities__get(ids, a->identity),
			   y = qz_identities__get(ids, b->identity);
	int order = strcmp(x.name, y.name);

	return order ? order : strcmp(ids->keys.all[a->identity], ids->keys.all[b->identity]);
}

static int by_size(const struct qz_compared *a, const struct qz_compared *b,
		   enum qz_compare_key key)
{
	double x = size_of(a, key), y = size_of(b, key);

	return (x < y) - (x > y);
}

static int compare_names(const void *x, const void *y, void *context)
{
	return by_name(((const struct order *)context)->ids, x, y);
}

static int compare_rows(const void *x, const void *y, void *context)
{
	const struct qz_compared *a = x, *b = y;
	const struct order *o = context;
	int order = (int)b->certain - (int)a->certain;

	if (!order && o->key != QZ_COMPARE_BY_NAME)
		order = by_size(a, b, o->key);
	if (!order && o->key != QZ_COMPARE_BY_NAME)
		order = by_size(a, b, QZ_COMPARE_BY_TOTAL);
	return order ? order : by_name(o->ids, a, b);
}

/* By name; those of one name are adjacent. */
static void sort_rows(struct qz_comparison *c, struct order order)
{
	struct qz_compared *rows = c->rows;

	if (!c->n)
		return;
	qsort_r(rows, c->n, sizeof(*rows), compare_names, &order);
	for (uint32_t i = 1; i < c->n; i++) {
		const char *name = qz_identities__get(order.ids, rows[i].identity).name;

		if (!strcmp(name, qz_identities__get(order.ids, rows[i - 1].identity).name))
			rows[i].namesake = rows[i - 1].namesake = true;
	}
	qsort_r(rows, c->n, sizeof(*rows), compare_rows, &order);
	while (c->ncertain < c->n && rows[c->ncertain].certain)
		c->ncertain++;
}

/* ---- comparison ---- */

static void compare_runs(struct qz_comparison *c, struct pair *p)
{
	struct side *a = &p->before, *b = &p->after;

	c->elapsed = change_of_figure(a, b, offsetof(struct qz_run, elapsed_ns));
	c->cpu = change_of_figure(a, b, offsetof(struct qz_run, cpu_ns));
	c->idle = change_of_figure(a, b, offsetof(struct qz_run, idle_ns));
	c->serial = change_of_figure(a, b, offsetof(struct qz_run, serial_ns));
	c->parallelism = change_of_figure(a, b, offsetof(struct qz_run, parallelism));
}

static int compare_all(struct qz_comparison *c, struct pair *p, const struct qz_identities *ids,
		       unsigned int kinds)
{
	c->rows = calloc((size_t)ids->keys.n + 1, sizeof(*c->rows));
	if (!c->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < ids->keys.n; i++) {
		enum qz_identity_kind kind = qz_identities__get(ids, i).kind;

		if (kinds & 1u << kind)
			c->n += compare_row(p, kind, i, &c->rows[c->n]);
	}
	return 0;
}

struct qz_comparison *qz_compare__new(const struct qz_identities *ids, struct qz_run *const *before,
				      uint32_t nbefore, struct qz_run *const *after,
				      uint32_t nafter, unsigned int kinds, enum qz_compare_key key)
{
	struct qz_comparison *c = calloc(1, sizeof(*c));
	struct pair p = {0};
	int err = c ? 0 : -ENOMEM;

	err = err ? err : side_init(&p.before, before, nbefore, ids->keys.n);
	err = err ? err : side_init(&p.after, after, nafter, ids->keys.n);
	if (!err) {
		c->nbefore = nbefore;
		c->nafter = nafter;
		compare_runs(c, &p);
		err = compare_all(c, &p, ids, kinds);
	}
	if (!err)
		sort_rows(c, (struct order) {ids, key});
	side_free(&p.before);
	side_free(&p.after);
	if (!err)
		return c;
	qz_compare__free(c);
	errno = ENOMEM;
	return NULL;
}

void qz_compare__free(struct qz_comparison *c)
{
	if (!c)
		return;
	free(c->rows);
	free(c);
}

double qz_compare__self(const struct qz_comparison *c, const struct qz_identities *ids,
			uint32_t from, uint32_t to)
{
	double sum = 0;

	for (uint32_t i = from; i < to; i++)
		if (QZ_COMPARE_ADDING & 1u << qz_identities__get(ids, c->rows[i].identity).kind)
			sum += qz_change__of(&c->rows[i].self);
	return sum;
}
