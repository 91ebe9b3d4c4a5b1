/* SPDX-License-Identifier: GPL-2.0-only */
/* bpf/python.bpf.h as ordinary C, in the memory of a process that is made up: frames of all layouts, and lies. */
#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "quartz/python.h"
#include "quartz/records.h"
#include "quartz/unwind.h"
#include "tests/unit/suites.h"

/* ---- what the header finds in a BPF program ---- */

typedef uint8_t u8;
typedef uint32_t u32;
typedef int64_t s64;
typedef uint64_t u64;

#define __noinline	 __attribute__((noinline))
#define BPF_RB_NO_WAKEUP 1
#define python_codes	 python_walk_codes
#define unwind_regions	 python_walk_regions
#define unwind_rows	 python_walk_rows

static bool wanted_lines;

static char unwind_regions, unwind_rows, python_layouts, python_known, python_codes;
static struct qz_unwind_region region;
static struct qz_python_layout the_layout;
static u64 known[QZ_PYTHON_KNOWN];

static void *bpf_map_lookup_elem(const void *map, const u32 *key)
{
	if (map == &unwind_regions)
		return *key == 0 ? &region : NULL;
	if (map == &python_layouts)
		return *key == 0 ? &the_layout : NULL;
	if (map == &python_known)
		return *key < QZ_PYTHON_KNOWN ? &known[*key] : NULL;
	return NULL;
}

/* The process: one piece of memory. */
#define HEAP 0x7f0000000000ull
#define SIZE (1u << 20)

static u8 heap[SIZE];
static u32 nreads;

static long bpf_probe_read_user(void *to, u32 size, const void *from)
{
	u64 at = (u64)from - HEAP;

	nreads++;
	if (at >= SIZE || size > SIZE - at)
		return -14;
	memcpy(to, heap + at, size);
	return 0;
}

#define MOST_TOLD 64
static struct qz_python_code records[MOST_TOLD];
static u32 ntold;
static bool ring_is_full;

static long bpf_ringbuf_output(const char *ring, void *data, u64 size, u64 flags)
{
	ck_assert_ptr_eq(ring, &python_codes);
	ck_assert_uint_eq(size, wanted_lines ? sizeof(struct qz_python_code)
					     : QZ_PYTHON_CODE_WITHOUT_LINES);
	ck_assert_uint_eq(flags, BPF_RB_NO_WAKEUP); /* it may be under a lock of the scheduler's */
	if (ring_is_full || ntold == MOST_TOLD)
		return -11;
	memcpy(&records[ntold++], data, size);
	return 0;
}

