/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Puts frames of Python in place of those of the interpreter's procedure that runs them. Each time that C code enters the
 * interpreter, there is one C frame and one or more Python frames, of which the outermost is marked (quartz/python.h).
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
	uint32_t kept, depth;	/* of them; walked: more than kept where the stack is deep */
	uint32_t left;		/* not placed yet; as many as are kept at first */
	uint32_t *
		locations; /* where they are placed; room for as many as there are, and the mark of a gap */
	uint32_t n;
	/* results */
	bool begins; /* code that begins a thread of Python was met, and left out as that of C is: all before it is there */
	bool inside; /* other code has been placed */
	bool leaf;   /* the innermost frame is one of Python */
	bool named;  /* the last frame of Python has a name */
};

/*
 * Places the outermost Python frames that have no C frame, in a stack of n C frames, innermost first, whose outermost one
 * was not reached. NULL among them: not known. Otherwise both stacks agree from the outer end on, except for a call that
 * the interpreter is about to make, and for its code without a name.
 */
void python_stack__begin(struct python_stack *s, const struct cached_address *const *found,
			 uint32_t n);

/*
 * Places a C frame, or the Python frames that it runs. After the last C frame, places the Python frames that have none: the
 * interpreter's code had no name there.
 */
void python_stack__place(struct python_stack *s, const struct cached_address *frame, bool last);

#endif
