/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is said of remedies by pairs of runs, on made-up machines with noise that is the same each time: a remedy that does nothing is
 * hardly ever said to help, one that does is found.
 */
#include <check.h>
#include <math.h>

#include "core/remedies/judge.h"
#include "tests/unit/suites.h"

#define REMEDIES 12
#define ROUNDS	 12 /* and half of them */
#define LEAST	 3
#define TRIALS	 200
#define RUN_NS	 1e9

/* splitmix64 */
static double even(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return (double)((z ^ z >> 31) >> 11) / (double)(1ull << 53);
}

static double normal(uint64_t *state)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += even(state);
	return sum;
}

/* How long runs take: some take longer by chance. */
static const struct world {
	const char *name;
	double deviation, often, longer;
	int lasting; /* runs that are disturbed one after another */
} worlds[] = {
	{"quiet", .005, 0, 0, 0},
	{"usual", .02, 0, 0, 0},
	{"busy", .1, 0, 0, 0},
	{"a tenth is disturbed", .02, .1, .5, 1},
	{"a third takes up to twice as long", .01, .3, 1, 1},
	{"one of thirty stalls", .08, .03, 4, 1},
	{"half take up to 2.5 times as long", .05, .5, 1.5, 1},
	{"load comes and goes", .02, .05, 1, 7},
	{"load comes and stays", .02, .02, 2, 40},
};
#define NWORLDS ((int)(sizeof(worlds) / sizeof(worlds[0])))

static uint64_t run(const struct world *w, uint64_t *state, double factor)
{
	static int left;
	static double longer;
	double length = 1 + w->deviation * normal(state);

	if (left <= 0 && even(state) < w->often) {
		left = w->lasting;
		longer = w->longer * even(state);
	}
	if (left-- > 0)
		length *= 1 + longer;
	return (uint64_t)(RUN_NS * factor * (length > 0.2 ? length : 0.2));
}

struct family {
	struct qz_pairs pairs[REMEDIES];
	const struct qz_pairs *all[REMEDIES];
	struct qz_judgement judged[REMEDIES];
};

/* Of two remedies, one makes its pair with the run before, the other with the run behind. */
static void take_round(struct family *f, const struct world *w, uint64_t *state, double first)
{
	uint64_t with, without = run(w, state, 1);

	for (uint32_t i = 0, n = 0; i < REMEDIES; i++) {
		if (f->judged[i].enough)
			continue;
		with = run(w, state, i ? 1 : first);
		if (n++ % 2)
			without = run(w, state, 1);
		qz_pairs__add(&f->pairs[i], with, without);
	}
}

/* `first`: how much longer it takes with the first remedy. */
static void try_all(struct family *f, const struct world *w, uint64_t seed, double first,
		    uint32_t rounds)
{
	*f = (struct family) {0};
	for (uint32_t i = 0; i < REMEDIES; i++)
		f->all[i] = &f->pairs[i];
	for (uint32_t round = 0; round < rounds; round++) {
		take_round(f, w, &seed, first);
		for (uint32_t i = 0; round + 1 >= LEAST && i < REMEDIES; i++)
			f->judged[i] = qz_judge__of(f->all, REMEDIES, i, REMEDIES);
	}
}

static bool any_helps(const struct family *f)
{
	for (uint32_t i = 0; i < REMEDIES; i++)
		if (f->judged[i].verdict == QZ_JUDGED_HELPS)
			return true;
	return false;
}

/* Of twenty commands with remedies that do nothing, one at most. */
static void check_chance(const struct world *w, uint32_t rounds)
{
	struct family f;
	int wrong = 0;

	for (uint64_t seed = 1; seed <= TRIALS; seed++) {
		try_all(&f, w, seed * 1000003, 1, rounds);
		wrong += any_helps(&f);
	}
	ck_assert_msg(wrong <= TRIALS / 20, "%s, %u rounds: %d of %d", w->name, rounds, wrong,
		      TRIALS);
}

START_TEST(nothing_helps_by_chance)
{
	check_chance(&worlds[_i], LEAST);
	check_chance(&worlds[_i], ROUNDS / 2);
	check_chance(&worlds[_i], ROUNDS);
}
END_TEST

static int count_first(const struct world *w, double first, uint32_t rounds, enum qz_judged verdict)
{
	struct family f;
	int found = 0;

	for (uint64_t seed = 1; seed <= TRIALS; seed++) {
		try_all(&f, w, seed * 1000003, first, rounds);
		found += f.judged[0].verdict == verdict;
	}
	return found;
}

START_TEST(what_helps_is_found)
{
	ck_assert_int_ge(count_first(&worlds[1], 0.7, LEAST, QZ_JUDGED_HELPS), TRIALS * 95 / 100);
	ck_assert_int_ge(count_first(&worlds[2], 0.7, ROUNDS, QZ_JUDGED_HELPS), TRIALS * 95 / 100);
	ck_assert_int_ge(count_first(&worlds[3], 0.7, ROUNDS, QZ_JUDGED_HELPS), TRIALS * 95 / 100);
	ck_assert_int_ge(count_first(&worlds[5], 0.6, ROUNDS / 2, QZ_JUDGED_HELPS),
			 TRIALS * 90 / 100);
}
END_TEST

