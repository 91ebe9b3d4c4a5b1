/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading what a process shares: as it should be, at the limits, and as a hostile process writes it. */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/attribution/shm_reader.h"
#include "tests/unit/suites.h"

static struct qz_slot slot_of(uint32_t depth)
{
	struct qz_slot s = {.tid = 7, .claims = 1, .depth = depth};

	for (uint32_t i = 1; i <= depth && i < QZ_SLOT_STACK; i++)
		s.stack[i] = i;
	return s;
}

START_TEST(stacks_are_copied_outermost_first)
{
	struct qz_slot shared = slot_of(QZ_SLOT_STACK - 1);
	struct page_slot slot;

	shared.wait = QZ_WAIT(QZ_WAIT_SPINNING, 0x7fff12345678);
	shared.overflows = 3;
	ck_assert_int_eq(shm_slot__copy(&shared, &slot), PAGE_SLOT_GOOD);
	ck_assert_uint_eq(slot.n, QZ_SLOT_STACK - 1);
	for (uint32_t i = 0; i < slot.n; i++)
		ck_assert_uint_eq(slot.ids[i], i + 1);
	ck_assert_uint_eq(slot.state, QZ_WAIT_SPINNING);
	ck_assert_uint_eq(slot.object, 0x7fff12345678);
	ck_assert_uint_eq(slot.overflows, 3);
	ck_assert_uint_eq(slot.task, 0);
}
END_TEST

START_TEST(free_and_impossible_slots_are_told_apart)
{
	struct qz_slot shared = slot_of(2);
	struct page_slot slot;

	shared.tid = 0;
	ck_assert_int_eq(shm_slot__copy(&shared, &slot), PAGE_SLOT_FREE);
	shared = slot_of(QZ_SLOT_STACK);
	ck_assert_int_eq(shm_slot__copy(&shared, &slot), PAGE_SLOT_INVALID);
	shared = slot_of(UINT32_MAX);
	ck_assert_int_eq(shm_slot__copy(&shared, &slot), PAGE_SLOT_INVALID);
	shared = slot_of(2);
	shared.wait = QZ_WAIT(QZ_WAIT_BLOCKED + 1, 0);
	ck_assert_int_eq(shm_slot__copy(&shared, &slot), PAGE_SLOT_INVALID);
	shared.wait = 0;
	shared.task = QZ_TASK_WORD(QZ_TASKS + 1, 0);
	ck_assert_int_eq(shm_slot__copy(&shared, &slot), PAGE_SLOT_INVALID);
	shared.task = QZ_TASK_WORD(1, QZ_SLOT_STACK);
	ck_assert_int_eq(shm_slot__copy(&shared, &slot), PAGE_SLOT_INVALID);
}
END_TEST

START_TEST(what_is_no_id_is_left_out)
{
	struct qz_slot shared = slot_of(6);
	struct page_slot slot;

	shared.stack[1] = 0;
	shared.stack[4] = QZ_SYMBOLS + 1;
	shared.task = QZ_TASK_WORD(QZ_TASKS, 3);
	ck_assert_int_eq(shm_slot__copy(&shared, &slot), PAGE_SLOT_GOOD);
	ck_assert_uint_eq(slot.n, 4);
	ck_assert_uint_eq(slot.ids[0], 2);
	ck_assert_uint_eq(slot.ids[1], 3);
	ck_assert_uint_eq(slot.ids[2], 5);
	ck_assert_uint_eq(slot.task, QZ_TASKS);
	/* two of the three entries below the task's are ids */
	ck_assert_uint_eq(slot.base, 2);
}
END_TEST

START_TEST(a_base_beyond_the_stack_is_its_top)
{
	struct qz_slot shared = slot_of(2);
	struct page_slot slot;

	shared.task = QZ_TASK_WORD(1, QZ_SLOT_STACK - 1);
	ck_assert_int_eq(shm_slot__copy(&shared, &slot), PAGE_SLOT_GOOD);
	ck_assert_uint_eq(slot.base, 2);
}
END_TEST

START_TEST(names_end)
{
	struct qz_slot shared = {0};
	char name[QZ_THREAD_NAME_LENGTH];

	memset(shared.name, 'x', sizeof(shared.name));
	shm_slot__name(&shared, name);
	ck_assert_uint_eq(strlen(name), QZ_THREAD_NAME_LENGTH - 1);
}
END_TEST

/* ---- tables ---- */

static struct qz_tables *tables;
static int fd;

static void set_up(void)
{
	fd = memfd_create("tables", MFD_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, QZ_TABLES_SIZE), 0);
	tables = mmap(NULL, QZ_TABLES_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(tables, MAP_FAILED);
}

static void tear_down(void)
{
	munmap(tables, QZ_TABLES_SIZE);
	close(fd);
}