static u64 mix(u64 h, u64 word)
{
	h = (h * 0xff51afd7ed558ccdull ^ word) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

static u32 first_slot(u64 hash)
{
	return hash >> 32;
}

static long bpf_probe_read_kernel(void *to, u32 size, const void *from)
{
	(void)to;
	(void)size;
	(void)from;
	return -14;
}

#define barrier_var(v) ((void)(v))		      /* for the verifier */
#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* global functions for the verifier */
#pragma GCC diagnostic ignored "-Wunused-function"
#define unwind__search_regions python_walk__search_regions
#define unwind__search_rows    python_walk__search_rows
#define unwind__scan_word      python_walk__scan_word
#define unwind__guess_by_word  python_walk__guess_by_word
#define unwind__scan_block     python_walk__scan_block
#define unwind__by_row	       python_walk__by_row
#define unwind__by_derived_row python_walk__by_derived_row
#define unwind__step	       python_walk__step
#define unwind__steps	       python_walk__steps
#define unwind__begins	       python_walk__begins
#define unwind__was_put	       python_walk__was_put
#define unwind__creator	       python_walk__creator
#define unwind__creators       python_walk__creators
#define unwind__walk	       python_walk__walk

#define HAS_BPF_LOOP			  false
#define bpf_loop(n, turn, context, flags) ((void)(turn), (void)(context))
#include "bpf/loop.bpf.h"
#include "bpf/unwind.bpf.h"
#include "bpf/python.bpf.h"

/* ---- the process ---- */

static const struct qz_python_layout plain = {
	.runtime = 0x100,
	.interpreters = 32,
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
};

#define POINTER 0x7f00000ff000ull /* of the thread that is walked */

static u64 top; /* of the heap */
static struct unwinding u;

static u64 take(u32 size)
{
	u64 at = HEAP + top;

	top += (size + 15) & ~15u;
	ck_assert_uint_le(top, SIZE);
	return at;
}

static void put(u64 at, u64 word)
{
	memcpy(heap + (at - HEAP), &word, sizeof(word));
}

static u64 text(const char *s, u32 state, u64 length)
{
	u32 ascii;
	u64 at = take(80 + (u32)strlen(s));

	qz_python_text__width(state, &ascii);
	put(at + the_layout.text, length);
	put(at + the_layout.text + QZ_PYTHON_TEXT_STATE, state);
	memcpy(heap + (at - HEAP) + (ascii ? the_layout.text_ascii : the_layout.text_other), s,
	       strlen(s));
	return at;
}

#define ASCII (1 << 2 | 1 << 5 | 1 << 6) /* one byte, the characters behind it */

static u64 code(const char *name, u32 line)
{
	u64 at = take(256);

	put(at + the_layout.code_line, line);
	put(at + the_layout.code_name, text(name, ASCII, strlen(name)));
	put(at + the_layout.code_file, text("/srv/app.py", ASCII, strlen("/srv/app.py")));
	return at;
}

static u64 frame(u64 of, u64 previous, u8 owner)
{
	u64 at = take(128);

	put(at + the_layout.frame_previous, previous);
	put(at + the_layout.frame_code, of);
	if (the_layout.entry != QZ_PYTHON_EVERY)
		heap[at - HEAP + the_layout.frame_owner] = owner;
	return at;
}

static u64 first_thread; /* the newest */

static u64 thread(u64 pointer, u64 inner)
{
	u64 at = take(256), cframe;

	put(at + the_layout.thread_next, first_thread);
	put(at + the_layout.thread_id, pointer);
	if (the_layout.cframe == QZ_PYTHON_NO_CFRAME) {
		put(at + the_layout.thread_frame, inner);
	} else {
		cframe = take(32);
		put(cframe + the_layout.cframe, inner);
		put(at + the_layout.thread_frame, cframe);
	}
	first_thread = at;
	return at;
}

/* Puts the threads where they are looked for, and walks. Gives how many frames there are. */
static u32 walk(void)
{
	u64 runtime = HEAP + the_layout.runtime, interpreter = take(128);

	put(interpreter + the_layout.threads, first_thread);
	put(runtime + the_layout.interpreters, interpreter);
	u.at_python = 1;
	u.npython = 0;
	u.depth = 3;
	u.thread_pointer = POINTER;
	u.python.image = 7;
	python__walk(&u);
	return u.npython;
}

static void begin(struct qz_python_layout l)
{
	the_layout = l;
	region = (struct qz_unwind_region) {.bias = HEAP, .python = 1};
	memset(heap, 0, sizeof(heap));
	memset(known, 0, sizeof(known));
	memset(&u, 0, sizeof(u));
	top = 0x1000;
	first_thread = 0;
	ntold = nreads = 0;
	ring_is_full = false;
	ck_assert(qz_python_layout__is_valid(&the_layout));
}

static u64 at(u32 i)
{
	return u.frames[u.depth + i];
}

static void told_is(u32 i, const char *name, u32 line)
{
	ck_assert_uint_lt(i, ntold);
	ck_assert_uint_eq(records[i].image, 7);
	ck_assert_uint_eq(records[i].line, line);
	ck_assert_uint_eq(records[i].name.size, strlen(name));
	ck_assert_mem_eq(records[i].name.bytes, name, strlen(name));
	ck_assert_uint_eq(records[i].file.size, strlen("/srv/app.py"));
}

/* ---- */

START_TEST(each_frame_is_one_of_c)
{
	u64 main, work;

	begin(plain);
	main = code("main", 3);
	work = code("work", 9);
	thread(POINTER, frame(work, frame(main, 0, 0), 0));
	ck_assert_uint_eq(walk(), 2);
	ck_assert_uint_eq(QZ_PYTHON_ADDRESS(at(0)), work);
	ck_assert_uint_eq(QZ_PYTHON_ADDRESS(at(1)), main);
	ck_assert(at(0) & at(1) & QZ_PYTHON_FRAME & -!!(at(0) & QZ_PYTHON_ENTRY));
	ck_assert(at(1) & QZ_PYTHON_ENTRY);
	ck_assert_uint_eq(ntold, 2);
	told_is(0, "work", 9);
	told_is(1, "main", 3);
	ck_assert_uint_eq(records[0].code, QZ_PYTHON_CODE(at(0)));
}
END_TEST

/* 3.11: the frame itself tells, and the innermost frame hangs from another structure. */
START_TEST(entries_have_a_flag)
{
	struct qz_python_layout l = plain;
	u64 f;

	l.entry = QZ_PYTHON_FLAG;
	l.frame_owner = 68;
	l.cframe = 8;
	begin(l);
	f = frame(code("main", 1), 0, 1);
	f = frame(code("a", 2), f, 0);
	f = frame(code("b", 3), f, 1);
	thread(POINTER, frame(code("c", 4), f, 0));
	ck_assert_uint_eq(walk(), 4);
	ck_assert(!(at(0) & QZ_PYTHON_ENTRY));
	ck_assert(at(1) & QZ_PYTHON_ENTRY);
	ck_assert(!(at(2) & QZ_PYTHON_ENTRY));
	ck_assert(at(3) & QZ_PYTHON_ENTRY);
}
END_TEST

/* 3.12 and later: a frame without code stands before the entry, and behind all of them. */
START_TEST(entries_have_a_shim)
{
	struct qz_python_layout l = plain;
	u64 f;

	l.entry = QZ_PYTHON_SHIM;
	l.frame_previous = 8;
	l.frame_code = 0;
	l.frame_owner = 70;
	begin(l);
	f = frame(1, frame(0, 0, 3), 3);
	f = frame(code("main", 1) | 1, f, 0); /* 3.14 has a tag there */
	f = frame(code("a", 2), f, 1);
	f = frame(0, f, 3);
	thread(POINTER, frame(code("b", 3), f, 0));
	ck_assert_uint_eq(walk(), 3);
	ck_assert(at(0) & QZ_PYTHON_ENTRY);
	ck_assert(!(at(1) & QZ_PYTHON_ENTRY));
	ck_assert(at(2) & QZ_PYTHON_ENTRY);
	told_is(2, "main", 1);
}
END_TEST

/* With lines: of each frame the instruction, and the table once. */
START_TEST(frames_have_instructions)
{
	static const struct {
		enum qz_python_lines lines;
		u64 word,
			instruction; /* what the frame has; for QZ_PYTHON_LOCATIONS, from the first one */
	} cases[] = {
		{QZ_PYTHON_LNOTAB, 26, 13},
		{QZ_PYTHON_RANGES, 13, 13},
		{QZ_PYTHON_LOCATIONS, 26, 13},
		{QZ_PYTHON_LNOTAB, 0xffffffff, QZ_PYTHON_CHECK_MASK},
		{QZ_PYTHON_LOCATIONS, -2ull, QZ_PYTHON_CHECK_MASK},
	};

	wanted_lines = true;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct qz_python_layout l = plain;
		u64 work, table, f, word = cases[i].word;

		l.lines = cases[i].lines;
		l.frame_instruction = 96;
		l.code_instructions = 184;
		l.code_table = 136;
		l.bytes = 16;
		begin(l);
		table = take(64);
		put(table + 16, 5);
		memcpy(heap + (table - HEAP) + 32, "table", 5);
		work = code("work", 9);
		put(work + 136, table);
		f = frame(work, frame(work, 0, 0), 0);
		put(f + 96, l.lines == QZ_PYTHON_LOCATIONS ? work + 184 + word : word);
		thread(POINTER, f);
		ck_assert_uint_eq(walk(), 2);
		ck_assert_uint_eq(QZ_PYTHON_INSTRUCTION(at(0)), cases[i].instruction);
		ck_assert_uint_eq(QZ_PYTHON_LINED_CODE(at(0)), QZ_PYTHON_LINED_CODE(at(1)));
		ck_assert_uint_eq(QZ_PYTHON_LINED_CODE(at(0)), records[0].code);
		ck_assert_uint_eq(QZ_PYTHON_ADDRESS(at(0)) & ~15ull, work);
		ck_assert_uint_eq(ntold, 1);
		ck_assert_uint_eq(records[0].table.lines, l.lines);
		ck_assert_uint_eq(records[0].table.size, 5);
		ck_assert_mem_eq(records[0].table.bytes, "table", 5);
		put(table + 16, ~0ull); /* longer than it is, up to the end of memory */
		put(work + 136, HEAP + SIZE - 100);
		memset(known, 0, sizeof(known));
		ck_assert_uint_eq(walk(), 2);
		ck_assert_uint_eq(records[1].table.size, 0);
	}
	wanted_lines = false;
}
END_TEST

