/* SPDX-License-Identifier: GPL-2.0-only */
/* What changed between profiles: names, intervals, and that nothing is lost. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/compare/compare.h"
#include "core/estimate/estimate.h"
#include "core/util/statistics.h"
#include "tests/unit/failing.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define SECOND 1000000000ull
#define ALL    ((1u << QZ_IDENTITY_KINDS) - 1)

/* ---- spread ---- */

static struct qz_change change(uint32_t n, const double *a, uint32_t m, const double *b, double ci)
{
	const double cis[] = {ci, ci, ci, ci};
	const struct qz_values before = {n, a, cis}, after = {m, b, cis};

	return qz_spread__change(&before, &after);
}

static void assert_near(double a, double b)
{
	ck_assert_msg(fabs(a - b) < 1e-3 * (1 + fabs(b)), "%g is not %g", a, b);
}

START_TEST(one_run_each_has_the_intervals_of_both)
{
	struct qz_change c = change(1, (double[]) {10}, 1, (double[]) {14}, 3);

	assert_near(qz_change__of(&c), 4);
	assert_near(c.ci, sqrt(18));
	ck_assert(!qz_change__is_certain(&c));
	c = change(1, (double[]) {10}, 1, (double[]) {14.3}, 3);
	ck_assert(qz_change__is_certain(&c));
}
END_TEST

START_TEST(several_runs_have_that_of_their_spread)
{
	/* variances 1 and 1 of three runs: t of 4 degrees times sqrt(2/3) */
	struct qz_change c = change(3, (double[]) {1, 2, 3}, 3, (double[]) {5, 6, 7}, 0);

	assert_near(c.before, 2);
	assert_near(c.after, 6);
	assert_near(c.ci, 2.7764 * sqrt(2.0 / 3));
	/* variances 1 and 0: Welch leaves the 2 degrees of the first */
	c = change(3, (double[]) {1, 2, 3}, 3, (double[]) {5, 5, 5}, 0);
	assert_near(c.ci, 4.3027 * sqrt(1.0 / 3));
	/* a single run spreads as the others do: 1 + 1/3 */
	c = change(3, (double[]) {1, 2, 3}, 1, (double[]) {5}, 0);
	assert_near(c.ci, 4.3027 * sqrt(4.0 / 3));
	c = change(1, (double[]) {5}, 3, (double[]) {1, 2, 3}, 0);
	assert_near(c.ci, 4.3027 * sqrt(4.0 / 3));
}
END_TEST

START_TEST(agreeing_runs_are_no_narrower_than_sampling)
{
	struct qz_change c = change(4, (double[]) {2, 2, 2, 2}, 4, (double[]) {3, 3, 3, 3}, 1);

	/* means of four: half of 1 on each side */
	assert_near(c.ci, sqrt(0.5));
}
END_TEST

START_TEST(quantiles_are_those_of_student)
{
	assert_near(qz_statistics__student(1), 12.706);
	assert_near(qz_statistics__student(0.3), 12.706);
	assert_near(qz_statistics__student(4.9), 2.776);
	assert_near(qz_statistics__student(30), 2.042);
	assert_near(qz_statistics__student(31), 2.0395);
	assert_near(qz_statistics__student(120), 1.9799);
	assert_near(qz_statistics__student(1e9), 1.95996);
}
END_TEST

/* ---- comparison ---- */

/* Two profiles, of each the first scope. */
struct two {
	struct qz_identities ids;
	struct qz_report *reports[2];
	struct qz_run *runs[2];
	struct qz_comparison *c;
};

/* False without memory; to be freed in any case. */
static bool compare(struct two *t, struct qz_profile *a, struct qz_profile *b)
{
	struct qz_profile *profiles[] = {a, b};

	*t = (struct two) {0};
	for (int i = 0; i < 2; i++)
		if (qz_identities__add_profile(&t->ids, profiles[i]))
			return false;
	for (int i = 0; i < 2; i++) {
		t->reports[i] = qz_report__new(profiles[i], 0);
		t->runs[i] = t->reports[i] ? qz_run__new(&t->ids, t->reports[i]) : NULL;
		if (!t->runs[i])
			return false;
	}
	t->c = qz_compare__new(&t->ids, &t->runs[0], 1, &t->runs[1], 1, ALL, QZ_COMPARE_BY_SELF);
	return t->c;
}

