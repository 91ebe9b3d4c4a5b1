/* SPDX-License-Identifier: GPL-2.0-only */
#include <math.h>
#include <stdlib.h>

#include "daemon/spin/spin_correction.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define LEVELS 9

static uint64_t refused;

static struct fixture scope(void)
{
	static const uint64_t level_ns[LEVELS] = {0};
	struct fixture f = fixture__new();

	fixture__scope(&f, level_ns, LEVELS);
	fixture__thread(&f, 0, 1);
	ck_assert_int_eq(f.err, 0);
	return f;
}

static struct spin_correction_sample sample(uint32_t level, uint32_t busy, bool late,
					    uint64_t count)
{
	return (struct spin_correction_sample) {.sample = {.level = level,
							   .busy = busy,
							   .spinning = late,
							   .object = QZ_NONE,
							   .count = count},
						.believed = busy + late,
						.loop = QZ_NONE,
						.late = late};
}

static uint64_t count_of(const struct qz_profile *p, uint32_t level, uint32_t busy, bool spinning)
{
	for (uint32_t i = 0; i < p->nsamples; i++) {
		const struct qz_sample *s = &p->samples[i];

		if (s->level == level && s->busy == busy && s->spinning == spinning)
			return s->count;
	}
	return 0;
}

START_TEST(samples_without_late_ones_stay_as_they_are)
{
	struct spin_correction_sample all[] = {sample(2, 1, false, 7), sample(2, 2, false, 3),
					       sample(1, 1, false, 5)};
	struct fixture f = scope();

	ck_assert_int_eq(spin_correction__add(f.p, all, 3, &refused), 0);
	ck_assert_uint_eq(count_of(f.p, 2, 1, false), 7);
	ck_assert_uint_eq(count_of(f.p, 2, 2, false), 3);
	ck_assert_uint_eq(count_of(f.p, 1, 1, false), 5);
	qz_profile__free(f.p);
}
END_TEST

/* One spins all the time, so the other was alone in all of its samples. */
START_TEST(the_other_processor_was_alone)
{
	struct spin_correction_sample all[] = {sample(2, 2, false, 500), sample(2, 1, true, 500)};
	struct fixture f = scope();

	ck_assert_int_eq(spin_correction__add(f.p, all, 2, &refused), 0);
	ck_assert_uint_eq(f.p->nsamples, 2);
	ck_assert_uint_eq(count_of(f.p, 2, 1, false), 500);
	ck_assert_uint_eq(count_of(f.p, 2, 1, true), 500);
	qz_profile__free(f.p);
}
END_TEST

/* One of two spins half of the time. */
START_TEST(a_part_of_the_time_is_a_part_of_the_samples)
{
	struct spin_correction_sample all[] = {sample(2, 2, false, 750), sample(2, 1, true, 250)};
	struct fixture f = scope();

	ck_assert_int_eq(spin_correction__add(f.p, all, 2, &refused), 0);
	ck_assert_uint_eq(count_of(f.p, 2, 1, false), 250);
	ck_assert_uint_eq(count_of(f.p, 2, 2, false), 500);
	ck_assert_uint_eq(count_of(f.p, 2, 1, true), 250);
	qz_profile__free(f.p);
}
END_TEST

static struct spin_correction_sample known(uint32_t level, uint32_t busy, uint64_t count)
{
	struct spin_correction_sample s = sample(level, busy, true, count);

	s.late = false;
	s.believed = busy;
	return s;
}

/* Three of four spin, one of which the sampler knew. */
START_TEST(what_was_known_stays_known)
{
	struct spin_correction_sample all[] = {sample(4, 3, false, 100), sample(4, 2, true, 200),
					       known(4, 3, 100)};
	struct fixture f = scope();

	ck_assert_int_eq(spin_correction__add(f.p, all, 3, &refused), 0);
	ck_assert_uint_eq(count_of(f.p, 4, 1, false), 100);
	ck_assert_uint_eq(count_of(f.p, 4, 1, true), 300);
	qz_profile__free(f.p);
}
END_TEST

/* A wait that was known in one part of the half, and in the other one that was not. */
START_TEST(times_with_a_known_wait_are_others)
{
	struct spin_correction_sample all[] = {sample(2, 2, false, 300), sample(2, 1, true, 300),
					       sample(2, 1, false, 700), known(2, 1, 700)};
	struct fixture f = scope();

	ck_assert_int_eq(spin_correction__add(f.p, all, 4, &refused), 0);
	ck_assert_uint_eq(f.p->nsamples, 2);
	ck_assert_uint_eq(count_of(f.p, 2, 1, false), 1000);
	ck_assert_uint_eq(count_of(f.p, 2, 1, true), 1000);
	qz_profile__free(f.p);
}
END_TEST

/* No sample comes or goes, and each late one is taken off n - 1 others, but for rounding. */
START_TEST(counts_are_kept)
{
	unsigned int seed = (unsigned int)_i;
	uint64_t before[LEVELS] = {0}, late[LEVELS] = {0};
	double busy[LEVELS] = {0};
	struct spin_correction_sample all[40];
	struct fixture f = scope();

	for (int i = 0; i < 40; i++) {
		uint32_t level = 1 + (uint32_t)rand_r(&seed) % (LEVELS - 1);
		bool is_late = rand_r(&seed) % 4 == 0;

		all[i] = sample(level, is_late ? level - 1 : level, is_late,
				1 + (uint64_t)rand_r(&seed) % 100000);
		before[level] += all[i].sample.count;
		late[level] += is_late ? all[i].sample.count : 0;
		busy[level] += (double)all[i].sample.count * all[i].sample.busy;
	}
	ck_assert_int_eq(spin_correction__add(f.p, all, 40, &refused), 0);
	for (uint32_t level = 1; level < LEVELS; level++) {
		uint64_t after = 0;

		for (uint32_t i = 0; i < f.p->nsamples; i++) {
			const struct qz_sample *s = &f.p->samples[i];

			if (s->level != level)
				continue;
			after += s->count;
			busy[level] -= (double)s->count * s->busy;
			ck_assert_uint_ge(s->busy + s->spinning, 1);
			ck_assert_uint_le(s->busy + s->spinning, level);
		}
		ck_assert_uint_eq(after, before[level]);
		ck_assert_double_le(fabs(busy[level] - (double)(late[level] * (level - 1))), 50);
	}
	qz_profile__free(f.p);
}
END_TEST

Suite *suite_spin_correction(void)
{
	Suite *s = suite_create("spin_correction");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, samples_without_late_ones_stay_as_they_are);
	tcase_add_test(tc, the_other_processor_was_alone);
	tcase_add_test(tc, a_part_of_the_time_is_a_part_of_the_samples);
	tcase_add_test(tc, what_was_known_stays_known);
	tcase_add_test(tc, times_with_a_known_wait_are_others);
	tcase_add_loop_test(tc, counts_are_kept, 0, 50);
	suite_add_tcase(s, tc);
	return s;
}