/* Code is told once, also to the next walk; what the ring had no room for is told by the next one. */
START_TEST(code_is_told_once)
{
	u64 work;

	begin(plain);
	work = code("work", 9);
	thread(POINTER, frame(work, frame(work, 0, 0), 0));
	ring_is_full = true;
	walk();
	ring_is_full = false;
	ck_assert_uint_eq(ntold, 0);
	walk();
	walk();
	ck_assert_uint_eq(ntold, 1);
	/* other code has come to stand there */
	put(work + the_layout.code_line, 10);
	walk();
	ck_assert_uint_eq(ntold, 2);
	ck_assert_uint_ne(records[0].code, records[1].code);
}
END_TEST

/* The thread is found by its pointer, and then at once; one that is not Python's is looked for seldom. */
START_TEST(threads_are_found)
{
	u64 mine, f;
	u32 before;

	begin(plain);
	f = frame(code("work", 1), 0, 0);
	mine = thread(POINTER, f);
	for (u64 i = 1; i < 60; i++)
		thread(POINTER + i * 4096, 0);
	ck_assert_uint_eq(walk(), 1);
	ck_assert_uint_eq(u.python.thread, mine);
	before = nreads;
	ck_assert_uint_eq(walk(), 1);
	ck_assert_uint_lt(nreads - before, 12);
	put(mine + the_layout.thread_id, 1); /* it has ended, and its state is another's */
	ck_assert_uint_eq(walk(), 0);
	put(mine + the_layout.thread_id,
	    POINTER); /* a thread that has just begun has its state now */
	ck_assert_uint_eq(walk(), 1);
	put(mine + the_layout.thread_id, 1);
	for (u32 i = 0; i < PYTHON_VAIN; i++)
		ck_assert_uint_eq(walk(), 0);
	before = nreads;
	ck_assert_uint_eq(walk(), 0);
	ck_assert_uint_lt(nreads - before, 3);
	put(mine + the_layout.thread_id, POINTER);
	for (u32 i = 0; i < PYTHON_SELDOM && !walk(); i++)
		;
	ck_assert_uint_eq(walk(), 1);
}
END_TEST

