/* SPDX-License-Identifier: GPL-2.0-only */
/* Work that several threads share: who has most of it, who waits for whom, and in which language. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/advise/verdict.h"
#include "tests/unit/core/advise/advised.h"
#include "tests/unit/suites.h"

static struct fixture shared_loop(uint64_t alone, uint64_t together)
{
	const uint64_t level_ns[] = {0, alone * MS, together * MS};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), main = fixture__thread(&f, scope, 1);
	uint32_t worker = fixture__thread(&f, scope, 2);

	fixture__samples(&f, scope, main, "main loop", 1, alone);
	fixture__samples(&f, scope, main, "main loop", 2, together);
	fixture__samples(&f, scope, worker, "main [thread] loop", 2, together);
	return f;
}

static struct advised shared_work(uint64_t alone, uint64_t together)
{
	struct fixture f = shared_loop(alone, together);

	return advised__new(&f, 2);
}

START_TEST(imbalance_is_found)
{
	struct advised x = shared_work(600, 400);
	const struct qz_finding *found = advised__find(x.a, "imbalance");
	char *verdict = qz_verdict__text(x.a);

	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found->subject.name, "loop");
	ck_assert_uint_eq(found->gain_high_ns, 300 * MS);
	ck_assert_uint_eq(found->gain_low_ns, 195 * MS);
	ck_assert_int_eq(strncmp(verdict, "UNBALANCED: ", 12), 0);
	ck_assert_ptr_null(advised__find(x.a, "serial"));
	free(verdict);
	advised__free(&x);
}
END_TEST

/* A lock at which they hardly ever wait is not why the others do nothing. */
START_TEST(imbalance_with_a_lock_is_found)
{
	static const uint64_t blocked_ms[] = {5, 500};
	struct fixture f = shared_loop(600, 400);
	struct qz_wait wait = {.thread = 1, .count = 10, .nominal = 1};
	struct advised x;

	wait.object = fixture__object(&f, 0, QZ_OBJECT_MUTEX, "lock");
	wait.blocked_ns = blocked_ms[_i] * MS;
	fixture__wait(&f, &wait, "main [thread] loop", "futex");
	x = advised__new(&f, 2);
	ck_assert_int_eq(!advised__find(x.a, "imbalance"), _i);
	advised__free(&x);
}
END_TEST

/*
 * A shell and its children, say, which run the same code one after another: none runs while another one does, or
 * their lives do not overlap.
 */
START_TEST(processes_that_share_work_run_at_once)
{
	static const struct {
		uint64_t together, began;
	} cases[] = {{100, 0}, {0, 0}, {100, 700}};
	uint64_t together = cases[_i].together;
	const uint64_t level_ns[] = {0, (1000 - together) * MS, together * MS};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), one = fixture__thread(&f, scope, 1);
	uint32_t two = fixture__thread(&f, scope, 2);
	const struct qz_finding *found;
	struct advised x;

	fixture__samples(&f, scope, one, "main execute", 1, 800 - together);
	fixture__samples(&f, scope, one, "main execute", 2, together);
	fixture__samples(&f, scope, two, "main [process] execute", 1, 200);
	fixture__samples(&f, scope, two, "main [process] execute", 2, together);
	advised__lived(&f, one, 1, 0, _i == 2 ? 800 : 1000, 800);
	advised__lived(&f, two, 2, cases[_i].began, 1000, 200 + together);
	x = advised__new(&f, 2);
	found = advised__find(x.a, "imbalance");
	ck_assert_int_eq(!found, _i > 0);
	if (found) {
		ck_assert_ptr_nonnull(strstr(found->what, "2 processes run execute"));
		ck_assert_ptr_null(strstr(found->remedy, "OpenMP"));
	}
	advised__free(&x);
}
END_TEST

static void add_locked(struct fixture *f, uint32_t thread, bool spinning, const char *words)
{
	struct qz_sample sample = {.thread = thread,
				   .level = 2,
				   .busy = 1,
				   .spinning = spinning,
				   .object = QZ_NONE,
				   .count = 500,
				   .node = fixture__stack(f, words)};

	if (!f->err)
		f->err = qz_profile__add_samples(f->p, &sample);
}

static void be_of_library(struct qz_profile *p, const char *name, const char *module)
{
	struct qz_procedure *procedure = &p->procedures[fixture__procedure(p, name)];

	free(procedure->module);
	procedure->module = strdup(module);
}

