/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A serial phase: one thread works, and the others have nothing to do. The finding names the
 * procedure that covers the phase, and the code that takes most of it.
 */
#include <string.h>

#include "core/advise/advise.h"
#include "core/advise/alone.h"
#include "core/advise/bounds.h"
#include "core/advise/languages.h"
#include "core/advise/pools.h"
#include "core/model/frames.h"

/*
 * The holder must be known for this share of the time that a lock is queued for, or nothing can be
 * said about who held it.
 */
#define SEEN 0.5

/*
 * A phase counts as without a lock if it holds one that others queue for during at most this share
 * of its time.
 */
#define HARDLY 0.05

/* Whether the holders of all important locks are known. */
static bool holders_are_known(const struct qz_report *r)
{
	for (uint32_t i = 0; i < r->nobjects; i++) {
		const struct qz_object_cost *cost = &r->objects[i].cost;
		uint64_t seen = cost->held_running_ns + cost->held_blocked_ns;

		if (cost->queued_ns > r->elapsed_ns / 50 &&
		    (double)seen < SEEN * (double)cost->queued_ns)
			return false;
	}
	return true;
}

/* Whether a phase held no lock that others queued for. */
static bool is_unheld(const struct qz_report *r, uint32_t phase)
{
	const struct qz_profile *p = r->profile;
	uint64_t all = 0, held = 0;

	for (uint32_t i = 0; i < p->nsamples; i++) {
		const struct qz_sample *s = &p->samples[i];

		if (s->scope != r->scope || s->spinning || s->busy != 1 ||
		    !qz_frames__contain((struct qz_frames) {.profile = p, .node = s->node}, phase))
			continue;
		all += s->norm_ns;
		held += s->object == QZ_NONE ? 0 : s->norm_ns;
	}
	return (double)held <= HARDLY * (double)all && holders_are_known(r);
}

/*
 * Considers the frames of the process that runs the phase, not those of a process that started it.
 */
static const char *divide_in_language(const struct qz_profile *p, uint32_t node)
{
	struct qz_frames frames = {.profile = p, .node = node};
	uint32_t frame;

	while ((frame = qz_frames__next(&frames)) != QZ_NONE &&
	       p->procedures[frame].kind != QZ_PROCESS_START) {
		const struct qz_language *language = qz_language__of(&p->procedures[frame]);

		if (language && language->divide)
			return language->divide;
	}
	return "divide this work among threads or processes, or let it overlap with other work";
}

/*
 * The remedy in terms of the runtime, or else of the language, in which the phase runs. 0 or
 * -ENOMEM.
 */
static int find_remedy(const struct qz_report *r, uint32_t phase, const char **remedy)
{
	const struct qz_profile *p = r->profile;
	struct qz_pools pools;
	int err = qz_pools__init(&pools, p);

	*remedy = NULL;
	for (uint32_t i = 0; !err && !*remedy && i < p->nsamples; i++) {
		struct qz_frames frames = {.profile = p, .node = p->samples[i].node};
		enum qz_pool_kind pool;
		bool nested;

		if (p->samples[i].scope != r->scope || !qz_frames__contain(frames, phase))
			continue;
		pool = qz_pools__at(&pools, frames.node, &nested);
		if (pool != QZ_POOLS)
			*remedy = qz_pool__info(pool)->divide;
		*remedy = *remedy ?: divide_in_language(p, frames.node);
	}
	*remedy = *remedy ?: divide_in_language(p, 0);
	qz_pools__free(&pools);
	return err;
}

int qz_rule__serial(const struct qz_report *r, struct qz_advice *a)
{
	const struct qz_procedure *procedures = r->profile->procedures;
	struct qz_alone alone;
	char code[QZ_SHORT_NAME];
	struct qz_bounds b;
	struct qz_finding f;
	const char *remedy;
	int err = qz_alone__find(r, &alone);

	if (err || alone.kind != QZ_ALONE_SERIAL)
		return err;
	err = find_remedy(r, alone.phase, &remedy);
	if (err)
		return err;
	b = qz_bounds__divide(alone.ns, alone.around_ns, alone.usage.width);
	f = qz_finding__about("serial", r, QZ_SUBJECT_PROCEDURE, alone.phase);
	f.gain_low_ns = b.low_ns;
	f.gain_high_ns = b.high_ns;
	f.lost = QZ_LOST_SERIAL | QZ_LOST_DIVIDED;
	if (is_unheld(r, alone.phase))
		f.lost |= QZ_LOST_UNHELD;
	qz_finding__shorten(code, procedures[alone.code].name);
	qz_finding__say(&f, &f.what, "%s works alone %.0f%% of the time: one thread, while %s.",
			f.shown, qz_finding__percent(r, alone.ns),
			alone.usage.taken_ns > alone.ns / 2 ? "no other one could run"
							    : "the other CPUs have nothing to do");
	qz_finding__say_nameless(&f, r);
	qz_finding__prove(&f, "report", f.subject.name,
			  "no second thread could run %.0f%% of the time",
			  qz_finding__percent(r, alone.usage.alone_ns));
	if (alone.code != alone.phase)
		qz_finding__prove(&f, "report", procedures[alone.code].name,
				  "most of it in the code of %s: %.0f%%", code,
				  qz_finding__percent(r, alone.code_ns));
	qz_finding__say(&f, &f.remedy, "%s", remedy);
	return qz_advise__add(a, &f);
}
