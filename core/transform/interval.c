/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/transform/interval.h"

#include <errno.h>

#include "core/estimate/estimate.h"
#include "core/model/figures.h"
#include "core/model/timeline.h"
#include "core/transform/merge.h"

uint64_t qz_interval__whole_ns(const struct qz_profile *p)
{
	return p->timeline ? p->timeline->n * p->timeline->slot_ns : 0;
}

/* ---- the load ---- */

#define LOADED 20 /* at least one of so many parts of a slot */

static bool is_loaded(const struct qz_profile *p, uint32_t scope, uint32_t slot)
{
	uint64_t idle = 0, elapsed = 0;

	if (p->scopes[scope].kind == QZ_SCOPE_MACHINE || p->scopes[scope].kind == QZ_SCOPE_KERNEL)
		return false;
	for (uint32_t n = 0; n < p->scopes[scope].nlevels; n++) {
		uint64_t ns =
			qz_timeline__sum(p->timeline, slot, slot + 1, QZ_FIGURE_LEVELS + n, scope);

		elapsed += ns;
		idle += n ? 0 : ns;
	}
	return elapsed && elapsed - idle >= elapsed / LOADED;
}

bool qz_interval__find_load(const struct qz_profile *p, uint64_t *from_ns, uint64_t *until_ns)
{
	uint32_t first = QZ_NONE, last = 0;

	for (uint32_t i = 0; p->timeline && i < p->timeline->n; i++) {
		bool loaded = false;

		for (uint32_t k = 0; !loaded && k < p->nscopes; k++)
			loaded = is_loaded(p, k, i);
		if (!loaded)
			continue;
		first = first == QZ_NONE ? i : first;
		last = i + 1;
	}
	if (first == QZ_NONE)
		return false;
	*from_ns = first * p->timeline->slot_ns;
	*until_ns = last * p->timeline->slot_ns;
	return true;
}

/* ---- figures ---- */

static void clear_column(const struct qz_column *column)
{
	for (uint32_t i = 0; i < column->n; i++) {
		uint64_t *figure = qz_column__at(column, i);

		if (figure)
			*figure = 0;
	}
}

static void clear_all(struct qz_profile *p)
{
	struct qz_column column;

	for (uint32_t id = 0; id < QZ_FIGURE_IDS; id = qz_figures__next(p, id))
		if (qz_figures__column(p, id, &column))
			clear_column(&column);
}

static void add_slot(struct qz_profile *p, const struct qz_timeslot *slot)
{
	struct qz_column column = {.id = QZ_NONE};

	for (uint32_t i = 0; i < slot->n; i++) {
		const struct qz_added *a = &slot->added[i];
		uint64_t *figure;

		if (a->id != column.id && !qz_figures__column(p, a->id, &column))
			column = (struct qz_column) {.id = a->id};
		figure = a->entity < column.n ? qz_column__at(&column, a->entity) : NULL;
		if (figure)
			*figure += a->value;
	}
}

/* The run has what its part shall have. */
static void cut(struct qz_profile *run, uint32_t first, uint32_t last)
{
	/* they have no figures that could be in a slot, and others would move to their places */
	qz_profile__drop_unattributed(run);
	clear_all(run);
	for (uint32_t i = first; i < last; i++)
		add_slot(run, &run->timeline->slots[i]);
	for (uint32_t i = 0; i < run->nscopes; i++)
		qz_scope__sum_levels(&run->scopes[i]);
	qz_ledger__close(&run->ledger);
}

/* ---- entities ---- */

/* Those that lived when it began were seen earlier: at least those are there that did anything. */
static void count_threads(struct qz_profile *part)
{
	uint32_t machine = qz_profile__machine(part);

	for (uint32_t i = 0; i < part->nscopes; i++) {
		uint64_t seen = part->scopes[i].counters.threads_seen, n = 0;

		for (uint32_t k = 0; k < part->nthreads; k++)
			n += part->threads[k].scope == i || i == machine;
		part->scopes[i].counters.threads_seen = n > seen ? n : seen;
	}
}

struct qz_profile *qz_interval__profile(struct qz_profile *p, uint64_t from_ns, uint64_t until_ns)
{
	const struct qz_timeline *t = p->timeline;
	struct qz_profile *part = NULL;
	uint64_t first = 0, last = 0;
	int err = !t || !t->n ? -ENODATA : 0;

	if (!err && (from_ns >= qz_interval__whole_ns(p) || from_ns >= until_ns))
		err = -ERANGE;
	if (!err) {
		first = from_ns / t->slot_ns;
		last = (until_ns - 1) / t->slot_ns + 1;
		if (last > t->n)
			last = t->n;
		cut(p, (uint32_t)first, (uint32_t)last);
		part = qz_profile__new();
		err = part ? qz_merge__busy(part, p) : -ENOMEM;
	}
	if (!err) {
		part->wall_start_ns = p->wall_start_ns + first * t->slot_ns;
		part->interval_from_ns = first * t->slot_ns;
		part->interval_until_ns = last * t->slot_ns;
		if (first)
			count_threads(part);
		err = qz_estimate__profile(part);
	}
	if (!err)
		return part;
	qz_profile__free(part);
	errno = -err;
	return NULL;
}
