/* SPDX-License-Identifier: GPL-2.0-only */
/* Instants: equal sets are one, and the views of them add up. */
#include <errno.h>

#include "core/report/corun.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

static struct fixture some(void)
{
	static const uint64_t level_ns[] = {0, 1000, 1000, 1000, 1000};
	struct fixture f = fixture__new();

	fixture__scope(&f, level_ns, 5);
	fixture__scope(&f, level_ns, 5);
	fixture__thread(&f, 0, 100);
	fixture__samples(&f, 0, 0, "main a b c", 1, 1);
	fixture__round(&f, 0, "a b", 10);
	fixture__round(&f, 0, "b a", 5);
	fixture__round(&f, 0, "a a b", 4);
	fixture__round(&f, 0, "a ~c ~c", 3);
	fixture__round(&f, 0, "~a b", 2);
	fixture__round(&f, 0, "", 6);
	fixture__round(&f, 1, "a", 100);
	ck_assert_int_eq(f.err, 0);
	return f;
}

START_TEST(equal_sets_are_one)
{
	struct fixture f = some();

	ck_assert_uint_eq(f.p->nrounds, 6);
	ck_assert_uint_eq(f.p->rounds[0].count, 15);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(impossible_sets_are_refused)
{
	struct fixture f = some();
	uint32_t beyond = QZ_MEMBER(f.p->nprocedures, false), marker, all[QZ_MAX_LEVELS] = {0};
	struct qz_round m = {.n = 1, .members = &beyond, .count = 1};

	ck_assert_int_eq(qz_rounds__add(f.p, &m), -EINVAL);
	ck_assert_int_ge(qz_profile__marker(f.p, QZ_TRUNCATED), 0);
	marker = QZ_MEMBER(fixture__procedure(f.p, "[truncated]"), false);
	m.members = &marker;
	ck_assert_int_eq(qz_rounds__add(f.p, &m), -EINVAL);
	m = (struct qz_round) {.scope = 2, .members = all, .count = 1};
	ck_assert_int_eq(qz_rounds__add(f.p, &m), -EINVAL);
	m = (struct qz_round) {.n = QZ_MAX_LEVELS, .members = all, .count = 1};
	ck_assert_int_eq(qz_rounds__add(f.p, &m), -EINVAL);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(sets_are_bounded)
{
	static uint32_t members[QZ_MAX_LEVELS];
	struct fixture f = some();
	uint32_t a = QZ_MEMBER(fixture__procedure(f.p, "a"), false), room = QZ_MAX_MEMBERS;
	int err = 0;

	for (uint32_t n = QZ_MAX_LEVELS - 1; !err; n--) {
		struct qz_round m = {.scope = 1, .n = n, .members = members, .count = 1};

		for (uint32_t i = 0; i < n; i++)
			members[i] = a;
		err = qz_rounds__add(f.p, &m);
		ck_assert(err || n < room);
		room -= err ? 0 : n + 1;
	}
	ck_assert_int_eq(err, -E2BIG);
	/* one that is there already still counts */
	fixture__round(&f, 0, "a b", 1);
	ck_assert_int_eq(f.err, 0);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(levels_are_counted_from_the_sets)
{
	static const uint64_t levels[] = {6, 5, 15, 4};
	struct fixture f = some();
	struct qz_corun corun;
	uint64_t sum = 0;

	ck_assert_int_eq(qz_corun__sets(f.p, 0, &corun), 0);
	ck_assert_uint_eq(corun.instants, 30);
	ck_assert_uint_eq(corun.running, 15 * 2 + 4 * 3 + 3 * 3 + 2 * 2);
	ck_assert_uint_eq(corun.spinning, 3 * 2 + 2);
	ck_assert_uint_eq(corun.nlevels, 4);
	for (int i = 0; i < 4; i++)
		ck_assert_uint_eq(corun.levels[i], levels[i]);
	ck_assert_uint_eq(corun.nrows, 5);
	ck_assert_uint_eq(corun.rows[0].instants, 15);
	for (uint32_t i = 0; i < corun.nrows; i++)
		sum += corun.rows[i].instants;
	ck_assert_uint_eq(sum, corun.instants);
	qz_corun__clear(&corun);
	qz_profile__free(f.p);
}
END_TEST

static const struct qz_corun_row *row_of(const struct fixture *f, const struct qz_corun *corun,
					 const char *name)
{
	for (uint32_t i = 0; i < corun->nrows; i++)
		if (corun->rows[i].procedure == fixture__procedure(f->p, name))
			return &corun->rows[i];
	ck_abort_msg("no row of %s", name);
	return NULL;
}

START_TEST(pairs_leave_the_one_itself_out)
{
	struct fixture f = some();
	const struct qz_corun_row *row;
	struct qz_corun corun;

	ck_assert_int_eq(qz_corun__pairs(f.p, 0, fixture__procedure(f.p, "a"), &corun), 0);
	ck_assert_uint_eq(corun.instants, 15 + 4 + 3);
	ck_assert_uint_eq(corun.alone, 3);
	ck_assert_uint_eq(corun.nrows, 3);
	row = row_of(&f, &corun, "b");
	ck_assert_uint_eq(row->instants, 19);
	ck_assert_uint_eq(row->busy, 19);
	row = row_of(&f, &corun, "a");
	ck_assert_uint_eq(row->instants, 4);
	ck_assert_uint_eq(row->busy, 4);
	row = row_of(&f, &corun, "c");
	ck_assert_uint_eq(row->instants, 3);
	ck_assert_uint_eq(row->busy, 0);
	ck_assert_uint_eq(row->spinning, 6);
	qz_corun__clear(&corun);
	qz_profile__free(f.p);
}
END_TEST

/* Whoever is asked about: all busy processors but one are in the rows. */
START_TEST(pairs_add_up)
{
	struct fixture f = some();

	for (uint32_t procedure = 0; procedure < f.p->nprocedures; procedure++) {
		struct qz_corun corun;
		uint64_t busy = 0, spinning = 0;

		ck_assert_int_eq(qz_corun__pairs(f.p, 0, procedure, &corun), 0);
		for (uint32_t i = 0; i < corun.nrows; i++) {
			busy += corun.rows[i].busy;
			spinning += corun.rows[i].spinning;
			ck_assert_uint_le(corun.rows[i].instants, corun.instants);
		}
		ck_assert_uint_eq(busy, corun.running - corun.spinning - corun.instants);
		ck_assert_uint_eq(spinning, corun.spinning);
		qz_corun__clear(&corun);
	}
	qz_profile__free(f.p);
}
END_TEST

Suite *suite_corun(void)
{
	Suite *s = suite_create("corun");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, equal_sets_are_one);
	tcase_add_test(tc, impossible_sets_are_refused);
	tcase_add_test(tc, sets_are_bounded);
	tcase_add_test(tc, levels_are_counted_from_the_sets);
	tcase_add_test(tc, pairs_leave_the_one_itself_out);
	tcase_add_test(tc, pairs_add_up);
	suite_add_tcase(s, tc);
	return s;
}
