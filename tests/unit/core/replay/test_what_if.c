/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs whose time without a procedure is known, and what a replay of them as they are says of it. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/advise/zeroing.h"
#include "core/replay/log_replay.h"
#include "core/replay/what_if.h"
#include "tests/unit/core/replay/machine.h"
#include "tests/unit/suites.h"

#define PERIOD	   1001001
#define PROCEDURES 4

/* clang-format off: a thread is a line */
static const struct program programs[] = {
	{"parse -> render, then sum",
	 2,
	 0,
	 {
		 {{START, 1},
		  {GET, 0},
		  {RUN, 2, 4400},
		  {REPEAT, 1, 200},
		  {JOIN, 1},
		  {RUN, 3, 265000},
		  {EXIT}},
		 {{RUN, 1, 2650}, {PUT, 0}, {REPEAT, 0, 200}, {EXIT}},
	 },
	 {8},
	 true,
	 true},
	{"two stages, the first one slower",
	 2,
	 30,
	 {
		 {{START, 1},
		  {RUN, 1, 3000},
		  {PUT, 0},
		  {REPEAT, 1, 400},
		  {SHUT, 0},
		  {JOIN, 1},
		  {EXIT}},
		 {{GET, 0}, {RUN, 2, 2000}, {REPEAT, 0, 400}, {EXIT}},
	 },
	 {4},
	 false,
	 true},
	{"two stages, much the same",
	 2,
	 50,
	 {
		 {{START, 1}, {RUN, 1, 2000}, {PUT, 0}, {REPEAT, 1, 600}, {JOIN, 1}, {EXIT}},
		 {{GET, 0}, {RUN, 2, 2000}, {REPEAT, 0, 600}, {EXIT}},
	 },
	 {4},
	 false,
	 true},
	{"three stages, two processors",
	 2,
	 20,
	 {
		 {{START, 1},
		  {START, 2},
		  {RUN, 1, 800},
		  {PUT, 0},
		  {REPEAT, 2, 800},
		  {JOIN, 1},
		  {JOIN, 2},
		  {EXIT}},
		 {{GET, 0}, {RUN, 2, 2000}, {PUT, 1}, {REPEAT, 0, 800}, {EXIT}},
		 {{GET, 1}, {RUN, 3, 1000}, {REPEAT, 0, 800}, {EXIT}},
	 },
	 {8, 8}},
	{"three stages, four processors",
	 4,
	 20,
	 {
		 {{START, 1},
		  {START, 2},
		  {RUN, 1, 1500},
		  {PUT, 0},
		  {REPEAT, 2, 500},
		  {JOIN, 1},
		  {JOIN, 2},
		  {EXIT}},
		 {{GET, 0}, {RUN, 2, 1000}, {PUT, 1}, {REPEAT, 0, 500}, {EXIT}},
		 {{GET, 1}, {RUN, 3, 2500}, {REPEAT, 0, 500}, {EXIT}},
	 },
	 {8, 8},
	 false,
	 true},
	{"four stages, two processors",
	 2,
	 20,
	 {
		 {{START, 1},
		  {START, 2},
		  {START, 3},
		  {RUN, 1, 500},
		  {PUT, 0},
		  {REPEAT, 3, 500},
		  {JOIN, 1},
		  {JOIN, 2},
		  {JOIN, 3},
		  {EXIT}},
		 {{GET, 0}, {RUN, 2, 700}, {PUT, 1}, {REPEAT, 0, 500}, {EXIT}},
		 {{GET, 1}, {RUN, 3, 1500}, {PUT, 2}, {REPEAT, 0, 500}, {EXIT}},
		 {{GET, 2}, {RUN, 4, 700}, {REPEAT, 0, 500}, {EXIT}},
	 },
	 {8, 8, 8}},
	{"four stages, four processors",
	 4,
	 20,
	 {
		 {{START, 1},
		  {START, 2},
		  {START, 3},
		  {RUN, 1, 1500},
		  {PUT, 0},
		  {REPEAT, 3, 500},
		  {JOIN, 1},
		  {JOIN, 2},
		  {JOIN, 3},
		  {EXIT}},
		 {{GET, 0}, {RUN, 2, 2700}, {PUT, 1}, {REPEAT, 0, 500}, {EXIT}},
		 {{GET, 1}, {RUN, 3, 1800}, {PUT, 2}, {REPEAT, 0, 500}, {EXIT}},
		 {{GET, 2}, {RUN, 4, 700}, {REPEAT, 0, 500}, {EXIT}},
	 },
	 {4, 4, 4},
	 false,
	 true},
	{"a lock, two threads",
	 2,
	 10,
	 {
		 {{START, 1},
		  {LOCK, 0},
		  {RUN, 1, 1000},
		  {RUN, 2, 1000},
		  {UNLOCK, 0},
		  {RUN, 3, 500},
		  {REPEAT, 1, 300},
		  {JOIN, 1},
		  {EXIT}},
		 {{LOCK, 0},
		  {RUN, 1, 1000},
		  {RUN, 2, 1000},
		  {UNLOCK, 0},
		  {RUN, 3, 500},
		  {REPEAT, 0, 300},
		  {EXIT}},
	 },
	 {0},
	 false,
	 true},
	{"a lock, four threads, not always taken",
	 4,
	 60,
	 {
		 {{START, 1},
		  {START, 2},
		  {START, 3},
		  {LOCK, 0},
		  {RUN, 1, 500},
		  {UNLOCK, 0},
		  {RUN, 2, 2000},
		  {REPEAT, 3, 500},
		  {JOIN, 1},
		  {JOIN, 2},
		  {JOIN, 3},
		  {EXIT}},
		 {{LOCK, 0}, {RUN, 1, 500}, {UNLOCK, 0}, {RUN, 2, 2000}, {REPEAT, 0, 500}, {EXIT}},
		 {{LOCK, 0}, {RUN, 1, 500}, {UNLOCK, 0}, {RUN, 2, 2000}, {REPEAT, 0, 500}, {EXIT}},
		 {{LOCK, 0}, {RUN, 1, 500}, {UNLOCK, 0}, {RUN, 2, 2000}, {REPEAT, 0, 500}, {EXIT}},
	 },
	 {0}},
	{"three threads meet, two processors",
	 2,
	 10,
	 {
		 {{START, 1},
		  {START, 2},
		  {RUN, 1, 1000},
		  {RUN, 2, 1000},
		  {MEET, 0},
		  {REPEAT, 2, 500},
		  {JOIN, 1},
		  {JOIN, 2},
		  {EXIT}},
		 {{RUN, 3, 600}, {MEET, 0}, {REPEAT, 0, 500}, {EXIT}},
		 {{RUN, 4, 600}, {MEET, 0}, {REPEAT, 0, 500}, {EXIT}},
	 },
	 {3}},
	{"four threads meet, four processors",
	 4,
	 50,
	 {
		 {{START, 1},
		  {START, 2},
		  {START, 3},
		  {RUN, 1, 2000},
		  {RUN, 2, 1000},
		  {MEET, 0},
		  {REPEAT, 3, 400},
		  {JOIN, 1},
		  {JOIN, 2},
		  {JOIN, 3},
		  {EXIT}},
		 {{RUN, 1, 1000}, {RUN, 3, 1000}, {MEET, 0}, {REPEAT, 0, 400}, {EXIT}},
		 {{RUN, 3, 2500}, {MEET, 0}, {REPEAT, 0, 400}, {EXIT}},
		 {{RUN, 4, 2200}, {MEET, 0}, {REPEAT, 0, 400}, {EXIT}},
	 },
	 {4}},
	{"a pool of three, four processors",
	 4,
	 80,
	 {
		 {{START, 1},
		  {START, 2},
		  {START, 3},
		  {RUN, 1, 300},
		  {PUT, 0},
		  {REPEAT, 3, 1500},
		  {SHUT, 0},
		  {JOIN, 1},
		  {JOIN, 2},
		  {JOIN, 3},
		  {EXIT}},
		 {{GET, 0}, {RUN, 2, 1000}, {RUN, 3, 800}, {REPEAT, 0, 9999}, {EXIT}},
		 {{GET, 0}, {RUN, 2, 1000}, {RUN, 3, 800}, {REPEAT, 0, 9999}, {EXIT}},
		 {{GET, 0}, {RUN, 2, 1000}, {RUN, 3, 800}, {REPEAT, 0, 9999}, {EXIT}},
	 },
	 {16},
	 false,
	 true},
	{"a pool of two that waits for work",
	 2,
	 50,
	 {
		 {{START, 1},
		  {START, 2},
		  {RUN, 1, 1500},
		  {PUT, 0},
		  {REPEAT, 2, 700},
		  {SHUT, 0},
		  {JOIN, 1},
		  {JOIN, 2},
		  {EXIT}},
		 {{GET, 0}, {RUN, 2, 1000}, {RUN, 3, 300}, {REPEAT, 0, 9999}, {EXIT}},
		 {{GET, 0}, {RUN, 2, 1000}, {RUN, 3, 300}, {REPEAT, 0, 9999}, {EXIT}},
	 },
	 {1000}},
	{"a lock whose holder sleeps",
	 2,
	 20,
	 {
		 {{START, 1},
		  {START, 2},
		  {LOCK, 0},
		  {RUN, 1, 500},
		  {NAP, 0, 1000},
		  {UNLOCK, 0},
		  {RUN, 2, 2000},
		  {REPEAT, 2, 250},
		  {JOIN, 1},
		  {JOIN, 2},
		  {EXIT}},
		 {{LOCK, 0},
		  {RUN, 1, 500},
		  {NAP, 0, 1000},
		  {UNLOCK, 0},
		  {RUN, 2, 2000},
		  {REPEAT, 0, 250},
		  {EXIT}},
		 {{LOCK, 0},
		  {RUN, 1, 500},
		  {NAP, 0, 1000},
		  {UNLOCK, 0},
		  {RUN, 2, 2000},
		  {REPEAT, 0, 250},
		  {EXIT}},
	 },
	 {0}},
	{"a token goes round",
	 2,
	 20,
	 {
		 {{START, 1},
		  {START, 2},
		  {RUN, 1, 800},
		  {PUT, 0},
		  {GET, 2},
		  {REPEAT, 2, 500},
		  {JOIN, 1},
		  {JOIN, 2},
		  {EXIT}},
		 {{GET, 0}, {RUN, 2, 1600}, {PUT, 1}, {REPEAT, 0, 500}, {EXIT}},
		 {{GET, 1}, {RUN, 3, 800}, {PUT, 2}, {REPEAT, 0, 500}, {EXIT}},
	 },
	 {8, 8, 8},
	 false,
	 true},
	{"a thread for each turn",
	 2,
	 20,
	 {
		 {{START, 1}, {RUN, 1, 1000}, {JOIN, 1}, {RUN, 2, 300}, {REPEAT, 0, 500}, {EXIT}},
		 {{RUN, 3, 1500}, {RUN, 4, 500}, {EXIT}},
	 },
	 {0},
	 false,
	 true},
	{"four threads, two processors",
	 2,
	 10,
	 {
		 {{START, 1},
		  {START, 2},
		  {START, 3},
		  {RUN, 1, 1000},
		  {RUN, 2, 1000},
		  {REPEAT, 3, 400},
		  {JOIN, 1},
		  {JOIN, 2},
		  {JOIN, 3},
		  {EXIT}},
		 {{RUN, 1, 1000}, {RUN, 2, 1000}, {REPEAT, 0, 400}, {EXIT}},
		 {{RUN, 1, 1000}, {RUN, 2, 1000}, {REPEAT, 0, 400}, {EXIT}},
		 {{RUN, 1, 1000}, {RUN, 3, 1000}, {REPEAT, 0, 400}, {EXIT}},
	 },
	 {0}},
};
/* clang-format on */

