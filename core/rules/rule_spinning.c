/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that spin: they wait without giving up their processor. It costs time if other threads
 * were ready and had no processor. With a processor for each thread, it costs power only.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/advise/advise.h"
#include "core/advise/pools.h"
#include "core/costs/cost_table.h"
#include "core/model/frames.h"

#define MPI                                                                                        \
	"divide the work so that no rank is waited for; as many ranks as there are free CPUs at "  \
	"most, or Open MPI's --mca mpi_yield_when_idle 1"

#define POLLS "set up io_uring without IORING_SETUP_SQPOLL, or with a shorter sq_thread_idle"

#define ASKS                                                                                       \
	"wait in one call for all that may come (poll, epoll_wait with a timeout; an eventfd "     \
	"for what threads write)"

/* Below this share of the processor time, going to sleep would cost more than spinning. */
#define LEAST_SHARE 0.02

/* Processor time of the samples whose program code is one procedure. */
struct spent {
	uint64_t spun_ns, busy_ns;
};

struct spinning {
	const struct qz_report *report;
	struct spent *by_procedure;
	uint64_t *level_samples; /* indexed by level: all samples */
	uint64_t *on;		 /* indexed by object: spin time */
	uint64_t polled_ns;	 /* spin time of io_uring's kernel threads */
	uint64_t cpu_ns;
	uint64_t ready_ns;     /* of all threads */
	uint64_t held_back_ns; /* of those that did not spin */
};

/*
 * A kernel thread that IORING_SETUP_SQPOLL creates. It runs no code of the program; its stack is
 * that of the set-up.
 */
static bool is_of_uring(const struct qz_profile *p, const struct qz_sample *sample)
{
	return sample->thread != QZ_NONE &&
	       !strncmp(p->threads[sample->thread].comm, "iou-sqp-", 8);
}

static void add_up(struct spinning *s)
{
	const struct qz_profile *p = s->report->profile;

	for (uint32_t i = 0; i < p->nsamples; i++) {
		const struct qz_sample *sample = &p->samples[i];
		uint32_t code;

		if (sample->scope != s->report->scope || sample->level >= s->report->nlevels)
			continue;
		s->level_samples[sample->level] += qz_sample__weight(sample);
		s->cpu_ns += sample->cpu_ns;
		if (sample->spinning && sample->object != QZ_NONE)
			s->on[sample->object] += sample->cpu_ns;
		if (sample->spinning && is_of_uring(p, sample))
			s->polled_ns += sample->cpu_ns;
		code = qz_frames__program_code(p, sample->node);
		if (code == QZ_NONE)
			continue;
		if (sample->spinning)
			s->by_procedure[code].spun_ns += sample->cpu_ns;
		else
			s->by_procedure[code].busy_ns += sample->cpu_ns;
	}
}

/*
 * Adds up the ready time. A thread that was preempted while it spun would mostly not have worked.
 */
static void find_held_back(struct spinning *s)
{
	const struct qz_profile *p = s->report->profile;

	for (uint32_t i = 0; i < p->nwaits; i++) {
		const struct qz_wait *w = &p->waits[i];
		uint32_t code;

		if (!w->ready_ns || !qz_scope__covers(p, s->report->scope, w->scope))
			continue;
		s->ready_ns += w->ready_ns;
		code = qz_frames__program_code(p, w->node);
		if (code == QZ_NONE ||
		    s->by_procedure[code].spun_ns <= s->by_procedure[code].busy_ns)
			s->held_back_ns += w->ready_ns;
	}
}

static double saved(double ns, uint32_t busy, double more)
{
	return ns * more / (busy + more);
}

/*
 * What is saved if ready threads run on the processors that spun, and have work for all of that
 * time. With b of n processors busy, k of the other n - b would have helped: the same work takes b
 * / (b + k) of the time. k is the mean number of ready threads that did not spin; below 1, there
 * was one for that share of the time. b = 0: all running threads waited for a ready one, which may
 * have been preempted while it spun itself, so k counts all ready threads. n = 0: other programs
 * had all processors; of the processor time that the program would get instead, the share that it
 * spins now would have been work.
 */
static uint64_t gain_at_most(const struct spinning *s)
{
	const struct qz_profile *p = s->report->profile;
	const struct qz_scope *scope = &p->scopes[s->report->scope];
	double running_ns = (double)(s->report->elapsed_ns - scope->level_ns[0]);
	uint64_t off_ns = s->ready_ns < scope->level_ns[0] ? s->ready_ns : scope->level_ns[0];
	double gain = (double)off_ns * (double)s->report->spin_ns / (double)(s->cpu_ns + 1);

	for (uint32_t i = 0; i < p->nsamples && running_ns > 0; i++) {
		const struct qz_sample *sample = &p->samples[i];
		uint32_t n = sample->level, spinning;
		double k, ns;

		if (sample->scope != s->report->scope || n >= scope->nlevels || n <= sample->busy)
			continue;
		spinning = n - sample->busy;
		k = (double)(sample->busy ? s->held_back_ns : s->ready_ns) / running_ns;
		if (k > spinning)
			k = spinning;
		ns = (double)scope->level_ns[n] * (double)qz_sample__weight(sample) /
		     (double)s->level_samples[n];
		gain += k < 1 ? k * saved(ns, sample->busy, 1) : saved(ns, sample->busy, k);
	}
	return (uint64_t)gain;
}

static uint32_t largest(const uint64_t *ns, uint32_t n)
{
	uint32_t best = QZ_NONE;

	for (uint32_t i = 0; i < n; i++)
		if (ns[i] && (best == QZ_NONE || ns[i] > ns[best]))
			best = i;
	return best;
}

