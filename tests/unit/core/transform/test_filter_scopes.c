/* SPDX-License-Identifier: GPL-2.0-only */
/* A part of a profile has the figures of the scopes that are kept, and not a word of the others. */
#include <errno.h>
#include <string.h>

#include "core/estimate/estimate.h"
#include "core/transform/filter_scopes.h"
#include "tests/unit/failing.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define SEEDS 20

enum { MACHINE, MINE, OTHER };

static void run_in(struct fixture *f, uint32_t scope, const char *words, uint64_t count)
{
	uint32_t thread = scope - 1;

	fixture__samples(f, scope, thread, words, 1, count);
	fixture__samples(f, MACHINE, thread, words, 1, count);
}

/* Of two processes, with the same lock, code of the kernel, and strangers who wake each up. */
static struct qz_profile *two(void)
{
	static const uint64_t levels[3][2] = {{1, 20}, {11, 10}, {11, 10}};
	struct fixture f = fixture__new();

	for (uint32_t i = 0; i < 3; i++)
		fixture__scope(&f, levels[i], 2);
	f.p->scopes[MACHINE].kind = QZ_SCOPE_MACHINE;
	f.p->scopes[MINE].pid = 1;
	f.p->scopes[OTHER].pid = 2;
	fixture__thread(&f, MINE, 1);
	fixture__thread(&f, OTHER, 2);
	run_in(&f, MINE, "main f", 3);
	run_in(&f, MINE, "main f kernel", 2);
	run_in(&f, MINE, "kernel", 5);
	run_in(&f, OTHER, "main g", 7);
	for (uint32_t i = MINE; i <= OTHER; i++) {
		const char *words = i == MINE ? "main f kernel" : "main g kernel";
		struct qz_wait wait = {.scope = i, .thread = i - 1, .count = 1, .blocked_ns = 5};
		struct qz_waking waking = {.scope = i, .thread = QZ_NONE, .count = 1};

		wait.object = waking.object = fixture__object(&f, i, QZ_OBJECT_MUTEX, "lock");
		fixture__wait(&f, &wait, words, i == MINE ? "futex" : "disk");
		fixture__waking(&f, &waking, "waker");
		waking.thread = i - 1;
		fixture__waking(&f, &waking, words);
		fixture__calls(&f, i, "main", i == MINE ? "f" : "g", 1);
		fixture__round(&f, i, i == MINE ? "kernel" : "g", 1);
	}
	ck_assert_int_eq(f.err, 0);
	ck_assert_int_eq(
		qz_profile__set_string(&f.p->procedures[fixture__procedure(f.p, "kernel")].module,
				       "[kernel]"),
		0);
	ck_assert_int_eq(qz_estimate__profile(f.p), 0);
	return f.p;
}

static struct qz_profile *part(const struct qz_profile *p, const bool *kept)
{
	struct qz_profile *s = qz_filter_scopes__profile(p, kept);

	ck_assert_ptr_nonnull(s);
	ck_assert_int_eq(qz_estimate__profile(s), 0);
	return s;
}

START_TEST(nothing_of_others_is_there)
{
	static const bool kept[] = {[MINE] = true, [OTHER] = false};
	struct qz_profile *p = two(), *s = part(p, kept);

	ck_assert_uint_eq(s->nscopes, 1);
	ck_assert_int_eq(s->scopes[0].pid, 1);
	ck_assert_uint_eq(s->nthreads, 1);
	ck_assert_uint_eq(s->nobjects, 1);
	ck_assert_uint_eq(s->nwaits, 1);
	ck_assert_uint_eq(s->nwakings, 1);
	ck_assert_uint_eq(s->ncalls, 1);
	ck_assert_uint_eq(s->nrounds, 0);
	ck_assert_uint_eq(s->ncauses, 1);
	ck_assert_str_eq(s->causes[0], "futex");
	ck_assert_uint_eq(s->nprocedures, 2);
	for (uint32_t i = 0; i < s->nprocedures; i++)
		ck_assert(!strcmp(s->procedures[i].name, "main") ||
			  !strcmp(s->procedures[i].name, "f"));
	qz_profile__free(p);
	qz_profile__free(s);
}
END_TEST

/* What the kernel did is with its caller, or with none. */
START_TEST(callers_have_what_the_kernel_did)
{
	static const bool kept[] = {[MINE] = true, [OTHER] = false};
	struct qz_profile *p = two(), *s = part(p, kept);
	uint64_t count[2] = {0}, norm = 0;

	for (uint32_t i = 0; i < s->nsamples; i++) {
		count[s->samples[i].node != 0] += s->samples[i].count;
		norm += s->samples[i].norm_ns;
	}
	ck_assert_uint_eq(count[0], 5);
	ck_assert_uint_eq(count[1], 5);
	ck_assert_uint_eq(norm, 10);
	qz_profile__free(p);
	qz_profile__free(s);
}
END_TEST

/* Where all are kept, all sums are. */
START_TEST(sums_stay)
{
	struct qz_profile *p = fixture__random((unsigned int)_i), *s;
	uint64_t samples[2] = {0}, norm[2] = {0}, blocked[2] = {0};
	bool kept[8];

	memset(kept, true, sizeof(kept));
	ck_assert_uint_le(p->nscopes, 8);
	s = part(p, kept);
	for (int side = 0; side < 2; side++) {
		const struct qz_profile *of = side ? s : p;

		for (uint32_t i = 0; i < of->nsamples; i++) {
			samples[side] += of->samples[i].count;
			norm[side] += of->samples[i].norm_ns;
		}
		for (uint32_t i = 0; i < of->nwaits; i++)
			blocked[side] += of->waits[i].blocked_ns;
	}
	ck_assert_uint_eq(s->nscopes, p->nscopes);
	ck_assert_uint_eq(samples[0], samples[1]);
	ck_assert_uint_eq(norm[0], norm[1]);
	ck_assert_uint_eq(blocked[0], blocked[1]);
	qz_profile__free(p);
	qz_profile__free(s);
}
END_TEST

START_TEST(lack_of_memory_is_reported)
{
	static const bool kept[] = {[MINE] = true, [OTHER] = false};
	struct qz_profile *p = two(), *s = NULL;

	for (unsigned int i = 1; !s; i++) {
		failing__arm(i);
		errno = 0;
		s = qz_filter_scopes__profile(p, kept);
		ck_assert_int_eq(failing__disarm(), !s);
		ck_assert_int_eq(errno == ENOMEM, !s);
	}
	qz_profile__free(s);
	qz_profile__free(p);
}
END_TEST

Suite *suite_filter_scopes(void)
{
	Suite *s = suite_create("filter_scopes");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, nothing_of_others_is_there);
	tcase_add_test(tc, callers_have_what_the_kernel_did);
	tcase_add_loop_test(tc, sums_stay, 0, SEEDS);
	tcase_add_test(tc, lack_of_memory_is_reported);
	suite_add_tcase(s, tc);
	return s;
}
