/* SPDX-License-Identifier: GPL-2.0-only */
/* The frames of a stack, one by one. */
#ifndef QUARTZ_CORE_FRAMES_H
#define QUARTZ_CORE_FRAMES_H

#include "core/model/profile.h"

/* Walks the procedures and markers of a stack, innermost first. Start with line 0 at the leaf. */
struct qz_frames {
	const struct qz_profile *profile;
	uint32_t node, line;
};

/* The next procedure, or QZ_NONE at the root. */
uint32_t qz_frames__next(struct qz_frames *f);

/* Whether a procedure or marker is among the remaining frames. */
bool qz_frames__contain(struct qz_frames frames, uint32_t procedure);

/* Whether the name of a procedure of the stack has this part. */
bool qz_frames__have_name(const struct qz_profile *p, uint32_t node, const char *part);

/* The innermost procedure of a stack outside of the kernel, or QZ_NONE. */
uint32_t qz_frames__program_code(const struct qz_profile *p, uint32_t node);

#endif
