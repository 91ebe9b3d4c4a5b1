/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that do the same, and wait for the slowest of them: at a barrier, at a join, or in a loop.
 */
#include "core/advise/advise.h"
#include "core/advise/alone.h"
#include "core/advise/bounds.h"

/*
 * Of what perfect balance would gain. An OpenMP loop of 64 pieces that grow, two threads, other load: alone 52 %
 * of the time with schedule(static), 9 % with schedule(dynamic, 1), which is 0.83 of it.
 */
#define USUAL 0.65

/* What they would save if none had to wait while one works. With more than two, levels between have room too. */
static uint64_t room(const struct qz_report *r, const struct qz_alone *alone)
{
	uint32_t width = alone->sharers < alone->usage.processors ? alone->sharers
								  : alone->usage.processors;
	double ns = (double)alone->shared_ns * (1 - 1.0 / width);

	for (uint32_t n = 2; n < width && n < r->nlevels; n++)
		ns += (double)r->effective_ns[n] * (1 - (double)n / width) * alone->usage.wanting;
	return (uint64_t)ns;
}

/* Of threads that did as much as each other in the end, none is the slowest: now this one works, now that. */
static void say_what(struct qz_finding *f, const struct qz_report *r, const struct qz_alone *alone)
{
	double percent = qz_finding__percent(r, alone->shared_ns);

	if ((double)alone->most_ns < 1.2 * (double)alone->least_ns) {
		f->word = "TAKING TURNS";
		qz_finding__say(
			f, &f->what,
			"%u threads run %s in turns: only one of them works %.0f%% of the time.",
			alone->sharers, f->shown, percent);
		return;
	}
	f->word = "UNBALANCED";
	qz_finding__say(f, &f->what,
			"%u threads run %s, and one of them still works while the others wait for "
			"it %.0f%% "
			"of the time.",
			alone->sharers, f->shown, percent);
}

int qz_rule__imbalance(const struct qz_report *r, struct qz_advice *a)
{
	struct qz_alone alone;
	struct qz_finding f;
	int err = qz_alone__find(r, &alone);

	if (err || alone.kind == QZ_ALONE_PROCESSES || !alone.shared_ns || alone.locked ||
	    alone.sharers < 2)
		return err;
	f = qz_finding__about("imbalance", r, QZ_SUBJECT_PROCEDURE, alone.shared_phase);
	f.gain_high_ns = room(r, &alone);
	f.gain_low_ns = (uint64_t)(USUAL * (double)f.gain_high_ns);
	f.lost = QZ_LOST_SERIAL | QZ_LOST_DIVIDED;
	say_what(&f, r, &alone);
	qz_finding__prove(&f, "threads", NULL,
			  "processor time of these threads in it: %.2f s at most, %.2f s at least",
			  (double)alone.most_ns / 1e9, (double)alone.least_ns / 1e9);
	qz_finding__prove(&f, "report", f.subject.name,
			  "only one of them could run %.0f%% of the time",
			  qz_finding__percent(r, alone.shared_ns));
	qz_finding__say(&f, &f.remedy,
			"divide the work into smaller pieces that threads take as they get done "
			"(OpenMP: schedule(dynamic))");
	return qz_advise__add(a, &f);
}
