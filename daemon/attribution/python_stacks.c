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

static uint32_t index_of(const struct python_stack *s, const struct cached_address *frame)
{
	const struct qz_location *l = &s->profile->locations[frame->location];

	return l->lines[l->nlines - 1].procedure;
}

static const struct qz_procedure *procedure_of(const struct python_stack *s,
					       const struct cached_address *frame)
{
	return &s->profile->procedures[index_of(s, frame)];
}

/*
 * Whether a C procedure runs Python code. Parts that a compiler has split off have a suffix. In
 * builds with tail calls, each instruction is a procedure of its own.
 */
static bool is_python(const char *name)
{
	static const char eval[] = "_PyEval_EvalFrameDefault", call[] = "_TAIL_CALL_";

	return !strncmp(name, eval, sizeof(eval) - 1) || !strncmp(name, call, sizeof(call) - 1);
}

/* What calls Ruby's loop is there twice in some files, once without a name. */
static bool calls_loop(const struct python_stack *s, const struct cached_address *frame)
{
	return frame && !strcmp(procedure_of(s, frame)->name, "rb_vm_exec");
}

static bool is_loop(const struct python_stack *s, const struct cached_address *frame,
		    const struct cached_address *caller)
{
	const struct qz_procedure *p = procedure_of(s, frame);

	if (calls_loop(s, caller) && strstr(p->name, "+0x") &&
	    !strcmp(p->module, procedure_of(s, caller)->module)) {
		python_codes__vote_loop(s->codes, index_of(s, frame));
		return true;
	}
	return !strcmp(p->name, "vm_exec_core") ||
	       index_of(s, frame) == python_codes__loop(s->codes);
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
		interpreters += found[i] && (is_python(procedure_of(s, found[i])->name) ||
					     is_loop(s, found[i], i + 1 < n ? found[i + 1] : NULL));
	for (; entries > interpreters; entries--)
		place_entry(s);
}

/* Ruby's methods stand in the place of the loop, and of what has called it. */
static void leave_out_caller(struct python_stack *s)
{
	if (s->caller_at && s->caller_at == s->n)
		s->n--;
}

/* Whether the frame runs Python code. */
static bool place_frame(struct python_stack *s, const struct cached_address *frame)
{
	bool loop = s->kept && is_loop(s, frame, s->caller);
	bool python = s->kept && is_python(procedure_of(s, frame)->name);
	bool before = s->begins && !s->inside && s->left;
	bool other = !loop && calls_loop(s, s->caller); /* the loop was left for a moment */

	if ((loop || other) && s->left)
		leave_out_caller(s);
	s->caller_at = 0;
	if ((loop || other || python) && s->left) {
		place_entry(s);
		if (!other)
			return true;
	}
	if (before || (s->kept && is_trampoline(procedure_of(s, frame)->name)))
		return false;
	s->locations[s->n++] = frame->location;
	s->caller_at = s->n;
	return loop || python;
}

void python_stack__place(struct python_stack *s, const struct cached_address *frame, bool last)
{
	bool runs = place_frame(s, frame);

	s->caller = s->kept ? frame : NULL;
	if (!last)
		return;
	s->leaf = s->kept && (runs || s->left);
	while (s->left)
		place_entry(s);
}