/* What a spin loop is for is not known by its code: the one of OpenMP is, by its library. */
START_TEST(who_waits_for_a_spin_lock_is_contended)
{
	for (int openmp = 0; openmp < 2; openmp++) {
		static const uint64_t level_ns[] = {0, 0, 1000 * MS};
		struct fixture f = fixture__new();
		uint32_t scope = fixture__scope(&f, level_ns, 3);
		uint32_t threads[] = {fixture__thread(&f, scope, 1), fixture__thread(&f, scope, 2)};
		const struct qz_finding *found;
		struct advised x;
		char *verdict;

		for (size_t t = 0; t < 2; t++) {
			add_locked(&f, threads[t], false, "main [thread] loop");
			add_locked(&f, threads[t], true, "main [thread] loop take_lock");
		}
		if (openmp)
			be_of_library(f.p, "take_lock", "/usr/lib/libgomp.so.1");
		x = advised__new(&f, 2);
		found = advised__find(x.a, "imbalance");
		ck_assert_ptr_nonnull(found);
		ck_assert_str_eq(found->subject.name, "loop");
		ck_assert_int_eq(!strstr(found->what, "take_lock"), openmp);
		verdict = qz_verdict__text(x.a);
		ck_assert_int_eq(!!strncmp(verdict, "CONTENDED: ", 11), openmp);
		free(verdict);
		advised__free(&x);
	}
}
END_TEST

/*
 * Two threads that work in turns and sleep at a word of their own each, until the other one wakes them: that is a lock. It is none
 * where there is one word with a queue of two, where another thread wakes them, or where one has so much more to do that
 * the other one waits for it. A third one that sleeps there until they end, and wakes none, changes nothing. In a
 * library's code, it is a pool that has nothing to do.
 */
START_TEST(who_parks_is_contended)
{
	static const uint64_t ran_ms[][2] = {{500, 500}, {500, 500}, {500, 500}, {600, 400},
					     {900, 100}, {500, 500}, {500, 500}};
	static const char *const stacks[][3] = {
		{"main [thread] loop get", "main [thread] loop get park",
		 "main [thread] loop get unpark"},
		{"main [thread] loop core::call", "main [thread] loop core::call park",
		 "main [thread] loop core::call unpark"}};
	bool locked = _i == 0 || _i == 3 || _i == 5;
	static const uint64_t level_ns[] = {0, 1000 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), threads[3], words;
	struct qz_wait joins;
	const struct qz_finding *found;
	struct advised x;

	for (int32_t i = 0; i < 3; i++)
		threads[i] = fixture__thread(&f, scope, i + 1);
	words = fixture__object(&f, scope, QZ_OBJECT_OTHER, "park");
	joins = (struct qz_wait) {
		.thread = threads[2], .object = words, .count = 1, .blocked_ns = 3000 * MS};
	f.p->objects[words].grouped = 2;
	f.p->objects[words].queue_ns[_i == 1 ? 2 : 1] = 500 * MS;
	for (int i = 0; i < 2; i++) {
		const struct qz_wait wait = {.thread = threads[i],
					     .object = words,
					     .nominal = 1,
					     .count = 100,
					     .blocked_ns = 500 * MS};
		const struct qz_waking waking = {
			.thread = threads[_i == 2 ? 2 : 1 - i], .object = words, .count = 100};

		advised__lived(&f, threads[i], 1, 0, 1000, ran_ms[_i][i]);
		fixture__samples(&f, scope, threads[i], stacks[_i == 6][0], 1, ran_ms[_i][i]);
		fixture__wait(&f, &wait, stacks[_i == 6][1], "futex");
		fixture__waking(&f, &waking, stacks[_i == 6][2]);
	}
	if (_i == 5)
		fixture__wait(&f, &joins, "main join park", "futex");
	x = advised__new(&f, 2);
	found = x.a->findings;
	ck_assert_uint_ge(x.a->n, 1);
	ck_assert_str_eq(found->rule, locked ? "parked" : "imbalance");
	ck_assert_str_eq(found->word, locked	? "CONTENDED"
				      : _i == 4 ? "UNBALANCED"
						: "TAKING TURNS");
	if (locked) {
		ck_assert_ptr_nonnull(
			strstr(found->evidence[0].text, "they slept there 200 times, 1.00 s"));
		ck_assert_str_eq(found->where, "taken in get, let go of in unpark");
		ck_assert_uint_eq(found->gain_high_ns, (_i == 3 ? 400 : 500) * MS);
	}
	advised__free(&x);
}
END_TEST

/*
 * HotSpot's interpreter has one name for all methods: a phase of one is named after what it calls, or after what runs it. Ruby's has
 * none: what its users wrote is not its code.
 */
