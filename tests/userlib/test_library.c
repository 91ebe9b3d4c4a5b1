/* SPDX-License-Identifier: GPL-2.0-only */
/* libquartz in one thread: what it writes, and when it does not. */
#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/suites.h"
#include "tests/userlib/fixture.h"

/* ---- with and without quartzd ---- */

START_TEST(without_quartzd_nothing_happens)
{
	setenv("QUARTZ_RUNTIME_DIR", "/nonexistent", 1);
	quartz_connect();
	errno = 77;
	ck_assert_uint_eq(quartz_enter(&proc_a), QUARTZ_NONE);
	ck_assert_uint_eq(quartz_enter_object(&proc_a), QUARTZ_NONE);
	quartz_leave(QUARTZ_NONE);
	quartz_spin_begin(&proc_a);
	quartz_spin_end();
	quartz_event(1);
	ck_assert_uint_eq(quartz_task_capture(), 0);
	quartz_task_end(quartz_task_begin(7));
	quartz_thread_name("no process reads this");
	quartz_object_name(&proc_a, "nor this");
	ck_assert_int_eq(errno, 77);
}
END_TEST

START_TEST(a_silent_flag_asks_nothing)
{
	fake = fake__new();
	quartz_connect();
	ck_assert_uint_eq(quartz_enter(&proc_a), QUARTZ_NONE);
	ck_assert_uint_eq(fake->requests, 0);
	fake__listen(fake);
	ck_assert_uint_eq(quartz_enter(&proc_a), 0);
	ck_stack("a");
	fake__end(fake, false);
	quartz_leave(0);
	ck_assert_uint_eq(quartz_enter(&proc_a), QUARTZ_NONE);
	ck_assert_uint_eq(fake->requests, 1);
	fake__free(fake);
}
END_TEST

START_TEST(who_is_refused_asks_once)
{
	fake = fake__new();
	fake->refuse = EPERM;
	fake__listen(fake);
	quartz_connect();
	for (int i = 0; i < 1000; i++)
		ck_assert_uint_eq(quartz_enter(&proc_a), QUARTZ_NONE);
	ck_assert_uint_eq(fake->requests, 1);
	fake->refuse = 0;
	fake__end(fake, true);
	fake__listen(fake);
	ck_assert_uint_eq(quartz_enter(&proc_a), 0);
	ck_stack("a");
	fake__free(fake);
}
END_TEST

/* Where this process waits to be called by the first quartzd that there is. */
static struct qz_page_flag *waiting_page(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start = 0;
	char line[512];

	while (!start && fgets(line, sizeof(line), maps))
		if (strstr(line, "/memfd:" QZ_PAGE_WAITING))
			start = strtoul(line, NULL, 16);
	fclose(maps);
	ck_assert_uint_ne(start, 0);
	return (struct qz_page_flag *)start;
}

START_TEST(the_first_quartzd_calls)
{
	struct qz_page_flag *waiting = waiting_page();

	fake = fake__new();
	fake__listen(fake);
	ck_assert_uint_eq(quartz_enter(&proc_a), QUARTZ_NONE);
	ck_assert_uint_eq(fake->requests, 0);
	waiting->generation = 1;
	ck_assert_uint_eq(quartz_enter(&proc_a), 0);
	ck_stack("a");
	fake__end(fake, false);
	ck_assert_uint_eq(quartz_enter(&proc_a), QUARTZ_NONE);
	ck_assert_uint_eq(fake->requests, 1);
	fake__free(fake);
}
END_TEST

/* Of another runtime directory, say: it goes on waiting, at full speed. */
START_TEST(a_call_by_nobody_is_forgotten)
{
	struct qz_page_flag *waiting = waiting_page();

	for (int i = 0; i < 3; i++) {
		waiting->generation = 1;
		ck_assert_uint_eq(quartz_enter(&proc_a), QUARTZ_NONE);
		ck_assert_uint_eq(waiting->generation, 0);
	}
	fake = fake__new();
	fake__listen(fake);
	waiting->generation = 1;
	ck_assert_uint_eq(quartz_enter(&proc_a), 0);
	fake__free(fake);
}
END_TEST

/* It is waited for as long as it says, and then no more. */
START_TEST(who_gets_no_answer_asks_once)
{
	fake = fake__new();
	fake->silent = true;
	fake->patience_ms = 20;
	fake__listen(fake);
	quartz_connect();
	for (int i = 0; i < 1000; i++)
		ck_assert_uint_eq(quartz_enter(&proc_a), QUARTZ_NONE);
	fake__end(fake, true);
	ck_assert_uint_eq(fake->requests, 1);
	fake->silent = false;
	fake->patience_ms = 0;
	fake__listen(fake);
	ck_assert_uint_eq(quartz_enter(&proc_a), 0);
	ck_stack("a");
	fake__free(fake);
}
END_TEST

