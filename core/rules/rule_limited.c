/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A limit keeps the ready threads of a scope from processors: the quota of a control group, which
 * stops them for the rest of each period, an affinity mask or a cpuset.
 */
#include <math.h>

#include "core/advise/advise.h"
#include "core/advise/usage.h"
#include "core/model/allowed.h"
#include "core/report/idle_time.h"

struct limited {
	const struct qz_report *report;
	struct qz_usage usage;
	struct qz_allowed allowed;
	double elapsed, active; /* ns; active: any thread was runnable */
	double level, able;	/* means while it was active: running threads, runnable threads */
	double free;		/* processors that other programs left to it */
};

/*
 * Elapsed time in which the scope was throttled. The kernel adds up processors, so this divides by
 * the processors that it used otherwise. The rest of the time must suffice for what it ran, on the
 * processors that it may use.
 */
static double throttled_ns(const struct limited *l)
{
	double width = l->report->parallelism > 1 ? l->report->parallelism : 1;
	double ns = (double)l->report->profile->scopes[l->report->scope].throttled_ns / width;
	double most = l->elapsed - l->level * l->active / l->allowed.processors;

	return ns < most ? ns : most;
}

static double more_than_nothing(double ns)
{
	return ns > 0 ? ns : 0;
}

/* What is saved of `ns` if `able` threads run on up to `processors` instead of on `level`. */
static double saved(double ns, double level, double able, double processors)
{
	double width = able < processors ? able : processors;

	return width > level ? ns * (1 - level / width) : 0;
}

static void set_gain(struct qz_finding *f, double low, double high)
{
	f->lost = QZ_LOST_READY;
	f->word = "LIMITED";
	f->gain_high_ns = (uint64_t)more_than_nothing(high);
	f->gain_low_ns = (uint64_t)more_than_nothing(low < high ? low : high);
}

static void prove(struct qz_finding *f, const struct limited *l)
{
	qz_finding__prove(f, "threads", NULL,
			  "ready without a processor: %.2f s, all threads together",
			  (double)l->usage.ready_ns / 1e9);
}

/* "5% of a CPU", "1.5 CPUs" */
static void name_quota(double quota, char text[32])
{
	if (quota < 1)
		snprintf(text, 32, "%.3g%% of a CPU", 100 * quota);
	else
		snprintf(text, 32, "%.3g CPU%s", quota, quota > 1 ? "s" : "");
}

/*
 * The shortest time in which its threads could have run the same without a quota. The quota ends on
 * one processor some milliseconds before it does on another, so fewer threads ran at a time than
 * could.
 */
static double shortest_ns(const struct limited *l)
{
	double width = l->able < l->allowed.processors ? l->able : l->allowed.processors;

	return l->level * l->active / (width > 1 ? width : 1);
}

/* Elapsed time in which surely none of its threads could run. */
static double asleep_ns(const struct limited *l)
{
	const struct qz_profile *p = l->report->profile;
	double ns = 0;

	for (uint32_t i = 0; i < p->nwaits; i++)
		if (!p->waits[i].nominal)
			ns += (double)l->report->charges[i].blocked_ns;
	return ns;
}

/*
 * All of the throttled time is saved if other programs leave as many processors as it ran on; if
 * they leave fewer, its work takes longer. The time of a run varies by one period, depending on
 * when in a period it starts.
 */
static int add_quota(const struct limited *l, struct qz_advice *a)
{
	const struct qz_scope *s = &l->report->profile->scopes[l->report->scope];
	struct qz_finding f =
		qz_finding__about("limited", l->report, QZ_SUBJECT_SCOPE, l->report->scope);
	double throttled = throttled_ns(l), ran = l->elapsed - throttled;
	double width = l->report->parallelism > 1 ? l->report->parallelism : 1;
	double longer = width > l->free ? ran * (width / l->free - 1) : 0;
	double period = (double)s->quota_period_us * 1e3;
	double rest = asleep_ns(l) + shortest_ns(l);
	char quota[32];

	rest = rest < ran ? rest : ran;
	rest *= l->elapsed / (l->elapsed + period);

	name_quota(l->allowed.quota, quota);
	set_gain(&f, (throttled - longer) / 2, l->elapsed - rest);
	f.lost |= QZ_LOST_THROTTLED;
	qz_finding__say(
		&f, &f.what,
		"It is limited by its quota (%s, of the control group %s): throttled %.0f%% of the "
		"time.",
		quota, s->quota_cgroup, 100 * throttled / l->elapsed);
	qz_finding__prove(&f, NULL, NULL, "it was throttled in %llu of %llu periods of %.4g ms",
			  (unsigned long long)s->throttled_periods,
			  (unsigned long long)s->quota_periods, (double)s->quota_period_us / 1e3);
	prove(&f, l);
	qz_finding__say(&f, &f.remedy,
			"a larger quota (cpu.max, CPUQuota=), or no more threads at a time than "
			"it has CPUs");
	return qz_advise__add(a, &f);
}

static int add_fewer(const struct limited *l, struct qz_advice *a)
{
	uint32_t all = l->report->profile->processors;
	const char *by = l->allowed.by_cpuset ? "cpuset" : "affinity", *list = l->allowed.list;
	char cpus[QZ_ALLOWED_LIST + 8] = "";
	struct qz_finding f =
		qz_finding__about("limited", l->report, QZ_SUBJECT_SCOPE, l->report->scope);

	set_gain(&f, saved(l->active, l->level, l->able, l->free) / 2,
		 saved(l->active, l->level, l->able, all));
	if (*list)
		snprintf(cpus, sizeof(cpus), " (CPU%s %s)", l->allowed.processors == 1 ? "" : "s",
			 list);
	qz_finding__say(&f, &f.what,
			"It is limited by its %s%s to %u of %u CPUs, while %.1f of its threads "
			"could run.",
			by, cpus, l->allowed.processors, all, l->able);
	prove(&f, l);
	qz_finding__say(&f, &f.remedy, "let it use more CPUs (%s)",
			l->allowed.by_cpuset ? "cpuset.cpus of its control group, AllowedCPUs="
					     : "taskset -acp CPUS PID, CPUAffinity=");
	return qz_advise__add(a, &f);
}

int qz_rule__limited(const struct qz_report *r, struct qz_advice *a)
{
	const struct qz_scope *s = &r->profile->scopes[r->scope];
	struct limited l = {.report = r, .elapsed = (double)r->elapsed_ns};
	double running = (double)qz_scope__running_ns(s), others;
	int err = 0;

	if (!r->elapsed_ns || !s->runnable_ns)
		return 0;
	qz_usage__find(r, &l.usage);
	qz_allowed__find(r->profile, r->scope, &l.allowed);
	l.active = l.elapsed - (double)l.usage.idle_ns + 1;
	l.level = running / l.active;
	l.able = (double)s->runnable_ns / l.active;
	others = qz_allowed__others(r->profile, r->scope);
	/* others leave at least what it had */
	l.free = isinf(others) ? 0 : (double)r->profile->processors - others;
	if (l.free < running / l.elapsed)
		l.free = running / l.elapsed;
	if (l.allowed.quota > 0 && s->throttled_ns)
		err = add_quota(&l, a);
	if (!err && l.allowed.fewer)
		err = add_fewer(&l, a);
	return err;
}
