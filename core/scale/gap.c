/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/scale/gap.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/costs/cost_code.h"
#include "core/util/ratio_text.h"
#include "core/util/term_escape.h"

#define SMALL	 0.02 /* of P * T_P: not worth a word more */
#define NOTABLE	 0.1  /* of a term: is named */
#define DISTURBS 0.05 /* of P * T_P that others had, or chance: figures are not to be trusted */
#define SECOND	 1e9
#define MOST	 3 /* parts that are named */

/* In the making. */
struct gap {
	const struct qz_scale *s;
	const struct qz_identities *ids;
	const struct qz_scale_point *last, *before; /* NULL: there is no other one */
	uint32_t point;				    /* index of last */
	double total;				    /* P * T_P of it */
	struct qz_gaps *gaps;
	int err;
};

__attribute__((format(printf, 2, 3))) static void say(struct gap *g, const char *format, ...)
{
	struct qz_gaps *gaps = g->gaps;
	va_list args;

	if (g->err || gaps->n == QZ_MAX_GAPS)
		return;
	va_start(args, format);
	if (vasprintf(&gaps->sentences[gaps->n], format, args) < 0)
		g->err = -ENOMEM;
	else
		gaps->n++;
	va_end(args);
}

static double share_of(const struct gap *g, double ns)
{
	return g->total > 0 ? ns / g->total : 0;
}

/* " (+- 0.3)" in percent of P * T_P, or "" where it is not known. */
static const char *within(const struct gap *g, double ci, char text[32])
{
	text[0] = '\0';
	if (ci >= 0)
		snprintf(text, 32, " (+- %.1f)", 100 * share_of(g, ci));
	return text;
}

/* ---- names ---- */

char *qz_gaps__name(const struct qz_identities *ids, uint32_t identity)
{
	return qz_term_escape__copy(qz_identities__get(ids, identity).name);
}

char *qz_gaps__cause(const struct qz_identities *ids, const struct qz_scale_cause *cause)
{
	static const char *const formats[QZ_IDLE_CAUSE_KINDS] = {
		[QZ_IDLE_CAUSE_WAIT] = "waits for %s",
		[QZ_IDLE_CAUSE_JOIN] = "waits for the end of others (%s)",
		[QZ_IDLE_CAUSE_NO_WORK] = "threads without work (%s)",
		[QZ_IDLE_CAUSE_NO_THREAD] = "no further thread to run",
		[QZ_IDLE_CAUSE_OTHERS] = "other programs on the processors",
		[QZ_IDLE_CAUSE_QUARTZ] = "Quartz itself on the processors",
		[QZ_IDLE_CAUSE_LATE] = "threads on their way to a processor",
		[QZ_IDLE_CAUSE_SPIN] = "spinning in %s",
	};
	char *name, *text;
	int n;

	if (cause->identity == QZ_NONE)
		return strdup(cause->kind == QZ_IDLE_CAUSE_SPIN ? "spinning"
								: formats[cause->kind]);
	name = qz_gaps__name(ids, cause->identity);
	if (!name)
		return NULL;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	n = asprintf(&text, formats[cause->kind], name);
#pragma GCC diagnostic pop
	free(name);
	return n < 0 ? NULL : text;
}

/* ---- lists of parts ---- */

/* A list in the making, "43% waits for x, 20% y". */
struct list {
	char *text;
	size_t size;
	FILE *out;
	int n;
	bool failed;
};

static void list__open(struct list *l)
{
	*l = (struct list) {0};
	l->out = open_memstream(&l->text, &l->size);
	l->failed = !l->out;
}

/* The text, to be freed; NULL where memory was short. */
static char *list__close(struct gap *g, struct list *l)
{
	if (l->out && fclose(l->out))
		l->failed = true;
	if (!l->failed)
		return l->text;
	free(l->text);
	g->err = -ENOMEM;
	return NULL;
}