/* Names, stack, tasks and thread survive a quartzd that is killed. */
START_TEST(a_restart_loses_nothing)
{
	uint32_t a = quartz_enter(&proc_a), task, id = proc_a.id_;
	int object;

	quartz_thread_name("survivor");
	quartz_object_name(&object, "object");
	task = quartz_task_capture();
	for (int i = 0; i < 3; i++) {
		uint32_t b;

		fake__end(fake, i % 2);
		fake__listen(fake);
		b = quartz_enter(&proc_b);
		ck_assert_uint_eq(fake->count, i + 2);
		ck_stack("a/b");
		ck_assert_uint_eq(proc_a.id_, id);
		ck_assert_uint_eq(quartz_task_capture() == task, 0);
		quartz_leave(b);
		ck_assert_uint_eq(quartz_task_capture(), task);
		ck_assert_str_eq(fixture__slot()->name, "survivor");
		ck_assert_str_eq(fake__name(fixture__set(), quartz_object_(&object)), "object");
	}
	quartz_leave(a);
	ck_assert_uint_eq(fixture__slot()->claims, 1);
}
END_TEST

START_TEST(the_header_tells_what_it_costs)
{
	const struct qz_page_header *h = &fixture__set()->tables->header;

	ck_assert_uint_eq(h->pid, getpid());
	ck_assert_uint_eq(h->slots_used, 1);
	ck_assert_uint_eq(h->segments, 1);
	ck_assert_uint_gt(h->calibrated, 0);
	ck_assert_uint_gt(h->cost_scope_ps, 0);
	ck_assert_uint_gt(h->cost_event_ps, 0);
}
END_TEST

/* ---- profile stacks ---- */

static void recurse(int times)
{
	QUARTZ_SCOPE("recursive");

	if (times)
		recurse(times - 1);
	else
		ck_stack("a/recursive");
}

START_TEST(a_procedure_that_calls_itself_is_there_once)
{
	uint32_t a = quartz_enter(&proc_a);

	recurse(1000);
	ck_stack("a");
	quartz_leave(a);
	ck_stack("");
	ck_assert_uint_eq(fixture__slot()->overflows, 0);
	ck_assert_uint_eq(fixture__slot()->pushes, 1002);
}
END_TEST

static void alternate(int times)
{
	uint32_t entered = quartz_enter(times % 2 ? &proc_a : &proc_b);

	ck_assert_uint_lt(fixture__slot()->depth, QZ_SLOT_STACK);
	if (times)
		alternate(times - 1);
	quartz_leave(entered);
}

START_TEST(overflow_is_counted_and_goes_away)
{
	alternate(QZ_SLOT_STACK + 1000 - 2);
	ck_stack("");
	ck_assert_uint_eq(fixture__slot()->overflows, 1000);
	alternate(QZ_SLOT_STACK - 2);
	ck_assert_uint_eq(fixture__slot()->overflows, 1000);
}
END_TEST

/* ---- calls ---- */

static uint64_t count_calls(uint32_t caller, uint32_t callee)
{
	const struct qz_tables *t = fixture__set()->tables;
	uint64_t pair = QZ_CALL_PAIR(caller, callee), sum = 0;

	for (uint32_t i = 0; i < QZ_CALLS; i++)
		if (t->calls[i].pair == pair)
			sum += t->calls[i].count;
	for (uint32_t i = 0; i < QZ_THREAD_CALLS; i++)
		if (t->thread_calls[0][i].pair == pair)
			sum += t->thread_calls[0][i].count;
	return sum;
}

START_TEST(each_entry_is_counted)
{
	uint32_t a = quartz_enter(&proc_a);

	for (int i = 0; i < 100; i++) {
		uint32_t b = quartz_enter(&proc_b);

		for (int k = 0; k < 3; k++)
			quartz_leave(quartz_enter(&proc_c));
		quartz_leave(quartz_enter(&proc_b));
		quartz_leave(b);
	}
	quartz_leave(a);
	ck_assert_uint_eq(count_calls(0, proc_a.id_), 1);
	ck_assert_uint_eq(count_calls(proc_a.id_, proc_b.id_), 100);
	ck_assert_uint_eq(count_calls(proc_b.id_, proc_c.id_), 300);
	ck_assert_uint_eq(count_calls(proc_b.id_, proc_b.id_), 100);
	ck_assert_uint_eq(count_calls(0, proc_b.id_), 0);
}
END_TEST

#define MANY 4000

