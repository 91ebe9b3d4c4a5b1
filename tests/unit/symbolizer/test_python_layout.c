/* SPDX-License-Identifier: GPL-2.0-only */
/* How an interpreter of Python or Ruby lays out its frames, by the file that holds it. */
#include <check.h>
#include <fcntl.h>
#include <stdlib.h>

#include "symbolizer/elf/python_layout.h"
#include "symbolizer/elf/symbols.h"
#include "tests/unit/suites.h"
#include "tests/unit/symbolizer/symbolizer_util.h"

static bool find(const char *fixture, struct qz_python_layout *layout)
{
	struct elf_file *file = elf_file__open(open(util__fixture(fixture), O_RDONLY));
	struct symbol_value runtime;
	bool found;

	ck_assert_ptr_nonnull(file);
	found = python_layout__find(file, 0x10, layout);
	if (found) {
		ck_assert(symbols__look_up(file, "_PyRuntime", &runtime) ||
			  symbols__look_up(file, "ruby_current_vm_ptr", &runtime));
		ck_assert_uint_eq(layout->runtime, runtime.value - 0x10);
		ck_assert(qz_python_layout__is_valid(layout));
	}
	ck_assert_int_eq(found, layout->runtime != 0);
	elf_file__close(file);
	return found;
}

START_TEST(known_versions)
{
	struct qz_python_layout l;

	ck_assert(find("python_0x308", &l));
	ck_assert_uint_eq(l.entry, QZ_PYTHON_EVERY);
	ck_assert_uint_eq(l.thread_frame, 24);
	ck_assert_uint_eq(l.lines, QZ_PYTHON_LNOTAB);
	ck_assert_uint_eq(l.frame_instruction, 104);
	ck_assert(find("python_0x30a", &l));
	ck_assert_uint_eq(l.entry, QZ_PYTHON_EVERY);
	ck_assert_uint_eq(l.lines, QZ_PYTHON_RANGES);
	ck_assert_uint_eq(l.frame_instruction, 96);
	ck_assert(find("python_0x30b", &l));
	ck_assert_uint_eq(l.entry, QZ_PYTHON_FLAG);
	ck_assert_uint_eq(l.code_name, 128);
	ck_assert(find("python_0x30c", &l));
	ck_assert_uint_eq(l.entry, QZ_PYTHON_SHIM);
	ck_assert_uint_eq(l.threads, 72);
}
END_TEST

static void published(const char *fixture)
{
	struct qz_python_layout l;

	ck_assert(find(fixture, &l));
	ck_assert_uint_eq(l.interpreters, 0x1000 + 5);
	ck_assert_uint_eq(l.interpreter_next, 0x1000 + 8);
	ck_assert_uint_eq(l.threads, 0x1000 + 9);
	ck_assert_uint_eq(l.thread_next, 0x1000 + 102);
	ck_assert_uint_eq(l.thread_frame, 0x1000 + 104);
	ck_assert_uint_eq(l.thread_id, 0x1000 + 105);
	ck_assert_uint_eq(l.cframe, QZ_PYTHON_NO_CFRAME);
	ck_assert_uint_eq(l.entry, QZ_PYTHON_SHIM);
	ck_assert_uint_eq(l.frame_previous, 8);
	ck_assert_uint_eq(l.frame_code, 0);
	ck_assert_uint_eq(l.frame_owner, 70);
	ck_assert_uint_eq(l.code_file, 112);
	ck_assert_uint_eq(l.code_name, 128);
	ck_assert_uint_eq(l.code_line, 68);
	ck_assert_uint_eq(l.text, 16);
	ck_assert_uint_eq(l.text_ascii, 40);
	ck_assert_uint_eq(l.text_other, 56);
	ck_assert_uint_eq(l.lines, QZ_PYTHON_LOCATIONS);
	ck_assert_uint_eq(l.frame_instruction, 56);
	ck_assert_uint_eq(l.code_table, 136);
	ck_assert_uint_eq(l.code_instructions, 200);
	ck_assert_uint_eq(l.bytes, 16);
}

START_TEST(published_offsets)
{
	published("python_0x30d");
	published("python_0x30e");
}
END_TEST

/* Another program, a version that is not known, and offsets that lead out of what is read. */
START_TEST(none)
{
	struct qz_python_layout l;

	ck_assert(!find("O2", &l));
	ck_assert(!find("stripped", &l));
	ck_assert(!find("python_0x307", &l));
	ck_assert(!find("python_lie", &l));
}
END_TEST

START_TEST(versions_of_ruby)
{
	struct qz_python_layout l;

	ck_assert(!find("ruby_2.6", &l));
	ck_assert(find("ruby_2.7", &l));
	ck_assert_uint_eq(l.threads, 192);
	ck_assert_uint_eq(l.entry, QZ_RUBY_FLAG_OLD);
	ck_assert(find("ruby_3.0", &l));
	ck_assert_uint_eq(l.frame_previous, 56);
	ck_assert(find("ruby_3.1", &l));
	ck_assert_uint_eq(l.frame_previous, 64);
	ck_assert_uint_eq(l.thread_native, 0);
	ck_assert(find("ruby_3.2", &l));
	ck_assert_uint_eq(l.entry, QZ_RUBY_FLAG);
	ck_assert_uint_eq(l.thread_native, 8);
	ck_assert(find("ruby_3.3", &l));
	ck_assert_uint_eq(l.thread_native, 16);
	ck_assert_uint_eq(l.frame_previous, 56);
	ck_assert(find("ruby_3.4", &l));
	ck_assert_uint_eq(l.lines, QZ_PYTHON_NO_LINES);
	ck_assert(!find("ruby_3.5", &l));
}
END_TEST

Suite *suite_python_layout(void)
{
	Suite *suite = suite_create("python_layout");
	TCase *tc = tcase_create("python_layout");

	tcase_add_test(tc, known_versions);
	tcase_add_test(tc, published_offsets);
	tcase_add_test(tc, versions_of_ruby);
	tcase_add_test(tc, none);
	suite_add_tcase(suite, tc);
	return suite;
}
