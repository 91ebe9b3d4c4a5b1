/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The messages between quartzd and quartz-symbolizer, over a SOCK_SEQPACKET socket pair that is
 * descriptor 0 of the child. Both ends come from one build; the version guards against mixtures.
 *
 * The child first sends HELLO. Then each request gets one answer of the same type with the same id,
 * except FORGET, which gets none, and TABLE, after whose answer the rows follow in messages of type
 * ROWS with the same id.
 *
 * Every message is a header, a body of fixed layout and arrays whose sizes are in the body. Each side checks all lengths,
 * counts and offsets that it gets: quartzd because a hostile file may have taken over the child, the child to fail early.
 */
#ifndef QUARTZ_SYMBOLIZER_H
#define QUARTZ_SYMBOLIZER_H

#include <stdint.h>

#include <quartz/operand.h>
#include <quartz/python.h>
#include <quartz/spin.h>
#include <quartz/unwind.h>

#define PROTOCOL_VERSION     13
#define PROTOCOL_MAX_MESSAGE 65536
#define PROTOCOL_MAX_TEXT    4096 /* of one string, with its terminator */
#define PROTOCOL_MAX_MODULES (1U << 20)

enum message_type {
	MESSAGE_HELLO = 1,
	MESSAGE_LOAD,
	MESSAGE_RESOLVE,
	MESSAGE_FORGET,
	MESSAGE_TABLE,
	MESSAGE_ROWS,
	MESSAGE_SPIN,
	MESSAGE_VARIABLE,
	MESSAGE_SPLIT,
};

struct message_header {
	uint32_t type;
	uint32_t length; /* of the whole message */
	uint64_t id;	 /* 0 in HELLO and FORGET */
};

struct message_hello {
	struct message_header header;
	uint32_t version;
	uint32_t zero;
};

/* FORGET */
struct message_module {
	struct message_header header;
	uint32_t module;
	uint32_t zero;
};

/*
 * TABLE, with the descriptor of the module. Asks for rows of the code without call frame information at [from, to), or, if
 * `to` is 0, of all other code.
 */
struct table_request {
	struct message_header header;
	uint32_t module;
	uint32_t zero;
	uint64_t from, to; /* virtual addresses */
};

enum module_kind {
	MODULE_ELF,
	MODULE_PERF_MAP,
};

enum load_flags {
	LOAD_DEBUG_FILE = 1, /* a second descriptor comes along */
	LOAD_LINES = 2,
	LOAD_INLINES = 4,
	LOAD_SHARED_FILE =
		8, /* the last descriptor is of the file that debug files share entries in */
};

#define LOAD_MAX_FILES 3

/* With one descriptor, and those that the flags announce. label is terminated. */
struct load_request {
	struct message_header header;
	uint32_t module;
	uint32_t kind; /* enum module_kind */
	uint32_t flags;
	uint32_t zero;
	char label[256];
};

struct load_answer {
	struct message_header header;
	int32_t error; /* 0 or -errno */
	uint32_t procedures;
	uint32_t build_id_size; /* up to 64 */
	uint32_t
		is_split; /* 1: its procedures, and what they inline, are in files of their own (-gsplit-dwarf) */
	uint8_t build_id[64];
	char shared
		[256]; /* the name of the file with which it shares entries (dwz -m), "": none; terminated */
	char link
		[256]; /* the name that its .gnu_debuglink has, while no debug file was given; "": none; terminated */
};

/*
 * Followed by uint64_t addresses[n]. Also SPIN, with the descriptor of the module; and SPLIT, with the descriptor of the file that
 * the last answer has named, if there is one: which is the next one that the addresses want?
 */
struct resolve_request {
	struct message_header header;
	uint32_t module;
	uint32_t n;
};

/*
 * With the descriptor of the file that may have DWARF. What is `distance` bytes from the code at a
 * file offset, `beyond` bytes after the beginning of an object?
 */
struct variable_request {
	struct message_header header;
	uint32_t module;
	uint32_t beyond;
	uint64_t code;
	int64_t distance;
};

/* Followed by the name with its terminator; size 0: no variable is known there. */
struct variable_answer {
	struct message_header header;
	int32_t error;
	uint32_t size;
	int64_t low, high; /* the module's first and last address, as distances from the code */
};

/* Followed by the file's name with its terminator; size 0: they want none any more. */
struct split_answer {
	struct message_header header;
	int32_t error; /* about the file that came along: 0 or -errno */
	uint32_t size;
};

