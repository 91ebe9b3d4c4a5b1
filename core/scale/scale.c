/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/scale/scale.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/compare/compare.h"
#include "core/util/order.h"
#include "core/util/statistics.h"
#include "core/util/vec.h"

/* In the making. */
struct maker {
	struct qz_scale *s;
	const struct qz_identities *ids;
	struct qz_scale_run *const *runs;
	uint32_t nruns;
	double *values, *cis, *sorted; /* of the runs of a point */
	uint32_t **places;	       /* by run and identity: its row, QZ_NONE: none */
};

bool qz_scale_value__is_certain(const struct qz_scale_value *v)
{
	return v->ci >= 0 && fabs(v->value) > v->ci;
}

static double half_width(const double *values, const double *cis, uint32_t n)
{
	double mean = 0, square = 0, sampling = 0, spread;

	for (uint32_t i = 0; i < n; i++) {
		mean += values[i] / n;
		sampling += cis ? cis[i] * cis[i] : 0;
	}
	sampling = sqrt(sampling) / n;
	if (n < QZ_SCALE_LEAST_RUNS)
		return QZ_SCALE_UNKNOWN;
	for (uint32_t i = 0; i < n; i++)
		square += (values[i] - mean) * (values[i] - mean);
	spread = qz_statistics__student(n - 1) * sqrt(square / (n - 1) / n);
	return QZ_MEDIAN_TO_MEAN * (spread > sampling ? spread : sampling);
}

struct qz_scale_value qz_scale__median(const double *values, const double *cis, uint32_t n,
				       double *sorted)
{
	return (struct qz_scale_value) {qz_statistics__median(values, n, sorted),
					half_width(values, cis, n)};
}

/* b - a, where the interval of each is known. */
static struct qz_scale_value difference(const struct qz_scale_value *a,
					const struct qz_scale_value *b)
{
	bool known = a->ci >= 0 && b->ci >= 0;

	return (struct qz_scale_value) {b->value - a->value,
					known ? hypot(a->ci, b->ci) : QZ_SCALE_UNKNOWN};
}

static struct qz_scale_value ratio(const struct qz_scale_value *a, const struct qz_scale_value *b)
{
	struct qz_scale_value v = {b->value > 0 ? a->value / b->value : 0, QZ_SCALE_UNKNOWN};

	if (a->ci >= 0 && b->ci >= 0 && a->value > 0 && b->value > 0)
		v.ci = v.value * hypot(a->ci / a->value, b->ci / b->value);
	return v;
}

/* ---- points ---- */

static struct qz_scale_point *point_of(struct qz_scale *s, uint32_t processors)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->points[i].processors == processors)
			return &s->points[i];
	return NULL;
}

static int compare_points(const void *x, const void *y)
{
	const struct qz_scale_point *a = x, *b = y;

	return qz_order(a->processors, b->processors);
}

static int find_points(struct maker *m)
{
	struct qz_scale *s = m->s;

	for (uint32_t i = 0; i < m->nruns; i++) {
		uint32_t processors = m->runs[i]->processors;
		struct qz_scale_point *p = point_of(s, processors);

		if (!p) {
			if (qz_array__reserve((void **)&s->points, s->n, sizeof(*s->points)))
				return -ENOMEM;
			p = &s->points[s->n++];
			*p = (struct qz_scale_point) {.processors = processors};
		}
		p->runs++;
	}
	if (s->n)
		qsort(s->points, s->n, sizeof(*s->points), compare_points);
	return s->n && s->points[0].processors == 1 ? 0 : -EINVAL;
}

/* The median of a figure, of this place in each run of a point. */
static struct qz_scale_value median_of(struct maker *m, uint32_t processors, size_t place)
{
	uint32_t n = 0;

	for (uint32_t r = 0; r < m->nruns; r++)
		if (m->runs[r]->processors == processors)
			m->values[n++] = *(const double *)((const char *)m->runs[r] + place);
	return qz_scale__median(m->values, NULL, n, m->sorted);
}

static double worst_beyond(const struct maker *m, uint32_t processors)
{
	double worst = 0;

	for (uint32_t i = 0; i < m->nruns; i++) {
		const struct qz_scale_run *run = m->runs[i];

		if (run->processors == processors && run->elapsed_ns > 0 &&
		    run->beyond_ns / run->elapsed_ns > worst)
			worst = run->beyond_ns / run->elapsed_ns;
	}
	return worst;
}