START_TEST(methods_without_names_are_told)
{
	static const uint64_t level_ns[] = {0, 500 * MS, 500 * MS};
	static const struct {
		const char *stack, *subject, *where, *shown;
	} cases[] = {
		{"main Interpreter burn", "burn", "called by methods that Java interprets",
		 "burn "},
		{"main JavaMain Interpreter", "JavaMain", "it runs methods that Java interprets",
		 "JavaMain "},
		{"main burn", "burn", NULL, "burn "},
		{"main vm_exec_core", "vm_exec_core", "methods of Ruby have no names",
		 "Ruby code "},
		{"main Perl_runops_standard", "Perl_runops_standard",
		 "procedures of Perl have no names", "Perl code "},
		{"main evaltree", "evaltree", "lines of shell scripts have no names",
		 "Shell code "},
		{"main Perl_runops_standard Perl_pp_sort", "Perl_pp_sort", NULL, "Perl_pp_sort "},
		{"main Interpreter parse burn", "burn", NULL, "burn "},
	};
	static const char *const modules[][2] = {{"Interpreter", "[jit]"},
						 {"JavaMain", "/usr/lib/libjli.so"},
						 {"vm_exec_core", "/usr/lib/libruby.so.3"},
						 {"Perl_runops_standard", "/usr/bin/perl"},
						 {"Perl_pp_sort", "/usr/bin/perl"},
						 {"evaltree", "/usr/bin/dash"},
						 {"burn", "[jit]"},
						 {"parse", "[jit]"}};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3);
	uint32_t threads[] = {fixture__thread(&f, scope, 1), fixture__thread(&f, scope, 2)};
	const struct qz_finding *found;
	struct advised x;

	fixture__samples(&f, scope, threads[0], cases[_i].stack, 1, 500);
	for (size_t t = 0; t < 2; t++)
		fixture__samples(&f, scope, threads[t], "main [thread] compute", 2, 500);
	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
		if (strstr(cases[_i].stack, modules[i][0]))
			be_of_library(f.p, modules[i][0], modules[i][1]);
	x = advised__new(&f, 2);
	found = advised__find(x.a, "serial");
	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found->subject.name, cases[_i].subject);
	ck_assert_int_eq(strncmp(found->what, cases[_i].shown, strlen(cases[_i].shown)), 0);
	if (cases[_i].where)
		ck_assert_ptr_nonnull(strstr(found->where, cases[_i].where));
	else
		ck_assert_ptr_null(found->where);
	advised__free(&x);
}
END_TEST

/*
 * Code that the first thread runs alone, and two others together later, as of a method that no caller of has a name. Where the first one
 * does half of its part beside them, it is the slowest of three.
 */
START_TEST(who_runs_shared_code_alone_is_serial)
{
	static const uint64_t level_ns[] = {0, 500 * MS, 500 * MS};
	static const uint64_t ran_ms[][2] = {{500, 0}, {250, 250}};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), threads[3];
	const struct qz_finding *found;
	struct advised x;

	for (int32_t i = 0; i < 3; i++)
		threads[i] = fixture__thread(&f, scope, i + 1);
	fixture__samples(&f, scope, threads[0], "main burn", 1, ran_ms[_i][0]);
	if (_i)
		fixture__samples(&f, scope, threads[0], "main burn", 2, ran_ms[_i][1]);
	for (int i = 1; i < 3; i++) {
		fixture__samples(&f, scope, threads[i], "main [thread] burn", 2, 450);
		if (_i)
			fixture__samples(&f, scope, threads[i], "main [thread] burn", 1, 100);
	}
	x = advised__new(&f, 2);
	found = advised__find(x.a, _i ? "imbalance" : "serial");
	ck_assert_ptr_nonnull(found);
	ck_assert_ptr_null(advised__find(x.a, _i ? "serial" : "imbalance"));
	ck_assert_str_eq(found->shown, "burn");
	advised__free(&x);
}
END_TEST

/*
 * A collection has all stopped while it computes and while it waits for its helpers; what waits for its end, and a collector that works
 * beside the program, add nothing.
 */
