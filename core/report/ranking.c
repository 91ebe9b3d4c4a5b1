/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/report/ranking.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/model/objects.h"
#include "core/util/order.h"

/* The rows of one kind, in their own order, which is by normalized time already. */
struct queue {
	enum qz_rank_kind kind;
	uint32_t next, n;
};

static uint64_t norm_of(const struct qz_report *r, const struct queue *q)
{
	switch (q->kind) {
	case QZ_RANK_PROCEDURES:
		return r->rows[q->next].total.norm_ns;
	case QZ_RANK_OBJECTS:
		return r->objects[q->next].figure.norm_ns;
	default:
		return r->threads[q->next].figure.norm_ns;
	}
}

static struct queue *choose(const struct qz_report *r, struct queue *queues, int n)
{
	struct queue *best = NULL;

	for (int i = 0; i < n; i++) {
		struct queue *q = &queues[i];

		if (q->next < q->n && (!best || norm_of(r, q) > norm_of(r, best)))
			best = q;
	}
	return best;
}

int qz_ranking__rows(const struct qz_report *r, unsigned int kinds, struct qz_ranked **ranking,
		     uint32_t *n)
{
	struct queue queues[] = {
		{QZ_RANK_PROCEDURES, 0, kinds & QZ_RANK_PROCEDURES ? r->nrows : 0},
		{QZ_RANK_OBJECTS, 0, kinds & QZ_RANK_OBJECTS ? r->nobjects : 0},
		{QZ_RANK_THREADS, 0, kinds & QZ_RANK_THREADS ? r->nthreads : 0},
	};
	size_t all = (size_t)queues[0].n + queues[1].n + queues[2].n;
	struct queue *q;

	*n = 0;
	*ranking = calloc(all + 1, sizeof(**ranking));
	if (!*ranking)
		return -ENOMEM;
	while ((q = choose(r, queues, 3)))
		(*ranking)[(*n)++] = (struct qz_ranked) {q->kind, q->next++};
	return 0;
}

/* ---- sorting ---- */

enum qz_rank_key qz_ranking__key(const struct qz_report *r)
{
	for (uint32_t i = 0; i < r->nrows; i++) {
		const struct qz_row *row = &r->rows[i];

		if (row->total.norm_ns < r->busy_ns / 2)
			break;
		if (!strcmp(r->profile->procedures[row->procedure].name, "main"))
			return QZ_RANK_BY_TOTAL;
	}
	return QZ_RANK_BY_SELF;
}

int qz_ranking__fold(const struct qz_folding *f, unsigned int kinds, struct qz_ranked **ranking,
		     uint32_t *n)
{
	uint32_t kept = 0, kernel = kinds & QZ_RANK_PROCEDURES ? f->kernel.n : 0;
	struct qz_ranked *room;

	for (uint32_t i = 0; i < *n; i++)
		if ((*ranking)[i].kind != QZ_RANK_PROCEDURES || !f->folded[(*ranking)[i].row])
			(*ranking)[kept++] = (*ranking)[i];
	*n = kept;
	room = realloc(*ranking, ((size_t)kept + kernel + 1) * sizeof(*room));
	if (!room)
		return -ENOMEM;
	*ranking = room;
	for (uint32_t i = 0; i < kernel; i++)
		room[(*n)++] = (struct qz_ranked) {QZ_RANK_KERNEL, i};
	return 0;
}

/* What one entry is compared by. */
struct sorted {
	struct qz_ranked ranked;
	uint64_t figure, norm_ns;
	char *name; /* NULL: not by name */
	uint32_t before;
};

static uint64_t figure_of(enum qz_rank_key key, const struct qz_figure *total,
			  const struct qz_figure *self, uint64_t blocked_ns)
{
	switch (key) {
	case QZ_RANK_BY_SELF:
		return self->norm_ns;
	case QZ_RANK_BY_BLOCKED:
		return blocked_ns;
	case QZ_RANK_BY_SPIN:
		return total->spin_ns;
	case QZ_RANK_BY_CPU:
		return self->cpu_ns;
	default:
		return total->norm_ns;
	}
}

static char *name_of(const struct qz_report *r, const struct qz_folding *f,
		     const struct qz_ranked *ranked)
{
	const struct qz_profile *p = r->profile;
	const struct qz_thread *thread;

	switch (ranked->kind) {
	case QZ_RANK_PROCEDURES:
		return strdup(p->procedures[r->rows[ranked->row].procedure].name);
	case QZ_RANK_OBJECTS:
		return qz_objects__label(&p->objects[r->objects[ranked->row].object]);
	case QZ_RANK_KERNEL:
		return strdup(f->kernel.rows[ranked->row].label);
	default:
		thread = &p->threads[r->threads[ranked->row].thread];
		return strdup(*thread->name ? thread->name : thread->comm);
	}
}

static void take_figures(const struct qz_report *r, const struct qz_folding *f,
			 enum qz_rank_key key, struct sorted *s)
{
	const struct qz_figure *total, *self;
	uint64_t blocked_ns;

	switch (s->ranked.kind) {
	case QZ_RANK_PROCEDURES:
		total = &r->rows[s->ranked.row].total;
		self = &r->rows[s->ranked.row].self;
		blocked_ns = qz_wait_figure__blocked(&r->rows[s->ranked.row].total_waits);
		break;
	case QZ_RANK_OBJECTS:
		total = self = &r->objects[s->ranked.row].figure;
		blocked_ns = r->profile->objects[r->objects[s->ranked.row].object].wait_ns;
		break;
	case QZ_RANK_KERNEL:
		total = self = &f->kernel.rows[s->ranked.row].figure;
		blocked_ns = qz_wait_figure__blocked(&f->kernel.rows[s->ranked.row].waits);
		break;
	default:
		total = self = &r->threads[s->ranked.row].figure;
		blocked_ns = r->profile->threads[r->threads[s->ranked.row].thread].blocked_ns;
	}
	s->figure = figure_of(key, total, self, blocked_ns);
	s->norm_ns = total->norm_ns;
}

static int compare(const void *x, const void *y)
{
	const struct sorted *a = x, *b = y;
	int order = a->name ? strcmp(a->name, b->name) : 0;

	if (!order && !a->name)
		order = (a->figure < b->figure) - (a->figure > b->figure);
	if (!order && !a->name)
		order = qz_order(b->norm_ns, a->norm_ns);
	return order ? order : qz_order(a->before, b->before);
}

int qz_ranking__sort(const struct qz_report *r, const struct qz_folding *f, enum qz_rank_key key,
		     struct qz_ranked *ranking, uint32_t n)
{
	struct sorted *sorted = calloc((size_t)n + 1, sizeof(*sorted));
	int err = sorted ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i < n; i++) {
		sorted[i] = (struct sorted) {.ranked = ranking[i], .before = i};
		take_figures(r, f, key, &sorted[i]);
		if (key != QZ_RANK_BY_NAME)
			continue;
		sorted[i].name = name_of(r, f, &ranking[i]);
		err = sorted[i].name ? 0 : -ENOMEM;
	}
	if (!err && n)
		qsort(sorted, n, sizeof(*sorted), compare);
	for (uint32_t i = 0; sorted && i < n; i++) {
		if (!err)
			ranking[i] = sorted[i].ranked;
		free(sorted[i].name);
	}
	free(sorted);
	return err;
}
