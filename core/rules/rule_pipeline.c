/* SPDX-License-Identifier: GPL-2.0-only */
/* A pipeline goes as fast as its slowest stage: one thread is always busy, the others wait for it. */
#include "core/advise/advise.h"
#include "core/advise/alone.h"
#include "core/advise/bounds.h"

int qz_rule__pipeline(const struct qz_report *r, struct qz_advice *a)
{
	const struct qz_thread *thread;
	struct qz_alone alone;
	struct qz_bounds b;
	struct qz_finding f;
	int err = qz_alone__find(r, &alone);

	if (err || alone.kind != QZ_ALONE_STAGE)
		return err;
	thread = &r->profile->threads[alone.thread];
	b = qz_bounds__divide(alone.ns, alone.around_ns, alone.usage.width);
	f = qz_finding__about("pipeline", r, QZ_SUBJECT_PROCEDURE, alone.phase);
	f.word = "ONE SLOW STAGE";
	f.gain_low_ns = b.low_ns;
	f.gain_high_ns = b.high_ns;
	f.lost = QZ_LOST_SERIAL | QZ_LOST_DIVIDED;
	qz_finding__say(
		&f, &f.what,
		"The stage %s, one thread, is always busy; the other threads wait for it %.0f%% of "
		"the time.",
		f.shown, qz_finding__percent(r, alone.ns));
	qz_finding__prove(&f, "threads", NULL, "thread %d ran or was ready %.0f%% of the time",
			  thread->tid,
			  qz_finding__percent(r, thread->running_ns + thread->ready_ns));
	qz_finding__prove(&f, "report", f.subject.name,
			  "no other thread could run %.0f%% of the time",
			  qz_finding__percent(r, alone.usage.alone_ns));
	qz_finding__say(
		&f, &f.remedy,
		"give this stage more threads, or move a part of its work to another stage");
	return qz_advise__add(a, &f);
}
