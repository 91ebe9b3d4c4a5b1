/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A replay of records that are made by hand. Thread 10 of process 10 is found ready, 20 and 21 of process 20. For the files
 * of tests of one rule each, which have a replay of their own.
 */
#ifndef QUARTZ_TESTS_UNIT_CORE_REPLAY_BY_HAND_H
#define QUARTZ_TESTS_UNIT_CORE_REPLAY_BY_HAND_H

#include <string.h>

#include "core/replay/replay.h"
#include "quartz/records.h"
#include "tests/unit/core/replay/laws.h"
#include "tests/unit/suites.h"

#define MS 1000000ull

static struct replay *r;
static struct laws *laws;
static uint64_t last;

static inline int apply(uint32_t cpu, struct qz_log_record record)
{
	if (record.time > last)
		last = record.time;
	return replay__apply(r, cpu, &record);
}

static inline void switches(uint32_t cpu, uint64_t time, uint32_t tid, enum qz_log_left how,
			    uint32_t other)
{
	ck_assert_int_eq(0, apply(cpu, (struct qz_log_record) {.kind = QZ_LOG_SWITCH,
							       .time = time,
							       .tid = tid,
							       .state = how,
							       .other = other}));
}

static inline void blocks_at(uint32_t cpu, uint64_t time, uint32_t tid, uint32_t site,
			     uint64_t object, uint32_t other)
{
	ck_assert_int_eq(0, apply(cpu, (struct qz_log_record) {.kind = QZ_LOG_SWITCH,
							       .time = time,
							       .tid = tid,
							       .state = QZ_LOG_BLOCKED,
							       .site = site,
							       .object = object,
							       .other = other}));
}

static inline void wakes(uint64_t time, uint32_t tid, uint32_t by)
{
	ck_assert_int_eq(0, apply(0, (struct qz_log_record) {.kind = QZ_LOG_WAKING,
							     .time = time,
							     .tid = tid,
							     .other = by,
							     .state = by ? QZ_LOG_BY_CALL
									 : QZ_LOG_BY_INTERRUPT,
							     .cause = by ? QZ_WAIT_FUTEX : 0}));
}

static inline void life(uint8_t kind, uint64_t time, uint32_t tid, uint32_t other, uint32_t site)
{
	ck_assert_int_eq(0, apply(0, (struct qz_log_record) {.kind = kind,
							     .time = time,
							     .tid = tid,
							     .other = other,
							     .site = site}));
}

static inline void site_at(uint64_t time, uint32_t of, uint32_t place, uint16_t cause, uint8_t tag,
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

static inline void site(uint64_t time, uint32_t of, uint16_t cause, uint8_t tag, uint64_t address)
{
	site_at(time, of, of + 1000, cause, tag, address);
}

/* What was told last. */
static struct replay_moment moment;
static uint32_t sampled_serial, image, image_scope;

static inline void take_sample(void *context, uint32_t cpu, const struct qz_log_record *record,
			       const struct replay_moment *m)
{
	(void)context;
	(void)cpu;
	(void)record;
	moment = *m;
	sampled_serial = m->thread ? m->thread->number : 0;
}

static inline void take_image(void *context, uint32_t number, uint32_t scope)
{
	(void)context;
	image = number;
	image_scope = scope;
}

static uint32_t numbered_scope, scope_number;

static inline void take_scope(void *context, uint32_t scope, uint32_t number)
{
	(void)context;
	numbered_scope = scope;
	scope_number = number;
}

static inline void begin_as(bool every_process)
{
	struct replay_options options = {
		.processors = 4,
		.every_process = every_process,
		.calls = {.sampled = take_sample, .image = take_image, .scope = take_scope},
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

static inline void begin(void)
{
	begin_as(true);
}

/* The laws hold at the end of each test. */
static inline void end(void)
{
	const char *broken = laws__check(laws, r, last + 1000);

	ck_assert_msg(!broken, "%s", broken);
	broken = laws__take(laws, r, last + 2000, 1);
	ck_assert_msg(!broken, "%s", broken);
	laws__free(laws);
	replay__free(r);
}

static inline const struct replay_thread *thread(uint32_t tid)
{
	const struct replay_thread *t = replay__thread(r, tid);

	ck_assert_ptr_nonnull(t);
	return t;
}

static inline void times(uint32_t tid, uint64_t unknown, uint64_t running, uint64_t ready,
			 uint64_t blocked)
{
	const struct replay_thread *t = thread(tid);

	ck_assert_uint_eq(t->ns[REPLAY_UNKNOWN], unknown);
	ck_assert_uint_eq(t->ns[REPLAY_RUNNING], running);
	ck_assert_uint_eq(t->ns[REPLAY_READY], ready);
	ck_assert_uint_eq(t->ns[REPLAY_BLOCKED], blocked);
}

static inline void found_wait(void *context, const struct replay_wait *w)
{
	struct replay_wait *want = context;

	if (w->serial != want->serial || w->cause != want->cause || w->site != want->site)
		return;
	want->count += w->count;
	want->blocked_ns += w->blocked_ns;
	want->ready_ns += w->ready_ns;
	want->handed += w->handed;
	want->nominal = w->nominal;
	want->object = w->object;
	want->place = w->place;
}

/* All waits of the thread with this cause and site that have ended, added up. */
static inline struct replay_wait waits_of(uint32_t tid, uint16_t cause, uint32_t at)
{
	struct replay_wait w = {.serial = thread(tid)->serial, .cause = cause, .site = at};

	replay__each_wait(r, found_wait, &w);
	return w;
}

static inline void found_wakeup(void *context, const struct replay_wakeup *w)
{
	struct replay_wakeup *want = context;

	if (w->waker != want->waker)
		return;
	want->count += w->count;
	want->polls += w->polls;
	want->blocked_ns += w->blocked_ns;
	want->scope = w->scope;
	want->object = w->object;
}

static inline struct replay_wakeup wakeups_by(uint32_t serial)
{
	struct replay_wakeup w = {.waker = serial};

	replay__each_wakeup(r, found_wakeup, &w);
	return w;
}

static inline void count_row(void *context, const struct replay_thread *t)
{
	(void)t;
	++*(uint32_t *)context;
}

static inline uint32_t rows(void)
{
	uint32_t n = 0;

	replay__each_thread(r, count_row, &n);
	return n;
}

static inline void is_who(uint64_t time, uint32_t tid, uint32_t own, uint64_t who)
{
	ck_assert_int_eq(0, apply(0, (struct qz_log_record) {.kind = QZ_LOG_IDENTITY,
							     .time = time,
							     .tid = tid,
							     .other = own,
							     .object = who}));
}

static inline void sample(uint32_t cpu, uint64_t time, uint32_t tid)
{
	ck_assert_int_eq(0, apply(cpu, (struct qz_log_record) {
					       .kind = QZ_LOG_SAMPLE, .time = time, .tid = tid}));
}

static inline Suite *by_hand(const char *name, const TTest *const *tests, size_t n)
{
	Suite *s = suite_create(name);
	TCase *tc = tcase_create(name);

	tcase_add_checked_fixture(tc, begin, end);
	for (size_t i = 0; i < n; i++)
		tcase_add_test(tc, tests[i]);
	suite_add_tcase(s, tc);
	return s;
}

#endif
