/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/advise/verdict.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/advise/usage.h"
#include "core/model/allowed.h"
#include "core/util/base_name.h"

/* Shares of the elapsed time. */
#define ALL	 0.98 /* what is left is the start and the end of a program */
#define MOST	 0.5
#define PARALLEL 0.9  /* of the processors, while any was busy */
#define TAKEN	 0.1  /* processors, on average */
#define OWN	 0.02 /* of the processors, on average */
#define ENOUGH	 16   /* samples */

static double part(const struct qz_report *r, uint64_t ns)
{
	return r->elapsed_ns ? (double)ns / (double)r->elapsed_ns : 0;
}

static uint64_t others_of(const struct qz_usage *u)
{
	return u->taken_ns - u->limited_ns - u->own_ns;
}

/* What it was kept from so long is more than it had, and it seldom waited for something else. */
static bool outweighs(const struct qz_report *r, const struct qz_usage *u, uint64_t kept_ns)
{
	return part(r, kept_ns) >= TAKEN &&
	       kept_ns > qz_scope__running_ns(&r->profile->scopes[r->scope]) &&
	       part(r, u->idle_ns) < MOST;
}

/* By others, and less by a limit of its own. */
static bool is_starved(const struct qz_report *r, const struct qz_usage *u)
{
	uint64_t others = others_of(u);

	return r->profile->scopes[r->scope].kind <= QZ_SCOPE_JOB && others > u->limited_ns &&
	       outweighs(r, u, others);
}

static enum qz_shortage shortage_of(const struct qz_report *r, const struct qz_usage *u)
{
	uint64_t others = others_of(u);
	double used = r->parallelism * (1 - part(r, u->idle_ns));

	if (!r->elapsed_ns || used >= PARALLEL * u->processors)
		return QZ_NOT_SHORT; /* what others had besides is no more than a tenth */
	if (part(r, u->limited_ns) >= TAKEN)
		return QZ_SHORT_BY_LIMIT;
	if (is_starved(r, u))
		return QZ_SHORT_BY_OTHERS;
	return others > u->unused_ns / 2 && part(r, others) >= TAKEN ? QZ_SHORT_BY_OTHERS
								     : QZ_NOT_SHORT;
}

enum qz_shortage qz_verdict__shortage(const struct qz_report *r)
{
	struct qz_usage u;

	qz_usage__find(r, &u);
	return shortage_of(r, &u);
}

/* What the first finding gains, on the average of its bounds. */
static double gain_of(const struct qz_advice *a)
{
	const struct qz_finding *f = a->findings;

	return a->n ? part(a->report, f->gain_low_ns / 2 + f->gain_high_ns / 2) : 0;
}

/* Of the time in which it had work, what it would not take if it had the processors that others had. */
static double gain_of_others(const struct qz_report *r, const struct qz_usage *u)
{
	double others = (double)others_of(u);
	uint64_t running = qz_scope__running_ns(&r->profile->scopes[r->scope]);

	return (1 - part(r, u->idle_ns)) * others / (others + (double)running);
}

/* More than the first finding gains, which would be so without them, too. */
static bool others_come_first(const struct qz_advice *a, const struct qz_usage *u)
{
	return is_starved(a->report, u) && gain_of_others(a->report, u) > gain_of(a);
}

/* By a quota: whatever else limits it comes after. */
static bool quota_comes_first(const struct qz_advice *a, const struct qz_usage *u)
{
	return u->throttled_ns > u->limited_ns / 2 && outweighs(a->report, u, u->limited_ns);
}

bool qz_verdict__others_first(const struct qz_advice *a)
{
	struct qz_usage u;

	qz_usage__find(a->report, &u);
	return others_come_first(a, &u);
}

/*
 * What the program could have used had others not had the processors; by levels of threads that run, one that
 * waits for a processor would be idle.
 */
static const char *word_of(const struct qz_report *r, const struct qz_usage *u)
{
	static const char *const shortages[] = {NULL, "SHORT OF CPUS", "LIMITED"};
	double idle = part(r, u->idle_ns), serial = part(r, u->alone_ns);
	enum qz_shortage shortage = shortage_of(r, u);

	if (!r->elapsed_ns)
		return "NOTHING MEASURED";
	if (idle >= ALL)
		return "IDLE";
	if (idle >= MOST)
		return "MOSTLY IDLE";
	if (u->processors == 1)
		return shortage ? shortages[shortage] : "ON ONE CPU";
	if (serial >= ALL * (1 - idle))
		return "SERIAL";
	if (serial >= MOST)
		return "MOSTLY SERIAL";
	if (shortage)
		return shortages[shortage];
	return r->parallelism * (1 - idle) + part(r, u->own_ns) >= PARALLEL * u->processors
		       ? "PARALLEL"
		       : "PARTLY PARALLEL";
}

static bool decides(const struct qz_advice *a)
{
	return a->n && a->findings->word && gain_of(a) >= QZ_VERDICT_GAIN;
}

/* " of 4 CPUs", " of the 2 CPUs that it may use", " of the 0.05 CPUs that its quota gives it" */
static void say_all(FILE *out, const struct qz_allowed *a)
{
	if (a->quota > 0 && a->quota < a->processors)
		fprintf(out, " of the %.*f CPUs that its quota gives it", a->quota < 0.1 ? 2 : 1,
			a->quota);
	else
		fprintf(out, a->fewer ? " of the %u CPU%s that it may use" : " of %u CPU%s",
			a->processors, a->processors == 1 ? "" : "s");
}