/* For a program that is to run, as scope 0. */
static struct replay *replay_for(const struct program *p)
{
	struct replay_options options = {.processors = p->processors, .what_if = true};
	struct replay *r = replay__new(&options);

	ck_assert_ptr_nonnull(r);
	ck_assert_int_eq(replay__open_scope(r, MACHINE_PID, true, MACHINE_BEGAN), 0);
	return r;
}

static struct replay *look_at(const struct program *p, uint64_t seed)
{
	struct replay *r = replay_for(p);
	struct machine_options m = {.seed = seed, .replay = r, .period_ns = PERIOD};

	for (uint32_t i = 0; i < PROCEDURES + 1; i++)
		replay__know_candidate(r, i);
	machine__run(p, &m);
	return r;
}

static struct replay_what_if predict(const struct program *p, uint64_t seed)
{
	struct replay *r = look_at(p, seed);
	struct replay_what_if w;

	ck_assert_int_eq(replay__what_if(r, 0, &w), 0);
	replay__free(r);
	return w;
}

static bool has(const struct program *p, uint32_t procedure)
{
	for (uint32_t t = 0; t < MACHINE_THREADS; t++)
		for (uint32_t i = 0; i < MACHINE_ACTIONS; i++)
			if (p->threads[t][i].kind == RUN && p->threads[t][i].n == procedure)
				return true;
	return false;
}

