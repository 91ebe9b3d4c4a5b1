/* SPDX-License-Identifier: GPL-2.0-only */
/* Findings about locks: the common part of the rules about them. */
#ifndef QUARTZ_CORE_LOCK_FINDING_H
#define QUARTZ_CORE_LOCK_FINDING_H

#include "core/advise/advise.h"
#include "core/locks/lock_bounds.h"
#include "core/locks/lock_kind.h"

struct qz_lock_rule {
	const char *name;
	enum qz_lock_kind kind;
	bool blocked; /* about holders that block; false: about those that run */
	const char *remedy;
	/* Sets f->what, with the object's name in f->shown. */
	void (*say)(struct qz_finding *f, const struct qz_report *r,
		    const struct qz_lock_gain *gain);
};

/* Adds a finding for each object that the rule is about, the costliest ones. 0 or -ENOMEM. */
int qz_lock_finding__add(const struct qz_report *r, struct qz_advice *a,
			 const struct qz_lock_rule *rule);

#endif
