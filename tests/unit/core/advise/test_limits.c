/* SPDX-License-Identifier: GPL-2.0-only */
/* Processors that a scope may not use, and who had those that it may: what the first lines say. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/advise/advise.h"
#include "core/advise/usage.h"
#include "core/advise/verdict.h"
#include "core/estimate/estimate.h"
#include "core/model/allowed.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define MS 1000000ull

struct advised {
	struct qz_profile *p;
	struct qz_report *r;
	struct qz_advice *a;
	char *verdict;
};

/* Two threads for a second that are ready or run all the time; `others` samples of a thousand are not theirs. */
static struct fixture two_threads(const uint64_t *level_ns, uint32_t nominal, uint64_t ready_ms,
				  uint64_t others)
{
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3);
	uint64_t running = level_ns[1] + 2 * level_ns[2];

	for (int tid = 1; tid <= 2; tid++) {
		uint32_t thread = fixture__thread(&f, scope, tid);

		fixture__samples(&f, scope, thread, "main [thread] compute",
				 level_ns[2] > level_ns[1] ? 2 : 1, running / MS / 2 + 1);
		fixture__wait(&f,
			      &(struct qz_wait) {.thread = thread,
						 .object = QZ_NONE,
						 .nominal = nominal,
						 .count = 10,
						 .ready_ns = ready_ms * MS / 2},
			      "main [thread] compute", "preempted");
		f.p->threads[thread].running_ns = running / 2;
		f.p->threads[thread].ready_ns = ready_ms * MS / 2;
	}
	f.p->scopes[scope].runnable_ns = running + ready_ms * MS;
	f.p->scopes[scope].cpu_ns = running;
	f.p->ledger.accepted = running / MS;
	f.p->ledger.filtered = others;
	f.p->ledger.expected = running / MS + others;
	f.p->processors = 2;
	return f;
}

static void set(char **text, const char *value)
{
	ck_assert_int_eq(qz_profile__set_string(text, value), 0);
}

static struct advised advise(struct fixture *f)
{
	struct advised x = {.p = f->p};

	ck_assert_int_eq(f->err, 0);
	ck_assert_int_eq(qz_estimate__profile(f->p), 0);
	x.r = qz_report__new(f->p, 0);
	x.a = qz_advise__new(x.r);
	x.verdict = qz_verdict__text(x.a);
	ck_assert_ptr_nonnull(x.verdict);
	return x;
}

static void done(struct advised *x)
{
	free(x->verdict);
	qz_advise__free(x->a);
	qz_report__free(x->r);
	qz_profile__free(x->p);
}

static void check_has(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part), "%s: no \"%s\"", text, part);
}

static const uint64_t one_of_two[] = {0, 1000 * MS, 0};

/* Bound to one processor while the other one is free: the second one would halve the time. */
START_TEST(an_affinity_limits)
{
	struct fixture f = two_threads(one_of_two, 2, 1000, 0);
	struct advised x;

	set(&f.p->threads[0].cpus, "0");
	set(&f.p->threads[1].cpus, "0");
	if (_i)
		set(&f.p->scopes[0].cpuset, "0");
	x = advise(&f);
	ck_assert_int_eq(strncmp(x.verdict, "LIMITED: ", 9), 0);
	check_has(x.verdict, "it kept 1.0 of the 1 CPU that it may use busy");
	ck_assert_uint_eq(x.a->n, 1);
	check_has(x.a->findings[0].what, _i ? "limited by its cpuset (CPU 0) to 1 of 2 CPUs"
					    : "limited by its affinity (CPU 0) to 1 of 2 CPUs");
	check_has(x.a->findings[0].remedy, _i ? "cpuset.cpus" : "taskset");
	ck_assert_uint_ge(x.a->findings[0].gain_high_ns, 499 * MS);
	ck_assert_uint_le(x.a->findings[0].gain_high_ns, 501 * MS);
	ck_assert_uint_gt(x.a->findings[0].gain_low_ns, 0);
	done(&x);
}
END_TEST

/* The other one is another program's all the time: nothing is to be gained for sure. */
START_TEST(an_affinity_on_a_full_machine_gains_little)
{
	struct fixture f = two_threads(one_of_two, 2, 1000, 1000);
	struct advised x;

	set(&f.p->threads[0].cpus, "0");
	set(&f.p->threads[1].cpus, "0");
	x = advise(&f);
	ck_assert_uint_eq(x.a->n, 1);
	ck_assert_uint_eq(x.a->findings[0].gain_low_ns, 0);
	done(&x);
}
END_TEST

