/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/scale/idle_causes.h"

#include <errno.h>
#include <stdlib.h>

#include "core/model/objects.h"
#include "core/report/idle_time.h"
#include "core/util/vec.h"

int qz_idle_causes__add(struct qz_idle_causes *c, enum qz_idle_cause_kind kind, uint32_t identity,
			double ns)
{
	if (!(ns > 0))
		return 0;
	for (uint32_t i = 0; i < c->n; i++)
		if (c->causes[i].kind == kind && c->causes[i].identity == identity) {
			c->causes[i].ns += ns;
			return 0;
		}
	if (qz_array__reserve((void **)&c->causes, c->n, sizeof(*c->causes)))
		return -ENOMEM;
	c->causes[c->n++] = (struct qz_idle_cause) {kind, identity, ns};
	return 0;
}

/*
 * How likely it is that a processor had nothing to run during a wait, by the mean number of threads that could run
 * then: it comes and goes around its mean.
 */
static double likelihood(uint32_t nominal, uint32_t processors)
{
	if (nominal < processors)
		return 1;
	return nominal == processors ? 0.3 : nominal == processors + 1 ? 0.05 : 0;
}

static double weight_of(const struct qz_report *r, const struct qz_wait *w)
{
	return (double)w->blocked_ns * likelihood(w->nominal, r->profile->processors);
}

static bool counts(const struct qz_report *r, const struct qz_wait *w, enum qz_idle_rank rank)
{
	return w->blocked_ns && qz_scope__covers(r->profile, r->scope, w->scope) &&
	       qz_idle_time__rank(r, w) == rank;
}

static int64_t identity_of(struct qz_identities *ids, const struct qz_profile *p,
			   const struct qz_wait *w)
{
	int64_t identity;
	char *label;

	if (w->object == QZ_NONE)
		return qz_identities__other(ids, QZ_IDENTITY_WAITS, p->causes[w->cause]);
	label = qz_objects__label(&p->objects[w->object]);
	identity = label ? qz_identities__other(ids, QZ_IDENTITY_OBJECT, label) : -ENOMEM;
	free(label);
	return identity;
}

/* Gives in *left what these waits do not account for. */
static int charge_rank(struct qz_idle_causes *c, struct qz_identities *ids,
		       const struct qz_report *r, enum qz_idle_rank rank, double *left)
{
	static const enum qz_idle_cause_kind kinds[QZ_IDLE_RANKS] = {
		QZ_IDLE_CAUSE_WAIT, QZ_IDLE_CAUSE_JOIN, QZ_IDLE_CAUSE_NO_WORK};
	const struct qz_profile *p = r->profile;
	double weights = 0, amount;
	int err = 0;

	for (uint32_t i = 0; i < p->nwaits; i++) {
		double weight = weight_of(r, &p->waits[i]);

		if (counts(r, &p->waits[i], rank))
			weights += weight;
	}
	amount = weights < *left ? weights : *left;
	for (uint32_t i = 0; !err && weights > 0 && i < p->nwaits; i++) {
		double weight = weight_of(r, &p->waits[i]);
		int64_t identity;

		if (!(weight > 0) || !counts(r, &p->waits[i], rank))
			continue;
		identity = identity_of(ids, p, &p->waits[i]);
		err = identity < 0 ? (int)identity
				   : qz_idle_causes__add(c, kinds[rank], (uint32_t)identity,
							 amount * weight / weights);
	}
	*left -= amount;
	return err;
}

int qz_idle_causes__charge(struct qz_idle_causes *c, struct qz_identities *ids,
			   const struct qz_report *r, double lacking_ns)
{
	int err = 0;

	for (int rank = 0; !err && lacking_ns > 0 && rank < QZ_IDLE_RANKS; rank++)
		err = charge_rank(c, ids, r, (enum qz_idle_rank)rank, &lacking_ns);
	return err ? err : qz_idle_causes__add(c, QZ_IDLE_CAUSE_NO_THREAD, QZ_NONE, lacking_ns);
}

void qz_idle_causes__free(struct qz_idle_causes *c)
{
	free(c->causes);
	*c = (struct qz_idle_causes) {0};
}
