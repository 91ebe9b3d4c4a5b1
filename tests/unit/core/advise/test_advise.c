/* SPDX-License-Identifier: GPL-2.0-only */
/* Findings: what holds for all of them, the bounds of gains, names in commands, and the verdict. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/advise/advise_text.h"
#include "core/advise/bounds.h"
#include "core/advise/verdict.h"
#include "tests/unit/core/advise/advised.h"
#include "tests/unit/failing.h"
#include "tests/unit/suites.h"

#define RANDOM_PROFILES 30

START_TEST(findings_are_whole_and_sorted)
{
	struct qz_profile *p = fixture__random((unsigned int)_i);

	for (uint32_t scope = 0; scope < p->nscopes; scope++) {
		struct qz_report *r = qz_report__new(p, scope);
		struct qz_advice *a = qz_advise__new(r);
		uint64_t before = UINT64_MAX;

		for (uint32_t i = 0; i < a->n; i++) {
			const struct qz_finding *f = &a->findings[i];
			uint64_t middle = f->gain_low_ns / 2 + f->gain_high_ns / 2;

			ck_assert_ptr_nonnull(f->rule);
			ck_assert_ptr_nonnull(f->subject.name);
			ck_assert_ptr_nonnull(f->what);
			ck_assert_ptr_nonnull(f->remedy);
			ck_assert_uint_ge(f->nevidence, 1);
			ck_assert_uint_le(f->gain_low_ns, f->gain_high_ns);
			ck_assert_uint_le(f->gain_high_ns, r->elapsed_ns);
			ck_assert_uint_gt(f->gain_high_ns, 0);
			ck_assert_uint_le(middle, before);
			before = middle;
		}
		qz_advise__free(a);
		qz_report__free(r);
	}
	qz_profile__free(p);
}
END_TEST

START_TEST(lack_of_memory_is_reported)
{
	struct qz_profile *p = fixture__random(3);
	struct qz_report *r = qz_report__new(p, 0);
	struct qz_advice *a = NULL;

	for (unsigned int i = 1; !a; i++) {
		failing__arm(i);
		a = qz_advise__new(r);
		ck_assert_int_eq(failing__disarm(), !a);
	}
	qz_advise__free(a);
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

/* ---- bounds ---- */

START_TEST(bounds_are_of_the_elapsed_time)
{
	struct qz_profile *p = fixture__random((unsigned int)_i);

	for (uint32_t scope = 0; scope < p->nscopes; scope++) {
		struct qz_report *r = qz_report__new(p, scope);

		for (uint32_t i = 0; i < r->nrows + r->nobjects; i++) {
			struct qz_part part =
				i < r->nrows ? qz_part__of_procedure(r, &r->rows[i])
					     : qz_part__of_object(r, &r->objects[i - r->nrows]);
			struct qz_bounds all[] = {qz_bounds__spread(r, part, 8, 1),
						  qz_bounds__spread(r, part, 2, 3),
						  qz_bounds__remove(r, part),
						  qz_bounds__speedup(r, part, 1.5),
						  qz_bounds__overlap(r, part)};

			for (int k = 0; k < 5; k++) {
				ck_assert_uint_le(all[k].low_ns, all[k].high_ns);
				ck_assert_uint_le(all[k].high_ns, r->elapsed_ns);
			}
			ck_assert_uint_le(all[1].high_ns, all[0].high_ns);
			ck_assert_uint_le(all[3].high_ns, all[2].high_ns);
		}
		qz_report__free(r);
	}
	qz_profile__free(p);
}
END_TEST

START_TEST(known_bounds)
{
	static const uint64_t level_ns[] = {200 * MS, 500 * MS, 300 * MS};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), main = fixture__thread(&f, scope, 1);
	uint32_t worker = fixture__thread(&f, scope, 2);
	struct qz_part part;
	struct advised x;

	fixture__samples(&f, scope, main, "main load", 1, 500);
	fixture__samples(&f, scope, main, "main load", 2, 300);
	fixture__samples(&f, scope, worker, "main [thread] work", 2, 300);
	advised__waited(&f, main, "main load", "disk", (struct advised_waits) {0, 10, 200, 0});
	x = advised__new(&f, 2);
	for (uint32_t i = 0; i < x.r->nrows; i++)
		if (x.r->rows[i].procedure == fixture__procedure(x.p, "load"))
			part = qz_part__of_procedure(x.r, &x.r->rows[i]);
	ck_assert_uint_eq(part.alone_ns, 500 * MS);
	ck_assert_uint_eq(part.beside_ns, 300 * MS);
	ck_assert_uint_eq(part.idle_ns, 200 * MS);
	ck_assert_uint_eq(qz_bounds__spread(x.r, part, 2, 1).high_ns, 450 * MS);
	ck_assert_uint_eq(qz_bounds__spread(x.r, part, 2, 1.5).high_ns, 325 * MS);
	ck_assert_uint_eq(qz_bounds__spread(x.r, part, 2, 3).high_ns, 200 * MS);
	ck_assert_uint_eq(qz_bounds__remove(x.r, part).low_ns, 500 * MS);
	ck_assert_uint_eq(qz_bounds__remove(x.r, part).high_ns, 1000 * MS);
	ck_assert_uint_eq(qz_bounds__speedup(x.r, part, 2).low_ns, 250 * MS);
	ck_assert_uint_eq(qz_bounds__overlap(x.r, part).high_ns, 200 * MS);
	advised__free(&x);
}
END_TEST

