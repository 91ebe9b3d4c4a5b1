/* SPDX-License-Identifier: GPL-2.0-only */
/* Turns of event loops, and those that take long. */
#include "tests/unit/core/replay/by_hand.h"

/* ---- event loops ---- */

enum { POLL_SITE = 1, READ_SITE, WORD_SITE };

static void has_turns(uint32_t tid, struct qz_loop want)
{
	const struct qz_loop *is = &thread(tid)->loop;

	ck_assert_uint_eq(is->turns, want.turns);
	ck_assert_uint_eq(is->turn_ns, want.turn_ns);
	ck_assert_uint_eq(is->blocks, want.blocks);
	ck_assert_uint_eq(is->block_ns, want.block_ns);
	ck_assert_uint_eq(is->block_waited_ns, want.block_waited_ns);
	ck_assert_uint_eq(is->block_ready_ns, want.block_ready_ns);
	ck_assert_uint_eq(is->longest_ns, want.longest_ns);
}

/* It is woken, comes in 1 ms later, and runs for so long before it leaves. */
static void turn(uint64_t woken, uint32_t tid, uint64_t ns, uint32_t then)
{
	wakes(woken, tid, 0);
	switches(0, woken + 1 * MS, 0, QZ_LOG_PREEMPTED, tid);
	blocks_at(0, woken + 1 * MS + ns, tid, then, 0, 0);
}

static void begin_loop(void)
{
	site(0, POLL_SITE, QZ_WAIT_POLL, 0, 0);
	site(0, READ_SITE, QZ_WAIT_SOCKET, 0, 0);
	switches(0, 1 * MS, 0, QZ_LOG_PREEMPTED, 20);
	blocks_at(0, 31 * MS, 20, POLL_SITE, 0, 0); /* what was before the first wait is no turn */
}

START_TEST(turns_of_an_event_loop)
{
	begin_loop();
	has_turns(20, (struct qz_loop) {0});
	turn(40 * MS, 20, 10 * MS - 1, POLL_SITE);
	has_turns(20, (struct qz_loop) {.turns = 1, .turn_ns = 10 * MS - 1});
	turn(60 * MS, 20, 10 * MS, POLL_SITE);
	has_turns(20, (struct qz_loop) {.turns = 2,
					.turn_ns = 20 * MS - 1,
					.blocks = 1,
					.block_ns = 10 * MS,
					.longest_ns = 10 * MS});
}
END_TEST

/* Other waits are a part of a turn, and time without a processor is not. */
START_TEST(turns_with_other_waits)
{
	begin_loop();
	turn(40 * MS, 20, 4 * MS, READ_SITE);
	wakes(53 * MS, 20, 0);
	switches(0, 55 * MS, 0, QZ_LOG_PREEMPTED, 20);
	switches(0, 56 * MS, 20, QZ_LOG_PREEMPTED, 10);
	switches(0, 59 * MS, 10, QZ_LOG_PREEMPTED, 20);
	has_turns(20, (struct qz_loop) {0}); /* it goes on */
	blocks_at(0, 61 * MS, 20, POLL_SITE, 0, 0);
	/* ran 4 + 1 + 2, waited 53 - 45, ready 2 + 3 */
	has_turns(20, (struct qz_loop) {.turns = 1,
					.turn_ns = 15 * MS,
					.blocks = 1,
					.block_ns = 15 * MS,
					.block_waited_ns = 8 * MS,
					.block_ready_ns = 5 * MS,
					.longest_ns = 15 * MS});
	/* 9 ms of its own in 29 */
	wakes(70 * MS, 20, 0);
	switches(0, 71 * MS, 0, QZ_LOG_PREEMPTED, 20);
	switches(0, 72 * MS, 20, QZ_LOG_PREEMPTED, 10);
	switches(0, 92 * MS, 10, QZ_LOG_PREEMPTED, 20);
	blocks_at(0, 100 * MS, 20, POLL_SITE, 0, 0);
	ck_assert_uint_eq(thread(20)->loop.turns, 2);
	ck_assert_uint_eq(thread(20)->loop.blocks, 1);
	ck_assert_uint_eq(thread(20)->loop.turn_ns, 24 * MS);
}
END_TEST

