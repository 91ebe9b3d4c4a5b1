/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Joins ended scopes of a run into one, so that their memory is bounded. All other rows keep their index. The rows of
 * scopes, threads and objects that go are vacant: empty and without a reference, until new rows take their place. Files have
 * none: core/transform/filter_scopes.h leaves them out.
 *
 * Pure.
 */
#ifndef QUARTZ_CORE_FOLD_H
#define QUARTZ_CORE_FOLD_H

#include "core/model/profile.h"

/*
 * Folds the marked scopes, which must have ended, into the scope `into`, which is not marked: their threads become the
 * thread `row` of that scope, and their objects go. `marked` has n entries: later scopes are not marked. No sum changes,
 * nor that of the machine's scope. p must be estimated again. 0, or -ENOMEM or -EINVAL with nothing changed.
 */
int qz_fold__scopes(struct qz_profile *p, const bool *marked, uint32_t n, uint32_t into,
		    uint32_t row);

#endif
