/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/report/idle_time.h"

#include <errno.h>
#include <stdlib.h>

#include "core/model/wait_causes.h"
#include "core/util/apportion.h"
#include "core/util/order.h"
#include "core/util/vec.h"

/* A thread that ran for less than this share of the time waits for work. */
#define HARDLY_RAN 0.001

/*
 * The probability, in thousandths, that no thread can run while k threads can on average, if they come and go
 * independently: e^-k.
 */
static uint64_t likelihood(uint32_t nominal)
{
	static const uint64_t exponential[] = {1000, 368, 135, 50, 18, 7, 2, 1};

	return nominal < sizeof(exponential) / sizeof(exponential[0]) ? exponential[nominal] : 0;
}

static bool had_no_work(const struct qz_report *r, const struct qz_wait *w)
{
	const struct qz_thread *t;

	if (w->thread == QZ_NONE)
		return false;
	t = &r->profile->threads[w->thread];
	return (double)t->running_ns < HARDLY_RAN * (double)r->elapsed_ns;
}

/* A wait for the end of a thread or process is caused by whatever that one waits for. */
static bool is_join(const struct qz_profile *p, const struct qz_wait *w)
{
	if (qz_wait_cause__kind(p->causes[w->cause]) == QZ_WAIT_IS_CHILD)
		return true;
	return w->object != QZ_NONE && p->objects[w->object].kind == QZ_OBJECT_JOIN;
}

enum qz_idle_rank qz_idle_time__rank(const struct qz_report *r, const struct qz_wait *w)
{
	if (had_no_work(r, w))
		return QZ_IDLE_HAS_NO_WORK;
	return is_join(r->profile, w) ? QZ_IDLE_JOINS : QZ_IDLE_WORKS;
}

static uint64_t weight_blocked(const struct qz_wait *w)
{
	return w->blocked_ns / 1000 * likelihood(w->nominal);
}

/* k threads that are ready share the time. */
static uint64_t weight_ready(const struct qz_wait *w, enum qz_idle_rank rank)
{
	return rank == QZ_IDLE_WORKS ? w->ready_ns / (w->nominal ? w->nominal : 1) : 0;
}

/* Of all waits of a rank. */
static unsigned __int128 add_up(const struct qz_report *r, enum qz_idle_rank rank)
{
	const struct qz_profile *p = r->profile;
	unsigned __int128 total = 0;

	for (uint32_t i = 0; i < p->nwaits; i++)
		if (qz_scope__covers(p, r->scope, p->waits[i].scope) &&
		    qz_idle_time__rank(r, &p->waits[i]) == rank)
			total += (unsigned __int128)weight_blocked(&p->waits[i]) +
				 weight_ready(&p->waits[i], rank);
	return total;
}

int qz_idle_time__charge(struct qz_report *r)
{
	const struct qz_profile *p = r->profile;
	struct qz_split parts = {.amount = r->idle_ns};
	enum qz_idle_rank rank = QZ_IDLE_WORKS;

	r->charges = calloc((size_t)p->nwaits + 1, sizeof(*r->charges));
	if (!r->charges)
		return -ENOMEM;
	while (rank < QZ_IDLE_RANKS && !(parts.total = add_up(r, rank)))
		rank++;
	for (uint32_t i = 0; parts.total && i < p->nwaits; i++) {
		const struct qz_wait *w = &p->waits[i];

		if (!qz_scope__covers(p, r->scope, w->scope) || qz_idle_time__rank(r, w) != rank)
			continue;
		r->charges[i].blocked_ns = qz_split__next(&parts, weight_blocked(w));
		r->charges[i].ready_ns = qz_split__next(&parts, weight_ready(w, rank));
		r->charges[i].no_work = rank == QZ_IDLE_HAS_NO_WORK;
	}
	return 0;
}

/* ---- rows ---- */

static int add(struct qz_idle *idle, struct qz_idle_row row)
{
	if (!row.idle_ns)
		return 0;
	if (qz_array__reserve((void **)&idle->rows, idle->n, sizeof(*idle->rows)))
		return -ENOMEM;
	idle->rows[idle->n++] = row;
	return 0;
}

static int compare_subjects(const void *x, const void *y)
{
	const struct qz_idle_row *a = x, *b = y;

	return qz_order(a->kind, b->kind)
		?: qz_order(a->cause, b->cause)
		?: qz_order(a->object, b->object);
}

static int compare_rows(const void *x, const void *y)
{
	const struct qz_idle_row *a = x, *b = y;

	return qz_order(b->idle_ns, a->idle_ns) ?: compare_subjects(a, b);
}

/* Equal ones become one. */
static void merge(struct qz_idle *idle)
{
	uint32_t kept = 0;

	if (idle->n)
		qsort(idle->rows, idle->n, sizeof(*idle->rows), compare_subjects);
	for (uint32_t i = 0; i < idle->n; i++)
		if (kept && !compare_subjects(&idle->rows[kept - 1], &idle->rows[i]))
			idle->rows[kept - 1].idle_ns += idle->rows[i].idle_ns;
		else
			idle->rows[kept++] = idle->rows[i];
	idle->n = kept;
}

int qz_idle_time__find(const struct qz_report *r, struct qz_idle *idle)
{
	const struct qz_profile *p = r->profile;
	uint64_t left = r->idle_ns;
	int err = 0;

	*idle = (struct qz_idle) {0};
	for (uint32_t i = 0; !err && i < p->nwaits; i++) {
		const struct qz_idle_charge *c = &r->charges[i];
		enum qz_idle_kind kind = c->no_work ? QZ_IDLE_WORK : QZ_IDLE_BLOCKED;

		left -= c->blocked_ns + c->ready_ns;
		err = add(idle, (struct qz_idle_row) {kind, p->waits[i].cause, p->waits[i].object,
						      c->blocked_ns});
		if (!err)
			err = add(idle, (struct qz_idle_row) {QZ_IDLE_READY, QZ_NONE, QZ_NONE,
							      c->ready_ns});
	}
	if (!err)
		err = add(idle, (struct qz_idle_row) {QZ_IDLE_UNKNOWN, QZ_NONE, QZ_NONE, left});
	merge(idle);
	if (idle->n)
		qsort(idle->rows, idle->n, sizeof(*idle->rows), compare_rows);
	return err;
}
