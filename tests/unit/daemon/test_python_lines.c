/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables of lines that CPython has made of one function, against what it says itself (dis.findlinestarts() and co_lines()), and
 * what is left of them after damage.
 */
#include <check.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/attribution/python_lines.h"
#include "tests/unit/suites.h"

static const struct {
	enum qz_python_lines lines;
	uint32_t size, n;
	uint8_t bytes[128], expected[80]; /* by instruction */
} tables[] = {
	/* 3.8.18 */
	{QZ_PYTHON_LNOTAB,
	 30,
	 33,
	 {0, 1, 4,   1, 12, 1, 2, 1, 2, 255, 6,	  2, 2, 1, 4,
	  1, 2, 255, 8, 3,  6, 1, 6, 1, 2,   255, 4, 1, 2, 255},
	 {4, 4, 5, 5, 5,  5,  5,  5,  6,  7,  6,  6,  6,  8,  9,  9, 10,
	  9, 9, 9, 9, 12, 12, 12, 13, 13, 13, 14, 13, 13, 14, 13, 13}},
	/* 3.10.13 */
	{QZ_PYTHON_RANGES,
	 30,
	 35,
	 {4, 1, 12,  1,	 2, 1, 2, 1, 6, 255, 2,	  2, 4, 1, 2,
	  1, 6, 255, 12, 3, 6, 1, 2, 1, 4,   255, 2, 1, 4, 255},
	 {4, 4, 5,  5,	5,  5,	5,  5,	6,  7,	6,  6,	6,  8,	9,  9,	10, 9,
	  9, 9, 12, 12, 12, 12, 12, 12, 13, 13, 13, 14, 13, 13, 14, 13, 13}},
	/* 3.12.1 */
	{QZ_PYTHON_LOCATIONS,
	 122,
	 71,
	 {128, 0,   216, 8,   9,   128, 65, 220, 13,  18,  144, 49,  139, 88,  242, 0,
	  2,   5,   16,	 136, 1,   216, 13, 14,	 216, 13,  14,	241, 3,	  1,   14,  15,
	  137, 1,   240, 3,   2,   5,	16, 240, 6,   4,   5,	14,  220, 8,   9,   136,
	  33,  216, 10,	 11,  244, 3,	1,  9,	 13,  240, 6,	0,   13,  14,  136, 1,
	  224, 21,  22,	 246, 3,   1,	12, 24,	 216, 16,  17,	242, 3,	  0,   13,  14,
	  242, 0,   1,	 12,  24,  216, 25, 26,	 240, 3,   1,	12,  27,  240, 0,   1,
	  5,   27,  248, 240, 3,   0,	13, 14,	 137, 1,   252, 242, 2,	  1,   12,  24},
	 {3,  4,  4,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  5,  6,
	  7,  6,  6,  6,  6,  5,  8,  9,  9,  9,  9,  9,  9,  10, 9,  9,  9,  9,
	  9,  12, 12, 14, 13, 13, 13, 13, 13, 13, 13, 14, 13, 13, 13, 13, 13, 13,
	  14, 13, 13, 0,  12, 12, 12, 0,  0,  0,  0,  0,  13, 13, 13}},
};

#define N (sizeof(tables) / sizeof(tables[0]))

#define FIRST 3 /* line of the function */

static struct qz_python_table *copy(size_t i, uint32_t size)
{
	struct qz_python_table *t = malloc(offsetof(struct qz_python_table, bytes) + size);

	t->lines = tables[i].lines;
	t->size = size;
	memcpy(t->bytes, tables[i].bytes, size);
	return t;
}

START_TEST(lines_are_those_of_cpython)
{
	struct qz_python_table *t = copy((size_t)_i, tables[_i].size);

	for (uint32_t k = 0; k < tables[_i].n; k++)
		ck_assert_msg(python_lines__at(t, FIRST, k) == tables[_i].expected[k],
			      "instruction %u: line %u", k, python_lines__at(t, FIRST, k));
	t->lines = QZ_PYTHON_NO_LINES;
	ck_assert_uint_eq(python_lines__at(t, FIRST, 0), 0);
	free(t);
}
END_TEST

/* Of a cut table the beginning holds; an instruction behind it has no line, or that of the last range. */
START_TEST(what_is_cut_or_damaged_is_bounded)
{
	for (uint32_t size = 0; size <= tables[_i].size; size++) {
		struct qz_python_table *t = copy((size_t)_i, size);

		for (uint32_t k = 0; k < 70000; k += k < 100 ? 1 : 997)
			ck_assert_uint_le(python_lines__at(t, FIRST, k), 20);
		/* in a part, damage before its end leads beyond it; in the whole, any */
		for (uint32_t at = size == tables[_i].size || size < 8 ? 0 : size - 8; at < size;
		     at++) {
			for (int value = 0; value < 256; value += 15) {
				uint8_t was = t->bytes[at];

				t->bytes[at] = (uint8_t)value;
				for (uint32_t k = 0; k < 200; k += 7)
					ck_assert_uint_le(python_lines__at(t, FIRST, k), INT32_MAX);
				t->bytes[at] = was;
			}
		}
		free(t);
	}
}
END_TEST

/* A number without an end, and steps back to before the first line. */
START_TEST(nonsense_has_no_line)
{
	struct qz_python_table *t = calloc(1, sizeof(*t));

	t->lines = QZ_PYTHON_LOCATIONS;
	t->size = QZ_PYTHON_TABLE;
	memset(t->bytes, 0x7f, QZ_PYTHON_TABLE);
	t->bytes[0] = 0x80 | 13 << 3;
	python_lines__at(t, 1, 0);
	t->lines = QZ_PYTHON_LNOTAB;
	memset(t->bytes, 0x80, QZ_PYTHON_TABLE);
	ck_assert_uint_eq(python_lines__at(t, 1, 1000), 0);
	t->lines = QZ_PYTHON_RANGES;
	memset(t->bytes, 0x81, QZ_PYTHON_TABLE);
	ck_assert_uint_eq(python_lines__at(t, 1, 1000), 0);
	free(t);
}
END_TEST

Suite *suite_python_lines(void)
{
	Suite *suite = suite_create("python_lines");
	TCase *tcase = tcase_create("lines");

	tcase_add_loop_test(tcase, lines_are_those_of_cpython, 0, N);
	tcase_add_loop_test(tcase, what_is_cut_or_damaged_is_bounded, 0, N);
	tcase_add_test(tcase, nonsense_has_no_line);
	suite_add_tcase(suite, tcase);
	return suite;
}
