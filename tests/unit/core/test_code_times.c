/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>

#include "core/estimate/estimate.h"
#include "core/source/code_times.h"
#include "tests/unit/failing.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define RANDOM_PROFILES 50

/* Gives locations lines and addresses, so that procedures have several of both. */
static void scatter(struct qz_profile *p)
{
	for (uint32_t i = 0; i < p->nlocations; i++)
		for (uint32_t k = 0; k < p->locations[i].nlines; k++)
			p->locations[i].lines[k].line = i % 3;
}

static void assert_sum(const struct qz_report *r, const struct qz_row *row, enum qz_code_unit unit)
{
	struct qz_figure sum = {0};
	struct qz_code_time *times;
	uint32_t n;

	ck_assert_int_eq(qz_code_times__of(r, row->procedure, unit, &times, &n), 0);
	for (uint32_t i = 0; i < n; i++) {
		const struct qz_figure *f = &times[i].figure;

		sum.norm_ns += f->norm_ns;
		sum.cpu_ns += f->cpu_ns;
		sum.spin_ns += f->spin_ns;
		sum.samples += f->samples;
		for (uint32_t k = 0; k < i; k++)
			ck_assert(times[k].mapping != times[i].mapping ||
				  times[k].address != times[i].address ||
				  times[k].part < times[i].part || times[k].line < times[i].line);
	}
	ck_assert_uint_eq(sum.norm_ns, row->self.norm_ns);
	ck_assert_uint_eq(sum.cpu_ns, row->self.cpu_ns);
	ck_assert_uint_eq(sum.spin_ns, row->self.spin_ns);
	ck_assert_uint_eq(sum.samples, row->self.samples);
	for (uint32_t level = 0; level < r->nlevels; level++) {
		uint64_t norm = 0;

		for (uint32_t i = 0; i < n; i++)
			norm += times[i].figure.level_norm_ns[level];
		ck_assert_uint_eq(norm, row->self.level_norm_ns[level]);
	}
	qz_code_times__free(times, n);
}

