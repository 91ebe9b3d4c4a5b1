/* SPDX-License-Identifier: GPL-2.0-only */
/* The overhead governor, on costs of a machine that obeys it. */
#include <math.h>
#include <stdlib.h>

#include "core/estimate/estimate.h"
#include "core/model/overhead_governor.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define PROCESSORS 4
#define ONE_CENT   10000 /* per cent, in millionths */

/* What Quartz costs in a window, in millionths of the processors: at all rates, and at the full one. */
struct machine {
	struct qz_overhead_governor g;
	uint64_t now, idle_ns;
	struct qz_costs costs;
	double idle;			 /* share of the time of its processors */
	double fixed, variable, records; /* the last is there only while anything is measured */
};

static struct machine machine_new(uint32_t rate, double fixed, double variable)
{
	struct machine m = {.now = 1, .fixed = fixed, .variable = variable};

	qz_overhead_governor__init(&m.g, ONE_CENT, rate);
	return m;
}

static double costs_of(const struct machine *m)
{
	return m->fixed + ldexp(m->variable, -(int)m->g.halvings) +
	       ldexp(m->records, -(int)m->g.time_halvings);
}

/* The governor looks so often, a step of time after the other; gives how often the rate was changed. */
static int look(struct machine *m, int times, uint64_t step)
{
	const double processors_ns = PROCESSORS * (double)step / 1e6;
	int changes = 0;

	for (int i = 0; i < times; i++) {
		changes += qz_overhead_governor__update(&m->g, m->now, PROCESSORS, m->idle_ns,
							&m->costs);
		m->now += step;
		m->idle_ns += (uint64_t)(m->idle * (double)(PROCESSORS * step));
		m->costs.accounting_ns += (uint64_t)(m->fixed * processors_ns);
		m->costs.accounting_ns +=
			(uint64_t)(ldexp(m->records, -(int)m->g.time_halvings) * processors_ns / 2);
		m->costs.replay_ns +=
			(uint64_t)(ldexp(m->records, -(int)m->g.time_halvings) * processors_ns / 2);
		m->costs.daemon_ns +=
			(uint64_t)(ldexp(m->records, -(int)m->g.time_halvings) * processors_ns / 2);
		m->costs.sampling_ns +=
			(uint64_t)(ldexp(m->variable, -(int)m->g.halvings) * processors_ns);
	}
	return changes;
}

static int run(struct machine *m, int windows)
{
	return look(m, windows, QZ_GOVERNOR_WINDOW);
}

/* Two seconds after the start nothing was decided on, and it is no 0 % what Quartz has cost. */
START_TEST(costs_are_known_before_the_first_window_ends)
{
	struct machine m = machine_new(99, 0.2 * ONE_CENT, 0.3 * ONE_CENT);
	struct qz_overhead_governor seen;

	m.idle = 0.75;
	look(&m, 2, 1000000000);
	ck_assert_uint_eq(m.g.costs_ppm, 0);
	seen = qz_overhead_governor__so_far(&m.g, m.now, PROCESSORS, m.idle_ns, &m.costs);
	ck_assert_uint_ge(seen.costs_ppm, 4999);
	ck_assert_uint_le(seen.costs_ppm, 5000);
	ck_assert_uint_ge(seen.busy_ppm, 249999);
	ck_assert_uint_le(seen.busy_ppm, 250001);
	look(&m, 12, 1000000000);
	seen = qz_overhead_governor__so_far(&m.g, m.now, PROCESSORS, m.idle_ns, &m.costs);
	ck_assert_uint_gt(m.g.costs_ppm, 0);
	ck_assert_uint_eq(seen.costs_ppm, m.g.costs_ppm);
}
END_TEST

START_TEST(what_is_cheap_is_left_alone)
{
	struct machine m = machine_new(99, 4000, 5900);

	ck_assert_int_eq(run(&m, 100), 0);
	ck_assert_uint_eq(m.g.halvings, 0);
	ck_assert(m.g.costs_ppm >= 9890 && m.g.costs_ppm <= 9900);
	ck_assert_uint_eq(qz_costs__sum(&m.g.last) * 1000 / m.g.last_ns, m.g.costs_ppm / 1000);
	ck_assert(m.g.last.accounting_ns * 59 / 40 >= m.g.last.sampling_ns - 59 &&
		  m.g.last.accounting_ns * 59 / 40 <= m.g.last.sampling_ns + 59);
}
END_TEST

/* At once as far as is needed: one window is for the start, one to see. */
START_TEST(rates_are_lowered_until_it_fits)
{
	struct machine m = machine_new(999, 2000, 50000);

	ck_assert_int_eq(run(&m, 4), 1);
	ck_assert_uint_eq(m.g.halvings, 3); /* 2000 + 6250 */
	ck_assert_int_eq(run(&m, 100), 0);
	ck_assert(costs_of(&m) <= ONE_CENT);
}
END_TEST

