/* SPDX-License-Identifier: GPL-2.0-only */
/* Which threads are idle, and which belong together. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/estimate/estimate.h"
#include "core/threads/thread_groups.h"
#include "core/report/wakeup_report.h"
#include "tests/unit/failing.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define SECOND 1000000000ull

/* A thread that ran `ran` ms of 10 s and was blocked for the rest, waiting so often. */
static void add(struct fixture *f, int32_t tid, uint64_t ran, const char *stack, const char *cause,
		uint32_t object, uint64_t count)
{
	uint32_t thread = fixture__thread(f, 0, tid);
	struct qz_wait wait = {.thread = thread,
			       .object = object,
			       .count = count,
			       .blocked_ns = 10 * SECOND - ran * 1000000};

	ck_assert_int_eq(f->err, 0);
	f->p->threads[thread].running_ns = ran * 1000000;
	f->p->threads[thread].blocked_ns = wait.blocked_ns;
	fixture__wait(f, &wait, stack, cause);
	if (ran)
		fixture__samples(f, 0, thread, stack, 1, ran);
}

static struct fixture known(void)
{
	static const uint64_t level_ns[] = {0, 10 * SECOND, 0};
	struct fixture f = fixture__new();
	uint32_t condition, mutex;

	fixture__scope(&f, level_ns, 3);
	condition = fixture__object(&f, 0, QZ_OBJECT_CONDITION, "c");
	mutex = fixture__object(&f, 0, QZ_OBJECT_MUTEX, "m");
	add(&f, 1, 50, "main join", "sleep", QZ_NONE, 10);			/* 0: idle */
	add(&f, 2, 3, "main [thread] service wait", "futex", condition, 1);	/* 1: idle */
	add(&f, 3, 0, "main [thread] service wait", "futex", condition, 1);	/* 2: idle */
	add(&f, 4, 3, "main [thread] worker lock", "futex", mutex, 1);		/* 3: at a lock */
	add(&f, 5, 3, "main [thread] worker wait", "futex", condition, 2000);	/* 4: often */
	add(&f, 6, 300, "main [thread] worker wait", "futex", condition, 1);	/* 5: has work */
	add(&f, 7, 3, "main [thread] start_thread worker", "pipe", QZ_NONE, 1); /* 6: a pipe */
	if (!f.err)
		f.err = qz_estimate__profile(f.p);
	ck_assert_int_eq(f.err, 0);
	return f;
}

