/* SPDX-License-Identifier: GPL-2.0-only */
/* Waits by place, queues at objects, and who holds them. */
#include <errno.h>
#include <sys/syscall.h>

#include "tests/unit/core/replay/by_hand.h"

/* ---- waits and objects ---- */

START_TEST(waits)
{
	struct replay_wait w;

	site(0, 7, QZ_WAIT_SLEEP, 0, 0);
	switches(0, 100, 0, QZ_LOG_PREEMPTED, 20);
	switches(1, 100, 0, QZ_LOG_PREEMPTED, 21);
	blocks_at(0, 200, 20, 7, 0, 0);
	wakes(300, 20, 0);
	switches(0, 400, 0, QZ_LOG_PREEMPTED, 20);
	w = waits_of(20, QZ_WAIT_SLEEP, 7);
	ck_assert_uint_eq(w.count, 1);
	ck_assert_uint_eq(w.blocked_ns, 100);
	ck_assert_uint_eq(w.ready_ns, 100);
	ck_assert_uint_eq(w.nominal, 2); /* one for half of the time, two for the other, rounded */
	ck_assert_uint_eq(w.place, 1007);
	ck_assert_uint_eq(w.object, REPLAY_NONE);
	switches(0, 500, 20, QZ_LOG_PREEMPTED, 10);
	switches(0, 600, 10, QZ_LOG_BLOCKED, 20);
	w = waits_of(20, QZ_WAIT_PREEMPTED, 0);
	ck_assert_uint_eq(w.ready_ns, 100);
	/* a site that nothing was told of */
	blocks_at(0, 700, 20, 8, 0, 0);
	wakes(800, 20, 0);
	switches(0, 900, 0, QZ_LOG_PREEMPTED, 20);
	ck_assert_uint_eq(waits_of(20, QZ_WAIT_UNKNOWN, 8).blocked_ns, 100);
	replay__clear_waits(r, true);
	ck_assert_uint_eq(waits_of(20, QZ_WAIT_SLEEP, 7).count, 0);
	/* what stands behind a hash changes */
	site(950, 7, QZ_WAIT_POLL, 0, 0);
	blocks_at(0, 1000, 20, 7, 0, 0);
	switches(0, 1100, 0, QZ_LOG_PREEMPTED, 20);
	ck_assert_uint_eq(waits_of(20, QZ_WAIT_POLL, 7).blocked_ns, 100);
	replay__free(r);
	laws__free(laws);
	begin();
}
END_TEST

/* In poll, thread 20 waits for what a thread of its scope does, or for the world: of a wait elsewhere that is no question. */
START_TEST(ended_by_whom)
{
	uint32_t serial = thread(21)->serial;

	site(0, 7, QZ_WAIT_POLL, 0, 0);
	site(0, 8, QZ_WAIT_SLEEP, 0, 0);
	switches(0, 100, 0, QZ_LOG_PREEMPTED, 20);
	switches(2, 100, 0, QZ_LOG_PREEMPTED, 21);
	blocks_at(0, 200, 20, 7, 0, 0);
	wakes(300, 20, 21);
	switches(1, 400, 0, QZ_LOG_PREEMPTED, 20);
	blocks_at(1, 500, 20, 7, 0, 0);
	wakes(600, 20, 0);
	switches(1, 700, 0, QZ_LOG_PREEMPTED, 20);
	blocks_at(1, 800, 20, 8, 0, 0);
	wakes(900, 20, 21);
	switches(1, 1000, 0, QZ_LOG_PREEMPTED, 20);
	ck_assert_uint_eq(waits_of(20, QZ_WAIT_POLL, 7).count, 2);
	ck_assert_uint_eq(waits_of(20, QZ_WAIT_POLL, 7).handed, 1);
	ck_assert_uint_eq(waits_of(20, QZ_WAIT_SLEEP, 8).handed, 0);
	ck_assert_uint_eq(wakeups_by(serial).count, 2);
	ck_assert_uint_eq(wakeups_by(serial).polls, 1);
	ck_assert_uint_eq(wakeups_by(0).polls, 1);
}
END_TEST

