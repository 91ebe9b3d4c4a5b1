/* SPDX-License-Identifier: GPL-2.0-only */
/* Synchronized snapshots: which threads are caught, where, and that no answer is waited for in vain. */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/kmod/device.h"

#define MAX_CPUS 64

static struct qz_capture captures[MAX_CPUS];

static struct qz_ioc_snapshot snapshot_of(const __s32 *targets, __u32 n)
{
	return (struct qz_ioc_snapshot) {.size = sizeof(struct qz_ioc_snapshot),
					 .flags = n ? 0 : QZ_SNAPSHOT_ALL,
					 .ntargets = n,
					 .room = MAX_CPUS,
					 .targets = (__u64)(uintptr_t)targets,
					 .captures = (__u64)(uintptr_t)captures,
					 .patience_ns = 1000000000};
}

static __u64 now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (__u64)t.tv_sec * 1000000000 + (__u64)t.tv_nsec;
}

/* ---- threads that compute in a known place ---- */

extern char turning_begin[], turning_end[];
static volatile int running;

/* At this address, and with this many bytes of stack, for ever. */
__attribute__((noinline)) static void turn(void)
{
	__asm__ volatile("turning_begin:\n"
			 "1: jmp 1b\n"
			 "turning_end:");
}

static void *turning(void *unused)
{
	__atomic_fetch_add(&running, 1, __ATOMIC_SEQ_CST);
	turn();
	return NULL;
}

static void start_threads(int n)
{
	pthread_t thread;

	for (int i = 0; i < n; i++)
		ck_assert_int_eq(pthread_create(&thread, NULL, turning, NULL), 0);
	while (running < n)
		usleep(1000);
	usleep(100000);
}

static void one_round(const struct qz_ioc_snapshot *s, unsigned int *most)
{
	unsigned int in_loop = 0;

	for (__u32 i = 0; i < s->captured; i++) {
		const struct qz_capture *c = &captures[i];

		ck_assert_int_eq(c->tgid, getpid());
		ck_assert_uint_ge(c->time, s->begun);
		for (__u32 j = 0; j < i; j++)
			ck_assert_uint_ne(c->cpu, captures[j].cpu);
		if (c->flags & QZ_CAPTURE_SELF)
			continue;
		ck_assert(c->flags & QZ_CAPTURE_USER);
		in_loop += c->user_ip >= (__u64)turning_begin && c->user_ip < (__u64)turning_end;
	}
	*most = in_loop > *most ? in_loop : *most;
}

START_TEST(threads_are_caught_where_they_are)
{
	int processors = (int)sysconf(_SC_NPROCESSORS_ONLN), fd = device();
	__s32 self = getpid();
	unsigned int most = 0;

	start_threads(processors - 1);
	for (int i = 0; i < 50; i++) {
		struct qz_ioc_snapshot s = snapshot_of(&self, 1);

		ck_assert_int_eq(call(fd, QZ_IOC_SNAPSHOT, &s), 0);
		ck_assert_uint_ge(s.captured, 1);
		one_round(&s, &most);
	}
	ck_assert_uint_eq(most, processors - 1);
}
END_TEST

/* A snapshot with all processors, of some: the host may not run one of them for longer than is waited. */
static struct qz_ioc_snapshot whole_snapshot(int fd)
{
	struct qz_ioc_snapshot s;

	for (int i = 0; i < 100; i++) {
		s = snapshot_of(NULL, 0);
		ck_assert_int_eq(call(fd, QZ_IOC_SNAPSHOT, &s), 0);
		ck_assert_uint_eq(s.captured + s.missed, sysconf(_SC_NPROCESSORS_ONLN));
		if (!s.missed)
			return s;
	}
	ck_abort_msg("each of 100 snapshots missed a processor");
}

START_TEST(all_processors_answer)
{
	int fd = device();
	__u64 before = now();
	struct qz_ioc_snapshot s = whole_snapshot(fd);

	ck_assert_uint_ge(s.begun, before);
	ck_assert_uint_le(s.begun + s.skew_ns, now());
	s.room = 1;
	ck_assert_int_eq(call(fd, QZ_IOC_SNAPSHOT, &s), 0);
	ck_assert_uint_eq(s.captured, 1);
}
END_TEST