/* ---- gains ---- */

struct tally {
	uint32_t n, near, inside;
	bool tells; /* QUARTZ_WHAT_IF=1: prints each figure beside the truth, in percent of the elapsed time */
};

static double percent_of(uint64_t ns, uint64_t elapsed)
{
	return 100 * (1 - (double)ns / (double)elapsed);
}

static void compare(struct tally *tally, const struct program *p, const struct replay_what_if *w,
		    const struct machine_options *without, uint32_t speed)
{
	uint32_t c = without->procedure - 1;
	double truth = percent_of(machine__run(p, without), w->elapsed_ns);
	double told = percent_of(w->run_ns[c][speed], w->elapsed_ns);
	double low = percent_of(w->high_ns[c][speed], w->elapsed_ns);
	double high = percent_of(w->low_ns[c][speed], w->elapsed_ns);
	bool near = fabs(told - truth) <= 3;

	tally->n++;
	tally->near += near;
	tally->inside += near || (truth >= low && truth <= high);
	if (tally->tells)
		printf("%-40s %u at %2u %%: %5.1f (%5.1f to %5.1f), truth %5.1f%s\n", p->name,
		       without->procedure, without->percent, told, low, high, truth,
		       near ? "" : " *");
}

static void compare_all(struct tally *tally, const struct program *p, uint64_t seed)
{
	static const uint32_t percent[REPLAY_SPEEDS] = {0, 50, 75};
	struct replay_what_if w = predict(p, seed);
	struct machine_options without = {.seed = seed};

	ck_assert_uint_eq(w.elapsed_ns, machine__run(p, &without));
	ck_assert_double_le(fabs(percent_of(w.again_ns, w.elapsed_ns)), 2);
	for (without.procedure = 1; without.procedure <= PROCEDURES; without.procedure++)
		for (uint32_t k = 0; has(p, without.procedure) && k < REPLAY_SPEEDS; k++) {
			without.percent = percent[k];
			compare(tally, p, &w, &without, k);
		}
}