/* Thread 20 sleeps at site 7 for a millisecond of 2^10 us. */
static void sleeps_at_7(uint64_t *now)
{
	blocks_at(0, *now + 100, 20, 7, 0, 0);
	wakes(*now + 100 + (1 << 20), 20, 0);
	*now += 100 + (1 << 20);
	switches(0, *now, 0, QZ_LOG_PREEMPTED, 20);
}

static void add_variance(void *context, const struct replay_wait *w)
{
	uint64_t *variances = context;

	if (w->site == 7)
		variances[w->place] += w->variance;
}

/* Of two places of a site, which one it was is known of the first wait after each telling. */
START_TEST(a_site_with_two_places)
{
	uint64_t now = 100, variances[3] = {0};

	switches(0, now, 0, QZ_LOG_PREEMPTED, 20);
	for (int i = 0; i < 4; i++) {
		site_at(now, 7, 1 + i % 2, QZ_WAIT_SLEEP, 0, 0);
		for (int j = 0; j < 3; j++)
			sleeps_at_7(&now);
	}
	replay__each_wait(r, add_variance, variances);
	/* that they take turns is known from the third telling on: two waits of that, and two of the fourth one */
	ck_assert_uint_eq(variances[1], 6 << 20);
	ck_assert_uint_eq(variances[2], 6 << 20);
	replay__free(r);
	laws__free(laws);
	begin();
}
END_TEST

/* The place has another number from some time on. */
START_TEST(a_place_with_a_new_number)
{
	uint64_t now = 100, variances[3] = {0};

	switches(0, now, 0, QZ_LOG_PREEMPTED, 20);
	for (int i = 0; i < 4; i++) {
		site_at(now, 7, 1 + i / 2, QZ_WAIT_SLEEP, 0, 0);
		for (int j = 0; j < 3; j++)
			sleeps_at_7(&now);
	}
	replay__each_wait(r, add_variance, variances);
	ck_assert_uint_eq(variances[1] + variances[2], 0);
	replay__free(r);
	laws__free(laws);
	begin();
}
END_TEST

/* Two places may share a hash: who was preempted at one is in no queue of the other, and the laws hold. */
START_TEST(preempted_at_a_place_where_others_wait)
{
	site(0, 7, QZ_WAIT_FUTEX, QZ_TAG_FUTEX, 0x1000);
	switches(0, 100, 0, QZ_LOG_PREEMPTED, 20);
	ck_assert_int_eq(0, apply(0, (struct qz_log_record) {.kind = QZ_LOG_SWITCH,
							     .time = 200,
							     .tid = 20,
							     .state = QZ_LOG_PREEMPTED,
							     .site = 7}));
	switches(0, 500, 0, QZ_LOG_PREEMPTED, 20);
	ck_assert_uint_eq(thread(20)->ns[REPLAY_READY], 300);
	for (uint32_t i = 0; i < replay__objects(r); i++)
		ck_assert(!replay__object(r, i) || !replay__object(r, i)->arrivals[0]);
	blocks_at(0, 600, 20, 7, 0, 0);
	ck_assert_uint_eq(replay__object(r, 0)->arrivals[0], 1);
}
END_TEST