static uint32_t add_symbol(uint64_t address, uint32_t kind, const char *name, uint32_t at)
{
	uint32_t place = qz_symbol_place(address);

	if (at)
		strcpy(&tables->text[at], name);
	tables->symbols[place] = (struct qz_symbol) {address, at, kind};
	return place + 1;
}

START_TEST(symbols_are_found_by_id)
{
	uint32_t named = add_symbol(0x1000, QZ_SYMBOL_PROCEDURE, "parse", 10);
	uint32_t nameless = add_symbol(0x2000, QZ_SYMBOL_FUNCTION, "", 0);
	struct page_symbol symbol;

	ck_assert_int_eq(shm_tables__symbol(fd, named, &symbol), 0);
	ck_assert_str_eq(symbol.name, "parse");
	ck_assert_uint_eq(symbol.kind, QZ_SYMBOL_PROCEDURE);
	ck_assert_int_eq(shm_tables__symbol(fd, nameless, &symbol), 0);
	ck_assert_uint_eq(symbol.address, 0x2000);
	ck_assert_str_eq(symbol.name, "");
	ck_assert_int_eq(shm_tables__symbol(fd, named == 5 ? 6 : 5, &symbol), -ENOENT);
	ck_assert_int_eq(shm_tables__symbol(fd, 0, &symbol), -EINVAL);
	ck_assert_int_eq(shm_tables__symbol(fd, QZ_SYMBOLS + 1, &symbol), -EINVAL);
}
END_TEST

START_TEST(objects_are_found_by_address)
{
	uint32_t last = qz_symbol_place(0x5000) + 1;
	char name[QZ_NAME_LENGTH];

	add_symbol(0x1000, QZ_SYMBOL_PROCEDURE, "parse", 10);
	add_symbol(0x3000, QZ_SYMBOL_OBJECT, "lock", 30);
	add_symbol(0x4000, QZ_SYMBOL_OBJECT, "", 0);
	ck_assert(shm_tables__object_name(fd, 0x3000, name));
	ck_assert_str_eq(name, "lock");
	ck_assert(!shm_tables__object_name(fd, 0x1000, name));
	ck_assert(!shm_tables__object_name(fd, 0x4000, name));
	ck_assert(!shm_tables__object_name(fd, 0x3008, name));
	ck_assert(!shm_tables__object_name(fd, 0, name));
	tables->symbols[last - 1] = (struct qz_symbol) {0x6000, 30, QZ_SYMBOL_OBJECT};
	tables->symbols[last % QZ_SYMBOLS] = (struct qz_symbol) {0x5000, 30, QZ_SYMBOL_OBJECT};
	ck_assert(shm_tables__object_name(fd, 0x5000, name));
	tables->symbols[last % QZ_SYMBOLS].text = UINT32_MAX;
	ck_assert(!shm_tables__object_name(fd, 0x5000, name));
}
END_TEST

START_TEST(symbols_at_their_limits)
{
	uint32_t last = QZ_SYMBOLS;
	struct page_symbol symbol;

	tables->symbols[last - 1] = (struct qz_symbol) {1, QZ_TEXT_SIZE - 4, QZ_SYMBOL_OBJECT};
	memset(&tables->text[QZ_TEXT_SIZE - 4], 'n', 4);
	ck_assert_int_eq(shm_tables__symbol(fd, last, &symbol), 0);
	ck_assert_str_eq(symbol.name, "nnn");
	tables->symbols[last - 1].text = QZ_TEXT_SIZE;
	ck_assert_int_eq(shm_tables__symbol(fd, last, &symbol), -EINVAL);
	tables->symbols[last - 1].text = UINT32_MAX;
	ck_assert_int_eq(shm_tables__symbol(fd, last, &symbol), -EINVAL);
	tables->symbols[last - 1] = (struct qz_symbol) {1, 8, QZ_SYMBOL_EXCLUDED + 1};
	ck_assert_int_eq(shm_tables__symbol(fd, last, &symbol), -EINVAL);
	tables->symbols[last - 1] = (struct qz_symbol) {1, 8, QZ_SYMBOL_OBJECT};
	memset(&tables->text[8], 'n', 2 * QZ_NAME_LENGTH);
	ck_assert_int_eq(shm_tables__symbol(fd, last, &symbol), 0);
	ck_assert_uint_eq(strlen(symbol.name), QZ_NAME_LENGTH - 1);
}
END_TEST

START_TEST(tasks_have_bounded_stacks)
{
	uint32_t procedures[QZ_TASK_STACK];

	tables->tasks[0] = (struct qz_task) {.count = 3, .procedures = {4, 0, 6}};
	ck_assert_uint_eq(shm_tables__task(fd, 1, procedures), 2);
	ck_assert_uint_eq(procedures[1], 6);
	tables->tasks[QZ_TASKS - 1].count = QZ_TASK_STACK + 1;
	ck_assert_uint_eq(shm_tables__task(fd, QZ_TASKS, procedures), 0);
	ck_assert_uint_eq(shm_tables__task(fd, QZ_TASKS + 1, procedures), 0);
	ck_assert_uint_eq(shm_tables__task(fd, 0, procedures), 0);
}
END_TEST

