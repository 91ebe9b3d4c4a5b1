/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/transform/timeline_cut.h"

#include <errno.h>
#include <stdlib.h>

#include "core/model/figures.h"
#include "core/model/timeline.h"
#include "core/util/vec.h"

struct qz_timeline_cut {
	uint64_t taken_ns;
	struct qz_kept columns[QZ_FIGURE_IDS];
	struct qz_added *added; /* since then */
	uint32_t nadded;
};

struct qz_timeline_cut *qz_timeline_cut__new(struct qz_profile *p)
{
	struct qz_timeline_cut *c = calloc(1, sizeof(*c));

	p->timeline = c ? qz_timeline__new(0, QZ_TIMELINE_WIDTH) : NULL;
	if (p->timeline)
		return c;
	free(c);
	errno = ENOMEM;
	return NULL;
}

void qz_timeline_cut__free(struct qz_timeline_cut *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < QZ_FIGURE_IDS; i++)
		free(c->columns[i].values);
	free(c->added);
	free(c);
}

static int append(struct qz_timeline_cut *c, uint32_t id, uint32_t entity, uint64_t value)
{
	if (qz_array__reserve((void **)&c->added, c->nadded, sizeof(*c->added)))
		return -ENOMEM;
	c->added[c->nadded++] = (struct qz_added) {id, entity, value};
	return 0;
}

static int take_column(struct qz_timeline_cut *c, struct qz_timeline *t,
		       const struct qz_column *column)
{
	struct qz_kept *kept = &c->columns[column->id];
	int err = qz_kept__grow(kept, column->n);

	for (uint32_t i = 0; !err && i < column->n; i++) {
		const uint64_t *figure = qz_column__at(column, i);
		uint64_t now = figure ? *figure : 0;

		if (now > kept->values[i])
			err = append(c, column->id, i, now - kept->values[i]);
		else if (now < kept->values[i])
			qz_timeline__take(t, column->id, i, kept->values[i] - now);
		kept->values[i] = now;
	}
	return err;
}

/* Only where there are any, since it goes through all groups. */
static void drop_unattributed(struct qz_profile *p)
{
	bool any = false;

	for (uint32_t i = 0; !any && i < p->nsamples; i++)
		any = qz_sample__is_unattributed(p, &p->samples[i]);
	if (any)
		qz_profile__drop_unattributed(p);
}

/* A run begins when its first scope does; false: none has begun. */
static bool begin(struct qz_timeline_cut *c, const struct qz_profile *p)
{
	uint64_t first = UINT64_MAX;

	for (uint32_t i = 0; i < p->nscopes; i++)
		if (p->scopes[i].elapsed_ns && p->scopes[i].start_ns < first)
			first = p->scopes[i].start_ns;
	if (first == UINT64_MAX)
		return false;
	p->timeline->start_ns = c->taken_ns = first;
	return true;
}

int qz_timeline_cut__take(struct qz_timeline_cut *c, struct qz_profile *p, uint64_t until_ns)
{
	struct qz_column column;
	int err = 0;

	if (!p->timeline || (!p->timeline->n && !begin(c, p)))
		return 0;
	drop_unattributed(p);
	c->nadded = 0;
	for (uint32_t id = 0; !err && id < QZ_FIGURE_IDS; id = qz_figures__next(p, id))
		if (qz_figures__column(p, id, &column))
			err = take_column(c, p->timeline, &column);
	err = err ? err : qz_timeline__add(p->timeline, c->taken_ns, until_ns, c->added, c->nadded);
	free(c->added);
	c->added = NULL;
	c->taken_ns = until_ns;
	if (err)
		qz_timeline_cut__end(c, p);
	return err;
}

void qz_timeline_cut__end(struct qz_timeline_cut *c, struct qz_profile *p)
{
	(void)c;
	qz_timeline__free(p->timeline);
	p->timeline = NULL;
}
