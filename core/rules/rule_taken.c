/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Other programs had processors while threads of this scope were ready. They are known if the
 * machine was profiled; without it, a reader of the profile could do nothing, and there is no
 * finding.
 */
#include "core/advise/advise.h"
#include "core/advise/usage.h"
#include "core/util/systemd_unit.h"

int qz_rule__taken(const struct qz_report *r, struct qz_advice *a)
{
	const struct qz_profile *p = r->profile;
	const struct qz_scope *other;
	char unit[QZ_UNIT_LENGTH] = "";
	uint32_t index = qz_usage__other(r);
	struct qz_usage u;
	struct qz_finding f;
	uint64_t active;
	double share;

	if (index == QZ_NONE)
		return 0;
	qz_usage__find(r, &u);
	u.taken_ns -= u.limited_ns;
	other = &p->scopes[index];
	active = r->elapsed_ns - (u.idle_ns < r->elapsed_ns ? u.idle_ns : r->elapsed_ns);
	share = (double)u.taken_ns / (double)(u.taken_ns + p->scopes[r->scope].cpu_ns + 1);
	qz_systemd_unit__of_cgroup(other->cgroup, unit);
	f = qz_finding__about("taken", r, QZ_SUBJECT_SCOPE, index);
	f.word = "SHORT OF CPUS";
	f.gain_high_ns = (uint64_t)(share * (double)active);
	f.gain_low_ns = f.gain_high_ns / 2;
	f.lost = QZ_LOST_READY;
	qz_finding__say(&f, &f.what,
			"Other programs had the CPUs for %.2f s of the time that threads were "
			"ready; most of all "
			"%s.",
			(double)u.taken_ns / 1e9, f.shown);
	qz_finding__say(&f, &f.where, "%s%s%s", other->command, *unit ? ", unit " : "", unit);
	qz_finding__prove(&f, "ps", NULL, "%s had %.2f s of processor time", f.shown,
			  (double)other->cpu_ns / 1e9);
	qz_finding__prove(&f, "threads", NULL,
			  "ready without a processor: %.2f s, all threads together",
			  (double)u.ready_ns / 1e9);
	qz_finding__say(&f, &f.remedy,
			"run it elsewhere or later, or give it less weight (nice, CPUWeight=)");
	return qz_advise__add(a, &f);
}
