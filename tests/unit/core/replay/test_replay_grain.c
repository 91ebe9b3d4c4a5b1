/* SPDX-License-Identifier: GPL-2.0-only */
/* How much work there is between hand-overs, who was woken for nothing, and what was started. */
#include "tests/unit/core/replay/by_hand.h"

#include <errno.h>

/* ---- grain ---- */

#define US 1000ull

/* Hand-overs of the scope of thread 20, so many of each power of two; those that are not said are none. */
static void grains(const uint64_t want[QZ_GRAINS])
{
	const struct replay_scope *s = replay__scope(r, thread(20)->scope);

	for (uint32_t i = 0; i < QZ_GRAINS; i++)
		ck_assert_msg(s->grain[i] == want[i], "[%u]: %lu", i, (unsigned long)s->grain[i]);
}

/* It runs on processor 1 from then on, for so long, and waits. */
static void works(uint64_t time, uint32_t tid, uint64_t ns)
{
	switches(1, time, 0, QZ_LOG_PREEMPTED, tid);
	switches(1, time + ns, tid, QZ_LOG_BLOCKED, 0);
}

START_TEST(work_between_hand_overs)
{
	switches(0, 1 * US, 0, QZ_LOG_PREEMPTED, 20);
	works(2 * US, 21, 3 * US); /* since it was found */
	wakes(10 * US, 21, 20);
	works(11 * US, 21, 500);
	wakes(12 * US, 21, 20);
	works(13 * US, 21, 4 * US);
	wakes(20 * US, 21, 10); /* of another scope */
	works(21 * US, 21, 2 * US);
	wakes(25 * US, 21, 0); /* an interrupt */
	works(26 * US, 21, 1 * US);
	wakes(30 * US, 21, 20);
	wakes(31 * US, 21, 20); /* it is ready already */
	works(40 * US, 21, 1 * US);
	grains((uint64_t[QZ_GRAINS]) {[0] = 1, [2] = 1, [3] = 1});
	wakes(50 * US, 21, 20);
	grains((uint64_t[QZ_GRAINS]) {[0] = 1, [1] = 1, [2] = 1, [3] = 1});
}
END_TEST

/* [3] has what is below 8 us, [4] what is 8 us or more. */
START_TEST(limits_of_grains)
{
	switches(0, 1 * US, 0, QZ_LOG_PREEMPTED, 20);
	works(10 * US, 21, 8 * US - 1);
	wakes(20 * US, 21, 20);
	works(30 * US, 21, 8 * US);
	wakes(40 * US, 21, 20);
	works(50 * US, 21, 1 * US - 1);
	wakes(60 * US, 21, 20);
	works(100 * US, 21, 20000 * MS); /* beyond all limits */
	wakes(30000 * MS, 21, 20);
	grains((uint64_t[QZ_GRAINS]) {[0] = 1, [3] = 1, [4] = 1, [QZ_GRAINS - 1] = 1});
}
END_TEST

START_TEST(hand_overs_out_of_order)
{
	switches(0, 1 * US, 0, QZ_LOG_PREEMPTED, 20);
	/* woken on its way out: what it ran until then was before */
	switches(1, 2 * US, 0, QZ_LOG_PREEMPTED, 21);
	wakes(4 * US, 21, 20);
	switches(1, 5 * US, 21, QZ_LOG_BLOCKED, 0);
	grains((uint64_t[QZ_GRAINS]) {[2] = 1});
	/* comes before it is woken: what it ran since was after */
	works(10 * US, 21, 1 * US);
	switches(1, 20 * US, 0, QZ_LOG_PREEMPTED, 21);
	wakes(26 * US, 21, 20);
	grains((uint64_t[QZ_GRAINS]) {[1] = 1, [2] = 1});
	switches(1, 30 * US, 21, QZ_LOG_BLOCKED, 0);
	wakes(40 * US, 21, 20);
	grains((uint64_t[QZ_GRAINS]) {[1] = 1, [2] = 1, [4] = 1});
}
END_TEST

/* The threads 30 to 33 of process 20, at processors 1 to 3 in turn, wait at one of two words of a condition, or at a lock. */
enum { FIRST_WORD = 1, SECOND_WORD, LOCK_WORD };

