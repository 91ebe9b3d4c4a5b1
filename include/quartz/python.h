/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frames of CPython's interpreter (3.8 and later), and of Ruby's (2.7 to 3.4): how they are laid out, as the symbolizer reads it
 * from the file that holds the interpreter; how they are stored in a stack; and how the code that they run is reported. What is
 * said of Python is true of Ruby, where nothing else is said; its code is the body of an instruction sequence.
 */
#ifndef QUARTZ_PYTHON_H
#define QUARTZ_PYTHON_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/* How a frame shows that C code has entered the interpreter: each such frame has a C procedure of its own. */
enum qz_python_entry {
	QZ_PYTHON_EVERY, /* each frame is one (3.8 to 3.10) */
	QZ_PYTHON_FLAG,	 /* the frame has a flag (3.11) */
	QZ_PYTHON_SHIM,	 /* a frame without code is before it (3.12 and later) */
	/* Ruby: what the frame leads to has a flag. Frames are beside each other, and those of C procedures have one, too, but no code. */
	QZ_RUBY_FLAG_OLD, /* short strings have their length in their flags, and numbers of lines are objects (up to 3.1) */
	QZ_RUBY_FLAG,
	QZ_PYTHON_ENTRIES,
};

/*
 * How code gives the line of an instruction: a bytes object (core/source/python_lines.h), and the unit in which a frame
 * counts.
 */
enum qz_python_lines {
	QZ_PYTHON_NO_LINES,
	QZ_PYTHON_LNOTAB,    /* pairs of differences; an index of bytes (3.8, 3.9) */
	QZ_PYTHON_RANGES,    /* pairs of differences by range; an index of instructions (3.10) */
	QZ_PYTHON_LOCATIONS, /* entries of some bytes; the instruction's address (3.11 and later) */
	QZ_PYTHON_LINES,
};

#define QZ_PYTHON_NO_CFRAME 0xffffffffu

/* Offsets in bytes. Those of frames are below QZ_PYTHON_FRAME_SIZE, those of code below QZ_PYTHON_CODE_SIZE. */
struct qz_python_layout {
	__u64 runtime; /* _PyRuntime: as pc of rows, see struct qz_unwind_row; 0: no interpreter */
	/* in _PyRuntime, PyInterpreterState, PyThreadState */
	__u32 interpreters, interpreter_next, threads;
	__u32 thread_next, thread_id, thread_frame;
	__u32 thread_native; /* of the id in what thread_id leads to; 0: thread_id is that of the id */
	__u32 cframe; /* of the frame in what thread_frame leads to; or QZ_PYTHON_NO_CFRAME */
	__u32 entry;  /* enum qz_python_entry */
	__u32 frame_previous; /* of Ruby: the size of a frame */
	__u32 frame_code;
	__u32 frame_owner; /* the byte that marks an entry; of Ruby, the address of the flags */
	__u32 code_body;   /* of Ruby: of the code in what frame_code leads to */
	__u32 code_line, code_file, code_name;
	__u32 text; /* in a string: its length; see QZ_PYTHON_TEXT_STATE and what follows it */
	/* where the characters begin: of ASCII alone, of any; of Ruby, those of short strings, and nothing */
	__u32 text_ascii, text_other;
	/* if lines are wanted: */
	__u32 lines;		 /* enum qz_python_lines */
	__u32 frame_instruction; /* the instruction that is being run */
	__u32 code_instructions; /* where they begin */
	__u32 code_table;	 /* of lines */
	__u32 bytes; /* in a bytes object: its length; its contents are 16 bytes after it */
};

/* A string has its length, a hash, and what follows. */
#define QZ_PYTHON_TEXT_STATE 16

#define QZ_PYTHON_FRAME_SIZE 80u
#define QZ_PYTHON_CODE_SIZE  160u
#define QZ_PYTHON_SHIM_OWNER 3	  /* or more: the frame has no code */
#define QZ_RUBY_FINISH	     0x20 /* VM_FRAME_FLAG_FINISH */
#define QZ_RUBY_CFRAME	     0x80 /* VM_FRAME_FLAG_CFRAME */
#define QZ_PYTHON_LAYOUTS    16

