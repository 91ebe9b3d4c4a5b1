/* SPDX-License-Identifier: GPL-2.0-only */
/* Steps that are too small: threads that are started, calls. */
#include <check.h>
#include <string.h>

#include "tests/unit/core/advise/advised.h"
#include "tests/unit/suites.h"

/* One of two processors works: in pthread_create for this share of 1,000 ms, else in `load`. */
static struct fixture starting(uint64_t ms, uint64_t threads)
{
	static const uint64_t level_ns[] = {0, 1000 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), main = fixture__thread(&f, scope, 1);

	fixture__samples(&f, scope, main, "main spawn pthread_create", 1, ms);
	fixture__samples(&f, scope, main, "main load", 1, 1000 - ms);
	f.p->scopes[0].counters.threads_seen = threads;
	return f;
}

START_TEST(small_steps_are_no_serial_phase)
{
	struct fixture f = starting(900, 1000);
	struct advised x = advised__new(&f, 2);
	const struct qz_finding *found = advised__find(x.a, "steps");

	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found->subject.name, "spawn");
	ck_assert_uint_eq(found->gain_low_ns / MS, 810);
	ck_assert_uint_eq(found->gain_high_ns / MS, 1000);
	ck_assert_ptr_null(advised__find(x.a, "serial"));
	advised__free(&x);
}
END_TEST

/* 900 ms for 900 threads and 100 processes. */
START_TEST(what_a_start_costs_is_told)
{
	struct fixture f = starting(900, 1000);
	const struct qz_finding *found;
	struct advised x;
	bool told = false;

	f.p->scopes[0].counters.threads_started = 900;
	f.p->scopes[0].counters.processes_started = 100;
	x = advised__new(&f, 2);
	found = advised__find(x.a, "steps");
	ck_assert_ptr_nonnull(found);
	for (uint32_t i = 0; i < found->nevidence; i++)
		told |= !strcmp(
			found->evidence[i].text,
			"900 threads and 100 processes were started, each cost 900 us of CPU time");
	ck_assert(told);
	advised__free(&x);
}
END_TEST

START_TEST(the_start_of_a_command_is_no_step)
{
	struct fixture f = starting(900, 3);
	struct advised x = advised__new(&f, 2);

	ck_assert_ptr_null(advised__find(x.a, "steps"));
	advised__free(&x);
}
END_TEST

/* One of two processors works, or none, all of the time in a call: so many of 1,000 ms copy there. */
static struct fixture calling(uint64_t copies_ms, uint64_t idle_ms)
{
	static const char *const kernel[] = {"do_syscall_64", "copy_folio_from_iter_atomic",
					     "shmem_write_end"};
	const uint64_t level_ns[] = {idle_ms * MS, 1000 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), main = fixture__thread(&f, scope, 1);

	fixture__samples(&f, scope, main, "main io do_syscall_64 copy_folio_from_iter_atomic", 1,
			 copies_ms);
	fixture__samples(&f, scope, main, "main io do_syscall_64 shmem_write_end", 1,
			 1000 - copies_ms);
	for (size_t i = 0; !f.err && i < sizeof(kernel) / sizeof(kernel[0]); i++)
		f.err = qz_profile__set_string(
			&f.p->procedures[fixture__procedure(f.p, kernel[i])].module, "[kernel]");
	return f;
}

