/* SPDX-License-Identifier: GPL-2.0-only */
#include "daemon/target/reorder_buffer.h"
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
static struct reorder_buffer *fill(uint32_t n)
{
	struct reorder_buffer *r = reorder_buffer__new();

	ck_assert_ptr_nonnull(r);
	for (uint32_t i = 0; i < n; i++) {
		struct qz_event e = {.time = 1 + (i * 7919u) % (n / 2), .length = sizeof(e)};

		reorder_buffer__add_event(r, &e, sizeof(e));
	}
	return r;
}

START_TEST(nothing_beyond_the_horizon)
{
	struct reorder_buffer *r = fill(N);
	struct reader reader = {.room = UINT32_MAX};
	uint64_t horizon = N / 4;

	ck_assert_uint_eq(reorder_buffer__process(r, &horizon, take, &reader), N / 2);
	ck_assert_uint_eq(horizon, N / 4);
	ck_assert_uint_eq(reader.last, N / 4);
	horizon = UINT64_MAX;
	ck_assert_uint_eq(reorder_buffer__process(r, &horizon, take, &reader), N / 2);
	ck_assert_uint_eq(horizon, UINT64_MAX);
	ck_assert_uint_eq(reorder_buffer__bytes(r), 0);
	reorder_buffer__free(r);
}
END_TEST

/* However little time there is each time: all come, once, and what is said to be processed was. */
START_TEST(a_little_each_time)
{
	struct reorder_buffer *r = fill(N);
	struct reader reader = {0};
	uint32_t sum = 0;

	while (sum < N) {
		uint64_t horizon = N;

		reader.room = 1 + sum % 5;
		sum += reorder_buffer__process(r, &horizon, take, &reader);
		ck_assert_uint_eq(reader.taken, sum);
		if (sum < N)
			ck_assert_uint_eq(horizon, sum / 2); /* two of each time */
		else
			ck_assert_uint_eq(horizon, N);
	}
	ck_assert_uint_eq(reorder_buffer__bytes(r), 0);
	reorder_buffer__free(r);
}
END_TEST

Suite *suite_reorder_buffer(void)
{
	Suite *suite = suite_create("reorder_buffer");
	TCase *tc = tcase_create("core");

	tcase_add_test(tc, nothing_beyond_the_horizon);
	tcase_add_test(tc, a_little_each_time);
	suite_add_tcase(suite, tc);
	return suite;
}
