/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of Python's code, and its frames in the place of those of the interpreter. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/model/profile.h"
#include "daemon/attribution/python_stacks.h"
#include "daemon/kernel/bpf_python.h"
#include "quartz/records.h"
#include "tests/unit/suites.h"

static uint32_t forgotten;

void bpf_python__consume(struct bpf_runtime *bpf, bpf_python_code *call, void *context)
{
	(void)bpf, (void)call, (void)context;
}

void bpf_python__forget(struct bpf_runtime *bpf)
{
	(void)bpf;
	forgotten++;
}

#define ASCII	(1 << 2 | 1 << 5 | 1 << 6)
#define TWO	(2 << 2 | 1 << 5)
#define IMAGE	7
#define ENTRY	QZ_PYTHON_ENTRY
#define BPF	((struct bpf_runtime *)&forgotten)
#define F(code) (QZ_PYTHON_FRAME | (code))

static struct qz_python_text text(const char *s)
{
	struct qz_python_text t = {
		.length = strlen(s), .state = ASCII, .size = (uint32_t)strlen(s)};

	memcpy(t.bytes, s, t.size);
	return t;
}

static struct qz_python_code code(uint64_t number, const char *name, const char *file,
				  uint32_t line)
{
	return (struct qz_python_code) {.code = F(number),
					.image = IMAGE,
					.line = line,
					.name = text(name),
					.file = text(file)};
}

static void name_is(const struct qz_python_code *c, const char *wanted)
{
	char name[1024], path[1024];

	ck_assert(python_code__name(c, name, sizeof(name), path, sizeof(path)));
	ck_assert_str_eq(name, wanted);
}

START_TEST(names_of_code)
{
	struct qz_python_code c = code(1, "Pool.run", "/srv/app.py", 12);
	char name[1024], path[1024];

	name_is(&c, "Pool.run (app.py)");
	c = code(1, "main.<locals>.<lambda>", "/srv/app.py", 12);
	name_is(&c, "main.<locals>.<lambda> (app.py:12)");
	c = code(1, "<module>", "app.py", 1);
	name_is(&c, "<module> (app.py)");
	c = code(1, "f", "<string>", 1);
	name_is(&c, "f (<string>)");

	c.name = (struct qz_python_text) {.length = 2, .state = TWO, .size = 4};
	memcpy(c.name.bytes, "\xe4\x00\x00\xd8", 4); /* ä, half of a pair */
	name_is(&c, "\xc3\xa4\xef\xbf\xbd (<string>)");
	c.name.state = TWO << 14; /* as 3.14 has it */
	name_is(&c, "\xc3\xa4\xef\xbf\xbd (<string>)");

	c = code(1, "f", "/srv/app.py", 1);
	c.name.length = 1000; /* of which this is the beginning, and of the path the end */
	c.file.length = 1000;
	name_is(&c, "f... (app.py)");
	ck_assert(python_code__name(&c, name, sizeof(name), path, sizeof(path)));
	ck_assert_str_eq(path, ".../srv/app.py");

	c = code(1, "parse", "/srv/app.rb", 12);
	c.name.state = c.file.state = QZ_RUBY_TEXT;
	name_is(&c, "parse (app.rb)");
	c.name = text("block (2 levels) in <main>");
	c.name.state = QZ_RUBY_TEXT;
	name_is(&c, "block (2 levels) in <main> (app.rb:12)");
	c.name = (struct qz_python_text) {.length = 6, .state = QZ_RUBY_TEXT, .size = 6};
	memcpy(c.name.bytes, "\xc3\xa4\x00z\xff\xe2", 6); /* ä, and what is no UTF-8 */
	name_is(&c, "\xc3\xa4 z\xef\xbf\xbd\xef\xbf\xbd (app.rb)");

	c.name.state = 0;
	ck_assert(!python_code__name(&c, name, sizeof(name), path, sizeof(path)));
	c = code(1, "f", "/srv/app.py", 1);
	c.file.size = 100000;
	ck_assert(!python_code__name(&c, name, sizeof(name), path, sizeof(path)));
}
END_TEST

/* ---- stacks ---- */

static struct qz_profile *profile;
static struct python_codes *codes;
static struct cached_address cached[16];

/* A frame of C. */
static const struct cached_address *c_frame(uint32_t i, const char *name)
{
	struct qz_procedure p = {
		.name = (char *)name, .module = (char *)"python3.11", .file = (char *)""};
	struct qz_line line = {.procedure = (uint32_t)qz_profile__intern_procedure(profile, &p)};
	struct qz_location l = {.address = i + 1, .mapping = QZ_NONE, .lines = &line, .nlines = 1};

	cached[i] = (struct cached_address) {
		.location = (uint32_t)qz_profile__intern_location(profile, &l), .found = true};
	return &cached[i];
}

