/* SPDX-License-Identifier: GPL-2.0-only */
/* Jobs of processes, of which one still runs when the others have ended. */
#include <check.h>
#include <string.h>

#include "tests/unit/core/advise/advised.h"
#include "tests/unit/suites.h"

#define MOST 12

/* What make starts, in ms; start < end. `driver`: waits for the next one, as gcc does for cc1. */
struct job {
	uint64_t start, end;
	bool driver;
};

/* Who starts them has tid 1, the first of them tid 2. */
static struct advised make(const struct job *jobs, bool ended)
{
	uint64_t level_ns[] = {0, 0, 0};
	struct fixture f = fixture__new();
	uint32_t scope, thread, make;

	for (uint64_t ms = 0; ms < 800; ms++) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < MOST; i++)
			n += !jobs[i].driver && jobs[i].start <= ms && ms < jobs[i].end;
		level_ns[n] += MS;
	}
	scope = fixture__scope(&f, level_ns, 3);
	make = fixture__thread(&f, scope, 1);
	advised__lived(&f, make, 1, 0, 800, 0);
	advised__waited(&f, make, "main wait", "child", (struct advised_waits) {1, 9, 800, 0});
	for (int32_t i = 0; i < MOST && jobs[i].end; i++) {
		uint64_t life = jobs[i].end - jobs[i].start;

		thread = fixture__thread(&f, scope, 2 + i);
		advised__lived(&f, thread, 2 + i, jobs[i].start, jobs[i].end,
			       jobs[i].driver ? 0 : life);
		if (jobs[i].driver)
			advised__waited(&f, thread, "main [process] drive", "child",
					(struct advised_waits) {1, 1, life, 0});
		else
			fixture__samples(&f, scope, thread, "main [process] compile", 1, life);
	}
	f.p->scopes[scope].kind = QZ_SCOPE_JOB;
	f.p->scopes[scope].ended = ended;
	return advised__new(&f, 2);
}

#define FOUR                                                                                       \
	{0, 200, false}, {0, 200, false}, {200, 400, false},                                       \
	{                                                                                          \
		200, 410, false                                                                    \
	}

/* Two at a time: 1210 ms of work are 605 for two. 195 of 800 are saved. */
static const struct job late[][MOST] = {
	{FOUR, {400, 800, false}},
	/* as the compiler, started by its driver */
	{FOUR, {400, 800, true}, {400, 800, false}},
};

START_TEST(the_last_job_that_runs_alone_is_found)
{
	struct advised x = make(late[_i], true);
	const struct qz_finding *found = advised__find(x.a, "last-job");

	ck_assert_ptr_nonnull(found);
	ck_assert_int_eq(x.p->threads[found->subject.index].tid, _i ? 7 : 6);
	ck_assert_uint_eq(found->gain_high_ns, 195 * MS);
	ck_assert_uint_eq(found->gain_low_ns, 195 * MS / 2);
	ck_assert_ptr_nonnull(strstr(found->what, "one of 5 jobs, was started when 3 had ended, "
						  "and still ran for 49% of the time after"));
	ck_assert_ptr_null(advised__find(x.a, "imbalance"));
	advised__free(&x);
}
END_TEST

static const struct job others[][MOST] = {
	/* began first */
	{{0, 800, false}, {0, 200, false}, {200, 400, false}, {400, 410, false}},
	/* as long as the others */
	{FOUR, {400, 600, false}},
	/* as a linker, which needs them all */
	{FOUR, {410, 800, false}},
	/* no longer than the others */
	{FOUR, {410, 605, false}, {410, 605, false}, {605, 790, false}, {605, 800, false}},
	/* one after another */
	{{0, 200, false}, {200, 400, false}, {400, 800, false}},
};

START_TEST(jobs_in_a_good_order_are_not)
{
	struct advised x = make(others[_i], true);

	ck_assert_ptr_null(advised__find(x.a, "last-job"));
	advised__free(&x);
}
END_TEST

START_TEST(jobs_of_a_server_end_when_they_like)
{
	struct advised x = make(late[0], false);

	ck_assert_ptr_null(advised__find(x.a, "last-job"));
	advised__free(&x);
}
END_TEST

Suite *suite_advise_last_job(void)
{
	Suite *s = suite_create("advise_last_job");
	TCase *tc = tcase_create("all");

	tcase_add_loop_test(tc, the_last_job_that_runs_alone_is_found, 0,
			    sizeof(late) / sizeof(late[0]));
	tcase_add_loop_test(tc, jobs_in_a_good_order_are_not, 0,
			    sizeof(others) / sizeof(others[0]));
	tcase_add_test(tc, jobs_of_a_server_end_when_they_like);
	suite_add_tcase(s, tc);
	return s;
}