#define MEDIAN_OF(m, point, figure)                                                                \
	median_of(m, (point)->processors, offsetof(struct qz_scale_run, figure))

static void measure_point(struct maker *m, struct qz_scale_point *p)
{
	p->elapsed = MEDIAN_OF(m, p, elapsed_ns);
	p->idle = MEDIAN_OF(m, p, idle_ns);
	p->work = MEDIAN_OF(m, p, work_ns);
	p->work.value = p->processors * p->elapsed.value - p->idle.value;
	p->spin = MEDIAN_OF(m, p, spin_ns);
	p->others = MEDIAN_OF(m, p, others_ns);
	p->quartz = MEDIAN_OF(m, p, quartz_ns);
	p->late = MEDIAN_OF(m, p, late_ns);
	p->lacking = MEDIAN_OF(m, p, lacking_ns);
	p->lacking.value =
		p->idle.value - p->spin.value - p->others.value - p->quartz.value - p->late.value;
	p->beyond = worst_beyond(m, p->processors);
}

static double speedup(const struct qz_scale *s, const struct qz_scale_point *p, double ns)
{
	return ns > 0 ? p->processors * s->baseline.value / ns : 0;
}

static void find_speedups(struct qz_scale *s)
{
	const struct qz_scale_value *one = &s->points[0].work;

	for (uint32_t i = 0; i < s->n; i++) {
		struct qz_scale_point *p = &s->points[i];

		p->inflation = i ? difference(one, &p->work) : (struct qz_scale_value) {0, 0};
		p->maximal = speedup(s, p, one->value);
		p->idle_specific = speedup(s, p, one->value + p->idle.value);
		p->inflation_specific = speedup(s, p, p->work.value);
		p->actual = i || s->has_baseline ? ratio(&s->baseline, &p->elapsed)
						 : (struct qz_scale_value) {1, 0};
	}
}

static void find_baseline(struct maker *m, struct qz_scale_run *const *baseline, uint32_t n)
{
	struct qz_scale *s = m->s;

	s->has_baseline = n;
	if (!n)
		s->baseline = s->points[0].elapsed;
	for (uint32_t i = 0; i < n; i++)
		m->values[i] = baseline[i]->elapsed_ns;
	if (n)
		s->baseline = qz_scale__median(m->values, NULL, n, m->sorted);
}

/* ---- rows ---- */

static bool adds_up(const struct maker *m, const struct qz_run_row *row)
{
	return QZ_COMPARE_ADDING >> qz_identities__get(m->ids, row->identity).kind & 1;
}

static bool is_class(const struct maker *m, const struct qz_run_row *row)
{
	return qz_identities__get(m->ids, row->identity).kind == QZ_IDENTITY_CLASS;
}

static int append_row(struct qz_scale_row **rows, uint32_t *n, uint32_t identity)
{
	if (qz_array__reserve((void **)rows, *n, sizeof(**rows)))
		return -ENOMEM;
	(*rows)[(*n)++] = (struct qz_scale_row) {.identity = identity};
	return 0;
}

/* The rows of all runs, once each; `seen` is 0 for each identity. */
static int find_rows(struct maker *m, bool *seen)
{
	struct qz_scale *s = m->s;
	int err;

	for (uint32_t r = 0; r < m->nruns; r++) {
		const struct qz_run *run = m->runs[r]->run;

		for (uint32_t i = 0; i < run->n; i++) {
			const struct qz_run_row *row = &run->rows[i];

			m->places[r][row->identity] = i;
			if (seen[row->identity] || (!adds_up(m, row) && !is_class(m, row)))
				continue;
			seen[row->identity] = true;
			err = is_class(m, row)
				      ? append_row(&s->classes, &s->nclasses, row->identity)
				      : append_row(&s->rows, &s->nrows, row->identity);
			if (err)
				return err;
		}
	}
	return 0;
}

static void measure_row(struct maker *m, struct qz_scale_row *row, uint32_t point)
{
	uint32_t n = 0, processors = m->s->points[point].processors;
	double *beside = m->values + m->nruns;

	for (uint32_t r = 0; r < m->nruns; r++) {
		const struct qz_run *run = m->runs[r]->run;
		uint32_t place = m->places[r][row->identity];
		const struct qz_run_row *of = place == QZ_NONE ? NULL : &run->rows[place];

		if (m->runs[r]->processors != processors)
			continue;
		m->values[n] = of ? of->cpu_ns - of->spin_ns : 0;
		m->cis[n] = of ? of->cpu_ci_ns : run->absent_ci_ns;
		beside[n++] = of ? of->beside_ns : 0;
		row->samples += of ? of->samples : 0;
	}
	row->work[point] = qz_scale__median(m->values, m->cis, n, m->sorted);
	row->beside[point] = qz_scale__median(beside, NULL, n, m->sorted);
	row->inflation[point] = difference(&row->work[0], &row->work[point]);
}