START_TEST(collections_that_stop_the_world_are_named)
{
	static const uint64_t level_ns[] = {100 * MS, 600 * MS, 300 * MS};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), vm, helper;
	struct qz_wait wait = {.object = QZ_NONE, .count = 10, .blocked_ns = 150 * MS};
	const struct qz_finding *found;
	struct advised x;

	vm = fixture__thread(&f, scope, 1);
	helper = fixture__thread(&f, scope, 2);
	fixture__samples(&f, scope, vm, "main [thread] run VM_G1CollectForAllocation::doit() mark",
			 1, 200);
	fixture__samples(
		&f, scope, helper,
		_i ? "main [thread] run G1ConcurrentMark::mark"
		   : "main [thread] VM_G1CollectForAllocation::doit() [thread] GangWorker::loop()",
		1, 400);
	fixture__samples(&f, scope, helper, "main work", 2, 600);
	wait.thread = vm;
	fixture__wait(&f, &wait, "main [thread] run VM_G1CollectForAllocation::doit() park",
		      "futex");
	wait.thread = helper;
	wait.blocked_ns = 300 * MS;
	fixture__wait(&f, &wait, "main work VMThread::execute(VM_Operation*)", "futex");
	x = advised__new(&f, 2);
	found = advised__find(x.a, "collection");
	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found->word, "COLLECTING");
	ck_assert_uint_eq(found->gain_high_ns, 350 * MS);
	ck_assert_ptr_nonnull(
		strstr(found->what, "Java's garbage collection stops all threads for 35%"));
	ck_assert_ptr_nonnull(strstr(found->remedy, "-Xmx"));
	advised__free(&x);
}
END_TEST

/* Any thread runs a goroutine: what tells a phase of one from the work of all is what it was started with. */
START_TEST(a_phase_of_a_goroutine_is_named)
{
	static const uint64_t level_ns[] = {0, 500 * MS, 500 * MS};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3);
	const struct qz_finding *found;
	struct advised x;

	for (int32_t i = 0; i < 2; i++) {
		uint32_t thread = fixture__thread(&f, scope, i + 1);

		fixture__samples(&f, scope, thread,
				 "runtime.goexit.abi0 runtime.main main.main main.parse main.burn",
				 1, 250);
		fixture__samples(&f, scope, thread,
				 "main.main [thread] runtime.goexit.abi0 main.compute main.burn", 2,
				 500);
	}
	x = advised__new(&f, 2);
	found = advised__find(x.a, "serial");
	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found->shown, "main.parse");
	ck_assert_ptr_null(advised__find(x.a, "imbalance"));
	advised__free(&x);
}
END_TEST

START_TEST(balanced_threads_have_no_finding)
{
	struct advised x = shared_work(20, 980);

	ck_assert_uint_eq(x.a->n, 0);
	advised__free(&x);
}
END_TEST

/* A serial phase and unbalanced threads are two losses: each has its own part of the time. */
START_TEST(losses_that_were_divided_are_both_told)
{
	static const uint64_t level_ns[] = {0, 700 * MS, 300 * MS};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), main = fixture__thread(&f, scope, 1);
	uint32_t worker = fixture__thread(&f, scope, 2);
	struct advised x;

	fixture__samples(&f, scope, main, "main load", 1, 400);
	fixture__samples(&f, scope, main, "main loop", 1, 300);
	fixture__samples(&f, scope, main, "main loop", 2, 300);
	fixture__samples(&f, scope, worker, "main [thread] loop", 2, 300);
	x = advised__new(&f, 2);
	ck_assert_uint_eq(x.a->n, 2);
	ck_assert_uint_eq(advised__find(x.a, "serial")->gain_high_ns, 200 * MS);
	ck_assert_str_eq(advised__find(x.a, "serial")->subject.name, "load");
	ck_assert_uint_eq(advised__find(x.a, "imbalance")->gain_high_ns, 150 * MS);
	advised__free(&x);
}
END_TEST

Suite *suite_advise_shared_work(void)
{
	Suite *s = suite_create("advise_shared_work");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, imbalance_is_found);
	tcase_add_loop_test(tc, imbalance_with_a_lock_is_found, 0, 2);
	tcase_add_loop_test(tc, processes_that_share_work_run_at_once, 0, 3);
	tcase_add_test(tc, who_waits_for_a_spin_lock_is_contended);
	tcase_add_loop_test(tc, who_parks_is_contended, 0, 7);
	tcase_add_loop_test(tc, methods_without_names_are_told, 0, 8);
	tcase_add_loop_test(tc, who_runs_shared_code_alone_is_serial, 0, 2);
	tcase_add_loop_test(tc, collections_that_stop_the_world_are_named, 0, 2);
	tcase_add_test(tc, a_phase_of_a_goroutine_is_named);
	tcase_add_test(tc, balanced_threads_have_no_finding);
	tcase_add_test(tc, losses_that_were_divided_are_both_told);
	suite_add_tcase(s, tc);
	return s;
}
