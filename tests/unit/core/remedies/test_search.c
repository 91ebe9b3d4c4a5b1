/* SPDX-License-Identifier: GPL-2.0-only */
/* Which values of a knob are tried, on functions whose best value is known. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "core/remedies/search.h"
#include "tests/unit/suites.h"

#define MOST 64

typedef double time_function(uint32_t value, uint32_t n);

/* A pool: more threads help up to eight processors, then each one costs a little. */
static double pool(uint32_t i, uint32_t n)
{
	double threads = i + 1.0;

	(void)n;
	return threads <= 8 ? 1 + 10 / threads : 1 + 10.0 / 8 + 0.06 * (threads - 8);
}

/* The best ones are at the ends. */
static double falling(uint32_t i, uint32_t n)
{
	return 1 + 4.0 * (n - 1 - i) / n;
}

static double rising(uint32_t i, uint32_t n)
{
	return 1 + 4.0 * i / n;
}

struct world {
	struct qz_search search;
	double positions[MOST];
	uint8_t states[MOST];
	uint32_t start, tried;
};

static void begin(struct world *w, uint32_t n, uint32_t start, uint32_t most, bool ratios)
{
	memset(w, 0, sizeof(*w));
	for (uint32_t i = 0; i < n; i++)
		w->positions[i] = ratios ? log(i + 1.0) : i;
	w->start = start;
	w->states[start] = QZ_VALUE_KNOWN;
	w->search = (struct qz_search) {
		.n = n, .positions = w->positions, .states = w->states, .left = most};
}

/* Searches to the end. Returns the best value. */
static uint32_t search(struct world *w, time_function *time)
{
	uint32_t found[MOST], n = qz_search__begin(&w->search, found), best = w->start;

	while (n) {
		for (uint32_t i = 0; i < n; i++) {
			ck_assert_uint_eq(w->states[found[i]], QZ_VALUE_KNOWN);
			ck_assert_uint_ne(found[i], w->start);
			if (time(found[i], w->search.n) < time(best, w->search.n))
				best = found[i];
		}
		w->tried += n;
		n = qz_search__go_on(&w->search, best, found);
	}
	return best;
}

START_TEST(finds_the_best_from_each_start)
{
	static const struct {
		time_function *time;
		uint32_t best;
	} cases[] = {{pool, 7}, {falling, 31}, {rising, 0}};
	struct world w;

	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
		for (uint32_t start = 0; start < 32; start++) {
			begin(&w, 32, start, 12, k == 0);
			ck_assert_uint_eq(search(&w, cases[k].time), cases[k].best);
			ck_assert_uint_le(w.tried, 12);
		}
}
END_TEST

START_TEST(tries_few_values_all)
{
	struct world w;

	for (uint32_t start = 0; start < 7; start++) {
		begin(&w, 7, start, 12, false);
		search(&w, rising);
		ck_assert_uint_eq(w.tried, 6);
	}
	begin(&w, 1, 0, 12, false);
	search(&w, rising);
	ck_assert_uint_eq(w.tried, 0);
}
END_TEST

START_TEST(tries_no_more_than_it_may)
{
	struct world w;

	for (uint32_t most = 1; most <= 12; most++) {
		begin(&w, MOST, 40, most, true);
		search(&w, pool);
		ck_assert_uint_eq(w.search.left + w.tried, most);
	}
	begin(&w, 20, 0, 12, false);
	w.search.unordered = true;
	search(&w, pool);
	ck_assert_uint_eq(w.tried, 12);
}
END_TEST

START_TEST(leaves_out_what_is_unusable)
{
	struct world w;
	uint32_t best;

	begin(&w, 32, 0, 32, false);
	for (uint32_t i = 5; i < 9; i++)
		w.states[i] = QZ_VALUE_UNUSABLE;
	best = search(&w, pool);
	ck_assert_uint_eq(best, 9);
	for (uint32_t i = 5; i < 9; i++)
		ck_assert_uint_eq(w.states[i], QZ_VALUE_UNUSABLE);
}
END_TEST

Suite *suite_search(void)
{
	Suite *s = suite_create("search");
	TCase *c = tcase_create("search");

	tcase_add_test(c, finds_the_best_from_each_start);
	tcase_add_test(c, tries_few_values_all);
	tcase_add_test(c, tries_no_more_than_it_may);
	tcase_add_test(c, leaves_out_what_is_unusable);
	suite_add_tcase(s, c);
	return s;
}
