/* SPDX-License-Identifier: GPL-2.0-only */
/* Each rule by records made by hand. Thread 10 of process 10 is found ready, 20 and 21 of process 20. */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "core/replay/replay.h"
#include "quartz/records.h"
#include "tests/unit/core/replay/laws.h"
#include "tests/unit/failing.h"
#include "tests/unit/suites.h"

#define MS 1000000ull

static struct replay *r;
static struct laws *laws;
static uint64_t last;

static int apply(uint32_t cpu, struct qz_log_record record)
{
	if (record.time > last)
		last = record.time;
	return replay__apply(r, cpu, &record);
}

static void switches(uint32_t cpu, uint64_t time, uint32_t tid, enum qz_log_left how,
		     uint32_t other)
{
	ck_assert_int_eq(0, apply(cpu, (struct qz_log_record) {.kind = QZ_LOG_SWITCH,
							       .time = time,
							       .tid = tid,
							       .state = how,
							       .other = other}));
}

static void blocks_at(uint32_t cpu, uint64_t time, uint32_t tid, uint32_t site, uint64_t object,
		      uint32_t other)
{
	ck_assert_int_eq(0, apply(cpu, (struct qz_log_record) {.kind = QZ_LOG_SWITCH,
							       .time = time,
							       .tid = tid,
							       .state = QZ_LOG_BLOCKED,
							       .site = site,
							       .object = object,
							       .other = other}));
}

static void wakes(uint64_t time, uint32_t tid, uint32_t by)
{
	ck_assert_int_eq(0, apply(0, (struct qz_log_record) {.kind = QZ_LOG_WAKING,
							     .time = time,
							     .tid = tid,
							     .other = by,
							     .state = by ? QZ_LOG_BY_CALL
									 : QZ_LOG_BY_INTERRUPT,
							     .cause = by ? QZ_WAIT_FUTEX : 0}));
}

static void life(uint8_t kind, uint64_t time, uint32_t tid, uint32_t other, uint32_t site)
{
	ck_assert_int_eq(0, apply(0, (struct qz_log_record) {.kind = kind,
							     .time = time,
							     .tid = tid,
							     .other = other,
							     .site = site}));
}

static void site_at(uint64_t time, uint32_t of, uint32_t place, uint16_t cause, uint8_t tag,
		    uint64_t address)
{
	ck_assert_int_eq(0, apply(0, (struct qz_log_record) {.kind = QZ_LOG_SITE,
							     .time = time,
							     .site = of,
							     .cause = cause,
							     .state = tag,
							     .other = place,
							     .object = address}));
}

static void site(uint64_t time, uint32_t of, uint16_t cause, uint8_t tag, uint64_t address)
{
	site_at(time, of, of + 1000, cause, tag, address);
}

/* What was told last. */
static struct replay_moment moment;
static uint32_t sampled_serial, image, image_scope;

static void take_sample(void *context, uint32_t cpu, const struct qz_log_record *record,
			const struct replay_moment *m)
{
	(void)context;
	(void)cpu;
	(void)record;
	moment = *m;
	sampled_serial = m->thread ? m->thread->number : 0;
}

static void take_image(void *context, uint32_t number, uint32_t scope)
{
	(void)context;
	image = number;
	image_scope = scope;
}

static void begin_as(bool every_process)
{
	struct replay_options options = {
		.processors = 4,
		.every_process = every_process,
		.calls = {.sampled = take_sample, .image = take_image},
	};

	last = 0;
	r = replay__new(&options);
	laws = laws__new();
	ck_assert_ptr_nonnull(r);
	if (!every_process)
		replay__open_scope(r, 20, true, 0);
	life(QZ_LOG_FOUND, 0, 10, 10, 0);
	life(QZ_LOG_FOUND, 0, 20, 20, 0);
	life(QZ_LOG_FOUND, 0, 21, 20, 0);
}

static void begin(void)
{
	begin_as(true);
}

/* The laws hold at the end of each test. */
static void end(void)
{
	const char *broken = laws__check(laws, r, last + 1000);

	ck_assert_msg(!broken, "%s", broken);
	broken = laws__take(laws, r, last + 2000, 1);
	ck_assert_msg(!broken, "%s", broken);
	laws__free(laws);
	replay__free(r);
}

static const struct replay_thread *thread(uint32_t tid)
{
	const struct replay_thread *t = replay__thread(r, tid);

	ck_assert_ptr_nonnull(t);
	return t;
}

static void times(uint32_t tid, uint64_t unknown, uint64_t running, uint64_t ready,
		  uint64_t blocked)
{
	const struct replay_thread *t = thread(tid);

	ck_assert_uint_eq(t->ns[REPLAY_UNKNOWN], unknown);
	ck_assert_uint_eq(t->ns[REPLAY_RUNNING], running);
	ck_assert_uint_eq(t->ns[REPLAY_READY], ready);
	ck_assert_uint_eq(t->ns[REPLAY_BLOCKED], blocked);
}

static void found_wait(void *context, const struct replay_wait *w)
{
	struct replay_wait *want = context;

	if (w->serial != want->serial || w->cause != want->cause || w->site != want->site)
		return;
	want->count += w->count;
	want->blocked_ns += w->blocked_ns;
	want->ready_ns += w->ready_ns;
	want->nominal = w->nominal;
	want->object = w->object;
	want->place = w->place;
}

