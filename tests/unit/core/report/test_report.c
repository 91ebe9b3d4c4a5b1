/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <string.h>

#include "core/report/report.h"
#include "core/estimate/estimate.h"
#include "tests/unit/failing.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define RANDOM_PROFILES 50

static const struct qz_row *row_named(const struct qz_report *r, const char *name)
{
	for (uint32_t i = 0; i < r->nrows; i++)
		if (!strcmp(r->profile->procedures[r->rows[i].procedure].name, name))
			return &r->rows[i];
	return NULL;
}

/* What a figure says by level must be what it says in all. */
static void assert_levels(const struct qz_report *r, const struct qz_figure *f)
{
	uint64_t sum = 0;

	ck_assert_uint_eq(f->level_cpu_ns[0], 0);
	for (uint32_t n = 1; n < r->nlevels; n++)
		sum += f->level_cpu_ns[n];
	ck_assert_uint_eq(sum, f->cpu_ns - f->spin_ns);
}

START_TEST(self_and_unattributed_sum_to_the_busy_time)
{
	struct qz_profile *p = fixture__random((unsigned int)_i);

	for (uint32_t scope = 0; scope < p->nscopes; scope++) {
		struct qz_report *r = qz_report__new(p, scope);
		uint64_t self = 0, busy = 0;

		for (uint32_t i = 0; i < r->nrows; i++) {
			const struct qz_row *row = &r->rows[i];

			self += row->self.norm_ns;
			ck_assert_uint_le(row->self.norm_ns, row->total.norm_ns);
			ck_assert_uint_le(row->total.norm_ns, r->busy_ns);
			ck_assert_uint_eq(p->procedures[row->procedure].kind, QZ_PROCEDURE);
			assert_levels(r, &row->self);
			assert_levels(r, &row->total);
			if (i > 0)
				ck_assert_uint_le(row->total.norm_ns, row[-1].total.norm_ns);
		}
		for (uint32_t n = 1; n < p->scopes[scope].nlevels; n++)
			busy += r->effective_ns[n];
		ck_assert_uint_eq(r->busy_ns, busy);
		ck_assert_uint_eq(self + r->unattributed_ns + r->instrumentation_ns, busy);
		qz_report__free(r);
	}
	qz_profile__free(p);
}
END_TEST

