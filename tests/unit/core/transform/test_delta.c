/* SPDX-License-Identifier: GPL-2.0-only */
/* What was measured between two snapshots. */
#include <check.h>
#include <errno.h>

#include "core/transform/delta.h"
#include "core/estimate/estimate.h"
#include "core/model/fold.h"
#include "core/transform/filter_scopes.h"
#include "core/report/report.h"
#include "tests/unit/failing.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define RANDOM_PROFILES 20

/* What the first and the second part of a run have. */
enum part { FIRST = 1, SECOND = 2 };

/*
 * A program of two threads. In the first part "f" runs alone for 40 ns, and "g" on two processors for 20;
 * in the second "g" runs alone for 30, and the thread that is new then, "h", beside it for 50. So the names
 * of the second part alone have other numbers than those of the whole.
 */
static struct qz_profile *run(unsigned int parts)
{
	static const uint64_t levels[][3] = {{0, 0, 0}, {5, 40, 20}, {7, 30, 50}, {12, 70, 70}};
	struct fixture f = fixture__new();
	struct qz_wait wait = {.object = QZ_NONE, .nominal = 1};

	fixture__scope(&f, levels[parts], 3);
	f.p->window_ns = f.p->scopes[0].elapsed_ns;
	f.p->wall_start_ns = parts == SECOND ? 1065 : 1000;
	if (parts & FIRST) {
		fixture__thread(&f, 0, 1);
		fixture__samples(&f, 0, 0, "main f", 1, 4);
		fixture__samples(&f, 0, 0, "main g", 2, 4);
		wait.count = 2;
		wait.blocked_ns = 10;
		fixture__wait(&f, &wait, "main f", "futex");
	}
	if (parts & SECOND) {
		if (parts == SECOND)
			fixture__thread(&f, 0, 1);
		wait.thread = fixture__thread(&f, 0, 2);
		wait.count = 1;
		wait.blocked_ns = 3;
		wait.ready_ns = 2;
		fixture__samples(&f, 0, 0, "main g", 1, 3);
		fixture__samples(&f, 0, 0, "main g", 2, 5);
		fixture__samples(&f, 0, wait.thread, "main [thread] h", 2, 5);
		fixture__wait(&f, &wait, "main [thread] h", "disk");
	}
	f.p->ledger.accepted = f.p->scopes[0].samples;
	ck_assert_int_eq(f.err, 0);
	ck_assert_int_eq(qz_estimate__profile(f.p), 0);
	return f.p;
}

static void compare_rows(const struct qz_report *a, const struct qz_report *b)
{
	ck_assert_uint_eq(a->elapsed_ns, b->elapsed_ns);
	ck_assert_uint_eq(a->serial_ns, b->serial_ns);
	ck_assert_uint_eq(a->busy_ns, b->busy_ns);
	ck_assert_uint_eq(a->nrows, b->nrows);
	for (uint32_t i = 0; i < a->nrows; i++) {
		const struct qz_row *x = &a->rows[i], *y = &b->rows[i];

		ck_assert_str_eq(a->profile->procedures[x->procedure].name,
				 b->profile->procedures[y->procedure].name);
		ck_assert_uint_eq(x->total.norm_ns, y->total.norm_ns);
		ck_assert_uint_eq(x->self.norm_ns, y->self.norm_ns);
		ck_assert_uint_eq(x->self.cpu_ns, y->self.cpu_ns);
		ck_assert_uint_eq(x->self.samples, y->self.samples);
		ck_assert_uint_eq(x->total_waits.count, y->total_waits.count);
		ck_assert_uint_eq(x->total_waits.blocked_ns, y->total_waits.blocked_ns);
		ck_assert_uint_eq(x->total_waits.ready_ns, y->total_waits.ready_ns);
	}
}

START_TEST(difference_is_what_the_second_part_alone_has)
{
	struct qz_profile *first = run(FIRST), *second = run(SECOND), *whole = run(FIRST | SECOND);
	struct qz_report *a, *b;

	ck_assert_int_eq(qz_delta__since(whole, first), 0);
	a = qz_report__new(whole, 0);
	b = qz_report__new(second, 0);
	ck_assert(a && b);
	ck_assert_uint_eq(a->rows[0].total.norm_ns, 80);
	compare_rows(a, b);
	ck_assert_uint_eq(whole->window_ns, 87);
	ck_assert_uint_eq(whole->wall_start_ns, 1065);
	ck_assert_uint_eq(whole->nwaits, 1);
	qz_report__free(a);
	qz_report__free(b);
	qz_profile__free(first);
	qz_profile__free(second);
	qz_profile__free(whole);
}
END_TEST