START_TEST(queues)
{
	const struct replay_object *o;

	site(0, 7, QZ_WAIT_FUTEX, QZ_TAG_FUTEX, 4096);
	site(0, 8, QZ_WAIT_PIPE, QZ_TAG_PIPE, 4096);
	switches(0, 100, 0, QZ_LOG_PREEMPTED, 20);
	switches(1, 100, 0, QZ_LOG_PREEMPTED, 21);
	switches(2, 100, 0, QZ_LOG_PREEMPTED, 10);
	blocks_at(0, 200, 20, 7, 0, 0);
	blocks_at(1, 300, 21, 7, 0, 0);
	blocks_at(2, 300, 10, 7, 0, 0); /* the same address in another process */
	wakes(500, 20, 10);
	wakes(600, 21, 0);
	ck_assert_uint_eq(replay__objects(r), 2);
	o = replay__object(r, 0);
	ck_assert_uint_eq(o->process, 20);
	ck_assert_uint_eq(o->address, 4096);
	ck_assert_uint_eq(o->length_ns[1], 100 + 100);
	ck_assert_uint_eq(o->length_ns[2], 200);
	ck_assert_uint_eq(o->arrivals[0], 1);
	ck_assert_uint_eq(o->arrivals[1], 1);
	ck_assert_uint_eq(o->wakes, 1); /* the other one by a timeout */
	ck_assert_uint_eq(o->waiters, 0);
	ck_assert_uint_eq(replay__object(r, 1)->waiters, 1);
	ck_assert(!replay__drop_object(r, 1));
	ck_assert(!replay__drop_object(r, 0)); /* two are ready, and will tell of it */
	switches(0, 700, 0, QZ_LOG_PREEMPTED, 20);
	switches(1, 700, 0, QZ_LOG_PREEMPTED, 21);
	ck_assert(replay__drop_object(r, 0));
	ck_assert_ptr_null(replay__object(r, 0));
	/* an inode is the scope's, whoever waits */
	blocks_at(0, 800, 20, 8, 0, 0);
	blocks_at(1, 900, 21, 8, 0, 0);
	ck_assert_uint_eq(replay__object(r, 2)->waiters, 2);
	replay__free(r);
	laws__free(laws);
	begin();
}
END_TEST

START_TEST(long_queues)
{
	const struct replay_object *o;

	site(0, 7, QZ_WAIT_FUTEX, QZ_TAG_FUTEX, 4096);
	for (uint32_t i = 0; i < 20; i++) {
		life(QZ_LOG_FORK, 100, 100 + i, 20, 20);
		switches(0, 200 + 10 * i, i ? 99 + i : 0, i ? QZ_LOG_PREEMPTED : QZ_LOG_PREEMPTED,
			 100 + i);
	}
	for (uint32_t i = 0; i < 20; i++) {
		blocks_at(0, 1000 + 10 * i, i ? 99 + i : 119, 7, 0, i < 19 ? 100 + i : 0);
	}
	replay__advance(r, 2000);
	o = replay__object(r, 0);
	ck_assert_uint_eq(o->waiters, 20);
	ck_assert_uint_eq(o->arrivals[15], 5);
	ck_assert_uint_eq(o->length_ns[14], 10);
	ck_assert_uint_eq(o->length_ns[15], 5 * 10 + 810);
	ck_assert_uint_eq(o->beyond_ns, 10 * (15 + 16 + 17 + 18 + 19) + 20 * 810);
	last = 2000;
}
END_TEST

#define OWNER(tid) ((uint64_t)(tid) << 32)

/* In a page fault of `by`. */
static void wakes_in_fault(uint64_t time, uint32_t tid, uint32_t by)
{
	ck_assert_int_eq(0, apply(0, (struct qz_log_record) {.kind = QZ_LOG_WAKING,
							     .time = time,
							     .tid = tid,
							     .other = by,
							     .state = QZ_LOG_BY_INTERRUPT}));
}

/* Each of them is woken by who lets go; one gets it, and the others wait again. */
START_TEST(holders_among_all_that_are_woken)
{
	life(QZ_LOG_FORK, 50, 22, 20, 20);
	site(60, 7, QZ_WAIT_SYSCALL + SYS_flock, QZ_TAG_FLOCK, 4096);
	for (uint32_t tid = 20; tid < 23; tid++)
		switches(tid - 20, 100, 0, QZ_LOG_PREEMPTED, tid);
	switches(3, 100, 0, QZ_LOG_PREEMPTED, 10);
	for (uint32_t tid = 20; tid < 23; tid++)
		blocks_at(tid - 20, 200, tid, 7, 0, 0);
	for (uint32_t tid = 20; tid < 23; tid++)
		wakes(300, tid, 10);
	for (uint32_t tid = 20; tid < 23; tid++)
		switches(tid - 20, 400, 0, QZ_LOG_PREEMPTED, tid);
	blocks_at(2, 500, 22, 7, 0, 0);
	blocks_at(1, 510, 21, 7, 0, 0);
	ck_assert_uint_eq(replay__object(r, 0)->holder, thread(20)->serial);
	/* and the last one, too: who let go has it again */
	blocks_at(0, 520, 20, 7, 0, 0);
	ck_assert_uint_eq(replay__object(r, 0)->holder, thread(10)->serial);
	last = 520;
}
END_TEST