/* Parts of less than a tenth, and more than three, are left out. */
static char *list_causes(struct gap *g)
{
	struct list l;

	list__open(&l);
	for (uint32_t i = 0; !l.failed && i < g->s->ncauses && l.n < MOST; i++) {
		const struct qz_scale_cause *c = &g->s->causes[i];
		double share = c->idle[g->point].value / g->last->idle.value;
		char *name;

		if (share < NOTABLE)
			break;
		name = qz_gaps__cause(g->ids, c);
		l.failed = !name ||
			   fprintf(l.out, "%s%.0f%% %s", l.n++ ? ", " : "", 100 * share, name) < 0;
		free(name);
	}
	return list__close(g, &l);
}

/* "add +0.812 s (64%)" of those that grew, or shrank, by more than chance. */
static char *list_rows(struct gap *g)
{
	struct list l;

	list__open(&l);
	for (uint32_t i = 0; !l.failed && i < g->s->nrows && l.n < MOST; i++) {
		const struct qz_scale_value *v = &g->s->rows[i].inflation[g->point];
		double share = v->value / g->last->inflation.value;
		char *name;

		if (share < NOTABLE || !qz_scale_value__is_certain(v))
			continue;
		name = qz_gaps__name(g->ids, g->s->rows[i].identity);
		l.failed = !name || fprintf(l.out, "%s%s %+.3f s (%.0f%%)", l.n++ ? ", " : "", name,
					    v->value / SECOND, 100 * share) < 0;
		free(name);
	}
	return list__close(g, &l);
}

/* The row while which most processor time was idle. NULL: none. */
static const struct qz_scale_row *most_beside(const struct gap *g)
{
	const struct qz_scale_row *most = NULL;

	for (uint32_t i = 0; i < g->s->nrows; i++) {
		const struct qz_scale_row *row = &g->s->rows[i];

		if (!most || row->beside[g->point].value > most->beside[g->point].value)
			most = row;
	}
	return most;
}

/* ---- sentences ---- */

static void say_overhead(struct gap *g)
{
	const struct qz_scale *s = g->s;
	double more = s->baseline.value > 0 ? s->points[0].work.value / s->baseline.value - 1 : 0;
	char amount[QZ_RATIO_TEXT];

	if (!s->has_baseline)
		return;
	qz_ratio_text__amount(amount, 1 + more, "work");
	if (fabs(more) < SMALL)
		say(g, "Overhead: on one processor the program does as much work as the baseline.");
	else
		say(g,
		    "Overhead: on one processor the program does %s the baseline, so that it can "
		    "be %.2f times as fast on %u at most.",
		    amount, g->last->maximal, g->last->processors);
}

static void say_beside(struct gap *g)
{
	const struct qz_scale_row *row = most_beside(g);
	double share = row ? row->beside[g->point].value / g->last->idle.value : 0;
	char *name;

	if (share < NOTABLE)
		return;
	name = qz_gaps__name(g->ids, row->identity);
	if (name)
		say(g, "%.0f%% of the idle time was while %s ran.", 100 * share, name);
	else
		g->err = -ENOMEM;
	free(name);
}

/*
 * What the program would gain without idle time. Where a run on one processor waits for devices or other programs, the figure
 * counts these waits as well; yet more processors than there are no program can use, if it is not other code than the baseline.
 */
static double without_idle(const struct gap *g)
{
	double most = g->last->processors;

	if (g->s->has_baseline && g->last->maximal > most)
		most = g->last->maximal;
	if (g->last->actual.value > most) /* as where more caches hold what one did not */
		return g->last->inflation_specific;
	return fmin(g->last->inflation_specific, most);
}

static void say_idle(struct gap *g)
{
	double share = share_of(g, g->last->idle.value);
	char text[32], *list;

	if (share < SMALL) {
		say(g, "Idle time: %.1f%%%s of what %u processors have; more threads gain nothing.",
		    100 * share, within(g, g->last->idle.ci, text), g->last->processors);
		return;
	}
	list = list_causes(g);
	if (list)
		say(g,
		    "Idle time: %.1f%%%s of what %u processors have; without it, the program would "
		    "be %.2f times as fast%s%s.",
		    100 * share, within(g, g->last->idle.ci, text), g->last->processors,
		    without_idle(g), *list ? ". Of it: " : "", list);
	free(list);
	say_beside(g);
}

