/* SPDX-License-Identifier: GPL-2.0-only */
/* Other programs had the processors, or a limit. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/advise/usage.h"
#include "core/advise/verdict.h"
#include "tests/unit/core/advise/advised.h"
#include "tests/unit/suites.h"

/* Its only processor is another program's most of the time: it is serial still, not idle. */
START_TEST(ready_time_is_not_idle)
{
	static const uint64_t level_ns[] = {600 * MS, 400 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), thread = fixture__thread(&f, scope, 1);
	const struct qz_finding *found;
	struct advised x;

	fixture__samples(&f, scope, thread, "main deflate", 1, 400);
	advised__waited(&f, thread, "main deflate", "preempted",
			(struct advised_waits) {1, 100, 0, 600});
	f.p->scopes[0].runnable_ns = 1000 * MS;
	x = advised__new(&f, 2);
	found = advised__find(x.a, "serial");
	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found->subject.name, "deflate");
	ck_assert_uint_eq(found->gain_high_ns, 500 * MS);
	advised__free(&x);
}
END_TEST

/* Its thread ran for a third of the time that it could. */
START_TEST(others_come_first_where_they_cost_most)
{
	static const uint64_t level_ns[] = {700 * MS, 300 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), thread = fixture__thread(&f, scope, 1);
	struct advised x;
	char *text;

	fixture__samples(&f, scope, thread, "main deflate", 1, 300);
	advised__waited(&f, thread, "main deflate", "preempted",
			(struct advised_waits) {1, 100, 0, 700});
	f.p->scopes[0].runnable_ns = 1000 * MS;
	x = advised__new(&f, 2);
	ck_assert_ptr_nonnull(advised__find(x.a, "serial"));
	ck_assert(qz_verdict__others_first(x.a));
	text = qz_verdict__text(x.a);
	ck_assert_str_eq(text,
			 "SHORT OF CPUS: it kept 0.3 of 2 CPUs busy on average, only one for 30% "
			 "of the time, none "
			 "for 70%. Other programs had 0.7 more that its threads were ready for");
	free(text);
	/* what gains more without them, too, is said before them */
	x.a->findings[0].gain_low_ns = 700 * MS;
	x.a->findings[0].gain_high_ns = 900 * MS;
	x.a->findings[0].word = "STEPS TOO SMALL";
	ck_assert(!qz_verdict__others_first(x.a));
	text = qz_verdict__text(x.a);
	ck_assert_int_eq(strncmp(text, "STEPS TOO SMALL: ", 17), 0);
	free(text);
	advised__free(&x);
}
END_TEST

/* Where it waits for something else most of the time, it has little to gain from more processors. */
START_TEST(others_are_not_why_it_waits)
{
	static const uint64_t level_ns[] = {900 * MS, 100 * MS, 0};
	static const uint64_t blocked_ms[] = {600, 300};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), thread = fixture__thread(&f, scope, 1);
	uint64_t blocked = blocked_ms[_i], ready = 900 - blocked;
	struct advised x;
	char *text;

	fixture__samples(&f, scope, thread, "main ask", 1, 100);
	advised__waited(&f, thread, "main ask", "socket",
			(struct advised_waits) {1, 100, blocked, 0});
	advised__waited(&f, thread, "main ask", "preempted",
			(struct advised_waits) {1, 100, 0, ready});
	f.p->scopes[0].runnable_ns = (100 + ready) * MS;
	x = advised__new(&f, 2);
	ck_assert_int_eq(qz_verdict__others_first(x.a), blocked < 500);
	text = qz_verdict__text(x.a);
	ck_assert_int_eq(strncmp(text, "SHORT OF CPUS: ", 15) == 0, blocked < 500);
	free(text);
	advised__free(&x);
}
END_TEST

static const struct {
	uint64_t daemon_ms;
	const char *word, *taken;
} crowdings[] = {
	{400, "SHORT OF CPUS: ",
	 ". Other programs had 0.6 more that its threads were ready for; Quartz itself had 0.4"},
	{50, "SHORT OF CPUS: ",
	 ". Other programs had 0.9 more that its threads were ready for; Quartz itself had 0.05"},
	{30, "SHORT OF CPUS: ", ". Other programs had 1.0 more that its threads were ready for"},
	{960, "PARALLEL: ", ". Quartz itself had 1.0 more that its threads were ready for"},
};

