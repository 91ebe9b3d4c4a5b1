/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Some scopes of a profile alone, for who may not see the others.
 *
 * Pure.
 */
#ifndef QUARTZ_CORE_PART_H
#define QUARTZ_CORE_PART_H

#include "core/profile.h"

/*
 * The scopes that are kept, with all that is theirs and nothing that is not: no code, wakers or instants of
 * others. The kernel's code is left out, and what it did is with the procedures that called it. The ledger is
 * that of the whole. To be estimated. NULL with errno ENOMEM.
 */
struct qz_profile *qz_profile__part(const struct qz_profile *p, const bool *kept);

#endif
