// SPDX-License-Identifier: GPL-2.0-only
#include "cli/render/stack_end.h"

#include <stddef.h>
#include <string.h>

#include <quartz/unwind.h>

static const char *const names[] = QZ_UNWIND_END_NAMES;

static const struct stack_end ends[QZ_UNWIND_ENDS] = {
	[QZ_UNWIND_OUTERMOST] = {true, "followed to the outermost frame"},
	[QZ_UNWIND_GUESSED] = {true, "complete; the innermost caller was guessed from the stack"},
	[QZ_UNWIND_NOT_READY] = {false, "no unwind tables yet; frame pointers were used",
				 "none needed: tables are built soon after a program starts"},
	[QZ_UNWIND_STALE] = {false, "code was mapped after the tables were built",
			     "none: the program maps code faster than tables are built"},
	[QZ_UNWIND_NO_REGION] = {false, "reached an address outside of all code",
				 "let generated code keep frame pointers "
				 "(java -XX:+PreserveFramePointer)"},
	[QZ_UNWIND_NO_ROW] = {false, "code without call frame information",
			      "build it with -fasynchronous-unwind-tables"},
	[QZ_UNWIND_UNSUPPORTED] = {false, "unsupported form of call frame information",
				   "none: this is mostly hand-written code"},
	[QZ_UNWIND_FAULT] = {false, "the memory of the stack could not be read",
			     "none: it was paged out, or is not a stack"},
	[QZ_UNWIND_TOO_DEEP] = {false, "more frames than Quartz follows",
				"make the recursion less deep"},
	[QZ_UNWIND_BACKWARDS] = {false, "a caller's frame was below that of its callee",
				 "build the code with -fasynchronous-unwind-tables or "
				 "-fno-omit-frame-pointer"},
};

const struct stack_end *stack_end__find(const char *name)
{
	static const struct stack_end unknown = {
		.meaning = "a reason that this quartzctl does not know"};

	for (size_t i = 0; i < QZ_UNWIND_ENDS; i++)
		if (ends[i].meaning && !strcmp(names[i], name))
			return &ends[i];
	return &unknown;
}