static void set_up(void)
{
	static const char *const names[] = {"main", "a", "b", "c"};

	profile = qz_profile__new();
	codes = python_codes__new(BPF, profile);
	for (uint64_t i = 0; i < 4; i++) {
		struct qz_python_code c = code(16 * (i + 1), names[i], "/srv/app.py", 1);

		python_codes__add(codes, &c);
	}
	for (uint64_t i = 0; i < 3; i++) {
		static const char *const starts[] = {"Thread._bootstrap", "Thread._bootstrap_inner",
						     "Thread.run"};
		struct qz_python_code c =
			code(0x1000 + 16 * i, starts[i], "/usr/lib/python3.11/threading.py", 1);

		python_codes__add(codes, &c);
	}
	forgotten = 0;
}

static void tear_down(void)
{
	python_codes__free(codes);
	qz_profile__free(profile);
}

#define MAIN  F(0x10)
#define A     F(0x20)
#define B     F(0x30)
#define C     F(0x40)
#define EVAL  "_PyEval_EvalFrameDefault"
#define FIRST F(0x1000)
#define INNER F(0x1010)
#define RUN   F(0x1020)

/*
 * Puts frames of C and of Python, both innermost first, together, and writes the names outermost first; "!" behind them: the leaf is
 * of Python.
 */
static const char *join(const char *const *c, uint32_t n, const uint64_t *python, uint32_t npython,
			uint32_t depth, bool truncated)
{
	static char names[8192];
	const struct cached_address *found[16];
	uint32_t locations[300];
	struct python_stack s = {.codes = codes,
				 .profile = profile,
				 .image = IMAGE,
				 .frames = python,
				 .kept = npython,
				 .left = npython,
				 .depth = depth,
				 .locations = locations};
	size_t at = 0;

	for (uint32_t i = 0; i < n; i++)
		found[i] = c_frame(i, c[i]);
	if (truncated)
		python_stack__begin(&s, found, n);
	for (uint32_t i = n; i > 0; i--)
		python_stack__place(&s, found[i - 1], i == 1);
	names[0] = '\0';
	for (uint32_t i = 0; i < s.n; i++) {
		const struct qz_location *l = &profile->locations[locations[i]];
		const char *name = profile->procedures[l->lines[0].procedure].name;

		at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%.*s", i ? " " : "",
				       (int)strcspn(name, " "), name);
	}
	snprintf(names + at, sizeof(names) - at, "%s%s", s.leaf ? "!" : "", s.begins ? "T" : "");
	return names;
}

#define JOIN(truncated, wanted, c, ...)                                                            \
	do {                                                                                       \
		const uint64_t python[] = {__VA_ARGS__};                                           \
                                                                                                   \
		ck_assert_str_eq(join(c, sizeof(c) / sizeof(c[0]), python,                         \
				      sizeof(python) / sizeof(python[0]),                          \
				      sizeof(python) / sizeof(python[0]), truncated),              \
				 wanted);                                                          \
	} while (0)

START_TEST(entries_take_the_place_of_the_interpreter)
{
	const char *c[] = {"sum", EVAL, "call", EVAL, "_start"};
	const char *leaf[] = {EVAL, "call", EVAL ".cold", "_start"};

	JOIN(false, "_start main a call b sum", c, B | ENTRY, A, MAIN | ENTRY);
	JOIN(false, "_start main call b sum", c, B | ENTRY, MAIN | ENTRY);
	JOIN(false, "_start main call b a!", leaf, A, B | ENTRY, MAIN | ENTRY);
	/* the outermost one has no mark: it was not reached, or is no entry in what was read */
	JOIN(false, "_start main call b sum", c, B | ENTRY, MAIN);
}
END_TEST

START_TEST(numbers_may_differ)
{
	const char *c[] = {"sum", EVAL, "call", EVAL, "_start"};
	const char *unnamed[] = {"python3.11+0x100", "call", EVAL, "_start"};
	const char *cut[] = {"sum", EVAL, "call"};

	/* it is about to enter */
	JOIN(false, "_start main call _PyEval_EvalFrameDefault sum", c, MAIN | ENTRY);
	/* a part of the interpreter without a name, at the inner end */
	JOIN(false, "_start main call python3.11+0x100 a!", unnamed, A | ENTRY, MAIN | ENTRY);
	/* the outer end of C was not reached, and that of Python was */
	JOIN(true, "main call a sum", cut, A | ENTRY, MAIN | ENTRY);
	JOIN(true, "main a call b sum", cut, B | ENTRY, A | ENTRY, MAIN | ENTRY);
	/* -X perf: one procedure is made for each function */
	cut[2] = "py::a:/srv/app.py";
	JOIN(true, "main a sum", cut, A | ENTRY, MAIN | ENTRY);
}
END_TEST

