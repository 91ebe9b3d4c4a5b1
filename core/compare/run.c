/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/compare/run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/advise/verdict.h"
#include "core/compare/owner.h"
#include "core/costs/cost_table.h"
#include "core/estimate/estimate.h"
#include "core/model/objects.h"
#include "core/report/figure.h"
#include "core/report/folding.h"
#include "core/threads/thread_groups.h"
#include "core/util/vec.h"

/* A row in the making. */
struct tally {
	uint32_t identity;
	uint32_t stamp; /* the sample or wait that counted it last */
	bool kept;
	struct qz_figure self, total;
	double blocked_ns;
};

struct maker {
	const struct qz_report *r;
	struct qz_identities *ids;
	const char *program;
	struct qz_folding folding;
	uint32_t *of_procedure; /* its tally, QZ_NONE: none yet */
	uint32_t nknown;	/* of `places` */
	uint32_t *places;	/* tally by identity, QZ_NONE: none */
	uint32_t n;
	struct tally *tallies;
};

/* ---- rows ---- */

static int grow_places(struct maker *m)
{
	uint32_t n = m->ids->keys.n, *places;

	if (n <= m->nknown)
		return 0;
	places = realloc(m->places, 2 * (size_t)n * sizeof(*places));
	if (!places)
		return -ENOMEM;
	m->places = places;
	for (n *= 2; m->nknown < n; m->nknown++)
		places[m->nknown] = QZ_NONE;
	return 0;
}

/* The index of the tally of an identity, or -errno, which an identity may be, too. */
static int64_t tally_of(struct maker *m, int64_t identity)
{
	struct tally t = {.identity = (uint32_t)identity, .stamp = QZ_NONE};
	int64_t err = identity < 0 ? identity : grow_places(m);

	if (err)
		return err;
	if (m->places[identity] != QZ_NONE)
		return m->places[identity];
	err = qz_array__reserve((void **)&m->tallies, m->n, sizeof(t));
	if (err)
		return err;
	if (qz_figure__init(&t.self, m->r) || qz_figure__init(&t.total, m->r)) {
		qz_figure__clear(&t.self);
		return -ENOMEM;
	}
	m->tallies[m->n] = t;
	m->places[identity] = m->n;
	return m->n++;
}

static int64_t procedure_tally(struct maker *m, uint32_t procedure)
{
	int64_t t;

	if (m->of_procedure[procedure] != QZ_NONE)
		return m->of_procedure[procedure];
	t = tally_of(m, qz_identities__procedure(m->ids, m->r->profile, m->program, procedure));
	if (t >= 0)
		m->of_procedure[procedure] = (uint32_t)t;
	return t;
}

static int64_t kept_tally(struct maker *m, enum qz_identity_kind kind, const char *name)
{
	int64_t t = tally_of(m, qz_identities__other(m->ids, kind, name));

	if (t >= 0)
		m->tallies[t].kept = true;
	return t;
}

/* ---- samples ---- */

static int64_t owner_tally(struct maker *m, const struct qz_owner *owner)
{
	int64_t t;

	if (owner->procedure != QZ_NONE)
		return procedure_tally(m, owner->procedure);
	t = tally_of(m, owner->identity);
	if (t >= 0)
		m->tallies[t].kept = true;
	return t;
}

static void add_total(struct maker *m, int64_t tally, uint32_t stamp, const struct qz_sample *s)
{
	struct tally *t = &m->tallies[tally];

	if (t->stamp == stamp)
		return;
	t->stamp = stamp;
	qz_figure__add(&t->total, m->r, s);
}

static int count_sample(struct maker *m, uint32_t index)
{
	const struct qz_profile *p = m->r->profile;
	const struct qz_sample *s = &p->samples[index];
	struct qz_frames frames = {.profile = p, .node = s->node};
	struct qz_owner owner = qz_owner__find(m->ids, m->r, s->node);
	int64_t t = owner_tally(m, &owner);
	uint32_t procedure;

	if (t < 0)
		return (int)t;
	qz_figure__add(&m->tallies[t].self, m->r, s);
	add_total(m, t, index, s);
	while ((procedure = qz_frames__next(&frames)) != QZ_NONE) {
		const struct qz_procedure *proc = &p->procedures[procedure];

		if (proc->kind != QZ_PROCEDURE ||
		    (owner.in_kernel && qz_procedure__is_kernel(proc)))
			continue;
		t = procedure_tally(m, procedure);
		if (t < 0)
			return (int)t;
		add_total(m, t, index, s);
	}
	return 0;
}

static int count_samples(struct maker *m)
{
	const struct qz_profile *p = m->r->profile;
	int err = 0;

	for (uint32_t i = 0; !err && i < p->nsamples; i++) {
		uint32_t index = qz_report__sample(m->r, i);

		if (p->samples[index].scope == m->r->scope)
			err = count_sample(m, index);
	}
	return err;
}

/* ---- what the report has already ---- */