#define SEEDS 4

/* Where each thread has a processor and what it waits for is seen, all figures are near; of all, nine of ten. */
START_TEST(gains)
{
	struct tally all = {.tells = getenv("QUARTZ_WHAT_IF")}, easy = all;

	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		for (uint64_t seed = 1; seed <= SEEDS; seed++)
			compare_all(programs[i].easy ? &easy : &all, &programs[i], seed);
	ck_assert_uint_eq(easy.near, easy.n);
	all.n += easy.n;
	all.near += easy.near;
	all.inside += easy.inside;
	if (all.tells)
		printf("%u of %u within 3 %%, %u inside\n", all.near, all.n, all.inside);
	ck_assert_uint_ge(10 * all.near, 9 * all.n);
	ck_assert_uint_ge(100 * all.inside, 93 * all.n);
}
END_TEST

/* ---- rules ---- */

/* One that was never met, and one that is not known. */
START_TEST(nothing_to_gain)
{
	struct replay_what_if w = predict(&programs[0], 1);

	for (uint32_t k = 0; k < REPLAY_SPEEDS; k++) {
		ck_assert_uint_le(w.elapsed_ns - w.run_ns[PROCEDURES][k], 1);
		ck_assert_uint_eq(w.run_ns[PROCEDURES + 1][k], 0);
	}
	ck_assert_uint_eq(w.work_ns[PROCEDURES], 0);
}
END_TEST