/* All waits of the thread with this cause and site that have ended, added up. */
static struct replay_wait waits_of(uint32_t tid, uint16_t cause, uint32_t at)
{
	struct replay_wait w = {.serial = thread(tid)->serial, .cause = cause, .site = at};

	replay__each_wait(r, found_wait, &w);
	return w;
}

static void found_wakeup(void *context, const struct replay_wakeup *w)
{
	struct replay_wakeup *want = context;

	if (w->waker != want->waker)
		return;
	want->count += w->count;
	want->blocked_ns += w->blocked_ns;
	want->scope = w->scope;
	want->object = w->object;
}

static struct replay_wakeup wakeups_by(uint32_t serial)
{
	struct replay_wakeup w = {.waker = serial};

	replay__each_wakeup(r, found_wakeup, &w);
	return w;
}

static void count_row(void *context, const struct replay_thread *t)
{
	(void)t;
	++*(uint32_t *)context;
}

static uint32_t rows(void)
{
	uint32_t n = 0;

	replay__each_thread(r, count_row, &n);
	return n;
}

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
	/* one that nobody came to can be dropped, and its number is another one's after the waits were taken */
	scope = replay__open_scope(r, 60, false, 320);
	ck_assert(replay__drop_scope(r, (uint32_t)scope));
	ck_assert_ptr_null(replay__scope(r, (uint32_t)scope));
	ck_assert_int_ne(replay__open_scope(r, 60, false, 330), scope);
	replay__clear_waits(r, true);
	ck_assert_int_eq(replay__open_scope(r, 61, false, 340), scope);
	last = 340;
}
END_TEST

/* A process that was nobody's: its threads are others from then on. */
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

/* Who writes to a pipe and who reads wait for each other, and nobody has it. */
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
		/* nobody is told, and nobody was woken for it */
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
		/* the kernel tells, of a thread of another process, too; and takes nobody else then */
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
	ck_assert_uint_eq(o->holder, 0); /* nobody waits */
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
	/* a number of another process, or of nobody: not known */
	wakes(710, 21, 20);
	switches(1, 720, 0, QZ_LOG_PREEMPTED, 21);
	blocks_at(1, 730, 21, 7, OWNER(10) | 2, 0);
	ck_assert_uint_eq(replay__object(r, 0)->holder, 0);
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

static void is_who(uint64_t time, uint32_t tid, uint32_t own, uint64_t who)
{
	ck_assert_int_eq(0, apply(0, (struct qz_log_record) {.kind = QZ_LOG_IDENTITY,
							     .time = time,
							     .tid = tid,
							     .other = own,
							     .object = who}));
}

static void sample(uint32_t cpu, uint64_t time, uint32_t tid)
{
	ck_assert_int_eq(0, apply(cpu, (struct qz_log_record) {
					       .kind = QZ_LOG_SAMPLE, .time = time, .tid = tid}));
}

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

/* One after the other; with nobody who had something to do; with small steps, after which each wakes others; at a pipe. */
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
	life(QZ_LOG_FORK, 50, 50, 99, 50); /* nobody knows by whom */
	started(10, 0, 0);
	started(20, 2, 1);
	started(40, 1, 0);
	started(50, 0, 0);
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
	replay__restart_scope(anew, (uint32_t)scope, 9 * US);
	ck_assert_int_eq(replay__apply(anew, 0, &records[8]), 0);
	s = replay__scope(anew, (uint32_t)scope);
	ck_assert_uint_eq(s->threads_started, 0);
	ck_assert_uint_eq(s->processes_started, 0);
	ck_assert_uint_eq(s->grain[3], 0);
	ck_assert_uint_eq(s->grain[0], 1); /* what it ran before is forgotten */
	replay__free(anew);
}
END_TEST

/* ---- event loops ---- */

enum { POLL_SITE = 1, READ_SITE };

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

/* What was not seen may have been a wait for events. */
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

Suite *suite_replay(void)
{
	const TTest *tests[] = {
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
		fork_to_death,
		account_of_a_scope_that_begins_anew,
		number_used_again,
		process_number_used_again,
		exec_by_another_thread,
		exec_before_the_death,
		death_between_exchange_and_exec,
		heir_is_switched_before_exec,
		heir_is_switched_before_death_and_exec,
		scopes_that_follow,
		opened_later,
		waits,
		a_site_with_two_places,
		a_place_with_a_new_number,
		queues,
		long_queues,
		holders,
		holders_of_kernel_locks,
		holders_among_all_that_are_woken,
		holders_of_tokens,
		holders_of_full_pipes,
		settled,
		not_found_again,
		accounts_of_known_time,
		holders_in_a_container,
		samples_know_the_level,
		images_are_told,
		work_between_hand_overs,
		limits_of_grains,
		hand_overs_out_of_order,
		woken_for_nothing,
		not_woken_for_nothing,
		what_was_started,
		grain_of_a_scope_that_begins_anew,
		turns_of_an_event_loop,
		turns_with_other_waits,
		samples_in_blocks,
		turns_with_a_gap,
		turns_of_a_scope_that_begins_anew,
		without_memory,
	};
	Suite *s = suite_create("replay");
	TCase *tc = tcase_create("replay");

	tcase_add_checked_fixture(tc, begin, end);
	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++)
		tcase_add_test(tc, tests[i]);
	suite_add_tcase(s, tc);
	return s;
}
