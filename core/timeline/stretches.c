/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/timeline/stretches.h"

#include "core/model/frames.h"

enum qz_stretch_kind qz_stretches__kind(const struct qz_slots *s, uint32_t first, uint32_t last)
{
	uint64_t elapsed = 0, idle = 0, serial = 0;

	for (uint32_t i = first; i < last && i < s->n; i++) {
		elapsed += s->all[i].elapsed_ns;
		idle += s->all[i].busy_ns[0];
		serial += s->nlevels > 1 ? s->all[i].busy_ns[1] : 0;
	}
	if (!elapsed)
		return QZ_STRETCH_NONE;
	if (idle > elapsed / 2)
		return QZ_STRETCH_IDLE;
	return idle + serial > elapsed / 2 ? QZ_STRETCH_SERIAL : QZ_STRETCH_PARALLEL;
}

struct qz_stretch qz_stretches__longest(const struct qz_slots *s, enum qz_stretch_kind kind)
{
	struct qz_stretch longest = {.kind = kind};

	for (uint32_t i = 0, first = 0; i < s->n; i++) {
		if (qz_stretches__kind(s, i, i + 1) != kind)
			first = i + 1;
		else if (i + 1 - first > longest.last - longest.first)
			longest = (struct qz_stretch) {kind, first, i + 1};
	}
	return longest;
}

/* The procedure that a group of samples is charged to, QZ_NONE: none. */
static uint32_t procedure_of(const struct qz_profile *p, uint32_t node)
{
	struct qz_frames frames = {.profile = p, .node = node};
	uint32_t procedure = qz_frames__next(&frames);

	return procedure != QZ_NONE && p->procedures[procedure].kind == QZ_PROCEDURE ? procedure
										     : QZ_NONE;
}

/* How much of a slot lies between two moments. */
static double overlap(uint32_t slot, double first, double last)
{
	double from = first > slot ? first : slot, until = last < slot + 1 ? last : slot + 1;

	return until > from ? until - from : 0;
}

void qz_stretches__add_norm(const struct qz_slots *s, const struct qz_profile *p, double first,
			    double last, double *norm_ns)
{
	for (uint32_t i = first > 0 ? (uint32_t)first : 0; i < s->n && i < last; i++) {
		double part = overlap(i, first, last);

		for (uint32_t k = 0; k < s->all[i].nsamples; k++) {
			const struct qz_slot_sample *sample = &s->all[i].samples[k];
			uint32_t procedure = procedure_of(p, p->samples[sample->sample].node);

			if (procedure != QZ_NONE)
				norm_ns[procedure] += part * (double)sample->norm_ns;
		}
	}
}
