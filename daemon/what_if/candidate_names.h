/* SPDX-License-Identifier: GPL-2.0-only */
/* The names of candidates: given by the user, or the first procedures and objects of a profile so far. Pure. */
#ifndef QUARTZ_DAEMON_CANDIDATE_NAMES_H
#define QUARTZ_DAEMON_CANDIDATE_NAMES_H

#include "core/model/profile.h"
#include "quartz/candidates.h"

struct candidate_names {
	uint32_t n;
	char *items[QZ_CANDIDATES]; /* owned */
};

void candidate_names__free(struct candidate_names *names);

/*
 * Takes a list with commas; those within <>, () and [] are part of a name. 0, -ENOMEM, or -EINVAL: it has an
 * empty name, one twice, or more than QZ_CANDIDATES.
 */
int candidate_names__parse(struct candidate_names *names, const char *text);

/*
 * Adds those that lead: procedures of programs by processor time of their own, then those that call them and are not on
 * nearly every stack, and locks that threads wait for. 0 or -ENOMEM.
 */
int candidate_names__choose(struct candidate_names *names, const struct qz_profile *p);

#endif
