/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/advise/verdict.h"

#include <stdio.h>

#include "core/advise/usage.h"

/* Shares of the elapsed time. */
#define ALL	 0.98 /* what is left is the start and the end of a program */
#define MOST	 0.5
#define PARALLEL 0.9 /* of the processors, while any was busy */
#define TAKEN	 0.1 /* processors, on average */

/* What of the processors that the program wanted Quartz itself had, which on few processors is much of a short run. */
static uint64_t own_ns(const struct qz_report *r, const struct qz_usage *u)
{
	uint64_t ns = r->profile->costs.daemon_ns;

	return ns < u->taken_ns ? ns : u->taken_ns;
}

static double part(const struct qz_report *r, uint64_t ns)
{
	return r->elapsed_ns ? (double)ns / (double)r->elapsed_ns : 0;
}

/*
 * What the program could have used had others not had the processors; by levels of threads that run, one that
 * waits for a processor would be idle.
 */
static const char *word_of(const struct qz_report *r, const struct qz_usage *u)
{
	double idle = part(r, u->idle_ns), serial = part(r, u->alone_ns);
	uint64_t own = own_ns(r, u), others = u->taken_ns - own;

	if (!r->elapsed_ns)
		return "NOTHING MEASURED";
	if (idle >= ALL)
		return "IDLE";
	if (idle >= MOST)
		return "MOSTLY IDLE";
	if (u->processors == 1)
		return "ON ONE CPU";
	if (serial >= ALL * (1 - idle))
		return "SERIAL";
	if (serial >= MOST)
		return "MOSTLY SERIAL";
	if (r->parallelism * (1 - idle) >= PARALLEL * u->processors)
		return "PARALLEL"; /* what others had besides is no more than a tenth */
	if (others > u->unused_ns / 2 && part(r, others) >= TAKEN)
		return "SHORT OF CPUS";
	return r->parallelism + part(r, own) >= PARALLEL * u->processors ? "PARALLEL"
									 : "PARTLY PARALLEL";
}

static bool decides(const struct qz_advice *a)
{
	const struct qz_finding *f = a->findings;

	return a->n && f->word &&
	       part(a->report, f->gain_low_ns / 2 + f->gain_high_ns / 2) >= QZ_VERDICT_GAIN;
}

/* ", none 5% of the time", or "no CPU worked 5% of the time, " where there was no serial time. */
static void say_levels(const struct qz_report *r, char text[128])
{
	double idle = 100 * part(r, r->idle_ns), serial = 100 * part(r, r->serial_ns);
	int n = 0;

	if (serial >= 0.5)
		n = snprintf(text, 128, "only one CPU worked %.0f%% of the time", serial);
	if (idle >= 0.5)
		snprintf(text + n, 128 - n,
			 n ? ", none %.0f%%" : "no CPU worked %.0f%% of the time", idle);
}

char *qz_verdict__text(const struct qz_advice *a)
{
	const struct qz_report *r = a->report;
	char levels[128] = "", taken[64] = "", *text;
	struct qz_usage u;
	uint64_t own;

	qz_usage__find(r, &u);
	say_levels(r, levels);
	own = own_ns(r, &u);
	if (part(r, u.taken_ns) >= TAKEN)
		snprintf(taken, sizeof(taken), "; %s had %.1f that it wanted",
			 own > u.taken_ns / 2 ? "Quartz" : "others", part(r, u.taken_ns));
	if (asprintf(&text, "%s: %s%saverage %.1f of %u%s%s",
		     decides(a) ? a->findings[0].word : word_of(r, &u), levels, *levels ? " (" : "",
		     r->parallelism, u.processors, taken, *levels ? ")" : " CPUs") < 0)
		return NULL;
	return text;
}