/* More pairs than a thread has room for, each as often as the others, in turns. */
START_TEST(more_pairs_than_there_is_room_are_counted)
{
	static struct quartz_procedure many[MANY];
	uint32_t a = quartz_enter(&proc_a);

	for (int i = 0; i < MANY; i++)
		many[i].name = "one of many";
	for (int i = 0; i < 10 * MANY; i++)
		quartz_leave(quartz_enter(&many[i % MANY]));
	quartz_leave(a);
	for (int i = 0; i < MANY; i++)
		ck_assert_uint_eq(count_calls(proc_a.id_, many[i].id_), 10);
	ck_assert_uint_eq(fixture__set()->tables->header.calls_refused, 0);
}
END_TEST

/* Whose caller is not known, once there is no room for it. */
START_TEST(calls_beyond_the_stack_are_counted)
{
	alternate(QZ_SLOT_STACK + 1000 - 2);
	ck_assert_uint_eq(count_calls(0, proc_a.id_) + count_calls(0, proc_b.id_), 1001);
	ck_assert_uint_eq(count_calls(proc_a.id_, proc_b.id_) + count_calls(proc_b.id_, proc_a.id_),
			  QZ_SLOT_STACK - 2);
}
END_TEST

static jmp_buf back;

static __attribute__((noinline)) void enter_and_jump(void)
{
	quartz_enter(&proc_b);
	quartz_enter(&proc_c);
	ck_stack("a/b/c");
	longjmp(back, 1);
}

static __attribute__((noinline)) void come_back(void)
{
	if (!setjmp(back))
		enter_and_jump();
}

START_TEST(longjmp_is_healed_by_the_next_leave)
{
	uint32_t a = quartz_enter(&proc_a);

	come_back();
	quartz_leave(a);
	ck_stack("");
}
END_TEST

START_TEST(an_object_is_on_the_stack_while_held)
{
	struct quartz_spinlock lock = {0};
	uint32_t entered;

	quartz_object_name(&lock, "old");
	quartz_object_name(&lock, "lock");
	entered = quartz_spinlock_lock(&lock);
	ck_stack("lock");
	ck_assert_uint_eq(fixture__slot()->wait, 0);
	quartz_spinlock_unlock(&lock, entered);
	ck_stack("");
	ck_assert_int_eq(lock.taken_, 0);
}
END_TEST

/* Symbols with equal names keep numbers of their own; one site keeps its number. */
START_TEST(names_are_copied)
{
	char name[400];
	struct quartz_procedure long_name = {.name = name}, none = {.name = NULL};

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	quartz_leave(quartz_enter(&long_name));
	quartz_leave(quartz_enter(&none));
	memset(name, 0, sizeof(name));
	ck_assert_uint_eq(strlen(fake__name(fixture__set(), long_name.id_)), QZ_NAME_LENGTH - 1);
	ck_assert_str_eq(fake__name(fixture__set(), none.id_), "");
	ck_assert_uint_ne(none.id_, 0);
}
END_TEST

START_TEST(tables_that_are_full_say_so)
{
	const struct qz_page_header *h = &fixture__set()->tables->header;
	char *base = NULL, name[QZ_NAME_LENGTH];
	uint32_t named = 0;

	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	for (uint32_t i = 1; i <= QZ_SYMBOLS + 1000; i++) {
		uint32_t id = quartz_object_(base + i * 64ul);

		named += id > 0;
		if (id && i % 16 == 0)
			quartz_object_name(base + i * 64ul, name);
	}
	ck_assert_uint_eq(h->symbols_used, named);
	ck_assert_uint_eq(h->symbols_used + h->symbols_refused, QZ_SYMBOLS + 1000);
	ck_assert_uint_ge(h->symbols_used, QZ_SYMBOLS / 2);
	ck_assert_uint_le(h->text_used, QZ_TEXT_SIZE);
	ck_assert_uint_gt(h->text_refused, 0);
}
END_TEST

/* ---- states, events, tasks ---- */

START_TEST(waits_name_their_object)
{
	struct qz_slot *slot = fixture__slot();
	int object;

	quartz_spin_begin(&object);
	ck_assert_uint_eq(QZ_WAIT_STATE(slot->wait), QZ_WAIT_SPINNING);
	ck_assert_uint_eq(QZ_WAIT_ADDRESS(slot->wait), (uintptr_t)&object);
	quartz_spin_end();
	ck_assert_uint_eq(slot->wait, 0);
	quartz_block_begin(&object);
	ck_assert_uint_eq(slot->wait, QZ_WAIT(QZ_WAIT_BLOCKED, (uintptr_t)&object));
	quartz_block_end();
	ck_assert_uint_eq(slot->wait, 0);
}
END_TEST

START_TEST(events_are_numbered)
{
	const struct qz_slot *slot = fixture__slot();

	for (uint32_t i = 1; i <= 1000; i++) {
		quartz_event(i * 3);
		ck_assert_uint_eq(QZ_EVENT_NUMBER(slot->event), i);
		ck_assert_uint_eq(QZ_EVENT_VALUE(slot->event), i * 3);
	}
	quartz_event(UINT32_MAX);
	ck_assert_uint_eq(slot->event, QZ_EVENT_WORD(1001, UINT32_MAX));
}
END_TEST