START_TEST(times_sum_to_the_self_time)
{
	struct qz_profile *p = fixture__random((unsigned int)_i);
	struct qz_report *r;

	scatter(p);
	r = qz_report__new(p, 0);
	ck_assert_ptr_nonnull(r);
	for (uint32_t i = 0; i < r->nrows; i++) {
		assert_sum(r, &r->rows[i], QZ_CODE_LINES);
		assert_sum(r, &r->rows[i], QZ_CODE_INSTRUCTIONS);
	}
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

/* Samples of a procedure at a line, and at an address of its own. */
static void add_at(struct qz_profile *p, uint32_t procedure, uint32_t line_number, uint64_t count)
{
	struct qz_line line = {procedure, line_number};
	struct qz_location l = {0x9000, QZ_NONE, 1, &line};
	int64_t location = qz_profile__intern_location(p, &l), node;
	struct qz_sample s = {.level = 1, .busy = 1, .object = QZ_NONE, .count = count};

	ck_assert_int_ge(location, 0);
	node = qz_profile__intern_node(p, 0, (uint32_t)location);
	ck_assert_int_ge(node, 0);
	s.node = (uint32_t)node;
	ck_assert_int_eq(qz_profile__add_samples(p, &s), 0);
}

/* "f" at line 7 from two callers, at line 9, and "g", which was inlined into it. */
static struct fixture known(void)
{
	static const uint64_t level_ns[] = {0, 15};
	struct fixture f = fixture__new();
	uint32_t procedure;

	fixture__scope(&f, level_ns, 2);
	fixture__thread(&f, 0, 1);
	fixture__samples(&f, 0, 0, "main f", 1, 1);
	fixture__samples(&f, 0, 0, "other f", 1, 2);
	fixture__samples(&f, 0, 0, "main f+g", 1, 4);
	ck_assert_int_eq(f.err, 0);
	procedure = fixture__procedure(f.p, "f");
	for (uint32_t i = 0; i < f.p->nlocations; i++)
		if (f.p->locations[i].lines[0].procedure == procedure)
			f.p->locations[i].lines[0].line = 7;
	add_at(f.p, procedure, 9, 8);
	ck_assert_int_eq(qz_estimate__profile(f.p), 0);
	return f;
}

START_TEST(each_line_has_its_own_samples)
{
	struct fixture f = known();
	struct qz_report *r = qz_report__new(f.p, 0);
	struct qz_code_time *times;
	uint32_t n;

	ck_assert_int_eq(
		qz_code_times__of(r, fixture__procedure(f.p, "f"), QZ_CODE_LINES, &times, &n), 0);
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(times[0].line, 7);
	ck_assert_uint_eq(times[0].figure.norm_ns, 3);
	ck_assert_uint_eq(times[1].line, 9);
	ck_assert_uint_eq(times[1].figure.norm_ns, 8);
	ck_assert_uint_eq(times[1].mapping, QZ_NONE);
	qz_code_times__free(times, n);
	ck_assert_int_eq(qz_code_times__of(r, fixture__procedure(f.p, "main"), QZ_CODE_LINES,
					   &times, &n),
			 0);
	ck_assert_uint_eq(n, 0);
	qz_code_times__free(times, n);
	ck_assert_int_eq(qz_code_times__of(r, f.p->nprocedures, QZ_CODE_LINES, &times, &n),
			 -EINVAL);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

/* Equal numbers are other lines in another file; the procedure's own come first. */
START_TEST(lines_of_two_files_are_told_apart)
{
	struct fixture f = known();
	uint32_t procedure = fixture__procedure(f.p, "f"), n;
	struct qz_line included = {.procedure = procedure, .line = 7};
	struct qz_location l = {0x9100, QZ_NONE, 1, &included};
	struct qz_code_time *times;
	struct qz_sample s = {.level = 1, .busy = 1, .object = QZ_NONE, .count = 16};
	struct qz_report *r;

	ck_assert_int_eq(qz_profile__place_line(f.p, &included, f.p->procedures[procedure].file),
			 0);
	ck_assert_uint_eq(included.part, 0);
	ck_assert_int_eq(qz_profile__place_line(f.p, &included, "other.inc"), 0);
	ck_assert_str_eq(qz_line__file(f.p, &included), "other.inc");
	s.node = (uint32_t)qz_profile__intern_node(f.p, 0,
						   (uint32_t)qz_profile__intern_location(f.p, &l));
	ck_assert_int_eq(qz_profile__add_samples(f.p, &s), 0);
	f.p->scopes[0].level_ns[1] += 16;
	qz_scope__sum_levels(&f.p->scopes[0]);
	ck_assert_int_eq(qz_estimate__profile(f.p), 0);
	r = qz_report__new(f.p, 0);
	ck_assert_int_eq(qz_code_times__of(r, procedure, QZ_CODE_LINES, &times, &n), 0);
	ck_assert_uint_eq(n, 3);
	ck_assert_uint_eq(times[0].line, 7);
	ck_assert_uint_eq(times[0].part, 0);
	ck_assert_uint_eq(times[2].line, 7);
	ck_assert_uint_eq(times[2].part, included.part);
	ck_assert_uint_eq(times[2].figure.samples, 16);
	qz_code_times__free(times, n);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(a_profile_without_lines_has_none)
{
	struct fixture f = known();

	ck_assert(qz_code_times__any_line(f.p));
	for (uint32_t i = 0; i < f.p->nlocations; i++)
		for (uint32_t k = 0; k < f.p->locations[i].nlines; k++)
			f.p->locations[i].lines[k].line = 0;
	ck_assert(!qz_code_times__any_line(f.p));
	qz_profile__free(f.p);
}
END_TEST

START_TEST(survives_lack_of_memory)
{
	struct fixture f = known();
	struct qz_report *r = qz_report__new(f.p, 0);
	uint32_t procedure = fixture__procedure(f.p, "f"), count = 0;
	struct qz_code_time *times = NULL;
	int err = -ENOMEM;

	for (unsigned int n = 1; err; n++) {
		failing__arm(n);
		err = qz_code_times__of(r, procedure, QZ_CODE_INSTRUCTIONS, &times, &count);
		ck_assert_int_eq(failing__disarm(), err == -ENOMEM);
	}
	ck_assert_uint_ge(count, 2);
	qz_code_times__free(times, count);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

Suite *suite_code_times(void)
{
	Suite *s = suite_create("code_times");
	TCase *tc = tcase_create("all");

	tcase_add_loop_test(tc, times_sum_to_the_self_time, 0, RANDOM_PROFILES);
	tcase_add_test(tc, each_line_has_its_own_samples);
	tcase_add_test(tc, lines_of_two_files_are_told_apart);
	tcase_add_test(tc, a_profile_without_lines_has_none);
	tcase_add_test(tc, survives_lack_of_memory);
	suite_add_tcase(s, tc);
	return s;
}
