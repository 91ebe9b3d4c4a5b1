/* SPDX-License-Identifier: GPL-2.0-only */
/* Candidates: the arithmetic that the BPF programs do with savings, against runs worked out by hand; and their names. */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "core/estimate/estimate.h"
#include "daemon/what_if/candidate_names.h"
#include "quartz/critical_path.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define MS 1000000ull

/* ---- dependencies ---- */

/* A thread with one candidate, at a time of its own. */
struct runner {
	uint64_t now, saving;
};

static void runs(struct runner *r, uint64_t ns, bool candidate)
{
	r->now += ns;
	r->saving += candidate ? ns : 0;
}

/* It waits for the other one, if that comes later. */
static void waits_for(struct runner *r, const struct runner *other)
{
	uint64_t held = other->now > r->now ? other->now - r->now : 0;

	if (!held)
		return;
	r->saving = qz_path__released(r->saving, held, other->saving);
	r->now = other->now;
}

START_TEST(waiting_costs_nothing_by_itself)
{
	struct runner a = {0}, b = {0};

	runs(&a, 10 * MS, true);
	runs(&b, 2 * MS, false);
	waits_for(&b, &a);
	ck_assert_uint_eq(b.now, 10 * MS);
	ck_assert_uint_eq(b.saving, 8 * MS); /* its own 2 ms are the longest path then */
}
END_TEST

START_TEST(a_chain_of_three)
{
	struct runner a = {0}, b = {0}, c = {0};

	for (int i = 0; i < 100; i++) {
		runs(&a, MS, false);
		waits_for(&b, &a);
		runs(&b, 3 * MS, true);
		waits_for(&c, &b);
		runs(&c, MS, false);
		waits_for(&a, &c);
	}
	ck_assert_uint_eq(a.now, 500 * MS);
	ck_assert_uint_eq(a.saving, 300 * MS);
}
END_TEST

START_TEST(what_nobody_waits_for_gains_nothing)
{
	struct runner a = {0}, b = {0};

	for (int i = 0; i < 100; i++) {
		runs(&a, 5 * MS, false);
		runs(&b, 3 * MS, true);
		waits_for(&b, &a);
	}
	ck_assert_uint_eq(b.now, a.now);
	ck_assert_uint_eq(a.saving, 0);
	ck_assert_uint_eq(b.saving, 0);
}
END_TEST

/* Of three quarters of its time the other path is the longest one: not in proportion. */
START_TEST(another_path_becomes_the_longest)
{
	static const uint64_t savings[QZ_SPEEDS] = {3 * MS, 3 * MS, 2 * MS};

	for (uint32_t k = 0; k < QZ_SPEEDS; k++)
		ck_assert_uint_eq(qz_path__released(0, 3 * MS, 8 * MS >> k), savings[k]);
}
END_TEST

START_TEST(a_lock_that_is_gone)
{
	ck_assert_uint_eq(qz_path__unheld(2 * MS, 8 * MS, 5 * MS, 0), 10 * MS);
	ck_assert_uint_eq(qz_path__unheld(2 * MS, 8 * MS, 5 * MS, 1), 6 * MS);
	ck_assert_uint_eq(qz_path__unheld(2 * MS, 8 * MS, 5 * MS, 2), 5 * MS);
}
END_TEST

/* ---- shares ---- */

START_TEST(shares_are_blended)
{
	const uint32_t half = QZ_SHARE_ONE / 2;

	ck_assert_uint_eq(qz_path__share(0, 0), 0);
	ck_assert_uint_eq(qz_path__share(3, 4), QZ_SHARE_ONE / 4 * 3);
	/* nothing but what is known of the thread, what was learned, nothing but its own, both */
	ck_assert_uint_eq(qz_path__blend(0, 0, half, 0), half);
	ck_assert_uint_eq(qz_path__blend(0, 0, half, 1000), half);
	ck_assert_uint_eq(qz_path__blend(1, 1, half, 0), QZ_SHARE_ONE);
	ck_assert_uint_eq(qz_path__blend(QZ_PATH_PRIOR, QZ_PATH_PRIOR, half, 1000),
			  QZ_SHARE_ONE / 4 * 3);
	ck_assert_uint_gt(qz_path__blend(1000, 1000, 0, 1000), QZ_SHARE_ONE / 100 * 98);
}
END_TEST

START_TEST(parts_do_not_overflow)
{
	uint64_t day = 86400000 * MS, half = qz_path__part(day, QZ_SHARE_ONE / 2);

	ck_assert_uint_eq(qz_path__part(day, QZ_SHARE_ONE), day);
	ck_assert_uint_le(half, day / 2);
	ck_assert_uint_ge(half, day / 2 - QZ_SHARE_ONE);
	ck_assert_uint_eq(qz_path__part(1000, QZ_SHARE_ONE / 4), 250);
	ck_assert_uint_eq(qz_path__part(day, 0), 0);
}
END_TEST