/* A shell gets a name of a program as one word, or not at all. */
START_TEST(names_are_quoted_in_commands)
{
	static const char *const names[][2] = {
		{"work", "quartzctl report work"},
		{"get(int)", "quartzctl report 'get(int)'"},
		{"it's;rm", "quartzctl report 'it'\\''s;rm'"},
		{"\033[2J", NULL},
		{"-x", NULL},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct qz_finding f = {0};

		qz_finding__prove(&f, "report", names[i][0], "text");
		ck_assert(!f.failed);
		if (names[i][1])
			ck_assert_str_eq(f.evidence[0].command, names[i][1]);
		else
			ck_assert_ptr_null(f.evidence[0].command);
		free(f.evidence[0].text);
		free(f.evidence[0].command);
	}
}
END_TEST

/* Samples without a name, and with a stack that is cut, of 100; of a few nothing is said. */
static const struct {
	uint64_t samples, unresolved, truncated;
	const char *name, *module, *said;
} missing[] = {
	{100, 99, 0, QZ_NAME_UNKNOWN, "/usr/lib/libgame.so",
	 ". The code of 99% of its samples has no names: most of it is in libgame.so"},
	{100, 80, 0, QZ_NAME_32_BITS, "/opt/game",
	 ". The code of 80% of its samples has no names: most of it is in game, of 32 bits, where "
	 "no "
	 "locks and callers are known either"},
	{100, 60, 0, QZ_NAME_UNKNOWN, "",
	 ". The code of 60% of its samples has no names: most of it is in memory without a file"},
	{100, 0, 70, QZ_NAME_UNKNOWN, "",
	 ". 70% of its stacks are cut: callers have less time below than is theirs"},
	{100, 40, 40, QZ_NAME_UNKNOWN, "", NULL},
	{10, 10, 10, QZ_NAME_UNKNOWN, "", NULL},
};

START_TEST(what_is_missing_is_said_first)
{
	static const uint64_t level_ns[] = {0, 1000 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), main = fixture__thread(&f, scope, 1);
	struct qz_procedure *code;
	struct advised x;
	char *verdict;

	fixture__samples(&f, scope, main, "main code", 1, missing[_i].samples);
	code = &f.p->procedures[fixture__procedure(f.p, "code")];
	if (!f.err)
		f.err = qz_profile__set_string(&code->name, missing[_i].name);
	if (!f.err)
		f.err = qz_profile__set_string(&code->module, missing[_i].module);
	f.p->scopes[scope].samples = missing[_i].samples;
	f.p->scopes[scope].unresolved = missing[_i].unresolved;
	f.p->scopes[scope].truncated = missing[_i].truncated;
	x = advised__new(&f, 2);
	verdict = qz_verdict__text(x.a);
	ck_assert_pstr_eq(strstr(verdict, ". "), missing[_i].said);
	free(verdict);
	advised__free(&x);
}
END_TEST

Suite *suite_advise(void)
{
	Suite *s = suite_create("advise");
	TCase *tc = tcase_create("all");

	tcase_add_loop_test(tc, findings_are_whole_and_sorted, 0, RANDOM_PROFILES);
	tcase_add_test(tc, lack_of_memory_is_reported);
	tcase_add_loop_test(tc, bounds_are_of_the_elapsed_time, 0, RANDOM_PROFILES);
	tcase_add_test(tc, known_bounds);
	tcase_add_test(tc, names_are_quoted_in_commands);
	tcase_add_loop_test(tc, what_is_missing_is_said_first, 0,
			    sizeof(missing) / sizeof(missing[0]));
	suite_add_tcase(s, tc);
	return s;
}
