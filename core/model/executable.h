/* SPDX-License-Identifier: GPL-2.0-only */
/* Which of the mapped files is the program. Pure. */
#ifndef QUARTZ_CORE_EXECUTABLE_H
#define QUARTZ_CORE_EXECUTABLE_H

#include "core/model/profile.h"

/*
 * The mapping of the executable: where the stacks of most samples begin, libraries left out, which is
 * where _start is. Of a profile of several programs, that of the one that was sampled most often.
 * QZ_NONE where no stack begins in one. 0 or -ENOMEM.
 */
int qz_profile__executable(const struct qz_profile *p, uint32_t *mapping);

#endif
