/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>

#include "daemon/collect/round_join.h"
#include "daemon/kernel/timer_phase.h"
#include "tests/unit/failing.h"
#include "tests/unit/suites.h"

#define MOST 20000

static struct round_answer answers[MOST];
static uint32_t n;

/* Of thread `serial`, which spins at a spot or, with 0, is busy. */
static void answer(uint32_t round, uint32_t scope, uint32_t serial, uint16_t level, uint64_t spot)
{
	ck_assert_uint_lt(n, MOST);
	answers[n++] = (struct round_answer) {.round = round,
					      .scope = scope,
					      .serial = serial,
					      .level = level,
					      .machine = 4,
					      .spot = spot,
					      .spinning = spot};
}

/* Threads 1 and 2 of scope 0, all that runs. */
static void both(uint32_t round, uint64_t first, uint64_t second)
{
	answer(round, 0, 1, 2, first);
	answer(round, 0, 2, 2, second);
}

static struct round_figures join(void)
{
	struct round_join *j = round_join__new();
	struct round_figures f;

	ck_assert_ptr_nonnull(j);
	ck_assert_int_eq(round_join__run(j, answers, n), 0);
	f = *round_join__figures(j);
	round_join__free(j);
	return f;
}

static void setup(void)
{
	n = 0;
}

START_TEST(those_that_spin_are_not_busy)
{
	answer(0, 0, 1, 3, 0);
	answer(0, 0, 2, 3, 7);
	answer(0, 0, 3, 3, 0);
	answer(0, 5, 9, 1, 0);
	answer(1, 5, 9, 1, 7);
	join();
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_uint_eq(answers[i].busy, 2);
	ck_assert_uint_eq(answers[3].busy, 1);
	for (uint32_t i = 0; i < 4; i++)
		ck_assert_uint_eq(answers[i].machine_busy, 3);
	ck_assert_uint_eq(answers[4].busy, 0);
	ck_assert_uint_eq(answers[4].machine_busy, 3);
}
END_TEST

START_TEST(who_gave_no_answer_is_busy)
{
	struct round_figures f;

	answer(0, 0, 1, 4, 7);
	answer(0, 0, 2, 4, 7);
	f = join();
	ck_assert_uint_eq(answers[0].busy, 2);
	ck_assert_uint_eq(f.rounds, 1);
	ck_assert_uint_eq(f.unanswered, 2);
	ck_assert_uint_eq(f.impossible, 0);
}
END_TEST

/* The last answer is of a processor that the host had stopped. */
static void stopped(void)
{
	answers[n - 1].late = true;
}

/* And it is told by a later sample only. */
static void missed(void)
{
	stopped();
	answers[n - 1].missed = true;
}

START_TEST(who_was_stopped_is_what_it_was_found_doing)
{
	struct round_figures f;

	answer(0, 0, 3, 1, 7);
	missed();
	answer(0, 0, 1, 4, 7);
	answer(0, 0, 4, 4, 0);
	missed();
	answer(0, 0, 2, 4, 7);
	f = join();
	ck_assert_uint_eq(f.unanswered, 0);
	ck_assert_uint_eq(f.told_later, 2);
	for (uint32_t i = 0; i < n; i++)
		if (!answers[i].missed) {
			ck_assert_uint_eq(answers[i].busy, 1);
			ck_assert_uint_eq(answers[i].machine_busy, 1);
			ck_assert(answers[i].doubtful);
		}
}
END_TEST

/* All that ran have answered, or it has itself, or none has. */
START_TEST(who_did_not_run_was_not_stopped)
{
	struct round_figures f;

	both(0, 7, 0);
	answer(0, 0, 3, 2, 7);
	missed();
	answer(1, 0, 1, 3, 0);
	answer(1, 0, 1, 3, 7);
	missed();
	answer(2, 0, 1, 2, 7);
	missed();
	f = join();
	ck_assert_uint_eq(f.rounds, 2);
	ck_assert_uint_eq(f.told_later, 0);
	ck_assert_uint_eq(f.unanswered, 2);
	ck_assert_uint_eq(answers[0].busy, 1);
	ck_assert_uint_eq(answers[3].busy, 3);
}
END_TEST

/* Each says its own level, between which a thread came. */
START_TEST(levels_of_a_round_may_differ)
{
	answer(0, 0, 1, 1, 7);
	answer(0, 0, 2, 2, 0);
	join();
	ck_assert_uint_eq(answers[0].busy, 0);
	ck_assert_uint_eq(answers[1].busy, 1);
}
END_TEST

