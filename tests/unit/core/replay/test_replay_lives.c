/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads and processes begin, change their numbers, and end. */
#include "tests/unit/core/replay/by_hand.h"

/* ---- lives ---- */

START_TEST(fork_to_death)
{
	const struct replay_scope *s;
	struct qz_log_record exits = {
		.kind = QZ_LOG_EXIT, .time = 250, .tid = 30, .comm = "last name"};
	uint32_t scope;

	switches(0, 100, 0, QZ_LOG_PREEMPTED, 20);
	life(QZ_LOG_FORK, 150, 30, 20, 30);
	ck_assert_uint_ne(thread(30)->scope, thread(20)->scope);
	scope = thread(30)->scope;
	switches(1, 200, 0, QZ_LOG_PREEMPTED, 30);
	ck_assert_uint_eq(waits_of(30, QZ_WAIT_START, 0).ready_ns, 50);
	ck_assert_uint_eq(waits_of(30, QZ_WAIT_START, 0).count, 1);
	ck_assert_uint_eq(replay__counts(r)->unwoken, 0);
	ck_assert_int_eq(apply(1, exits), 0);
	ck_assert_str_eq(thread(30)->comm, "last name");
	ck_assert_int_eq(apply(1, (struct qz_log_record) {.kind = QZ_LOG_SWITCH,
							  .state = QZ_LOG_DEAD,
							  .time = 300,
							  .tid = 30,
							  .object = 77}),
			 0);
	ck_assert_ptr_null(replay__thread(r, 30));
	s = replay__scope(r, scope);
	ck_assert_uint_eq(s->began, 150);
	ck_assert_uint_eq(s->ended, 300);
	ck_assert_uint_eq(s->ns[REPLAY_RUNNING], 100);
	ck_assert_uint_eq(s->account_ns, 77);
	ck_assert_uint_eq(s->level_ns[1], 100);
	ck_assert_uint_eq(s->threads, 1);
	replay__advance(r, 1000);
	ck_assert_uint_eq(replay__scope(r, scope)->level_ns[0], 50);
	ck_assert_uint_eq(rows(), 4);
	last = 1000;
}
END_TEST

/* The kernel's account of a thread is of what its row counts. The machine does not begin anew, so the laws are not of this. */
START_TEST(account_of_a_scope_that_begins_anew)
{
	const struct qz_log_record records[] = {
		{.kind = QZ_LOG_FOUND, .time = 50, .tid = 30, .other = 30, .object = 1000},
		{.kind = QZ_LOG_SWITCH, .time = 100, .other = 30},
		{.kind = QZ_LOG_SWITCH,
		 .time = 300,
		 .tid = 30,
		 .state = QZ_LOG_DEAD,
		 .object = 1180},
	};
	struct replay_options options = {.processors = 1};
	struct replay *anew = replay__new(&options);
	int64_t scope = replay__open_scope(anew, 30, true, 0);

	ck_assert_int_eq(replay__apply(anew, 0, &records[0]), 0);
	ck_assert_int_eq(replay__apply(anew, 0, &records[1]), 0);
	replay__restart_scope(anew, (uint32_t)scope, 200);
	ck_assert_int_eq(replay__apply(anew, 0, &records[2]), 0);
	ck_assert_uint_eq(replay__scope(anew, (uint32_t)scope)->ns[REPLAY_RUNNING], 100);
	ck_assert_uint_eq(replay__scope(anew, (uint32_t)scope)->account_ns, 80);
	replay__free(anew);
}
END_TEST

START_TEST(number_used_again)
{
	uint32_t serial;

	life(QZ_LOG_FORK, 100, 30, 20, 30);
	serial = thread(30)->serial;
	switches(1, 200, 0, QZ_LOG_PREEMPTED, 30);
	switches(1, 300, 30, QZ_LOG_DEAD, 0);
	life(QZ_LOG_FORK, 400, 30, 10, 10);
	ck_assert_uint_ne(thread(30)->serial, serial);
	ck_assert_uint_eq(thread(30)->process, 10);
	ck_assert_uint_eq(replay__counts(r)->unended, 0);
	/* and without its end: it was running, and whoever leaves there now is not the new one */
	switches(1, 500, 0, QZ_LOG_PREEMPTED, 30);
	life(QZ_LOG_FORK, 600, 30, 20, 30);
	ck_assert_uint_eq(replay__counts(r)->unended, 1);
	ck_assert_uint_eq(thread(30)->process, 30);
	switches(1, 601, 30, QZ_LOG_DEAD, 0);
	ck_assert_int_eq(thread(30)->state, REPLAY_READY);
	ck_assert_uint_eq(thread(30)->began, 600);
}
END_TEST

