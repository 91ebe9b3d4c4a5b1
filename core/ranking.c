/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/ranking.h"

#include <errno.h>
#include <stdlib.h>

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

int qz_report__rank(const struct qz_report *r, unsigned int kinds, struct qz_ranked **ranking,
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