static void begin_herd(void)
{
	site(0, FIRST_WORD, QZ_WAIT_FUTEX, QZ_TAG_FUTEX, 0x1000);
	site(0, SECOND_WORD, QZ_WAIT_FUTEX, QZ_TAG_FUTEX, 0x1004);
	site(0, LOCK_WORD, QZ_WAIT_FUTEX, QZ_TAG_FUTEX, 0x1018);
	switches(0, 1 * US, 0, QZ_LOG_PREEMPTED, 20);
	for (uint32_t tid = 30; tid < 34; tid++) {
		life(QZ_LOG_FORK, 1 * US, tid, 20, 20);
		switches(1, 2 * US, 0, QZ_LOG_PREEMPTED, tid);
		blocks_at(1, 3 * US, tid, FIRST_WORD, 0, 0);
	}
}

static void works_at(uint64_t time, uint32_t tid, uint64_t ns, uint32_t then)
{
	switches(1, time, 0, QZ_LOG_PREEMPTED, tid);
	blocks_at(1, time + ns, tid, then, 0, 0);
}

static uint64_t in_vain(void)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < replay__objects(r); i++)
		n += replay__object(r, i) ? replay__object(r, i)->in_vain : 0;
	return n;
}

START_TEST(woken_for_nothing)
{
	begin_herd();
	for (uint32_t tid = 30; tid < 34; tid++)
		wakes(100 * US + tid, tid, 20);
	works_at(110 * US, 30, 5 * US, SECOND_WORD);
	works_at(120 * US, 31, 2 * US, LOCK_WORD);
	ck_assert_uint_eq(in_vain(), 0); /* for all that is known, these were steps */
	works_at(130 * US, 32, 30 * US, FIRST_WORD);
	ck_assert_uint_eq(in_vain(), 1);
	/* the lock is passed on, in which nothing is handed over */
	works_at(170 * US, 33, 1 * US, LOCK_WORD);
	wakes(180 * US, 31, 20);
	switches(1, 181 * US, 0, QZ_LOG_PREEMPTED, 31);
	wakes(182 * US, 33, 31);
	blocks_at(1, 183 * US, 31, SECOND_WORD, 0, 0);
	ck_assert_uint_eq(in_vain(), 2);
	works_at(190 * US, 33, 1 * US, FIRST_WORD);
	ck_assert_uint_eq(in_vain(), 3);
}
END_TEST

/* One after the other; with no thread that had something to do; with small steps, after which each wakes others; at a pipe. */
START_TEST(not_woken_for_nothing)
{
	begin_herd();
	wakes(100 * US, 30, 20);
	works_at(110 * US, 30, 5 * US, FIRST_WORD);
	wakes(200 * US, 31, 20); /* the waker ran meanwhile */
	works_at(210 * US, 31, 30 * US, FIRST_WORD);
	wakes(300 * US, 30, 20);
	wakes(301 * US, 31, 20);
	works_at(310 * US, 30, 5 * US, FIRST_WORD);
	works_at(320 * US, 31, 5 * US, FIRST_WORD);
	ck_assert_uint_eq(in_vain(), 0);
	wakes(400 * US, 30, 20);
	wakes(401 * US, 31, 20);
	wakes(402 * US, 32, 20);
	switches(1, 410 * US, 0, QZ_LOG_PREEMPTED, 30);
	wakes(411 * US, 33, 30);
	blocks_at(1, 412 * US, 30, FIRST_WORD, 0, 0);
	works_at(420 * US, 31, 30 * US, FIRST_WORD);
	ck_assert_uint_eq(in_vain(), 0);
	/* one thread, twice in a short time */
	wakes(450 * US, 33, 20);
	works_at(451 * US, 33, 2 * US, FIRST_WORD);
	wakes(455 * US, 33, 20);
	works_at(456 * US, 33, 30 * US, FIRST_WORD);
	ck_assert_uint_eq(in_vain(), 0);
	site(488 * US, 9, QZ_WAIT_PIPE, QZ_TAG_PIPE, 0x1000);
	works_at(490 * US, 32, 2 * US, 9);
	ck_assert_uint_eq(in_vain(), 0);
	ck_assert(!replay__drop_object(r, 99));
}
END_TEST

/* The threads 30 to 33 wait for events; they are woken at once, and run so long until they wait again. */
static void event(uint64_t time, const uint64_t ns[4])
{
	for (uint32_t i = 0; i < 4; i++)
		wakes(time + i, 30 + i, 0);
	for (uint32_t i = 0; i < 4; i++)
		works_at(time + (i + 1) * 100 * US, 30 + i, ns[i], FIRST_WORD);
}