START_TEST(an_impossible_round_moves_another_one)
{
	struct round_figures f;

	both(0, 7, 0);
	both(1, 0, 0);
	both(2, 0, 7);
	both(3, 7, 7);
	both(4, 7, 0);
	f = join();
	for (uint32_t i = 0; i < n; i++) {
		ck_assert_uint_eq(answers[i].busy, 1);
		ck_assert_int_eq(answers[i].doubtful, i / 2 == 1 || i / 2 == 3);
	}
	ck_assert_uint_eq(f.impossible, 1);
	ck_assert_uint_eq(f.moved, 1);
}
END_TEST

START_TEST(what_is_owed_is_paid_later)
{
	struct round_join *j = round_join__new();

	both(0, 7, 7);
	both(1, 7, 0);
	ck_assert_int_eq(round_join__run(j, answers, n), 0);
	ck_assert_uint_eq(answers[0].busy, 1);
	ck_assert_uint_eq(round_join__figures(j)->moved, 0);
	n = 0;
	both(0, 0, 0);
	both(1, 0, 0);
	ck_assert_int_eq(round_join__run(j, answers, n), 0);
	ck_assert_uint_eq(answers[0].busy, 1);
	ck_assert_uint_eq(answers[2].busy, 2);
	ck_assert_uint_eq(round_join__figures(j)->moved, 1);
	round_join__free(j);
}
END_TEST

/* No thread gets on while these run, or others ran in between, or one of them has not answered. */
START_TEST(all_may_spin)
{
	struct round_figures f;

	both(0, 7, 7);
	both(1, 7, 7);
	answer(2, 0, 1, 2, 7);
	answer(2, 0, 3, 2, 0);
	both(3, 7, 7);
	answer(4, 0, 1, 3, 7);
	answer(4, 0, 2, 3, 7);
	both(20, 7, 7);
	both(40, 0, 7);
	answer(41, 0, 1, 1, 7);
	answer(42, 0, 1, 1, 0);
	f = join();
	ck_assert_uint_eq(f.impossible, 0);
	ck_assert_uint_eq(answers[0].busy, 0);
	ck_assert_uint_eq(answers[2].busy, 0);
	ck_assert_uint_eq(answers[6].busy, 0);
}
END_TEST

/* All wait for a thread that the host has stopped, and that goes on afterwards. */
START_TEST(all_spin_while_one_is_stopped)
{
	both(0, 7, 7);
	stopped();
	both(1, 7, 7);
	stopped();
	both(2, 7, 0);
	ck_assert_uint_eq(join().impossible, 0);
	ck_assert_uint_eq(answers[0].busy, 0);
	ck_assert_uint_eq(answers[2].busy, 0);
}
END_TEST

START_TEST(none_spins_for_one_that_is_stopped_while_others_go_on)
{
	both(0, 7, 7);
	stopped();
	both(1, 0, 7);
	ck_assert_uint_eq(join().impossible, 1);
	ck_assert_uint_eq(answers[0].busy, 1);
	n = 0;
	both(0, 0, 7);
	both(1, 7, 7);
	stopped();
	ck_assert_uint_eq(join().impossible, 1);
	ck_assert_uint_eq(answers[2].busy, 1);
}
END_TEST

/* At one spot: one lock. At several, only where it is for a moment. */
START_TEST(what_lasts_at_several_spots_is_possible)
{
	for (uint32_t i = 0; i < 20; i++)
		both(i, 7, 8);
	both(20, 7, 0);
	ck_assert_uint_eq(join().impossible, 2);
	n = 0;
	for (uint32_t i = 0; i < 20; i++)
		both(i, 7, 7);
	both(20, 7, 0);
	ck_assert_uint_eq(join().impossible, 20);
}
END_TEST

/*
 * Threads of which one has a lock at each moment, for turns that are shorter or longer than the processors' answers
 * are apart. What is conserved: each busy answer that is too much is taken from an impossible round, and the sum of
 * what is left is what both began with.
 */
START_TEST(rounds_are_moved_and_none_is_made)
{
	static const double turns[] = {0.1, 0.9, 3.3, 40};
	unsigned int seed = 1;
	uint64_t owed = 0, many = 0, all = 0;
	struct round_figures f;

	for (uint32_t round = 0; round < 4000; round++) {
		uint32_t busy = 0;

		for (uint32_t thread = 0; thread < 4; thread++) {
			double when = 1000.7 * round + 2.0 * rand_r(&seed) / RAND_MAX;
			bool has = (uint64_t)(when / turns[_i]) % 4 == thread;

			busy += has;
			answer(round, 0, thread + 1, 4, has ? 0 : 7);
		}
		many += busy > 1 ? busy - 1 : 0;
	}
	f = join();
	ck_assert_uint_eq(f.rounds, 4000);
	for (uint32_t i = 0; i < n; i += 4) {
		ck_assert_uint_ge(answers[i].busy, 1);
		all += answers[i].busy;
	}
	owed = f.impossible - f.moved;
	ck_assert(!owed || f.moved == many);
	ck_assert_uint_eq(all, 4000 + many - f.moved);
}
END_TEST

