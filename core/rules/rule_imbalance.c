/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads run the same code and wait for the slowest of them: at a barrier, at a join, or in a spin
 * loop.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/advise/advise.h"
#include "core/advise/alone.h"
#include "core/advise/bounds.h"
#include "core/model/frames.h"
#include "core/util/base_name.h"

/*
 * Share of the gain of perfect balance that is surely reached. In an OpenMP loop of 64 growing
 * pieces, on two threads beside other load, one thread worked alone for 52 % of the time with
 * schedule(static), for 9 % with schedule(dynamic, 1): 0.83 was reached.
 */
#define USUAL 0.65

/* Threads took turns if the most processor time of one is less than this factor of the least. */
#define IN_TURNS 1.2

/*
 * What is saved if their work always runs on all of them. With more than two threads, the levels
 * between one and all count, too.
 */
static uint64_t room(const struct qz_report *r, const struct qz_alone *alone)
{
	double width = alone->sharers < alone->usage.width ? alone->sharers : alone->usage.width;
	double ns = (double)alone->shared_ns * (1 - 1 / width);

	for (uint32_t n = 2; n < width && n < r->nlevels; n++)
		ns += (double)r->effective_ns[n] * (1 - n / width) * alone->usage.wanting;
	return (uint64_t)ns;
}

/* At the end of a parallel loop, OpenMP's threads spin for each other, not for a lock. */
static bool is_openmp(const struct qz_procedure *procedure)
{
	static const char *const names[] = {"libgomp", "libomp", "libiomp"};
	const char *base = qz_base_name(procedure->module);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(base, names[i], strlen(names[i])))
			return true;
	return false;
}

/*
 * The procedure in which the others spin for most of the time while one works; QZ_NONE: they do not
 * spin. 0 or -ENOMEM.
 */
static int find_spinning(const struct qz_report *r, const struct qz_alone *alone, uint32_t *best)
{
	const struct qz_profile *p = r->profile;
	uint64_t *spun_ns = calloc((size_t)p->nprocedures + 1, sizeof(*spun_ns));

	*best = QZ_NONE;
	if (!spun_ns)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->nsamples; i++) {
		const struct qz_sample *s = &p->samples[i];
		uint32_t code;

		if (s->scope != r->scope || !s->spinning || s->busy != 1)
			continue;
		code = qz_frames__program_code(p, s->node);
		if (code == QZ_NONE)
			continue;
		spun_ns[code] += s->cpu_ns / (s->level - s->busy);
		if (*best == QZ_NONE || spun_ns[code] > spun_ns[*best])
			*best = code;
	}
	if (*best != QZ_NONE &&
	    (spun_ns[*best] < alone->shared_ns / 2 || is_openmp(&p->procedures[*best])))
		*best = QZ_NONE;
	free(spun_ns);
	return 0;
}

static const char *kind_of(const struct qz_alone *alone)
{
	return alone->apart ? "processes" : "threads";
}

static void say_who_spins(struct qz_finding *f, const struct qz_report *r,
			  const struct qz_alone *alone, uint32_t spinning)
{
	const char *name = r->profile->procedures[spinning].name;
	char shown[QZ_SHORT_NAME];

	qz_finding__shorten(shown, name);
	f->word = "CONTENDED";
	qz_finding__say(
		f, &f->what,
		"%u %s run %s one at a time: only one of them works %.0f%% of the time, and "
		"the others spin in %s.",
		alone->sharers, kind_of(alone), f->shown, qz_finding__percent(r, alone->shared_ns),
		shown);
	qz_finding__prove(f, "report", name, "%s spins while one works", shown);
	qz_finding__say(
		f, &f->remedy,
		"if %s takes a lock: hold it for less time, or give each part of the data one of "
		"its own; else divide the work into smaller pieces",
		shown);
}

/* Whether the program has OpenMP loops, judged by the names of its code. */
static bool has_openmp(const struct qz_profile *p)
{
	for (uint32_t i = 0; i < p->nprocedures; i++)
		if (is_openmp(&p->procedures[i]) || strstr(p->procedures[i].name, "_omp_fn.") ||
		    strstr(p->procedures[i].name, ".omp_outlined"))
			return true;
	return false;
}

/* Whether all threads did about the same work. Then none is the slowest: they take turns. */
static bool is_balanced(const struct qz_alone *alone)
{
	return (double)alone->most_ns < IN_TURNS * (double)alone->least_ns;
}

/*
 * Whether other programs got more processor time than this one while its threads were ready. Then
 * they may be the reason why one of its threads works alone at the end.
 */
static bool is_beside_others(const struct qz_report *r, const struct qz_alone *alone)
{
	return alone->usage.taken_ns - alone->usage.limited_ns >
	       qz_scope__running_ns(&r->profile->scopes[r->scope]);
}

static void say_what(struct qz_finding *f, const struct qz_report *r, const struct qz_alone *alone)
{
	double percent = qz_finding__percent(r, alone->shared_ns);

	if (alone->apart)
		qz_finding__say(
			f, &f->remedy,
			"divide the work into more and smaller jobs, or start the longest first");
	else
		qz_finding__say(f, &f->remedy,
				"divide the work into smaller pieces that threads take as they get "
				"done%s",
				has_openmp(r->profile) ? " (OpenMP: schedule(dynamic))" : "");
	if (is_balanced(alone) && is_beside_others(r, alone)) {
		f->word = "UNBALANCED";
		qz_finding__say(f, &f->what,
				"%u %s run %s, and %.0f%% of the time only one of them could run.",
				alone->sharers, kind_of(alone), f->shown, percent);
		return;
	}
	if (is_balanced(alone)) {
		f->word = "TAKING TURNS";
		qz_finding__say(f, &f->what,
				"%u %s run %s in turns: only one of them works %.0f%% of the time.",
				alone->sharers, kind_of(alone), f->shown, percent);
		return;
	}
	f->word = "UNBALANCED";
	qz_finding__say(f, &f->what,
			"%u %s run %s, and one of them still works while the others wait for "
			"it %.0f%% "
			"of the time.",
			alone->sharers, kind_of(alone), f->shown, percent);
}

int qz_rule__imbalance(const struct qz_report *r, struct qz_advice *a)
{
	struct qz_alone alone;
	struct qz_finding f;
	uint32_t spinning = QZ_NONE;
	int err = qz_alone__find(r, &alone);

	if (err || alone.kind == QZ_ALONE_PROCESSES || !alone.shared_ns || alone.locked ||
	    alone.sharers < 2)
		return err;
	err = find_spinning(r, &alone, &spinning);
	if (err)
		return err;
	f = qz_finding__about("imbalance", r, QZ_SUBJECT_PROCEDURE, alone.shared_phase);
	f.gain_high_ns = room(r, &alone);
	f.gain_low_ns = (uint64_t)(USUAL * (double)f.gain_high_ns);
	f.lost = QZ_LOST_SERIAL | QZ_LOST_DIVIDED;
	if (spinning != QZ_NONE)
		say_who_spins(&f, r, &alone, spinning);
	else
		say_what(&f, r, &alone);
	qz_finding__say_nameless(&f, r);
	qz_finding__prove(&f, "threads", NULL,
			  "processor time of these %s in it: %.2f s at most, %.2f s at least",
			  kind_of(&alone), (double)alone.most_ns / 1e9,
			  (double)alone.least_ns / 1e9);
	qz_finding__prove(&f, "report", f.subject.name,
			  "only one of them could run %.0f%% of the time",
			  qz_finding__percent(r, alone.shared_ns));
	return qz_advise__add(a, &f);
}
