/* SPDX-License-Identifier: GPL-2.0-only */
/* One thread works, or one process after another: phases, stages of pipelines, jobs. */
#include <check.h>
#include <string.h>

#include "tests/unit/core/advise/advised.h"
#include "tests/unit/suites.h"

/* Eight of ten parts of the time one of four processors works, in `load`. */
static struct fixture serial(uint64_t alone, uint64_t together)
{
	const uint64_t level_ns[] = {0, alone * MS, 0, 0, together * MS};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 5), main = fixture__thread(&f, scope, 1);

	fixture__samples(&f, scope, main, "main load read_row", 1, alone);
	fixture__samples(&f, scope, main, "main [thread] work", 4, 4 * together);
	return f;
}

START_TEST(a_serial_phase_is_found)
{
	struct fixture f = serial(800, 200);
	struct advised x = advised__new(&f, 4);
	const struct qz_finding *found = advised__find(x.a, "serial");

	ck_assert_ptr_nonnull(found);
	ck_assert_int_eq(found->subject.kind, QZ_SUBJECT_PROCEDURE);
	/* at the same processor time, and at 1 and 4/6 times */
	ck_assert_uint_eq(found->gain_high_ns, 600 * MS);
	ck_assert_uint_eq(found->gain_low_ns / MS, 466);
	advised__free(&x);
}
END_TEST

/*
 * The procedure with most code of its own gives the phase its name. What the same thread does alone around it can be divided as well, and is
 * no work that several threads share.
 */
START_TEST(code_around_a_phase_belongs_to_it)
{
	static const uint64_t level_ns[] = {0, 1000 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), main = fixture__thread(&f, scope, 1),
		 other = fixture__thread(&f, scope, 2);
	struct advised x;

	fixture__samples(&f, scope, main, "main work compress", 1, 900);
	fixture__samples(&f, scope, main, "main work output", 1, 80);
	fixture__samples(&f, scope, main, "main queue", 1, 10);
	fixture__samples(&f, scope, other, "main queue", 1, 10);
	x = advised__new(&f, 2);
	ck_assert_uint_eq(x.a->n, 1);
	ck_assert_str_eq(x.a->findings[0].rule, "serial");
	ck_assert_str_eq(x.a->findings[0].subject.name, "compress");
	ck_assert_uint_eq(x.a->findings[0].gain_low_ns / MS, 300);
	ck_assert_uint_eq(x.a->findings[0].gain_high_ns, 490 * MS);
	advised__free(&x);
}
END_TEST

/* Goroutines run in any thread: which one did tells nothing of who waits for whom. */
START_TEST(tasks_that_threads_run_in_turn_are_serial)
{
	const uint64_t level_ns[] = {0, 1000 * MS};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 2), main = fixture__thread(&f, scope, 1);
	uint32_t other = fixture__thread(&f, scope, 2);
	const struct qz_finding *found;
	struct advised x;

	f.p->threads[other].pid = f.p->threads[main].pid = f.p->threads[main].tid;
	fixture__samples(&f, scope, main, "runtime.goexit main.worker main.burn time.now", 1, 500);
	fixture__samples(&f, scope, other, "runtime.goexit main.worker main.burn time.now", 1, 500);
	fixture__samples(&f, scope, other, "runtime.goexit main.worker main.burn", 1, 200);
	fixture__wait(
		&f,
		&(struct qz_wait) {
			.thread = other, .object = QZ_NONE, .count = 100, .blocked_ns = 500 * MS},
		"runtime.mstart", "futex");
	x = advised__new(&f, 2);
	found = advised__find(x.a, "serial");
	ck_assert_ptr_nonnull(found);
	ck_assert_ptr_null(advised__find(x.a, "imbalance"));
	ck_assert_str_eq(found->subject.name, "main.burn");
	ck_assert_ptr_nonnull(strstr(found->remedy, "goroutines"));
	ck_assert_uint_eq(found->gain_high_ns, 500 * MS);
	advised__free(&x);
}
END_TEST

START_TEST(parallel_work_is_no_serial_phase)
{
	struct fixture f = serial(10, 990);
	struct advised x = advised__new(&f, 4);

	ck_assert_ptr_null(advised__find(x.a, "serial"));
	advised__free(&x);
}
END_TEST

static struct advised stages(uint64_t waits)
{
	static const uint64_t level_ns[] = {0, 700 * MS, 300 * MS};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), slow = fixture__thread(&f, scope, 1);
	uint32_t fast = fixture__thread(&f, scope, 2);

	fixture__samples(&f, scope, slow, "main [thread] encode", 1, 700);
	fixture__samples(&f, scope, slow, "main [thread] encode", 2, 300);
	fixture__samples(&f, scope, fast, "main parse", 2, 300);
	advised__waited(&f, fast, "main put", "futex", (struct advised_waits) {1, waits, 700, 0});
	advised__lived(&f, slow, 100, 0, 1000, 1000);
	advised__lived(&f, fast, 100, 0, 1000, 300);
	return advised__new(&f, 2);
}

START_TEST(the_slow_stage_of_a_pipeline_is_found)
{
	struct advised x = stages(600);
	const struct qz_finding *found = advised__find(x.a, "pipeline");

	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found->subject.name, "encode");
	ck_assert_uint_eq(found->gain_high_ns, 350 * MS);
	ck_assert_ptr_null(advised__find(x.a, "serial"));
	advised__free(&x);
}
END_TEST

