/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Time that a program spent in libquartz, taken out of the figures of its procedures (Quartz 1990,
 * 3.4): "[instrumentation]", which is below nobody.
 */
#ifndef QUARTZ_CORE_OVERHEAD_H
#define QUARTZ_CORE_OVERHEAD_H

#include "core/profile.h"

/*
 * Moves time of estimated samples to samples of the same thread and levels, of count 0, in
 * "[instrumentation]"; so nothing is lost or added:
 *
 *   - all of a sample that ends in libquartz's own code (the kernel below it left aside);
 *   - calls[].cost_ns, half of it from the caller and half from the callee (all, if the caller is
 *     not known), shared out among the busy samples of which that is the innermost procedure that has
 *     such a cost, in proportion to their processor time. Never more than they have.
 *
 * 0 or -ENOMEM; then some may have been moved, and not all.
 */
int qz_profile__take_out(struct qz_profile *p);

#endif