/* An ended process, put into the one for all such (core/transform/merge.h), is not of this time. */
START_TEST(folded_processes_are_found)
{
	struct qz_profile *first = run(FIRST), *folded = run(FIRST);
	uint64_t levels[3] = {0};
	struct fixture f = {.p = folded};
	bool marked[] = {true, false};
	uint32_t into = fixture__scope(&f, levels, 3), row;

	folded->scopes[0].pid = first->scopes[0].pid = 7;
	folded->scopes[0].ended = true;
	row = fixture__thread(&f, into, 0);
	folded->threads[row].merged = true;
	ck_assert_int_eq(qz_fold__scopes(folded, marked, 2, into, row), 0);
	f.p = folded;
	folded = qz_filter_scopes__profile(f.p, NULL);
	ck_assert_uint_eq(folded->nscopes, 1);
	ck_assert_uint_gt(folded->nsamples, 0);
	ck_assert_uint_eq(folded->scopes[0].level_ns[1], 40);
	ck_assert_int_eq(qz_delta__since(folded, first), 0);
	ck_assert_uint_eq(folded->nsamples, 0);
	ck_assert_uint_eq(folded->nwaits, 0);
	ck_assert_uint_eq(folded->scopes[0].level_ns[1], 0);
	qz_profile__free(f.p);
	qz_profile__free(first);
	qz_profile__free(folded);
}
END_TEST

START_TEST(nothing_is_between_equal_ones)
{
	struct qz_profile *p = fixture__random((unsigned int)_i);
	struct qz_profile *same = fixture__random((unsigned int)_i);

	fixture__tell_apart(p);
	fixture__tell_apart(same);
	p->instants = same->instants = (struct qz_rounds) {.taken = 9, .compared = 7};
	ck_assert_int_eq(qz_delta__since(p, same), 0);
	ck_assert_uint_eq(p->window_ns, 0);
	ck_assert_uint_eq(p->instants.taken, 0);
	ck_assert_uint_eq(p->instants.compared, 0);
	ck_assert_uint_eq(p->nsamples, 0);
	ck_assert_uint_eq(p->nwaits, 0);
	ck_assert_uint_eq(p->nwakings, 0);
	ck_assert_uint_eq(p->nscopes, same->nscopes);
	for (uint32_t i = 0; i < p->nscopes; i++)
		ck_assert_uint_eq(p->scopes[i].cpu_ns, 0);
	for (uint32_t i = 0; i < p->ncalls; i++)
		ck_assert_uint_eq(p->calls[i].count, 0);
	for (uint32_t i = 0; i < p->nrounds; i++)
		ck_assert_uint_eq(p->rounds[i].count, 0);
	qz_profile__free(p);
	qz_profile__free(same);
}
END_TEST

START_TEST(what_was_there_before_alone_is_nothing)
{
	struct qz_profile *first = run(FIRST), *second = run(SECOND);

	first->wall_start_ns = second->wall_start_ns;
	ck_assert_int_eq(qz_delta__since(second, first), 0);
	for (uint32_t i = 0; i < second->nsamples; i++)
		ck_assert_uint_le(second->samples[i].count, 5);
	ck_assert_uint_eq(second->scopes[0].level_ns[1], 0);
	ck_assert_uint_eq(second->scopes[0].level_ns[2], 30);
	qz_profile__free(first);
	qz_profile__free(second);
}
END_TEST

START_TEST(other_runs_have_no_difference)
{
	struct qz_profile *first = run(FIRST), *whole = run(FIRST | SECOND);

	ck_assert_int_eq(qz_delta__since(first, whole), -ESTALE);
	first->wall_start_ns++;
	ck_assert_int_eq(qz_delta__since(whole, first), -ESTALE);
	ck_assert_uint_eq(whole->window_ns, 152);
	ck_assert_uint_gt(whole->nsamples, 0);
	qz_profile__free(first);
	qz_profile__free(whole);
}
END_TEST

/* One that was grouped otherwise before has lasted as much longer as it is longer now. */
START_TEST(an_unfinished_wait_moves)
{
	struct qz_profile *before = run(FIRST), *p = run(FIRST | SECOND);
	uint64_t blocked_ns = 0;

	before->waits[0].nominal = 2;
	p->waits[0].blocked_ns += 5;
	ck_assert_int_eq(qz_delta__since(p, before), 0);
	for (uint32_t i = 0; i < p->nwaits; i++)
		blocked_ns += p->waits[i].blocked_ns;
	ck_assert_uint_eq(blocked_ns, 5 + 3);
	qz_profile__free(before);
	qz_profile__free(p);
}
END_TEST

START_TEST(lack_of_memory_is_reported)
{
	struct qz_profile *before = fixture__everything();
	int err = -ENOMEM;

	for (unsigned int i = 1; err; i++) {
		struct qz_profile *p = fixture__everything();

		failing__arm(i);
		err = qz_delta__since(p, before);
		ck_assert_int_eq(failing__disarm(), err == -ENOMEM);
		qz_profile__free(p);
	}
	qz_profile__free(before);
}
END_TEST

Suite *suite_delta(void)
{
	Suite *s = suite_create("delta");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, difference_is_what_the_second_part_alone_has);
	tcase_add_test(tc, folded_processes_are_found);
	tcase_add_loop_test(tc, nothing_is_between_equal_ones, 0, RANDOM_PROFILES);
	tcase_add_test(tc, what_was_there_before_alone_is_nothing);
	tcase_add_test(tc, other_runs_have_no_difference);
	tcase_add_test(tc, an_unfinished_wait_moves);
	tcase_add_test(tc, lack_of_memory_is_reported);
	suite_add_tcase(s, tc);
	return s;
}
