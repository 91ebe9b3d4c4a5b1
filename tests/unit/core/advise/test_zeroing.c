/* SPDX-License-Identifier: GPL-2.0-only */
/* What a run would gain without a candidate: the figure, what limits it, and its way through a file. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/advise/zeroing.h"
#include "core/estimate/estimate.h"
#include "core/format/pprof.h"
#include "tests/unit/bytes.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define MS 1000000ull

/* Ten seconds, five of them with two threads; a third of all samples in slow(). */
static struct fixture program(void)
{
	static const uint64_t levels[] = {0, 5000 * MS, 5000 * MS};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, levels, 3), thread = fixture__thread(&f, scope, 1);

	fixture__samples(&f, scope, thread, "main slow", 1, 2500);
	fixture__samples(&f, scope, thread, "main fast", 1, 2500);
	fixture__samples(&f, scope, thread, "main slow", 2, 2500);
	fixture__samples(&f, scope, thread, "main fast", 2, 7500);
	f.p->processors = 2;
	return f;
}

static struct qz_what_if slow(void)
{
	return (struct qz_what_if) {
		.kind = QZ_WHAT_IF_PROCEDURE,
		.name = (char *)"slow",
		.run_ns = {7000 * MS, 8000 * MS, 9000 * MS},
		.most_ns = {6000 * MS, 7000 * MS, 8000 * MS},
		.work_ns = 5000 * MS,
	};
}

static struct qz_report *report(struct fixture *f)
{
	struct qz_report *r;

	ck_assert_int_eq(f->err, 0);
	ck_assert_int_eq(qz_estimate__profile(f->p), 0);
	r = qz_report__new(f->p, 0);
	ck_assert_ptr_nonnull(r);
	return r;
}

static void near(uint64_t ns, uint64_t wanted)
{
	ck_assert_uint_ge(ns, wanted - MS);
	ck_assert_uint_le(ns, wanted + MS);
}

START_TEST(the_longest_path)
{
	struct fixture f = program();
	struct qz_report *r = report(&f);
	struct qz_what_if w = slow();
	struct qz_zeroing z = qz_zeroing__find(r, &w, 0);

	near(z.gain_ns, 3000 * MS);
	ck_assert_int_eq(z.limit, QZ_ZEROING_PATH);
	/* 5000 samples of 15000: 1.96 * sqrt(2/3 / 5000) of the gain */
	near(z.high_ns - z.gain_ns, 68 * MS);
	near(z.gain_ns - z.low_ns, 68 * MS);
	near(qz_zeroing__find(r, &w, 1).gain_ns, 2000 * MS);
	near(qz_zeroing__find(r, &w, 2).gain_ns, 1000 * MS);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

/* One thread cannot be shared out, and two processors run 10 s of other work in 5. */
START_TEST(what_limits_it)
{
	struct fixture f = program();
	struct qz_report *r = report(&f);
	struct qz_what_if w = slow();
	struct qz_zeroing z;

	w.most_ns[0] = 8500 * MS;
	z = qz_zeroing__find(r, &w, 0);
	near(z.gain_ns, 1500 * MS);
	ck_assert_int_eq(z.limit, QZ_ZEROING_THREAD);
	w = slow();
	w.run_ns[0] = 2000 * MS;
	w.most_ns[0] = 1000 * MS;
	z = qz_zeroing__find(r, &w, 0);
	near(z.gain_ns, 5000 * MS);
	ck_assert_int_eq(z.limit, QZ_ZEROING_PROCESSORS);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

/* A fifth of the candidate's time had passed before its code was known. */
START_TEST(known_too_late)
{
	struct fixture f = program();
	struct qz_report *r = report(&f);
	struct qz_what_if w = slow();

	w.work_ns = 4000 * MS;
	w.run_ns[0] = 7600 * MS;
	near(qz_zeroing__find(r, &w, 0).gain_ns, 3000 * MS);
	w.work_ns = 6000 * MS; /* samples say less than was taken off */
	w.run_ns[0] = 7200 * MS;
	near(qz_zeroing__find(r, &w, 0).gain_ns, 2800 * MS);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(never_less_than_nothing)
{
	struct fixture f = program();
	struct qz_report *r = report(&f);
	struct qz_what_if w = slow();
	struct qz_zeroing z;

	w.name = (char *)"neither";
	w.run_ns[0] = 11000 * MS;
	z = qz_zeroing__find(r, &w, 0);
	ck_assert_uint_eq(z.gain_ns, 0);
	ck_assert_uint_eq(z.low_ns, 0);
	ck_assert_uint_eq(z.high_ns, 0);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

/* For half of five seconds it ran while nothing else could. */
START_TEST(not_less_than_what_ran_alone)
{
	struct fixture f = program();
	struct qz_report *r = report(&f);
	struct qz_what_if w = slow();

	w.run_ns[0] = w.run_ns[1] = 9900 * MS;
	near(qz_zeroing__find(r, &w, 0).gain_ns, 2500 * MS);
	near(qz_zeroing__find(r, &w, 1).gain_ns, 1250 * MS);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(it_comes_back_from_a_file)
{
	struct fixture f = program();
	struct qz_what_if w = slow(), other = {.name = (char *)"never \"met\""};
	struct qz_report *r;
	struct bytes gz;
	const char *why;
	int fd;

	ck_assert_int_eq(qz_what_ifs__add(f.p, &w), 0);
	ck_assert_int_eq(qz_what_ifs__add(f.p, &other), 0);
	other.scope = 1;
	ck_assert_int_eq(qz_what_ifs__add(f.p, &other), -EINVAL);
	ck_assert_int_eq(qz_estimate__profile(f.p), 0);
	gz = bytes__of_profile(f.p);
	qz_profile__free(f.p);
	fd = bytes__file(gz.data, gz.size);
	f.p = qz_pprof__read(fd, &why);
	ck_assert_ptr_nonnull(f.p);
	ck_assert_uint_eq(f.p->nwhat_ifs, 2);
	ck_assert_str_eq(f.p->what_ifs[1].name, "never \"met\"");
	r = report(&f);
	ck_assert_ptr_eq(qz_zeroing__of_name(r, "slow"), &f.p->what_ifs[0]);
	ck_assert_ptr_null(qz_zeroing__of_name(r, "never \"met\""));
	near(qz_zeroing__find(r, &f.p->what_ifs[0], 2).gain_ns, 1000 * MS);
	qz_report__free(r);
	qz_profile__free(f.p);
	close(fd);
	free(gz.data);
}
END_TEST

START_TEST(objects_by_name)
{
	struct qz_object o = {.kind = QZ_OBJECT_MUTEX, .name = (char *)"queue lock"};

	ck_assert(qz_what_if__is_object("queue lock", &o));
	ck_assert(qz_what_if__is_object("mutex queue lock", &o));
	ck_assert(!qz_what_if__is_object("mutexqueue lock", &o));
	ck_assert(!qz_what_if__is_object("barrier queue lock", &o));
	ck_assert(!qz_what_if__is_object("queue", &o));
}
END_TEST

Suite *suite_zeroing(void)
{
	Suite *s = suite_create("zeroing");
	TCase *t = tcase_create("gains");

	tcase_add_test(t, the_longest_path);
	tcase_add_test(t, what_limits_it);
	tcase_add_test(t, known_too_late);
	tcase_add_test(t, never_less_than_nothing);
	tcase_add_test(t, not_less_than_what_ran_alone);
	tcase_add_test(t, it_comes_back_from_a_file);
	tcase_add_test(t, objects_by_name);
	suite_add_tcase(s, t);
	return s;
}