static void say_inflation(struct gap *g)
{
	const struct qz_scale_value *f = &g->last->inflation;
	double share = share_of(g, f->value), more = f->value / g->s->points[0].work.value;
	bool certain = f->ci < 0 || qz_scale_value__is_certain(f);
	char text[32], amount[QZ_RATIO_TEXT], *list;

	if (!certain && share_of(g, f->ci) > DISTURBS) {
		say(g,
		    "Work inflation: %.1f%%%s of what %u processors have, which may be chance: "
		    "more "
		    "runs will tell.",
		    100 * share, within(g, f->ci, text), g->last->processors);
		return;
	}
	if (!certain || fabs(share) < SMALL) {
		say(g,
		    "Work inflation: %.1f%%%s of what %u processors have: the work takes as much "
		    "processor time as on one.",
		    100 * share, within(g, f->ci, text), g->last->processors);
		return;
	}
	qz_ratio_text__amount(amount, 1 + more, "processor time");
	list = list_rows(g);
	if (list && share > 0)
		say(g,
		    "Work inflation: %.1f%%%s of what %u processors have: the same work takes "
		    "%s on one; without, the program would be %.2f times as fast%s%s.",
		    100 * share, within(g, f->ci, text), g->last->processors, amount,
		    g->last->idle_specific, *list ? ". Most of it: " : "", list);
	else if (list)
		say(g,
		    "Work inflation: %.1f%%%s of what %u processors have: the work takes %s "
		    "on one, as where more caches hold more, or less is done%s%s.",
		    100 * share, within(g, f->ci, text), g->last->processors, amount,
		    *list ? ". Most of it: " : "", list);
	free(list);
}

/* Whether a term took most of the processor time that was added, which is worth a word, and more than chance. */
static bool takes_most(const struct gap *g, double term, double ci, double added)
{
	return term > added / 2 && share_of(g, term) >= NOTABLE && term > ci;
}

/* Not what others or Quartz had. */
static double own_idle(const struct qz_scale_point *p)
{
	return p->idle.value - p->others.value - p->quartz.value;
}

/* What grows most, where that is a cost of each step, and half of what was added at the last point; NULL: it is something else. */
static const char *growing_cost(const struct gap *g, double added)
{
	const struct qz_scale_row *class = qz_scale__growing(g->s);
	const char *name = class ? qz_identities__get(g->ids, class->identity).name : NULL;
	double grew = class ? class->work[g->point].value - class->work[g->point - 1].value : 0;

	if (grew < added / 2)
		return NULL;

	switch (name ? qz_cost__by_name(name) : QZ_COST_WORK) {
	case QZ_COST_STARTING:
	case QZ_COST_HANDING:
	case QZ_COST_COPYING:
	case QZ_COST_CALLS:
		return name;
	default:
		return NULL;
	}
}

/* Why the work takes more processor time. */
static void say_added_work(struct gap *g, const struct qz_scale_point *a,
			   const struct qz_scale_point *b, double added)
{
	bool falls = b->inflation_specific < a->inflation_specific &&
		     qz_scale_value__is_certain(&b->inflation);
	double inflation = b->inflation.value - a->inflation.value;
	const char *cost = growing_cost(g, inflation);

	if (!falls && !takes_most(g, inflation, b->inflation.ci, added))
		return;
	if (cost)
		say(g,
		    "From %u to %u processors, most of what is added goes to %s: the steps are too "
		    "small for so many threads.",
		    a->processors, b->processors, cost);
	else if (falls)
		say(g,
		    "From %u to %u processors the work itself goes slower, as where all write to "
		    "the same memory: locks, atomic operations, cache lines that are shared by "
		    "accident.",
		    a->processors, b->processors);
	else
		say(g,
		    "From %u to %u processors, most of what is added goes to inflation, as where "
		    "memory is the bottleneck.",
		    a->processors, b->processors);
}