/* Two threads that would both run, of which others leave room for one: these are quartzd, as far as it ran. */
START_TEST(crowded_out_is_not_serial)
{
	static const uint64_t level_ns[] = {0, 1000 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), one = fixture__thread(&f, scope, 1);
	uint32_t two = fixture__thread(&f, scope, 2);
	struct advised x;
	char *verdict;

	fixture__samples(&f, scope, one, "main [thread] deflate", 1, 500);
	fixture__samples(&f, scope, two, "main [thread] deflate", 1, 500);
	advised__waited(&f, one, "main [thread] deflate", "preempted",
			(struct advised_waits) {2, 100, 0, 500});
	advised__waited(&f, two, "main [thread] deflate", "preempted",
			(struct advised_waits) {2, 100, 0, 500});
	f.p->scopes[0].runnable_ns = 2000 * MS;
	f.p->costs.daemon_ns = crowdings[_i].daemon_ms * MS;
	x = advised__new(&f, 2);
	ck_assert_uint_eq(x.a->n, 0);
	verdict = qz_verdict__text(x.a);
	ck_assert_ptr_nonnull(strstr(verdict, crowdings[_i].word));
	ck_assert_pstr_eq(strstr(verdict, ". "), crowdings[_i].taken);
	free(verdict);
	advised__free(&x);
}
END_TEST

/* The same where no other program ran, as the samples say: on one processor by their affinity. */
START_TEST(a_limit_is_not_what_others_had)
{
	static const uint64_t level_ns[] = {0, 1000 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), one = fixture__thread(&f, scope, 1);
	uint32_t two = fixture__thread(&f, scope, 2);
	struct advised x;
	char *verdict;

	fixture__samples(&f, scope, one, "main [thread] deflate", 1, 500);
	fixture__samples(&f, scope, two, "main [thread] deflate", 1, 500);
	advised__waited(&f, one, "main [thread] deflate", "preempted",
			(struct advised_waits) {2, 100, 0, 500});
	advised__waited(&f, two, "main [thread] deflate", "preempted",
			(struct advised_waits) {2, 100, 0, 500});
	f.p->scopes[0].runnable_ns = 2000 * MS;
	f.p->scopes[0].cpu_ns = 1000 * MS;
	f.p->ledger = (struct qz_ledger) {.expected = 1000, .accepted = 1000};
	qz_ledger__add_event(&f.p->ledger, "log_lost_ns", 1500 * MS);
	qz_ledger__add_event(&f.p->ledger, "log_off_ns", 6000 * MS);
	f.p->window_ns = 4000 * MS;
	f.p->ceiling_ppm = 10000;
	x = advised__new(&f, 2);
	verdict = qz_verdict__text(x.a);
	ck_assert_ptr_nonnull(strstr(verdict, "what ran in 1.5 s of a CPU's time is not known"));
	ck_assert_ptr_nonnull(strstr(verdict, "Quartz measured for 25% of the time, "));
	ck_assert_ptr_nonnull(strstr(verdict, "LIMITED: it kept 1.0 of 2 CPUs busy"));
	ck_assert_ptr_nonnull(strstr(verdict, "a quota kept it from 1.0 more"));
	ck_assert_ptr_null(strstr(verdict, "Other programs"));
	ck_assert_int_eq(qz_verdict__shortage(x.r), QZ_SHORT_BY_LIMIT);
	free(verdict);
	advised__free(&x);
}
END_TEST

/*
 * Two threads take turns, and each wake-up takes some time. By the samples, other programs had the other processor for at most 50 of
 * 1000 ms.
 */
START_TEST(waking_up_is_not_waiting_for_others)
{
	static const uint64_t level_ns[] = {0, 1000 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), one = fixture__thread(&f, scope, 1);
	uint32_t two = fixture__thread(&f, scope, 2);
	struct advised x;
	struct qz_usage u;

	fixture__samples(&f, scope, one, "main [thread] deflate", 1, 500);
	fixture__samples(&f, scope, two, "main [thread] deflate", 1, 500);
	advised__waited(&f, one, "main [thread] get", "futex",
			(struct advised_waits) {2, 100, 100, 400});
	advised__waited(&f, two, "main [thread] get", "futex",
			(struct advised_waits) {2, 100, 100, 400});
	f.p->scopes[0].runnable_ns = 1800 * MS;
	f.p->scopes[0].cpu_ns = 1000 * MS;
	f.p->ledger = (struct qz_ledger) {.expected = 1050, .accepted = 1000, .filtered = 50};
	x = advised__new(&f, 2);
	qz_usage__find(x.r, &u);
	ck_assert_uint_eq(u.taken_ns, 50 * MS);
	ck_assert_uint_eq(u.alone_ns, 950 * MS);
	/* where samples were not counted, all of it may be theirs */
	x.p->ledger = (struct qz_ledger) {0};
	qz_usage__find(x.r, &u);
	ck_assert_uint_eq(u.taken_ns, 800 * MS);
	advised__free(&x);
}
END_TEST

