/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Garbage collections that stop the world: from when a runtime's thread has all others stopped until it lets them go on. It
 * computes meanwhile, or waits for helpers that do. Collectors that work beside the program are no stop.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/advise/advise.h"
#include "core/model/frames.h"
#include "core/util/suffix.h"

/* Of what a larger heap, or another collector, saves of such stops. */
#define USUAL 0.3

/* By the procedure that runs in a stop: the beginning of its name, a part of it, its end. */
static const struct collector {
	const char *begins, *part, *ends;
	const char *language, *remedy;
} collectors[] = {
	{"VM_", "Collect", "::doit()", "Java",
	 "keep fewer objects alive and make fewer, give it a larger heap (-Xmx), or a collector "
	 "that "
	 "works beside the program (-XX:+UseG1GC, -XX:+UseZGC)"},
	{"VM_", "GC", "::doit()", "Java",
	 "keep fewer objects alive and make fewer, give it a larger heap (-Xmx), or a collector "
	 "that "
	 "works beside the program (-XX:+UseG1GC, -XX:+UseZGC)"},
	{"runtime.gcMarkTermination", "", "", "Go",
	 "make fewer objects, or let them be collected more seldom (GOGC, GOMEMLIMIT)"},
};

#define COLLECTORS (sizeof(collectors) / sizeof(collectors[0]))

/* COLLECTORS: it is none. */
static size_t collector_of(const struct qz_procedure *procedure)
{
	size_t i = 0;

	while (i < COLLECTORS &&
	       (strncmp(procedure->name, collectors[i].begins, strlen(collectors[i].begins)) ||
		!strstr(procedure->name, collectors[i].part) ||
		!qz_suffix__is(procedure->name, collectors[i].ends)))
		i++;
	return i;
}

/* Stops, by the procedure that runs in them. */
struct stops {
	const struct qz_profile *profile;
	uint64_t *ns;
};

static void add(struct stops *s, uint32_t node, uint64_t ns)
{
	struct qz_frames frames = {.profile = s->profile, .node = node};
	uint32_t frame;

	/* what a thread has started goes on when the stop is over */
	while (ns && (frame = qz_frames__next(&frames)) != QZ_NONE &&
	       s->profile->procedures[frame].kind == QZ_PROCEDURE)
		if (collector_of(&s->profile->procedures[frame]) < COLLECTORS) {
			s->ns[frame] += ns;
			return;
		}
}

static int tell(const struct qz_report *r, struct qz_advice *a, uint32_t procedure, uint64_t ns)
{
	const struct collector *c = &collectors[collector_of(&r->profile->procedures[procedure])];
	struct qz_finding f = qz_finding__about("collection", r, QZ_SUBJECT_PROCEDURE, procedure);

	f.word = "COLLECTING";
	f.gain_high_ns = ns < r->elapsed_ns ? ns : r->elapsed_ns;
	f.gain_low_ns = (uint64_t)(USUAL * (double)f.gain_high_ns);
	f.lost = QZ_LOST_SERIAL | QZ_LOST_IDLE;
	qz_finding__say(&f, &f.what,
			"%s's garbage collection stops all threads for %.0f%% of the time.",
			c->language, qz_finding__percent(r, f.gain_high_ns));
	qz_finding__prove(&f, "report", f.subject.name, "%s has them stopped for %.2f s", f.shown,
			  (double)f.gain_high_ns / 1e9);
	qz_finding__say(&f, &f.remedy, "%s", c->remedy);
	return qz_advise__add(a, &f);
}

int qz_rule__collection(const struct qz_report *r, struct qz_advice *a)
{
	const struct qz_profile *p = r->profile;
	struct stops s = {p, calloc((size_t)p->nprocedures + 1, sizeof(*s.ns))};
	uint32_t best = 0;
	uint64_t all = 0;
	int err = 0;

	if (!s.ns)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->nsamples; i++)
		if (p->samples[i].scope == r->scope)
			add(&s, p->samples[i].node, p->samples[i].cpu_ns);
	for (uint32_t i = 0; i < p->nwaits; i++)
		if (qz_scope__covers(p, r->scope, p->waits[i].scope))
			add(&s, p->waits[i].node, p->waits[i].blocked_ns + p->waits[i].ready_ns);
	for (uint32_t i = 0; i < p->nprocedures; i++) {
		all += s.ns[i];
		best = s.ns[i] > s.ns[best] ? i : best;
	}
	if (all)
		err = tell(r, a, best, all);
	free(s.ns);
	return err;
}
