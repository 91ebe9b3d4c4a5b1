/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/advise/usage.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/advise/bounds.h"
#include "core/model/allowed.h"
#include "core/model/figures.h"
#include "core/model/timeline.h"
#include "core/model/wait_causes.h"
#include "core/util/order.h"
#include "core/util/systemd_unit.h"

static uint64_t unused_of(const struct qz_report *r, uint32_t processors)
{
	uint64_t unused = 0;

	for (uint32_t n = 0; n < r->nlevels && n < processors; n++)
		unused += (processors - n) * r->effective_ns[n];
	return unused;
}

/*
 * Of the ready time of a wait, what passed while the scope used fewer than P processors. With k threads that
 * could run, k - n of them were ready; when k <= P all of it counts, else as much as at the mean level n.
 */
static double taken_of(const struct qz_wait *w, double level, uint32_t processors)
{
	double k = w->nominal, ns = (double)w->ready_ns;

	if (w->nominal <= processors || level >= k)
		return ns;
	return level < processors ? ns * (processors - level) / (k - level) : 0;
}

/* Ready time: of threads that were alone, and what others had beside running ones. */
struct queued {
	double single, taken;
};

/*
 * It takes a moment to wake a thread up, also on an idle processor, and if there are more threads than processors,
 * they take processors from each other. So others can have taken no more than the processor time that they had. A
 * thread that was preempted although there were enough processors lost its processor to others, or to its quota.
 */
static void limit(struct queued *doubtful, const struct queued *sure, const struct qz_report *r)
{
	double sum = doubtful->single + doubtful->taken;
	double left = qz_allowed__others_ns(r->profile, r->scope) - sure->single - sure->taken;

	if (sum <= 0 || left >= sum)
		return;
	left = left > 0 ? left : 0;
	doubtful->single *= left / sum;
	doubtful->taken *= left / sum;
}

/* Samples by which what others had may be off. */
#define DOUBTFUL_SAMPLES 5

/*
 * The time in which threads were preempted although a processor was free: an affinity, a cpuset or a quota kept the scope
 * from it.
 */
static double limited_of(const struct queued *sure, const struct qz_report *r)
{
	const struct qz_ledger *l = &r->profile->ledger;
	double others = qz_allowed__others_ns(r->profile, r->scope), sample;

	if (isinf(others))
		return 0;
	sample = (double)r->profile->scopes[r->scope].cpu_ns / (double)l->accepted;
	others = 1.2 * others + DOUBTFUL_SAMPLES * sample;
	return sure->single + sure->taken > others ? sure->single + sure->taken - others : 0;
}

static void find_queued(const struct qz_report *r, double level, uint32_t processors,
			struct queued *doubtful, struct queued *sure)
{
	const struct qz_profile *p = r->profile;

	for (uint32_t i = 0; i < p->nwaits; i++) {
		const struct qz_wait *w = &p->waits[i];
		struct queued *to = w->blocked_ns || w->nominal > processors ? doubtful : sure;

		if (!w->ready_ns || !qz_scope__covers(p, r->scope, w->scope))
			continue;
		if (w->nominal <= 1)
			to->single += (double)w->ready_ns;
		else
			to->taken += taken_of(w, level, processors);
	}
}

/*
 * Processor time of quartzd beside the run: it prepares before, and names what it has seen afterwards. Both are in the
 * first and the last slot.
 */
static uint64_t beside_ns(const struct qz_profile *p)
{
	const struct qz_timeline *t = p->timeline;
	uint32_t id = qz_figures__find("costs.daemon_ns");

	if (!t || id == QZ_NONE)
		return p->costs.daemon_ns;
	return t->n > 2 ? qz_timeline__sum(t, 1, t->n - 1, id, 0) : 0;
}

static bool is_own(const char *program)
{
	return !strncmp(program, "quartz", 6);
}

/* Samples outside of all scopes of programs that are known, and of these Quartz' own. */
static uint64_t own_samples(const struct qz_ledger *l, uint64_t *all)
{
	uint64_t own = 0;

	*all = 0;
	for (uint32_t i = 0; i < l->noutside; i++) {
		*all += l->outside[i].count;
		own += is_own(l->outside[i].cause) ? l->outside[i].count : 0;
	}
	return own;
}

const char *qz_usage__outside(const struct qz_profile *p)
{
	const struct qz_ledger *l = &p->ledger;
	const struct qz_loss *most = NULL;

	for (uint32_t i = 0; i < l->noutside; i++)
		if (!is_own(l->outside[i].cause) && l->outside[i].count &&
		    (!most || l->outside[i].count > most->count))
			most = &l->outside[i];
	return most ? most->cause : NULL;
}