/* Who a thread is may be told too late: a number that its process still has stays the process'. */
START_TEST(identity_of_a_thread_that_has_ended)
{
	uint32_t scope = thread(20)->scope;

	life(QZ_LOG_FORK, 100, 30, 20, 20);
	life(QZ_LOG_IDENTITY, 110, 20, 20, 7);
	ck_assert_uint_eq(scope_number, 7);
	ck_assert_uint_eq(numbered_scope, scope);
	switches(1, 200, 0, QZ_LOG_PREEMPTED, 30);
	switches(1, 300, 30, QZ_LOG_DEAD, 0);
	life(QZ_LOG_IDENTITY, 310, 30, 30, 7);
	ck_assert_uint_eq(numbered_scope, scope);
	ck_assert_uint_eq(replay__scope(r, scope)->number, 7);
	life(QZ_LOG_IDENTITY, 320, 31, 31, 8); /* of a process of which nothing is left */
	ck_assert_uint_eq(numbered_scope, REPLAY_NONE);
	ck_assert_uint_eq(scope_number, 8);
}
END_TEST

/* The first thread of a process comes, of which others seem to live: they are of another one before it. */
START_TEST(process_number_used_again)
{
	uint32_t scope = thread(20)->scope;

	switches(0, 100, 0, QZ_LOG_PREEMPTED, 20);
	for (uint32_t i = 100; i < 140; i++) /* more than one record makes */
		life(QZ_LOG_FORK, 150, i, 20, 20);
	switches(0, 200, 20, QZ_LOG_DEAD, 10);
	life(QZ_LOG_FORK, 300, 20, 10, 20);
	ck_assert_ptr_null(replay__thread(r, 21));
	ck_assert_ptr_null(replay__thread(r, 139));
	ck_assert_uint_eq(replay__scope(r, scope)->ended, 300);
	ck_assert_uint_ne(thread(20)->scope, scope);
	ck_assert_uint_eq(replay__counts(r)->unended, 41);
}
END_TEST

START_TEST(exec_by_another_thread)
{
	uint32_t serial = thread(21)->serial;

	switches(0, 100, 0, QZ_LOG_PREEMPTED, 20);
	switches(1, 100, 0, QZ_LOG_PREEMPTED, 21);
	switches(0, 200, 20, QZ_LOG_DEAD, 0);
	life(QZ_LOG_EXEC, 300, 20, 21, 0);
	ck_assert_ptr_null(replay__thread(r, 21));
	ck_assert_uint_eq(thread(20)->serial, serial);
	switches(1, 400, 20, QZ_LOG_BLOCKED, 0);
	times(20, 100, 300, 0, 0);
	ck_assert_uint_eq(replay__counts(r)->gaps, 0);
	ck_assert_uint_eq(replay__counts(r)->unended, 0);
}
END_TEST

/* The death of the first thread comes after the record of exec: it is not that of its heir. */
START_TEST(exec_before_the_death)
{
	switches(0, 100, 0, QZ_LOG_PREEMPTED, 20);
	switches(1, 100, 0, QZ_LOG_PREEMPTED, 21);
	life(QZ_LOG_EXEC, 300, 20, 21, 0);
	switches(0, 301, 20, QZ_LOG_DEAD, 0);
	ck_assert_int_eq(thread(20)->state, REPLAY_RUNNING);
	ck_assert_uint_eq(replay__counts(r)->unended, 1);
	ck_assert_uint_eq(replay__counts(r)->gaps, 0);
}
END_TEST

/* The heir has the number before the record of exec, and the first thread dies by that of the heir. */
START_TEST(death_between_exchange_and_exec)
{
	uint32_t heir = thread(21)->serial;

	switches(0, 100, 0, QZ_LOG_PREEMPTED, 20);
	switches(1, 100, 0, QZ_LOG_PREEMPTED, 21);
	life(QZ_LOG_EXIT, 150, 20, 0, 0);
	switches(0, 200, 21, QZ_LOG_DEAD, 0);
	ck_assert_ptr_null(replay__thread(r, 21));
	ck_assert_uint_eq(thread(20)->serial, heir);
	ck_assert_int_eq(thread(20)->state, REPLAY_RUNNING);
	life(QZ_LOG_EXEC, 300, 20, 21, 0);
	ck_assert_uint_eq(thread(20)->serial, heir);
	switches(1, 400, 20, QZ_LOG_BLOCKED, 0);
	times(20, 100, 300, 0, 0);
	ck_assert_uint_eq(replay__counts(r)->gaps, 0);
	ck_assert_uint_eq(replay__counts(r)->unended, 0);
}
END_TEST

