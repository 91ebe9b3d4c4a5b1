/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Selects scopes of a profile, for users who may not see the others.
 *
 * Pure.
 */
#ifndef QUARTZ_CORE_FILTER_SCOPES_H
#define QUARTZ_CORE_FILTER_SCOPES_H

#include "core/model/profile.h"

/*
 * A profile of the kept scopes with all that belongs to them and nothing else: no code, wakers or instants of others. The
 * kernel's code is left out; its time is with the procedures that called it. The ledger is that of the whole profile. kept
 * NULL: all scopes, without vacant rows (core/model/fold.h). The result must be estimated. NULL with errno ENOMEM.
 */
struct qz_profile *qz_filter_scopes__profile(const struct qz_profile *p, const bool *kept);

#endif