/* Ten times what it may cost: a second is enough to see that, and another one for each halving. */
START_TEST(far_too_much_is_seen_at_once)
{
	struct machine m = machine_new(99, 1000, 1000);
	const uint64_t second = QZ_GOVERNOR_WINDOW / 10;

	ck_assert_int_eq(look(&m, 20, second), 0);
	m.variable = 120000;
	look(&m, 2, second);
	ck_assert_uint_eq(m.g.halvings, 1);
	look(&m, 3, second);
	ck_assert_uint_eq(m.g.halvings, 2);
	ck_assert_uint_ge(m.g.costs_ppm, 60000);
	look(&m, 100, second);
	ck_assert_uint_eq(m.g.halvings, 4);
	ck_assert(costs_of(&m) <= ONE_CENT);
}
END_TEST

START_TEST(a_burst_at_the_start_is_no_reason)
{
	struct machine m = machine_new(99, 1000, 90000);

	ck_assert_int_eq(look(&m, 10, QZ_GOVERNOR_WINDOW / 10), 0);
	m.variable = 1000;
	ck_assert_int_eq(run(&m, 20), 0);
	ck_assert_uint_eq(m.g.costs_ppm, 2000);
}
END_TEST

START_TEST(rates_come_back)
{
	struct machine m = machine_new(999, 1000, 60000);

	run(&m, 4);
	ck_assert_uint_eq(m.g.halvings, 3);
	m.variable = 2000;
	ck_assert_int_eq(run(&m, 60), 3);
	ck_assert_uint_eq(m.g.halvings, 0);
}
END_TEST

/* Between what is too much and what is cheap, nothing changes. */
START_TEST(rates_stay_in_between)
{
	struct machine m = machine_new(999, 0, 17000);

	run(&m, 4);
	ck_assert_uint_eq(m.g.halvings, 1); /* 8500; twice as much is too much */
	ck_assert_int_eq(run(&m, 200), 0);
}
END_TEST

/*
 * What seemed fixed was not: each doubling turns out too expensive. It is tried more and more rarely,
 * so that the limit is kept most of the time.
 */
START_TEST(mistakes_are_made_rarely)
{
	struct machine m = machine_new(99, 0, 0);
	int above = 0;

	for (int window = 0; window < 600; window++) {
		m.variable = 0;
		m.fixed = m.g.halvings ? 100 : 10000;
		m.variable = m.g.halvings ? 5000 : 4000;
		run(&m, 1);
		above += costs_of(&m) > ONE_CENT;
	}
	ck_assert_int_ge(above, 5);
	ck_assert_int_le(above, 40);
}
END_TEST

START_TEST(what_cannot_be_lowered_lowers_nothing)
{
	struct machine m = machine_new(99, 30000, 900);

	ck_assert_int_eq(run(&m, 100), 2); /* the time, which helps nothing here */
	ck_assert_uint_eq(m.g.halvings, 0);
	ck_assert_uint_ge(m.g.costs_ppm, 30000);
}
END_TEST

/* Servers: what switches cost is above the ceiling, and samples are a small part of the sum. */
START_TEST(samples_are_kept_where_switches_cost_the_most)
{
	struct machine m = machine_new(99, 28000, 5000);

	ck_assert_int_eq(run(&m, 100), 2); /* the time */
	ck_assert_uint_eq(m.g.halvings, 0);
	m.fixed = 12000; /* now they are a third */
	run(&m, 4);
	ck_assert_uint_eq(m.g.halvings, 1);
	m.fixed = 28000;
	run(&m, 100);
	ck_assert_uint_eq(m.g.halvings, 0);
}
END_TEST

/* Records are written for a part of the time where they alone are too much, and all of it again when they are not. */
START_TEST(time_is_divided_where_records_are_too_much)
{
	struct machine m = machine_new(99, 0, 0);

	m.records = 9900;
	ck_assert_int_eq(run(&m, 20), 0);
	m.records = 11000;
	run(&m, 3);
	ck_assert_uint_eq(m.g.time_halvings, 1);
	ck_assert_uint_eq(m.g.halvings, 0);
	ck_assert_int_eq(run(&m, 50), 0);
	m.records = 70000;
	run(&m, 2);
	ck_assert_uint_eq(m.g.time_halvings, 3);
	m.records = 1e6; /* something is always measured */
	run(&m, 20);
	ck_assert_uint_eq(m.g.time_halvings, QZ_MAX_TIME_HALVINGS);
	m.records = 9000; /* all of it would be too near: it came back soon */
	run(&m, 20);
	ck_assert_uint_eq(m.g.time_halvings, 1);
	m.records = 7000;
	run(&m, 5);
	ck_assert_uint_eq(m.g.time_halvings, 0);
}
END_TEST

/* The ceiling is a share of all time, not of the busy one: samples are not left out because little is busy. */
START_TEST(rates_are_kept_where_little_is_busy)
{
	struct machine m = machine_new(99, 600, 8000);

	m.idle = 0.6;
	ck_assert_int_eq(run(&m, 20), 0);
	ck_assert_uint_eq(m.g.busy_ppm, 400000);
	ck_assert_uint_eq(m.g.costs_ppm, 8600);
}
END_TEST

