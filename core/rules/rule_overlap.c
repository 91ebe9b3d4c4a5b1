/* SPDX-License-Identifier: GPL-2.0-only */
/* Input or output that the program waits for while it has nothing else to do. */
#include <errno.h>
#include <stdlib.h>

#include "core/advise/advise.h"
#include "core/advise/usage.h"
#include "core/model/frames.h"
#include "core/model/wait_causes.h"
#include "core/util/order.h"

/* Waits for devices while no thread could run. */
struct device_time {
	uint64_t count;
	uint64_t late_ns; /* from the wake-up until the thread ran, while nothing else could */
	uint32_t cause;	  /* the cause with most of the time */
	uint32_t node;
};

static void find_time(const struct qz_report *r, struct device_time *d)
{
	const struct qz_profile *p = r->profile;
	uint64_t most = 0;

	*d = (struct device_time) {0};
	for (uint32_t i = 0; i < p->nwaits; i++) {
		const struct qz_wait *w = &p->waits[i];

		if (!qz_usage__is_idle_for_device(r, w))
			continue;
		d->count += w->count;
		d->late_ns += w->ready_ns;
		if (w->blocked_ns > most) {
			most = w->blocked_ns;
			d->cause = w->cause;
			d->node = w->node;
		}
	}
}

/*
 * Serial time of the procedures that make requests to devices, their system calls included. Fewer
 * or combined requests save most of it, too. Page faults are left out, since any code can cause
 * them.
 */
static int find_calls(const struct qz_report *r, const struct qz_usage *u, uint64_t *ns)
{
	const struct qz_profile *p = r->profile;
	bool *asks = calloc((size_t)p->nprocedures + 1, sizeof(*asks));

	*ns = 0;
	if (!asks)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->nwaits; i++) {
		const struct qz_wait *w = &p->waits[i];
		uint32_t procedure;

		if (!qz_scope__covers(p, r->scope, w->scope) ||
		    !(qz_wait_cause__kind(p->causes[w->cause]) &
		      (QZ_WAIT_IS_DISK | QZ_WAIT_IS_SYNC)))
			continue;
		procedure = qz_frames__program_code(p, w->node);
		if (procedure != QZ_NONE)
			asks[procedure] = true;
	}
	for (uint32_t i = 0; i < r->nrows; i++)
		if (asks[r->rows[i].procedure] && r->nlevels > 1)
			*ns += r->rows[i].total.level_norm_ns[1];
	*ns = qz_least(*ns, u->alone_ns);
	free(asks);
	return 0;
}

int qz_rule__overlap(const struct qz_report *r, struct qz_advice *a)
{
	const struct qz_profile *p = r->profile;
	struct device_time d;
	struct qz_usage u;
	struct qz_finding f;
	uint64_t idle, calls, blocked = qz_usage__device_ns(r);
	uint32_t procedure;
	int err;

	qz_usage__find(r, &u);
	find_time(r, &d);
	idle = blocked < u.idle_ns ? blocked : u.idle_ns;
	if (!idle)
		return 0;
	err = find_calls(r, &u, &calls);
	if (err)
		return err;
	f = qz_finding__about("overlap", r, QZ_SUBJECT_CAUSE, d.cause);
	f.word = "WAITING FOR DEVICES";
	calls = qz_least(calls, idle);
	f.gain_high_ns = idle + calls + qz_least(d.late_ns, u.alone_ns - calls);
	f.gain_low_ns = (idle < r->busy_ns ? idle : r->busy_ns) / 2;
	f.lost = QZ_LOST_IDLE;
	qz_finding__say(&f, &f.what,
			"Nothing ran %.0f%% of the time because threads waited for a device (%s).",
			qz_finding__percent(r, idle), f.shown);
	procedure = qz_frames__program_code(p, d.node);
	if (procedure != QZ_NONE)
		qz_finding__say(&f, &f.where, "%s", p->procedures[procedure].name);
	qz_finding__prove(&f, "report --waits", NULL, "%llu waits of %.3g ms on average",
			  (unsigned long long)d.count,
			  d.count ? (double)blocked / (double)d.count / 1e6 : 0);
	qz_finding__prove(&f, "report", procedure == QZ_NONE ? NULL : p->procedures[procedure].name,
			  "meanwhile no thread could run");
	qz_finding__say(&f, &f.remedy,
			"ask earlier and for more at a time (read ahead, asynchronous or parallel "
			"requests), sync "
			"less often");
	return qz_advise__add(a, &f);
}
