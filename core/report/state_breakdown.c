/* SPDX-License-Identifier: GPL-2.0-only */
/* The states of one procedure or object, and the nominal parallelism in them. */
#include <errno.h>
#include <stdlib.h>

#include "core/report/figure.h"
#include "core/report/state_breakdown.h"
#include "core/report/wait_report.h"

/* What the states are asked of; one of the two is QZ_NONE. */
struct subject {
	uint32_t procedure, object;
};

static bool concerns(const struct qz_report *r, const struct subject *s, uint32_t node,
		     uint32_t object)
{
	if (s->object != QZ_NONE)
		return object == s->object;
	return qz_frames__contain((struct qz_frames) {.profile = r->profile, .node = node},
				  s->procedure);
}

static void add_state(const struct qz_report *r, struct qz_state *state, uint32_t nominal,
		      uint64_t ns)
{
	state->ns += ns;
	state->nominal_ns[nominal < r->nlevels ? nominal : r->nlevels] += ns;
	state->mean += (double)nominal * (double)ns; /* a sum until all are in */
}

static int count_waits(const struct qz_report *r, const struct subject *subject,
		       struct qz_states *states)
{
	const struct qz_profile *p = r->profile;

	for (uint32_t i = 0; i < p->nwaits; i++) {
		const struct qz_wait *w = &p->waits[i];

		if (!qz_scope__covers(p, r->scope, w->scope) ||
		    !concerns(r, subject, w->node, w->object))
			continue;
		add_state(r, &states->all[QZ_STATE_BLOCKED], w->nominal, w->blocked_ns);
		add_state(r, &states->all[QZ_STATE_READY], w->nominal, w->ready_ns);
		qz_wait_figure__add_at(&states->waits, r, w);
		if (qz_causes__add(&states->causes, r, w))
			return -ENOMEM;
	}
	qz_causes__sort(&states->causes);
	return 0;
}

static int find_states(const struct qz_report *r, const struct subject *subject,
		       struct qz_states *states)
{
	const struct qz_profile *p = r->profile;
	int err;

	*states = (struct qz_states) {0};
	for (int i = 0; i < QZ_STATES; i++) {
		states->all[i].nominal_ns = calloc((size_t)r->nlevels + 1, sizeof(uint64_t));
		if (!states->all[i].nominal_ns)
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < p->nsamples; i++) {
		const struct qz_sample *s = &p->samples[i];
		enum qz_state_kind kind = s->spinning ? QZ_STATE_SPINNING : QZ_STATE_BUSY;

		if (s->scope == r->scope && concerns(r, subject, s->node, s->object))
			add_state(r, &states->all[kind], s->level, s->cpu_ns);
	}
	err = count_waits(r, subject, states);
	for (int i = 0; i < QZ_STATES; i++)
		if (states->all[i].ns)
			states->all[i].mean /= (double)states->all[i].ns;
	return err;
}

int qz_state_breakdown__of_procedure(const struct qz_report *r, uint32_t procedure,
				     struct qz_states *states)
{
	const struct subject subject = {.procedure = procedure, .object = QZ_NONE};

	*states = (struct qz_states) {0};
	if (procedure >= r->profile->nprocedures)
		return -EINVAL;
	return find_states(r, &subject, states);
}

int qz_state_breakdown__of_object(const struct qz_report *r, uint32_t object,
				  struct qz_states *states)
{
	const struct subject subject = {.procedure = QZ_NONE, .object = object};

	*states = (struct qz_states) {0};
	if (object >= r->profile->nobjects ||
	    !qz_scope__covers(r->profile, r->scope, r->profile->objects[object].scope))
		return -EINVAL;
	return find_states(r, &subject, states);
}

void qz_state_breakdown__clear(struct qz_states *states)
{
	for (int i = 0; i < QZ_STATES; i++)
		free(states->all[i].nominal_ns);
	free(states->causes.rows);
	*states = (struct qz_states) {0};
}
