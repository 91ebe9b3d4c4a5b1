/* SPDX-License-Identifier: GPL-2.0-only */
/* The finding about threads that spin: when there is something to gain, and when there is not. */
#include <check.h>
#include <string.h>

#include "tests/unit/core/advise/advised.h"
#include "tests/unit/suites.h"

static const struct qz_finding *found(const struct advised *x)
{
	return advised__find(x->a, "spinning");
}

static void add(struct fixture *f, const char *words, uint32_t busy, bool spinning, uint64_t count)
{
	struct qz_sample sample = {.level = 2,
				   .busy = busy,
				   .spinning = spinning,
				   .object = QZ_NONE,
				   .count = count,
				   .node = fixture__stack(f, words)};

	if (!f->err)
		f->err = qz_profile__add_samples(f->p, &sample);
}

/* One second with both processors running: `alone` ms of them one works and the other spins, else both spin. */
static struct fixture pair(uint64_t alone)
{
	static const uint64_t level_ns[] = {0, 0, 1000 * MS};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3);

	fixture__thread(&f, scope, 1);
	add(&f, "main work", 1, false, alone);
	add(&f, "main wait_for_work", 1, true, alone);
	add(&f, "main wait_for_work", 0, true, 2 * (1000 - alone));
	return f;
}

static void ready(struct fixture *f, const char *words, uint64_t ns)
{
	struct qz_wait wait = {.object = QZ_NONE, .nominal = 3, .count = 10, .ready_ns = ns};

	fixture__wait(f, &wait, words, "preempted");
}

START_TEST(spinning_while_work_is_ready_is_found)
{
	struct fixture f = pair(1000);
	struct advised x;

	ready(&f, "main work", 1000 * MS);
	x = advised__new(&f, 2);
	ck_assert_ptr_nonnull(found(&x));
	ck_assert_int_eq(found(&x)->subject.kind, QZ_SUBJECT_PROCEDURE);
	ck_assert_str_eq(found(&x)->subject.name, "wait_for_work");
	/* two would have worked instead of one */
	ck_assert_uint_eq(found(&x)->gain_high_ns, 500 * MS);
	ck_assert_uint_eq(found(&x)->gain_low_ns, 0);
	advised__free(&x);
}
END_TEST

/* Who polls for io_uring is the kernel: the program cannot let it block, but do without it. */
START_TEST(polling_for_io_uring_is_told)
{
	static const uint64_t level_ns[] = {0, 0, 1000 * MS};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3);
	struct qz_sample sample = {.level = 2, .busy = 1, .spinning = true, .object = QZ_NONE};
	struct advised x;

	fixture__thread(&f, scope, 1);
	add(&f, "main work", 1, false, 1000);
	ready(&f, "main work", 1000 * MS);
	sample.thread = fixture__thread(&f, scope, 2);
	sample.count = 1000;
	sample.node = fixture__stack(&f, "main set_up");
	if (!f.err)
		f.err = qz_profile__set_string(&f.p->threads[sample.thread].comm,
					       _i ? "worker" : "iou-sqp-1");
	if (!f.err)
		f.err = qz_profile__add_samples(f.p, &sample);
	x = advised__new(&f, 2);
	ck_assert_ptr_nonnull(found(&x));
	ck_assert_str_eq(found(&x)->what,
			 _i ? "set_up waits without giving its CPU away: 50% of the CPU time is "
			      "spun, while other threads are ready and have no CPU."
			    : "io_uring's polling thread (set_up) waits without giving its CPU "
			      "away: 50% of the CPU time is spun, while other threads are ready "
			      "and have no CPU.");
	ck_assert_int_eq(!!strstr(found(&x)->remedy, "without IORING_SETUP_SQPOLL"), !_i);
	advised__free(&x);
}
END_TEST

/* Of code without a symbol, what the program has called says more. */
START_TEST(waits_of_mpi_are_called_by_what_was_called)
{
	static const char *const names[] = {"PMPI_Recv", "inner"};
	static const uint64_t level_ns[] = {0, 0, 1000 * MS};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3);
	struct advised x;

	fixture__thread(&f, scope, 1);
	add(&f, "main work", 1, false, 1000);
	add(&f, "main PMPI_Recv inner", 1, true, 1000);
	ready(&f, "main work", 500 * MS);
	for (int i = 0; i < 2 && !f.err; i++)
		f.err = qz_profile__set_string(
			&f.p->procedures[fixture__procedure(f.p, names[i])].module,
			i ? "/usr/lib/mca_btl_x.so" : "/usr/lib/libmpi.so.40");
	if (!f.err) /* a plus sign is of the fixture's own */
		f.err = qz_profile__set_string(
			&f.p->procedures[fixture__procedure(f.p, "inner")].name,
			"mca_btl_x.so+0x4d50");
	x = advised__new(&f, 2);
	ck_assert_ptr_nonnull(found(&x));
	ck_assert_str_eq(found(&x)->subject.name, "mca_btl_x.so+0x4d50");
	ck_assert_ptr_nonnull(strstr(found(&x)->what, "PMPI_Recv (mca_btl_x.so+0x4d50) waits"));
	ck_assert_ptr_nonnull(strstr(found(&x)->remedy, "mpi_yield_when_idle"));
	advised__free(&x);
}
END_TEST