/*
 * Two threads that meet every 0.1 ms, half of whose work is the candidate, sampled once in a millisecond: a period
 * taken off where a sample meets it is lost at the next meeting; the share that both have learned is not.
 */
START_TEST(short_segments_keep_their_savings)
{
	const uint64_t segment = MS / 10;
	uint64_t lumps[2] = {0}, shared[2] = {0}, met;
	uint32_t random = 1, in = 0, samples = 0;

	for (int i = 0; i < 100000; i++) {
		for (int k = 0; k < 2; k++) {
			random = random * 1664525 + 1013904223;
			if (random >> 16 < 6554) { /* a tenth */
				samples++;
				in += random >> 8 & 1;
				lumps[k] += random >> 8 & 1 ? MS : 0;
			}
			shared[k] += qz_path__part(segment, qz_path__share(in, samples));
		}
		met = lumps[0] < lumps[1] ? lumps[0] : lumps[1];
		lumps[0] = lumps[1] = met;
		met = shared[0] < shared[1] ? shared[0] : shared[1];
		shared[0] = shared[1] = met;
	}
	ck_assert_uint_lt(lumps[0], 100000 * segment / 10);
	ck_assert_uint_gt(shared[0], 100000 * segment / 100 * 47);
	ck_assert_uint_lt(shared[0], 100000 * segment / 100 * 53);
}
END_TEST

/* ---- names ---- */

static void expect_names(const struct candidate_names *names, uint32_t n, const char *const *wanted)
{
	ck_assert_uint_eq(names->n, n);
	for (uint32_t i = 0; i < n; i++)
		ck_assert_str_eq(names->items[i], wanted[i]);
}

START_TEST(lists_of_names)
{
	static const char *const wanted[] = {"one", "map<int, long>::find(int, char)",
					     "mutex queue_lock", "operator->"};
	struct candidate_names names = {0};

	ck_assert_int_eq(candidate_names__parse(&names, "one,map<int, long>::find(int, char),"
							"mutex queue_lock,operator->"),
			 0);
	expect_names(&names, 4, wanted);
	candidate_names__free(&names);
}
END_TEST

START_TEST(lists_that_are_none)
{
	static const char *const wrong[] = {
		"", ",", "a,", ",a", "a,,b", "a,b,a", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct candidate_names names = {0};

		ck_assert_int_eq(candidate_names__parse(&names, wrong[i]), -EINVAL);
		candidate_names__free(&names);
	}
}
END_TEST

static void set_wait(struct fixture *f, uint32_t object, uint64_t ns)
{
	f->p->objects[object].wait_ns = ns;
}

START_TEST(those_that_lead_are_chosen)
{
	static const uint64_t levels[] = {0, 1000 * MS, 1000 * MS};
	static const char *const wanted[] = {"mutex busy_lock", "deflate", "match", "compress"};
	struct candidate_names names = {0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, levels, 3), thread = fixture__thread(&f, scope, 1);

	fixture__samples(&f, scope, thread, "main compress deflate", 1, 500);
	fixture__samples(&f, scope, thread, "main compress match", 2, 300);
	fixture__samples(&f, scope, thread, "main", 1, 5);
	fixture__samples(&f, scope, thread, "main rare", 1, 1);
	for (int i = 0; i < 194; i++)
		fixture__samples(&f, scope, thread, "main deflate", 1, 1);
	set_wait(&f, fixture__object(&f, scope, QZ_OBJECT_MUTEX, "busy_lock"), 900 * MS);
	set_wait(&f, fixture__object(&f, scope, QZ_OBJECT_MUTEX, "idle_lock"), MS);
	set_wait(&f, fixture__object(&f, scope, QZ_OBJECT_BARRIER, "all"), 900 * MS);
	ck_assert_int_eq(f.err, 0);
	ck_assert_int_eq(candidate_names__choose(&names, f.p), 0);
	expect_names(&names, 4, wanted);
	candidate_names__free(&names);
	qz_profile__free(f.p);
}
END_TEST

Suite *suite_critical_path(void)
{
	Suite *s = suite_create("critical_path");
	TCase *t = tcase_create("candidates");

	tcase_add_test(t, waiting_costs_nothing_by_itself);
	tcase_add_test(t, a_chain_of_three);
	tcase_add_test(t, what_nobody_waits_for_gains_nothing);
	tcase_add_test(t, another_path_becomes_the_longest);
	tcase_add_test(t, a_lock_that_is_gone);
	tcase_add_test(t, shares_are_blended);
	tcase_add_test(t, parts_do_not_overflow);
	tcase_add_test(t, short_segments_keep_their_savings);
	tcase_add_test(t, lists_of_names);
	tcase_add_test(t, lists_that_are_none);
	tcase_add_test(t, those_that_lead_are_chosen);
	suite_add_tcase(s, t);
	return s;
}
