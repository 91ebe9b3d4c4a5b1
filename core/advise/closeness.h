/* SPDX-License-Identifier: GPL-2.0-only */
/* How close code is to what the user of a profile wrote: a finding names the closest that covers it. */
#ifndef QUARTZ_CORE_CLOSENESS_H
#define QUARTZ_CORE_CLOSENESS_H

#include "core/model/profile.h"

enum qz_closeness {
	QZ_CLOSE_NOT, /* the kernel's, or the beginning of all stacks */
	QZ_CLOSE_LIBRARY, /* a library's, or in the program's own file the standard library of its language */
	QZ_CLOSE_OWN, /* the program's */
};

/* Of each procedure of a profile, to be freed. NULL with ENOMEM. Pure. */
enum qz_closeness *qz_closeness__of(const struct qz_profile *p);

#endif
