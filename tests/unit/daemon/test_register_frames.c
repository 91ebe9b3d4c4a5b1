/* SPDX-License-Identifier: GPL-2.0-only */
/* Frames that hang from a register other than the stack and the frame pointer, as assembly has them that realigns its stack. */
#include <check.h>
#include <string.h>

#include "daemon/unwind/unwinder.h"
#include "tests/unit/suites.h"

#define CODE	0x400000ull
#define STACK	0x10000ull
#define WORDS	64
#define RBX	5 /* word of struct pt_regs */
#define AT(i)	(STACK + 8ull * (i))
#define OLD_RBP 0x1234

enum { LEAF = CODE + 1, CALLER = CODE + 0x101, MAIN = CODE + 0x201, INNER = CODE + 0x301 };

/* A leaf is at word 0, its realigned frame up to word 40, where rbx is; main's begins at 56. What a leaf has called is at word 1. */
static const uint64_t stack[WORDS] = {[1] = LEAF, [41] = OLD_RBP, [42] = CALLER, [55] = MAIN};
static const uint64_t registers[15] = {[RBX] = AT(40)};

static bool read_memory(void *arg, uint64_t address, void *to, size_t size)
{
	(void)arg;
	if (address < STACK || address - STACK + size > sizeof(stack))
		return false;
	memcpy(to, (const char *)stack + (address - STACK), size);
	return true;
}

static struct unwinder_stack walk(const uint64_t *known, uint64_t from, uint8_t derived)
{
	const struct qz_unwind_region region = {
		.start = CODE, .end = CODE + 0x1000, .bias = CODE, .count = 4};
	const struct qz_unwind_row rows[] = {
		{.pc = 0,
		 .cfa = QZ_UNWIND_REGISTER(RBX, 3),
		 .rbp = -2,
		 .kind = QZ_UNWIND_KIND(QZ_CFA_REGISTER, QZ_RBP_CFA) | derived},
		{.pc = 0x100, .cfa = 13, .kind = QZ_CFA_RSP},
		{.pc = 0x200, .kind = QZ_CFA_END},
		{.pc = 0x300, .cfa = 1, .kind = QZ_CFA_RSP},
	};
	const struct unwinder w = {.regions = &region,
				   .nregions = 1,
				   .rows = rows,
				   .nrows = 4,
				   .read = read_memory,
				   .registers = known,
				   .no_code = true};
	const struct unwinder_start start = {.ip = from, .sp = from == LEAF ? AT(0) : AT(1)};
	struct unwinder_stack s;

	unwinder__walk(&w, &start, &s);
	return s;
}

static const uint8_t origins[] = {0, QZ_UNWIND_DERIVED};

START_TEST(the_innermost_frame_is_left_by_its_register)
{
	struct unwinder_stack s = walk(registers, LEAF, origins[_i]);

	ck_assert_uint_eq(s.end, QZ_UNWIND_OUTERMOST);
	ck_assert_uint_eq(s.depth, 3);
	ck_assert_uint_eq(s.frames[1], CALLER);
	ck_assert_uint_eq(s.frames[2], MAIN);
}
END_TEST

START_TEST(without_registers_it_is_not)
{
	struct unwinder_stack s = walk(NULL, LEAF, origins[_i]);

	ck_assert_uint_ne(s.end, QZ_UNWIND_OUTERMOST);
	ck_assert_uint_eq(s.depth, 1);
}
END_TEST

/* Registers are those of the innermost frame, not of its callers. */
START_TEST(outer_frames_are_not)
{
	struct unwinder_stack s = walk(registers, INNER, origins[_i]);

	ck_assert_uint_ne(s.end, QZ_UNWIND_OUTERMOST);
	ck_assert_uint_eq(s.depth, 2);
	ck_assert_uint_eq(s.frames[1], LEAF);
}
END_TEST

Suite *suite_register_frames(void)
{
	Suite *s = suite_create("register_frames");
	TCase *t = tcase_create("register_frames");
	int n = sizeof(origins);

	tcase_add_loop_test(t, the_innermost_frame_is_left_by_its_register, 0, n);
	tcase_add_loop_test(t, without_registers_it_is_not, 0, n);
	tcase_add_loop_test(t, outer_frames_are_not, 0, n);
	suite_add_tcase(s, t);
	return s;
}