static uint32_t find_procedure(const struct spinning *s)
{
	uint32_t best = QZ_NONE;

	for (uint32_t i = 0; i < s->report->profile->nprocedures; i++)
		if (s->by_procedure[i].spun_ns &&
		    (best == QZ_NONE || s->by_procedure[i].spun_ns > s->by_procedure[best].spun_ns))
			best = i;
	return best;
}

/* Code without a symbol is named FILE+0xOFFSET. */
static bool has_name(const struct qz_procedure *procedure)
{
	return !strstr(procedure->name, "+0x");
}

/*
 * The library function that the program called, if the code that spins has no name; NULL: it has
 * one, or the function is not known.
 */
static const struct qz_procedure *
entry_of(const struct qz_report *r, const struct qz_procedure *code, const struct qz_cost_row *most)
{
	const struct qz_procedure *through;

	if (has_name(code) || most->through == QZ_NONE)
		return NULL;
	through = &r->profile->procedures[most->through];
	return has_name(through) ? through : NULL;
}

/*
 * Finds the runtime that spins, and its remedy. If the procedure that spins is sched_yield of the C
 * library, whoever called it most decides. Also sets *entry (entry_of). 0 or -ENOMEM.
 */
static int find_remedy(const struct qz_report *r, const struct qz_procedure *code,
		       const char **remedy, const struct qz_procedure **entry)
{
	const struct qz_procedure *procedures = r->profile->procedures;
	enum qz_pool_kind kind = qz_pool__of_procedure(code);
	const struct qz_cost_class *spinning;
	const struct qz_cost_code *call = qz_cost_code__find(code);
	struct qz_cost_table t;
	int err = qz_cost_table__find(&t, r);

	*remedy = call && call->cost == QZ_COST_CALLS ? ASKS : NULL;
	*entry = NULL;
	spinning = &t.classes[QZ_COST_SPINNING];
	if (kind == QZ_POOLS && spinning->n && spinning->rows[0].asker != QZ_NONE) {
		const struct qz_cost_row *most = &spinning->rows[0];

		kind = qz_pool__of_procedure(&procedures[most->asker]);
		if (kind == QZ_POOLS && most->through != QZ_NONE)
			kind = qz_pool__of_procedure(&procedures[most->through]);
		*entry = entry_of(r, code, most);
		if (most->origin == QZ_ORIGIN_MPI)
			*remedy = MPI;
	}
	qz_cost_table__free(&t);
	if (kind != QZ_POOLS)
		*remedy = qz_pool__info(kind)->passive;
	if (!*remedy)
		*remedy = "let it block after a short while (mutex, condition variable, futex), or "
			  "start fewer threads than there are CPUs";
	return err;
}

static int report_it(const struct spinning *s, uint32_t procedure, struct qz_advice *a)
{
	const struct qz_report *r = s->report;
	const struct qz_profile *p = r->profile;
	const struct qz_procedure *code = &p->procedures[procedure];
	uint32_t object = largest(s->on, p->nobjects);
	const char *remedy;
	const struct qz_procedure *entry;
	bool polls = s->polled_ns > r->spin_ns / 2;
	struct qz_finding f = qz_finding__about("spinning", r, QZ_SUBJECT_PROCEDURE, procedure);
	char called[QZ_SHORT_NAME] = "";

	f.word = "SPINNING";
	f.gain_high_ns = gain_at_most(s);
	f.lost = QZ_LOST_READY;
	f.failed |= find_remedy(r, code, &remedy, &entry) != 0;
	if (polls)
		snprintf(called, sizeof(called), "io_uring's polling thread");
	else if (entry)
		qz_finding__shorten(called, entry->name);
	qz_finding__say(&f, &f.what,
			"%s%s%s%s waits without giving its CPU away: %.0f%% of the CPU time is "
			"spun, while other threads are ready and have no CPU.",
			called, *called ? " (" : "", f.shown, *called ? ")" : "",
			100 * (double)r->spin_ns / (double)s->cpu_ns);
	qz_finding__prove(&f, "report", code->name, "spun there: %.2f s of %.2f s of CPU time",
			  (double)s->by_procedure[procedure].spun_ns / 1e9,
			  (double)s->cpu_ns / 1e9);
	qz_finding__prove(
		&f, "threads", NULL,
		"ready without a CPU: %.2f s, of this %.2f s in threads that did not spin",
		(double)s->ready_ns / 1e9, (double)s->held_back_ns / 1e9);
	if (object != QZ_NONE) {
		qz_finding__say(&f, &f.where, "on %s", p->objects[object].name);
		qz_finding__prove(&f, "report", p->objects[object].name, "spun on it: %.2f s",
				  (double)s->on[object] / 1e9);
	}
	qz_finding__say(&f, &f.remedy, "%s", polls ? POLLS : remedy);
	return qz_advise__add(a, &f);
}

int qz_rule__spinning(const struct qz_report *r, struct qz_advice *a)
{
	const struct qz_profile *p = r->profile;
	struct spinning s = {
		.report = r,
		.by_procedure = calloc(p->nprocedures + 1, sizeof(*s.by_procedure)),
		.level_samples = calloc(r->nlevels + 1, sizeof(*s.level_samples)),
		.on = calloc(p->nobjects + 1, sizeof(*s.on)),
	};
	int err = s.by_procedure && s.level_samples && s.on ? 0 : -ENOMEM;
	uint32_t procedure = QZ_NONE;

	if (!err) {
		add_up(&s);
		find_held_back(&s);
		procedure = find_procedure(&s);
	}
	if (procedure != QZ_NONE && (double)r->spin_ns >= LEAST_SHARE * (double)s.cpu_ns)
		err = report_it(&s, procedure, a);
	free(s.by_procedure);
	free(s.level_samples);
	free(s.on);
	return err;
}
