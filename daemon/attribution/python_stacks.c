// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/attribution/python_stacks.h"

#include <string.h>

#include "quartz/python.h"
#include "quartz/records.h"

static uint64_t frame_at(const struct python_stack *s, uint32_t i)
{
	return s->frames[qz_kept_frame(s->depth, s->kept, i)];
}

/*
 * How often C code has entered the interpreter. The outermost frame is an entry even if it has no
 * mark.
 */
static uint32_t count_entries(const struct python_stack *s)
{
	uint32_t n = s->kept && !(frame_at(s, s->kept - 1) & QZ_PYTHON_ENTRY);

	for (uint32_t i = 0; i < s->kept; i++)
		n += !!(frame_at(s, i) & QZ_PYTHON_ENTRY);
	return n;
}

static const char *procedure_name(const struct python_stack *s, const struct cached_address *frame)
{
	const struct qz_location *l = &s->profile->locations[frame->location];

	return s->profile->procedures[l->lines[l->nlines - 1].procedure].name;
}

/*
 * Whether a C procedure runs Python code. Parts that a compiler has split off have a suffix. In
 * builds with tail calls, each instruction is a procedure of its own.
 */
static bool is_interpreter(const char *name)
{
	static const char eval[] = "_PyEval_EvalFrameDefault", call[] = "_TAIL_CALL_";

	return !strncmp(name, eval, sizeof(eval) - 1) || !strncmp(name, call, sizeof(call) - 1);
}

/* A procedure made at run time for a Python function (-X perf); the Python frame says the same. */
static bool is_trampoline(const char *name)
{
	return !strncmp(name, "py::", 4);
}

/*
 * Places the Python frames of one entry of the interpreter: the marked one, and those called from
 * it without leaving the interpreter.
 */
static void place_entry(struct python_stack *s)
{
	do {
		struct python_location at;

		if (s->depth > s->kept && s->left == QZ_INNER_FRAMES)
			s->locations[s->n++] = qz_profile__marker(s->profile, QZ_TRUNCATED);
		at = python_codes__location(s->codes, s->image, frame_at(s, --s->left));
		s->named = at.named;
		s->inside |= !at.begins_thread;
		if (!s->inside) {
			s->n = 0;
			s->begins = true;
		}
		if (at.location != QZ_NONE && (s->inside || !s->left))
			s->locations[s->n++] = at.location;
	} while (s->left && !(frame_at(s, s->left - 1) & QZ_PYTHON_ENTRY));
}

void python_stack__begin(struct python_stack *s, const struct cached_address *const *found,
			 uint32_t n)
{
	uint32_t entries = count_entries(s), interpreters = 0;

	for (uint32_t i = 0; entries && i < n; i++)
		interpreters += found[i] && is_interpreter(procedure_name(s, found[i]));
	for (; entries > interpreters; entries--)
		place_entry(s);
}

void python_stack__place(struct python_stack *s, const struct cached_address *frame, bool last)
{
	const char *name = s->kept ? procedure_name(s, frame) : "";
	bool runs = is_interpreter(name), before = s->begins && !s->inside && s->left;

	if (runs && s->left)
		place_entry(s);
	else if (!before && !is_trampoline(name))
		s->locations[s->n++] = frame->location;
	if (!last)
		return;
	s->leaf = s->kept && (runs || s->left);
	while (s->left)
		place_entry(s);
}
