/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/advise/zeroing.h"

#include <math.h>
#include <string.h>

#include "core/advise/bounds.h"

#define MOST_PROCEDURES 64   /* of one name */
#define LATEST		4    /* so many times what was known of a candidate's time, at most */
#define DEVIATIONS	1.96 /* of the 95 % interval */
#define NEAR		0.03

/* What the report knows of a candidate: its processor time, the samples that this is from, and what ran alone of it. */
struct known {
	double work_ns, samples, alone_ns;
};

static struct known look(const struct qz_report *r, const struct qz_what_if *w)
{
	uint32_t found[MOST_PROCEDURES], n;
	struct known known = {0};

	if (w->kind != QZ_WHAT_IF_PROCEDURE)
		return known;
	n = qz_lookup__procedures(r, w->name, found, MOST_PROCEDURES);
	for (uint32_t k = 0; k < n && k < MOST_PROCEDURES; k++) {
		for (uint32_t i = 0; i < r->nrows; i++) {
			const struct qz_figure *f = &r->rows[i].total;

			if (r->rows[i].procedure != found[k])
				continue;
			known.work_ns += (double)(f->cpu_ns - f->spin_ns);
			known.alone_ns += (double)qz_part__of_procedure(r, &r->rows[i]).alone_ns;
			known.samples += (double)(f->samples - f->spin_samples);
		}
	}
	return known;
}

bool qz_zeroing__is_known(const struct qz_report *r, const struct qz_what_if *w)
{
	return w->scope == r->scope && w->run_ns[0] &&
	       (w->kind == QZ_WHAT_IF_OBJECT || (w->kind == QZ_WHAT_IF_PROCEDURE && w->work_ns));
}

const struct qz_what_if *qz_zeroing__of_name(const struct qz_report *r, const char *name)
{
	const struct qz_profile *p = r->profile;

	for (uint32_t i = 0; i < p->nwhat_ifs; i++)
		if (!strcmp(p->what_ifs[i].name, name) && qz_zeroing__is_known(r, &p->what_ifs[i]))
			return &p->what_ifs[i];
	return NULL;
}

/*
 * Before its code was known, nothing was taken off. What the candidate did until then is taken to have been on the
 * longest path as often as later.
 */
static double lateness(const struct qz_what_if *w, const struct known *known)
{
	double factor = w->work_ns ? known->work_ns / (double)w->work_ns : 1;

	return factor < 1 ? 1 : factor > LATEST ? LATEST : factor;
}

static uint64_t within(double ns, uint64_t most)
{
	if (!(ns > 0))
		return 0;
	return ns < (double)most ? (uint64_t)ns : most;
}

/* By how much; 0 where it is not known. */
static double below(uint64_t more, uint64_t less)
{
	return less && more > less ? (double)(more - less) : 0;
}

/* What takes nearly as long is what it comes from: both are estimates. */
static bool is_limit(double ns, double run)
{
	return ns > run * (1 - NEAR);
}

struct qz_zeroing qz_zeroing__find(const struct qz_report *r, const struct qz_what_if *w,
				   uint32_t speed)
{
	double elapsed = (double)r->elapsed_ns, busy = r->parallelism * (double)r->busy_ns,
	       half = 0;
	struct known known = look(r, w);
	double work = known.work_ns > 0 ? known.work_ns : (double)w->work_ns;
	double gone = work / (double)(1u << speed);
	uint32_t processors = r->profile->processors ? r->profile->processors : 1;
	double run = elapsed - (elapsed - (double)w->run_ns[speed]) * lateness(w, &known);
	double least = (busy - gone) / processors;
	double most = elapsed - known.alone_ns / (double)(1u << speed);
	struct qz_zeroing z = {.limit = QZ_ZEROING_PATH};

	if (run > most) /* that is sure, whatever delayed it */
		run = most;
	if (is_limit((double)w->most_ns[speed], run))
		z.limit = QZ_ZEROING_THREAD;
	if ((double)w->most_ns[speed] > run)
		run = (double)w->most_ns[speed];
	if (least > run || (is_limit(least, run) && processors < r->nthreads))
		z.limit = QZ_ZEROING_PROCESSORS;
	if (least > run)
		run = least;
	z.gain_ns = within(elapsed - run, r->elapsed_ns);
	if (known.samples > 0 && busy > 0) {
		double rest = known.work_ns < busy ? 1 - known.work_ns / busy : 0;

		half = (double)z.gain_ns * DEVIATIONS *
		       sqrt((rest + 1 / known.samples) / known.samples);
	}
	z.low_ns = within((double)z.gain_ns - half - below(w->high_ns[speed], w->run_ns[speed]),
			  r->elapsed_ns);
	z.high_ns = within((double)z.gain_ns + half + below(w->run_ns[speed], w->low_ns[speed]),
			   r->elapsed_ns);
	return z;
}