/* No answer is waited for any longer than that; a later answer is not one of another round. */
START_TEST(late_answers_are_counted_and_dropped)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	struct qz_ioc_snapshot s;
	unsigned int missed = 0;
	int fd = device();

	start_threads((int)processors - 1);
	for (int i = 0; i < 400; i++) {
		s = snapshot_of(NULL, 0);
		s.patience_ns = 1;
		ck_assert_int_eq(call(fd, QZ_IOC_SNAPSHOT, &s), 0);
		ck_assert_uint_eq(s.captured + s.missed, processors);
		for (__u32 k = 0; k < s.captured; k++)
			ck_assert_uint_ge(captures[k].time, s.begun);
		missed += s.missed;
	}
	whole_snapshot(fd);
	printf("late answers: %u\n", missed);
}
END_TEST

START_TEST(an_older_caller_gets_no_more_than_it_has_room_for)
{
	struct qz_ioc_snapshot s = snapshot_of(NULL, 0);

	s.size = offsetof(struct qz_ioc_snapshot, skew_ns);
	s.skew_ns = s.reserved[0] = ~0ull;
	ck_assert_int_eq(call(device(), QZ_IOC_SNAPSHOT, &s), 0);
	ck_assert_uint_gt(s.begun, 0);
	ck_assert_uint_eq(s.skew_ns, ~0ull);
	ck_assert_uint_eq(s.reserved[0], ~0ull);
}
END_TEST

START_TEST(who_is_no_target_is_not_told)
{
	__s32 target = 1;
	struct qz_ioc_snapshot s = snapshot_of(&target, 1);
	int fd = device();

	start_threads(2);
	for (int i = 0; i < 20; i++) {
		ck_assert_int_eq(call(fd, QZ_IOC_SNAPSHOT, &s), 0);
		for (__u32 k = 0; k < s.captured; k++)
			ck_assert_int_eq(captures[k].tgid, 1);
	}
}
END_TEST

START_TEST(snapshots_that_are_refused)
{
	__s32 self = getpid(), many[QZ_TARGETS_MAX + 1] = {0};
	struct qz_ioc_snapshot s = snapshot_of(&self, 1);
	int fd = device();

	s.flags = 2;
	ck_assert_int_eq(call(fd, QZ_IOC_SNAPSHOT, &s), -EINVAL);
	s = snapshot_of(&self, 1);
	s.flags = QZ_SNAPSHOT_ALL;
	ck_assert_int_eq(call(fd, QZ_IOC_SNAPSHOT, &s), -EINVAL);
	s = snapshot_of(NULL, 0);
	s.flags = 0;
	ck_assert_int_eq(call(fd, QZ_IOC_SNAPSHOT, &s), -EINVAL);
	s = snapshot_of(many, QZ_TARGETS_MAX + 1);
	ck_assert_int_eq(call(fd, QZ_IOC_SNAPSHOT, &s), -EINVAL);
	s = snapshot_of(&self, 1);
	s.patience_ns = 0;
	ck_assert_int_eq(call(fd, QZ_IOC_SNAPSHOT, &s), -EINVAL);
	s.patience_ns = QZ_PATIENCE_MAX + 1;
	ck_assert_int_eq(call(fd, QZ_IOC_SNAPSHOT, &s), -EINVAL);
	s = snapshot_of((void *)8, 1);
	ck_assert_int_eq(call(fd, QZ_IOC_SNAPSHOT, &s), -EFAULT);
	s = snapshot_of(NULL, 0);
	s.captures = 8;
	ck_assert_int_eq(call(fd, QZ_IOC_SNAPSHOT, &s), -EFAULT);
	s = snapshot_of(NULL, 0);
	s.reserved[0] = 1;
	ck_assert_int_eq(call(fd, QZ_IOC_SNAPSHOT, &s), -EINVAL);
}
END_TEST

Suite *suite_snapshot(void)
{
	Suite *s = suite_create("snapshot");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, threads_are_caught_where_they_are);
	tcase_add_test(tc, all_processors_answer);
	tcase_add_test(tc, late_answers_are_counted_and_dropped);
	tcase_add_test(tc, an_older_caller_gets_no_more_than_it_has_room_for);
	tcase_add_test(tc, who_is_no_target_is_not_told);
	tcase_add_test(tc, snapshots_that_are_refused);
	suite_add_tcase(s, tc);
	return s;
}
