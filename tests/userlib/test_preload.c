/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs that know nothing of Quartz, under libquartz-preload. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/suites.h"
#include "tests/userlib/fixture.h"
#include "tests/userlib/programs.h"

static void check_same_lines(char *a, char *b)
{
	char *rest_a, *rest_b;

	a = strtok_r(a, "\n", &rest_a);
	b = strtok_r(b, "\n", &rest_b);
	while (a && b) {
		ck_assert_str_eq(a, b);
		a = strtok_r(NULL, "\n", &rest_a);
		b = strtok_r(NULL, "\n", &rest_b);
	}
	ck_assert(!a && !b);
}

/* Returned values, errno and cancellation are the C library's own. */
START_TEST(it_changes_no_result)
{
	char *with, *without = program__output("semantics", 0);

	/* This process has the first page set. */
	ck_assert_uint_eq(fake->count, 1);
	with = program__output("semantics", 1);
	ck_assert_uint_eq(fake->count, 2);
	check_same_lines(with, without);
	ck_assert_uint_eq(fake->sets[1].tables->header.flags, QZ_PAGE_PRELOADED);
	free(with);
	free(without);
}
END_TEST

START_TEST(it_changes_no_result_without_quartzd_either)
{
	char *with, *without = program__output("semantics", 0);

	fake__end(fake, false);
	with = program__output("semantics", 1);
	ck_assert_uint_eq(fake->count, 1);
	check_same_lines(with, without);
	free(with);
	free(without);
}
END_TEST

/* A thread says that it is going to wait before it does. */
static struct qz_slot *await_wait(struct fake_set *set, pid_t tid, uint64_t wait)
{
	struct qz_slot *slot;

	while (!(slot = fake__slot(set, tid)) ||
	       __atomic_load_n(&slot->wait, __ATOMIC_ACQUIRE) != wait)
		usleep(1000);
	return slot;
}

static void check_thread(struct fake_set *set, const char *kind, uint64_t address, pid_t tid)
{
	struct qz_slot *slot;

	if (!strcmp(kind, "held")) {
		slot = await_wait(set, tid, 0);
		while (__atomic_load_n(&slot->held, __ATOMIC_ACQUIRE) != address)
			usleep(1000);
	} else if (!strcmp(kind, "spin")) {
		await_wait(set, tid, QZ_WAIT(QZ_WAIT_SPINNING, address));
	} else {
		slot = await_wait(set, tid, QZ_WAIT(QZ_WAIT_BLOCKED, address));
		if (!strcmp(kind, "mutex"))
			ck_assert_str_eq(slot->name, "waiter");
	}
}

START_TEST(each_thread_says_what_it_waits_for)
{
	struct program p = program__start("waits", 1);
	struct fake_set *set;
	char line[256];

	for (int i = 0; i < 8; i++) {
		unsigned long address;
		char kind[32];
		int tid;

		ck_assert_ptr_nonnull(fgets(line, sizeof(line), p.out));
		ck_assert_int_eq(sscanf(line, "%31s %lx %d", kind, &address, &tid), 3);
		set = fake__set(fake, p.pid);
		ck_assert_ptr_nonnull(set);
		check_thread(set, kind, address, tid);
	}
	program__let_go(&p);
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), p.out));
	ck_assert_str_eq(line, "done\n");
	ck_assert_int_eq(program__end(&p), 0);
	for (uint32_t i = 0; i < QZ_SEGMENT_SLOTS; i++) {
		ck_assert_uint_eq(set->slots[0][i].wait, 0);
		ck_assert_uint_eq(set->slots[0][i].held, 0);
	}
}
END_TEST

Suite *suite_preload(void)
{
	Suite *s = suite_create("preload");
	TCase *c = tcase_create("preload");

	tcase_add_checked_fixture(c, fixture__listen, fixture__end);
	tcase_add_test(c, it_changes_no_result);
	tcase_add_test(c, it_changes_no_result_without_quartzd_either);
	tcase_add_test(c, each_thread_says_what_it_waits_for);
	suite_add_tcase(s, c);
	return s;
}