START_TEST(idle_threads_only_waited_for_work)
{
	static const bool idle[] = {true, true, true, false, false, false, false};
	struct fixture f = known();
	struct qz_report *r = qz_report__new(f.p, 0);

	ck_assert_uint_eq(r->nidle, 3);
	for (uint32_t i = 0; i < 7; i++)
		ck_assert_msg(r->idle[i] == idle[i], "thread %u", i);
	ck_assert_uint_eq(r->waits.idle_ns, 29947000000);
	ck_assert_uint_eq(qz_wait_figure__blocked(&r->waits), r->waits.blocked_ns - 29947000000);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

/* One that is idle in two places may hand something from one to the other. */
START_TEST(idle_threads_have_one_place)
{
	static const uint64_t level_ns[] = {10 * SECOND, 0};
	struct fixture f = fixture__new();
	struct qz_wait wait = {.object = QZ_NONE, .count = 1, .blocked_ns = 1 * SECOND};
	struct qz_report *r;

	fixture__scope(&f, level_ns, 2);
	add(&f, 1, 0, "main", "poll", QZ_NONE, 1);
	f.p->threads[0].blocked_ns += 1 * SECOND;
	fixture__wait(&f, &wait, "main", "sleep");
	ck_assert_int_eq(f.err ?: qz_estimate__profile(f.p), 0);
	r = qz_report__new(f.p, 0);
	ck_assert_uint_eq(r->nidle, 0);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(groups_have_a_start_procedure)
{
	struct fixture f = known();
	struct qz_report *r = qz_report__new(f.p, 0);
	struct qz_thread_groups g;
	uint64_t blocked = 0, norm = 0, all = 0;
	uint32_t n = 0;

	ck_assert_int_eq(qz_thread_groups__find(r, &g), 0);
	ck_assert_uint_eq(g.n, 3);
	ck_assert_uint_eq(g.groups[0].start, fixture__procedure(f.p, "worker"));
	ck_assert_uint_eq(g.groups[0].n, 4); /* start_thread is no procedure of the program */
	ck_assert(!g.groups[0].idle);
	ck_assert_uint_eq(g.groups[1].start, QZ_NONE);
	ck_assert(g.groups[1].first && g.groups[1].idle);
	ck_assert_uint_eq(g.groups[2].start, fixture__procedure(f.p, "service"));
	ck_assert_uint_eq(g.groups[2].n, 2);
	for (uint32_t i = 0; i < g.n; i++) {
		n += g.groups[i].n;
		norm += g.groups[i].figure.norm_ns;
		blocked += g.groups[i].blocked_ns;
	}
	for (uint32_t i = 0; i < r->nthreads; i++) {
		ck_assert_uint_eq(g.start[i], g.groups[g.group[i]].start);
		ck_assert_uint_eq(r->idle[r->threads[i].thread], g.groups[g.group[i]].idle);
		all += r->threads[i].figure.norm_ns;
	}
	ck_assert_uint_eq(n, 7);
	ck_assert_uint_eq(norm, all);
	ck_assert_uint_eq(blocked, r->waits.blocked_ns);
	qz_thread_groups__free(&g);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

static void make_python(struct qz_profile *p, const char *name, const char *file)
{
	struct qz_procedure *procedure = &p->procedures[fixture__procedure(p, name)];

	free(procedure->module);
	free(procedure->file);
	procedure->module = strdup(QZ_PYTHON_MODULE);
	procedure->file = strdup(file);
}

/* A sample in what Python's library does before it calls what the program gave does not tell what that is. */
START_TEST(threads_of_python_have_the_programs_start)
{
	static const uint64_t level_ns[] = {0, 10 * SECOND, 0};
	struct fixture f = fixture__new();
	struct qz_thread_groups g;
	struct qz_report *r;

	fixture__scope(&f, level_ns, 3);
	add(&f, 1, 50, "main [thread] set attribute", "futex", QZ_NONE, 1);
	fixture__samples(&f, 0, 0, "main [thread] worker spin", 1, 40);
	free(f.p->procedures[fixture__procedure(f.p, "attribute")].module);
	f.p->procedures[fixture__procedure(f.p, "attribute")].module =
		strdup("/usr/bin/python3.11");
	make_python(f.p, "set", "/usr/lib/python3.11/threading.py");
	make_python(f.p, "worker", "/home/u/work.py");
	make_python(f.p, "spin", "/home/u/work.py");
	ck_assert_int_eq(f.err ?: qz_estimate__profile(f.p), 0);
	r = qz_report__new(f.p, 0);
	ck_assert_int_eq(qz_thread_groups__find(r, &g), 0);
	ck_assert_uint_eq(g.n, 1);
	ck_assert_uint_eq(g.groups[0].start, fixture__procedure(f.p, "worker"));
	qz_thread_groups__free(&g);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

/* Nor does Ruby's own code, which calls that. */
START_TEST(threads_of_ruby_have_the_programs_start)
{
	static const uint64_t level_ns[] = {0, 10 * SECOND, 0};
	struct fixture f = fixture__new();
	struct qz_thread_groups g;
	struct qz_procedure *library, *block;
	struct qz_report *r;

	fixture__scope(&f, level_ns, 3);
	fixture__thread(&f, 0, 1);
	fixture__samples(&f, 0, 0, "main [thread] thread_start_func_1 block spin", 1, 40);
	library = &f.p->procedures[fixture__procedure(f.p, "thread_start_func_1")];
	free(library->module);
	library->module = strdup("/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1.2");
	block = &f.p->procedures[fixture__procedure(f.p, "block")];
	free(block->module);
	block->module = strdup(QZ_RUBY_MODULE);
	ck_assert_int_eq(f.err ?: qz_estimate__profile(f.p), 0);
	r = qz_report__new(f.p, 0);
	ck_assert_int_eq(qz_thread_groups__find(r, &g), 0);
	ck_assert_uint_eq(g.n, 1);
	ck_assert_uint_eq(g.groups[0].start, fixture__procedure(f.p, "block"));
	qz_thread_groups__free(&g);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(wakes_by_nobody_are_told_apart)
{
	struct fixture f = known();
	struct qz_woken woken;
	struct qz_report *r;

	fixture__waking(&f, &(struct qz_waking) {0, QZ_NONE, 0, QZ_NONE, 2, 5 * SECOND}, "");
	fixture__waking(&f, &(struct qz_waking) {0, QZ_NONE, 0, 1, 1, 3 * SECOND}, "");
	fixture__waking(&f, &(struct qz_waking) {0, 3, 0, 1, 1, 2 * SECOND},
			"main [thread] worker");
	ck_assert_int_eq(f.err, 0);
	r = qz_report__new(f.p, 0);
	ck_assert_int_eq(qz_wakeup_report__woken(r, &woken), 0);
	ck_assert_uint_eq(woken.woken_ns, 10 * SECOND);
	ck_assert_uint_eq(woken.nobody_ns, 8 * SECOND);
	ck_assert_uint_eq(woken.nobody_wakes, 3);
	ck_assert_uint_eq(woken.nobody_futex_ns, 3 * SECOND);
	ck_assert_uint_eq(woken.unattributed_ns, 8 * SECOND);
	ck_assert_uint_eq(woken.idle_ns, 0);
	free(woken.rows);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(groups_report_lack_of_memory)
{
	struct fixture f = known();
	struct qz_report *r = qz_report__new(f.p, 0);
	struct qz_thread_groups g;
	int err = -ENOMEM;

	for (unsigned int n = 1; err; n++) {
		failing__arm(n);
		err = qz_thread_groups__find(r, &g);
		ck_assert_int_eq(failing__disarm(), err == -ENOMEM);
		qz_thread_groups__free(&g);
	}
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

Suite *suite_thread_groups(void)
{
	Suite *s = suite_create("thread_groups");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, idle_threads_only_waited_for_work);
	tcase_add_test(tc, idle_threads_have_one_place);
	tcase_add_test(tc, groups_have_a_start_procedure);
	tcase_add_test(tc, threads_of_python_have_the_programs_start);
	tcase_add_test(tc, threads_of_ruby_have_the_programs_start);
	tcase_add_test(tc, wakes_by_nobody_are_told_apart);
	tcase_add_test(tc, groups_report_lack_of_memory);
	suite_add_tcase(s, tc);
	return s;
}