static int take_procedures(struct maker *m)
{
	const struct qz_report *r = m->r;

	for (uint32_t i = 0; i < r->nrows; i++) {
		const struct qz_row *row = &r->rows[i];
		int64_t t;

		if (m->folding.kernel.inside[row->procedure])
			continue;
		t = procedure_tally(m, row->procedure);
		if (t < 0)
			return (int)t;
		m->tallies[t].kept |= !m->folding.folded[i];
		m->tallies[t].blocked_ns += (double)qz_wait_figure__blocked(&row->total_waits);
	}
	for (uint32_t i = 0; i < m->folding.kernel.n; i++) {
		const struct qz_kernel_row *row = &m->folding.kernel.rows[i];
		int64_t t = kept_tally(m, QZ_IDENTITY_KERNEL, row->label);

		if (t < 0)
			return (int)t;
		m->tallies[t].blocked_ns += (double)qz_wait_figure__blocked(&row->waits);
	}
	return 0;
}

/* ---- run ---- */

/* Of P processors, P - n are not busy while n are; each of these n has its part in that. */
static double beside_of(const struct qz_figure *f, const struct qz_report *r)
{
	uint32_t processors = r->profile->processors;
	double ns = 0;

	for (uint32_t n = 1; n < r->nlevels && n < processors; n++)
		ns += (double)(processors - n) * (double)f->level_norm_ns[n];
	return ns;
}

/* Of processor time: what it is of normalized time, at the parallelism of the figure. */
static double cpu_ci_of(const struct qz_figure *f)
{
	double parallelism = qz_figure__parallelism(f);

	return (double)f->ci_ns * (parallelism > 1 ? parallelism : 1);
}

static struct qz_run_row row_of(const struct tally *t, const struct qz_report *r)
{
	return (struct qz_run_row) {
		.identity = t->identity,
		.kept = t->kept,
		.samples = t->total.samples,
		.self_ns = (double)t->self.norm_ns,
		.self_ci_ns = (double)t->self.ci_ns,
		.total_ns = (double)t->total.norm_ns,
		.total_ci_ns = (double)t->total.ci_ns,
		.cpu_ns = (double)t->self.cpu_ns,
		.cpu_ci_ns = cpu_ci_of(&t->self),
		.spin_ns = (double)t->self.spin_ns,
		.beside_ns = beside_of(&t->self, r),
		.blocked_ns = t->blocked_ns,
	};
}

/* With room for what is added below. */
static int take_rows(struct qz_run *run, struct maker *m)
{
	size_t room = (size_t)m->n + m->r->nobjects + m->r->nthreads + m->r->causes.n + QZ_COSTS;

	run->rows = calloc(room + 1, sizeof(*run->rows));
	if (!run->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->n; i++) {
		qz_figure__finish(&m->tallies[i].self, m->r);
		qz_figure__finish(&m->tallies[i].total, m->r);
		run->rows[i] = row_of(&m->tallies[i], m->r);
	}
	run->n = m->n;
	return 0;
}

/* Rows of one identity are put together where a name stands for several: as if they were independent. */
static int add_row(struct qz_run *run, struct maker *m, enum qz_identity_kind kind,
		   const char *name, const struct qz_figure *f, double blocked_ns)
{
	int64_t identity = qz_identities__other(m->ids, kind, name);
	struct qz_run_row *row;

	if (identity < 0)
		return (int)identity;
	if (grow_places(m))
		return -ENOMEM;
	if (m->places[identity] == QZ_NONE) {
		m->places[identity] = run->n;
		run->rows[run->n++] =
			(struct qz_run_row) {.identity = (uint32_t)identity, .kept = true};
	}
	row = &run->rows[m->places[identity]];
	row->samples += f->samples;
	row->total_ns += (double)f->norm_ns;
	row->total_ci_ns = hypot(row->total_ci_ns, (double)f->ci_ns);
	row->cpu_ns += (double)f->cpu_ns;
	row->cpu_ci_ns = hypot(row->cpu_ci_ns, cpu_ci_of(f));
	row->blocked_ns += blocked_ns;
	row->self_ns = row->total_ns;
	row->self_ci_ns = row->total_ci_ns;
	return 0;
}

static int add_objects(struct qz_run *run, struct maker *m)
{
	const struct qz_report *r = m->r;
	int err = 0;

	for (uint32_t i = 0; !err && i < r->nobjects; i++) {
		const struct qz_object *o = &r->profile->objects[r->objects[i].object];
		char *label = qz_objects__label(o);

		err = label ? add_row(run, m, QZ_IDENTITY_OBJECT, label, &r->objects[i].figure,
				      (double)o->wait_ns)
			    : -ENOMEM;
		free(label);
	}
	return err;
}

