/* SPDX-License-Identifier: GPL-2.0-only */
/* States, levels and wake-ups, in which order records come, and what was not seen. */
#include <errno.h>

#include "tests/unit/failing.h"
#include "tests/unit/core/replay/by_hand.h"

/* ---- states ---- */

START_TEST(states)
{
	switches(0, 100, 0, QZ_LOG_PREEMPTED, 10);
	switches(0, 130, 10, QZ_LOG_PREEMPTED, 20);
	switches(0, 200, 20, QZ_LOG_BLOCKED, 10);
	wakes(260, 20, 10);
	switches(0, 300, 10, QZ_LOG_BLOCKED, 20);
	replay__advance(r, 400);
	times(10, 100, 30 + 100, 70, 100);
	times(20, 130, 70 + 100, 40, 60);
	ck_assert_uint_eq(thread(20)->woken, 1);
	ck_assert_uint_eq(replay__counts(r)->unwoken, 0);
	ck_assert_uint_eq(replay__counts(r)->gaps, 0);
	last = 400;
}
END_TEST

START_TEST(levels)
{
	const struct replay_scope *s;

	switches(0, 100, 0, QZ_LOG_PREEMPTED, 20);
	switches(1, 110, 0, QZ_LOG_PREEMPTED, 21);
	switches(2, 120, 0, QZ_LOG_PREEMPTED, 10);
	switches(1, 150, 21, QZ_LOG_BLOCKED, 0);
	switches(2, 170, 10, QZ_LOG_PREEMPTED, 0);
	replay__advance(r, 200);
	s = replay__scope(r, thread(20)->scope);
	ck_assert_uint_eq(s->process, 20);
	ck_assert_uint_eq(s->nlevels, 3);
	ck_assert_uint_eq(s->level_ns[0], 100);
	ck_assert_uint_eq(s->level_ns[1], 10 + 50);
	ck_assert_uint_eq(s->level_ns[2], 40);
	ck_assert_uint_eq(s->running, 1);
	ck_assert_uint_eq(s->runnable, 1);
	ck_assert_uint_eq(s->alive, 2);
	s = replay__machine(r);
	ck_assert_uint_eq(s->nlevels, 4);
	ck_assert_uint_eq(s->level_ns[3], 30);
	last = 200;
}
END_TEST

/* ---- wake-ups ---- */

START_TEST(woken_on_its_way_out)
{
	switches(0, 100, 0, QZ_LOG_PREEMPTED, 20);
	wakes(200, 20, 0);
	switches(0, 200 + MS, 20, QZ_LOG_BLOCKED, 0); /* 1 ms: the longest */
	ck_assert_int_eq(thread(20)->state, REPLAY_READY);
	switches(1, 300 + MS, 0, QZ_LOG_PREEMPTED, 20);
	times(20, 100, 100 + MS, 100, 0);
	wakes(400 + MS, 20, 0);
	switches(1, 401 + 2 * MS, 20, QZ_LOG_BLOCKED, 0); /* too long ago */
	ck_assert_int_eq(thread(20)->state, REPLAY_BLOCKED);
	ck_assert_uint_eq(thread(20)->woken, 1);
}
END_TEST

START_TEST(woken_at_the_time_of_leaving)
{
	switches(0, 100, 0, QZ_LOG_PREEMPTED, 20);
	wakes(200, 20, 0);
	switches(0, 200, 20, QZ_LOG_BLOCKED, 0);
	ck_assert_int_eq(thread(20)->state, REPLAY_READY);
	switches(0, 300, 0, QZ_LOG_PREEMPTED, 20);
	switches(0, 400, 20, QZ_LOG_BLOCKED, 0);
	wakes(400, 20, 0);
	ck_assert_int_eq(thread(20)->state, REPLAY_READY);
	ck_assert_uint_eq(thread(20)->ns[REPLAY_BLOCKED], 0);
}
END_TEST

/* A wake-up of a thread that runs, and is then preempted, says nothing of its next wait. */
START_TEST(woken_while_it_stays)
{
	switches(0, 100, 0, QZ_LOG_PREEMPTED, 20);
	wakes(110, 20, 0);
	switches(0, 120, 20, QZ_LOG_PREEMPTED, 10);
	switches(0, 130, 10, QZ_LOG_BLOCKED, 20);
	switches(0, 140, 20, QZ_LOG_BLOCKED, 0);
	ck_assert_int_eq(thread(20)->state, REPLAY_BLOCKED);
}
END_TEST