static void begin_events(void)
{
	site(0, FIRST_WORD, QZ_WAIT_POLL, 0, 0);
	for (uint32_t tid = 30; tid < 34; tid++) {
		life(QZ_LOG_FORK, 1 * US, tid, 20, 20);
		switches(1, 2 * US, 0, QZ_LOG_PREEMPTED, tid);
		blocks_at(1, 3 * US, tid, FIRST_WORD, 0, 0);
	}
}

static void events(uint64_t in_vain, uint64_t shared)
{
	const struct replay_scope *s = replay__scope(r, thread(30)->scope);

	ck_assert_uint_eq(s->events_in_vain, in_vain);
	ck_assert_uint_eq(s->events_shared, shared);
}

START_TEST(events_for_one_of_many)
{
	begin_events();
	event(1 * MS, (uint64_t[4]) {3 * US, 12 * US, 2 * US, 4 * US});
	events(3, 0);
	event(2 * MS, (uint64_t[4]) {300 * US, 3 * US, 2 * US, 2 * US});
	events(6, 0);
	/* each has something: a little, or much */
	event(3 * MS, (uint64_t[4]) {3 * US, 8 * US, 5 * US, 4 * US});
	event(4 * MS, (uint64_t[4]) {25 * US, 90 * US, 3 * US, 4 * US});
	events(6, 8);
	/* a pair that meets; one after the other */
	wakes(5 * MS, 30, 0);
	wakes(5 * MS + 1, 31, 0);
	works_at(5 * MS + 100 * US, 30, 50 * US, FIRST_WORD);
	works_at(5 * MS + 200 * US, 31, 1 * US, FIRST_WORD);
	for (uint32_t i = 0; i < 4; i++) {
		wakes(6 * MS + i * 100 * US, 30 + i, 0);
		works_at(6 * MS + i * 100 * US + 10 * US, 30 + i, (i ? 1 : 50) * US, FIRST_WORD);
	}
	events(6, 8);
}
END_TEST

static void started(uint32_t tid, uint64_t threads, uint64_t processes)
{
	const struct replay_scope *s = replay__scope(r, thread(tid)->scope);

	ck_assert_uint_eq(s->threads_started, threads);
	ck_assert_uint_eq(s->processes_started, processes);
}

START_TEST(what_was_started)
{
	life(QZ_LOG_FORK, 10, 30, 20, 20);
	life(QZ_LOG_FORK, 20, 31, 30, 20);
	life(QZ_LOG_FORK, 30, 40, 20, 40); /* a scope of its own */
	life(QZ_LOG_FORK, 40, 41, 40, 40);
	life(QZ_LOG_FORK, 50, 50, 99, 50); /* creator not known */
	started(10, 0, 0);
	started(20, 2, 1);
	started(40, 1, 0);
	started(50, 0, 0);
}
END_TEST

/* What thread 30 or another one has by then, told by a record of the reader's or of its own. */
static int told(struct replay *to, uint32_t tid, uint8_t state, uint64_t calls, uint64_t bytes)
{
	const struct qz_log_record record = {.kind = QZ_LOG_TRANSFERS,
					     .time = 30 * US,
					     .tid = tid,
					     .state = state,
					     .other = (uint32_t)calls,
					     .site = (uint32_t)(calls >> 32),
					     .object = bytes};

	return replay__apply(to, 0, &record);
}

static void transferred(const struct qz_transfers *t, uint64_t reads, uint64_t bytes_read,
			uint64_t writes, uint64_t bytes_written)
{
	ck_assert_uint_eq(t->reads, reads);
	ck_assert_uint_eq(t->bytes_read, bytes_read);
	ck_assert_uint_eq(t->writes, writes);
	ck_assert_uint_eq(t->bytes_written, bytes_written);
}