/* A pipe is a lock when who was woken there writes what others wait for; not where it is another one, always. */
START_TEST(holders_of_tokens)
{
	const uint8_t tags[] = {QZ_TAG_PIPE, QZ_TAG_EVENT, QZ_TAG_SEMAPHORES};

	switches(0, 100, 0, QZ_LOG_PREEMPTED, 20);
	switches(1, 100, 0, QZ_LOG_PREEMPTED, 21);
	switches(2, 100, 0, QZ_LOG_PREEMPTED, 10);
	for (uint32_t i = 0; i < sizeof(tags); i++)
		for (uint32_t turn = 0; turn < 20; turn++) {
			uint64_t t = 10000 * (i + 1) + 100 * turn;
			uint32_t tid = 20 + turn % 2;

			if (!turn)
				site(t, 7, QZ_WAIT_SYSCALL + SYS_read, tags[i], 4096);
			blocks_at(tid - 20, t + 10, tid, 7, 0, 0);
			ck_assert_uint_eq(replay__object(r, i)->holder,
					  turn < 5 ? 0 : thread(41 - tid)->serial);
			last = t + 20;
			ck_assert_int_eq(0,
					 apply(2, (struct qz_log_record) {
							  .kind = QZ_LOG_WAKING,
							  .time = t + 20,
							  .tid = tid,
							  .other = turn ? 41 - tid : 10,
							  .state = QZ_LOG_BY_CALL,
							  .cause = QZ_WAIT_SYSCALL + SYS_write}));
			switches(tid - 20, t + 30, 0, QZ_LOG_PREEMPTED, tid);
		}
	for (uint32_t turn = 0; turn < 20; turn++) {
		uint64_t t = 50000 + 100 * turn;

		if (!turn)
			site(t, 8, QZ_WAIT_PIPE, QZ_TAG_PIPE, 8192);
		blocks_at(0, t + 10, 20, 8, 0, 0);
		ck_assert_uint_eq(replay__object(r, sizeof(tags))->holder, 0);
		ck_assert_int_eq(
			0, apply(2, (struct qz_log_record) {.kind = QZ_LOG_WAKING,
							    .time = t + 20,
							    .tid = 20,
							    .other = 21,
							    .state = QZ_LOG_BY_CALL,
							    .cause = QZ_WAIT_SYSCALL + SYS_write}));
		switches(0, t + 30, 0, QZ_LOG_PREEMPTED, 20);
		last = t + 30;
	}
}
END_TEST

/* A thread that writes to a pipe and one that reads wait for each other, and none has it. */
START_TEST(holders_of_full_pipes)
{
	site(50, 7, QZ_WAIT_PIPE, QZ_TAG_PIPE, 8192);
	switches(0, 100, 0, QZ_LOG_PREEMPTED, 20);
	switches(1, 100, 0, QZ_LOG_PREEMPTED, 21);
	for (uint32_t turn = 0; turn < 40; turn++) {
		uint64_t t = 200 + 100 * turn;
		uint32_t reads = turn % 2, tid = 20 + reads;

		blocks_at(reads, t + 10, tid, 7, 0, 0);
		ck_assert_uint_eq(replay__object(r, 0)->holder, 0);
		ck_assert_int_eq(0, apply(2, (struct qz_log_record) {.kind = QZ_LOG_WAKING,
								     .time = t + 20,
								     .tid = tid,
								     .other = 41 - tid,
								     .state = QZ_LOG_BY_CALL,
								     .cause = QZ_WAIT_SYSCALL +
									      (reads ? SYS_write
										     : SYS_read)}));
		switches(reads, t + 30, 0, QZ_LOG_PREEMPTED, tid);
		last = t + 30;
	}
}
END_TEST

