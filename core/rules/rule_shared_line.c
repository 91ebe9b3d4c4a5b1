/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that write to the same cache line take it from each other: each access waits until the
 * line has come from another processor. What an access takes otherwise is known from the time in
 * which only one of them ran.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/advise/advise.h"
#include "core/advise/quota.h"
#include "core/advise/usage.h"
#include "core/costs/cost_walk.h"
#include "core/model/frames.h"
#include "core/model/objects.h"

/* Below this share of the busy time, the sharing is communication that the program needs. */
#define LEAST_SHARE 0.05

#define LEAST_SAMPLES 16

/* Distance of the lower end of an interval, in standard deviations. */
#define SIGMAS 2.0

/*
 * By which factor an access takes longer beside others: 4 to 30 in programs with a fix
 * (doc/truth.md). It counts like another measurement (a prior), since code that does nothing else
 * is at the line all the time, however long an access takes.
 */
#define USUAL_TIMES	8.0
#define USUAL_DEVIATION 0.693 /* of its logarithm: 2 to 32 times */

/*
 * If this share of a procedure's samples beside other threads is at lines, its other samples are next to them: a processor
 * that waits for the line also holds up what comes after the access. Of two counters of one line that need no atomic
 * instruction, 0.65 are at the line, and a line for each gains twice as much as these.
 */
#define NEXT_TO 0.5

/* Samples at one cache line. */
struct line {
	uint64_t norm_ns, cpu_ns, count; /* of samples that count as work */
	uint64_t all;			 /* samples, those of locks included */
};

struct lines {
	struct line *of; /* indexed by object */
	int64_t *shared; /* indexed by procedure: samples at lines */
	int64_t *worked; /* the same, beside others: samples that work, less those that spin */
	struct line sum;
	double low_ns, low_cpu_ns; /* of the sum, surely saved */
	double alone_ns; /* at words that several threads use, while no other one ran, in the same code */
	double code_ns, code_cpu_ns; /* of code that is mostly at lines, beside others */
	double code_alone_ns;	     /* of it, while no other one ran */
	uint32_t most;		     /* object */
	uint32_t n;
};

static uint32_t leaf(const struct qz_profile *p, uint32_t node)
{
	struct qz_frames frames = {.profile = p, .node = node};

	return qz_frames__next(&frames);
}

/*
 * The instruction after an access may begin a spin loop. In code that spins more than it works,
 * samples at lines count as spinning.
 */
static void find_work(const struct qz_report *r, struct lines *l)
{
	const struct qz_profile *p = r->profile;

	for (uint32_t i = 0; i < p->nsamples; i++) {
		const struct qz_sample *s = &p->samples[i];
		uint32_t code = s->scope == r->scope ? leaf(p, s->node) : QZ_NONE;
		int64_t weight = (int64_t)qz_sample__weight(s);

		if (code != QZ_NONE && s->level > 1)
			l->worked[code] += s->spinning ? -weight : weight;
	}
}

static int add_up(const struct qz_report *r, struct lines *l)
{
	const struct qz_profile *p = r->profile;
	struct qz_cost_walk walk;
	int err = qz_cost_walk__init(&walk, p);

	for (uint32_t i = 0; !err && i < p->nsamples; i++) {
		const struct qz_sample *s = &p->samples[i];
		struct qz_cost_stack stack;
		struct line *line;
		uint32_t code;

		if (s->scope != r->scope || s->spinning || s->object == QZ_NONE ||
		    p->objects[s->object].kind != QZ_OBJECT_LINE)
			continue;
		line = &l->of[s->object];
		line->all += qz_sample__weight(s);
		stack = qz_cost_walk__at(&walk, s->node);
		code = leaf(p, s->node);
		if (qz_cost_walk__of(&walk, &stack, s) != QZ_COST_LINES ||
		    (code != QZ_NONE && l->worked[code] < 0))
			continue;
		if (code != QZ_NONE)
			l->shared[code] += (int64_t)qz_sample__weight(s);
		line->norm_ns += s->norm_ns;
		line->cpu_ns += s->cpu_ns;
		line->count += qz_sample__weight(s);
	}
	qz_cost_walk__free(&walk);
	return err;
}