START_TEST(threads_begin_with_their_own_code)
{
	const char *c[] = {"sem_wait", EVAL, "method_vectorcall", EVAL, "thread_run"};

	JOIN(false, "a method_vectorcall b sem_waitT", c, B | ENTRY, A, RUN, INNER, FIRST | ENTRY);
	JOIN(false, "a sem_waitT", c, A | ENTRY, RUN, INNER, FIRST | ENTRY);
	/* a class of the program's own */
	JOIN(false, "a call", ((const char *[]) {"call", EVAL}), A | ENTRY);
	/* threading.py itself, in nothing else */
	JOIN(false, "Thread._bootstrap_inner!T", ((const char *[]) {EVAL, "thread_run"}), INNER,
	     FIRST | ENTRY);
}
END_TEST

START_TEST(without_python_nothing_changes)
{
	const char *c[] = {"sum", EVAL, "py::f", "_start"};

	ck_assert_str_eq(join(c, 4, NULL, 0, 0, false), "_start py::f " EVAL " sum");
}
END_TEST

/* Ruby: the loop is called by what stands for the interpreter. */
START_TEST(the_loop_of_ruby_disappears)
{
	const char *c[] = {"sum",	 "vm_exec_core", "rb_vm_exec", "call", "python3.11+0x100",
			   "rb_vm_exec", "_start"};
	const char *leaf[] = {"python3.11+0x100", "rb_vm_exec", "_start"};
	const char *other[] = {"raise", "rb_vm_exec", "python3.11+0x200", "_start"};

	JOIN(false, "_start main a call b sum", c, B | ENTRY, A, MAIN | ENTRY);
	JOIN(false, "_start main a!", leaf, A, MAIN | ENTRY);
	JOIN(false, "_start python3.11+0x200 main raise", other, MAIN | ENTRY);
	/* what calls it is there twice: once without a name */
	JOIN(false, "_start call a sum",
	     ((const char *[]) {"sum", "python3.11+0x100", "python3.11+0x300", "call", "_start"}),
	     A | ENTRY);
	/* it is about to enter: what has no method stays */
	JOIN(false, "_start main call rb_vm_exec vm_exec_core sum", c, MAIN | ENTRY);
}
END_TEST

/* Code that was not told, or is of another image, or makes no sense. */
START_TEST(unknown_code)
{
	const char *c[] = {EVAL, "_start"};
	struct qz_python_code bad = code(0x50, "x", "/srv/app.py", 1);

	JOIN(false, "_start main [unknown]!", c, F(0x99990), MAIN | ENTRY);
	bad.name.size = 0;
	python_codes__add(codes, &bad);
	JOIN(false, "_start main [unknown]!", c, F(0x50), MAIN | ENTRY);
	ck_assert(!python_codes__location(codes, IMAGE + 1, MAIN).named);
	ck_assert(python_codes__location(codes, IMAGE, MAIN | ENTRY).named);
}
END_TEST

START_TEST(a_gap_is_marked)
{
	const char *c[] = {EVAL, "_start"};
	uint64_t python[QZ_PYTHON_FRAMES];
	uint32_t depth = 300;

	for (uint32_t i = 0; i < QZ_PYTHON_FRAMES; i++)
		python[i] = A;
	python[QZ_INNER_FRAMES + (depth - 1) % QZ_OUTER_FRAMES] = MAIN | ENTRY;
	ck_assert(!strncmp(join(c, 2, python, QZ_PYTHON_FRAMES, depth, false), "_start main a a",
			   15));
	ck_assert_ptr_nonnull(
		strstr(join(c, 2, python, QZ_PYTHON_FRAMES, depth, false), "a [truncated] a"));
}
END_TEST

/* A program that makes code without end: all is forgotten now and then, and told again. */
START_TEST(codes_are_bounded)
{
	struct qz_python_code c = code(0, "made", "/srv/app.py", 1);

	for (uint64_t i = 0; i < 200000; i++) {
		c.code = F(0x100000 + 16 * i);
		python_codes__add(codes, &c);
	}
	ck_assert_uint_eq(forgotten, 3);
	ck_assert(python_codes__location(codes, IMAGE, c.code).named);
	ck_assert(!python_codes__location(codes, IMAGE, MAIN).named);
	ck_assert_uint_lt(profile->nlocations, 16);
}
END_TEST

Suite *suite_python_stacks(void)
{
	Suite *suite = suite_create("python_stacks");
	TCase *tc = tcase_create("python_stacks");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, names_of_code);
	tcase_add_test(tc, entries_take_the_place_of_the_interpreter);
	tcase_add_test(tc, numbers_may_differ);
	tcase_add_test(tc, threads_begin_with_their_own_code);
	tcase_add_test(tc, without_python_nothing_changes);
	tcase_add_test(tc, the_loop_of_ruby_disappears);
	tcase_add_test(tc, unknown_code);
	tcase_add_test(tc, a_gap_is_marked);
	tcase_add_test(tc, codes_are_bounded);
	suite_add_tcase(suite, tc);
	return suite;
}