/* Circles of frames, of threads and of interpreters, and what leads nowhere. */
START_TEST(lies_are_bounded)
{
	u64 f, second;

	begin(plain);
	f = frame(code("a", 1), 0, 0);
	second = frame(code("b", 2), f, 0);
	put(f + the_layout.frame_previous, second);
	thread(POINTER, f);
	ck_assert_uint_eq(walk(), PYTHON_DEPTH);
	ck_assert_uint_eq(ntold, 2);
	ck_assert_uint_lt(nreads, 4 * PYTHON_DEPTH);

	begin(plain);
	f = frame(code("a", 1), 0, 0);
	put(f + the_layout.frame_previous, f);
	thread(POINTER, f);
	ck_assert_uint_eq(walk(), 1);

	begin(plain);
	second = thread(POINTER + 8, 0);
	put(second + the_layout.thread_next, second);
	ck_assert_uint_eq(walk(), 0);
	ck_assert_uint_lt(nreads, 4 * PYTHON_THREADS);

	begin(plain);
	thread(POINTER, 0x1234);
	ck_assert_uint_eq(walk(), 0);
	begin(plain);
	thread(POINTER, frame(0x4321, 0xffffffffffffff00ull, 0));
	ck_assert_uint_eq(walk(), 1); /* a frame, whose code is not known */
	ck_assert_uint_eq(ntold, 0);
	begin(plain);
	first_thread = 0x10;
	ck_assert_uint_eq(walk(), 0);
}
END_TEST

