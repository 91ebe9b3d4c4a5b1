/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests in several small writes over TCP: the second waits in the sender for the acknowledgement of the first
 * (Nagle's algorithm), which the receiver delays, since it hopes to send it with a reply. Both ends wait at the socket.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/advise/advise.h"
#include "core/advise/usage.h"
#include "core/util/order.h"

#define LEAST_COUNT 10

/*
 * The peer's blocked time as a share of this end's. A peer that computes, or asks others, waits for
 * less.
 */
#define PEER_WAITS 0.8

/* Share of the waits that is surely saved: the reply itself takes a moment. */
#define SAVED 0.9

/*
 * How long Linux delays an acknowledgement (TCP_DELACK_MIN, TCP_DELACK_MAX), and the time until the
 * waiter runs.
 */
static const struct {
	uint64_t from_ns, to_ns;
} delays[] = {{38000000, 60000000}, {195000000, 240000000}};

/* Waits of one thread at sockets of one name. */
struct end {
	uint32_t thread, object;
	uint64_t count, blocked_ns;
};

struct ends {
	uint32_t n;
	struct end *items;
};

static bool is_tcp(const struct qz_profile *p, uint32_t object)
{
	return object != QZ_NONE && p->objects[object].kind == QZ_OBJECT_SOCKET &&
	       !strncmp(p->objects[object].name, "tcp ", 4);
}

static int compare(const void *x, const void *y)
{
	const struct end *a = x, *b = y;

	if (a->object != b->object)
		return qz_order(a->object, b->object);
	return qz_order(a->thread, b->thread);
}

/* 0 or -ENOMEM. */
static int find_ends(const struct qz_report *r, struct ends *ends)
{
	const struct qz_profile *p = r->profile;
	uint32_t n = 0, kept = 0;

	ends->items = calloc((size_t)p->nwaits + 1, sizeof(*ends->items));
	if (!ends->items)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->nwaits; i++) {
		const struct qz_wait *w = &p->waits[i];

		if (is_tcp(p, w->object) && w->thread != QZ_NONE && !w->nominal &&
		    qz_scope__covers(p, r->scope, w->scope))
			ends->items[n++] =
				(struct end) {w->thread, w->object, w->count, w->blocked_ns};
	}
	if (n)
		qsort(ends->items, n, sizeof(*ends->items), compare);
	for (uint32_t i = 0; i < n; i++)
		if (kept && !compare(&ends->items[kept - 1], &ends->items[i])) {
			ends->items[kept - 1].count += ends->items[i].count;
			ends->items[kept - 1].blocked_ns += ends->items[i].blocked_ns;
		} else {
			ends->items[kept++] = ends->items[i];
		}
	ends->n = kept;
	return 0;
}

static bool is_delayed(const struct end *e)
{
	uint64_t mean = e->count ? e->blocked_ns / e->count : 0;

	for (size_t i = 0; i < sizeof(delays) / sizeof(delays[0]); i++)
		if (mean >= delays[i].from_ns && mean <= delays[i].to_ns)
			return e->count >= LEAST_COUNT;
	return false;
}

static bool has_peer(const struct ends *ends, const struct end *e)
{
	for (uint32_t i = 0; i < ends->n; i++)
		if (ends->items[i].object == e->object && ends->items[i].thread != e->thread &&
		    (double)ends->items[i].blocked_ns >= PEER_WAITS * (double)e->blocked_ns)
			return true;
	return false;
}

/* The end with the longest delayed wait; NULL: no acknowledgement was delayed. */
static const struct end *find_longest(const struct ends *ends)
{
	const struct end *best = NULL;

	for (uint32_t i = 0; i < ends->n; i++)
		if ((!best || ends->items[i].blocked_ns > best->blocked_ns) &&
		    is_delayed(&ends->items[i]) && has_peer(ends, &ends->items[i]))
			best = &ends->items[i];
	return best;
}

static int report_it(const struct qz_report *r, const struct end *e, struct qz_advice *a)
{
	uint64_t idle_ns = e->blocked_ns < r->idle_ns ? e->blocked_ns : r->idle_ns;
	double mean_ms = (double)e->blocked_ns / (double)e->count / 1e6;
	struct qz_finding f = qz_finding__about("delayed-ack", r, QZ_SUBJECT_OBJECT, e->object);

	f.word = "DELAYED BY TCP";
	f.gain_low_ns = (uint64_t)(SAVED * (double)idle_ns);
	f.gain_high_ns = qz_usage__gain_of_idle(r, idle_ns);
	f.lost = QZ_LOST_IDLE | QZ_LOST_SERIAL;
	qz_finding__say(&f, &f.what,
			"Both ends of %s wait at the same time, %.0f ms each time: a small write "
			"waits for a delayed acknowledgement.",
			f.shown, mean_ms);
	qz_finding__prove(&f, "report", f.subject.name, "%llu waits of one thread, %.2f s",
			  (unsigned long long)e->count, (double)e->blocked_ns / 1e9);
	qz_finding__say(&f, &f.remedy,
			"set TCP_NODELAY, or send each request in one write (a buffer, writev, "
			"MSG_MORE)");
	return qz_advise__add(a, &f);
}

int qz_rule__delayed_ack(const struct qz_report *r, struct qz_advice *a)
{
	struct ends ends = {0};
	const struct end *e;
	int err = find_ends(r, &ends);

	e = err ? NULL : find_longest(&ends);
	if (e)
		err = report_it(r, e, a);
	free(ends.items);
	return err;
}