/* quartzd checks a layout before BPF programs use it without checks. */
static inline int qz_python_layout__is_valid(const struct qz_python_layout *l)
{
	const __u32 most = 1u << 20; /* PyInterpreterState has some 100 KiB */

	return l->interpreters < most && l->interpreter_next < most && l->threads < most &&
	       l->thread_next < most && l->thread_id < most && l->thread_frame < most &&
	       l->thread_native < most && l->code_body < most &&
	       (l->cframe < most || l->cframe == QZ_PYTHON_NO_CFRAME) &&
	       l->entry < QZ_PYTHON_ENTRIES && l->frame_previous <= QZ_PYTHON_FRAME_SIZE - 8 &&
	       l->frame_code <= QZ_PYTHON_FRAME_SIZE - 8 && l->frame_owner < QZ_PYTHON_FRAME_SIZE &&
	       l->code_line <= QZ_PYTHON_CODE_SIZE - 8 && l->code_file <= QZ_PYTHON_CODE_SIZE - 8 &&
	       l->code_name <= QZ_PYTHON_CODE_SIZE - 8 &&
	       !((l->frame_previous | l->frame_code | l->code_file | l->code_name) & 7) &&
	       !(l->code_line & 3) && l->lines < QZ_PYTHON_LINES && l->frame_instruction < most &&
	       l->code_instructions < most && l->code_table <= QZ_PYTHON_CODE_SIZE - 8 &&
	       !(l->code_table & 7) && l->bytes < most && l->text < most && l->text_ascii < most &&
	       l->text_other < most;
}

/* ---- stacks ---- */

/* As many frames as of a stack of C, kept in the same way: see QZ_INNER_FRAMES. */
#define QZ_PYTHON_FRAMES 128

/* A frame: the address of its code object, and a check, since another code object may get that address. */
#define QZ_PYTHON_FRAME	     (1ull << 63)
#define QZ_PYTHON_ENTRY	     (1ull << 62) /* C code has entered the interpreter with this frame */
#define QZ_PYTHON_CHECK_AT   47
#define QZ_PYTHON_CHECK_MASK 0x7fffull
#define QZ_PYTHON_ADDRESS(w) ((w) & ((1ull << QZ_PYTHON_CHECK_AT) - 1))
#define QZ_PYTHON_CODE(w)    ((w) & ~QZ_PYTHON_ENTRY) /* the code without the mark of an entry */

/*
 * If lines are wanted, the number of the instruction replaces the check, one too large if it is unknown, and the check has
 * the bits of the address that are always 0: objects of Python are aligned as by malloc().
 */
#define QZ_PYTHON_LINED(address, check) (((address) & ~15ull) | ((check)&15))
#define QZ_PYTHON_INSTRUCTION(w)	((w) >> QZ_PYTHON_CHECK_AT & QZ_PYTHON_CHECK_MASK)
#define QZ_PYTHON_LINED_CODE(w)		(QZ_PYTHON_CODE(w) & ~(QZ_PYTHON_CHECK_MASK << QZ_PYTHON_CHECK_AT))

/* ---- code ---- */

#define QZ_PYTHON_TEXT 160 /* bytes of a string, at most */

#define QZ_RUBY_TEXT                                                                               \
	0xffffffffu /* the state of a string of Ruby: bytes, which are UTF-8 as a rule */

/* A string or, where it is longer, its beginning or its end. */
struct qz_python_text {
	__u64 length; /* of the whole, in characters, as the program has it */
	__u32 state;  /* see PyASCIIObject; or QZ_RUBY_TEXT */
	__u32 size;   /* bytes that are here */
	__u8 bytes[QZ_PYTHON_TEXT];
};

#define QZ_PYTHON_TABLE 2048 /* bytes of a table of lines, at most */

/* Such a table, or where it is longer, its beginning. */
struct qz_python_table {
	__u32 lines; /* enum qz_python_lines; 0: there is none */
	__u32 size;
	__u8 bytes[QZ_PYTHON_TABLE];
};

/* Reported when a code object is met for the first time in an image. It may contain anything: the program wrote it. */
struct qz_python_code {
	__u64 code; /* QZ_PYTHON_CODE() of its frames, or QZ_PYTHON_LINED_CODE() */
	__u32 image;
	__u32 line;
	struct qz_python_text name, file;
	struct qz_python_table table; /* without its bytes, if lines are not wanted */
};

#define QZ_PYTHON_CODE_WITHOUT_LINES (sizeof(struct qz_python_code) - QZ_PYTHON_TABLE)

/*
 * The size of a character in bytes (1, 2 or 4), or 0 if the state is not that of a string followed by its characters. The
 * bits of the state begin after those for interned strings: 2, 8 (3.13 without the lock) or 16 (3.14).
 */
static inline __u32 qz_python_text__width(__u32 state, __u32 *ascii)
{
	__u32 bits = state >> 2, kind;

	if (!(state & 0xfc))
		bits = state & 0xff00 ? state >> 8 : state >> 16;
	kind = bits & 7;
	*ascii = bits >> 4 & 1;
	if (!(bits & 8) || (kind != 1 && kind != 2 && kind != 4))
		return 0;
	return kind;
}

/* Code objects that were reported, by hash: a power of two. */
#define QZ_PYTHON_KNOWN	 16384u
#define QZ_PYTHON_PROBES 4

_Static_assert(sizeof(struct qz_python_layout) == 104, "layout");
_Static_assert(QZ_PYTHON_CODE_WITHOUT_LINES == 24 + 2 * (16 + QZ_PYTHON_TEXT), "layout");

#endif