START_TEST(holders_of_kernel_locks)
{
	const uint8_t tags[] = {QZ_TAG_FLOCK, QZ_TAG_RECORD, QZ_TAG_INODE, QZ_TAG_POSITION,
				QZ_TAG_MAP};

	switches(0, 100, 0, QZ_LOG_PREEMPTED, 20);
	switches(1, 100, 0, QZ_LOG_PREEMPTED, 21);
	switches(2, 100, 0, QZ_LOG_PREEMPTED, 10);
	for (uint32_t i = 0; i < sizeof(tags); i++) {
		uint64_t t = 1000 * (i + 1);

		site(t, 7, QZ_WAIT_SYSCALL + SYS_flock, tags[i], 4096);
		/* no holder is stored, and no thread was woken for it */
		blocks_at(0, t + 10, 20, 7, 0, 0);
		ck_assert_uint_eq(replay__object(r, i)->holder, 0);
		/* let go of it in a page fault, or at its end: who was woken has it */
		wakes_in_fault(t + 20, 20, 21);
		ck_assert_uint_eq(replay__object(r, i)->wakes, 1);
		switches(0, t + 30, 0, QZ_LOG_PREEMPTED, 20);
		blocks_at(1, t + 40, 21, 7, 0, 0);
		ck_assert_uint_eq(replay__object(r, i)->holder, thread(20)->serial);
		/* it waits again: who woke it was faster */
		wakes(t + 42, 21, 20);
		switches(1, t + 44, 0, QZ_LOG_PREEMPTED, 21);
		blocks_at(1, t + 50, 21, 7, 0, 0);
		ck_assert_uint_eq(replay__object(r, i)->holder, thread(20)->serial);
		/* the kernel tells, of a thread of another process, too; and then no other thread is taken */
		wakes(t + 60, 21, 20);
		switches(1, t + 70, 0, QZ_LOG_PREEMPTED, 21);
		blocks_at(1, t + 80, 21, 7, OWNER(10), 0);
		ck_assert_uint_eq(replay__object(r, i)->holder, thread(10)->serial);
		replay__advance(r, t + 90);
		ck_assert_uint_ge(replay__object(r, i)->held_running_ns, 10);
		wakes(t + 100, 21, 10);
		switches(1, t + 110, 0, QZ_LOG_PREEMPTED, 21);
		last = t + 110;
	}
	/* a pipe is no lock, and an interrupt in which another thread is does not write to it */
	site(9000, 8, QZ_WAIT_PIPE, QZ_TAG_PIPE, 4096);
	blocks_at(0, 9010, 20, 8, 0, 0);
	wakes_in_fault(9020, 20, 21);
	ck_assert_uint_eq(replay__object(r, sizeof(tags))->wakes, 0);
	last = 9020;
}
END_TEST

