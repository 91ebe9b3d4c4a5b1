/* SPDX-License-Identifier: GPL-2.0-only */
/* Which lines are shared, by whom and how: by what threads did in memory, and who ran at the same instants. */
#include "daemon/lines/shared_lines.h"
#include "tests/unit/failing.h"
#include "tests/unit/suites.h"

static struct shared_lines *lines;

static void setup(void)
{
	lines = shared_lines__new();
	ck_assert_ptr_nonnull(lines);
	shared_lines__begin(lines);
}

static void teardown(void)
{
	shared_lines__free(lines);
}

static uint32_t use(uint32_t serial, uint64_t address, bool written)
{
	struct line_access access = {address, 7, serial, 8, !written, written};

	return shared_lines__use(lines, &access);
}

/* Threads 1 and 2 at one instant, at these lines; gives whether that of the first is shared. */
static bool together(uint32_t first, uint32_t second)
{
	struct line_answer answers[] = {{7, 1, first, 10, true, false, false},
					{7, 2, second, 12, true, false, false}};

	shared_lines__judge(lines, answers, 2);
	return answers[0].is_shared;
}

static bool alone(uint32_t serial, uint32_t line)
{
	struct line_answer answer = {7, serial, line, 10, true, false, false};

	shared_lines__judge(lines, &answer, 1);
	return answer.is_shared;
}

START_TEST(one_word_is_shared)
{
	uint32_t line = use(1, 0x1008, true);

	ck_assert_uint_eq(use(2, 0x1008, true), line);
	ck_assert(together(line, LINE_NONE));
	ck_assert_uint_eq(shared_lines__get(lines, line)->shared, 1);
	ck_assert_uint_eq(shared_lines__get(lines, line)->same, 1);
}
END_TEST

START_TEST(neighbours_share_a_line_but_no_word)
{
	uint32_t line = use(1, 0x1008, true);
	uint64_t first, last;

	ck_assert_uint_eq(use(2, 0x1030, true), line);
	ck_assert(together(line, line));
	ck_assert_uint_eq(shared_lines__get(lines, line)->shared, 2);
	ck_assert_uint_eq(shared_lines__get(lines, line)->same, 0);
	shared_line__words(shared_lines__get(lines, line), &first, &last);
	ck_assert_uint_eq(first, 0x1008);
	ck_assert_uint_eq(last, 0x1030);
}
END_TEST

/* One that writes is enough; who reads alone waits for it as well. */
START_TEST(readers_alone_share_nothing)
{
	uint32_t line = use(1, 0x1008, false);

	use(2, 0x1008, false);
	ck_assert(!together(line, line));
	use(2, 0x1008, true);
	ck_assert(together(line, line));
	ck_assert_uint_eq(shared_lines__get(lines, line)->same, 2);
}
END_TEST

START_TEST(lines_of_their_own_are_not_shared)
{
	uint32_t first = use(1, 0x1000, true), second = use(2, 0x1040, true);

	ck_assert_uint_ne(first, second);
	ck_assert(!together(first, second));
}
END_TEST

START_TEST(who_does_not_run_shares_nothing)
{
	uint32_t line = use(1, 0x1000, true);

	use(2, 0x1000, true);
	ck_assert(!alone(1, line));
	ck_assert_uint_eq(shared_lines__get(lines, line)->alone, 1);
}
END_TEST

/* The same address in another process is other memory. */
START_TEST(processes_share_nothing)
{
	struct line_access other = {0x1000, 8, 2, 8, false, true};
	uint32_t line = use(1, 0x1000, true);
	struct line_answer answers[] = {{7, 1, line, 10, true, false, false},
					{8, 2, LINE_NONE, 12, true, false, false}};

	ck_assert_uint_ne(shared_lines__use(lines, &other), line);
	shared_lines__judge(lines, answers, 2);
	ck_assert(!answers[0].is_shared);
}
END_TEST

/* What does not count has run all the same. */
START_TEST(samples_elsewhere_are_counted_by_who_ran)
{
	uint32_t line = use(1, 0x1000, true);
	struct line_answer waits[] = {{7, 1, line, 10, false, false, false},
				      {7, 2, line, 12, true, false, false}};
	const struct shared_line *l;

	use(2, 0x1000, true);
	alone(1, LINE_NONE); /* it has shared no line yet */
	ck_assert(together(line, line));
	together(LINE_NONE, line);
	alone(1, LINE_NONE);
	alone(1, LINE_NONE);
	shared_lines__judge(lines, waits, 2);
	ck_assert(!waits[0].is_shared && waits[1].is_shared);
	l = shared_lines__get(lines, line);
	ck_assert_uint_eq(l->shared, 4);
	ck_assert_uint_eq(l->elsewhere, 1);
	ck_assert_uint_eq(l->elsewhere_alone, 2);
	ck_assert_uint_eq(l->alone, 0);
}
END_TEST