/* By name, so that the order of runs makes no difference. QZ_NONE has no name. */
static int compare_identities(const struct maker *m, uint32_t a, uint32_t b)
{
	struct qz_identity x, y;
	int order;

	if (a == b || a == QZ_NONE || b == QZ_NONE)
		return qz_order(a, b);
	x = qz_identities__get(m->ids, a);
	y = qz_identities__get(m->ids, b);
	order = strcmp(x.name, y.name);
	order = order ? order : strcmp(x.module, y.module);
	return order ? order : (int)x.kind - (int)y.kind;
}

static int compare_rows(const void *x, const void *y, void *maker)
{
	const struct qz_scale_row *a = x, *b = y;
	const struct maker *m = maker;
	uint32_t i = m->s->n - 1;
	double na = fabs(a->inflation[i].value), nb = fabs(b->inflation[i].value);

	if (na != nb)
		return na < nb ? 1 : -1;
	return compare_identities(m, a->identity, b->identity);
}

/* Where most runs had no sample of it, on any number of processors. */
static bool is_nothing(const struct maker *m, const struct qz_scale_row *row)
{
	for (uint32_t k = 0; k < m->s->n; k++)
		if (row->work[k].value > 0 || row->beside[k].value > 0)
			return false;
	return true;
}

static void drop_nothing(const struct maker *m, struct qz_scale_row *rows, uint32_t *n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < *n; i++)
		if (is_nothing(m, &rows[i]))
			free(rows[i].work);
		else
			rows[kept++] = rows[i];
	*n = kept;
}

static int build_rows(struct maker *m, struct qz_scale_row *rows, uint32_t *n)
{
	const struct qz_scale *s = m->s;

	for (uint32_t i = 0; i < *n; i++) {
		struct qz_scale_row *row = &rows[i];

		row->work = calloc(3 * (size_t)s->n, sizeof(*row->work));
		if (!row->work)
			return -ENOMEM;
		row->inflation = row->work + s->n;
		row->beside = row->inflation + s->n;
		for (uint32_t k = 0; k < s->n; k++)
			measure_row(m, row, k);
	}
	drop_nothing(m, rows, n);
	if (*n)
		qsort_r(rows, *n, sizeof(*rows), compare_rows, m);
	return 0;
}

/* ---- classes ---- */

#define GROWS 0.1 /* of the processor time: worth a line */

double qz_scale__class_time(const struct qz_scale *s, uint32_t point)
{
	double sum = 0;

	for (uint32_t i = 0; i < s->nclasses; i++)
		sum += s->classes[i].work[point].value;
	return sum;
}

const struct qz_scale_row *qz_scale__growing(const struct qz_scale *s)
{
	const struct qz_scale_row *most = NULL;
	uint32_t last = s->n - 1;

	for (uint32_t i = 0; i < s->nclasses; i++) {
		const struct qz_scale_value *by = &s->classes[i].inflation[last];

		if (by->value > GROWS * qz_scale__class_time(s, last) &&
		    (by->ci < 0 || qz_scale_value__is_certain(by)) &&
		    (!most || by->value > most->inflation[last].value))
			most = &s->classes[i];
	}
	return most;
}

/* ---- causes of idle time ---- */

static double idle_of(const struct qz_scale_run *run, const struct qz_scale_cause *cause)
{
	for (uint32_t i = 0; i < run->causes.n; i++) {
		const struct qz_idle_cause *c = &run->causes.causes[i];

		if (c->kind == cause->kind && c->identity == cause->identity)
			return c->ns;
	}
	return 0;
}

static struct qz_scale_value median_of_cause(struct maker *m, uint32_t processors,
					     const struct qz_scale_cause *cause)
{
	uint32_t n = 0;

	for (uint32_t r = 0; r < m->nruns; r++)
		if (m->runs[r]->processors == processors)
			m->values[n++] = idle_of(m->runs[r], cause);
	return qz_scale__median(m->values, NULL, n, m->sorted);
}

static bool has_cause(const struct qz_scale *s, const struct qz_idle_cause *c)
{
	for (uint32_t i = 0; i < s->ncauses; i++)
		if (s->causes[i].kind == c->kind && s->causes[i].identity == c->identity)
			return true;
	return false;
}