START_TEST(not_woken)
{
	switches(0, 100, 0, QZ_LOG_PREEMPTED, 20);
	switches(0, 200, 20, QZ_LOG_BLOCKED, 0);
	switches(0, 300, 0, QZ_LOG_PREEMPTED, 20);
	ck_assert_uint_eq(replay__counts(r)->unwoken, 1);
	times(20, 100, 100, 0, 100);
	/* that of a processor whose clock is behind comes after all: it is not for the next wait */
	wakes(301, 20, 10);
	ck_assert_uint_eq(replay__counts(r)->unwoken, 0);
	ck_assert_uint_eq(thread(20)->woken, 1);
	switches(0, 400, 20, QZ_LOG_BLOCKED, 0);
	ck_assert_int_eq(thread(20)->state, REPLAY_BLOCKED);
}
END_TEST

START_TEST(who_woke_whom)
{
	uint32_t serial = thread(10)->serial;

	site(0, 7, QZ_WAIT_FUTEX, QZ_TAG_FUTEX, 4096);
	switches(0, 100, 0, QZ_LOG_PREEMPTED, 20);
	blocks_at(0, 200, 20, 7, 0, 10);
	wakes(300, 20, 10);
	ck_assert_uint_eq(wakeups_by(serial).count, 1);
	ck_assert_uint_eq(wakeups_by(serial).blocked_ns, 100); /* three processors were free */
	ck_assert_uint_eq(wakeups_by(serial).scope, thread(20)->scope);
	ck_assert_uint_eq(wakeups_by(serial).object, 0);
	/* no processor is free from 400 to 450 */
	switches(1, 310, 0, QZ_LOG_PREEMPTED, 20);
	switches(2, 320, 0, QZ_LOG_PREEMPTED, 21);
	life(QZ_LOG_FORK, 330, 30, 10, 30);
	life(QZ_LOG_FORK, 330, 31, 10, 30);
	switches(3, 340, 0, QZ_LOG_PREEMPTED, 30);
	switches(1, 400, 20, QZ_LOG_BLOCKED, 31);
	switches(3, 450, 30, QZ_LOG_PREEMPTED, 0);
	wakes(470, 20, 0);
	ck_assert_uint_eq(wakeups_by(0).count, 1);
	ck_assert_uint_eq(wakeups_by(0).blocked_ns, 20);
	ck_assert_uint_eq(wakeups_by(0).object, REPLAY_NONE);
}
END_TEST

/* ---- the order of two processors' records ---- */

/* Seen to come elsewhere before it is seen to leave. */
START_TEST(comes_before_it_leaves)
{
	switches(0, 100, 0, QZ_LOG_PREEMPTED, 20);
	switches(1, 200, 0, QZ_LOG_PREEMPTED, 20);
	switches(0, 200 + MS, 20, QZ_LOG_PREEMPTED, 10);
	ck_assert_int_eq(thread(20)->state, REPLAY_RUNNING);
	ck_assert_uint_eq(replay__machine(r)->running, 2);
	switches(1, 300 + MS, 20, QZ_LOG_BLOCKED, 0);
	times(20, 100, 200 + MS, 0, 0);
	ck_assert_uint_eq(replay__counts(r)->gaps, 0);
	/* it has long been elsewhere: then it came back, and what it did between is not known */
	wakes(300 + MS, 20, 0);
	switches(1, 400 + MS, 0, QZ_LOG_PREEMPTED, 20);
	switches(2, 500 + MS, 0, QZ_LOG_PREEMPTED, 20);
	switches(1, 501 + 2 * MS, 20, QZ_LOG_BLOCKED, 0);
	ck_assert_int_eq(thread(20)->state, REPLAY_BLOCKED);
	ck_assert_uint_eq(replay__machine(r)->running, 1);
}
END_TEST

START_TEST(comes_before_it_is_made)
{
	switches(1, 100, 0, QZ_LOG_PREEMPTED, 30);
	ck_assert_uint_eq(replay__counts(r)->unborn, 1);
	ck_assert_uint_eq(thread(30)->scope, REPLAY_NONE);
	life(QZ_LOG_FORK, 101, 30, 20, 20);
	ck_assert_uint_eq(thread(30)->scope, thread(20)->scope);
	ck_assert_int_eq(thread(30)->state, REPLAY_RUNNING);
	switches(1, 150, 30, QZ_LOG_BLOCKED, 0);
	times(30, 0, 49, 0, 0);
	ck_assert_uint_eq(thread(30)->began, 101);
	ck_assert_uint_eq(replay__counts(r)->unended, 0);
}
END_TEST