/*
 * One thread of two processors. What a second one gains where others have 1.1 processors: 2 of 3.1 threads for 1 of 2.1, 1.35 times as
 * much. Not where others have hardly any, where they are Quartz itself, and where they were not counted.
 */
START_TEST(others_compete_for_what_is_freed)
{
	static const struct {
		uint64_t others;
		const char *program;
		uint64_t low, high;
	} cases[] = {{1100, "sh", 95, 261},
		     {150, "sh", 333, 500},
		     {1100, "quartzd", 333, 500},
		     {0, NULL, 333, 500}};
	static const uint64_t level_ns[] = {0, 1000 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), one = fixture__thread(&f, scope, 1);
	const struct qz_finding *found;
	struct advised x;

	fixture__samples(&f, scope, one, "main deflate", 1, 1000);
	f.p->scopes[0].cpu_ns = 1000 * MS;
	f.p->ledger = (struct qz_ledger) {.expected = 1000 + cases[_i].others, .accepted = 1000};
	if (cases[_i].program)
		qz_ledger__add_outside(&f.p->ledger, cases[_i].program, cases[_i].others);
	else
		f.p->ledger = (struct qz_ledger) {0};
	x = advised__new(&f, 2);
	found = advised__find(x.a, "serial");
	ck_assert_ptr_nonnull(found);
	ck_assert_uint_eq(found->gain_low_ns / MS, cases[_i].low);
	ck_assert_uint_eq(found->gain_high_ns / MS, cases[_i].high);
	advised__free(&x);
}
END_TEST

/* One process at half of a processor, the other half of which another one had. */
static struct advised neighbours(bool machine)
{
	static const uint64_t level_ns[] = {500 * MS, 500 * MS, 0}, both[] = {0, 0, 1000 * MS};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), other = fixture__scope(&f, level_ns, 3);
	uint32_t thread = fixture__thread(&f, scope, 1);

	if (machine) {
		uint32_t all = fixture__scope(&f, both, 3);

		f.p->scopes[all].kind = QZ_SCOPE_MACHINE;
	}
	f.p->scopes[other].cpu_ns = 1500 * MS;
	ck_assert_int_eq(qz_profile__set_string(&f.p->scopes[other].comm, "backup"), 0);
	fixture__samples(&f, scope, thread, "main work", 1, 500);
	advised__waited(&f, thread, "main work", "preempted",
			(struct advised_waits) {1, 100, 0, 500});
	f.p->scopes[scope].runnable_ns = 1000 * MS;
	return advised__new(&f, 2);
}

START_TEST(who_had_the_processors_is_named)
{
	struct advised x = neighbours(true);
	const struct qz_finding *found = advised__find(x.a, "taken");

	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found->subject.name, "backup");
	ck_assert_uint_ge(found->gain_high_ns, 499 * MS);
	ck_assert_uint_le(found->gain_high_ns, 500 * MS);
	advised__free(&x);
}
END_TEST

START_TEST(who_is_not_known_is_not_named)
{
	struct advised x = neighbours(false);

	ck_assert_ptr_null(advised__find(x.a, "taken"));
	advised__free(&x);
}
END_TEST

Suite *suite_advise_others(void)
{
	Suite *s = suite_create("advise_others");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, ready_time_is_not_idle);
	tcase_add_test(tc, others_come_first_where_they_cost_most);
	tcase_add_loop_test(tc, others_are_not_why_it_waits, 0, 2);
	tcase_add_loop_test(tc, crowded_out_is_not_serial, 0,
			    sizeof(crowdings) / sizeof(crowdings[0]));
	tcase_add_test(tc, a_limit_is_not_what_others_had);
	tcase_add_test(tc, waking_up_is_not_waiting_for_others);
	tcase_add_loop_test(tc, others_compete_for_what_is_freed, 0, 4);
	tcase_add_test(tc, who_had_the_processors_is_named);
	tcase_add_test(tc, who_is_not_known_is_not_named);
	suite_add_tcase(s, tc);
	return s;
}
