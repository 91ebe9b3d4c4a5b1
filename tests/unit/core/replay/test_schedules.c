/* SPDX-License-Identifier: GPL-2.0-only */
/* QUARTZ_SCHEDULES=N checks N schedules instead of some hundred, QUARTZ_SCHEDULES_FROM=N from that seed on. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/core/replay/truth.h"
#include "tests/unit/suites.h"

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *value = getenv(name);

	return value ? strtoull(value, NULL, 10) : otherwise;
}

START_TEST(schedules)
{
	uint64_t from = number("QUARTZ_SCHEDULES_FROM", 0);
	uint64_t n = number("QUARTZ_SCHEDULES", 600);

	for (uint64_t seed = from; seed < from + n; seed++) {
		struct schedule_options options = truth__options(seed);
		const char *wrong = truth__check(&options);

		ck_assert_msg(!wrong, "seed %llu: %s", (unsigned long long)seed, wrong);
	}
}
END_TEST

Suite *suite_schedules(void)
{
	Suite *s = suite_create("schedules");
	TCase *tc = tcase_create("schedules");

	tcase_add_test(tc, schedules);
	suite_add_tcase(s, tc);
	return s;
}