enum answer_flags {
	ANSWER_FOUND = 1,
	ANSWER_UNNAMED = 2,
	ANSWER_OUTERMOST = 4,
};

struct answer_record {
	uint64_t start;
	uint32_t flags;
	uint32_t nframes; /* of the frames that follow those of the records before */
};

/* name, file of the declaration and file of the line are offsets of terminated strings in the text. */
struct frame_record {
	uint32_t name, file, line_file;
	uint32_t decl_line, line;
};

/*
 * Followed by struct answer_record[n], struct frame_record[nframes] and text. Answers the first n
 * addresses, at least one, as many as fit; quartzd asks again for the rest.
 */
struct resolve_answer {
	struct message_header header;
	int32_t error;
	uint32_t n;
	uint32_t nframes;
	uint32_t text_size;
};

/*
 * Whether a thread that executes at an address only waits there. Addresses are of the same kind as in the request; in
 * results of symbolizer/spin/spin.h, virtual.
 */
struct spin_code {
	uint64_t start, end; /* of the loop, the known procedure, or the small one; 0: neither */
	uint64_t
		at; /* of the watched word: distance from a register that the loop does not write, or an address as of code */
	uint32_t class; /* enum qz_spin_class */
	uint32_t flags; /* enum qz_spin_flags */
	/*
	 * Registers that the code from start to end writes, where there is a loop or a small procedure: bits by the
	 * number that instructions give them: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15.
	 */
	uint32_t written;
	uint32_t base; /* of the watched word: register, or QZ_SPIN_FIXED */
	/* The loop's counter, by qz_spin__has_turned(). many is 0 when it is not known. */
	uint32_t counter; /* register */
	int32_t first, many;
	uint32_t zero;
	/* Memory that a thread waits for which is sampled at the address, see symbolizer/spin/last_access.h. */
	struct qz_operand operand;
};

/* name is the offset of a terminated string in the text. */
struct spin_record {
	struct spin_code code;
	uint64_t procedure_start, procedure_end; /* 0: not known */
	uint32_t name;
	uint32_t reserved;
};

/* Followed by struct spin_record[n] and text. Answers as many of the first addresses as fit. */
struct spin_answer {
	struct message_header header;
	int32_t error;
	uint32_t n;
	uint32_t text_size;
	uint32_t zero;
};

struct segment_record {
	uint64_t vaddr, offset, size;
};

#define TABLE_MAX_ROWS	   (4U << 20)
#define TABLE_MAX_SEGMENTS 16

/* ROWS follow until there are n of them. */
struct table_answer {
	struct message_header header;
	int32_t error;
	uint32_t n;
	uint64_t base;
	struct qz_unwind_stats stats;
	uint32_t nsegments;
	struct qz_python_layout python; /* of the interpreter in the file, if there is one */
	struct segment_record segments[TABLE_MAX_SEGMENTS];
};

/* As many rows as the length tells, at least one. */
struct rows_message {
	struct message_header header;
	struct qz_unwind_row rows[];
};

#define PROTOCOL_MAX_ROWS                                                                          \
	((PROTOCOL_MAX_MESSAGE - sizeof(struct rows_message)) / sizeof(struct qz_unwind_row))
#define PROTOCOL_MAX_ADDRESSES                                                                     \
	((PROTOCOL_MAX_MESSAGE - sizeof(struct resolve_request)) / sizeof(uint64_t))

_Static_assert(sizeof(struct message_header) == 16, "layout");
_Static_assert(sizeof(struct table_request) == 40, "layout");
_Static_assert(sizeof(struct load_request) == 288, "layout");
_Static_assert(sizeof(struct load_answer) == 608, "layout");
_Static_assert(sizeof(struct resolve_request) == 24, "layout");
_Static_assert(sizeof(struct resolve_answer) == 32, "layout");
_Static_assert(sizeof(struct variable_request) == 40, "layout");
_Static_assert(sizeof(struct variable_answer) == 40, "layout");
_Static_assert(sizeof(struct split_answer) == 24, "layout");
_Static_assert(sizeof(struct answer_record) == 16, "layout");
_Static_assert(sizeof(struct frame_record) == 20, "layout");
_Static_assert(sizeof(struct spin_record) == 96, "layout");
_Static_assert(sizeof(struct spin_answer) == 32, "layout");
_Static_assert(sizeof(struct table_answer) == 72 + 104 + 24 * TABLE_MAX_SEGMENTS, "layout");
_Static_assert(sizeof(struct rows_message) == 16, "layout");

#endif