START_TEST(threads_sum_to_what_was_sampled)
{
	struct qz_profile *p = fixture__random((unsigned int)_i);
	struct qz_report *r = qz_report__new(p, 1);
	uint64_t threads = 0, samples = 0;

	ck_assert_uint_eq(r->nthreads, 4);
	for (uint32_t i = 0; i < r->nthreads; i++) {
		threads += r->threads[i].figure.norm_ns;
		ck_assert_uint_eq(p->threads[r->threads[i].thread].scope, 1);
		assert_levels(r, &r->threads[i].figure);
		if (i > 0)
			ck_assert_uint_le(r->threads[i].figure.norm_ns,
					  r->threads[i - 1].figure.norm_ns);
	}
	for (uint32_t i = 0; i < p->nsamples; i++)
		if (p->samples[i].scope == 1 && p->samples[i].thread != QZ_NONE)
			samples += p->samples[i].norm_ns;
	ck_assert_uint_eq(threads, samples);
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

/*
 * 100 ns idle, 1000 ns alone, 500 ns with four processors. Of the samples at level 1, main holds 1
 * and f 3 (twice on its own stack); at level 4, work holds all, in a thread that main started.
 */
static struct fixture known(void)
{
	static const uint64_t level_ns[] = {100, 1000, 0, 0, 500};
	struct fixture f = fixture__new();

	fixture__scope(&f, level_ns, 5);
	fixture__thread(&f, 0, 12);
	fixture__thread(&f, 0, 11);
	fixture__thread(&f, 0, 13);
	fixture__samples(&f, 0, 0, "main", 1, 10);
	fixture__samples(&f, 0, 0, "main f g f", 1, 30);
	fixture__samples(&f, 0, 1, "main f [thread] work", 4, 20);
	if (!f.err)
		f.err = qz_estimate__profile(f.p);
	ck_assert_int_eq(f.err, 0);
	return f;
}

START_TEST(known_figures)
{
	struct fixture f = known();
	struct qz_report *r = qz_report__new(f.p, 0);
	const struct qz_row *row;

	ck_assert_uint_eq(r->elapsed_ns, 1600);
	ck_assert_uint_eq(r->idle_ns, 100);
	ck_assert_uint_eq(r->serial_ns, 1000);
	ck_assert_uint_eq(r->busy_ns, 1500);
	ck_assert_uint_eq(r->unattributed_ns, 0);
	ck_assert_double_eq_tol(r->parallelism, 2.0, 1e-9);
	ck_assert_uint_eq(r->level_samples[1], 40);
	ck_assert_uint_eq(r->level_samples[4], 20);
	ck_assert_uint_eq(r->nrows, 4);
	ck_assert_ptr_eq(row_named(r, "main"), &r->rows[0]);

	row = row_named(r, "main");
	ck_assert_uint_eq(row->total.norm_ns, 1500);
	ck_assert_uint_eq(row->total.cpu_ns, 3000);
	ck_assert_uint_eq(row->self.norm_ns, 250);
	row = row_named(r, "f"); /* recursive: counts once */
	ck_assert_uint_eq(row->total.norm_ns, 750 + 500);
	ck_assert_uint_eq(row->total.samples, 50);
	ck_assert_uint_eq(row->self.norm_ns, 750);
	ck_assert_uint_eq(row->self.samples, 30);
	row = row_named(r, "g");
	ck_assert_uint_eq(row->total.norm_ns, 750);
	ck_assert_uint_eq(row->self.norm_ns, 0);
	ck_assert_uint_eq(row->self.ci_ns, 0);
	row = row_named(r, "work");
	ck_assert_uint_eq(row->self.norm_ns, 500);
	ck_assert_uint_eq(row->self.cpu_ns, 2000);
	ck_assert_uint_eq(row->self.level_cpu_ns[4], 2000);
	ck_assert_double_eq_tol(qz_figure__parallelism(&row->self), 4.0, 1e-9);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(known_threads)
{
	struct fixture f = known();
	struct qz_report *r = qz_report__new(f.p, 0);

	ck_assert_uint_eq(r->nthreads, 3);
	ck_assert_uint_eq(r->threads[0].thread, 0);
	ck_assert_uint_eq(r->threads[0].figure.norm_ns, 1000);
	ck_assert_uint_eq(r->threads[1].thread, 1);
	ck_assert_uint_eq(r->threads[1].figure.norm_ns, 500);
	ck_assert_uint_eq(r->threads[2].thread, 2);
	ck_assert_uint_eq(r->threads[2].figure.norm_ns, 0);
	ck_assert_double_eq(qz_figure__parallelism(&r->threads[2].figure), 0);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(the_interval_is_that_of_the_shares)
{
	struct fixture f = known();
	struct qz_report *r = qz_report__new(f.p, 0);
	const uint64_t amount[] = {1000, 500}, samples[] = {40, 20}, hits[] = {30, 20};
	const struct qz_hits all = {.samples = samples, .squares = samples},
			     f_s = {.samples = hits};
	double ci = qz_estimate__half_width(amount, &f_s, &all, 2, 0);

	ck_assert_uint_eq(row_named(r, "f")->total.ci_ns, (uint64_t)(ci + 0.5));
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(inlined_procedures_count)
{
	static const uint64_t level_ns[] = {0, 100};
	struct fixture f = fixture__new();
	struct qz_report *r;

	fixture__scope(&f, level_ns, 2);
	fixture__thread(&f, 0, 1);
	fixture__samples(&f, 0, 0, "main+outer+inner leaf", 1, 1);
	fixture__samples(&f, 0, 0, "main+outer+inner", 1, 1);
	ck_assert_int_eq(qz_estimate__profile(f.p), 0);
	r = qz_report__new(f.p, 0);
	ck_assert_uint_eq(r->nrows, 4);
	ck_assert_uint_eq(row_named(r, "inner")->self.norm_ns, 50);
	ck_assert_uint_eq(row_named(r, "inner")->total.norm_ns, 100);
	ck_assert_uint_eq(row_named(r, "outer")->self.norm_ns, 0);
	ck_assert_uint_eq(row_named(r, "outer")->total.norm_ns, 100);
	ck_assert_uint_eq(row_named(r, "main")->total.norm_ns, 100);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(stacks_that_end_in_no_procedure_are_unattributed)
{
	static const uint64_t level_ns[] = {0, 90, 50};
	struct fixture f = fixture__new();
	struct qz_report *r;

	fixture__scope(&f, level_ns, 3);
	fixture__thread(&f, 0, 1);
	fixture__samples(&f, 0, 0, "", 1, 1);
	fixture__samples(&f, 0, 0, "main [thread]", 1, 1);
	fixture__samples(&f, 0, 0, "main", 1, 1);
	ck_assert_int_eq(qz_estimate__profile(f.p), 0);
	r = qz_report__new(f.p, 0);
	ck_assert_uint_eq(r->unattributed_ns, 30 + 30 + 50);
	ck_assert_uint_eq(row_named(r, "main")->self.norm_ns, 30);
	ck_assert_uint_eq(row_named(r, "main")->total.norm_ns, 60);
	ck_assert_uint_eq(r->nrows, 1);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(a_scope_that_never_ran)
{
	static const uint64_t level_ns[] = {700};
	struct fixture f = fixture__new();
	struct qz_report *r;

	fixture__scope(&f, level_ns, 1);
	ck_assert_int_eq(qz_estimate__profile(f.p), 0);
	r = qz_report__new(f.p, 0);
	ck_assert_uint_eq(r->idle_ns, 700);
	ck_assert_uint_eq(r->serial_ns, 0);
	ck_assert_double_eq(r->parallelism, 0);
	ck_assert_uint_eq(r->nrows, 0);
	qz_report__free(r);
	errno = 0;
	ck_assert_ptr_null(qz_report__new(f.p, 1));
	ck_assert_int_eq(errno, EINVAL);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(procedures_are_found_by_name)
{
	static const uint64_t level_ns[] = {0, 100};
	struct fixture f = fixture__new();
	struct qz_report *r;
	uint32_t found[4];

	fixture__scope(&f, level_ns, 2);
	fixture__thread(&f, 0, 1);
	fixture__samples(&f, 0, 0,
			 "run(int) run(char) ns::run(void(*)(int))::{lambda()#1}::operator()()", 1,
			 1);
	fixture__samples(&f, 0, 0, "(anon)::stop ns::(anon)::f malloc malloc()", 1, 1);
	ck_assert_int_eq(qz_estimate__profile(f.p), 0);
	r = qz_report__new(f.p, 0);

	ck_assert_uint_eq(qz_lookup__procedures(r, "run(int)", found, 4), 1);
	ck_assert_uint_eq(found[0], fixture__procedure(f.p, "run(int)"));
	ck_assert_uint_eq(qz_lookup__procedures(r, "run", found, 1), 2);
	ck_assert_uint_eq(qz_lookup__procedures(r, "malloc", found, 4), 1);
	ck_assert_uint_eq(found[0], fixture__procedure(f.p, "malloc"));
	ck_assert_uint_eq(qz_lookup__procedures(r, "app:malloc()", found, 4), 1);
	ck_assert_uint_eq(found[0], fixture__procedure(f.p, "malloc()"));
	ck_assert_uint_eq(qz_lookup__procedures(r, "app:malloc", found, 4), 2);
	ck_assert_uint_eq(qz_lookup__procedures(r, "/usr/bin/app:run", found, 4), 2);
	ck_assert_uint_eq(qz_lookup__procedures(r, "(anon)::stop", found, 4), 1);
	ck_assert_uint_eq(qz_lookup__procedures(
				  r, "ns::run(void(*)(int))::{lambda()#1}::operator()", found, 4),
			  1);
	ck_assert_uint_eq(qz_lookup__procedures(r, "ns::", found, 4), 0);
	ck_assert_uint_eq(qz_lookup__procedures(r, "lib:run", found, 4), 0);
	ck_assert_uint_eq(qz_lookup__procedures(r, "ru", found, 4), 0);
	ck_assert_uint_eq(qz_lookup__procedures(r, "", found, 4), 0);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(reports_report_lack_of_memory)
{
	struct qz_profile *p = fixture__everything();
	struct qz_report *r = NULL;

	for (unsigned int n = 1; !r; n++) {
		bool failed;

		failing__arm(n);
		r = qz_report__new(p, 0);
		failed = failing__disarm();
		ck_assert_int_eq(failed, !r);
		if (failed)
			ck_assert_int_eq(errno, ENOMEM);
	}
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

Suite *suite_report(void)
{
	Suite *s = suite_create("report");
	TCase *tc = tcase_create("all");

	tcase_add_loop_test(tc, self_and_unattributed_sum_to_the_busy_time, 0, RANDOM_PROFILES);
	tcase_add_loop_test(tc, threads_sum_to_what_was_sampled, 0, RANDOM_PROFILES);
	tcase_add_test(tc, known_figures);
	tcase_add_test(tc, known_threads);
	tcase_add_test(tc, the_interval_is_that_of_the_shares);
	tcase_add_test(tc, inlined_procedures_count);
	tcase_add_test(tc, stacks_that_end_in_no_procedure_are_unattributed);
	tcase_add_test(tc, a_scope_that_never_ran);
	tcase_add_test(tc, procedures_are_found_by_name);
	tcase_add_test(tc, reports_report_lack_of_memory);
	suite_add_tcase(s, tc);
	return s;
}