/* The same where it has no row: processes that are not followed have none. */
START_TEST(comes_before_it_is_known)
{
	replay__free(r);
	laws__free(laws);
	begin_as(false);
	ck_assert_uint_eq(thread(10)->scope, REPLAY_NONE);
	switches(1, 100, 20, QZ_LOG_PREEMPTED, 30);
	ck_assert_ptr_null(replay__thread(r, 30));
	life(QZ_LOG_FORK, 101, 30, 20, 30);
	ck_assert_uint_eq(thread(30)->scope, thread(20)->scope);
	ck_assert_int_eq(thread(30)->state, REPLAY_RUNNING);
	switches(1, 150, 30, QZ_LOG_BLOCKED, 55);
	ck_assert_ptr_null(replay__thread(r, 55));
	/* switches between those who are not followed are not in the log: nothing is missing */
	switches(1, 160, 56, QZ_LOG_PREEMPTED, 20);
	ck_assert_uint_eq(replay__counts(r)->gaps, 0);
	ck_assert_uint_eq(replay__counts(r)->unborn, 0);
	/* but that 20 leaves is */
	switches(1, 170, 57, QZ_LOG_PREEMPTED, 30);
	ck_assert_uint_eq(replay__counts(r)->gaps, 1);
}
END_TEST

/* Records of processors whose clocks are off by a microsecond, in each order. */
START_TEST(clocks_that_are_off)
{
	for (uint64_t t = 10000; t < 100000; t += 20000)
		for (int off = -1000; off <= 1000; off += 500) {
			uint64_t other = t + (uint64_t)(int64_t)off;

			if (off < 0)
				wakes(other, 20, 0);
			switches(0, t, 0, QZ_LOG_PREEMPTED, 20);
			switches(0, t + 5000, 20, QZ_LOG_BLOCKED, 0);
			if (off >= 0)
				wakes(other + 5000, 20, 0);
			t += 20000;
		}
}
END_TEST

START_TEST(back_in_time)
{
	switches(0, 100, 0, QZ_LOG_PREEMPTED, 20);
	switches(0, 50, 20, QZ_LOG_BLOCKED, 0);
	ck_assert_uint_eq(replay__counts(r)->late, 1);
	times(20, 100, 0, 0, 0);
	replay__advance(r, 300);
	switches(0, 200, 0, QZ_LOG_PREEMPTED, 20);
	ck_assert_uint_eq(replay__counts(r)->late, 2);
	ck_assert_uint_eq(thread(20)->ns[REPLAY_BLOCKED], 200);
	last = 300;
}
END_TEST

/* ---- what was not seen ---- */

START_TEST(gaps)
{
	switches(0, 100, 0, QZ_LOG_PREEMPTED, 20);
	switches(0, 200, 10, QZ_LOG_BLOCKED, 21); /* 20 left, and 10 came */
	ck_assert_uint_eq(replay__counts(r)->gaps, 1);
	ck_assert_int_eq(thread(20)->state, REPLAY_UNKNOWN);
	replay__advance(r, 300);
	times(20, 100 + 100, 100, 0, 0);
	times(10, 200, 0, 0, 100);
	/* it must have slept if it is woken */
	wakes(300, 20, 0);
	ck_assert_int_eq(thread(20)->state, REPLAY_READY);
	switches(1, 350, 0, QZ_LOG_PREEMPTED, 20);
	times(20, 200, 100, 50, 0);
	ck_assert_uint_eq(waits_of(20, QZ_WAIT_UNKNOWN, 0).ready_ns, 50);
}
END_TEST

START_TEST(lost_records)
{
	switches(0, 100, 0, QZ_LOG_PREEMPTED, 20);
	switches(1, 100, 0, QZ_LOG_PREEMPTED, 21);
	ck_assert_int_eq(replay__lose(r, 0, 200, 900), 0);
	ck_assert_int_eq(thread(20)->state, REPLAY_UNKNOWN);
	ck_assert_int_eq(thread(21)->state, REPLAY_RUNNING);
	ck_assert_int_eq(thread(10)->state, REPLAY_UNKNOWN); /* it may have run there */
	ck_assert_uint_eq(replay__machine(r)->running, 1);
	ck_assert_uint_eq(replay__machine(r)->unknown_ns, 700);
	switches(0, 950, 10, QZ_LOG_PREEMPTED, 0);
	ck_assert_uint_eq(replay__counts(r)->gaps, 0); /* it is told of as lost */
	ck_assert_uint_eq(replay__counts(r)->lost_ns, 700);
	times(20, 100 + 750, 100, 0, 0);
	ck_assert_int_eq(replay__lose(r, 4, 0, 1), -EINVAL);
	ck_assert_int_eq(replay__lose(r, 0, 2, 1), -EINVAL);
	ck_assert_uint_eq(replay__counts(r)->lost_ns, 700);
}
END_TEST