/* Samples at the line while others of its threads ran. */
static double at_line(const struct qz_object *o, const struct line *line)
{
	return (double)(o->line_there ? o->line_there : line->all);
}

/*
 * The share that is surely saved. While others run, so many samples are at the line for each one
 * elsewhere; without sharing, it would be as many as while none runs. The logarithm of this odds
 * ratio (Woolf's, with Haldane's halves) is averaged with the usual one, each weighted by its
 * inverse variance; the lower end of the interval counts.
 */
static double saved_share(const struct qz_object *o, const struct line *line)
{
	double counts[] = {at_line(o, line), (double)o->line_elsewhere, (double)o->line_alone,
			   (double)o->line_elsewhere_alone};
	double variance = 0, weight = 1 / (USUAL_DEVIATION * USUAL_DEVIATION), times, log_times;

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		counts[i] += 0.5;
		variance += 1 / counts[i];
	}
	log_times = log(counts[0] / counts[1] / (counts[2] / counts[3])) / variance +
		    log(USUAL_TIMES) * weight;
	weight += 1 / variance;
	times = exp(log_times / weight - SIGMAS / sqrt(weight));
	return times > 1 ? 1 - 1 / times : 0;
}

/* Whether its threads use the same words of it. */
static bool has_same_words(const struct qz_object *o, const struct line *line)
{
	return o->line_same >= line->all / 2;
}

/*
 * Of code with samples at lines: *alone_ns is its processor time while no other thread ran; l gets the time of the code that
 * is mostly at lines.
 */
static void find_code(const struct qz_report *r, struct lines *l, double *alone_ns)
{
	const struct qz_profile *p = r->profile;

	*alone_ns = 0;
	for (uint32_t i = 0; i < p->nsamples; i++) {
		const struct qz_sample *s = &p->samples[i];
		uint32_t code = s->scope == r->scope && !s->spinning ? leaf(p, s->node) : QZ_NONE;
		bool mostly;

		if (code == QZ_NONE || !l->shared[code])
			continue;
		mostly = (double)l->shared[code] >= NEXT_TO * (double)l->worked[code];
		if (s->busy == 1) {
			*alone_ns += (double)s->cpu_ns;
			l->code_alone_ns += mostly ? (double)s->cpu_ns : 0;
		} else if (mostly) {
			l->code_ns += (double)s->norm_ns;
			l->code_cpu_ns += (double)s->cpu_ns;
		}
	}
}

static void add_lines(const struct qz_report *r, struct lines *l)
{
	const struct qz_profile *p = r->profile;
	double alone_ns, saved;

	find_code(r, l, &alone_ns);
	l->most = QZ_NONE;
	for (uint32_t i = 0; i < p->nobjects; i++) {
		const struct line *line = &l->of[i];

		if (!line->count)
			continue;
		l->n++;
		l->sum.norm_ns += line->norm_ns;
		l->sum.cpu_ns += line->cpu_ns;
		l->sum.count += line->count;
		saved = saved_share(&p->objects[i], line);
		l->low_ns += saved * (double)line->norm_ns;
		l->low_cpu_ns += saved * (double)line->cpu_ns;
		if (has_same_words(&p->objects[i], line))
			l->alone_ns += (double)line->cpu_ns * (double)p->objects[i].line_alone /
				       (double)line->all;
		if (l->most == QZ_NONE || line->norm_ns > l->of[l->most].norm_ns)
			l->most = i;
	}
	if (l->alone_ns > alone_ns)
		l->alone_ns = alone_ns;
	if (l->most != QZ_NONE && has_same_words(&p->objects[l->most], &l->of[l->most])) {
		l->code_ns += l->code_alone_ns;
		l->code_cpu_ns += l->code_alone_ns;
	}
}