/* Names of a length that is not theirs, of no kind, and long ones, of which the beginning or the end is taken. */
START_TEST(texts_are_bounded)
{
	char big[1024];
	u64 c;

	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	memcpy(big + sizeof(big) - 8, "/app.py", 7);
	begin(plain);
	c = code("f", 1);
	put(c + the_layout.code_name, text(big, ASCII, sizeof(big) - 1));
	put(c + the_layout.code_file, text(big, ASCII, sizeof(big) - 1));
	thread(POINTER, frame(c, 0, 0));
	ck_assert_uint_eq(walk(), 1);
	ck_assert_uint_eq(records[0].name.size, QZ_PYTHON_TEXT);
	ck_assert_uint_eq(records[0].name.bytes[QZ_PYTHON_TEXT - 1], 'x');
	ck_assert_uint_eq(records[0].name.length, sizeof(big) - 1);
	ck_assert_mem_eq(records[0].file.bytes + QZ_PYTHON_TEXT - 7, "/app.py", 7);

	begin(plain);
	c = code("f", 1);
	put(c + the_layout.code_name, text("abc", ASCII, 1ull << 62));
	put(c + the_layout.code_file,
	    text("abc", 0x66 & ~(1 << 5), 3)); /* its characters are elsewhere */
	thread(POINTER, frame(c, 0, 0));
	ck_assert_uint_eq(walk(), 1);
	ck_assert_uint_eq(records[0].name.length, 1ull << 62);
	ck_assert_uint_le(records[0].name.size, QZ_PYTHON_TEXT);
	ck_assert_uint_eq(records[0].file.size, 0);
}
END_TEST

/* Deep recursion: the innermost and the outermost frames stay, as those of C do. */
START_TEST(deep_stacks_keep_both_ends)
{
	u64 f = 0, main, work;
	u32 place;

	begin(plain);
	main = code("main", 1);
	work = code("work", 2);
	for (int i = 0; i < 300; i++)
		f = frame(i ? work : main, f, 0);
	thread(POINTER, f);
	ck_assert_uint_eq(walk(), 300);
	ck_assert_uint_eq(unwind__python_frames(&u), QZ_PYTHON_FRAMES);
	place = QZ_INNER_FRAMES + 299 % QZ_OUTER_FRAMES;
	ck_assert_uint_eq(QZ_PYTHON_ADDRESS(at(place)), main);
	ck_assert_uint_eq(QZ_PYTHON_ADDRESS(at(0)), work);
}
END_TEST

/* ---- Ruby ---- */

static const struct qz_python_layout ruby = {
	.runtime = 0x100,
	.threads = 40,
	.thread_id = 80,
	.thread_frame = 40,
	.cframe = 16,
	.entry = QZ_RUBY_FLAG_OLD,
	.frame_previous = 64,
	.frame_code = 16,
	.frame_owner = 32,
	.code_body = 16,
	.code_file = 64,
	.code_name = 80,
	.code_line = 88,
	.text_ascii = 16,
};