static int add_cause(struct maker *m, const struct qz_idle_cause *c)
{
	struct qz_scale *s = m->s;
	struct qz_scale_cause cause = {.kind = c->kind, .identity = c->identity};

	if (has_cause(s, c))
		return 0;
	if (qz_array__reserve((void **)&s->causes, s->ncauses, sizeof(*s->causes)))
		return -ENOMEM;
	cause.idle = calloc(s->n, sizeof(*cause.idle));
	if (!cause.idle)
		return -ENOMEM;
	for (uint32_t k = 0; k < s->n; k++)
		cause.idle[k] = median_of_cause(m, s->points[k].processors, &cause);
	s->causes[s->ncauses++] = cause;
	return 0;
}

static int compare_causes(const void *x, const void *y, void *maker)
{
	const struct qz_scale_cause *a = x, *b = y;
	const struct maker *m = maker;
	uint32_t i = m->s->n - 1;

	if (a->idle[i].value != b->idle[i].value)
		return a->idle[i].value < b->idle[i].value ? 1 : -1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return compare_identities(m, a->identity, b->identity);
}

static int build_causes(struct maker *m)
{
	struct qz_scale *s = m->s;

	for (uint32_t r = 0; r < m->nruns; r++)
		for (uint32_t i = 0; i < m->runs[r]->causes.n; i++)
			if (add_cause(m, &m->runs[r]->causes.causes[i]))
				return -ENOMEM;
	if (s->ncauses)
		qsort_r(s->causes, s->ncauses, sizeof(*s->causes), compare_causes, m);
	return 0;
}

/* ---- all of it ---- */

static int make_room(struct maker *m, uint32_t nbaseline)
{
	uint32_t n = m->nruns > nbaseline ? m->nruns : nbaseline;
	size_t nids = m->ids->keys.n;

	m->values = calloc(4 * (size_t)n + 1, sizeof(*m->values));
	m->places = calloc((size_t)m->nruns + 1, sizeof(*m->places));
	if (!m->values || !m->places)
		return -ENOMEM;
	m->cis = m->values + 2 * (size_t)n;
	m->sorted = m->cis + n;
	for (uint32_t r = 0; r < m->nruns; r++) {
		m->places[r] = malloc((nids + 1) * sizeof(**m->places));
		if (!m->places[r])
			return -ENOMEM;
		for (size_t i = 0; i < nids; i++)
			m->places[r][i] = QZ_NONE;
	}
	return 0;
}

static int make(struct maker *m, struct qz_scale_run *const *baseline, uint32_t nbaseline)
{
	bool *seen = calloc((size_t)m->ids->keys.n + 1, sizeof(*seen));
	int err = seen ? make_room(m, nbaseline) : -ENOMEM;

	err = err ? err : find_points(m);
	for (uint32_t i = 0; !err && i < m->s->n; i++)
		measure_point(m, &m->s->points[i]);
	if (!err) {
		find_baseline(m, baseline, nbaseline);
		find_speedups(m->s);
		err = find_rows(m, seen);
	}
	free(seen);
	err = err ? err : build_rows(m, m->s->rows, &m->s->nrows);
	err = err ? err : build_rows(m, m->s->classes, &m->s->nclasses);
	return err ? err : build_causes(m);
}

struct qz_scale *qz_scale__new(const struct qz_identities *ids, struct qz_scale_run *const *runs,
			       uint32_t nruns, struct qz_scale_run *const *baseline,
			       uint32_t nbaseline)
{
	struct maker m = {.ids = ids, .runs = runs, .nruns = nruns};
	int err = -ENOMEM;

	m.s = calloc(1, sizeof(*m.s));
	if (m.s)
		err = make(&m, baseline, nbaseline);
	for (uint32_t r = 0; m.places && r < nruns; r++)
		free(m.places[r]);
	free(m.places);
	free(m.values);
	if (!err)
		return m.s;
	qz_scale__free(m.s);
	errno = -err;
	return NULL;
}

void qz_scale__free(struct qz_scale *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->nrows; i++)
		free(s->rows[i].work);
	for (uint32_t i = 0; i < s->nclasses; i++)
		free(s->classes[i].work);
	for (uint32_t i = 0; i < s->ncauses; i++)
		free(s->causes[i].idle);
	free(s->rows);
	free(s->classes);
	free(s->causes);
	free(s->points);
	free(s);
}