/* Who asks by calls is to wait in one of them. */
START_TEST(calls_that_have_nothing_are_to_wait)
{
	static const uint64_t level_ns[] = {0, 0, 1000 * MS};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3);
	struct advised x;

	fixture__thread(&f, scope, 1);
	add(&f, "main work", 1, false, 1000);
	add(&f, "main look recv", 1, true, 1000);
	ready(&f, "main work", 500 * MS);
	if (!f.err)
		f.err = qz_profile__set_string(
			&f.p->procedures[fixture__procedure(f.p, "recv")].module,
			"/usr/lib/libc.so.6");
	x = advised__new(&f, 2);
	ck_assert_ptr_nonnull(found(&x));
	ck_assert_ptr_nonnull(strstr(found(&x)->remedy, "epoll_wait with a timeout"));
	advised__free(&x);
}
END_TEST

START_TEST(spinning_while_nobody_works_costs_most)
{
	struct fixture f = pair(0);
	struct advised x;

	ready(&f, "main work", 400 * MS);
	x = advised__new(&f, 2);
	ck_assert_ptr_nonnull(found(&x));
	ck_assert_uint_eq(found(&x)->gain_high_ns, 400 * MS);
	advised__free(&x);
}
END_TEST

/* A processor for each thread: nothing to gain but power. */
START_TEST(spinning_alone_is_no_finding)
{
	struct fixture f = pair(500);
	struct advised x = advised__new(&f, 2);

	ck_assert_ptr_null(found(&x));
	advised__free(&x);
}
END_TEST

/* What they wait for is done: a processor more for a wait would not help. */
START_TEST(who_spins_has_no_work_when_preempted)
{
	struct fixture f = pair(1000);
	struct advised x;

	ready(&f, "main wait_for_work", 5000 * MS);
	x = advised__new(&f, 2);
	ck_assert_ptr_null(found(&x));
	advised__free(&x);
}
END_TEST

/* All that run wait for one that does not run. */
START_TEST(who_spins_may_have_work_when_nobody_works)
{
	struct fixture f = pair(500);
	struct advised x;

	ready(&f, "main wait_for_work", 5000 * MS);
	x = advised__new(&f, 2);
	ck_assert_ptr_nonnull(found(&x));
	ck_assert_uint_eq(found(&x)->gain_high_ns, 500 * MS);
	advised__free(&x);
}
END_TEST

/* Half of the time other programs have both processors, and half of what is left is spun. */
START_TEST(a_turn_that_is_spun_is_lost)
{
	static const uint64_t level_ns[] = {1000 * MS, 0, 1000 * MS};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3);
	struct advised x;

	fixture__thread(&f, scope, 1);
	add(&f, "main work", 1, false, 1000);
	add(&f, "main wait_for_work", 1, true, 1000);
	ready(&f, "main wait_for_work", 3000 * MS);
	x = advised__new(&f, 2);
	ck_assert_ptr_nonnull(found(&x));
	ck_assert_uint_ge(found(&x)->gain_high_ns, 499 * MS);
	ck_assert_uint_le(found(&x)->gain_high_ns, 500 * MS);
	advised__free(&x);
}
END_TEST

START_TEST(ready_threads_without_spinning_are_no_finding)
{
	static const uint64_t level_ns[] = {0, 0, 1000 * MS};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3);
	struct advised x;

	fixture__samples(&f, scope, fixture__thread(&f, scope, 1), "main work", 2, 2000);
	ready(&f, "main work", 1000 * MS);
	x = advised__new(&f, 2);
	ck_assert_ptr_null(found(&x));
	advised__free(&x);
}
END_TEST

Suite *suite_rule_spinning(void)
{
	Suite *s = suite_create("rule_spinning");
	TCase *c = tcase_create("all");

	tcase_add_test(c, spinning_while_work_is_ready_is_found);
	tcase_add_loop_test(c, polling_for_io_uring_is_told, 0, 2);
	tcase_add_test(c, waits_of_mpi_are_called_by_what_was_called);
	tcase_add_test(c, calls_that_have_nothing_are_to_wait);
	tcase_add_test(c, spinning_while_nobody_works_costs_most);
	tcase_add_test(c, spinning_alone_is_no_finding);
	tcase_add_test(c, who_spins_has_no_work_when_preempted);
	tcase_add_test(c, who_spins_may_have_work_when_nobody_works);
	tcase_add_test(c, a_turn_that_is_spun_is_lost);
	tcase_add_test(c, ready_threads_without_spinning_are_no_finding);
	suite_add_tcase(s, c);
	return s;
}