#define RUBY_FRAMES 8

/* A string as it is kept: short ones in the object itself. */
static u64 ruby_text(const char *s, bool inside)
{
	u64 at = take(256), size = strlen(s), place = at + (inside ? the_layout.text_ascii : 64);

	put(at, RUBY_STRING | (inside ? size << 14 : RUBY_OWN));
	put(at + 16, size);
	put(at + 24, place);
	memcpy(heap + (place - HEAP), s, size);
	return at;
}

static u64 ruby_code(u64 name, u64 file, u32 line)
{
	u64 code = take(32), body = take(256);

	put(code + the_layout.code_body, body);
	put(body + the_layout.code_name, name);
	put(body + the_layout.code_file, file);
	put(body + the_layout.code_line,
	    the_layout.entry == QZ_RUBY_FLAG_OLD ? line << 1 | 1 : line);
	return code;
}

static void ruby_frame(u64 frames, u32 i, u64 code, u64 flags)
{
	u64 at = frames + i * the_layout.frame_previous, environment = take(16);

	put(environment, flags | 2);
	put(at + the_layout.frame_code, code);
	put(at + the_layout.frame_owner, environment);
}

/* Puts the frames where those of the thread are looked for: it is the second one of a circle. */
static u32 ruby_walk(u64 frames)
{
	u64 vm = take(64), context = take(64), native = take(32);
	u64 threads[] = {take(128), take(128)};

	put(context, frames);
	put(context + 8, 5 * the_layout.frame_previous / 8);
	put(context + the_layout.cframe, frames);
	put(threads[0], threads[1]);
	put(threads[1], threads[0]);
	put(threads[1] + the_layout.thread_frame, context);
	put(native + the_layout.thread_native, POINTER);
	put(threads[1] + the_layout.thread_id, the_layout.thread_native ? native : POINTER);
	put(vm + the_layout.threads, threads[0]);
	put(HEAP + the_layout.runtime, vm);
	u.at_python = 1;
	u.depth = 3;
	u.thread_pointer = POINTER;
	u.python.image = 7;
	python__walk(&u);
	return u.npython;
}

/* <main>, entered from C, calls f, which calls a procedure of C, which runs a block. */
static u64 ruby_frames(void)
{
	u64 frames = take(RUBY_FRAMES * 64), path = ruby_text("/srv/app.py", false);
	u64 paths = take(64);

	put(paths, RUBY_ARRAY | RUBY_OWN);
	put(paths + 16, path);
	ruby_frame(frames, 0, ruby_code(ruby_text("block in f", true), path, 5), QZ_RUBY_FINISH);
	ruby_frame(frames, 1, HEAP, QZ_RUBY_CFRAME);
	ruby_frame(frames, 2, ruby_code(ruby_text("f", false), paths, 3), 0);
	ruby_frame(frames, 3, ruby_code(ruby_text("<main>", true), path, 1), QZ_RUBY_FINISH);
	ruby_frame(frames, 4, ruby_code(path, path, 9), QZ_RUBY_FINISH); /* no frame any more */
	return frames;
}

static void ruby_frames_are_there(void)
{
	ck_assert_uint_eq(u.npython, 3);
	ck_assert(at(0) & at(2) & QZ_PYTHON_ENTRY);
	ck_assert(!(at(1) & QZ_PYTHON_ENTRY));
	told_is(0, "block in f", 5);
	told_is(1, "f", 3);
	told_is(2, "<main>", 1);
	ck_assert_uint_eq(records[0].name.state, QZ_RUBY_TEXT);
	ck_assert_uint_eq(records[0].code, QZ_PYTHON_CODE(at(0)));
}

START_TEST(frames_of_ruby)
{
	struct qz_python_layout l = ruby;

	begin(l);
	ruby_walk(ruby_frames());
	ruby_frames_are_there();
	/* from 3.2 on */
	l.entry = QZ_RUBY_FLAG;
	l.text_ascii = 24;
	l.thread_id = 40;
	l.thread_native = 16;
	l.thread_frame = 48;
	begin(l);
	ruby_walk(ruby_frames());
	ruby_frames_are_there();
}
END_TEST