/*
 * What of the processors that the program wanted Quartz itself had, which on few processors is much of a short run. Of a
 * run that is longer than this scope, as much as of its time.
 */
static uint64_t own_of(const struct qz_report *r, const struct qz_usage *u)
{
	const struct qz_profile *p = r->profile;
	double share = p->window_ns > r->elapsed_ns ? (double)r->elapsed_ns / (double)p->window_ns
						    : 1;
	uint64_t ns = (uint64_t)(share * (double)beside_ns(p));
	uint64_t others = u->taken_ns - u->limited_ns, own, all;

	own = own_samples(&p->ledger, &all);
	if (all)
		return (uint64_t)((double)others * (double)own / (double)all);
	return ns < others ? ns : others;
}

/* Of all periods: it used what the quota gives it, whatever others had. */
#define NEARLY_EACH 0.9

static bool has_used_up(const struct qz_scope *s)
{
	return s->throttled_ns &&
	       (double)s->throttled_periods >= NEARLY_EACH * (double)s->quota_periods;
}

/*
 * Of what the scope was kept from, what a quota is known to have: the time that a control group was throttled is that
 * of all that is in it. A processor is throttled only once it wants to run the group, so where others run, this time is
 * too short; but what is throttled in each period would have got no more without them.
 */
static uint64_t throttled_of(const struct qz_report *r, const struct qz_usage *u)
{
	const struct qz_scope *s = &r->profile->scopes[r->scope];

	return u->used_up ? u->taken_ns : qz_least(u->taken_ns, s->throttled_ns);
}

/* Processors, on average: fewer are what any machine does besides. */
#define COMPETITION 0.1

/* Processors that so many threads have beside those of others, each as much as any. */
static double share_of(double threads, double others, double processors)
{
	double all = threads + others;

	return all > processors ? threads * processors / all : threads;
}

/*
 * Others' threads, on average, are those that ran, and those that waited for a processor as often as this scope's did for them.
 * What wins a processor wins only its share of it then.
 */
static double width_of(const struct qz_report *r, const struct qz_usage *u)
{
	const struct qz_profile *p = r->profile;
	double running = (double)qz_scope__running_ns(&p->scopes[r->scope]);
	double taken = (double)(u->taken_ns - u->limited_ns - u->own_ns);
	double others = qz_allowed__others(p, r->scope), all = p->processors ? p->processors : 1;
	uint64_t samples, own = own_samples(&p->ledger, &samples);

	if (isinf(others) || running <= 0)
		return u->processors;
	others *= (samples ? 1 - (double)own / (double)samples : 1) * u->processors / all;
	if (others < COMPETITION * u->processors)
		return u->processors;
	others *= 1 + taken / running;
	return share_of(u->processors, others, u->processors) / share_of(1, others, u->processors);
}

void qz_usage__find(const struct qz_report *r, struct qz_usage *u)
{
	const struct qz_profile *p = r->profile;
	const struct qz_scope *scope = &p->scopes[r->scope];
	uint64_t running = qz_scope__running_ns(scope), single, unused;
	struct queued doubtful = {0}, sure = {0};
	struct qz_allowed allowed;
	double taken, level, queued;

	qz_allowed__find(p, r->scope, &allowed);
	*u = (struct qz_usage) {.processors = allowed.processors};
	level = r->elapsed_ns ? (double)running / (double)r->elapsed_ns : 0;
	find_queued(r, level, u->processors, &doubtful, &sure);
	queued = doubtful.single + doubtful.taken;
	limit(&doubtful, &sure, r);
	queued -= doubtful.single + doubtful.taken;
	taken = doubtful.taken + sure.taken;
	u->ready_ns = scope->runnable_ns > running ? scope->runnable_ns - running : 0;
	u->unused_ns = unused_of(r, u->processors);
	single = qz_least((uint64_t)(doubtful.single + sure.single), r->idle_ns);
	unused = u->unused_ns - qz_least(u->unused_ns, u->processors * single);
	u->wanting = unused && taken < (double)unused ? 1 - taken / (double)unused : 0;
	u->taken_ns = single + qz_least(unused, (uint64_t)taken);
	u->limited_ns = qz_least(u->taken_ns, (uint64_t)limited_of(&sure, r));
	if (u->limited_ns <= u->taken_ns / 2)
		u->limited_ns =
			0; /* the scheduler moves a thread to a free processor some time later */
	u->used_up = has_used_up(scope);
	u->throttled_ns = throttled_of(r, u);
	if (u->limited_ns < u->throttled_ns)
		u->limited_ns = u->throttled_ns;
	u->own_ns = own_of(r, u);
	u->late_ns = qz_least(u->unused_ns - u->taken_ns, queued > 0 ? (uint64_t)queued : 0);
	u->alone_ns = (uint64_t)((double)r->serial_ns * u->wanting) + single;
	u->idle_ns = (uint64_t)((double)(r->idle_ns - single) * u->wanting);
	u->most_alone_ns = u->alone_ns;
	if (unused)
		u->most_alone_ns +=
			(uint64_t)((double)r->serial_ns *
				   (double)qz_least(u->own_ns, (uint64_t)taken) / (double)unused);
	u->most_alone_ns = qz_least(u->most_alone_ns, r->serial_ns + single);
	u->width = width_of(r, u);
}