static void two_free(struct two *t)
{
	qz_compare__free(t->c);
	for (int i = 0; i < 2; i++) {
		qz_run__free(t->runs[i]);
		qz_report__free(t->reports[i]);
	}
	qz_identities__free(&t->ids);
}

/* The row of this name, NULL when there is none. */
static const struct qz_compared *row_of(const struct two *t, const char *name)
{
	for (uint32_t i = 0; i < t->c->n; i++)
		if (!strcmp(qz_identities__get(&t->ids, t->c->rows[i].identity).name, name))
			return &t->c->rows[i];
	return NULL;
}

START_TEST(changes_add_up_to_that_of_the_elapsed_time)
{
	struct qz_profile *a = fixture__random(2 * (unsigned int)_i + 1);
	struct qz_profile *b = fixture__random(2 * (unsigned int)_i + 2);
	struct two t;
	double sum;

	ck_assert(compare(&t, a, b));
	sum = qz_compare__self(t.c, &t.ids, 0, t.c->n) + qz_change__of(&t.c->idle);
	ck_assert_msg(fabs(sum - qz_change__of(&t.c->elapsed)) < 1, "%f is not %f", sum,
		      qz_change__of(&t.c->elapsed));
	two_free(&t);
	qz_profile__free(a);
	qz_profile__free(b);
}
END_TEST

START_TEST(one_profile_twice_has_not_changed)
{
	struct qz_profile *p = fixture__everything();
	struct two t;

	ck_assert(compare(&t, p, p));
	ck_assert_uint_gt(t.c->n, 3);
	ck_assert_uint_eq(t.c->ncertain, 0);
	ck_assert(qz_change__of(&t.c->elapsed) == 0);
	for (uint32_t i = 0; i < t.c->n; i++)
		ck_assert(qz_change__of(&t.c->rows[i].total) == 0);
	two_free(&t);
	qz_profile__free(p);
}
END_TEST

/* A program that ran alone for 10 s, with so many samples in each of two procedures. */
static struct fixture alone(const char *one, uint64_t ones, const char *other, uint64_t others)
{
	static const uint64_t level_ns[] = {0, 10 * SECOND};
	struct fixture f = fixture__new();

	fixture__scope(&f, level_ns, 2);
	fixture__thread(&f, 0, 1);
	fixture__samples(&f, 0, 0, one, 1, ones);
	fixture__samples(&f, 0, 0, other, 1, others);
	f.p->scopes[0].samples = ones + others;
	if (!f.err)
		f.err = qz_estimate__profile(f.p);
	ck_assert_int_eq(f.err, 0);
	return f;
}

START_TEST(rows_beyond_chance_come_first)
{
	struct fixture a = alone("main grows", 4000, "main shrinks", 6000);
	struct fixture b = alone("main grows", 6000, "main shrinks", 4000);
	struct two t;

	ck_assert(compare(&t, a.p, b.p));
	ck_assert_uint_eq(t.c->ncertain, 2);
	assert_near(qz_change__of(&row_of(&t, "grows")->self), 2e9);
	assert_near(qz_change__of(&row_of(&t, "shrinks")->self), -2e9);
	ck_assert(!row_of(&t, "main")->certain);
	two_free(&t);
	qz_profile__free(a.p);
	qz_profile__free(b.p);
}
END_TEST

START_TEST(what_was_not_seen_has_an_interval)
{
	struct fixture a = alone("main old", 4, "main rest", 996);
	struct fixture b = alone("main rest", 990, "main new", 10);
	struct two t;

	ck_assert(compare(&t, a.p, b.p));
	/* four samples of a thousand may have been missed by chance, ten not */
	ck_assert(!row_of(&t, "old")->certain);
	ck_assert(row_of(&t, "old")->in_before && !row_of(&t, "old")->in_after);
	ck_assert(row_of(&t, "new")->certain);
	ck_assert(!row_of(&t, "new")->in_before && row_of(&t, "new")->in_after);
	two_free(&t);
	qz_profile__free(a.p);
	qz_profile__free(b.p);
}
END_TEST

