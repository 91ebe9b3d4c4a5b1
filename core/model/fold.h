/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Scopes of a run that have ended and are put together as one, so that what they take is bounded. Whatever stays
 * keeps its index. The rows of scopes, threads and objects that go are vacant: empty, of no use to anybody, until
 * what is new takes them. Files have none: core/transform/filter_scopes.h leaves them out.
 *
 * Pure.
 */
#ifndef QUARTZ_CORE_FOLD_H
#define QUARTZ_CORE_FOLD_H

#include "core/model/profile.h"

/*
 * Puts the scopes that are marked, ended ones, into the scope `into`, which is not: their threads become
 * the thread `row` of that, and their objects go. `marked` has n entries: scopes that came after them are not
 * marked. All sums stay as they are, those of the scope of the machine too. p is to be estimated again. 0, or
 * -ENOMEM or -EINVAL, and nothing has changed.
 */
int qz_fold__scopes(struct qz_profile *p, const bool *marked, uint32_t n, uint32_t into,
		    uint32_t row);

#endif