static int add_threads(struct qz_run *run, struct maker *m)
{
	const struct qz_profile *p = m->r->profile;
	struct qz_thread_groups groups;
	int err = qz_thread_groups__find(m->r, &groups);

	for (uint32_t i = 0; !err && i < groups.n; i++) {
		const struct qz_thread_group *g = &groups.groups[i];
		const char *name = g->start != QZ_NONE ? p->procedures[g->start].name
				   : g->first	       ? "first thread"
						       : "unknown start";
		char *label;

		if (asprintf(&label, "threads of %s", name) < 0) {
			err = -ENOMEM;
			break;
		}
		err = add_row(run, m, QZ_IDENTITY_THREADS, g->start == QZ_NONE ? name : label,
			      &g->figure, g->idle ? 0 : (double)g->blocked_ns);
		free(label);
	}
	qz_thread_groups__free(&groups);
	return err;
}

static int add_waits(struct qz_run *run, struct maker *m)
{
	const struct qz_causes *causes = &m->r->causes;
	static const struct qz_figure none;
	int err = 0;

	for (uint32_t i = 0; !err && i < causes->n; i++)
		err = add_row(run, m, QZ_IDENTITY_WAITS,
			      m->r->profile->causes[causes->rows[i].cause], &none,
			      (double)qz_wait_figure__blocked(&causes->rows[i].waits));
	return err;
}

/* The interval is that of a share of all processor time, because what is spun is in no normalized time. */
static int add_class(struct qz_run *run, struct maker *m, const struct qz_cost_table *t,
		     enum qz_cost cost)
{
	const struct qz_figure *f = &t->classes[cost].figure;
	uint64_t cpu_ns = qz_cost_table__cpu(t) + t->classes[QZ_COST_WORK].figure.cpu_ns;
	int err = add_row(run, m, QZ_IDENTITY_CLASS, qz_cost__name(cost), f, 0);

	if (!err)
		run->rows[run->n - 1].cpu_ci_ns =
			(double)qz_share_half_width(cpu_ns, f->samples, run->samples);
	return err;
}

static int add_classes(struct qz_run *run, struct maker *m)
{
	struct qz_cost_table t;
	int err = qz_cost_table__find(&t, m->r);

	for (int cost = 0; !err && cost < QZ_COSTS; cost++)
		if (t.classes[cost].n)
			err = add_class(run, m, &t, (enum qz_cost)cost);
	qz_cost_table__free(&t);
	return err;
}

static int describe(struct qz_run *run, const struct qz_report *r)
{
	const struct qz_scope *scope = &r->profile->scopes[r->scope];
	struct qz_advice *advice = qz_advise__new(r);

	run->comm = strdup(scope->comm);
	run->command = strdup(scope->command);
	run->verdict = advice ? qz_verdict__text(advice) : NULL;
	qz_advise__free(advice);
	run->processors = r->profile->processors;
	run->rate_hz = r->profile->rate_hz;
	run->least_rate_hz = qz_profile__least_rate(r->profile);
	run->ended = scope->ended;
	run->samples = scope->samples;
	run->elapsed_ns = (double)r->elapsed_ns;
	run->cpu_ns = (double)scope->cpu_ns;
	run->idle_ns = (double)r->idle_ns;
	run->serial_ns = (double)r->serial_ns;
	run->busy_ns = (double)r->busy_ns;
	run->parallelism = r->parallelism;
	run->absent_ci_ns = (double)qz_share_half_width(r->busy_ns, 0, scope->samples);
	return run->comm && run->command && run->verdict ? 0 : -ENOMEM;
}

static int make(struct qz_run *run, struct maker *m)
{
	int err = describe(run, m->r);

	m->program = qz_identities__program(m->r->profile);
	m->of_procedure = malloc(((size_t)m->r->profile->nprocedures + 1) * sizeof(uint32_t));
	if (err || !m->program || !m->of_procedure)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->r->profile->nprocedures; i++)
		m->of_procedure[i] = QZ_NONE;
	err = qz_folding__find(m->r, &m->folding);
	err = err ? err : count_samples(m);
	err = err ? err : take_procedures(m);
	err = err ? err : take_rows(run, m);
	err = err ? err : add_objects(run, m);
	err = err ? err : add_threads(run, m);
	err = err ? err : add_classes(run, m);
	return err ? err : add_waits(run, m);
}

struct qz_run *qz_run__new(struct qz_identities *ids, const struct qz_report *r)
{
	struct maker m = {.r = r, .ids = ids};
	struct qz_run *run = calloc(1, sizeof(*run));
	int err = run ? make(run, &m) : -ENOMEM;

	for (uint32_t i = 0; i < m.n; i++) {
		qz_figure__clear(&m.tallies[i].self);
		qz_figure__clear(&m.tallies[i].total);
	}
	free(m.tallies);
	free(m.places);
	free(m.of_procedure);
	qz_folding__free(&m.folding);
	if (!err)
		return run;
	qz_run__free(run);
	errno = -err;
	return NULL;
}

void qz_run__free(struct qz_run *run)
{
	if (!run)
		return;
	free(run->comm);
	free(run->command);
	free(run->verdict);
	free(run->rows);
	free(run);
}