/* Threads that are bound to a processor each have both; so has one whose affinity is not known. */
START_TEST(threads_are_taken_together)
{
	struct fixture f = two_threads(one_of_two, 2, 1000, 0);
	struct qz_allowed a;

	set(&f.p->threads[0].cpus, "0");
	qz_allowed__find(f.p, 0, &a);
	ck_assert(!a.fewer);
	set(&f.p->threads[1].cpus, "1");
	qz_allowed__find(f.p, 0, &a);
	ck_assert(!a.fewer);
	ck_assert_uint_eq(a.processors, 2);
	set(&f.p->threads[1].cpus, "0");
	qz_allowed__find(f.p, 0, &a);
	ck_assert(a.fewer);
	set(&f.p->threads[1].cpus, "");
	f.p->threads[1].running_ns = f.p->threads[1].ready_ns =
		0; /* it waits, for the other one to end */
	qz_allowed__find(f.p, 0, &a);
	ck_assert(a.fewer);
	ck_assert_uint_eq(a.processors, 1);
	qz_profile__free(f.p);
}
END_TEST

static struct advised with_quota(struct fixture *f, uint64_t throttled_ms)
{
	struct qz_scope *s = &f->p->scopes[0];

	set(&s->quota_cgroup, "/app");
	s->quota_us = 10000;
	s->quota_period_us = 100000;
	s->throttled_ns = throttled_ms * MS;
	s->throttled_periods = 9;
	s->quota_periods = 10;
	return advise(f);
}

/* A part of its time one runs alone, whose processor has some of the quota left: both would run at once. */
START_TEST(a_quota_ends_on_one_processor_first)
{
	static const uint64_t level_ns[] = {900 * MS, 60 * MS, 40 * MS};
	struct fixture f = two_threads(level_ns, 2, 1860, 0);
	struct advised x = with_quota(&f, 1800);

	ck_assert_uint_ge(x.a->n, 1);
	ck_assert_str_eq(x.a->findings[0].rule, "limited");
	ck_assert_uint_eq(x.a->findings[0].gain_high_ns / MS, 1000 - 70 * 10 / 11 - 1);
	done(&x);
}
END_TEST

/* Of half a processor it had all: two threads at a time would only be stopped sooner. */
START_TEST(a_quota_leaves_nothing_to_divide)
{
	static const uint64_t level_ns[] = {560 * MS, 440 * MS, 0};
	struct fixture f = two_threads(level_ns, 1, _i ? 160 : 560, 0);
	struct advised x;

	f.p->scopes[0].quota_us = _i ? 50000 : 0;
	f.p->scopes[0].quota_period_us = 100000;
	f.p->scopes[0].throttled_ns = _i ? 160 * MS : 0;
	f.p->scopes[0].throttled_periods = 4;
	f.p->scopes[0].quota_periods = 10;
	set(&f.p->scopes[0].quota_cgroup, "/app");
	x = advise(&f);
	for (uint32_t i = 0; i < x.a->n; i++) {
		if (!(x.a->findings[i].lost & QZ_LOST_DIVIDED))
			continue;
		/* 440 ms of processor time take 880 at half a processor; a period more or less */
		if (_i)
			ck_assert_uint_le(x.a->findings[i].gain_high_ns, 220 * MS);
		done(&x);
		return;
	}
	ck_abort_msg("no finding divides work");
}
END_TEST

/* Nineteen of twenty milliseconds the quota stops both threads. */
START_TEST(a_quota_limits)
{
	static const uint64_t level_ns[] = {950 * MS, 0, 50 * MS};
	struct fixture f = two_threads(level_ns, 2, 1900, _i ? 1800 : 0);
	struct advised x = with_quota(&f, 1900);

	ck_assert_int_eq(strncmp(x.verdict, "LIMITED: ", 9), 0);
	check_has(x.verdict, "it kept 0.1 of the 0.1 CPUs that its quota gives it busy");
	check_has(x.verdict, ". Its quota kept it from 1.9 more");
	ck_assert_ptr_null(strstr(x.verdict, "Other programs"));
	ck_assert_uint_ge(x.a->n, 1);
	check_has(x.a->findings[0].what,
		  "limited by its quota (10% of a CPU, of the control group /app): "
		  "throttled 95% of the time");
	/* with a period more, of a tenth of the time */
	ck_assert_uint_eq(x.a->findings[0].gain_high_ns / MS, 1000 - 50 * 10 / 11 - 1);
	/* on a machine that others fill, it would run at a tenth of a processor each */
	ck_assert_uint_le(x.a->findings[0].gain_low_ns, (_i ? 250 : 475) * MS);
	ck_assert_uint_ge(x.a->findings[0].gain_low_ns, (_i ? 249 : 474) * MS);
	done(&x);
}
END_TEST