/* 20 was found with calls of before, 30 is its thread, 40 its process, and a scope of its own. */
START_TEST(what_was_read_and_written)
{
	const uint64_t many = 5ull << 32;

	told(r, 20, QZ_LOG_READ | QZ_LOG_BEFORE, many, 7000);
	told(r, 20, QZ_LOG_WRITTEN | QZ_LOG_BEFORE, 9, 90);
	transferred(&thread(20)->transfers, 0, 0, 0, 0);
	life(QZ_LOG_FORK, 10 * US, 30, 20, 20);
	life(QZ_LOG_FORK, 10 * US, 40, 20, 40);
	told(r, 20, QZ_LOG_READ, many + 3, 7003);
	told(r, 20, QZ_LOG_READ, many + 4, 7003); /* at the end of a file */
	told(r, 20, QZ_LOG_WRITTEN, 9, 90);
	told(r, 30, QZ_LOG_WRITTEN, 2, 4096);
	told(r, 40, QZ_LOG_READ, 100, 0);
	told(r, 30, QZ_LOG_WRITTEN, 1, 4000); /* cannot be */
	transferred(&thread(20)->transfers, 4, 3, 0, 0);
	transferred(&thread(30)->transfers, 0, 0, 2, 4096);
	transferred(&replay__scope(r, thread(20)->scope)->transfers, 4, 3, 2, 4096);
	transferred(&replay__scope(r, thread(40)->scope)->transfers, 100, 0, 0, 0);
	ck_assert_int_eq(told(r, 20, 4, 1, 1), -EINVAL);
	ck_assert_int_eq(told(r, 77, QZ_LOG_READ, 1, 1), 0);
	ck_assert_uint_eq(replay__counts(r)->strange, 1);
}
END_TEST

/* As of the laws of an account, not of a scope that begins anew. */
START_TEST(grain_of_a_scope_that_begins_anew)
{
	const struct qz_log_record records[] = {
		{.kind = QZ_LOG_FOUND, .time = 0, .tid = 30, .other = 30},
		{.kind = QZ_LOG_FORK, .time = 10, .tid = 31, .other = 30, .site = 30},
		{.kind = QZ_LOG_FORK, .time = 20, .tid = 32, .other = 30, .site = 32},
		{.kind = QZ_LOG_SWITCH, .time = 1 * US, .other = 31},
		{.kind = QZ_LOG_SWITCH, .time = 5 * US, .tid = 31, .state = QZ_LOG_BLOCKED},
		{.kind = QZ_LOG_WAKING,
		 .time = 6 * US,
		 .tid = 31,
		 .other = 30,
		 .state = QZ_LOG_BY_CALL},
		{.kind = QZ_LOG_SWITCH, .time = 7 * US, .other = 31},
		{.kind = QZ_LOG_SWITCH, .time = 8 * US, .tid = 31, .state = QZ_LOG_BLOCKED},
		/* begins anew here */
		{.kind = QZ_LOG_WAKING,
		 .time = 10 * US,
		 .tid = 31,
		 .other = 30,
		 .state = QZ_LOG_BY_CALL},
	};
	struct replay_options options = {.processors = 1};
	struct replay *anew = replay__new(&options);
	int64_t scope = replay__open_scope(anew, 30, true, 0);
	const struct replay_scope *s;

	for (int i = 0; i < 8; i++)
		ck_assert_int_eq(replay__apply(anew, 0, &records[i]), 0);
	s = replay__scope(anew, (uint32_t)scope);
	ck_assert_uint_eq(s->threads_started, 1);
	ck_assert_uint_eq(s->processes_started, 1);
	ck_assert_uint_eq(s->grain[3], 1);
	told(anew, 30, QZ_LOG_READ, 10, 100);
	transferred(&s->transfers, 10, 100, 0, 0);
	replay__restart_scope(anew, (uint32_t)scope, 9 * US);
	ck_assert_int_eq(replay__apply(anew, 0, &records[8]), 0);
	s = replay__scope(anew, (uint32_t)scope);
	ck_assert_uint_eq(s->threads_started, 0);
	ck_assert_uint_eq(s->processes_started, 0);
	ck_assert_uint_eq(s->grain[3], 0);
	told(anew, 30, QZ_LOG_READ, 11, 101);
	transferred(&s->transfers, 1, 1, 0, 0);
	transferred(&replay__thread(anew, 30)->transfers, 1, 1, 0, 0);
	ck_assert_uint_eq(s->grain[0], 1); /* what it ran before is forgotten */
	replay__free(anew);
}
END_TEST

Suite *suite_replay_grain(void)
{
	const TTest *const tests[] = {
		work_between_hand_overs,
		limits_of_grains,
		hand_overs_out_of_order,
		woken_for_nothing,
		not_woken_for_nothing,
		events_for_one_of_many,
		what_was_started,
		what_was_read_and_written,
		grain_of_a_scope_that_begins_anew,
	};

	return by_hand("replay_grain", tests, sizeof(tests) / sizeof(*tests));
}
