/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples taken before it was known that their code waits. Pure.
 *
 * The thread sampled is then known to have been spinning, but the samples of other processors had
 * taken it for busy. Of the samples of one half of the sampler's tables, of one scope and running
 * level, that believed b processors busy, those of busy ones and the late ones give how many of the b
 * spun on average: k = b * late / (busy + late). They are corrected as if floor(k) or ceil(k) had been
 * spinning at each time, and so are those of processors that were known to spin beside them.
 */
#ifndef QUARTZ_DAEMON_SPIN_CORRECTION_H
#define QUARTZ_DAEMON_SPIN_CORRECTION_H

#include "core/model/profile.h"

struct spin_correction_sample {
	struct qz_sample sample; /* spinning, and not counted among the busy, where late */
	uint32_t believed;	 /* busy processors as the sampler had it */
	uint32_t loop;		 /* whose other samples decide whether this one was, or QZ_NONE */
	bool late;		 /* spinning, which the sampler did not know */
};

/*
 * Adds the samples of one half, corrected. Sorts them. What the profile refuses for what it is is left out,
 * taken off the samples of its scope, and added to *refused, unless its scope is the machine, which has all
 * a second time. 0 or -ENOMEM.
 */
int spin_correction__add(struct qz_profile *p, struct spin_correction_sample *samples, uint32_t n,
			 uint64_t *refused);

#endif