/*
 * Scaled from the busy time to the time in which the program could run, since other programs do not
 * make the share smaller. A thread that counts by itself saves the accesses to the shared word also
 * while it runs alone.
 */
static void set_gain(const struct qz_report *r, const struct lines *l, struct qz_finding *f)
{
	struct qz_usage u;
	struct qz_bounds b, cpu;
	double able;

	qz_usage__find(r, &u);
	able = (double)(r->elapsed_ns - u.idle_ns) / (double)r->busy_ns;
	b.low_ns = (uint64_t)(l->low_ns * able);
	b.high_ns = (uint64_t)(fmax((double)l->sum.norm_ns + l->alone_ns, l->code_ns) * able);
	cpu.low_ns = (uint64_t)l->low_cpu_ns;
	cpu.high_ns = (uint64_t)fmax((double)l->sum.cpu_ns + l->alone_ns, l->code_cpu_ns);
	b = qz_quota__save(r, b, cpu);
	f->gain_low_ns = b.low_ns;
	f->gain_high_ns = b.high_ns;
	f->lost = QZ_LOST_SERIAL | QZ_LOST_READY;
}

static int report_it(const struct qz_report *r, const struct lines *l, struct qz_advice *a)
{
	const struct qz_object *o = &r->profile->objects[l->most];
	const struct line *line = &l->of[l->most];
	struct qz_finding f = qz_finding__about("shared-line", r, QZ_SUBJECT_OBJECT, l->most);
	bool same = has_same_words(o, line);
	char others[48] = "";

	f.word = "SHARING LINES";
	set_gain(r, l, &f);
	if (l->n > 1)
		snprintf(others, sizeof(others), " (and %u others)", l->n - 1);
	qz_finding__say(&f, &f.what,
			"Threads take %s%s from each other, which takes %.0f%% of the time in "
			"which anything ran: they use %s.",
			f.shown, others, 100 * (double)l->sum.norm_ns / (double)r->busy_ns,
			same ? "the same words of it" : "different words of it (false sharing)");
	qz_finding__prove(&f, "report", f.subject.name,
			  "waiting for it while another of its threads ran: %.2f s of CPU time",
			  (double)line->cpu_ns / 1e9);
	qz_finding__prove(
		&f, NULL, NULL,
		"samples of its threads at it: %.0f of %.0f beside each other, %.0f of %.0f alone",
		at_line(o, line), at_line(o, line) + (double)o->line_elsewhere,
		(double)o->line_alone, (double)(o->line_alone + o->line_elsewhere_alone));
	qz_finding__say(&f, &f.remedy, "%s",
			same ? "let each thread count or collect by itself, in a line of its own "
			       "(alignas(64)), and add up at the end or every 1000 times"
			     : "put what each thread writes into a line of its own: alignas(64), "
			       "or variables of the thread (_Thread_local, on its stack)");
	return qz_advise__add(a, &f);
}

int qz_rule__shared_line(const struct qz_report *r, struct qz_advice *a)
{
	struct lines l = {.of = calloc((size_t)r->profile->nobjects + 1, sizeof(*l.of)),
			  .shared = calloc((size_t)r->profile->nprocedures + 1, sizeof(*l.shared)),
			  .worked = calloc((size_t)r->profile->nprocedures + 1, sizeof(*l.worked))};
	int err = l.of && l.shared && l.worked ? 0 : -ENOMEM;

	if (!err)
		find_work(r, &l);
	err = err ?: add_up(r, &l);
	if (!err) {
		add_lines(r, &l);
		if (l.sum.count >= LEAST_SAMPLES &&
		    (double)l.sum.norm_ns >= LEAST_SHARE * (double)r->busy_ns)
			err = report_it(r, &l, a);
	}
	free(l.worked);
	free(l.shared);
	free(l.of);
	return err;
}
