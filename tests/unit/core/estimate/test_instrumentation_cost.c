/* SPDX-License-Identifier: GPL-2.0-only */
/* Time in libquartz is taken out of the figures, to the nanosecond. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/estimate/estimate.h"
#include "core/report/report.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define RANDOM_PROFILES 50

/* As of days on a machine that starts many processes: who looks at each sample for each scope does not end. */
#define MANY 400000

static void cost(struct fixture *f, const char *caller, const char *callee, uint64_t ns)
{
	fixture__calls(f, 0, caller, callee, 1);
	for (uint32_t i = 0; i < f->p->ncalls; i++)
		if (f->p->calls[i].callee == fixture__procedure(f->p, callee) &&
		    f->p->calls[i].caller == (caller ? fixture__procedure(f->p, caller) : QZ_NONE))
			f->p->calls[i].cost_ns = ns;
}

/* 1000 ns alone, 25 for each of 40 samples; 300 ns by two, so that 2 samples have 150 (300) each. */
static struct fixture known(void)
{
	static const uint64_t level_ns[] = {50, 1000, 300};
	struct fixture f = fixture__new();

	fixture__scope(&f, level_ns, 3);
	fixture__thread(&f, 0, 10);
	fixture__thread(&f, 0, 11);
	fixture__samples(&f, 0, 0, "main", 1, 8);
	fixture__samples(&f, 0, 0, "main work", 1, 16);
	fixture__samples(&f, 0, 0, "main work inner", 1, 16);
	fixture__samples(&f, 0, 1, "main work", 2, 1);
	fixture__samples(&f, 0, 1, "other", 2, 1);
	return f;
}

static struct qz_report *report(struct fixture *f)
{
	if (!f->err)
		f->err = qz_estimate__profile(f->p);
	ck_assert_int_eq(f->err, 0);
	return qz_report__new(f->p, 0);
}

#define ck_row(r, name, self_norm, self_cpu, total_norm, total_cpu)                                \
	do {                                                                                       \
		const struct qz_row *row_ = row_named(r, name);                                    \
		ck_assert_uint_eq(row_->self.norm_ns, self_norm);                                  \
		ck_assert_uint_eq(row_->self.cpu_ns, self_cpu);                                    \
		ck_assert_uint_eq(row_->total.norm_ns, total_norm);                                \
		ck_assert_uint_eq(row_->total.cpu_ns, total_cpu);                                  \
	} while (0)

static const struct qz_row *row_named(const struct qz_report *r, const char *name)
{
	for (uint32_t i = 0; i < r->nrows; i++)
		if (!strcmp(r->profile->procedures[r->rows[i].procedure].name, name))
			return &r->rows[i];
	ck_abort_msg("no row %s", name);
	return NULL;
}

static void check_sum(const struct qz_report *r)
{
	uint64_t self = 0;

	for (uint32_t i = 0; i < r->nrows; i++)
		self += r->rows[i].self.norm_ns;
	ck_assert_uint_eq(self + r->unattributed_ns + r->instrumentation_ns, r->busy_ns);
}

/* 220 ns for the calls of work: 110 from main's own 200, 110 from work's 800 + 300, of which its
 * samples alone, with inner, which has no cost of its own, have 40 + 40, and that beside another 30. */