/* So many reads and writes, of so many bytes, take 900 of 1,000 ms; the first sentence about them. */
static void copying(struct qz_transfers of, const char *proof, const char *remedy)
{
	struct fixture f = fixture__new();
	const uint64_t level_ns[] = {0, 1000 * MS, 0};
	uint32_t scope = fixture__scope(&f, level_ns, 3), main = fixture__thread(&f, scope, 1);
	const struct qz_finding *found;
	struct advised x;
	bool told = false;

	fixture__samples(&f, scope, main, "main copy do_syscall_64 ksys_read", 1, 500);
	fixture__samples(&f, scope, main, "main copy do_syscall_64 ksys_write", 1, 400);
	fixture__samples(&f, scope, main, "main copy", 1, 100);
	for (uint32_t i = 0; i < f.p->nprocedures; i++)
		if (strstr(f.p->procedures[i].name, "sys"))
			f.err |= qz_profile__set_string(&f.p->procedures[i].module, "[kernel]");
	f.p->scopes[0].counters.transfers = of;
	x = advised__new(&f, 2);
	found = advised__find(x.a, "steps");
	ck_assert_ptr_nonnull(found);
	for (uint32_t i = 0; i < found->nevidence; i++)
		told |= !strcmp(found->evidence[i].text, proof);
	ck_assert_msg(told, "%s", proof);
	ck_assert_msg(strstr(found->remedy, remedy) != NULL, "%s", found->remedy);
	advised__free(&x);
}

START_TEST(what_a_call_moves_is_told)
{
	copying((struct qz_transfers) {500000, 500004, 400000, 400000},
		"500000 reads of 1 byte and 400000 writes of 1 byte on average, each took 1.0 us "
		"of CPU time",
		"bs=64k");
	copying((struct qz_transfers) {9000000, 4 * 9000000, 5, 1 << 20},
		"9000000 reads of 4 bytes on average, each took 0.1 us of CPU time", "bs=64k");
	/* who has large blocks is not told to take larger ones */
	copying((struct qz_transfers) {1000, 1000 << 16, 1000, 1000 << 16},
		"1000 reads of 64 KiB and 1000 writes of 64 KiB on average, each took 450.0 us of "
		"CPU time",
		"fewer calls");
}
END_TEST

/* Who waits for a device for longer than its calls run is not told to make them larger, but to sync less often. */
START_TEST(calls_that_wait_for_devices_are_no_small_steps)
{
	static const uint64_t idle_ms[] = {1500, 500};
	struct fixture f = calling(100, idle_ms[_i]);
	struct advised x;

	advised__waited(&f, 0, "main io", "disk", (struct advised_waits) {0, 100, idle_ms[_i], 0});
	x = advised__new(&f, 2);
	ck_assert_str_eq(x.a->findings[0].rule, _i ? "steps" : "overlap");
	if (!_i) {
		ck_assert_ptr_null(advised__find(x.a, "steps"));
		ck_assert_uint_eq(x.a->findings[0].gain_high_ns, 2500 * MS);
	}
	advised__free(&x);
}
END_TEST

/* Who copies for more than half of the time has blocks that are large. */
START_TEST(calls_with_large_blocks_are_not_too_small)
{
	struct fixture f = calling(100, 0);
	struct advised x = advised__new(&f, 2);

	ck_assert_ptr_nonnull(advised__find(x.a, "steps"));
	ck_assert_str_eq(advised__find(x.a, "steps")->word, "CALLS TOO SMALL");
	advised__free(&x);
	f = calling(550, 0);
	x = advised__new(&f, 2);
	ck_assert_ptr_null(advised__find(x.a, "steps"));
	advised__free(&x);
}
END_TEST

/* A server that waits for requests most of the time gets no more of them with larger calls; a command that waits ends. */
START_TEST(who_has_no_work_waits_for_it_with_larger_calls_too)
{
	static const uint64_t level_ns[] = {1500 * MS, 1000 * MS, 0};

	for (int ended = 0; ended < 2; ended++) {
		struct fixture f = calling(100, 0);
		struct qz_wait wait = {
			.thread = 0, .object = QZ_NONE, .blocked_ns = 1500 * MS, .count = 1000};
		struct advised x;

		fixture__wait(&f, &wait, "main io recv", "socket");
		memcpy(f.p->scopes[0].level_ns, level_ns, sizeof(level_ns));
		f.p->scopes[0].kind = ended ? QZ_SCOPE_JOB : QZ_SCOPE_PROCESS;
		f.p->scopes[0].ended = ended;
		f.p->threads[0].running_ns = 1000 * MS;
		qz_scope__sum_levels(&f.p->scopes[0]);
		x = advised__new(&f, 2);
		ck_assert_ptr_nonnull(advised__find(x.a, "steps"));
		ck_assert_uint_eq(advised__find(x.a, "steps")->gain_high_ns / MS,
				  ended ? 2500 : 1000);
		advised__free(&x);
	}
}
END_TEST