static void begin_worker(const char *name)
{
	struct qz_log_record record = {.kind = QZ_LOG_NAME, .time = 0, .tid = 20};

	strcpy(record.comm, name);
	ck_assert_int_eq(apply(0, record), 0);
	site(0, POLL_SITE, QZ_WAIT_POLL, 0, 0);
	site(0, READ_SITE, QZ_WAIT_SOCKET, 0, 0);
	site(0, WORD_SITE, QZ_WAIT_FUTEX, QZ_TAG_FUTEX, 0x1000);
	switches(0, 1 * MS, 0, QZ_LOG_PREEMPTED, 20);
}

/* Of a worker, waits at futex words are as those in poll, once it has polled. */
START_TEST(turns_of_a_worker)
{
	begin_worker("tokio-runtime-w");
	blocks_at(0, 31 * MS, 20, WORD_SITE, 0, 0);
	turn(40 * MS, 20, 20 * MS, WORD_SITE); /* it may be none */
	has_turns(20, (struct qz_loop) {0});
	turn(70 * MS, 20, 20 * MS, POLL_SITE);
	has_turns(20, (struct qz_loop) {0});
	turn(100 * MS, 20, 2 * MS, WORD_SITE);
	has_turns(20, (struct qz_loop) {.turns = 1, .turn_ns = 2 * MS});
	wakes(150 * MS, 20, 0);
	switches(0, 151 * MS, 0, QZ_LOG_PREEMPTED, 20);
	sample(0, 160 * MS, 20);
	ck_assert(!moment.in_block);
	sample(0, 161 * MS, 20);
	ck_assert(moment.in_block);
	blocks_at(0, 163 * MS, 20, WORD_SITE, 0, 0);
	has_turns(20, (struct qz_loop) {.turns = 2,
					.turn_ns = 14 * MS,
					.blocks = 1,
					.block_ns = 12 * MS,
					.longest_ns = 12 * MS});
	/* what it waits for otherwise is in its turn */
	turn(170 * MS, 20, 1 * MS, READ_SITE);
	turn(184 * MS, 20, 1 * MS, WORD_SITE);
	has_turns(20, (struct qz_loop) {.turns = 3,
					.turn_ns = 28 * MS,
					.blocks = 2,
					.block_ns = 26 * MS,
					.block_waited_ns = 12 * MS,
					.block_ready_ns = 1 * MS,
					.longest_ns = 14 * MS});
}
END_TEST

START_TEST(turns_of_who_is_no_worker)
{
	begin_worker("event_loop");
	blocks_at(0, 31 * MS, 20, POLL_SITE, 0, 0);
	turn(40 * MS, 20, 2 * MS, WORD_SITE);
	has_turns(20, (struct qz_loop) {0});
	turn(52 * MS, 20, 2 * MS, POLL_SITE);
	has_turns(20, (struct qz_loop) {.turns = 1,
					.turn_ns = 13 * MS,
					.blocks = 1,
					.block_ns = 13 * MS,
					.block_waited_ns = 9 * MS,
					.block_ready_ns = 1 * MS,
					.longest_ns = 13 * MS});
}
END_TEST

/* Those that were taken when it had lasted for 10 ms. */
START_TEST(samples_in_blocks)
{
	static const struct {
		uint64_t at;
		bool in_block;
	} want[] = {{42 * MS, false}, {51 * MS - 1, false}, {51 * MS, true}, {70 * MS, true}};

	begin_loop();
	wakes(40 * MS, 20, 0);
	switches(0, 41 * MS, 0, QZ_LOG_PREEMPTED, 20);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		life(QZ_LOG_SAMPLE, want[i].at, 20, 0, 0);
		ck_assert_int_eq(moment.in_block, want[i].in_block);
	}
	blocks_at(0, 71 * MS, 20, POLL_SITE, 0, 0);
	wakes(80 * MS, 20, 0);
	switches(0, 81 * MS, 0, QZ_LOG_PREEMPTED, 20);
	life(QZ_LOG_SAMPLE, 82 * MS, 20, 0, 0);
	ck_assert(!moment.in_block);
	switches(0, 83 * MS, 20, QZ_LOG_PREEMPTED, 21); /* who has never polled */
	life(QZ_LOG_SAMPLE, 120 * MS, 21, 0, 0);
	ck_assert(!moment.in_block);
}
END_TEST