START_TEST(waits_have_blocked_time_by_cause)
{
	struct fixture a = alone("main f", 500, "main", 500);
	struct fixture b = alone("main f", 500, "main", 500);
	struct qz_wait wait = {.object = QZ_NONE, .count = 1, .blocked_ns = 2 * SECOND};
	struct two t;

	fixture__wait(&a, &wait, "main f", "pipe");
	wait.blocked_ns = 5 * SECOND;
	fixture__wait(&b, &wait, "main f", "pipe");
	ck_assert_int_eq(a.err | b.err, 0);
	ck_assert(compare(&t, a.p, b.p));
	assert_near(qz_change__of(&row_of(&t, "pipe")->blocked), 3e9);
	ck_assert(row_of(&t, "pipe")->certain);
	assert_near(qz_change__of(&row_of(&t, "f")->blocked), 3e9);
	/* nothing ran more or less */
	ck_assert(!row_of(&t, "f")->certain);
	ck_assert(qz_compare__self(t.c, &t.ids, 0, t.c->n) == 0);
	two_free(&t);
	qz_profile__free(a.p);
	qz_profile__free(b.p);
}
END_TEST

START_TEST(parts_and_copies_are_their_procedure)
{
	struct fixture a = alone("main sum.isra.0", 400, "main sum", 600);
	struct fixture b = alone("main sum.constprop.1.cold", 500, "main x.part.Y", 500);
	struct two t;

	ck_assert(compare(&t, a.p, b.p));
	assert_near(row_of(&t, "sum")->self.before, 10e9);
	assert_near(row_of(&t, "sum")->self.after, 5e9);
	ck_assert_ptr_null(row_of(&t, "sum.isra.0"));
	ck_assert_ptr_nonnull(row_of(&t, "x.part.Y"));
	two_free(&t);
	qz_profile__free(a.p);
	qz_profile__free(b.p);
}
END_TEST

static void set_text(char **text, const char *value)
{
	free(*text);
	*text = strdup(value);
	ck_assert_ptr_nonnull(*text);
}

START_TEST(the_kernel_is_matched_by_what_was_called)
{
	struct fixture a = alone("main read __x64_sys_read copy", 400, "main", 600);
	struct fixture b = alone("main read __x64_sys_read fill", 900, "main", 100);
	struct two t;

	for (int k = 0; k < 2; k++) {
		struct qz_profile *p = k ? b.p : a.p;

		set_text(&p->procedures[fixture__procedure(p, "__x64_sys_read")].module,
			 "[kernel]");
		set_text(&p->procedures[fixture__procedure(p, k ? "fill" : "copy")].module,
			 "[kernel]");
	}
	ck_assert(compare(&t, a.p, b.p));
	assert_near(row_of(&t, "kernel: read calls")->self.before, 4e9);
	assert_near(row_of(&t, "kernel: read calls")->self.after, 9e9);
	assert_near(row_of(&t, "read")->total.after, 9e9);
	ck_assert_ptr_null(row_of(&t, "copy"));
	ck_assert_ptr_null(row_of(&t, "__x64_sys_read"));
	ck_assert(qz_compare__self(t.c, &t.ids, 0, t.c->n) == 0);
	two_free(&t);
	qz_profile__free(a.p);
	qz_profile__free(b.p);
}
END_TEST

static void set_build(struct qz_profile *p, const char *id)
{
	ck_assert_uint_eq(p->nmappings, 1);
	set_text(&p->mappings[0].build_id, id);
}

START_TEST(addresses_are_names_within_one_build)
{
	struct fixture a = alone("main app+0x1234", 400, "main app+0x2000", 600);
	struct fixture b = alone("main app+0x1234", 500, "main app+0x3000", 500);
	static const char together[] = "(procedures without names)";
	struct two t;

	/* fixtures cut names at '+' */
	for (int k = 0; k < 2; k++) {
		struct qz_profile *p = k ? b.p : a.p;

		for (uint32_t i = 0; i < p->nprocedures; i++)
			if (!strncmp(p->procedures[i].name, "0x", 2)) {
				char name[32];

				snprintf(name, sizeof(name), "app+%s", p->procedures[i].name);
				set_text(&p->procedures[i].name, name);
			}
		set_build(p, "aa");
	}
	ck_assert(compare(&t, a.p, b.p));
	assert_near(row_of(&t, "app+0x1234")->self.before, 4e9);
	assert_near(row_of(&t, "app+0x1234")->self.after, 5e9);
	ck_assert_ptr_null(row_of(&t, together));
	two_free(&t);
	set_build(b.p, "bb");
	ck_assert(compare(&t, a.p, b.p));
	ck_assert_ptr_null(row_of(&t, "app+0x1234"));
	assert_near(row_of(&t, together)->self.before, 10e9);
	assert_near(row_of(&t, together)->self.after, 10e9);
	two_free(&t);
	/* nothing is known of it */
	set_build(a.p, "");
	set_build(b.p, "");
	ck_assert(compare(&t, a.p, b.p));
	ck_assert_ptr_nonnull(row_of(&t, together));
	two_free(&t);
	qz_profile__free(a.p);
	qz_profile__free(b.p);
}
END_TEST

