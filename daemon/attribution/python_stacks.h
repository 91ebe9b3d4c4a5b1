/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Replaces the C frames of the interpreter by the Python frames that they run. Each time that C
 * code enters the interpreter, there is one C frame and one or more Python frames, of which the
 * outermost is marked (quartz/python.h). Ruby has two C frames, of the loop and of what calls it.
 */
#ifndef QUARTZ_DAEMON_PYTHON_STACKS_H
#define QUARTZ_DAEMON_PYTHON_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/model/profile.h"
#include "daemon/attribution/address_cache.h"
#include "daemon/attribution/python_codes.h"

/* A stack that is being built, outermost frame first. */
struct python_stack {
	struct python_codes *codes;
	struct qz_profile *profile;
	uint32_t image;
	const uint64_t *frames; /* of Python, innermost first */
	uint32_t kept, depth; /* kept: number of frames; depth: of the stack, which may be deeper */
	uint32_t left;	      /* frames not placed yet; `kept` at first */
	uint32_t *locations;  /* out: room for all frames and the mark of a gap */
	uint32_t n;
	const struct cached_address *caller; /* the last C frame */
	uint32_t caller_at;		     /* n, when it had been placed; 0: it was not */
	/* results */
	bool begins; /* code that begins a Python thread was met and left out, as for C; so all frames outside of it are there */
	bool inside; /* other code was placed */
	bool leaf;   /* the innermost frame is one of Python */
	bool named;  /* the last Python frame has a name */
};

/*
 * Places the outermost Python frames without a C frame, if the outer end of the C stack was not
 * reached: n C frames, innermost first; NULL among them: unknown. Otherwise both stacks match from
 * the outer end on, except for a call that the interpreter is about to make, and for interpreter
 * code without a name.
 */
void python_stack__begin(struct python_stack *s, const struct cached_address *const *found,
			 uint32_t n);

/*
 * Places a C frame, or the Python frames that it runs. After the last C frame, also places the
 * Python frames that are left, whose interpreter code had no name.
 */
void python_stack__place(struct python_stack *s, const struct cached_address *frame, bool last);

#endif
