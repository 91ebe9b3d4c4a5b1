/* SPDX-License-Identifier: GPL-2.0-only */
/* What threads wait for that is not each other: devices, events, a freezer, requests. */
#include <check.h>
#include <string.h>

#include "core/advise/advise_text.h"
#include "tests/unit/core/advise/advised.h"
#include "tests/unit/suites.h"

static struct advised blocked_for(const char *cause)
{
	static const uint64_t level_ns[] = {600 * MS, 400 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), thread = fixture__thread(&f, scope, 1);

	fixture__samples(&f, scope, thread, "main search", 1, 400);
	advised__waited(&f, thread, "main search read_file", cause,
			(struct advised_waits) {0, 100, 600, 0});
	return advised__new(&f, 2);
}

START_TEST(devices_that_are_waited_for_are_found)
{
	struct advised x = blocked_for("disk");

	ck_assert_uint_eq(x.a->n, 2);
	ck_assert_str_eq(x.a->findings[0].rule, "overlap");
	ck_assert_str_eq(x.a->findings[0].where, "read_file");
	ck_assert_uint_eq(x.a->findings[0].gain_high_ns, 600 * MS);
	ck_assert_uint_eq(x.a->findings[0].gain_low_ns, 200 * MS);
	advised__free(&x);
}
END_TEST

/* A thread waits for a device until it has a processor again. */
START_TEST(who_comes_late_from_a_device_waited_for_it)
{
	static const uint64_t level_ns[] = {600 * MS, 400 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), thread = fixture__thread(&f, scope, 1);
	struct advised x;

	fixture__samples(&f, scope, thread, "main search", 1, 400);
	advised__waited(&f, thread, "main search read_file", "disk",
			(struct advised_waits) {0, 100, 500, 100});
	x = advised__new(&f, 2);
	ck_assert_str_eq(x.a->findings[0].rule, "overlap");
	ck_assert_uint_eq(x.a->findings[0].gain_high_ns, 600 * MS);
	advised__free(&x);
}
END_TEST

/* A program that asks a device less often makes fewer calls, too. */
START_TEST(calls_of_devices_are_part_of_what_they_cost)
{
	static const uint64_t level_ns[] = {600 * MS, 400 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), thread = fixture__thread(&f, scope, 1);
	struct advised x;

	fixture__samples(&f, scope, thread, "main search", 1, 300);
	fixture__samples(&f, scope, thread, "main search read_file", 1, 100);
	advised__waited(&f, thread, "main search read_file", "disk",
			(struct advised_waits) {0, 100, 600, 0});
	x = advised__new(&f, 2);
	ck_assert_str_eq(x.a->findings[0].rule, "overlap");
	ck_assert_uint_eq(x.a->findings[0].gain_high_ns, 700 * MS);
	advised__free(&x);
}
END_TEST

START_TEST(code_that_faults_is_no_call_of_a_device)
{
	static const uint64_t level_ns[] = {100 * MS, 900 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), thread = fixture__thread(&f, scope, 1);
	struct advised x;

	fixture__samples(&f, scope, thread, "main search", 1, 900);
	advised__waited(&f, thread, "main search", "page_fault",
			(struct advised_waits) {0, 100, 100, 0});
	x = advised__new(&f, 2);
	ck_assert_uint_eq(advised__find(x.a, "overlap")->gain_high_ns, 100 * MS);
	advised__free(&x);
}
END_TEST

/* A server that its clients leave without work gains nothing by being faster. */
START_TEST(idle_servers_have_no_finding)
{
	struct advised x = blocked_for("poll");
	char text[512] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	ck_assert_uint_eq(x.a->n, 0);
	ck_assert_int_eq(qz_advise_text__head(out, x.a, 0, 1), 0);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text,
				     "\nWhile it kept no CPU busy, it waited for the first of "
				     "several (poll) (60% of the time). It has"));
	advised__free(&x);
}
END_TEST

static void in_libc(struct fixture *f, const char *name)
{
	if (!f->err)
		f->err = qz_profile__set_string(
			&f->p->procedures[fixture__procedure(f->p, name)].module,
			"/usr/lib/libc.so.6");
}

/* Eight threads that an event wakes, so many for nothing and so many others, in a second: whether that is found. */
static bool is_herd(uint64_t in_vain, uint64_t shared, const char *cause)
{
	static const uint64_t level_ns[] = {500 * MS, 500 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), thread = fixture__thread(&f, scope, 1);
	const struct qz_finding *found;
	struct advised x;
	bool is;

	fixture__samples(&f, scope, thread, "main serve epoll_wait", 1, 300);
	fixture__samples(&f, scope, thread, "main serve handle", 1, 200);
	advised__waited(&f, thread, "main serve epoll_wait", cause,
			(struct advised_waits) {0, 20000, 900, 0});
	in_libc(&f, "epoll_wait");
	f.p->scopes[scope].counters.events_in_vain = in_vain;
	f.p->scopes[scope].counters.events_shared = shared;
	x = advised__new(&f, 2);
	found = advised__find(x.a, "herd");
	is = found;
	if (is) {
		ck_assert_ptr_eq(found, x.a->findings);
		ck_assert_str_eq(found->subject.name, "serve");
		ck_assert_ptr_nonnull(strstr(found->remedy, "EPOLLEXCLUSIVE"));
		ck_assert_ptr_null(advised__find(x.a, "steps")); /* the same calls */
	}
	advised__free(&x);
	return is;
}

