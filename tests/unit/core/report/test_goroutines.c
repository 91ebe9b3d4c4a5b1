/* SPDX-License-Identifier: GPL-2.0-only */
/* Goroutines by what they were started with and by whom. */
#include <string.h>

#include "core/estimate/estimate.h"
#include "core/report/goroutines.h"
#include "core/threads/thread_groups.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define SECOND 1000000000ull

#define NEW " [thread] runtime.goexit.abi0 "

static struct fixture known(void)
{
	static const uint64_t level_ns[] = {0, 10 * SECOND, 0};
	struct fixture f = fixture__new();
	struct qz_wait wait = {.object = QZ_NONE, .count = 1, .blocked_ns = SECOND};
	uint32_t one, two;

	fixture__scope(&f, level_ns, 3);
	one = fixture__thread(&f, 0, 1);
	two = fixture__thread(&f, 0, 2);
	/* the compiler's wrappers of two statements, in two threads */
	fixture__samples(&f, 0, one, "main.a" NEW "main.a.func1 main.work", 1, 30);
	fixture__samples(&f, 0, two, "main.a" NEW "main.a.func2 main.work main.deep", 1, 20);
	/* a closure with work of its own, and one that calls several */
	fixture__samples(&f, 0, two, "main.b" NEW "main.b.func1", 1, 10);
	fixture__samples(&f, 0, two, "main.b" NEW "main.b.func1 main.work", 1, 5);
	/* the same work, started by another procedure; through another goroutine */
	fixture__samples(&f, 0, one, "main.a" NEW "main.c" NEW "main.work", 1, 8);
	fixture__samples(&f, 0, one, "runtime.goexit.abi0 runtime.main main.main", 1, 4);
	/* a thread that a goroutine has started */
	fixture__samples(&f, 0, two, "runtime.goexit.abi0 runtime.main [thread] runtime.mstart", 1,
			 2);
	wait.thread = one;
	fixture__wait(&f, &wait, "main.b" NEW "main.b.func1 main.read", "disk");
	if (!f.err)
		f.err = qz_estimate__profile(f.p);
	ck_assert_int_eq(f.err, 0);
	return f;
}

START_TEST(are_told_apart_by_start_and_creator)
{
	static const struct {
		const char *start, *creator;
		uint64_t samples, blocked_ns;
	} expected[] = {
		{"main.work", "main.a", 50, 0},
		{"main.b.func1", "main.b", 15, SECOND},
		{"main.work", "main.c", 8, 0},
		{"runtime.main", NULL, 4, 0},
	};
	struct fixture f = known();
	struct qz_report *r = qz_report__new(f.p, 0);
	struct qz_goroutines g;

	ck_assert_int_eq(qz_goroutines__find(r, &g), 0);
	ck_assert_uint_eq(g.n, 4);
	for (uint32_t i = 0; i < g.n; i++) {
		const struct qz_goroutine_row *row = &g.rows[i];

		ck_assert_str_eq(f.p->procedures[row->start].name, expected[i].start);
		if (expected[i].creator)
			ck_assert_str_eq(f.p->procedures[row->creator].name, expected[i].creator);
		else
			ck_assert_uint_eq(row->creator, QZ_NONE);
		ck_assert_uint_eq(row->figure.samples, expected[i].samples);
		ck_assert_uint_eq(row->blocked_ns, expected[i].blocked_ns);
	}
	qz_goroutines__free(&g);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

/* What a thread was started with, the stacks of goroutines that it ran do not tell. */
START_TEST(are_not_what_threads_were_started_with)
{
	struct fixture f = known();
	struct qz_report *r = qz_report__new(f.p, 0);
	struct qz_thread_groups groups;
	bool found = false;

	ck_assert_int_eq(qz_thread_groups__find(r, &groups), 0);
	for (uint32_t i = 0; i < groups.n; i++) {
		ck_assert(!groups.groups[i].first);
		found |= groups.groups[i].start != QZ_NONE &&
			 !strcmp(f.p->procedures[groups.groups[i].start].name, "runtime.mstart");
	}
	ck_assert(found);
	qz_thread_groups__free(&groups);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

Suite *suite_goroutines(void)
{
	Suite *suite = suite_create("goroutines");
	TCase *tcase = tcase_create("goroutines");

	tcase_add_test(tcase, are_told_apart_by_start_and_creator);
	tcase_add_test(tcase, are_not_what_threads_were_started_with);
	suite_add_tcase(suite, tcase);
	return suite;
}
