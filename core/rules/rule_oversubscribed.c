/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * More threads than processors: they wait for each other's processor. That alone costs little, since the
 * processors are busy; what it costs are switches, and locks whose holders are not running.
 */
#include "core/advise/advise.h"
#include "core/advise/usage.h"

/*
 * Threads that are ready, on average. That alone is no finding: pigz and x264 with their defaults have more of
 * them on a busy machine. No program with a known fix has been measured for this rule yet.
 */
#define LEAST_READY 1.0

int qz_rule__oversubscribed(const struct qz_report *r, struct qz_advice *a)
{
	uint64_t queued;
	struct qz_usage u;
	struct qz_finding f;

	qz_usage__find(r, &u);
	queued = u.ready_ns > u.taken_ns ? u.ready_ns - u.taken_ns : 0;
	if (!r->spin_ns || (double)queued < LEAST_READY * (double)r->elapsed_ns)
		return 0;
	f = qz_finding__about("oversubscribed", r, QZ_SUBJECT_SCOPE, r->scope);
	f.word = "TOO MANY THREADS";
	/* what was spun took a processor from a thread that was ready */
	f.gain_high_ns = r->spin_ns / u.processors;
	f.gain_low_ns = f.gain_high_ns / 2;
	f.lost = QZ_LOST_READY;
	qz_finding__say(
		&f, &f.what,
		"Threads spin while others that could work have no CPU: %.1f threads were ready on "
		"average, on %u CPUs.",
		(double)u.ready_ns / (double)r->elapsed_ns, u.processors);
	qz_finding__prove(&f, "threads", NULL,
			  "ready without a processor: %.2f s, all threads together",
			  (double)u.ready_ns / 1e9);
	qz_finding__prove(&f, "report", NULL, "spun: %.2f s of processor time",
			  (double)r->spin_ns / 1e9);
	qz_finding__say(&f, &f.remedy,
			"start as many threads as there are CPUs, or let them block");
	return qz_advise__add(a, &f);
}
