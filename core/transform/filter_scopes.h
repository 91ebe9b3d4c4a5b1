/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Some scopes of a profile alone, for who may not see the others.
 *
 * Pure.
 */
#ifndef QUARTZ_CORE_FILTER_SCOPES_H
#define QUARTZ_CORE_FILTER_SCOPES_H

#include "core/model/profile.h"

/*
 * The scopes that are kept, with all that is theirs and nothing that is not: no code, wakers or instants of
 * others. The kernel's code is left out, and what it did is with the procedures that called it. The ledger is
 * that of the whole. kept NULL: all scopes, with all that is theirs, and no vacant row (core/model/fold.h).
 * To be estimated. NULL with errno ENOMEM.
 */
struct qz_profile *qz_filter_scopes__profile(const struct qz_profile *p, const bool *kept);

#endif