START_TEST(a_task_is_run_for_its_submitter)
{
	uint32_t a = quartz_enter(&proc_a), b = quartz_enter(&proc_b);
	uint32_t task = quartz_task_capture(), c;
	uint64_t begun;

	ck_assert_uint_eq(quartz_task_capture(), task);
	quartz_leave(b);
	quartz_leave(a);
	c = quartz_enter(&proc_c);
	begun = quartz_task_begin(task);
	ck_stack("a/b:");
	a = quartz_enter(&proc_a);
	ck_stack("a/b:a");
	quartz_leave(a);
	quartz_task_end(begun);
	ck_stack("c");
	quartz_leave(c);
	ck_assert_uint_eq(fixture__set()->tables->header.tasks_used, 1);
}
END_TEST

/* Tasks that submit tasks: the way does not get longer with each. */
START_TEST(tasks_of_tasks_are_bounded)
{
	uint32_t task = 0;

	for (int i = 0; i < 10000; i++) {
		uint64_t begun = quartz_task_begin(task);
		uint32_t entered = quartz_enter(i % 2 ? &proc_a : &proc_b);

		task = quartz_task_capture();
		ck_assert_uint_ne(task, 0);
		quartz_leave(entered);
		quartz_task_end(begun);
	}
	ck_assert_uint_eq(fixture__set()->tables->header.tasks_used, 2);
	ck_assert_uint_eq(fixture__set()->tables->header.tasks_refused, 0);
}
END_TEST

/* ---- hostile memory ---- */

static void scribble(void *memory, size_t size)
{
	uint32_t *words = memory;

	for (size_t i = 0; i < size / sizeof(*words); i++)
		words[i] = random() ^ (uint32_t)random() << 8;
}

/* Whoever else has the memory can write to it. Figures suffer, the program does not. */
START_TEST(spoiled_memory_does_no_harm)
{
	struct fake_set *set = fixture__set();

	srandom(_i);
	for (int i = 0; i < 20; i++) {
		struct quartz_procedure new = QUARTZ_PROCEDURE("new");
		uint32_t a, b;

		scribble(set->slots[0], QZ_SEGMENT_SIZE);
		scribble(&set->tables->header.pid, 64);
		scribble(set->tables->symbols, sizeof(set->tables->symbols));
		scribble(set->tables->tasks, sizeof(set->tables->tasks));
		a = quartz_enter(&proc_a);
		b = quartz_enter(&new);
		quartz_object_name(&new, "name");
		quartz_task_end(quartz_task_begin(quartz_task_capture()));
		quartz_leave(b);
		quartz_leave(a);
	}
}
END_TEST

static TCase *with_quartzd(void)
{
	TCase *c = tcase_create("listening");

	tcase_add_checked_fixture(c, fixture__listen, fixture__end);
	tcase_add_test(c, a_restart_loses_nothing);
	tcase_add_test(c, the_header_tells_what_it_costs);
	tcase_add_test(c, a_procedure_that_calls_itself_is_there_once);
	tcase_add_test(c, overflow_is_counted_and_goes_away);
	tcase_add_test(c, each_entry_is_counted);
	tcase_add_test(c, more_pairs_than_there_is_room_are_counted);
	tcase_add_test(c, calls_beyond_the_stack_are_counted);
	tcase_add_test(c, longjmp_is_healed_by_the_next_leave);
	tcase_add_test(c, an_object_is_on_the_stack_while_held);
	tcase_add_test(c, names_are_copied);
	tcase_add_test(c, tables_that_are_full_say_so);
	tcase_add_test(c, waits_name_their_object);
	tcase_add_test(c, events_are_numbered);
	tcase_add_test(c, a_task_is_run_for_its_submitter);
	tcase_add_test(c, tasks_of_tasks_are_bounded);
	tcase_add_loop_test(c, spoiled_memory_does_no_harm, 0, 5);
	return c;
}

Suite *suite_library(void)
{
	Suite *s = suite_create("library");
	TCase *c = tcase_create("alone");

	tcase_add_test(c, without_quartzd_nothing_happens);
	tcase_add_test(c, a_silent_flag_asks_nothing);
	tcase_add_test(c, the_first_quartzd_calls);
	tcase_add_test(c, a_call_by_nobody_is_forgotten);
	tcase_add_test(c, who_is_refused_asks_once);
	tcase_add_test(c, who_gets_no_answer_asks_once);
	suite_add_tcase(s, c);
	suite_add_tcase(s, with_quartzd());
	return s;
}