/* The heir leaves its processor by its new number before the record of exec, the first thread being there or not. */
static void switch_heir(bool dies_late)
{
	uint32_t heir = thread(21)->serial;

	switches(0, 100, 0, QZ_LOG_PREEMPTED, 20);
	switches(1, 100, 0, QZ_LOG_PREEMPTED, 21);
	life(QZ_LOG_EXIT, 150, 20, 0, 0);
	if (!dies_late)
		switches(0, 160, 20, QZ_LOG_DEAD, 0);
	switches(1, 200, 20, QZ_LOG_PREEMPTED, 0);
	ck_assert_uint_eq(thread(20)->serial, heir);
	ck_assert_int_eq(thread(20)->state, REPLAY_READY);
	if (dies_late)
		switches(0, 250, 21, QZ_LOG_DEAD, 0);
	ck_assert_ptr_null(replay__thread(r, 21));
	switches(1, 300, 0, QZ_LOG_PREEMPTED, 20);
	life(QZ_LOG_EXEC, 320, 20, 21, 0);
	switches(1, 400, 20, QZ_LOG_BLOCKED, 0);
	ck_assert_uint_eq(thread(20)->serial, heir);
	times(20, 100, 200, 100, 0);
	ck_assert_uint_eq(replay__counts(r)->gaps, 0);
	ck_assert_uint_eq(replay__counts(r)->unended, 0);
}

START_TEST(heir_is_switched_before_exec)
{
	switch_heir(false);
}
END_TEST

START_TEST(heir_is_switched_before_death_and_exec)
{
	switch_heir(true);
}
END_TEST

START_TEST(scopes_that_follow)
{
	int64_t scope = replay__open_scope(r, 30, true, 10);
	const struct replay_scope *s;

	ck_assert_int_ge(scope, 0);
	ck_assert_uint_eq(replay__scope(r, (uint32_t)scope)->ended, 0);
	life(QZ_LOG_FORK, 100, 30, 20, 30);
	life(QZ_LOG_FORK, 200, 40, 30, 40);
	life(QZ_LOG_FORK, 300, 50, 20, 50);
	ck_assert_uint_eq(thread(30)->scope, scope);
	ck_assert_uint_eq(thread(40)->scope, scope);
	ck_assert_uint_ne(thread(50)->scope, scope);
	s = replay__scope(r, (uint32_t)scope);
	ck_assert_uint_eq(s->alive, 2);
	ck_assert(!replay__drop_scope(r, (uint32_t)scope));
	ck_assert_int_eq(replay__open_scope(r, 30, true, 310), scope);
	/* one that never had a thread can be dropped, and its number is another one's after the waits were taken */
	scope = replay__open_scope(r, 60, false, 320);
	ck_assert(replay__drop_scope(r, (uint32_t)scope));
	ck_assert_ptr_null(replay__scope(r, (uint32_t)scope));
	ck_assert_int_ne(replay__open_scope(r, 60, false, 330), scope);
	replay__clear_waits(r, true);
	ck_assert_int_eq(replay__open_scope(r, 61, false, 340), scope);
	last = 340;
}
END_TEST

/* A process without a scope: its threads are others from then on. */
START_TEST(opened_later)
{
	uint32_t serial;
	int64_t scope;

	replay__free(r);
	laws__free(laws);
	begin_as(false);
	serial = thread(10)->serial;
	switches(0, 100, 0, QZ_LOG_PREEMPTED, 10);
	scope = replay__open_scope(r, 10, false, 300);
	ck_assert_uint_eq(thread(10)->scope, scope);
	ck_assert_uint_ne(thread(10)->serial, serial);
	switches(0, 400, 10, QZ_LOG_BLOCKED, 0);
	times(10, 0, 100, 0, 0);
	ck_assert_uint_eq(replay__scope(r, (uint32_t)scope)->level_ns[1], 100);
	ck_assert_uint_eq(replay__counts(r)->gaps, 0);
}
END_TEST

Suite *suite_replay_lives(void)
{
	const TTest *const tests[] = {
		fork_to_death,
		account_of_a_scope_that_begins_anew,
		number_used_again,
		identity_of_a_thread_that_has_ended,
		process_number_used_again,
		exec_by_another_thread,
		exec_before_the_death,
		death_between_exchange_and_exec,
		heir_is_switched_before_exec,
		heir_is_switched_before_death_and_exec,
		scopes_that_follow,
		opened_later,
	};

	return by_hand("replay_lives", tests, sizeof(tests) / sizeof(*tests));
}