START_TEST(some_samples_are_left)
{
	struct machine m = machine_new((uint32_t)_i, 0, 1e6);

	run(&m, 300);
	ck_assert_uint_le(m.g.halvings, QZ_MAX_HALVINGS);
	if (m.g.halvings < QZ_MAX_HALVINGS)
		ck_assert(ldexp(_i, -(int)m.g.halvings) < 6 || _i < 6);
	ck_assert(_i < 3 ? !m.g.halvings : ldexp(_i, -(int)m.g.halvings) >= 3);
}
END_TEST

/* ---- estimates at changing rates ---- */

static void add(struct fixture *f, const char *stack, uint64_t count, uint8_t halvings)
{
	struct qz_sample s = {.node = fixture__stack(f, stack),
			      .level = 1,
			      .busy = 1,
			      .object = QZ_NONE,
			      .halvings = halvings,
			      .count = count};

	if (!f->err)
		f->err = qz_profile__add_samples(f->p, &s);
}

/* The rate is lowered for the second half: both halves have half of the time all the same. */
START_TEST(shares_are_those_of_all_the_time)
{
	static const uint64_t level_ns[] = {0, 1000000007};
	struct fixture f = fixture__new();
	uint64_t norm[2];

	fixture__scope(&f, level_ns, 2);
	fixture__thread(&f, 0, 1);
	add(&f, "main early", 4096, 0);
	add(&f, "main late", 4096 >> _i, (uint8_t)_i);
	ck_assert_int_eq(f.err, 0);
	ck_assert_int_eq(qz_estimate__profile(f.p), 0);
	ck_assert_uint_eq(f.p->nsamples, 2);
	norm[0] = f.p->samples[0].norm_ns;
	norm[1] = f.p->samples[1].norm_ns;
	ck_assert_uint_eq(norm[0] + norm[1], level_ns[1]);
	ck_assert_int_le(llabs((int64_t)(norm[0] - norm[1])), 1);
	qz_profile__free(f.p);
}
END_TEST

/* Of samples of all rates: the mean over many runs is the truth, and each run has all of the time. */
START_TEST(estimates_are_unbiased)
{
	static const uint64_t level_ns[] = {0, 1000000};
	const int runs = 400, each = 512;
	unsigned int seed = 7;
	double sum = 0;

	for (int r = 0; r < runs; r++) {
		struct fixture f = fixture__new();
		uint64_t hits[3] = {0}, misses[3] = {0}, norm = 0, hit_norm = 0;

		fixture__scope(&f, level_ns, 2);
		fixture__thread(&f, 0, 1);
		for (int h = 0; h < 3; h++)
			for (int i = 0; i < each >> h; i++)
				/* 10% in the time of the full rate, 50% and 90% afterwards */
				*(rand_r(&seed) % 10 < 1 + 4 * h ? &hits[h] : &misses[h]) += 1;
		for (uint8_t h = 0; h < 3; h++) {
			add(&f, "main hit", hits[h], h);
			add(&f, "main miss", misses[h], h);
		}
		ck_assert_int_eq(f.err, 0);
		ck_assert_int_eq(qz_estimate__profile(f.p), 0);
		for (uint32_t i = 0; i < f.p->nsamples; i++) {
			norm += f.p->samples[i].norm_ns;
			if (f.p->samples[i].node == f.p->samples[0].node)
				hit_norm += f.p->samples[i].norm_ns;
		}
		ck_assert_uint_eq(norm, level_ns[1]);
		sum += (double)hit_norm / (double)level_ns[1];
		qz_profile__free(f.p);
	}
	/* (10% + 50% + 90%) / 3; unweighted, it would be 32.9% */
	ck_assert_double_eq_tol(sum / runs, 0.5, 0.005);
}
END_TEST

Suite *suite_overhead_governor(void)
{
	Suite *suite = suite_create("overhead_governor");
	TCase *tcase = tcase_create("governor");

	tcase_add_test(tcase, costs_are_known_before_the_first_window_ends);
	tcase_add_test(tcase, what_is_cheap_is_left_alone);
	tcase_add_test(tcase, rates_are_lowered_until_it_fits);
	tcase_add_test(tcase, far_too_much_is_seen_at_once);
	tcase_add_test(tcase, a_burst_at_the_start_is_no_reason);
	tcase_add_test(tcase, rates_come_back);
	tcase_add_test(tcase, rates_stay_in_between);
	tcase_add_test(tcase, mistakes_are_made_rarely);
	tcase_add_test(tcase, what_cannot_be_lowered_lowers_nothing);
	tcase_add_test(tcase, samples_are_kept_where_switches_cost_the_most);
	tcase_add_test(tcase, time_is_divided_where_records_are_too_much);
	tcase_add_test(tcase, rates_are_kept_where_little_is_busy);
	tcase_add_loop_test(tcase, some_samples_are_left, 1, 200);
	tcase_add_loop_test(tcase, shares_are_those_of_all_the_time, 0, QZ_MAX_HALVINGS + 1);
	tcase_add_test(tcase, estimates_are_unbiased);
	suite_add_tcase(suite, tcase);
	return suite;
}