uint64_t qz_usage__gain_of_idle(const struct qz_report *r, uint64_t idle_ns)
{
	struct qz_part part = {.idle_ns = idle_ns};
	struct qz_usage u;

	qz_usage__find(r, &u);
	part.alone_ns = u.alone_ns;
	return qz_bounds__spread(r, part, u.width, 1).high_ns;
}

const char *qz_usage__lacking(const struct qz_usage *u)
{
	uint64_t others = u->taken_ns - u->limited_ns;

	if (u->limited_ns > others && u->limited_ns > u->late_ns)
		return u->throttled_ns > u->limited_ns / 2
			       ? "a processor, which its quota kept from it"
			       : "a processor, which an affinity, a cpuset or a quota kept from it";
	return others >= u->late_ns ? "a processor, which others had"
				    : "a processor, after they were woken";
}

bool qz_usage__is_idle_for_device(const struct qz_report *r, const struct qz_wait *w)
{
	return !w->nominal && qz_scope__covers(r->profile, r->scope, w->scope) &&
	       (qz_wait_cause__kind(r->profile->causes[w->cause]) & QZ_WAIT_IS_DEVICE);
}

uint64_t qz_usage__device_ns(const struct qz_report *r)
{
	const struct qz_profile *p = r->profile;
	uint64_t ns = 0;

	for (uint32_t i = 0; i < p->nwaits; i++)
		if (qz_usage__is_idle_for_device(r, &p->waits[i]))
			ns += p->waits[i].blocked_ns;
	return ns;
}

bool qz_usage__is_open(const struct qz_report *r, const struct qz_usage *u)
{
	const struct qz_profile *p = r->profile;

	if (p->scopes[r->scope].kind == QZ_SCOPE_MACHINE ||
	    p->scopes[r->scope].kind == QZ_SCOPE_KERNEL)
		return true;
	if (u->idle_ns < r->elapsed_ns / 2)
		return false;
	return qz_usage__device_ns(r) < u->idle_ns / 2;
}

bool qz_usage__is_closed(const struct qz_report *r)
{
	const struct qz_scope *scope = &r->profile->scopes[r->scope];

	return scope->kind == QZ_SCOPE_JOB && scope->ended;
}

uint32_t qz_usage__other(const struct qz_report *r)
{
	const struct qz_profile *p = r->profile;
	uint32_t best = QZ_NONE;

	if (p->scopes[r->scope].kind == QZ_SCOPE_MACHINE || qz_profile__machine(p) == QZ_NONE)
		return QZ_NONE;
	for (uint32_t i = 0; i < p->nscopes; i++) {
		const struct qz_scope *s = &p->scopes[i];

		if (i == r->scope || s->kind == QZ_SCOPE_MACHINE || s->vacant || !s->cpu_ns)
			continue;
		if (best == QZ_NONE || s->cpu_ns > p->scopes[best].cpu_ns)
			best = i;
	}
	return best;
}

char *qz_usage__name(const struct qz_profile *p, uint32_t scope)
{
	const struct qz_scope *s = &p->scopes[scope];
	const char *comm = s->kind == QZ_SCOPE_KERNEL ? "kernel threads" : s->comm;
	char unit[QZ_UNIT_LENGTH] = "", *name;

	qz_systemd_unit__of_cgroup(s->cgroup, unit);
	if (asprintf(&name, "%s%s%s%s", comm, *unit ? " (" : "", unit, *unit ? ")" : "") < 0)
		return NULL;
	return name;
}