/* Of the processors that it kept busy: "1.7 of 4 CPUs", and "no CPU" where it never ran. */
static void say_average(FILE *out, const struct qz_report *r)
{
	struct qz_allowed a;
	double average = 0;

	for (uint32_t n = 1; n < r->nlevels; n++)
		average += n * part(r, r->effective_ns[n]);
	if (average < 0.005) {
		fprintf(out, "it kept no CPU busy");
		return;
	}
	qz_allowed__find(r->profile, r->scope, &a);
	fprintf(out, "it kept %.*f", average < 0.1 ? 2 : 1, average);
	say_all(out, &a);
	fprintf(out, " busy on average");
}

/* ", only one for 60% of the time, none for 5%" */
static void say_levels(FILE *out, const struct qz_report *r, uint32_t processors)
{
	double idle = 100 * part(r, r->idle_ns), serial = 100 * part(r, r->serial_ns);
	bool one = serial >= 0.5 && processors > 1;

	if (one)
		fprintf(out, ", only one for %.0f%% of the time", serial);
	if (idle >= 0.5 && idle < 99.5)
		fprintf(out, one ? ", none for %.0f%%" : ", none for %.0f%% of the time", idle);
}

/* What it lost to Quartz: `beside` others, which were named just before. */
static void say_own(FILE *out, double own, bool beside)
{
	fprintf(out,
		beside ? "; Quartz itself had %.*f"
		       : ". Quartz itself had %.*f more that its threads were ready for",
		own < TAKEN ? 2 : 1, own);
}

/* What kept it from processors that its threads were ready for, if that was others, and who ran most of these. */
static int say_taken(FILE *out, const struct qz_report *r, const struct qz_usage *u)
{
	double limited = part(r, u->limited_ns), own = part(r, u->own_ns);
	double others = part(r, u->taken_ns) - limited - own;
	uint32_t other = others < TAKEN ? QZ_NONE : qz_usage__other(r);
	char *name = other == QZ_NONE ? NULL : qz_usage__name(r->profile, other);
	const char *most = name;

	if (other != QZ_NONE && !name)
		return -ENOMEM;
	if (!most && others >= TAKEN)
		most = qz_usage__outside(r->profile);
	if (others >= TAKEN)
		fprintf(out, ". Other programs had %.1f more that its threads were ready for%s%s",
			others, most ? ", most of all " : "", most ? most : "");
	if (own >= OWN * u->processors)
		say_own(out, own, others >= TAKEN);
	if (limited >= TAKEN && u->throttled_ns > u->limited_ns / 2)
		fprintf(out, ". Its quota kept it from %.1f more", limited);
	else if (limited >= TAKEN)
		fprintf(out,
			". An affinity, a cpuset or a quota kept it from %.1f more, which no other "
			"program used",
			limited);
	free(name);
	return 0;
}

/* No figure is of the time in which the scheduler's log was off, or of which it was lost. */
static void say_lost(FILE *out, const struct qz_profile *p)
{
	double off = (double)qz_ledger__event(&p->ledger, "log_off_ns") / 1e9;
	double all = (double)p->window_ns / 1e9 * p->processors,
	       seconds = (double)qz_ledger__event(&p->ledger, "log_lost_ns") / 1e9;

	if (off > 0)
		fprintf(out,
			". Quartz measured for %.2g%% of the time, since all of it would cost more "
			"than the "
			"%.2g%% of the CPUs that it may take",
			100 * (off < all ? 1 - off / all : 0), p->ceiling_ppm / 1e4);
	if (seconds > 0)
		fprintf(out,
			". The log of the scheduler overflowed: what ran in %.2g s of a CPU's time "
			"is "
			"not known, and left out",
			seconds);
}

/* Which file has most of the code without names. */
static void say_unnamed(FILE *out, const struct qz_report *r, double percent)
{
	const struct qz_procedure *most = NULL;
	uint64_t most_ns = 0;
	bool is_file;

	for (uint32_t i = 0; i < r->nrows; i++) {
		const struct qz_procedure *code = &r->profile->procedures[r->rows[i].procedure];

		if (qz_procedure__has_name(code) || (most && r->rows[i].self.cpu_ns <= most_ns))
			continue;
		most = code;
		most_ns = r->rows[i].self.cpu_ns;
	}
	is_file = most && *most->module && *most->module != '[';
	fprintf(out, ". The code of %.0f%% of its samples has no names: most of it is in %s",
		percent, is_file ? qz_base_name(most->module) : "memory without a file");
	if (most && qz_procedure__is_of_32_bits(most))
		fputs(", of 32 bits, where no locks and callers are known either", out);
}

/* What the procedures that follow do not tell. */
static void say_missing(FILE *out, const struct qz_report *r)
{
	const struct qz_scope *s = &r->profile->scopes[r->scope];
	double unnamed = (double)s->unresolved, cut = (double)s->truncated;
	double all = (double)s->samples;

	if (s->samples < ENOUGH)
		return;
	if (unnamed >= MOST * all)
		say_unnamed(out, r, 100 * unnamed / all);
	if (cut >= MOST * all)
		fprintf(out,
			". %.0f%% of its stacks are cut: callers have less time below than is "
			"theirs",
			100 * cut / all);
}

char *qz_verdict__text(const struct qz_advice *a)
{
	const struct qz_report *r = a->report;
	struct qz_usage u;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int err = 0;

	if (!out)
		return NULL;
	qz_usage__find(r, &u);
	fprintf(out, "%s: ",
		others_come_first(a, &u)   ? "SHORT OF CPUS"
		: quota_comes_first(a, &u) ? "LIMITED"
		: decides(a)		   ? a->findings[0].word
					   : word_of(r, &u));
	say_average(out, r);
	say_levels(out, r, u.processors);
	err = say_taken(out, r, &u);
	say_lost(out, r->profile);
	say_missing(out, r);
	if (!fclose(out) && !err)
		return text;
	free(text);
	return NULL;
}