/*
 * Where others fill the machine, a processor is seldom throttled, since it seldom comes to the group. But each period ended
 * with the quota used up, so without others it would have had no more.
 */
START_TEST(a_quota_limits_beside_others)
{
	static const uint64_t level_ns[] = {900 * MS, 100 * MS, 0};
	struct fixture f = two_threads(level_ns, 2, 1900, 1800);
	struct advised x = with_quota(&f, 400);

	ck_assert_int_eq(strncmp(x.verdict, "LIMITED: ", 9), 0);
	check_has(x.verdict, ". Its quota kept it from 1.9 more");
	ck_assert_ptr_null(strstr(x.verdict, "Other programs"));
	done(&x);
}
END_TEST

static const struct {
	uint64_t own, other;
	const char *said;
} outside[] = {
	{10, 900,
	 ". Other programs had 1.0 more that its threads were ready for, most of all "
	 "chromium (app.slice)"},
	{900, 0, ". Quartz itself had 1.0 more that its threads were ready for"},
	{500, 500,
	 ". Other programs had 0.5 more that its threads were ready for, most of all "
	 "chromium (app.slice); Quartz itself had 0.5"},
	{0, 0,
	 ". Quartz itself had 0.3 more"}, /* who ran is not known: as much as it took in all */
};

/* Others had the second processor: who that was, samples say, and not what Quartz took over the whole run. */
START_TEST(who_had_the_processors_is_named)
{
	struct fixture f = two_threads(one_of_two, 2, 1000, 1000);
	struct advised x;

	f.p->costs.daemon_ns = 300 * MS;
	if (outside[_i].own)
		qz_ledger__add_outside(&f.p->ledger, "quartzd", outside[_i].own);
	if (outside[_i].other) {
		qz_ledger__add_outside(&f.p->ledger, "cc1", 1);
		qz_ledger__add_outside(&f.p->ledger, "chromium (app.slice)", outside[_i].other);
	}
	x = advise(&f);
	if (outside[_i].own)
		ck_assert_str_eq(strstr(x.verdict, ". "), outside[_i].said);
	else
		check_has(x.verdict, "; Quartz itself had 0.3");
	done(&x);
}
END_TEST

/*
 * Two threads that did as much as each other: one at a time, or both whenever others left them a processor, one of them later
 * than the other one. These take no turns.
 */
START_TEST(threads_that_others_keep_back_take_no_turns)
{
	static const uint64_t level_ns[][3] = {{0, 1000 * MS, 0}, {700 * MS, 300 * MS, 0}};
	struct fixture f = two_threads(level_ns[_i], 2, _i ? 1000 : 0, _i ? 1700 : 0);
	struct advised x = advise(&f);

	ck_assert_uint_eq(x.a->n, 1);
	ck_assert_str_eq(x.a->findings[0].rule, "imbalance");
	check_has(x.a->findings[0].what,
		  _i ? "2 threads run compute, and 12% of the time only one of them could run."
		     : "2 threads run compute in turns: only one of them works 100% of the time.");
	done(&x);
}
END_TEST

Suite *suite_advise_limits(void)
{
	Suite *s = suite_create("advise_limits");
	TCase *tc = tcase_create("all");

	tcase_add_loop_test(tc, an_affinity_limits, 0, 2);
	tcase_add_test(tc, an_affinity_on_a_full_machine_gains_little);
	tcase_add_test(tc, threads_are_taken_together);
	tcase_add_loop_test(tc, a_quota_limits, 0, 2);
	tcase_add_test(tc, a_quota_limits_beside_others);
	tcase_add_loop_test(tc, a_quota_leaves_nothing_to_divide, 0, 2);
	tcase_add_test(tc, a_quota_ends_on_one_processor_first);
	tcase_add_loop_test(tc, threads_that_others_keep_back_take_no_turns, 0, 2);
	tcase_add_loop_test(tc, who_had_the_processors_is_named, 0, 4);
	suite_add_tcase(s, tc);
	return s;
}