START_TEST(both_sides_of_a_call_pay)
{
	struct fixture f = known();
	struct qz_report *r;

	cost(&f, "main", "work", 220);
	r = report(&f);
	ck_row(r, "inner", 360, 360, 360, 360);
	ck_row(r, "work", 360 + 135, 360 + 270, 720 + 135, 720 + 270);
	ck_row(r, "main", 90, 90, 810 + 135, 810 + 270);
	ck_row(r, "other", 150, 300, 150, 300);
	ck_assert_uint_eq(r->instrumentation_ns, 110 + 80 + 15);
	ck_assert_uint_eq(r->instrumentation_cpu_ns, 220);
	ck_assert_uint_eq(r->busy_ns, 1300);
	check_sum(r);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(nobody_pays_more_than_there_is)
{
	struct fixture f = known();
	struct qz_report *r;

	cost(&f, NULL, "main", UINT64_MAX / 4);
	cost(&f, "main", "inner", UINT64_MAX / 2);
	r = report(&f);
	ck_row(r, "inner", 0, 0, 0, 0);
	ck_row(r, "work", 0, 0, 0, 0);
	ck_row(r, "main", 0, 0, 0, 0);
	ck_row(r, "other", 150, 300, 150, 300);
	ck_assert_uint_eq(r->instrumentation_ns, 1000 + 150);
	ck_assert_uint_eq(r->instrumentation_cpu_ns, 1000 + 300);
	check_sum(r);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(threads_keep_what_they_spent_in_it)
{
	struct fixture f = known();
	struct qz_report *r;
	uint64_t cpu = 0;

	cost(&f, NULL, "work", 110);
	r = report(&f);
	for (uint32_t i = 0; i < r->nthreads; i++)
		cpu += r->threads[i].figure.cpu_ns;
	ck_assert_uint_eq(cpu, 1000 + 600);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

/* The hooks of a program that counts its calls; of any other they are its own. */
START_TEST(samples_of_hooks_are_taken_out)
{
	struct fixture f = known();
	struct qz_report *r;

	fixture__samples(&f, 0, 0, "main work __cyg_profile_func_enter", 1, 10);
	r = report(&f);
	ck_row(r, "__cyg_profile_func_enter", 200, 200, 200, 200);
	ck_assert_uint_eq(r->instrumentation_ns, 0);
	qz_report__free(r);
	cost(&f, "main", "work", 0);
	r = report(&f);
	ck_row(r, "main", 160, 160, 800 + 150, 800 + 300);
	ck_row(r, "work", 320 + 150, 320 + 300, 640 + 150, 640 + 300);
	ck_row(r, "__cyg_profile_func_enter", 0, 0, 0, 0);
	ck_assert_uint_eq(r->instrumentation_ns, 200);
	check_sum(r);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

static uint32_t below(struct fixture *f, uint32_t node, const char *name, const char *module)
{
	struct qz_procedure procedure = {
		.name = (char *)name, .module = (char *)module, .file = ""};
	struct qz_line line = {.procedure = qz_profile__intern_procedure(f->p, &procedure)};
	struct qz_location location = {.mapping = QZ_NONE, .nlines = 1, .lines = &line};

	return qz_profile__intern_node(f->p, node, qz_profile__intern_location(f->p, &location));
}

/* By the file, whatever the name, and with what the kernel does below it; not what it only calls. */
START_TEST(samples_of_the_library_are_taken_out)
{
	struct fixture f = known();
	uint32_t library =
		below(&f, fixture__stack(&f, "main work"), "find", "/usr/lib/libquartz.so.1");
	struct qz_sample s = {.level = 1, .busy = 1, .object = QZ_NONE, .count = 5};
	struct qz_report *r;

	s.node = library;
	ck_assert_int_eq(qz_profile__add_samples(f.p, &s), 0);
	s.node = below(&f, library, "do_page_fault", "[kernel]");
	ck_assert_int_eq(qz_profile__add_samples(f.p, &s), 0);
	s.node = below(&f, library, "memcpy", "/lib/libc.so.6");
	s.count = 10;
	ck_assert_int_eq(qz_profile__add_samples(f.p, &s), 0);
	r = report(&f);
	ck_row(r, "do_page_fault", 0, 0, 0, 0);
	ck_assert_uint_eq(r->instrumentation_ns, 10 * 1000 / 60 + 1);
	check_sum(r);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

/* As quartzd does: estimate, count on, estimate again; then without a cost. */
START_TEST(taking_out_can_be_repeated)
{
	struct fixture f = known();
	struct qz_report *r;
	uint32_t n;

	cost(&f, "main", "work", 220);
	qz_report__free(report(&f));
	n = f.p->nsamples;
	r = report(&f);
	ck_assert_uint_eq(f.p->nsamples, n);
	ck_assert_uint_eq(r->instrumentation_cpu_ns, 220);
	check_sum(r);
	qz_report__free(r);
	cost(&f, "main", "work", 0);
	r = report(&f);
	ck_assert_uint_eq(f.p->nsamples, 5);
	ck_row(r, "main", 200, 200, 1000 + 150, 1000 + 300);
	ck_assert_uint_eq(r->instrumentation_cpu_ns, 0);
	check_sum(r);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

static void add_call(struct fixture *f, uint32_t scope)
{
	const struct qz_call_count key = {
		.scope = scope,
		.caller = fixture__procedure(f->p, "main"),
		.callee = fixture__procedure(f->p, "work"),
	};
	int64_t index = f->err ? f->err : qz_call_counts__intern(f->p, &key);

	if (index < 0)
		f->err = (int)index;
	else
		f->p->calls[index].cost_ns = 200;
}

/* Their samples stand between each other; every other one counts its calls, and pays alone. */
START_TEST(many_scopes_pay_for_themselves)
{
	static const uint64_t level_ns[] = {0, 1000};
	struct fixture f = fixture__new();

	for (uint32_t scope = 0; scope < MANY; scope++) {
		fixture__scope(&f, level_ns, 2);
		fixture__thread(&f, scope, 10);
		fixture__samples(&f, scope, scope, "main", 1, 1);
	}
	for (uint32_t scope = MANY; scope-- > 0;) {
		fixture__samples(&f, scope, scope, "main work", 1, 1);
		if (scope % 2)
			add_call(&f, scope);
	}
	ck_assert_int_eq(f.err, 0);
	ck_assert_int_eq(qz_estimate__profile(f.p), 0);
	ck_assert_uint_eq(f.p->nsamples, 2 * MANY + MANY / 2);
	for (uint32_t i = 0; i < f.p->nsamples; i++) {
		const struct qz_sample *s = &f.p->samples[i];

		ck_assert_uint_eq(s->cpu_ns, !s->count ? 200 : s->scope % 2 ? 400 : 500);
	}
	qz_profile__free(f.p);
}
END_TEST

/* ---- intervals ---- */

/* Half of the 95 % interval of `hits` of 60 samples, at 1000 ns. */
static uint64_t half_width(double hits)
{
	return (uint64_t)llround(1.959964 * 1000 * sqrt(hits / 60 * (1 - hits / 60) / 60));
}

static const struct qz_row *row_alone(struct fixture *f, struct qz_report **r, const char *name)
{
	f->p->scopes[0].level_ns[2] = 0; /* level 1 alone */
	*r = report(f);
	return row_named(*r, name);
}

/* 20 of the 60 samples of main and below are in a hook: the interval is that of the 40 others. */
START_TEST(intervals_are_those_of_what_is_left)
{
	struct fixture f = known();
	struct qz_report *r;
	const struct qz_row *main;

	fixture__samples(&f, 0, 0, "main work __cyg_profile_func_enter", 1, 20);
	cost(&f, "main", "work", 0);
	main = row_alone(&f, &r, "main");
	ck_assert_uint_eq(main->total.ci_ns, half_width(40));
	ck_assert_uint_eq(row_named(r, "work")->total.ci_ns, half_width(32));
	ck_assert_uint_eq(row_named(r, "work")->self.ci_ns, half_width(16));
	ck_assert_uint_eq(row_named(r, "__cyg_profile_func_enter")->total.ci_ns, 0);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

/* A part that is taken is a known amount, and what is taken of all is nothing more to be unsure of. */
START_TEST(a_known_amount_leaves_the_interval)
{
	struct fixture f = known();
	struct qz_report *r;
	const struct qz_row *main;
	uint64_t before;

	fixture__samples(&f, 0, 0, "rest", 1, 20);
	before = row_alone(&f, &r, "main")->total.ci_ns;
	ck_assert_uint_eq(before, half_width(40));
	qz_report__free(r);
	cost(&f, NULL, "main", 100);
	main = row_alone(&f, &r, "main");
	ck_assert_uint_eq(r->instrumentation_cpu_ns, 100);
	ck_assert_uint_eq(main->total.ci_ns, before);
	qz_report__free(r);
	cost(&f, NULL, "main", 1000000);
	main = row_alone(&f, &r, "main");
	ck_assert_uint_eq(main->total.norm_ns, 0);
	ck_assert_uint_eq(main->total.ci_ns, 0);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

/*
 * Repeating the experiment: work runs 0.4 of the time, 0.1 of all it spends in a scope, which is known, and
 * 0.2 in a hook, which is sampled. The interval holds what is left 95 times of 100.
 */
START_TEST(intervals_cover_what_is_left)
{
	static const uint64_t level_ns[] = {0, 1000000};
	unsigned int seed = 1;
	int covered = 0;

	for (int round = 0; round < 1000; round++) {
		struct fixture f = fixture__new();
		uint64_t counts[3] = {0};
		const struct qz_row *work;
		struct qz_report *r;

		for (int i = 0; i < 400; i++) {
			double x = rand_r(&seed) / (RAND_MAX + 1.0);

			counts[x < 0.4 ? 0 : x < 0.6 ? 1 : 2]++;
		}
		fixture__scope(&f, level_ns, 2);
		fixture__thread(&f, 0, 10);
		fixture__samples(&f, 0, 0, "work", 1, counts[0]);
		fixture__samples(&f, 0, 0, "work __cyg_profile_func_enter", 1, counts[1]);
		fixture__samples(&f, 0, 0, "rest", 1, counts[2]);
		cost(&f, NULL, "work", 100000);
		r = report(&f);
		work = row_named(r, "work");
		covered += fabs((double)work->total.norm_ns - 300000) <= (double)work->total.ci_ns;
		qz_report__free(r);
		qz_profile__free(f.p);
	}
	ck_assert_int_ge(covered, 925);
	ck_assert_int_le(covered, 975);
}
END_TEST

/* ---- any profile ---- */

struct sums {
	uint64_t cpu[2][64], norm[2][64];
};

static struct sums sums_of(const struct qz_profile *p)
{
	struct sums sums = {0};

	for (uint32_t i = 0; i < p->nsamples; i++) {
		const struct qz_sample *s = &p->samples[i];

		ck_assert(s->scope < 2 && s->level < 64);
		sums.cpu[s->scope][s->level] += s->cpu_ns;
		sums.norm[s->scope][s->level] += s->norm_ns;
	}
	return sums;
}

START_TEST(nothing_is_lost_or_added)
{
	struct qz_profile *p = fixture__random((unsigned int)_i);
	struct sums before = sums_of(p), after;
	unsigned int seed = (unsigned int)_i;

	for (uint32_t i = 0; i < p->ncalls; i++)
		p->calls[i].cost_ns = (uint64_t)rand_r(&seed) << rand_r(&seed) % 20;
	ck_assert_int_eq(qz_estimate__profile(p), 0);
	after = sums_of(p);
	ck_assert(!memcmp(&before, &after, sizeof(before)));
	for (uint32_t scope = 0; scope < p->nscopes; scope++) {
		struct qz_report *r = qz_report__new(p, scope);

		check_sum(r);
		qz_report__free(r);
	}
	qz_profile__free(p);
}
END_TEST

Suite *suite_instrumentation_cost(void)
{
	Suite *s = suite_create("instrumentation_cost");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, both_sides_of_a_call_pay);
	tcase_add_test(tc, nobody_pays_more_than_there_is);
	tcase_add_test(tc, threads_keep_what_they_spent_in_it);
	tcase_add_test(tc, samples_of_hooks_are_taken_out);
	tcase_add_test(tc, samples_of_the_library_are_taken_out);
	tcase_add_test(tc, taking_out_can_be_repeated);
	tcase_add_test(tc, many_scopes_pay_for_themselves);
	tcase_add_test(tc, intervals_are_those_of_what_is_left);
	tcase_add_test(tc, a_known_amount_leaves_the_interval);
	tcase_add_test(tc, intervals_cover_what_is_left);
	tcase_add_loop_test(tc, nothing_is_lost_or_added, 0, RANDOM_PROFILES);
	suite_add_tcase(s, tc);
	return s;
}