/* The log is off on both processors: no level is known, and none of it is called lost. */
START_TEST(times_without_a_log)
{
	switches(0, 100, 0, QZ_LOG_PREEMPTED, 20);
	switches(1, 100, 0, QZ_LOG_PREEMPTED, 21);
	ck_assert_int_eq(replay__turn_off(r, 0, 200, 900), 0);
	ck_assert_int_eq(replay__turn_off(r, 1, 200, 900), 0);
	replay__advance(r, 500);
	ck_assert_uint_eq(replay__off_ns(r), 600);
	ck_assert_uint_eq(replay__counts(r)->lost_ns, 0);
	replay__advance(r, 900);
	ck_assert_int_eq(replay__turn_off(r, 0, 900, 950), 0);
	ck_assert_int_eq(replay__turn_off(r, 1, 900, 950), 0);
	switches(0, 1000, 10, QZ_LOG_PREEMPTED, 0);
	ck_assert_uint_eq(replay__off_ns(r), 1500);
	ck_assert_uint_eq(replay__machine(r)->unknown_ns, 750);
	ck_assert_uint_eq(replay__counts(r)->gaps, 0);
	times(20, 100 + 800, 100, 0, 0);
	ck_assert_int_eq(replay__turn_off(r, 4, 0, 1), -EINVAL);
	ck_assert_uint_eq(replay__off_ns(r), 1500);
}
END_TEST

START_TEST(met_without_a_fork)
{
	switches(0, 100, 0, QZ_LOG_PREEMPTED, 40);
	ck_assert_uint_eq(replay__counts(r)->unborn, 1);
	ck_assert_uint_eq(thread(40)->process, REPLAY_NONE);
	switches(0, 150, 40, QZ_LOG_BLOCKED, 0);
	life(QZ_LOG_FOUND, 5 * MS, 40, 20, 0);
	ck_assert_uint_eq(thread(40)->process, 20);
	ck_assert_int_eq(thread(40)->state, REPLAY_BLOCKED);
	ck_assert_uint_eq(thread(40)->began, 5 * MS);
	ck_assert_uint_eq(rows(), 5); /* it was another one before, that ended then */
	wakes(6 * MS, 40, 0);
	wakes(6 * MS, 41, 0);
	life(QZ_LOG_NAME, 6 * MS, 41, 0, 0);
	ck_assert_uint_eq(replay__counts(r)->strange, 2);
	ck_assert_ptr_null(replay__thread(r, 41));
}
END_TEST

START_TEST(impossible)
{
	struct qz_log_record wrong[] = {
		{.kind = QZ_LOG_NONE},
		{.kind = QZ_LOG_KINDS},
		{.kind = QZ_LOG_SWITCH, .state = QZ_LOG_DEAD + 1},
		{.kind = QZ_LOG_WAKING, .state = QZ_LOG_BY_CALL + 1},
		{.kind = QZ_LOG_WAKING, .cause = QZ_WAIT_CAUSES},
		{.kind = QZ_LOG_FOUND, .state = QZ_LOG_FOUND_BLOCKED + 1},
		{.kind = QZ_LOG_SITE, .state = QZ_TAGS},
	};
	uint64_t records = replay__counts(r)->records;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		ck_assert_int_eq(replay__apply(r, 0, &wrong[i]), -EINVAL);
	wrong[2].state = 0;
	ck_assert_int_eq(replay__apply(r, 4, &wrong[2]), -EINVAL);
	ck_assert_uint_eq(replay__counts(r)->records, records);
	life(QZ_LOG_FORK, 10, 0, 10, 10);
	site(10, 0, 0, 0, 0);
	ck_assert_uint_eq(replay__counts(r)->impossible, 2);
	ck_assert_uint_eq(rows(), 3);
}
END_TEST

/* ---- memory ---- */