START_TEST(a_thread_that_is_waited_for_once_is_no_stage)
{
	struct advised x = stages(1);

	ck_assert_ptr_null(advised__find(x.a, "pipeline"));
	ck_assert_ptr_nonnull(advised__find(x.a, "serial"));
	advised__free(&x);
}
END_TEST

/*
 * Four processes of 250 ms each, which live all the time or in turn, and who waits for them. `drivers`: each is started by
 * one that works for a tenth of it, as cc1 is by gcc.
 */
static struct advised jobs(bool in_turn, bool drivers)
{
	static const uint64_t level_ns[] = {0, 1000 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), shell = fixture__thread(&f, scope, 1);

	advised__lived(&f, shell, 1, 0, 1000, 0);
	advised__waited(&f, shell, "main wait", "child", (struct advised_waits) {1, 4, 1000, 0});
	for (uint64_t i = 0; i < 4; i++) {
		uint32_t job = fixture__thread(&f, scope, 2 + (int32_t)i);
		uint64_t start = in_turn ? 250 * i : 0, end = in_turn ? 250 * i + 250 : 1000;
		uint64_t own = drivers ? 25 : 0;

		advised__lived(&f, job, 2 + (int32_t)i, start, end, 250 - own);
		fixture__samples(&f, scope, job, "main [process] bzip", 1, 250 - own);
		if (drivers) {
			uint32_t driver = fixture__thread(&f, scope, 12 + (int32_t)i);

			advised__lived(&f, driver, 12 + (int32_t)i, start, end, own);
			fixture__samples(&f, scope, driver, "main [process] drive", 1, own);
			advised__waited(&f, driver, "main [process] drive", "child",
					(struct advised_waits) {1, 1, end - start - own, 0});
		}
	}
	return advised__new(&f, 2);
}

START_TEST(jobs_one_after_another_are_found)
{
	struct advised x = jobs(true, _i);
	const struct qz_finding *found = advised__find(x.a, "processes");

	ck_assert_ptr_nonnull(found);
	ck_assert_uint_eq(found->gain_high_ns, 500 * MS);
	ck_assert_uint_eq(found->gain_low_ns, 350 * MS);
	ck_assert_uint_eq(x.a->n, 1);
	advised__free(&x);
}
END_TEST

START_TEST(jobs_side_by_side_are_not_in_turn)
{
	struct advised x = jobs(false, _i);

	ck_assert_ptr_null(advised__find(x.a, "processes"));
	advised__free(&x);
}
END_TEST

/* One works alone, then starts two that work side by side, of which one has more to do: it does not wait for one before the next. */
START_TEST(who_starts_jobs_is_none_of_them)
{
	static const uint64_t level_ns[] = {0, 640 * MS, 360 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 4), driver = fixture__thread(&f, scope, 1);
	uint32_t one = fixture__thread(&f, scope, 2), two = fixture__thread(&f, scope, 3);
	struct advised x;

	advised__lived(&f, driver, 1, 0, 1000, 400);
	fixture__samples(&f, scope, driver, "main parse", 1, 400);
	advised__waited(&f, driver, "main wait", "child", (struct advised_waits) {1, 2, 600, 0});
	advised__lived(&f, one, 2, 400, 1000, 600);
	fixture__samples(&f, scope, one, "main [process] compute", 1, 240);
	fixture__samples(&f, scope, one, "main [process] compute", 2, 360);
	advised__lived(&f, two, 3, 400, 760, 360);
	fixture__samples(&f, scope, two, "main [process] compute", 2, 360);
	x = advised__new(&f, 2);
	ck_assert_ptr_null(advised__find(x.a, "processes"));
	ck_assert_ptr_nonnull(advised__find(x.a, "serial"));
	advised__free(&x);
}
END_TEST

/* Two that begin at once, on a full machine, where hardly more than one of them runs at a time. */
START_TEST(jobs_of_two_lengths_are_not_in_turn)
{
	static const uint64_t level_ns[] = {300 * MS, 700 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), driver = fixture__thread(&f, scope, 1);
	uint32_t one = fixture__thread(&f, scope, 2), two = fixture__thread(&f, scope, 3);
	struct advised x;

	advised__lived(&f, driver, 1, 0, 1000, 0);
	advised__waited(&f, driver, "main wait", "poll", (struct advised_waits) {1, 2, 1000, 0});
	advised__lived(&f, one, 2, 0, 1000, 450);
	fixture__samples(&f, scope, one, "main [process] compute", 1, 450);
	advised__lived(&f, two, 3, 0, 450, 250);
	fixture__samples(&f, scope, two, "main [process] compute", 1, 250);
	x = advised__new(&f, 2);
	ck_assert_ptr_null(advised__find(x.a, "processes"));
	advised__free(&x);
}
END_TEST

Suite *suite_advise_serial(void)
{
	Suite *s = suite_create("advise_serial");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, a_serial_phase_is_found);
	tcase_add_test(tc, code_around_a_phase_belongs_to_it);
	tcase_add_test(tc, tasks_that_threads_run_in_turn_are_serial);
	tcase_add_test(tc, parallel_work_is_no_serial_phase);
	tcase_add_test(tc, the_slow_stage_of_a_pipeline_is_found);
	tcase_add_test(tc, a_thread_that_is_waited_for_once_is_no_stage);
	tcase_add_loop_test(tc, jobs_one_after_another_are_found, 0, 2);
	tcase_add_test(tc, jobs_of_two_lengths_are_not_in_turn);
	tcase_add_loop_test(tc, jobs_side_by_side_are_not_in_turn, 0, 2);
	tcase_add_test(tc, who_starts_jobs_is_none_of_them);
	suite_add_tcase(s, tc);
	return s;
}