START_TEST(rounds_without_memory)
{
	struct round_join *j = round_join__new();
	unsigned int refused = 0;
	bool failed = true;

	for (uint32_t i = 0; i < 40; i++)
		both(i, i % 2 ? 7 : 0, 7);
	for (unsigned int nth = 1; failed; nth++) {
		int err;

		failing__arm(nth);
		err = round_join__run(j, answers, n);
		failed = failing__disarm();
		/* memory that is not given back is no failure */
		ck_assert(!err || (failed && err == -ENOMEM));
		refused += err == -ENOMEM;
	}
	ck_assert_uint_ge(refused, 4);
	ck_assert_uint_eq(answers[0].busy, 1);
	round_join__free(j);
}
END_TEST

/* ---- schedules ---- */

START_TEST(streams_make_up_a_rate)
{
	struct timer_schedule s;
	double rate = 0;

	timer_schedule__init(&s, 1001001);
	for (uint32_t i = 0; i < TIMER_STREAMS; i++) {
		rate += 1e9 / (double)s.period[i];
		ck_assert_uint_eq(s.period[i] % TIMER_STREAMS, i);
	}
	ck_assert_double_le(rate, 999.1);
	ck_assert_double_ge(rate, 998.9);
}
END_TEST

START_TEST(a_late_time_is_of_the_instant_before)
{
	struct timer_schedule s = {.origin = {100000000}, .period = {1000000}};

	ck_assert_int_eq(timer_schedule__round(&s, 0, 100000000), 0);
	ck_assert_int_eq(timer_schedule__round(&s, 0, 99999000), 0);
	ck_assert_int_eq(timer_schedule__round(&s, 0, 100900000), 0);
	ck_assert_int_eq(timer_schedule__round(&s, 0, 100999000), 1);
	ck_assert_int_eq(timer_schedule__round(&s, 0, 99900000), -1);
	for (int64_t k = -3; k < 3; k++)
		ck_assert_int_eq(timer_schedule__round(&s, 0, timer_schedule__instant(&s, 0, k)),
				 k);
}
END_TEST

START_TEST(between_instants_there_is_none)
{
	struct timer_schedule s;

	timer_schedule__init(&s, 1001001);
	for (uint64_t time = 0; time < 100000000; time += 77777) {
		uint64_t at = timer_schedule__between(&s, time);

		ck_assert_uint_ge(at, time);
		for (uint32_t i = 0; i < TIMER_STREAMS; i++) {
			int64_t k = timer_schedule__round(&s, i, at);

			ck_assert_int_gt(llabs((int64_t)(at - timer_schedule__instant(&s, i, k))),
					 60000);
		}
	}
}
END_TEST

Suite *suite_round_join(void)
{
	Suite *s = suite_create("round_join");
	TCase *tc = tcase_create("all");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, those_that_spin_are_not_busy);
	tcase_add_test(tc, who_gave_no_answer_is_busy);
	tcase_add_test(tc, who_was_stopped_is_what_it_was_found_doing);
	tcase_add_test(tc, who_did_not_run_was_not_stopped);
	tcase_add_test(tc, levels_of_a_round_may_differ);
	tcase_add_test(tc, an_impossible_round_moves_another_one);
	tcase_add_test(tc, what_is_owed_is_paid_later);
	tcase_add_test(tc, all_may_spin);
	tcase_add_test(tc, all_spin_while_one_is_stopped);
	tcase_add_test(tc, none_spins_for_one_that_is_stopped_while_others_go_on);
	tcase_add_test(tc, what_lasts_at_several_spots_is_possible);
	tcase_add_loop_test(tc, rounds_are_moved_and_none_is_made, 0, 4);
	tcase_add_test(tc, rounds_without_memory);
	tcase_add_test(tc, streams_make_up_a_rate);
	tcase_add_test(tc, a_late_time_is_of_the_instant_before);
	tcase_add_test(tc, between_instants_there_is_none);
	suite_add_tcase(s, tc);
	return s;
}
