/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/scale/scale_run.h"

#include <errno.h>
#include <stdlib.h>

#include "core/advise/usage.h"
#include "core/compare/compare.h"

static double least(double a, double b)
{
	return a < b ? a : b;
}

/* Time with more busy processors than there are, by a program that has chosen others, is work of all of them. */
static void take_levels(struct qz_scale_run *s, const struct qz_report *r)
{
	s->processors = r->profile->processors ? r->profile->processors : 1;
	s->elapsed_ns = (double)r->elapsed_ns;
	for (uint32_t n = 1; n < r->nlevels; n++) {
		double ns = (double)r->effective_ns[n];

		s->work_ns += least(n, s->processors) * ns;
		s->beyond_ns += n > s->processors ? ns : 0;
	}
	s->idle_ns = (double)s->processors * s->elapsed_ns - s->work_ns;
}

static void divide_idle_time(struct qz_scale_run *s, const struct qz_report *r)
{
	struct qz_usage u;
	double left;

	qz_usage__find(r, &u);
	s->spin_ns = least((double)r->spin_ns, s->idle_ns);
	left = s->idle_ns - s->spin_ns;
	s->quartz_ns = least((double)u.own_ns, left);
	left -= s->quartz_ns;
	s->others_ns = least((double)(u.taken_ns - u.own_ns), left);
	s->late_ns = least((double)u.late_ns, left - s->others_ns);
	s->lacking_ns = left - s->others_ns - s->late_ns;
}

/* By procedure, as far as that is known. */
static int add_spinning(struct qz_scale_run *s, const struct qz_identities *ids)
{
	double left = s->spin_ns;
	int err = 0;

	for (uint32_t i = 0; !err && i < s->run->n; i++) {
		const struct qz_run_row *row = &s->run->rows[i];
		double ns = least(row->spin_ns, left);

		if (!(QZ_COMPARE_ADDING >> qz_identities__get(ids, row->identity).kind & 1))
			continue;
		err = qz_idle_causes__add(&s->causes, QZ_IDLE_CAUSE_SPIN, row->identity, ns);
		left -= ns;
	}
	return err ? err : qz_idle_causes__add(&s->causes, QZ_IDLE_CAUSE_SPIN, QZ_NONE, left);
}

static int find_causes(struct qz_scale_run *s, struct qz_identities *ids, const struct qz_report *r)
{
	int err = add_spinning(s, ids);

	if (!err)
		err = qz_idle_causes__add(&s->causes, QZ_IDLE_CAUSE_OTHERS, QZ_NONE, s->others_ns);
	if (!err)
		err = qz_idle_causes__add(&s->causes, QZ_IDLE_CAUSE_QUARTZ, QZ_NONE, s->quartz_ns);
	if (!err)
		err = qz_idle_causes__add(&s->causes, QZ_IDLE_CAUSE_LATE, QZ_NONE, s->late_ns);
	return err ? err : qz_idle_causes__charge(&s->causes, ids, r, s->lacking_ns);
}

struct qz_scale_run *qz_scale_run__new(struct qz_identities *ids, const struct qz_report *r)
{
	struct qz_scale_run *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return NULL;
	take_levels(s, r);
	divide_idle_time(s, r);
	s->run = qz_run__new(ids, r);
	err = s->run ? find_causes(s, ids, r) : -errno;
	if (!err)
		return s;
	qz_scale_run__free(s);
	errno = -err;
	return NULL;
}

void qz_scale_run__stretch(struct qz_scale_run *s, double factor)
{
	double *times[] = {&s->elapsed_ns, &s->work_ns,		 &s->idle_ns, &s->spin_ns,
			   &s->others_ns,  &s->quartz_ns,	 &s->late_ns, &s->lacking_ns,
			   &s->beyond_ns,  &s->run->absent_ci_ns};

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		*times[i] *= factor;
	for (uint32_t i = 0; i < s->causes.n; i++)
		s->causes.causes[i].ns *= factor;
	for (uint32_t i = 0; i < s->run->n; i++) {
		struct qz_run_row *row = &s->run->rows[i];

		row->cpu_ns *= factor;
		row->cpu_ci_ns *= factor;
		row->spin_ns *= factor;
		row->beside_ns *= factor;
	}
}

void qz_scale_run__free(struct qz_scale_run *s)
{
	if (!s)
		return;
	qz_idle_causes__free(&s->causes);
	qz_run__free(s->run);
	free(s);
}
