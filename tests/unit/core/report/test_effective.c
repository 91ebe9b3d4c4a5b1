/* SPDX-License-Identifier: GPL-2.0-only */
/* Spinning in the estimator and in reports: normalized time by effective parallelism. */
#include <math.h>
#include <stdlib.h>

#include "core/estimate/estimate.h"
#include "core/report/report.h"
#include "core/report/state_breakdown.h"
#include "core/report/wait_report.h"
#include "core/report/wakeup_report.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define RANDOM_PROFILES 50
#define LEVELS		7

static void add(struct fixture *f, const char *words, uint32_t thread, uint32_t level,
		uint32_t busy, bool spinning, uint64_t count)
{
	uint32_t leaf = fixture__stack(f, words);

	if (!f->err)
		f->err = qz_profile__add_samples(f->p, &(struct qz_sample) {.scope = 0,
									    .thread = thread,
									    .node = leaf,
									    .level = level,
									    .busy = busy,
									    .spinning = spinning,
									    .object = QZ_NONE,
									    .count = count});
}

static void estimate(struct fixture *f)
{
	if (!f->err)
		f->err = qz_estimate__profile(f->p);
	ck_assert_int_eq(f->err, 0);
}

static struct fixture random_spinning(unsigned int seed)
{
	static const char *const stacks[] = {"main", "main f", "main f g", "main [thread] w",
					     "main [thread] w wait"};
	struct fixture f = fixture__new();
	uint64_t level_ns[LEVELS];

	for (int n = 0; n < LEVELS; n++)
		level_ns[n] = (uint64_t)(rand_r(&seed) % 3) * (uint64_t)rand_r(&seed) * 997;
	fixture__scope(&f, level_ns, LEVELS);
	for (int i = 0; i < 3; i++)
		fixture__thread(&f, 0, 100 + i);
	for (int i = 0; i < 100; i++) {
		uint32_t level = 1 + (uint32_t)rand_r(&seed) % (LEVELS - 1);
		bool spinning = rand_r(&seed) % 3 == 0;
		uint32_t busy = (uint32_t)rand_r(&seed) % level + !spinning;

		add(&f, stacks[rand_r(&seed) % 5], (uint32_t)rand_r(&seed) % 3, level, busy,
		    spinning, 1 + (uint64_t)rand_r(&seed) % 1000);
	}
	return f;
}