/* From one number of processors to the next: what became of the processor time that was added. */
static void say_curvature(struct gap *g)
{
	const struct qz_scale_point *a = g->before, *b = g->last;
	double added;

	if (!a)
		return;
	added = g->total - a->processors * a->elapsed.value;
	if (b->elapsed.value > a->elapsed.value + fmax(b->elapsed.ci, 0) + fmax(a->elapsed.ci, 0))
		say(g, "The program is slower on %u processors than on %u.", b->processors,
		    a->processors);
	if (takes_most(g, own_idle(b) - own_idle(a), b->idle.ci, added))
		say(g,
		    "From %u to %u processors, most of what is added is idle: there is too little "
		    "that can run in parallel.",
		    a->processors, b->processors);
	say_added_work(g, a, b, added);
}

static double share_of_point(const struct qz_scale_point *p, double ns)
{
	return ns / (p->processors * p->elapsed.value);
}

/* What makes the terms doubtful: first, because it is in all of them. */
static void say_others(struct gap *g)
{
	double others = 0, quartz = 0;

	for (uint32_t i = 0; i < g->s->n; i++) {
		const struct qz_scale_point *p = &g->s->points[i];

		others = fmax(others, share_of_point(p, p->others.value));
		quartz = fmax(quartz, share_of_point(p, p->quartz.value));
	}
	if (others >= DISTURBS)
		say(g,
		    "Other programs had up to %.0f%% of the processors that this one wanted. That "
		    "is in its idle time, and what it shares with them, as caches, in its "
		    "inflation: "
		    "measure again when they rest.",
		    100 * others);
	if (quartz >= DISTURBS)
		say(g,
		    "Quartz itself had up to %.0f%% of the processors that this one wanted. That "
		    "is "
		    "in its idle time, and is less of a longer run.",
		    100 * quartz);
}

static void say_doubts(struct gap *g)
{
	const struct qz_scale_point *one = &g->s->points[0];
	double own = own_idle(one);

	for (uint32_t i = 0; i < g->s->n; i++)
		if (g->s->points[i].beyond > 0.01)
			say(g,
			    "On %u processors the program ran on more than these, since it chooses "
			    "its processors itself: its terms are wrong.",
			    g->s->points[i].processors);
	if (own >= DISTURBS * one->elapsed.value)
		say(g,
		    "On one processor it waited %.0f%% of the time without having work; this is no "
		    "part of the work, so that more than the linear speed-up is possible.",
		    100 * own / one->elapsed.value);
}

static void say_chance(struct gap *g)
{
	for (uint32_t i = 0; i < g->s->n; i++)
		if (g->s->points[i].runs < QZ_SCALE_LEAST_RUNS) {
			say(g,
			    "With fewer than %d runs on each number of processors it is not known "
			    "what may be chance.",
			    QZ_SCALE_LEAST_RUNS);
			return;
		}
}

static void say_all(struct gap *g)
{
	say_others(g);
	say_overhead(g);
	if (g->last->processors == 1) {
		say_doubts(g);
		return;
	}
	if (g->last->idle.value >= g->last->inflation.value) {
		say_idle(g);
		say_inflation(g);
	} else {
		say_inflation(g);
		say_idle(g);
	}
	say_curvature(g);
	say_doubts(g);
	say_chance(g);
}

int qz_gaps__find(const struct qz_scale *s, const struct qz_identities *ids, struct qz_gaps *gaps)
{
	struct gap g = {
		.s = s,
		.ids = ids,
		.point = s->n - 1,
		.last = &s->points[s->n - 1],
		.before = s->n > 1 ? &s->points[s->n - 2] : NULL,
		.gaps = gaps,
	};

	*gaps = (struct qz_gaps) {0};
	g.total = g.last->processors * g.last->elapsed.value;
	say_all(&g);
	return g.err;
}

void qz_gaps__free(struct qz_gaps *gaps)
{
	for (uint32_t i = 0; i < gaps->n; i++)
		free(gaps->sentences[i]);
	gaps->n = 0;
}