START_TEST(nobody_asked)
{
	struct replay_options options = {.processors = 1};
	struct replay *r = replay__new(&options);
	struct replay_what_if w;

	replay__know_candidate(r, 0);
	ck_assert_int_eq(replay__what_if(r, 0, &w), -ENOENT);
	replay__free(r);
}
END_TEST

/* The second thread of the lock's program waits for the first one's sections: without the lock, both run at once. */
START_TEST(an_object)
{
	static const struct program p = {"a lock",
					 2,
					 0,
					 {
						 {{START, 1},
						  {LOCK, 0},
						  {RUN, 1, 2000},
						  {UNLOCK, 0},
						  {RUN, 2, 500},
						  {REPEAT, 1, 300},
						  {JOIN, 1},
						  {EXIT}},
						 {{LOCK, 0},
						  {RUN, 1, 2000},
						  {UNLOCK, 0},
						  {RUN, 2, 500},
						  {REPEAT, 0, 300},
						  {EXIT}},
					 },
					 {0},
					 false,
					 true};
	struct replay *r = look_at(&p, 1);
	struct replay_what_if w;
	double all, half;

	ck_assert_int_eq(replay__set_candidate_object(r, 0, PROCEDURES + 1), 0);
	replay__know_candidate(r, PROCEDURES + 1);
	ck_assert_int_eq(replay__what_if(r, 0, &w), 0);
	all = percent_of(w.run_ns[PROCEDURES + 1][0], w.elapsed_ns);
	half = percent_of(w.run_ns[PROCEDURES + 1][1], w.elapsed_ns);
	ck_assert_double_eq_tol(all, 100 * (1 - 2.5 / 4), 2); /* 2.5 ms a turn instead of 4 */
	ck_assert_double_ge(half, 5);
	ck_assert_double_le(half, all);
	replay__free(r);
}
END_TEST

/* Two threads that work in turns, so many us each, so many times. */
static struct program token(uint32_t first_us, uint32_t second_us, uint32_t times)
{
	return (struct program) {
		"a token goes round",
		2,
		20,
		{
			{{START, 1},
			 {RUN, 1, first_us},
			 {PUT, 0},
			 {GET, 1},
			 {REPEAT, 1, times},
			 {JOIN, 1},
			 {EXIT}},
			{{GET, 0}, {RUN, 2, second_us}, {PUT, 1}, {REPEAT, 0, times}, {EXIT}},
		},
		{8, 8},
		false,
		true};
}