static bool sum_calls(void *context, uint32_t caller, uint32_t callee, uint64_t count)
{
	uint64_t *sums = context;

	sums[caller == 0 && callee == 1 ? 0 : 1] += count;
	return true;
}

START_TEST(calls_add_up_over_both_tables)
{
	struct qz_page_header header;
	uint64_t sums[2] = {0};

	tables->calls[77] = (struct qz_call) {QZ_CALL_PAIR(0, 1), 10};
	tables->calls[QZ_CALLS - 1] = (struct qz_call) {QZ_CALL_PAIR(1, 2), 100};
	tables->calls[5] = (struct qz_call) {QZ_CALL_PAIR(1, QZ_SYMBOLS + 1), 1000};
	tables->thread_calls[3][9] = (struct qz_call) {QZ_CALL_PAIR(0, 1), 1};
	tables->thread_calls[4][9] = (struct qz_call) {QZ_CALL_PAIR(0, 1), 5};
	tables->header.slots_used = 4; /* the fifth one's are not asked for */
	ck_assert_int_eq(shm_tables__header(fd, &header), 0);
	ck_assert_int_eq(shm_tables__calls(fd, &header, sum_calls, sums), 0);
	ck_assert_uint_eq(sums[0], 11);
	ck_assert_uint_eq(sums[1], 100);
}
END_TEST

START_TEST(numbers_of_the_header_are_limited)
{
	struct qz_page_header header;

	memset(&tables->header, 0xff, sizeof(tables->header));
	ck_assert_int_eq(shm_tables__header(fd, &header), 0);
	ck_assert_uint_eq(header.slots_used, QZ_SLOTS);
	ck_assert_uint_eq(header.segments, QZ_SEGMENTS);
	ck_assert_uint_eq(header.text_used, QZ_TEXT_SIZE);
}
END_TEST

/* ---- a slot that changes while it is read ---- */

static struct qz_slot racing;
static int over;

static void *scribble(void *unused)
{
	uint32_t x = 1;

	while (!__atomic_load_n(&over, __ATOMIC_RELAXED))
		for (size_t i = 0; i < sizeof(racing) / sizeof(uint32_t); i++) {
			x = x * 1664525 + 1013904223;
			((volatile uint32_t *)&racing)[i] = x >> 20 & 1 ? UINT32_MAX : x >> 8;
		}
	return NULL;
}

START_TEST(changing_while_read)
{
	struct page_slot slot;
	pthread_t thread;

	__atomic_store_n(&over, 0, __ATOMIC_RELAXED);
	ck_assert_int_eq(pthread_create(&thread, NULL, scribble, NULL), 0);
	for (int i = 0; i < 200000; i++) {
		/* small depths and true states now and then */
		__atomic_store_n(&racing.depth, i % QZ_SLOT_STACK, __ATOMIC_RELAXED);
		__atomic_store_n(&racing.wait, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&racing.task, i % 3, __ATOMIC_RELAXED);
		if (shm_slot__copy(&racing, &slot) != PAGE_SLOT_GOOD)
			continue;
		ck_assert_uint_lt(slot.n, QZ_SLOT_STACK);
		ck_assert_uint_le(slot.base, slot.n);
		ck_assert_uint_le(slot.task, QZ_TASKS);
		ck_assert_uint_le(slot.state, QZ_WAIT_BLOCKED);
		for (uint32_t k = 0; k < slot.n; k++)
			ck_assert(slot.ids[k] >= 1 && slot.ids[k] <= QZ_SYMBOLS);
	}
	__atomic_store_n(&over, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}
END_TEST

Suite *suite_shm_reader(void)
{
	Suite *s = suite_create("shm_reader");
	TCase *c = tcase_create("slots"), *t = tcase_create("tables");

	tcase_add_test(c, stacks_are_copied_outermost_first);
	tcase_add_test(c, free_and_impossible_slots_are_told_apart);
	tcase_add_test(c, what_is_no_id_is_left_out);
	tcase_add_test(c, a_base_beyond_the_stack_is_its_top);
	tcase_add_test(c, names_end);
	tcase_add_test(c, changing_while_read);
	suite_add_tcase(s, c);
	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, symbols_are_found_by_id);
	tcase_add_test(t, objects_are_found_by_address);
	tcase_add_test(t, symbols_at_their_limits);
	tcase_add_test(t, tasks_have_bounded_stacks);
	tcase_add_test(t, calls_add_up_over_both_tables);
	tcase_add_test(t, numbers_of_the_header_are_limited);
	suite_add_tcase(s, t);
	return s;
}