/* Lines are not read: a frame has none, and its code no table. */
START_TEST(ruby_has_no_lines)
{
	wanted_lines = true;
	begin(ruby);
	ck_assert_uint_eq(ruby_walk(ruby_frames()), 3);
	ck_assert_uint_eq(QZ_PYTHON_INSTRUCTION(at(0)), QZ_PYTHON_CHECK_MASK);
	ck_assert_uint_eq(QZ_PYTHON_LINED_CODE(at(0)), records[0].code);
	ck_assert_uint_eq(records[0].table.lines, QZ_PYTHON_NO_LINES);
	ck_assert_uint_eq(records[0].table.size, 0);
	wanted_lines = false;
}
END_TEST

/* Frames without an end, threads in a circle, and strings that are none, or longer than memory. */
START_TEST(lies_of_ruby_are_bounded)
{
	u64 frames, name;

	begin(ruby);
	frames = ruby_frames();
	name = ruby_text("f", false);
	put(name + 16, 1ull << 62);
	ruby_frame(frames, 0, ruby_code(name, ruby_text("f", true), 1), 0);
	ck_assert_uint_eq(ruby_walk(frames), 3);
	ck_assert_uint_le(records[0].name.size, QZ_PYTHON_TEXT);
	ck_assert_uint_eq(records[0].name.length, 1ull << 62);
	u.npython = 0;
	put(python__read(u.python.thread + the_layout.thread_frame) + 8, ~0ull >> 4);
	python__walk(&u);
	ck_assert_uint_ge(u.npython, 3);
	ck_assert_uint_lt(nreads, 8 * PYTHON_DEPTH);

	begin(ruby);
	frames = ruby_frames();
	name = ruby_text("f", true);
	put(name, RUBY_ARRAY | 31 << 14);
	put(name + 32, HEAP - 8);
	ruby_frame(frames, 0, ruby_code(name, HEAP + SIZE - 8, 1), QZ_RUBY_FINISH);
	ck_assert_uint_eq(ruby_walk(frames), 3);
	ck_assert_uint_eq(records[0].name.size, 0);
	ck_assert_uint_eq(records[0].file.size, 0);

	begin(ruby);
	frames = ruby_frames();
	u.thread_pointer = POINTER + 1;
	ck_assert_uint_eq(ruby_walk(frames), 3);
	put(frames + the_layout.frame_owner, HEAP - 1); /* no flags: no entry */
	u.npython = 0;
	python__walk(&u);
	ck_assert(!(at(0) & QZ_PYTHON_ENTRY));
	u.thread_pointer = POINTER + 1;
	nreads = 0;
	u.npython = 0;
	python__walk(&u);
	ck_assert_uint_eq(u.npython, 0);
	ck_assert_uint_lt(nreads, 4 * PYTHON_THREADS);
}
END_TEST

Suite *suite_python_walk(void)
{
	Suite *suite = suite_create("python_walk");
	TCase *tc = tcase_create("python_walk");

	tcase_add_test(tc, each_frame_is_one_of_c);
	tcase_add_test(tc, entries_have_a_flag);
	tcase_add_test(tc, entries_have_a_shim);
	tcase_add_test(tc, frames_have_instructions);
	tcase_add_test(tc, code_is_told_once);
	tcase_add_test(tc, threads_are_found);
	tcase_add_test(tc, lies_are_bounded);
	tcase_add_test(tc, texts_are_bounded);
	tcase_add_test(tc, deep_stacks_keep_both_ends);
	tcase_add_test(tc, frames_of_ruby);
	tcase_add_test(tc, ruby_has_no_lines);
	tcase_add_test(tc, lies_of_ruby_are_bounded);
	suite_add_tcase(suite, tc);
	return suite;
}
