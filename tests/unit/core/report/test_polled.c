/* SPDX-License-Identifier: GPL-2.0-only */
/* Intervals where pollers told the stacks, and the kernel's sampler what ran below them. */
#include <math.h>
#include <stdlib.h>

#include "core/estimate/estimate.h"
#include "core/report/report.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define Z_95 1.959964

static void shared(struct fixture *f, const char *words, uint32_t below, uint64_t seen,
		   uint64_t count)
{
	uint32_t leaf = fixture__stack(f, words);

	if (!f->err)
		f->err = qz_profile__add_samples(f->p, &(struct qz_sample) {.level = 1,
									    .busy = 1,
									    .node = leaf,
									    .object = QZ_NONE,
									    .below = below,
									    .seen = seen,
									    .count = count});
}

static struct fixture one_thread(void)
{
	static const uint64_t level_ns[] = {0, 1000000};
	struct fixture f = fixture__new();

	fixture__scope(&f, level_ns, 2);
	fixture__thread(&f, 0, 1);
	return f;
}

static struct qz_report *report(struct fixture *f)
{
	struct qz_report *r;

	if (!f->err)
		f->err = qz_estimate__profile(f->p);
	ck_assert_int_eq(f->err, 0);
	r = qz_report__new(f->p, 0);
	ck_assert_ptr_nonnull(r);
	return r;
}

static const struct qz_row *row(const struct qz_report *r, const char *name)
{
	uint32_t procedure = fixture__procedure(r->profile, name);

	for (uint32_t i = 0; i < r->nrows; i++)
		if (r->rows[i].procedure == procedure)
			return &r->rows[i];
	ck_abort_msg("no row %s", name);
	return NULL;
}

/*
 * 10,000 polled samples, 6,000 of them in work, below which 25 of 100 of the kernel's were in leaf: a share
 * of 0.15, whose variance is that of 10,000 samples and 0.6^2 * 0.25 * 0.75 * (1/100 - 1/6000).
 */
static struct fixture known(void)
{
	struct fixture f = one_thread();

	shared(&f, "main work leaf", 3, 100, 1500);
	shared(&f, "main work", 3, 100, 4500);
	shared(&f, "main rest", 3, 400, 4000);
	return f;
}

START_TEST(what_is_below_a_stack_rests_on_few_samples)
{
	const double leaf = 0.15 * 0.85 / 10000 + 0.36 * 0.25 * 0.75 * (1 / 100.0 - 1 / 6000.0);
	struct fixture f = known();
	struct qz_report *r = report(&f);

	ck_assert_uint_eq(row(r, "leaf")->total.norm_ns, 150000);
	ck_assert_double_eq_tol((double)row(r, "leaf")->total.ci_ns, Z_95 * sqrt(leaf) * 1e6, 1);
	ck_assert_double_eq_tol((double)row(r, "leaf")->self.ci_ns, Z_95 * sqrt(leaf) * 1e6, 1);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(what_is_on_a_stack_rests_on_the_polled_ones)
{
	struct fixture f = known();
	struct qz_report *r = report(&f);
	const double work = Z_95 * sqrt(0.6 * 0.4 / 10000) * 1e6;

	ck_assert_double_eq_tol((double)row(r, "work")->total.ci_ns, work, 1);
	ck_assert_double_eq_tol((double)row(r, "rest")->total.ci_ns, work, 1);
	ck_assert_uint_eq(row(r, "main")->total.ci_ns,
			  (uint64_t)llround(1e6 * Z_95 *
					    sqrt(10001.92073 / 10003.84146 * 1.92073 / 10003.84146 /
						 10003.84146)));
	ck_assert_uint_eq(r->threads[0].figure.ci_ns, row(r, "main")->total.ci_ns);
	/* its own time is what was not in leaf */
	ck_assert_uint_gt(row(r, "work")->self.ci_ns, 4 * row(r, "work")->total.ci_ns);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

/* A library below two stacks: what is known of it is known of each of them alone. */
START_TEST(stacks_add_their_variances)
{
	struct fixture f = one_thread();
	const double each = 0.25 * 0.5 * 0.5 * (1 / 50.0 - 1 / 5000.0);
	struct qz_report *r;

	shared(&f, "main one leaf", 3, 50, 2500);
	shared(&f, "main two leaf", 3, 50, 2500);
	shared(&f, "main one", 3, 50, 2500);
	shared(&f, "main two", 3, 50, 2500);
	r = report(&f);
	ck_assert_double_eq_tol((double)row(r, "leaf")->total.ci_ns,
				Z_95 * sqrt(0.5 * 0.5 / 10000 + 2 * each) * 1e6, 1);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(callees_have_the_same_interval)
{
	struct fixture f = known();
	struct qz_report *r = report(&f);
	struct qz_edge *edges;
	uint32_t n;

	ck_assert_int_eq(qz_call_graph__callees(r, fixture__procedure(f.p, "work"), &edges, &n), 0);
	for (uint32_t i = 0; i < n; i++)
		if (edges[i].procedure != QZ_NONE)
			ck_assert_uint_eq(edges[i].figure.ci_ns, row(r, "leaf")->total.ci_ns);
	qz_call_graph__free(edges, n);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

/*
 * 20 of the kernel's 100 samples are of a thread that is not polled, and count 100 each: that share is as
 * well known as 100 samples tell, and so is that of all that is polled.
 */
START_TEST(weighted_samples_are_few)
{
	struct fixture f = one_thread();
	const double share = Z_95 * sqrt(0.2 * 0.8 / 100) * 1e6;
	struct qz_report *r;

	shared(&f, "other", 0, 20, 2000);
	shared(&f, "work", 0, 0, 8000);
	r = report(&f);
	ck_assert_double_eq_tol((double)row(r, "other")->total.ci_ns, share, 1);
	ck_assert_double_eq_tol((double)row(r, "work")->total.ci_ns, share, 0.02 * share);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

Suite *suite_polled(void)
{
	Suite *s = suite_create("polled");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, what_is_below_a_stack_rests_on_few_samples);
	tcase_add_test(tc, what_is_on_a_stack_rests_on_the_polled_ones);
	tcase_add_test(tc, stacks_add_their_variances);
	tcase_add_test(tc, callees_have_the_same_interval);
	tcase_add_test(tc, weighted_samples_are_few);
	suite_add_tcase(s, tc);
	return s;
}
