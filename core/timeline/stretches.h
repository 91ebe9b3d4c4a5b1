/* SPDX-License-Identifier: GPL-2.0-only */
/* Which parts of a run were serial, or idle, and what ran in a part. Pure. */
#ifndef QUARTZ_CORE_STRETCHES_H
#define QUARTZ_CORE_STRETCHES_H

#include "core/timeline/slots.h"

enum qz_stretch_kind {
	QZ_STRETCH_NONE,     /* the scope was not measured */
	QZ_STRETCH_IDLE,     /* most of the time no processor was busy */
	QZ_STRETCH_SERIAL,   /* else: most of the time at most one was */
	QZ_STRETCH_PARALLEL, /* else */
};

/* Slots first .. last - 1. */
struct qz_stretch {
	enum qz_stretch_kind kind;
	uint32_t first, last;
};

/* The kind of most of the time of some slots. */
enum qz_stretch_kind qz_stretches__kind(const struct qz_slots *s, uint32_t first, uint32_t last);

/* The longest stretch of slots of one kind, the first one of several; first == last: there is none. */
struct qz_stretch qz_stretches__longest(const struct qz_slots *s, enum qz_stretch_kind kind);

/*
 * Adds the normalized time of each procedure's own code in a part of the slots, both in slots and parts of them, to
 * norm_ns, which has an entry for each procedure of the profile.
 */
void qz_stretches__add_norm(const struct qz_slots *s, const struct qz_profile *p, double first,
			    double last, double *norm_ns);

#endif
