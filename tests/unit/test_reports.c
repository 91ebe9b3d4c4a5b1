/* SPDX-License-Identifier: GPL-2.0-only */
#include "daemon/reports.h"
#include "tests/unit/suites.h"

#define N 1000

/* Hands over `room` reports and asks for the order of time. */
struct reader {
	uint32_t room, taken;
	uint64_t last;
};

static bool take(void *context, const struct report *report)
{
	struct reader *r = context;

	ck_assert_uint_ge(report->time, r->last);
	r->last = report->time;
	r->taken++;
	return --r->room > 0;
}

/* Of times that come out of order, some of them twice. */
static struct reports *fill(uint32_t n)
{
	struct reports *r = reports__new();

	ck_assert_ptr_nonnull(r);
	for (uint32_t i = 0; i < n; i++) {
		struct qz_event e = {.time = 1 + (i * 7919u) % (n / 2), .length = sizeof(e)};

		reports__add_event(r, &e, sizeof(e));
	}
	return r;
}

START_TEST(nothing_beyond_the_horizon)
{
	struct reports *r = fill(N);
	struct reader reader = {.room = UINT32_MAX};
	uint64_t horizon = N / 4;

	ck_assert_uint_eq(reports__process(r, &horizon, take, &reader), N / 2);
	ck_assert_uint_eq(horizon, N / 4);
	ck_assert_uint_eq(reader.last, N / 4);
	horizon = UINT64_MAX;
	ck_assert_uint_eq(reports__process(r, &horizon, take, &reader), N / 2);
	ck_assert_uint_eq(horizon, UINT64_MAX);
	ck_assert_uint_eq(reports__bytes(r), 0);
	reports__free(r);
}
END_TEST

/* However little time there is each time: all come, once, and what is said to be processed was. */
START_TEST(a_little_each_time)
{
	struct reports *r = fill(N);
	struct reader reader = {0};
	uint32_t sum = 0;

	while (sum < N) {
		uint64_t horizon = N;

		reader.room = 1 + sum % 5;
		sum += reports__process(r, &horizon, take, &reader);
		ck_assert_uint_eq(reader.taken, sum);
		if (sum < N)
			ck_assert_uint_eq(horizon, sum / 2); /* two of each time */
		else
			ck_assert_uint_eq(horizon, N);
	}
	ck_assert_uint_eq(reports__bytes(r), 0);
	reports__free(r);
}
END_TEST

Suite *suite_reports(void)
{
	Suite *suite = suite_create("reports");
	TCase *tc = tcase_create("core");

	tcase_add_test(tc, nothing_beyond_the_horizon);
	tcase_add_test(tc, a_little_each_time);
	suite_add_tcase(suite, tc);
	return suite;
}
