/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/advise/advise.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * From the most specific rule to the most general one: of two findings about the same loss, the earlier one
 * says more.
 */
static qz_rule *const rules[] = {
	qz_rule__collection,	 qz_rule__herd,
	qz_rule__steps,		 qz_rule__shared_line,
	qz_rule__delayed_ack,	 qz_rule__in_vain,
	qz_rule__parked,	 qz_rule__few_threads,
	qz_rule__polling,	 qz_rule__round_trips,
	qz_rule__allocator,	 qz_rule__interpreter,
	qz_rule__stdio,		 qz_rule__blocking_holder,
	qz_rule__oversubscribed, qz_rule__fine,
	qz_rule__handing,	 qz_rule__spinning,
	qz_rule__contention,	 qz_rule__event_loop,
	qz_rule__pipeline,	 qz_rule__processes,
	qz_rule__last_job,	 qz_rule__imbalance,
	qz_rule__overlap,	 qz_rule__serial,
	qz_rule__limited,	 qz_rule__taken,
};

/* ---- findings about the same loss ---- */

static uint64_t middle(const struct qz_finding *f)
{
	return f->gain_low_ns / 2 + f->gain_high_ns / 2;
}

static bool share_a_loss(unsigned int a, unsigned int b)
{
	if (((a & QZ_LOST_HELD) && (b & QZ_LOST_UNHELD)) ||
	    ((b & QZ_LOST_HELD) && (a & QZ_LOST_UNHELD)))
		return false;
	return !(a & b & QZ_LOST_DIVIDED) && !((a | b) & QZ_LOST_THROTTLED) && (a & b);
}

/*
 * What earlier findings gain is not there to be gained again. A later one that has less than half of its
 * middle left is about the same loss, and goes.
 */
static bool is_left(const struct qz_advice *a, uint32_t kept, struct qz_finding *f)
{
	uint64_t taken = 0, whole = middle(f);

	for (uint32_t i = 0; i < kept; i++)
		if (share_a_loss(a->findings[i].lost, f->lost))
			taken += middle(&a->findings[i]);
	if (!taken)
		return true;
	f->gain_low_ns -= taken < f->gain_low_ns ? taken : f->gain_low_ns;
	f->gain_high_ns -= taken < f->gain_high_ns ? taken : f->gain_high_ns;
	return middle(f) >= whole / 2 && qz_finding__gains(a->report, f);
}

static void merge(struct qz_advice *a)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < a->n; i++) {
		struct qz_finding f = a->findings[i];

		if (is_left(a, kept, &f))
			a->findings[kept++] = f;
		else
			qz_finding__clear(&f);
	}
	a->n = kept;
}

static int compare(const void *x, const void *y)
{
	const struct qz_finding *f = x, *g = y;
	uint64_t a = middle(f), b = middle(g);
	int order = (a < b) - (a > b);

	if (!order)
		order = strcmp(f->rule, g->rule);
	return order ? order : strcmp(f->subject.name, g->subject.name);
}

/* What limits one process of a machine is in that one's report: the machine gains no time by it. */
static bool has_many_programs(const struct qz_report *r)
{
	enum qz_scope_kind kind = r->profile->scopes[r->scope].kind;

	return kind == QZ_SCOPE_MACHINE || kind == QZ_SCOPE_KERNEL;
}

struct qz_advice *qz_advise__new(const struct qz_report *r)
{
	struct qz_advice *a = calloc(1, sizeof(*a));
	bool skip = has_many_programs(r);
	int err = a ? 0 : -ENOMEM;

	if (a)
		a->report = r;
	for (size_t i = 0; !err && !skip && i < sizeof(rules) / sizeof(rules[0]); i++)
		err = rules[i](r, a);
	if (err) {
		qz_advise__free(a);
		errno = ENOMEM;
		return NULL;
	}
	merge(a);
	if (a->n)
		qsort(a->findings, a->n, sizeof(*a->findings), compare);
	return a;
}

void qz_advise__free(struct qz_advice *a)
{
	if (!a)
		return;
	for (uint32_t i = 0; i < a->n; i++)
		qz_finding__clear(&a->findings[i]);
	free(a->findings);
	free(a);
}