/* Who is sampled has left the line to those that are sampled later. */
START_TEST(the_first_of_an_instant_tells_what_it_waits_for)
{
	static const uint32_t times[][3] = {/* of the two, and whether each was first */
					    {10, 12, 1},
					    {12, 10, 2},
					    {10, 10, 0},
					    {UINT32_MAX >> 2, 0, 1}};
	uint32_t line = use(1, 0x1000, true);
	uint64_t there = 0;

	use(2, 0x1000, true);
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		struct line_answer both[] = {{7, 1, line, times[i][0], true, false, false},
					     {7, 2, line, times[i][1], true, false, false}};
		struct line_answer one[] = {{7, 1, LINE_NONE, times[i][0], true, false, false},
					    {7, 2, line, times[i][1], true, false, false}};
		const struct shared_line *l = shared_lines__get(lines, line);
		uint64_t elsewhere = l->elsewhere;

		shared_lines__judge(lines, both, 2);
		ck_assert(both[0].is_shared && both[1].is_shared);
		there += times[i][2] != 0;
		ck_assert_uint_eq(l->there, there);
		shared_lines__judge(lines, one, 2);
		there += times[i][2] == 2;
		ck_assert_uint_eq(l->there, there);
		ck_assert_uint_eq(l->elsewhere, elsewhere + (times[i][2] == 1));
	}
}
END_TEST

/* Who waits in a loop uses what the loop reads, and not what he has used before. */
START_TEST(who_spins_uses_nothing_else)
{
	uint32_t line = use(1, 0x1000, true);
	struct line_answer apart[] = {{7, 1, line, 10, true, false, false},
				      {7, 2, LINE_NONE, 12, false, true, false}};
	struct line_answer there[] = {{7, 1, line, 10, true, false, false},
				      {7, 2, line, 12, false, true, false}};

	use(2, 0x1000, true);
	shared_lines__judge(lines, apart, 2);
	ck_assert(!apart[0].is_shared);
	shared_lines__judge(lines, there, 2);
	ck_assert(there[0].is_shared && !there[1].is_shared);
}
END_TEST

/* A later thread takes the place of the first. */
START_TEST(users_are_bounded)
{
	uint32_t line = LINE_NONE;

	for (uint32_t serial = 1; serial <= LINE_USERS + 1; serial++)
		line = use(serial, 0x1000, true);
	ck_assert(!together(line, line));
	ck_assert_uint_eq(shared_lines__get(lines, line)->nusers, LINE_USERS + 1);
	use(1, 0x1000, true);
	use(2, 0x1000, true);
	ck_assert(together(line, line));
}
END_TEST

/* Of one process with lines without end, others keep theirs, and those that are used again stay. */
START_TEST(lines_are_bounded)
{
	struct line_access hot = {0x40, 7, 1, 8, false, true}, other = {0x40, 8, 2, 8, false, true};
	uint32_t kept, refused = 0;

	shared_lines__use(lines, &hot);
	shared_lines__use(lines, &hot);
	for (uint32_t image = 9; image < 200; image++)
		for (uint64_t i = 1; i < 5000; i++) {
			struct line_access cold = {64 * i, image, 3, 8, false, true};

			refused += shared_lines__use(lines, &cold) == LINE_NONE;
		}
	ck_assert_uint_gt(refused, 0);
	shared_lines__begin(lines);
	kept = shared_lines__use(lines, &hot);
	ck_assert_uint_eq(kept, 0);
	ck_assert_uint_eq(shared_lines__get(lines, kept)->samples, 1);
	ck_assert_uint_ne(shared_lines__use(lines, &other), LINE_NONE);
	ck_assert_ptr_null(shared_lines__get(lines, 2));
}
END_TEST

/* Bytes behind the line are another line's. */
START_TEST(accesses_end_with_the_line)
{
	struct line_access wide = {0x103c, 7, 1, 32, false, true};
	uint32_t line = shared_lines__use(lines, &wide);

	ck_assert_uint_eq(shared_lines__get(lines, line)->users[0].written, 0xfull << 60);
	use(2, 0x1000, true);
	ck_assert(together(line, line));
	ck_assert_uint_eq(shared_lines__get(lines, line)->same, 0);
}
END_TEST

START_TEST(without_memory_there_is_no_line)
{
	failing__arm(1);
	ck_assert_uint_eq(use(1, 0x1000, true), LINE_NONE);
	ck_assert(failing__disarm());
	ck_assert_uint_ne(use(1, 0x1000, true), LINE_NONE);
}
END_TEST

Suite *suite_shared_lines(void)
{
	Suite *s = suite_create("shared_lines");
	TCase *c = tcase_create("lines");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, one_word_is_shared);
	tcase_add_test(c, neighbours_share_a_line_but_no_word);
	tcase_add_test(c, readers_alone_share_nothing);
	tcase_add_test(c, lines_of_their_own_are_not_shared);
	tcase_add_test(c, who_does_not_run_shares_nothing);
	tcase_add_test(c, processes_share_nothing);
	tcase_add_test(c, the_first_of_an_instant_tells_what_it_waits_for);
	tcase_add_test(c, samples_elsewhere_are_counted_by_who_ran);
	tcase_add_test(c, the_first_of_an_instant_tells_what_it_waits_for);
	tcase_add_test(c, who_spins_uses_nothing_else);
	tcase_add_test(c, users_are_bounded);
	tcase_add_test(c, lines_are_bounded);
	tcase_add_test(c, accesses_end_with_the_line);
	tcase_add_test(c, without_memory_there_is_no_line);
	suite_add_tcase(s, c);
	return s;
}
