/* SPDX-License-Identifier: GPL-2.0-only */
/* More threads than processors. */
#include <check.h>
#include <string.h>

#include "tests/unit/core/advise/advised.h"
#include "tests/unit/suites.h"

/*
 * Two processors for 1 s: one works in `work`, one in `waits`, spinning or not, in thread `waiter` of the second
 * process if there are two. So many threads are ready on average.
 */
struct crowd {
	const char *waits;
	bool spins;
	int32_t processes;
	uint64_t ready;
};

static struct advised crowd(struct crowd c)
{
	static const uint64_t level_ns[] = {0, 0, 1000 * MS};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), thread = 0;
	uint32_t node = fixture__stack(&f, c.waits);

	for (int32_t i = 0; i < 4; i++) {
		thread = fixture__thread(&f, scope, i + 1);
		f.p->threads[thread].pid = i < 2 ? 1 : c.processes;
	}
	fixture__samples(&f, scope, 0, "main [thread] exec_blas work", 2, 1000);
	if (c.spins)
		f.err = qz_profile__add_samples(f.p, &(struct qz_sample) {.scope = scope,
									  .thread = thread,
									  .node = node,
									  .level = 2,
									  .busy = 1,
									  .object = QZ_NONE,
									  .spinning = true,
									  .count = 1000});
	else
		fixture__samples(&f, scope, thread, c.waits, 2, 1000);
	advised__waited(&f, thread, c.waits, "preempted",
			(struct advised_waits) {4, 100, 0, c.ready * 1000});
	f.p->scopes[0].runnable_ns = (2 + c.ready) * 1000 * MS;
	return advised__new(&f, 2);
}

#define POOL "main exec_blas [thread] blas_thread_server"

/*
 * Half of the processor time is spun: half as many threads spin half of that, and no more than all of it and two
 * thirds of the pool's work are saved.
 */
START_TEST(a_pool_that_is_too_large_is_found)
{
	struct advised x = crowd((struct crowd) {POOL, true, 1, 4});
	const struct qz_finding *found = advised__find(x.a, "oversubscribed");

	ck_assert_ptr_nonnull(found);
	ck_assert_ptr_eq(found, x.a->findings);
	ck_assert_uint_eq(found->gain_low_ns / MS, 250);
	ck_assert_uint_eq(found->gain_high_ns / MS, 830);
	ck_assert_str_eq(found->remedy, "OPENBLAS_NUM_THREADS=2");
	advised__free(&x);
}
END_TEST

/* One thread for each waits for no other. */
START_TEST(pools_of_several_processes_are_named)
{
	struct advised x = crowd((struct crowd) {POOL, true, 2, 4});
	const struct qz_finding *found = advised__find(x.a, "oversubscribed");

	ck_assert_ptr_nonnull(found);
	ck_assert_uint_eq(found->gain_low_ns / MS, 500);
	ck_assert_ptr_nonnull(strstr(found->what, "in each of 2 processes"));
	ck_assert_str_eq(found->remedy, "OPENBLAS_NUM_THREADS=1 in each process");
	advised__free(&x);
}
END_TEST

START_TEST(nested_regions_get_no_threads)
{
	struct advised x = crowd((struct crowd) {
		"main GOMP_parallel [thread] gomp_start inner GOMP_parallel [thread] gomp_start",
		true, 1, 4});
	const struct qz_finding *found = advised__find(x.a, "oversubscribed");

	ck_assert_ptr_nonnull(found);
	ck_assert_ptr_nonnull(strstr(found->remedy, "OMP_MAX_ACTIVE_LEVELS=1"));
	advised__free(&x);
}
END_TEST

/* Without a pool there is no size to set; twice as many threads as processors may cost nothing, nor those that work. */
START_TEST(not_every_crowd_is_too_large)
{
	static const struct crowd crowds[] = {
		{"main [thread] await", true, 1, 4},
		{POOL, true, 1, 2},
		{POOL " work", false, 1, 4},
	};
	struct advised x = crowd(crowds[_i]);

	ck_assert_ptr_null(advised__find(x.a, "oversubscribed"));
	advised__free(&x);
}
END_TEST

Suite *suite_advise_crowd(void)
{
	Suite *s = suite_create("advise_crowd");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, a_pool_that_is_too_large_is_found);
	tcase_add_test(tc, pools_of_several_processes_are_named);
	tcase_add_test(tc, nested_regions_get_no_threads);
	tcase_add_loop_test(tc, not_every_crowd_is_too_large, 0, 3);
	suite_add_tcase(s, tc);
	return s;
}