START_TEST(what_harms_is_found)
{
	ck_assert_int_ge(count_first(&worlds[1], 1.4, LEAST, QZ_JUDGED_HARMS), TRIALS * 95 / 100);
}
END_TEST

START_TEST(what_does_nothing_is_told)
{
	ck_assert_int_ge(count_first(&worlds[0], 1, LEAST, QZ_JUDGED_NOTHING), TRIALS * 95 / 100);
	/* it is less than what a change is worth */
	ck_assert_int_ge(count_first(&worlds[0], 0.98, LEAST, QZ_JUDGED_NOTHING),
			 TRIALS * 90 / 100);
	ck_assert_int_eq(count_first(&worlds[0], 0.98, ROUNDS, QZ_JUDGED_HELPS), 0);
}
END_TEST

START_TEST(few_pairs_tell_nothing)
{
	struct qz_pairs pairs = {0};
	const struct qz_pairs *all[] = {&pairs};
	struct qz_judgement j = qz_judge__of(all, 1, 0, 1);

	ck_assert_int_eq(j.verdict, QZ_JUDGED_UNKNOWN);
	ck_assert(j.ci < 0 && j.gain == 0);
	qz_pairs__add(&pairs, 50, 100);
	qz_pairs__add(&pairs, 51, 100);
	qz_pairs__add(&pairs, 51, 0);
	j = qz_judge__of(all, 1, 0, 1);
	ck_assert_int_eq(pairs.n, 2);
	ck_assert_int_eq(j.verdict, QZ_JUDGED_UNKNOWN);
	ck_assert(j.ci < 0 && fabs(j.gain - 0.495) < 1e-6);
	qz_pairs__add(&pairs, 50, 100);
	j = qz_judge__of(all, 1, 0, 1);
	ck_assert_int_eq(j.verdict, QZ_JUDGED_HELPS);
	ck_assert(j.ci > 0 && j.ci < 0.2 && !j.enough);
}
END_TEST

/* Pairs of anything from a tenth to ten times. */
START_TEST(intervals_wider_than_the_time_are_none)
{
	struct qz_pairs pairs = {.n = 4, .ratio = {.1, 10, 1, 3}};
	const struct qz_pairs *all[] = {&pairs};
	struct qz_judgement j = qz_judge__of(all, 1, 0, 1);

	ck_assert_int_eq(j.verdict, QZ_JUDGED_UNKNOWN);
	ck_assert(j.ci < 0 && !j.enough);
}
END_TEST

/* Half of the pairs gain much, the others nothing: that is another program, not a remedy. */
START_TEST(pairs_have_to_agree)
{
	struct qz_pairs pairs = {.n = 8, .ratio = {.5, 1.01, .5, 1.01, .5, .5, 1.01, .5}};
	struct qz_pairs quiet[6];
	const struct qz_pairs *all[7] = {&pairs};

	for (int i = 0; i < 6; i++) {
		quiet[i] = (struct qz_pairs) {.n = 32};
		for (int k = 0; k < 32; k++)
			quiet[i].ratio[k] = 1 + .001 * (k % 3);
		all[i + 1] = &quiet[i];
	}
	ck_assert_int_eq(qz_judge__of(all, 7, 0, 7).verdict, QZ_JUDGED_UNKNOWN);
	pairs = (struct qz_pairs) {.n = 8, .ratio = {.5, .5, .5, 1.01, .5, .5, .5, .5}};
	ck_assert_int_eq(qz_judge__of(all, 7, 0, 7).verdict, QZ_JUDGED_HELPS);
}
END_TEST

/* More verdicts need wider intervals. */
START_TEST(intervals_widen_with_their_number)
{
	struct qz_pairs pairs = {.n = 6, .ratio = {.9, .93, .95, .91, .97, .92}};
	const struct qz_pairs *all[] = {&pairs};

	ck_assert(qz_judge__of(all, 1, 0, 20).ci > 1.3 * qz_judge__of(all, 1, 0, 1).ci);
	/* the two-sided quantiles of 5 % and 0.1 % */
	ck_assert(fabs(qz_noise__deviations(0.05) - 1.96) < 0.001);
	ck_assert(fabs(qz_noise__deviations(0.001) - 3.2905) < 0.001);
}
END_TEST

Suite *suite_judge(void)
{
	Suite *s = suite_create("judge");
	TCase *c = tcase_create("judge");

	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, nothing_helps_by_chance, 0, NWORLDS);
	tcase_add_test(c, what_helps_is_found);
	tcase_add_test(c, what_harms_is_found);
	tcase_add_test(c, what_does_nothing_is_told);
	tcase_add_test(c, few_pairs_tell_nothing);
	tcase_add_test(c, intervals_wider_than_the_time_are_none);
	tcase_add_test(c, pairs_have_to_agree);
	tcase_add_test(c, intervals_widen_with_their_number);
	suite_add_tcase(s, c);
	return s;
}