/* A record for which there is no memory changes nothing that breaks a law, and can be given again. */
START_TEST(without_memory)
{
	uint32_t failed = 0;

	for (uint32_t i = 0; i < 300; i++) {
		struct qz_log_record record = {.kind = i % 3 ? QZ_LOG_FORK : QZ_LOG_SWITCH,
					       .time = i,
					       .tid = i % 3 ? 1000 + i : i * 7 + 1,
					       .other = i % 3 ? 20 : 1000 + i,
					       .site = i % 2 ? 20 : 1000 + i};
		int err;

		failing__arm(1 + i % 3);
		err = apply(i % 4, record);
		failed += failing__disarm();
		if (err) {
			const char *broken;

			ck_assert_int_eq(err, -ENOMEM);
			broken = laws__check(laws, r, last);
			ck_assert_msg(!broken, "%s", broken);
			ck_assert_int_eq(apply(i % 4, record), 0);
		}
	}
	ck_assert_uint_gt(failed, 5);
	for (uint32_t i = 1; i <= 8; i++) {
		struct replay_options options = {.processors = 4};
		struct replay *other;
		bool fails;

		failing__arm(i);
		other = replay__new(&options);
		fails = failing__disarm();
		ck_assert_int_eq(other == NULL, fails);
		replay__free(other);
	}
	ck_assert_ptr_null(replay__new(&(struct replay_options) {.processors = 8193}));
}
END_TEST

START_TEST(samples_know_the_level)
{
	is_who(0, 20, 20, QZ_LOG_WHO(7, 3));
	is_who(0, 21, 21, QZ_LOG_WHO(8, 3));
	switches(0, 100, 0, QZ_LOG_PREEMPTED, 20);
	switches(1, 110, 0, QZ_LOG_PREEMPTED, 21);
	switches(2, 120, 0, QZ_LOG_PREEMPTED, 10);
	sample(1, 130, 21);
	ck_assert_uint_eq(sampled_serial, 8);
	ck_assert_uint_eq(moment.level, 2);
	ck_assert_uint_eq(moment.machine, 3);
	switches(0, 140, 20, QZ_LOG_BLOCKED, 0);
	sample(1, 150, 21);
	ck_assert_uint_eq(moment.level, 1);
	/* on another processor than where it was seen to come: it is there */
	sample(3, 160, 21);
	ck_assert_uint_eq(sampled_serial, 8);
	ck_assert_uint_eq(moment.level, 1);
	ck_assert_uint_eq(replay__counts(r)->gaps, 0);
	switches(2, 165, 10, QZ_LOG_BLOCKED, 0);
	sample(2, 170, 20);
	ck_assert_uint_eq(moment.level, 2);
	ck_assert_uint_eq(replay__counts(r)->gaps, 1);
	sample(3, 180, 99);
	ck_assert_ptr_null(moment.thread);
}
END_TEST

START_TEST(settled)
{
	switches(0, 100, 20, QZ_LOG_PREEMPTED, 20); /* it is there */
	life(QZ_LOG_FOUND, 150, 30, 30, 0);
	ck_assert_int_eq(0, apply(0, (struct qz_log_record) {.kind = QZ_LOG_SETTLED, .time = 200}));
	switches(0, 300, 20, QZ_LOG_PREEMPTED, 30);
	switches(0, 400, 30, QZ_LOG_PREEMPTED, 20);
	times(20, 100, 200, 100, 0);
	times(10, 200, 0, 200, 0);
	times(30, 50, 100, 100, 0);
}
END_TEST

/* Its creator was preempted between the kernel's lists and the record. After it has run, it is another one. */
START_TEST(found_before_its_fork)
{
	uint32_t seen = replay__scope(r, thread(20)->scope)->threads, serial;

	life(QZ_LOG_FOUND, 100, 40, 20, 0);
	life(QZ_LOG_SETTLED, 200, 0, 0, 0);
	serial = thread(40)->serial;
	life(QZ_LOG_FORK, 300, 40, 20, 20);
	ck_assert_uint_eq(thread(40)->serial, serial);
	ck_assert_uint_eq(replay__scope(r, thread(20)->scope)->threads, seen + 1);
	ck_assert_uint_eq(replay__counts(r)->unended, 0);
	switches(0, 400, 0, QZ_LOG_PREEMPTED, 40);
	life(QZ_LOG_FORK, 500, 40, 20, 20);
	ck_assert_uint_ne(thread(40)->serial, serial);
	ck_assert_uint_eq(replay__scope(r, thread(20)->scope)->threads, seen + 2);
	ck_assert_uint_eq(replay__counts(r)->unended, 1);
}
END_TEST