/* A queue of 400 ms: in what asks for these calls, or elsewhere. */
static struct fixture queueing(const char *stack)
{
	struct fixture f = calling(100, 0);
	struct qz_wait wait = {.thread = 0, .blocked_ns = 400 * MS, .nominal = 1, .count = 10};

	wait.object = fixture__object(&f, 0, QZ_OBJECT_LOCK, "the inode's lock of /tmp/log");
	fixture__wait(&f, &wait, stack, "pwrite64");
	if (!f.err) {
		f.p->objects[wait.object].queue_ns[1] = 400 * MS;
		f.p->objects[wait.object].waits = 10;
	}
	return f;
}

START_TEST(a_lock_of_the_kernel_is_named_with_the_calls_that_queue_for_it)
{
	struct fixture f = queueing("main io");
	struct advised x = advised__new(&f, 2);
	const struct qz_finding *found = advised__find(x.a, "steps");

	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found->word, "CONTENDED");
	ck_assert_ptr_nonnull(strstr(found->what, "the inode's lock of /tmp/log 40%"));
	ck_assert_ptr_nonnull(strstr(found->remedy, "larger writes"));
	ck_assert_ptr_null(advised__find(x.a, "contention"));
	advised__free(&x);
	f = queueing("main other");
	x = advised__new(&f, 2);
	ck_assert_ptr_nonnull(advised__find(x.a, "steps"));
	ck_assert_str_eq(advised__find(x.a, "steps")->word, "CALLS TOO SMALL");
	advised__free(&x);
}
END_TEST

/* Nor are they divided among threads: the work is, of 800 ms. */
START_TEST(few_steps_are_not_too_small)
{
	struct fixture f = starting(200, 1000);
	struct advised x = advised__new(&f, 2);
	const struct qz_finding *found = advised__find(x.a, "serial");

	ck_assert_ptr_null(advised__find(x.a, "steps"));
	ck_assert_ptr_nonnull(found);
	ck_assert_uint_eq(found->gain_high_ns / MS, 400);
	advised__free(&x);
}
END_TEST

START_TEST(one_processor_leaves_nothing_to_divide)
{
	static const uint64_t level_ns[] = {0, 1000 * MS};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 2);
	struct advised x;

	fixture__samples(&f, scope, fixture__thread(&f, scope, 1), "main work", 1, 100);
	x = advised__new(&f, 1);
	ck_assert_uint_eq(x.a->n, 0);
	advised__free(&x);
}
END_TEST

Suite *suite_advise_steps(void)
{
	Suite *s = suite_create("advise_steps");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, small_steps_are_no_serial_phase);
	tcase_add_test(tc, what_a_start_costs_is_told);
	tcase_add_test(tc, what_a_call_moves_is_told);
	tcase_add_test(tc, the_start_of_a_command_is_no_step);
	tcase_add_loop_test(tc, calls_that_wait_for_devices_are_no_small_steps, 0, 2);
	tcase_add_test(tc, calls_with_large_blocks_are_not_too_small);
	tcase_add_test(tc, who_has_no_work_waits_for_it_with_larger_calls_too);
	tcase_add_test(tc, a_lock_of_the_kernel_is_named_with_the_calls_that_queue_for_it);
	tcase_add_test(tc, few_steps_are_not_too_small);
	tcase_add_test(tc, one_processor_leaves_nothing_to_divide);
	suite_add_tcase(s, tc);
	return s;
}