/* Samples of the first half do not know the candidate: those of the same code later tell of it. */
START_TEST(known_late)
{
	const struct program p = token(1000, 1000, 600);
	struct replay *r = replay_for(&p);
	struct machine_options m = {
		.seed = 1, .replay = r, .period_ns = PERIOD, .known_at = 600000000};
	struct replay_what_if w;

	machine__run(&p, &m);
	ck_assert_int_eq(replay__what_if(r, 0, &w), 0);
	ck_assert_double_eq_tol(percent_of(w.run_ns[1][0], w.elapsed_ns), 50, 3);
	ck_assert_uint_gt(w.work_ns[1], w.elapsed_ns / 100 * 47);
	replay__free(r);
}
END_TEST

struct again {
	struct replay *replay;
	bool done;
};

#define AGAIN (MACHINE_BEGAN + 250000000) /* while the program sleeps */

static void begin_again(void *context, uint32_t cpu, const struct qz_log_record *record)
{
	struct again *again = context;

	if (!again->done && record->time >= AGAIN) {
		replay__restart_scope(again->replay, 0, AGAIN);
		again->done = true;
	}
	ck_assert_int_eq(replay__apply(again->replay, cpu, record), 0);
}

/* What was before its clock started anew is no part of the run, and none of what it would be. */
START_TEST(a_clock_that_starts_anew)
{
	static const struct program p = {
		"sleep, then work",
		2,
		0,
		{{{NAP, 0, 300000}, {RUN, 1, 200000}, {RUN, 2, 250000}, {EXIT}}},
		{0},
		false,
		true};
	struct again again = {.replay = replay_for(&p)};
	struct machine_options m = {
		.seed = 1, .write = begin_again, .context = &again, .period_ns = PERIOD};
	struct replay_what_if w;

	replay__know_candidate(again.replay, 0);
	machine__run(&p, &m);
	ck_assert_int_eq(replay__what_if(again.replay, 0, &w), 0);
	ck_assert_uint_eq(w.kept_ns, w.elapsed_ns);
	ck_assert_double_eq_tol((double)w.elapsed_ns, 500e6, 5e6);
	ck_assert_double_eq_tol((double)w.run_ns[0][0], 300e6, 5e6);
	ck_assert_double_eq_tol((double)w.outside_ns, 50e6, 2e6);
	replay__free(again.replay);
}
END_TEST

/* More steps than are kept: those that are stand for all, also where candidates are known when there is no room any more. */
START_TEST(a_long_run)
{
	const struct program p = token(100, 300, 50000);
	struct replay_what_if w = predict(&p, 1);
	struct machine_options m = {.seed = 1, .period_ns = PERIOD};

	ck_assert_uint_lt(w.kept_ns, w.elapsed_ns);
	ck_assert_double_eq_tol(percent_of(w.run_ns[1][0], w.elapsed_ns), 72, 3);
	ck_assert_double_eq_tol(percent_of(w.work_ns[1], w.elapsed_ns), 28, 3);
	m.replay = replay_for(&p);
	m.known_at = w.elapsed_ns - w.elapsed_ns / 4;
	machine__run(&p, &m);
	ck_assert_int_eq(replay__what_if(m.replay, 0, &w), 0);
	ck_assert_uint_lt(w.kept_ns, w.elapsed_ns / 3);
	ck_assert_double_eq_tol(percent_of(w.run_ns[1][0], w.elapsed_ns), 72, 3);
	replay__free(m.replay);
}
END_TEST

/* The second thread is ended by the first one's exit: the run does not last as long as that one could have. */
START_TEST(who_is_ended_by_others)
{
	static const struct program p = {
		"a thread that does not end",
		2,
		0,
		{
			{{START, 1}, {RUN, 1, 300000}, {RUN, 2, 100000}, {EXIT}},
			{{RUN, 3, 400200}, {EXIT}},
		},
		{0},
		false,
		true};
	struct replay_what_if w = predict(&p, 1);

	ck_assert_double_eq_tol(percent_of(w.run_ns[0][0], w.elapsed_ns), 75, 2);
	ck_assert_double_eq_tol(percent_of(w.run_ns[2][0], w.elapsed_ns), 0, 1);
}
END_TEST