START_TEST(holders)
{
	const struct replay_object *o;

	site(0, 7, QZ_WAIT_FUTEX, QZ_TAG_FUTEX, 4096);
	switches(0, 100, 0, QZ_LOG_PREEMPTED, 20);
	switches(1, 100, 0, QZ_LOG_PREEMPTED, 21);
	blocks_at(0, 200, 20, 7, OWNER(21) | 2, 0);
	switches(1, 250, 21, QZ_LOG_BLOCKED, 0); /* it sleeps with the lock */
	replay__advance(r, 300);
	o = replay__object(r, 0);
	ck_assert_uint_eq(o->holder, thread(21)->serial);
	ck_assert_uint_eq(o->held_ns, 100);
	ck_assert_uint_eq(o->held_running_ns, 50);
	wakes(300, 21, 0);
	switches(1, 400, 0, QZ_LOG_PREEMPTED, 21);
	wakes(450, 20, 21);
	o = replay__object(r, 0);
	ck_assert_uint_eq(o->holder, 0); /* no thread waits */
	ck_assert_uint_eq(o->held_ns, 250);
	ck_assert_uint_eq(o->held_running_ns, 100);
	/* no owner is named, and the word says that it was taken by who had waited: who was woken last */
	switches(0, 500, 0, QZ_LOG_PREEMPTED, 20);
	blocks_at(1, 600, 21, 7, 2, 0);
	ck_assert_uint_eq(replay__object(r, 0)->holder, thread(20)->serial);
	wakes(650, 21, 20);
	switches(1, 660, 0, QZ_LOG_PREEMPTED, 21);
	/* 21 waits again: 20, who woke it, was faster */
	blocks_at(1, 700, 21, 7, 2, 0);
	ck_assert_uint_eq(replay__object(r, 0)->holder, thread(20)->serial);
	/* a number of another process: not known */
	wakes(702, 21, 20);
	switches(1, 704, 0, QZ_LOG_PREEMPTED, 21);
	blocks_at(1, 706, 21, 7, OWNER(10) | 2, 0);
	ck_assert_uint_eq(replay__object(r, 0)->holder, 0);
	/* of no thread: it is what the lock protects */
	wakes(710, 21, 20);
	switches(1, 720, 0, QZ_LOG_PREEMPTED, 21);
	blocks_at(1, 730, 21, 7, OWNER(99999) | 2, 0);
	ck_assert_uint_eq(replay__object(r, 0)->holder, thread(20)->serial);
	/* a lock with priority inheritance has the owner in the word */
	wakes(740, 21, 0);
	switches(1, 750, 0, QZ_LOG_PREEMPTED, 21);
	blocks_at(1, 760, 21, 7, 0x80000000u | 20, 0);
	ck_assert_uint_eq(replay__object(r, 0)->holder, thread(20)->serial);
	/* musl's has none: it was taken by who had waited, or by who let it go and was faster */
	wakes(762, 21, 20);
	switches(1, 764, 0, QZ_LOG_PREEMPTED, 21);
	blocks_at(1, 766, 21, 7, 0x80000000u | EBUSY, 0);
	ck_assert_uint_eq(replay__object(r, 0)->holder, thread(20)->serial);
	/* the holder ends */
	switches(0, 800, 20, QZ_LOG_DEAD, 0);
	ck_assert_uint_eq(replay__object(r, 0)->holder, 0);
}
END_TEST

/* The owner's number stands in the memory of a container, where thread 21 is number 2. */
START_TEST(holders_in_a_container)
{
	is_who(0, 20, 1, QZ_LOG_WHO(7, 3));
	is_who(0, 21, 2, QZ_LOG_WHO(8, 3));
	site(1, 5, QZ_WAIT_FUTEX, QZ_TAG_FUTEX, 0x1000);
	switches(1, 90, 0, QZ_LOG_PREEMPTED, 21);
	switches(0, 100, 0, QZ_LOG_PREEMPTED, 20);
	sample(1, 110, 21);
	ck_assert_uint_eq(moment.held, REPLAY_NONE);
	blocks_at(0, 120, 20, 5, 2 | 2ull << 32, 0);
	sample(1, 130, 21);
	ck_assert_uint_eq(moment.held, 0);
	wakes(140, 20, 21);
	sample(1, 150, 21);
	ck_assert_uint_eq(moment.held, REPLAY_NONE);
}
END_TEST

Suite *suite_replay_waits(void)
{
	const TTest *const tests[] = {
		waits,
		ended_by_whom,
		a_site_with_two_places,
		a_place_with_a_new_number,
		preempted_at_a_place_where_others_wait,
		queues,
		long_queues,
		holders,
		holders_of_kernel_locks,
		holders_among_all_that_are_woken,
		holders_of_tokens,
		holders_of_full_pipes,
		holders_in_a_container,
	};

	return by_hand("replay_waits", tests, sizeof(tests) / sizeof(*tests));
}