/* What was not seen may have been a wait for events. */
START_TEST(turns_with_a_gap)
{
	begin_loop();
	wakes(40 * MS, 20, 0);
	switches(0, 41 * MS, 0, QZ_LOG_PREEMPTED, 20);
	switches(0, 60 * MS, 10, QZ_LOG_PREEMPTED, 0); /* 20 has left meanwhile */
	switches(0, 70 * MS, 0, QZ_LOG_PREEMPTED, 20);
	blocks_at(0, 90 * MS, 20, POLL_SITE, 0, 0);
	has_turns(20, (struct qz_loop) {0});
	turn(100 * MS, 20, 1 * MS, POLL_SITE);
	has_turns(20, (struct qz_loop) {.turns = 1, .turn_ns = 1 * MS});
	/* who waits otherwise has no turns */
	switches(0, 110 * MS, 0, QZ_LOG_PREEMPTED, 21);
	blocks_at(0, 111 * MS, 21, READ_SITE, 0, 0);
	turn(120 * MS, 21, 20 * MS, READ_SITE);
	has_turns(21, (struct qz_loop) {0});
}
END_TEST

START_TEST(turns_of_a_scope_that_begins_anew)
{
	const struct qz_log_record records[] = {
		{.kind = QZ_LOG_SITE, .time = 0, .site = POLL_SITE, .cause = QZ_WAIT_POLL},
		{.kind = QZ_LOG_FOUND, .time = 0, .tid = 30, .other = 30},
		{.kind = QZ_LOG_SWITCH, .time = 1 * MS, .other = 30},
		{.kind = QZ_LOG_SWITCH,
		 .time = 2 * MS,
		 .tid = 30,
		 .site = POLL_SITE,
		 .state = QZ_LOG_BLOCKED},
		{.kind = QZ_LOG_WAKING, .time = 3 * MS, .tid = 30, .state = QZ_LOG_BY_INTERRUPT},
		{.kind = QZ_LOG_SWITCH, .time = 4 * MS, .other = 30},
		{.kind = QZ_LOG_SWITCH,
		 .time = 16 * MS,
		 .tid = 30,
		 .site = POLL_SITE,
		 .state = QZ_LOG_BLOCKED},
		/* begins anew here */
		{.kind = QZ_LOG_WAKING, .time = 23 * MS, .tid = 30, .state = QZ_LOG_BY_INTERRUPT},
		{.kind = QZ_LOG_SWITCH, .time = 24 * MS, .other = 30},
		{.kind = QZ_LOG_SWITCH,
		 .time = 26 * MS,
		 .tid = 30,
		 .site = POLL_SITE,
		 .state = QZ_LOG_BLOCKED},
	};
	struct replay_options options = {.processors = 1};
	struct replay *anew = replay__new(&options);
	int64_t scope = replay__open_scope(anew, 30, true, 0);

	for (int i = 0; i < 7; i++)
		ck_assert_int_eq(replay__apply(anew, 0, &records[i]), 0);
	ck_assert_uint_eq(replay__thread(anew, 30)->loop.longest_ns, 12 * MS);
	replay__restart_scope(anew, (uint32_t)scope, 20 * MS);
	ck_assert_uint_eq(replay__thread(anew, 30)->loop.turns, 0);
	for (int i = 7; i < 10; i++)
		ck_assert_int_eq(replay__apply(anew, 0, &records[i]), 0);
	ck_assert_uint_eq(replay__thread(anew, 30)->loop.turns, 1);
	ck_assert_uint_eq(replay__thread(anew, 30)->loop.turn_ns, 2 * MS);
	ck_assert_uint_eq(replay__thread(anew, 30)->loop.longest_ns, 0);
	replay__free(anew);
}
END_TEST

Suite *suite_replay_loops(void)
{
	const TTest *const tests[] = {
		turns_of_an_event_loop,
		turns_with_other_waits,
		turns_of_a_worker,
		turns_of_who_is_no_worker,
		samples_in_blocks,
		turns_with_a_gap,
		turns_of_a_scope_that_begins_anew,
	};

	return by_hand("replay_loops", tests, sizeof(tests) / sizeof(*tests));
}
