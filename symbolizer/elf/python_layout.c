// SPDX-License-Identifier: GPL-2.0-only
#include "symbolizer/elf/python_layout.h"

#include <string.h>

#include "symbolizer/elf/symbols.h"

/* ---- 3.8 to 3.12: from the headers of CPython, for 64-bit machines, without Py_DEBUG ---- */

static const struct qz_python_layout python_3_8 = {
	.interpreters = 32,
	.interpreter_next = 0,
	.threads = 8,
	.thread_next = 8,
	.thread_id = 176,
	.thread_frame = 24,
	.cframe = QZ_PYTHON_NO_CFRAME,
	.entry = QZ_PYTHON_EVERY,
	.frame_previous = 24,
	.frame_code = 32,
	.code_line = 40,
	.code_file = 104,
	.code_name = 112,
	.text = 16,
	.text_ascii = 48,
	.text_other = 72,
	.lines = QZ_PYTHON_LNOTAB,
	.frame_instruction = 104,
	.code_table = 120,
	.bytes = 16,
};

static const struct qz_python_layout python_3_11 = {
	.interpreters = 40,
	.interpreter_next = 0,
	.threads = 16,
	.thread_next = 8,
	.thread_id = 152,
	.thread_frame = 56,
	.cframe = 8,
	.entry = QZ_PYTHON_FLAG,
	.frame_previous = 48,
	.frame_code = 32,
	.frame_owner = 68,
	.code_line = 72,
	.code_file = 112,
	.code_name = 128,
	.text = 16,
	.text_ascii = 48,
	.text_other = 72,
	.lines = QZ_PYTHON_LOCATIONS,
	.frame_instruction = 56,
	.code_instructions = 184,
	.code_table = 136,
	.bytes = 16,
};

static const struct qz_python_layout python_3_12 = {
	.interpreters = 40,
	.interpreter_next = 0,
	.threads = 72,
	.thread_next = 8,
	.thread_id = 136,
	.thread_frame = 56,
	.cframe = 0,
	.entry = QZ_PYTHON_SHIM,
	.frame_previous = 8,
	.frame_code = 0,
	.frame_owner = 70,
	.code_line = 68,
	.code_file = 112,
	.code_name = 128,
	.text = 16,
	.text_ascii = 40,
	.text_other = 56,
	.lines = QZ_PYTHON_LOCATIONS,
	.frame_instruction = 56,
	.code_instructions = 192,
	.code_table = 136,
	.bytes = 16,
};

/* ---- 3.13 and later: _PyRuntime begins with struct _Py_DebugOffsets, words of 8 bytes ---- */

static const char cookie[8] = "xdebugpy";

#define VERSION_WORD 1
#define RUNTIME_WORD 3 /* after three words of _PyRuntimeState, those of PyInterpreterState */

/* Positions of the parts in words, in these versions. Each part begins with its size. */
struct parts {
	uint32_t version; /* the first version with this order */
	uint32_t interpreter, thread, frame, code, object, end;
};

static const struct parts parts[] = {
	{0x030d0000, 6, 19, 28, 34, 44, 46},
	{0x030e0000, 6, 22, 31, 39, 50, 52},
};

/* The useful words of each part, counted from its size on. */
enum { INTERPRETERS_HEAD = 2 };
enum { INTERPRETER_NEXT = 2, INTERPRETER_THREADS };
enum { THREAD_NEXT = 2, THREAD_FRAME = 4, THREAD_ID };
enum { FRAME_PREVIOUS = 1, FRAME_EXECUTABLE, FRAME_INSTRUCTION, FRAME_OWNER = 5 };
enum { CODE_FILE = 1, CODE_QUALNAME = 3, CODE_TABLE, CODE_LINE, CODE_INSTRUCTIONS = 9 };

#define WORDS 52

/* Limits an offset: a larger one is invalid, and is refused with the rest. */
static uint32_t offset(uint64_t word)
{
	return word > INT32_MAX ? INT32_MAX : (uint32_t)word;
}

static const struct parts *parts_of(uint64_t version)
{
	const struct parts *found = NULL;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (version >= parts[i].version)
			found = &parts[i];
	return found;
}

/* Reads what is published at _PyRuntime. False: nothing is, or it has an unknown form. */
static bool read_published(const struct elf_file *file, uint64_t runtime,
			   struct qz_python_layout *l)
{
	uint64_t w[WORDS];
	const struct parts *p;
	uint32_t object;

	if (!elf_file__read(file, runtime, w, sizeof(w)) || memcmp(w, cookie, sizeof(cookie)))
		return false;
	p = parts_of(w[VERSION_WORD]);
	/*
	 * an object begins with its reference count and its type; without a global interpreter
	 * lock, with more
	 */
	if (!p || (w[p->object] != 16 && w[p->object] != 32))
		return false;
	object = (uint32_t)w[p->object];
	*l = (struct qz_python_layout) {
		.interpreters = offset(w[RUNTIME_WORD + INTERPRETERS_HEAD]),
		.interpreter_next = offset(w[p->interpreter + INTERPRETER_NEXT]),
		.threads = offset(w[p->interpreter + INTERPRETER_THREADS]),
		.thread_next = offset(w[p->thread + THREAD_NEXT]),
		.thread_id = offset(w[p->thread + THREAD_ID]),
		.thread_frame = offset(w[p->thread + THREAD_FRAME]),
		.cframe = QZ_PYTHON_NO_CFRAME,
		.entry = QZ_PYTHON_SHIM,
		.frame_previous = offset(w[p->frame + FRAME_PREVIOUS]),
		.frame_code = offset(w[p->frame + FRAME_EXECUTABLE]),
		.frame_owner = offset(w[p->frame + FRAME_OWNER]),
		.code_line = offset(w[p->code + CODE_LINE]),
		.code_file = offset(w[p->code + CODE_FILE]),
		.code_name = offset(w[p->code + CODE_QUALNAME]),
		.text = object,
		.text_ascii = object + 24,
		.text_other = object + 40,
		.lines = QZ_PYTHON_LOCATIONS,
		.frame_instruction = offset(w[p->frame + FRAME_INSTRUCTION]),
		.code_instructions = offset(w[p->code + CODE_INSTRUCTIONS]),
		.code_table = offset(w[p->code + CODE_TABLE]),
		.bytes = object,
	};
	return true;
}