/* Who gives events to a herd has most of the cost of waking it. Steps that are mostly others are told of their own. */
START_TEST(who_wakes_a_herd_has_no_small_steps)
{
	static const uint64_t level_ns[] = {500 * MS, 500 * MS, 0};

	for (int others = 0; others < 2; others++) {
		struct fixture f = fixture__new();
		uint32_t scope = fixture__scope(&f, level_ns, 3);
		uint32_t thread = fixture__thread(&f, scope, 1);
		struct qz_scope_counters *c = &f.p->scopes[scope].counters;
		struct advised x;

		fixture__samples(&f, scope, thread, "main serve handle", 1, 100);
		fixture__samples(&f, scope, thread, "main serve epoll_wait", 1, 100);
		fixture__samples(&f, scope, thread, "main give pthread_mutex_lock", 1, 300);
		advised__waited(&f, thread, "main serve epoll_wait", "poll",
				(struct advised_waits) {0, 20000, 900, 0});
		in_libc(&f, "epoll_wait");
		in_libc(&f, "pthread_mutex_lock");
		c->events_in_vain = 16000;
		c->grain[0] = others ? 40000 : 18000;
		x = advised__new(&f, 2);
		ck_assert_ptr_nonnull(advised__find(x.a, "herd"));
		ck_assert_int_eq(advised__find(x.a, "steps") != NULL, others);
		advised__free(&x);
	}
}
END_TEST

START_TEST(events_that_wake_all_are_found)
{
	ck_assert(is_herd(16000, 3000, "poll"));
	ck_assert(!is_herd(7000, 8000, "poll")); /* messages to several */
	ck_assert(!is_herd(1900, 0, "poll"));	 /* seldom */
	ck_assert(!is_herd(16000, 3000, "futex"));
}
END_TEST

/* It is said beside what is found of the rest of the time, too; not where it is little. */
START_TEST(who_is_frozen_for_a_while_is_said_to_be)
{
	for (uint64_t held = 50 * MS; held <= 300 * MS; held += 250 * MS) {
		const uint64_t level_ns[] = {300 * MS, 700 * MS, 0};
		struct fixture f = fixture__new();
		uint32_t scope = fixture__scope(&f, level_ns, 3);
		uint32_t thread = fixture__thread(&f, scope, 1);
		struct advised x;
		char text[1024] = "";
		FILE *out = fmemopen(text, sizeof(text), "w");

		fixture__samples(&f, scope, thread, "main search", 1, 700);
		advised__waited(&f, thread, "main search", "frozen",
				(struct advised_waits) {0, 1, held / MS, 0});
		advised__waited(&f, thread, "main search nanosleep", "sleep",
				(struct advised_waits) {0, 1, 300 - held / MS, 0});
		x = advised__new(&f, 2);
		ck_assert_uint_ge(x.a->n, 1);
		ck_assert_int_eq(qz_advise_text__head(out, x.a, 0, 1), 0);
		fclose(out);
		ck_assert_int_eq(strstr(text, "\nIt was stopped or frozen 30% of the time.") !=
					 NULL,
				 held == 300 * MS);
		advised__free(&x);
	}
}
END_TEST

/* A server that waits for its children is idle; what they do is elsewhere. */
START_TEST(children_that_are_left_out_are_told)
{
	static const uint64_t level_ns[][2] = {
		{1000 * MS, 0}, {1000 * MS, 0}, {400 * MS, 600 * MS}};
	static const char *const lines[] = {
		"\nIt had 13 child processes, which are not in this profile: record --tree 7.",
		"\nIt had 1 child process, which is not in this profile: record --tree 7.", NULL};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns[_i], 2);
	uint32_t thread = fixture__thread(&f, scope, 1);
	struct advised x;
	char text[1024] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	fixture__samples(&f, scope, thread, "main search", 1, level_ns[_i][1] / MS + 1);
	f.p->scopes[scope].pid = 7;
	f.p->scopes[scope].children = _i == 1 ? 1 : 13;
	x = advised__new(&f, 2);
	ck_assert_int_eq(qz_advise_text__head(out, x.a, 0, 1), 0);
	fclose(out);
	if (lines[_i])
		ck_assert_msg(strstr(text, lines[_i]) != NULL, "%s", text);
	else
		ck_assert_ptr_null(strstr(text, "child process"));
	advised__free(&x);
}
END_TEST

/* Who is stopped or frozen has work. */
START_TEST(who_is_frozen_is_not_said_to_have_no_work)
{
	static const char *const causes[] = {"frozen", "stopped"};

	for (int i = 0; i < 2; i++) {
		struct advised x = blocked_for(causes[i]);
		char text[512] = "";
		FILE *out = fmemopen(text, sizeof(text), "w");

		ck_assert_uint_eq(x.a->n, 0);
		ck_assert_int_eq(qz_advise_text__head(out, x.a, 0, 1), 0);
		fclose(out);
		ck_assert_ptr_nonnull(strstr(text, causes[i]));
		ck_assert_msg(strstr(text, "That is none of its own doing.") != NULL, "%s", text);
		ck_assert_ptr_null(strstr(text, "has no work"));
		advised__free(&x);
	}
}
END_TEST

Suite *suite_advise_waiting(void)
{
	Suite *s = suite_create("advise_waiting");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, devices_that_are_waited_for_are_found);
	tcase_add_test(tc, who_comes_late_from_a_device_waited_for_it);
	tcase_add_test(tc, calls_of_devices_are_part_of_what_they_cost);
	tcase_add_test(tc, code_that_faults_is_no_call_of_a_device);
	tcase_add_test(tc, idle_servers_have_no_finding);
	tcase_add_test(tc, events_that_wake_all_are_found);
	tcase_add_test(tc, who_wakes_a_herd_has_no_small_steps);
	tcase_add_test(tc, who_is_frozen_for_a_while_is_said_to_be);
	tcase_add_loop_test(tc, children_that_are_left_out_are_told, 0, 3);
	tcase_add_test(tc, who_is_frozen_is_not_said_to_have_no_work);
	suite_add_tcase(s, tc);
	return s;
}
