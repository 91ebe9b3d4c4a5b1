/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frames of Python are put in the place of those of the interpreter's procedure that runs them. Each time that C code enters the
 * interpreter, there is one frame of C, and of Python one or more, of which the outermost is marked (quartz/python.h).
 */
#ifndef QUARTZ_DAEMON_PYTHON_STACKS_H
#define QUARTZ_DAEMON_PYTHON_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/model/profile.h"
#include "daemon/attribution/address_cache.h"
#include "daemon/attribution/python_codes.h"

/* A stack that is being put together, outermost frame first. */
struct python_stack {
	struct python_codes *codes;
	struct qz_profile *profile;
	uint32_t image;
	const uint64_t *frames; /* of Python, innermost first */
	uint32_t kept, depth;	/* of them; walked: more than kept where the stack is deep */
	uint32_t left;		/* not placed yet; as many as are kept at first */
	uint32_t *
		locations; /* where they are placed; room for as many as there are, and the mark of a gap */
	uint32_t n;
	/* what is found out */
	bool begins; /* code that begins a thread of Python was met, and left out as that of C is: all before it is there */
	bool inside; /* other code has been placed */
	bool leaf;   /* the innermost frame is one of Python */
	bool named;  /* the last frame of Python has a name */
};

/*
 * Places frames that have none of C at their outer end, of a stack of n frames of C, innermost first, whose outermost was not
 * reached. NULL among them: what nothing is known of. From the outer end on both agree otherwise, but for what the interpreter is
 * about to do, and its code that has no name.
 */
void python_stack__begin(struct python_stack *s, const struct cached_address *const *found,
			 uint32_t n);

/*
 * Places a frame of C, or those of Python that it runs. After the last one come those for which there is none: the
 * interpreter's code had no name there.
 */
void python_stack__place(struct python_stack *s, const struct cached_address *frame, bool last);

#endif
