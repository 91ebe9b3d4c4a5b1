/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Moves the time that a program spent in libquartz from its procedures to "[instrumentation]", which
 * has no caller (Quartz 1990, 3.4).
 */
#ifndef QUARTZ_CORE_INSTRUMENTATION_COST_H
#define QUARTZ_CORE_INSTRUMENTATION_COST_H

#include "core/model/profile.h"

/*
 * Moves time of estimated samples to samples of the same thread and levels, of count 0, in
 * "[instrumentation]"; so nothing is lost or added:
 *
 *   - all of a sample that ends in libquartz's own code (kernel frames below it are ignored);
 *   - calls[].cost_ns, half of it from the caller and half from the callee (everything from the callee
 *     if the caller is not known), divided among the busy samples in which that is the innermost
 *     procedure with such a cost, in proportion to their processor time. Never more than they have.
 *
 * 0 or -ENOMEM; then some may have been moved, and not all.
 */
int qz_instrumentation_cost__subtract(struct qz_profile *p);

#endif