START_TEST(self_and_unattributed_sum_to_the_effective_time)
{
	struct fixture f = random_spinning((unsigned int)_i);
	uint64_t self = 0, effective = 0, spin = 0, by_level[LEVELS] = {0};
	struct qz_report *r;

	estimate(&f);
	r = qz_report__new(f.p, 0);
	for (uint32_t i = 0; i < r->nrows; i++) {
		const struct qz_figure *own = &r->rows[i].self, *total = &r->rows[i].total;
		uint64_t norm = 0, cpu = 0;

		self += own->norm_ns;
		spin += own->spin_ns;
		ck_assert_uint_le(own->spin_ns, own->cpu_ns);
		ck_assert_uint_le(own->spin_ns, total->spin_ns);
		ck_assert_uint_le(own->spin_samples, own->samples);
		for (uint32_t n = 1; n < LEVELS; n++) {
			norm += total->level_norm_ns[n];
			cpu += total->level_cpu_ns[n];
			by_level[n] += own->level_norm_ns[n];
		}
		ck_assert_uint_eq(norm, total->norm_ns);
		ck_assert_uint_eq(cpu, total->cpu_ns - total->spin_ns);
	}
	for (uint32_t n = 0; n < LEVELS; n++)
		effective += r->effective_ns[n];
	ck_assert_uint_eq(effective, r->elapsed_ns);
	ck_assert_uint_eq(effective - r->effective_ns[0], r->busy_ns);
	ck_assert_uint_eq(r->effective_ns[0], r->idle_ns);
	ck_assert_uint_eq(r->effective_ns[1], r->serial_ns);
	ck_assert_uint_ge(r->idle_ns, f.p->scopes[0].level_ns[0]);
	ck_assert_uint_eq(self + r->unattributed_ns + r->instrumentation_ns, r->busy_ns);
	ck_assert_uint_eq(spin, r->spin_ns);
	for (uint32_t n = 1; n < LEVELS; n++)
		ck_assert_uint_le(by_level[n], r->effective_ns[n]);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

/* Where no thread spins, the effective level is the running one, to the nanosecond. */
START_TEST(without_spinning_nothing_differs)
{
	struct qz_profile *p = fixture__random((unsigned int)_i);

	for (uint32_t scope = 0; scope < p->nscopes; scope++) {
		struct qz_report *r = qz_report__new(p, scope);
		bool spins = false;

		for (uint32_t i = 0; i < p->nsamples; i++)
			spins = spins || p->samples[i].busy != p->samples[i].level;
		for (uint32_t n = 0; !spins && n < r->nlevels; n++)
			ck_assert_uint_eq(r->effective_ns[n], p->scopes[scope].level_ns[n]);
		ck_assert(spins || r->spin_ns == 0);
		qz_report__free(r);
	}
	qz_profile__free(p);
}
END_TEST

static const struct qz_row *row_named(const struct qz_report *r, const char *name)
{
	uint32_t procedure = fixture__procedure(r->profile, name);

	for (uint32_t i = 0; i < r->nrows; i++)
		if (r->rows[i].procedure == procedure)
			return &r->rows[i];
	ck_abort_msg("no row %s", name);
	return NULL;
}

/* One computes while another waits: alone it has all of the time, the other none. */
START_TEST(a_waiter_takes_nothing)
{
	static const uint64_t level_ns[] = {50, 0, 1000};
	struct fixture f = fixture__new();
	const struct qz_row *row;
	struct qz_report *r;

	fixture__scope(&f, level_ns, 3);
	fixture__thread(&f, 0, 1);
	fixture__thread(&f, 0, 2);
	add(&f, "main compute", 0, 2, 1, false, 500);
	add(&f, "main [thread] wait", 1, 2, 1, true, 500);
	estimate(&f);
	r = qz_report__new(f.p, 0);
	row = row_named(r, "compute");
	ck_assert_uint_eq(row->self.norm_ns, 1000);
	ck_assert_uint_eq(row->self.cpu_ns, 1000);
	ck_assert_uint_eq(row->self.spin_ns, 0);
	ck_assert_double_eq(qz_figure__parallelism(&row->self), 1);
	row = row_named(r, "wait");
	ck_assert_uint_eq(row->self.norm_ns, 0);
	ck_assert_uint_eq(row->self.cpu_ns, 1000);
	ck_assert_uint_eq(row->self.spin_ns, 1000);
	ck_assert_uint_eq(row->self.spin_samples, 500);
	ck_assert_uint_eq(row->self.ci_ns, 0);
	ck_assert_double_eq(qz_figure__parallelism(&row->self), 0);
	ck_assert_uint_eq(r->idle_ns, 50);
	ck_assert_uint_eq(r->serial_ns, 1000);
	ck_assert_uint_eq(r->spin_ns, 1000);
	ck_assert_double_eq(r->parallelism, 1);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

/* Time in which all wait for something outside belongs to no thread. */
/* It is the time of those that spin on it, in no normalized time, and not that of a holder. */
START_TEST(an_object_has_what_was_spun_on_it)
{
	static const uint64_t level_ns[] = {0, 0, 1000};
	struct qz_sample spun = {.thread = 1, .level = 2, .busy = 1, .spinning = true};
	struct qz_sample held = {.level = 2, .busy = 1, .count = 100};
	struct fixture f = fixture__new();
	struct qz_stack_row *rows;
	struct qz_report *r;
	uint32_t n;

	fixture__scope(&f, level_ns, 3);
	fixture__thread(&f, 0, 1);
	fixture__thread(&f, 0, 2);
	spun.object = held.object = fixture__object(&f, 0, QZ_OBJECT_SPIN, "lock");
	fixture__object(&f, 0, QZ_OBJECT_MUTEX, "other");
	held.node = fixture__stack(&f, "main compute");
	qz_profile__add_samples(f.p, &held);
	add(&f, "main compute", 0, 2, 1, false, 400);
	spun.node = fixture__stack(&f, "main [thread] wait");
	spun.count = 150;
	qz_profile__add_samples(f.p, &spun);
	spun.node = fixture__stack(&f, "main [thread] take");
	spun.count = 250;
	qz_profile__add_samples(f.p, &spun);
	add(&f, "main [thread] wait", 1, 2, 1, true, 100);
	estimate(&f);
	r = qz_report__new(f.p, 0);
	ck_assert_uint_eq(r->spin_ns, 1000);
	ck_assert_uint_eq(r->nobjects, 2);
	ck_assert_uint_eq(r->objects[0].object, spun.object);
	ck_assert_uint_eq(r->objects[0].figure.norm_ns, 200);
	ck_assert_uint_eq(r->objects[0].figure.spin_ns, 800);
	ck_assert_uint_eq(r->objects[0].figure.cpu_ns, 1000);
	ck_assert_uint_eq(r->objects[1].figure.spin_ns, 0);
	ck_assert_int_eq(qz_wakeup_report__spinners(r, spun.object, &rows, &n), 0);
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(rows[0].node, fixture__stack(&f, "main [thread] take"));
	ck_assert_uint_eq(rows[0].spin_ns, 500);
	ck_assert_uint_eq(rows[1].spin_ns, 300);
	free(rows);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(when_all_wait_nobody_is_busy)
{
	static const uint64_t level_ns[] = {0, 0, 1000};
	struct fixture f = fixture__new();
	struct qz_report *r;

	fixture__scope(&f, level_ns, 3);
	fixture__thread(&f, 0, 1);
	add(&f, "main wait", 0, 2, 0, true, 30);
	add(&f, "main", 0, 2, 2, false, 10);
	estimate(&f);
	r = qz_report__new(f.p, 0);
	ck_assert_uint_eq(r->idle_ns, 750);
	ck_assert_uint_eq(r->busy_ns, 250);
	ck_assert_uint_eq(row_named(r, "main")->self.norm_ns, 250);
	ck_assert_uint_eq(row_named(r, "main")->total.norm_ns + r->idle_ns, r->elapsed_ns);
	ck_assert_uint_eq(r->spin_ns, 1500);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

/* A thread was busy, but of that there is no sample. */
START_TEST(what_only_waiters_saw_is_unattributed)
{
	static const uint64_t level_ns[] = {0, 0, 0, 900};
	struct fixture f = fixture__new();
	const struct qz_sample *s;
	struct qz_report *r;

	fixture__scope(&f, level_ns, 4);
	fixture__thread(&f, 0, 1);
	add(&f, "main wait", 0, 3, 2, true, 10);
	add(&f, "main", 0, 3, 3, false, 20);
	for (int i = 0; i < 2; i++) {
		estimate(&f);
		ck_assert_uint_eq(f.p->nsamples, 3);
		s = &f.p->samples[2];
		ck_assert_uint_eq(s->thread, QZ_NONE);
		ck_assert_uint_eq(s->busy, 2);
		ck_assert_uint_eq(s->norm_ns, 300);
		ck_assert_uint_eq(s->cpu_ns, 0);
	}
	r = qz_report__new(f.p, 0);
	ck_assert_uint_eq(r->unattributed_ns, 300);
	ck_assert_uint_eq(r->busy_ns, 900);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(impossible_samples_are_refused)
{
	static const uint64_t level_ns[] = {0, 0, 1000};
	struct fixture f = fixture__new();
	struct qz_sample s = {.thread = QZ_NONE, .object = QZ_NONE, .level = 2, .count = 1};

	fixture__scope(&f, level_ns, 3);
	ck_assert_int_lt(qz_profile__add_samples(f.p, &s), 0);
	s.spinning = true;
	ck_assert_int_eq(qz_profile__add_samples(f.p, &s), 0);
	s.busy = 2;
	ck_assert_int_lt(qz_profile__add_samples(f.p, &s), 0);
	qz_profile__free(f.p);
}
END_TEST

/*
 * Two processors of which always one waits and one computes, in turns: what each says of the other is
 * as old as a period. Where turns are long that is rarely wrong; where they are short the estimate
 * says that it may be, and by how much.
 */
static void take_turns(unsigned int *seed, double turn, struct fixture *f)
{
	double when[2] = {0, 0};
	bool spun[2] = {false, false};

	for (int i = 0; i < 4000; i++) {
		int cpu = when[0] <= when[1] ? 0 : 1;
		bool spins = (uint64_t)(when[cpu] / turn) % 2 == (uint64_t)cpu;
		uint32_t others = !spun[!cpu];

		f->p->scopes[0].counters.spin_turns += spins != spun[cpu];
		spun[cpu] = spins;
		if (spins)
			add(f, "main wait", (uint32_t)cpu, 2, others, true, 1);
		else
			add(f, "main", (uint32_t)cpu, 2, others + 1, false, 1);
		when[cpu] += 0.9 + 0.2 * rand_r(seed) / RAND_MAX;
	}
}

START_TEST(the_interval_holds_the_truth_however_short_the_turns)
{
	static const double turns[] = {0.01, 0.1, 0.37, 1.01, 3.3, 10, 100, 1000};
	static const uint64_t level_ns[] = {0, 0, 1000000};
	struct fixture f = fixture__new();
	unsigned int seed = 1;
	const struct qz_figure *main_total;
	struct qz_report *r;

	fixture__scope(&f, level_ns, 3);
	fixture__thread(&f, 0, 1);
	fixture__thread(&f, 0, 2);
	take_turns(&seed, turns[_i], &f);
	estimate(&f);
	r = qz_report__new(f.p, 0);
	main_total = &row_named(r, "main")->total;
	ck_assert_double_le(fabs((double)main_total->norm_ns - 1e6), (double)main_total->ci_ns);
	ck_assert(turns[_i] < 100 || main_total->ci_ns < 100000);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

Suite *suite_effective(void)
{
	Suite *s = suite_create("effective");
	TCase *tc = tcase_create("all");

	tcase_add_loop_test(tc, self_and_unattributed_sum_to_the_effective_time, 0,
			    RANDOM_PROFILES);
	tcase_add_loop_test(tc, without_spinning_nothing_differs, 0, RANDOM_PROFILES);
	tcase_add_test(tc, a_waiter_takes_nothing);
	tcase_add_test(tc, an_object_has_what_was_spun_on_it);
	tcase_add_test(tc, when_all_wait_nobody_is_busy);
	tcase_add_test(tc, what_only_waiters_saw_is_unattributed);
	tcase_add_test(tc, impossible_samples_are_refused);
	tcase_add_loop_test(tc, the_interval_holds_the_truth_however_short_the_turns, 0, 8);
	suite_add_tcase(s, tc);
	return s;
}
