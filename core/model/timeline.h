/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The timeline of a run: slots of equal width, which doubles when there would be more than QZ_TIMELINE_SLOTS of them, or
 * more than QZ_TIMELINE_FIGURES figures in all. A slot has the increase of each figure of the profile in its time
 * (core/model/figures.h), if not 0; the slots add up to the figures of the profile, each one exactly.
 *
 * Figures are taken about as often as slots begin. An increase between two moments is in the slot with most of that time,
 * or is spread over the slots between.
 *
 * Pure. Functions that return int give 0 or -errno; after -ENOMEM and -E2BIG the timeline is not whole.
 */
#ifndef QUARTZ_CORE_TIMELINE_H
#define QUARTZ_CORE_TIMELINE_H

#include "core/model/profile.h"

#define QZ_TIMELINE_SLOTS   512
#define QZ_TIMELINE_FIGURES (1u << 17)	 /* 2 MiB */
#define QZ_TIMELINE_LEAST   8		 /* slots: rather than fewer there is no timeline */
#define QZ_TIMELINE_WIDTH   100000000ull /* ns, at first */

/* The increase of one figure. */
struct qz_added {
	uint32_t id, entity; /* column, and which of its entities */
	uint64_t value;
};

/* In ascending order of id and entity, without values of 0. */
struct qz_timeslot {
	struct qz_added *added;
	uint32_t n;
};

struct qz_timeline {
	uint64_t start_ns; /* of the first slot */
	uint64_t slot_ns;  /* width */
	uint32_t n;	   /* slots; at least 1 once anything was added */
	uint32_t nadded;   /* in all slots */
	struct qz_timeslot slots[QZ_TIMELINE_SLOTS];
};

/* Without slots. NULL with errno ENOMEM. */
struct qz_timeline *qz_timeline__new(uint64_t start_ns, uint64_t slot_ns);

/* Accepts NULL. */
void qz_timeline__free(struct qz_timeline *t);

/*
 * Adds the increases between two moments, in the order of a slot; `added` is the caller's. -E2BIG: too many figures even
 * with the widest slots.
 */
int qz_timeline__add(struct qz_timeline *t, uint64_t from_ns, uint64_t until_ns,
		     const struct qz_added *added, uint32_t n);

/*
 * Subtracts `value` from a figure, beginning with its last slots, which must have at least that. Figures of waits decrease
 * when the key of a wait changes during the wait.
 */
void qz_timeline__take(struct qz_timeline *t, uint32_t id, uint32_t entity, uint64_t value);

/* The sum of slots first .. last - 1 of a figure of one entity. */
uint64_t qz_timeline__sum(const struct qz_timeline *t, uint32_t first, uint32_t last, uint32_t id,
			  uint32_t entity);

/* Where the figures of one column begin in a slot, and how many there are. */
const struct qz_added *qz_timeline__column(const struct qz_timeslot *slot, uint32_t id,
					   uint32_t *n);

/*
 * Whether the slots add up to the figures of p, and refer to nothing else. p must have its groups of time without a
 * sample at the end, or not at all. 0, -EBADMSG, -ENOMEM.
 */
int qz_timeline__check(const struct qz_timeline *t, struct qz_profile *p);

#endif