/* ---- from a log to what is told ---- */

static void write_record(void *context, uint32_t cpu, const struct qz_log_record *record)
{
	const struct qz_log_block block = {.kind = QZ_LOG_RECORDS, .number = cpu, .n = 1};

	ck_assert_int_eq(qz_log_writer__put(context, &block, record, sizeof(*record)), 0);
}

static struct qz_profile *profile_of(const struct program *p)
{
	struct qz_log_header header = {.magic = QZ_LOG_MAGIC,
				       .record_size = sizeof(struct qz_log_record),
				       .processors = p->processors,
				       .online = p->processors,
				       .began = MACHINE_BEGAN};
	struct qz_log_block block = {.kind = QZ_LOG_SCOPE,
				     .number = MACHINE_PID,
				     .n = QZ_LOG_FOLLOWS | QZ_LOG_COMMAND,
				     .until = MACHINE_BEGAN};
	int fd = memfd_create("log", MFD_CLOEXEC);
	struct qz_log_writer *writer = qz_log_writer__new(fd, &header);
	struct machine_options m = {
		.seed = 1, .write = write_record, .context = writer, .period_ns = PERIOD};
	struct log_replay_figures figures;
	struct qz_log_file *file;
	struct qz_profile *profile;

	ck_assert_int_eq(qz_log_writer__put(writer, &block, NULL, 0), 0);
	block = (struct qz_log_block) {.kind = QZ_LOG_END,
				       .until = MACHINE_BEGAN + machine__run(p, &m)};
	ck_assert_int_eq(qz_log_writer__put(writer, &block, NULL, 0), 0);
	ck_assert_int_eq(qz_log_writer__close(writer), 0);
	lseek(fd, 0, SEEK_SET);
	file = qz_log_file__new(fd, &header);
	profile = log_replay__profile(file, &header, &figures);
	ck_assert_ptr_nonnull(profile);
	qz_log_file__free(file);
	close(fd);
	return profile;
}

/* The figure is near the truth, and the run could not be shorter for what it says. */
static void expect(const char *program, const char *candidate, double gain,
		   enum qz_zeroing_limit limit)
{
	const struct program *p = programs;
	struct qz_zeroing z;
	struct qz_profile *profile;
	struct qz_report *r;

	while (strcmp(p->name, program) != 0)
		p++;
	profile = profile_of(p);
	r = qz_report__new(profile, 0);
	ck_assert_ptr_nonnull(qz_zeroing__of_name(r, candidate));
	z = qz_zeroing__find(r, qz_zeroing__of_name(r, candidate), 0);
	ck_assert_double_eq_tol(100 * (double)z.gain_ns / (double)r->elapsed_ns, gain, 3);
	ck_assert_int_eq(z.limit, limit);
	qz_report__free(r);
	qz_profile__free(profile);
}

START_TEST(what_limits_it)
{
	expect("parse -> render, then sum", "candidate 2", 30.7, QZ_ZEROING_PATH);
	expect("two stages, the first one slower", "candidate 1", 32, QZ_ZEROING_THREAD);
	expect("four threads, two processors", "candidate 1", 50, QZ_ZEROING_PROCESSORS);
}
END_TEST

Suite *suite_what_if(void)
{
	Suite *s = suite_create("what_if");
	TCase *tc = tcase_create("what_if");

	tcase_add_test(tc, gains);
	tcase_add_test(tc, nothing_to_gain);
	tcase_add_test(tc, nobody_asked);
	tcase_add_test(tc, an_object);
	tcase_add_test(tc, known_late);
	tcase_add_test(tc, a_clock_that_starts_anew);
	tcase_add_test(tc, a_long_run);
	tcase_add_test(tc, who_is_ended_by_others);
	tcase_add_test(tc, what_limits_it);
	suite_add_tcase(s, tc);
	return s;
}
