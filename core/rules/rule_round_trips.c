/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread sends a request and waits for the reply before it sends the next one, and nothing else
 * runs meanwhile: the time is that of the round trips and the system calls. What it computes is
 * serial, too, but dividing that among threads would leave the waits.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/advise/advise.h"
#include "core/advise/usage.h"
#include "core/costs/cost_walk.h"
#include "core/model/frames.h"
#include "core/model/wait_causes.h"
#include "core/report/idle_time.h"

#define LEAST_COUNT 200	       /* replies */
#define LONGEST_NS  5000000ull /* mean wait for a reply; a peer that takes longer works on it */
#define LEAST_SHARE 0.25       /* of the elapsed time, waits and calls */
#define LEAST_SENT  0.1 /* of the time of socket calls; who only receives sends no requests */
#define TENFOLD	    0.9 /* of the time of the calls: saved by ten requests at a time */
#define ON_THE_WAY  0.5 /* of a wait: under way; the rest may be the peer's work */

/*
 * Waits of a thread for replies. idle_ns: nothing ran, until it had its processor back from the
 * peer.
 */
struct replies {
	uint64_t count, blocked_ns, idle_ns;
};

struct trips {
	const struct qz_report *report;
	struct replies *by_thread;
	uint32_t thread;	    /* with the most idle_ns */
	uint64_t calls_ns, sent_ns; /* normalized time of its system calls; of this, sending */
	uint32_t node;		    /* where it waits */
};

/* A wait in a call that sends is for space in the buffer, not for a reply. */
static bool is_for_reply(const struct qz_profile *p, const struct qz_wait *w)
{
	return qz_wait_cause__kind(p->causes[w->cause]) == QZ_WAIT_IS_SOCKET &&
	       w->thread != QZ_NONE && !qz_frames__have_name(p, w->node, "send") &&
	       !qz_frames__have_name(p, w->node, "write");
}

static void add_waits(struct trips *t)
{
	const struct qz_profile *p = t->report->profile;
	uint64_t most = 0;

	for (uint32_t i = 0; i < p->nwaits; i++) {
		const struct qz_wait *w = &p->waits[i];
		const struct qz_idle_charge *charge = &t->report->charges[i];
		uint64_t idle_ns = charge->blocked_ns + charge->ready_ns;
		struct replies *to;

		if (!qz_scope__covers(p, t->report->scope, w->scope) || !idle_ns ||
		    !is_for_reply(p, w))
			continue;
		to = &t->by_thread[w->thread];
		to->count += w->count;
		to->blocked_ns += w->blocked_ns;
		to->idle_ns += idle_ns;
		if (t->thread == QZ_NONE || to->idle_ns > t->by_thread[t->thread].idle_ns)
			t->thread = w->thread;
		if (idle_ns > most) {
			most = idle_ns;
			t->node = w->node;
		}
	}
}

static bool is_one_at_a_time(const struct replies *r)
{
	return r->count >= LEAST_COUNT && r->blocked_ns / r->count <= LONGEST_NS;
}

/* Adds up the system calls of that thread. 0 or -ENOMEM. */
static int add_calls(struct trips *t)
{
	const struct qz_profile *p = t->report->profile;
	struct qz_cost_walk walk;
	int err = qz_cost_walk__init(&walk, p);

	for (uint32_t i = 0; !err && i < p->nsamples; i++) {
		const struct qz_sample *s = &p->samples[i];

		if (s->scope != t->report->scope || s->thread != t->thread || s->spinning ||
		    qz_cost_walk__at(&walk, s->node).cost != QZ_COST_CALLS)
			continue;
		t->calls_ns += s->norm_ns;
		if (qz_frames__have_name(p, s->node, "send") ||
		    qz_frames__have_name(p, s->node, "write"))
			t->sent_ns += s->norm_ns;
	}
	qz_cost_walk__free(&walk);
	return err;
}

static int report_it(const struct trips *t, uint64_t wait_ns, struct qz_advice *a)
{
	const struct qz_report *r = t->report;
	const struct replies *replies = &t->by_thread[t->thread];
	uint32_t procedure = qz_frames__program_code(r->profile, t->node);
	struct qz_finding f = qz_finding__about("round-trips", r, QZ_SUBJECT_THREAD, t->thread);

	f.word = "ROUND TRIPS";
	f.gain_low_ns = (uint64_t)(TENFOLD * (double)t->calls_ns + ON_THE_WAY * (double)wait_ns);
	f.gain_high_ns = qz_usage__gain_of_idle(r, wait_ns) + t->calls_ns;
	f.lost = QZ_LOST_IDLE | QZ_LOST_SERIAL;
	qz_finding__say(&f, &f.what,
			"%s waits for a reply before it sends on, %.0f times a second, %.0f us "
			"each: nothing else is under way.",
			f.shown, 1e9 * (double)replies->count / (double)r->elapsed_ns,
			(double)replies->blocked_ns / (double)replies->count / 1e3);
	if (procedure != QZ_NONE)
		qz_finding__say(&f, &f.where, "%s", r->profile->procedures[procedure].name);
	qz_finding__prove(&f, "report --waits", NULL,
			  "%llu waits for sockets, %.2f s of them while nothing else of it ran",
			  (unsigned long long)replies->count, (double)wait_ns / 1e9);
	qz_finding__prove(&f, "report --costs", NULL, "calls of the kernel took %.2f s",
			  (double)t->calls_ns / 1e9);
	qz_finding__say(&f, &f.remedy,
			"several requests on their way at a time (pipelining, asynchronous calls), "
			"or one for many items (MGET, executemany)");
	return qz_advise__add(a, &f);
}

static int find(struct trips *t, struct qz_advice *a)
{
	const struct qz_report *r = t->report;
	uint64_t wait_ns;
	int err;

	add_waits(t);
	if (t->thread == QZ_NONE || !is_one_at_a_time(&t->by_thread[t->thread]))
		return 0;
	err = add_calls(t);
	wait_ns = t->by_thread[t->thread].idle_ns;
	if (err || !t->sent_ns || (double)t->sent_ns < LEAST_SENT * (double)t->calls_ns ||
	    (double)(wait_ns + t->calls_ns) < LEAST_SHARE * (double)r->elapsed_ns)
		return err;
	return report_it(t, wait_ns, a);
}

int qz_rule__round_trips(const struct qz_report *r, struct qz_advice *a)
{
	struct trips t = {.report = r, .thread = QZ_NONE};
	int err;

	if (!qz_usage__is_closed(r))
		return 0;
	t.by_thread = calloc((size_t)r->profile->nthreads + 1, sizeof(*t.by_thread));
	err = t.by_thread ? find(&t, a) : -ENOMEM;
	free(t.by_thread);
	return err;
}