/*
 * ---- Ruby: from its headers vm_core.h and rbspy's tables, for 64-bit machines ----
 *
 * ruby_current_vm_ptr leads to what stands for the interpreter, this to the main thread, and each thread to the next one of its
 * ractor, in a circle. The threads of other ractors are not found. An execution context stands for the cframe.
 */

#define RUBY                                                                                       \
	.thread_next = 0, .cframe = 16, .frame_code = 16, .frame_owner = 32, .code_body = 16,      \
	.code_file = 64, .code_name = 80, .code_line = 88

static const struct {
	uint32_t version[2]; /* the first one that has this layout */
	struct qz_python_layout layout;
} rubies[] = {
	{{2, 7},
	 {RUBY, .threads = 192, .thread_id = 72, .thread_frame = 32, .frame_previous = 56,
	  .entry = QZ_RUBY_FLAG_OLD, .text_ascii = 16}},
	{{3, 0},
	 {RUBY, .threads = 40, .thread_id = 80, .thread_frame = 40, .frame_previous = 56,
	  .entry = QZ_RUBY_FLAG_OLD, .text_ascii = 16}},
	{{3, 1},
	 {RUBY, .threads = 40, .thread_id = 80, .thread_frame = 40, .frame_previous = 64,
	  .entry = QZ_RUBY_FLAG_OLD, .text_ascii = 16}},
	{{3, 2},
	 {RUBY, .threads = 40, .thread_id = 40, .thread_native = 8, .thread_frame = 48,
	  .frame_previous = 64, .entry = QZ_RUBY_FLAG, .text_ascii = 24}},
	{{3, 3},
	 {RUBY, .threads = 40, .thread_id = 40, .thread_native = 16, .thread_frame = 48,
	  .frame_previous = 56, .entry = QZ_RUBY_FLAG, .text_ascii = 24}},
	{{3, 5}, {0}}, /* not known */
};

/* The layout of a file that exports Ruby's version. NULL: it does not, or of another version. */
static const struct qz_python_layout *ruby_layout(const struct elf_file *file)
{
	const struct qz_python_layout *found = NULL;
	struct symbol_value symbol;
	uint32_t version[2];

	if (!symbols__look_up(file, "ruby_api_version", &symbol) ||
	    !elf_file__read(file, symbol.value, version, sizeof(version)))
		return NULL;
	for (size_t i = 0; i < sizeof(rubies) / sizeof(rubies[0]); i++)
		if (version[0] > rubies[i].version[0] ||
		    (version[0] == rubies[i].version[0] && version[1] >= rubies[i].version[1]))
			found = &rubies[i].layout;
	return found && found->frame_previous ? found : NULL;
}

/* ---- */

/* 3.10 has other frames and other line tables. */
static void adapt_lines(const struct elf_file *file, struct qz_python_layout *layout)
{
	struct symbol_value procedure;

	if (layout->lines != QZ_PYTHON_LNOTAB ||
	    !symbols__look_up(file, "PyModule_AddObjectRef", &procedure))
		return;
	layout->lines = QZ_PYTHON_RANGES;
	layout->frame_instruction = 96;
}

/*
 * The layout of 3.8 to 3.12. Py_Version exists from 3.11 on, the procedure from 3.8 on. NULL:
 * another version.
 */
static const struct qz_python_layout *known_layout(const struct elf_file *file)
{
	struct symbol_value version, procedure;
	uint64_t number;

	if (symbols__look_up(file, "Py_Version", &version)) {
		if (!elf_file__read(file, version.value, &number, sizeof(number)))
			return NULL;
		return number >> 16 == 0x030b	? &python_3_11
		       : number >> 16 == 0x030c ? &python_3_12
						: NULL;
	}
	return symbols__look_up(file, "PyCode_NewWithPosOnlyArgs", &procedure) ? &python_3_8 : NULL;
}

/* Finds where the interpreter's data begins, and its layout, of Python or of Ruby. False: it is none, or not known. */
static bool read_layout(const struct elf_file *file, struct symbol_value *runtime,
			struct qz_python_layout *layout)
{
	const struct qz_python_layout *known;

	if (symbols__look_up(file, "_PyRuntime", runtime)) {
		if (read_published(file, runtime->value, layout))
			return true;
		known = known_layout(file);
	} else {
		known = symbols__look_up(file, "ruby_current_vm_ptr", runtime) ? ruby_layout(file)
									       : NULL;
	}
	if (!known)
		return false;
	*layout = *known;
	adapt_lines(file, layout);
	return true;
}

bool python_layout__find(const struct elf_file *file, uint64_t base,
			 struct qz_python_layout *layout)
{
	struct symbol_value runtime;

	*layout = (struct qz_python_layout) {0};
	if (!read_layout(file, &runtime, layout) || runtime.value <= base) {
		*layout = (struct qz_python_layout) {0};
		return false;
	}
	layout->runtime = runtime.value - base;
	if (qz_python_layout__is_valid(layout))
		return true;
	*layout = (struct qz_python_layout) {0};
	return false;
}
