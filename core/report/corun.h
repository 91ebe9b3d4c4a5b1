/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Views of the instants of a scope: how many processors were busy, counted from the sets themselves,
 * and which procedures ran together. Pure computation.
 */
#ifndef QUARTZ_CORE_CORUN_H
#define QUARTZ_CORE_CORUN_H

#include "core/model/profile.h"

/* A row of sets, or of one procedure beside another. */
struct qz_corun_row {
	uint32_t round;	    /* of profile->rounds, of qz_corun__sets; else QZ_NONE */
	uint32_t procedure; /* of qz_corun__pairs; else QZ_NONE */
	uint64_t instants;  /* at which it was so */
	uint64_t busy;	    /* processors, summed over these: busy in this procedure */
	uint64_t spinning;  /* processors, summed over these: spinning */
};

struct qz_corun {
	uint64_t instants; /* of the scope; with a procedure: at which it was busy in it */
	uint64_t running;  /* processors, summed over the instants: that ran the scope */
	uint64_t spinning; /* of these */
	uint64_t alone;	   /* instants with no other busy processor; with a procedure */
	uint32_t nlevels;  /* entries of levels: the most busy processors, + 1 */
	uint64_t *levels;  /* instants with so many busy processors; their sum is `instants` */
	uint32_t nrows;
	struct qz_corun_row *rows; /* by instants, descending, then as the profile has them */
};

/* All instants of a scope, with a row for each set that differs. 0 or -ENOMEM. */
int qz_corun__sets(const struct qz_profile *p, uint32_t scope, struct qz_corun *corun);

/*
 * The instants at which a processor was busy in `procedure`, with a row for each procedure that
 * others were in: for itself when two were. 0 or -ENOMEM.
 */
int qz_corun__pairs(const struct qz_profile *p, uint32_t scope, uint32_t procedure,
		    struct qz_corun *corun);

void qz_corun__clear(struct qz_corun *corun);

#endif