/* However many there are: each ends a wait of its own. */
START_TEST(not_found_again)
{
	const uint32_t n = 1000;

	for (uint32_t i = 0; i < n; i++)
		ck_assert_int_eq(0, apply(0, (struct qz_log_record) {.kind = QZ_LOG_FOUND,
								     .time = 100,
								     .tid = 1000 + i,
								     .other = 20,
								     .state = QZ_LOG_FOUND_BLOCKED,
								     .cause = QZ_WAIT_PIPE}));
	life(QZ_LOG_SETTLED, 200, 0, 0, 0);
	ck_assert_uint_eq(replay__counts(r)->unended, 0);
	life(QZ_LOG_FOUND, 300, 1000, 20, 0);
	life(QZ_LOG_FORK, 300, 40, 20, 20);
	life(QZ_LOG_SETTLED, 400, 0, 0, 0);
	ck_assert_uint_eq(replay__counts(r)->unended, n - 1 + 3); /* with 10, 20 and 21 */
	ck_assert_int_eq(thread(1000)->state, REPLAY_BLOCKED);
	ck_assert_int_eq(thread(40)->state, REPLAY_READY);
	ck_assert_ptr_null(replay__thread(r, 1001));
}
END_TEST

static void found_with(uint64_t time, uint32_t tid, uint64_t account)
{
	ck_assert_int_eq(0, apply(0, (struct qz_log_record) {.kind = QZ_LOG_FOUND,
							     .time = time,
							     .tid = tid,
							     .other = tid,
							     .object = account}));
}

/* The kernel's account has what it ran while nothing was written down, and so much is not measured. */
START_TEST(accounts_of_known_time)
{
	uint32_t scope = thread(20)->scope;

	found_with(100, 20, 5000);
	life(QZ_LOG_SETTLED, 100, 0, 0, 0);
	switches(0, 100, 0, QZ_LOG_PREEMPTED, 20);
	ck_assert_int_eq(replay__turn_off(r, 0, 200, 900), 0);
	found_with(900, 20, 5800);
	switches(0, 900, 0, QZ_LOG_PREEMPTED, 20);
	life(QZ_LOG_SETTLED, 900, 0, 0, 0);
	ck_assert_int_eq(0, apply(0, (struct qz_log_record) {.kind = QZ_LOG_SWITCH,
							     .time = 950,
							     .tid = 20,
							     .state = QZ_LOG_DEAD,
							     .object = 5851}));
	ck_assert_uint_eq(replay__scope(r, scope)->ns[REPLAY_RUNNING], 150);
	ck_assert_uint_eq(replay__scope(r, scope)->account_ns, 151);
}
END_TEST

START_TEST(images_are_told)
{
	uint32_t scope = thread(20)->scope;

	is_who(0, 20, 20, QZ_LOG_WHO(7, 3));
	ck_assert_uint_eq(image, 3);
	ck_assert_uint_eq(image_scope, scope);
	ck_assert_int_eq(0, apply(0, (struct qz_log_record) {.kind = QZ_LOG_EXEC,
							     .time = 10,
							     .tid = 20,
							     .other = 20,
							     .object = QZ_LOG_WHO(0, 4)}));
	ck_assert_uint_eq(image, 4);
	ck_assert_uint_eq(image_scope, scope);
	life(QZ_LOG_FORK, 20, 30, 20, 30);
	is_who(20, 30, 30, QZ_LOG_WHO(9, 5));
	ck_assert_uint_eq(image, 5);
	ck_assert_uint_eq(image_scope, thread(30)->scope);
	ck_assert_uint_ne(image_scope, scope);
}
END_TEST

Suite *suite_replay(void)
{
	const TTest *const tests[] = {
		states,
		levels,
		woken_on_its_way_out,
		woken_at_the_time_of_leaving,
		woken_while_it_stays,
		not_woken,
		who_woke_whom,
		comes_before_it_leaves,
		comes_before_it_is_made,
		comes_before_it_is_known,
		clocks_that_are_off,
		back_in_time,
		gaps,
		lost_records,
		times_without_a_log,
		met_without_a_fork,
		impossible,
		settled,
		found_before_its_fork,
		not_found_again,
		accounts_of_known_time,
		samples_know_the_level,
		images_are_told,
		without_memory,
	};

	return by_hand("replay", tests, sizeof(tests) / sizeof(*tests));
}