/* All of it is in another file. */
static void move(struct qz_profile *p, const char *path)
{
	set_text(&p->mappings[0].path, path);
	for (uint32_t i = 0; i < p->nprocedures; i++)
		if (p->procedures[i].kind == QZ_PROCEDURE)
			set_text(&p->procedures[i].module, path);
}

START_TEST(files_may_have_other_names)
{
	static const struct {
		const char *before, *after;
	} pairs[] = {
		{"/old/app", "/new/app"},			 /* another directory */
		{"/app-1.0", "/app-1.1"},			 /* the executable */
		{"/lib/libz.so.1.2.13", "/opt/lib/libz.so.1.3"}, /* the version of a library */
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		struct fixture a = alone("main f", 400, "main", 600);
		struct fixture b = alone("main f", 500, "main", 500);
		struct two t;

		move(a.p, pairs[i].before);
		move(b.p, pairs[i].after);
		ck_assert(compare(&t, a.p, b.p));
		ck_assert(row_of(&t, "f")->in_before && row_of(&t, "f")->in_after);
		ck_assert(!row_of(&t, "f")->namesake);
		two_free(&t);
		qz_profile__free(a.p);
		qz_profile__free(b.p);
	}
}
END_TEST

START_TEST(names_in_other_libraries_are_told_apart)
{
	struct fixture a = alone("main f", 400, "main", 600);
	struct fixture b = alone("main f", 500, "main", 500);
	struct two t;

	move(a.p, "/lib/liba.so");
	move(b.p, "/lib/libb.so");
	ck_assert(compare(&t, a.p, b.p));
	ck_assert(row_of(&t, "f")->namesake);
	ck_assert(row_of(&t, "f")->in_before != row_of(&t, "f")->in_after);
	two_free(&t);
	qz_profile__free(a.p);
	qz_profile__free(b.p);
}
END_TEST

START_TEST(lack_of_memory_is_reported)
{
	struct qz_profile *p = fixture__everything();
	bool done = false;
	struct two t;

	for (unsigned int n = 1; !done; n++) {
		failing__arm(n);
		done = compare(&t, p, p);
		ck_assert(failing__disarm() != done);
		two_free(&t);
	}
	qz_profile__free(p);
}
END_TEST

Suite *suite_compare(void)
{
	Suite *s = suite_create("compare");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, one_run_each_has_the_intervals_of_both);
	tcase_add_test(tc, several_runs_have_that_of_their_spread);
	tcase_add_test(tc, agreeing_runs_are_no_narrower_than_sampling);
	tcase_add_test(tc, quantiles_are_those_of_student);
	tcase_add_loop_test(tc, changes_add_up_to_that_of_the_elapsed_time, 0, 50);
	tcase_add_test(tc, one_profile_twice_has_not_changed);
	tcase_add_test(tc, rows_beyond_chance_come_first);
	tcase_add_test(tc, what_was_not_seen_has_an_interval);
	tcase_add_test(tc, waits_have_blocked_time_by_cause);
	tcase_add_test(tc, parts_and_copies_are_their_procedure);
	tcase_add_test(tc, the_kernel_is_matched_by_what_was_called);
	tcase_add_test(tc, addresses_are_names_within_one_build);
	tcase_add_test(tc, files_may_have_other_names);
	tcase_add_test(tc, names_in_other_libraries_are_told_apart);
	tcase_add_test(tc, lack_of_memory_is_reported);
	suite_add_tcase(s, tc);
	return s;
}
