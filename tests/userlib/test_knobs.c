/* SPDX-License-Identifier: GPL-2.0-only */
/* Knobs of libquartz, set as quartzctl sets them, and by who writes what quartzctl never does. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "cli/knobs/knob_page.h"
#include "tests/unit/suites.h"
#include "tests/userlib/fixture.h"

#define PATIENCE 60000000000ull /* ns: what is waited for comes at once, or never */
#define SHORT	 50000000ull

static long size = 4, mode;
static int called;
static long given;

static int take(long value, void *context)
{
	called++;
	given = value;
	ck_assert_ptr_eq(context, &called);
	return value == 13 ? -1 : 0;
}

static struct quartz_knob a_size(void)
{
	return (struct quartz_knob) {.name = "size",
				     .value = &size,
				     .least = 2,
				     .most = 16,
				     .step = 2,
				     .role = QUARTZ_KNOB_CHUNK};
}

static int add(struct quartz_knob knob)
{
	return quartz_knob(&knob);
}

/* ---- threads that come to safe points ---- */

static int stop;

static void *come_to_points(void *unused)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		quartz_knob_point();
		usleep(100);
	}
	return unused;
}

static pthread_t start_points(void)
{
	pthread_t thread;

	__atomic_store_n(&stop, 0, __ATOMIC_RELAXED);
	ck_assert_int_eq(pthread_create(&thread, NULL, come_to_points, NULL), 0);
	return thread;
}

static void end_points(pthread_t thread)
{
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

/* ---- registration ---- */

START_TEST(what_is_registered_is_listed)
{
	static const char *const modes[] = {"safe", "fast", NULL};
	const struct qz_knob *k;
	struct knob_page p;

	errno = 77;
	ck_assert_int_eq(knob_page__open(&p, getpid()), -ENOENT);
	ck_assert_int_eq(add(a_size()), 0);
	errno = 77;
	ck_assert_int_eq(add((struct quartz_knob) {.name = "mode",
						   .value = &mode,
						   .choices = modes,
						   .role = QUARTZ_KNOB_OTHER}),
			 0);
	ck_assert_int_eq(errno, 77);
	ck_assert_int_eq(knob_page__open(&p, getpid()), 0);
	ck_assert_uint_eq(p.copy.used, 2);
	k = knob_page__find(&p, "size");
	ck_assert_ptr_nonnull(k);
	ck_assert_int_eq(k->least, 2);
	ck_assert_int_eq(k->most, 16);
	ck_assert_int_eq(k->step, 2);
	ck_assert_int_eq(k->value, 4);
	ck_assert_uint_eq(k->role, QZ_KNOB_CHUNK);
	ck_assert_uint_eq(k->choices, 0);
	k = knob_page__find(&p, "mode");
	ck_assert_uint_eq(k->choices, 2);
	ck_assert_str_eq(k->choice[1], "fast");
	ck_assert_ptr_null(knob_page__find(&p, "none"));
	knob_page__close(&p);
}
END_TEST

#define refuse(expected, field)                                                                    \
	do {                                                                                       \
		struct quartz_knob k_ = a_size();                                                  \
		k_.name = "other";                                                                 \
		k_.field;                                                                          \
		ck_assert_msg(quartz_knob(&k_) == (expected), #field);                             \
	} while (0)

START_TEST(what_cannot_be_is_refused)
{
	const char *many[QZ_KNOB_CHOICES + 2] = {NULL}, *none[] = {NULL}, *ugly[] = {"a b", NULL};
	char names[QZ_KNOBS][16];
	struct quartz_knob k;

	refuse(-EINVAL, name = NULL);
	refuse(-EINVAL, name = "");
	refuse(-EINVAL, name = "a b");
	refuse(-EINVAL, name = "\033[2J");
	refuse(-EINVAL, name = "a_name_that_is_of_32_characters.");
	refuse(-EINVAL, value = NULL);
	refuse(-EINVAL, least = 18);
	refuse(-EINVAL, step = -2);
	refuse(-EINVAL, most = 3);
	refuse(-EINVAL, step = 4);
	refuse(-EINVAL, role = (enum quartz_knob_role)3);
	refuse(-EINVAL, choices = none);
	refuse(-EINVAL, choices = ugly);
	for (int i = 0; i <= QZ_KNOB_CHOICES; i++)
		many[i] = "one";
	refuse(-EINVAL, choices = many);
	for (int i = 0; i < QZ_KNOBS; i++) {
		k = a_size();
		snprintf(names[i], sizeof(names[i]), "k%d", i);
		k.name = names[i];
		ck_assert_int_eq(quartz_knob(&k), 0);
		ck_assert_int_eq(quartz_knob(&k), -EEXIST);
	}
	refuse(-ENOSPC, most = 16);
}
END_TEST

/* ---- setting ---- */

START_TEST(a_point_takes_what_is_allowed)
{
	struct knob_page p;
	pthread_t thread;

	ck_assert_int_eq(add(a_size()), 0);
	ck_assert_int_eq(knob_page__open(&p, getpid()), 0);
	ck_assert_int_eq(knob_page__set(&p, p.copy.knobs, 8, SHORT), -ETIMEDOUT);
	ck_assert_int_eq(size, 4);
	quartz_knob_point();
	ck_assert_int_eq(size, 8);
	thread = start_points();
	ck_assert_int_eq(knob_page__set(&p, p.copy.knobs, 10, PATIENCE), 0);
	ck_assert_int_eq(size, 10);
	ck_assert_int_eq(knob_page__set(&p, p.copy.knobs, 18, PATIENCE), -ERANGE);
	ck_assert_int_eq(knob_page__set(&p, p.copy.knobs, INT64_MIN, PATIENCE), -ERANGE);
	ck_assert_int_eq(knob_page__set(&p, p.copy.knobs, 5, PATIENCE), -EINVAL);
	ck_assert_int_eq(size, 10);
	ck_assert_int_eq(knob_page__read(&p), 0);
	ck_assert_int_eq(p.copy.knobs[0].value, 10);
	ck_assert_int_eq(knob_page__set(&p, p.copy.knobs, 2, PATIENCE), 0);
	end_points(thread);
	ck_assert_int_eq(size, 2);
	knob_page__close(&p);
}
END_TEST

START_TEST(a_callback_takes_or_refuses)
{
	struct quartz_knob k = a_size();
	struct knob_page p;

	k.step = 1;
	k.changed = take;
	k.context = &called;
	ck_assert_int_eq(quartz_knob(&k), 0);
	ck_assert_int_eq(knob_page__open(&p, getpid()), 0);
	ck_assert_int_eq(knob_page__set(&p, p.copy.knobs, 7, PATIENCE), 0);
	ck_assert_int_eq(given, 7);
	ck_assert_int_eq(size, 7);
	ck_assert_int_eq(knob_page__set(&p, p.copy.knobs, 13, PATIENCE), -ECANCELED);
	ck_assert_int_eq(given, 13);
	ck_assert_int_eq(size, 7);
	ck_assert_int_eq(knob_page__set(&p, p.copy.knobs, 17, PATIENCE), -ERANGE);
	ck_assert_int_eq(called, 2);
	knob_page__close(&p);
}
END_TEST

/* The library has its own range, step and address. */
START_TEST(what_others_write_changes_no_limits)
{
	struct knob_page p;
	pthread_t thread;

	ck_assert_int_eq(add(a_size()), 0);
	ck_assert_int_eq(knob_page__open(&p, getpid()), 0);
	thread = start_points();
	p.map->knobs[0].least = INT64_MIN;
	p.map->knobs[0].most = INT64_MAX;
	p.map->knobs[0].step = 0;
	p.map->used = UINT32_MAX;
	ck_assert_int_eq(knob_page__set(&p, p.copy.knobs, 100, PATIENCE), -ERANGE);
	ck_assert_int_eq(knob_page__set(&p, p.copy.knobs, 5, PATIENCE), -EINVAL);
	ck_assert_int_eq(knob_page__set(&p, p.copy.knobs, 6, PATIENCE), 0);
	ck_assert_int_eq(size, 6);
	ck_assert_int_eq(knob_page__read(&p), -EPROTO);
	end_points(thread);
	knob_page__close(&p);
}
END_TEST

/* ---- fork ---- */

START_TEST(a_child_has_its_own_or_none)
{
	struct knob_page p;
	long before = size;
	int status;
	pid_t pid;

	ck_assert_int_eq(add(a_size()), 0);
	pid = fork();
	if (!pid) {
		int err = knob_page__open(&p, getpid());

		quartz_knob_point();
		if (err != -ENOENT)
			_exit(1);
		if (add(a_size()) || knob_page__open(&p, getpid()) || p.copy.used != 1)
			_exit(2);
		if (knob_page__set(&p, p.copy.knobs, 16, SHORT) != -ETIMEDOUT)
			_exit(3);
		quartz_knob_point();
		_exit(size == 16 ? 0 : 4);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	quartz_knob_point();
	ck_assert_int_eq(size, before);
	ck_assert_int_eq(knob_page__open(&p, getpid()), 0);
	ck_assert_uint_eq(p.map->knobs[0].asked, 0);
	knob_page__close(&p);
}
END_TEST

/* ---- events ---- */

static void *send_events(void *n)
{
	for (long i = 0; i < (long)n; i++)
		quartz_event(1);
	return NULL;
}

static uint32_t count(struct knob_page *p)
{
	struct knob_count c;

	ck_assert_int_eq(knob_page__count(p, &c, PATIENCE), 0);
	return c.events;
}

static void check_counting(struct knob_page *p)
{
	uint32_t before = count(p);
	pthread_t threads[3];

	for (long i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, send_events, (void *)(100 + i));
	send_events((void *)50L);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_eq(count(p) - before, 353);
}

START_TEST(events_count_without_quartzd)
{
	struct knob_page p;
	pthread_t thread;

	fake__end(fake, _i);
	quartz_event(1);
	ck_assert_int_eq(add(a_size()), 0);
	ck_assert_int_eq(knob_page__open(&p, getpid()), 0);
	thread = start_points();
	for (int i = 0; i < 3; i++)
		check_counting(&p);
	knob_page__stop_counting(&p);
	while (__atomic_load_n(&p.map->count_answered, __ATOMIC_ACQUIRE) != p.map->count_asked)
		usleep(100);
	/* the flag of one that was killed stands, and the slots with it */
	ck_assert_int_eq(!quartz_slot_(), !_i);
	check_counting(&p);
	end_points(thread);
	knob_page__close(&p);
}
END_TEST

START_TEST(events_count_beside_a_quartzd_that_refuses)
{
	struct knob_page p;
	pthread_t thread;

	fake__end(fake, false);
	fake->refuse = EPERM;
	fake__listen(fake);
	ck_assert_int_eq(add(a_size()), 0);
	ck_assert_int_eq(knob_page__open(&p, getpid()), 0);
	thread = start_points();
	check_counting(&p);
	check_counting(&p);
	end_points(thread);
	knob_page__close(&p);
}
END_TEST

/* The child's are its own. */
START_TEST(a_child_is_not_counted)
{
	struct knob_page p;
	pthread_t thread;
	uint32_t before;
	int status;
	pid_t pid;

	fake__end(fake, false);
	ck_assert_int_eq(add(a_size()), 0);
	ck_assert_int_eq(knob_page__open(&p, getpid()), 0);
	thread = start_points();
	before = count(&p);
	pid = fork();
	if (!pid) {
		quartz_event(1);
		_exit(quartz_slot_() != NULL);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	send_events((void *)7L);
	ck_assert_uint_eq(count(&p) - before, 7);
	end_points(thread);
	knob_page__close(&p);
}
END_TEST

/* They go where quartzd reads them, as ever. */
START_TEST(events_count_with_quartzd)
{
	uint32_t generation;
	struct knob_page p;
	pthread_t thread;

	ck_assert_int_eq(add(a_size()), 0);
	ck_assert_int_eq(knob_page__open(&p, getpid()), 0);
	thread = start_points();
	check_counting(&p);
	generation = *quartz_generation_;
	ck_assert_uint_eq(generation, fake->flag->generation);
	ck_assert_uint_ge(QZ_EVENT_NUMBER(fixture__slot()->event), 50);
	end_points(thread);
	knob_page__close(&p);
}
END_TEST

Suite *suite_library_knobs(void)
{
	Suite *s = suite_create("library_knobs");
	TCase *alone = tcase_create("alone"), *events = tcase_create("events");

	tcase_add_test(alone, what_is_registered_is_listed);
	tcase_add_test(alone, what_cannot_be_is_refused);
	tcase_add_test(alone, a_point_takes_what_is_allowed);
	tcase_add_test(alone, a_callback_takes_or_refuses);
	tcase_add_test(alone, what_others_write_changes_no_limits);
	tcase_add_test(alone, a_child_has_its_own_or_none);
	suite_add_tcase(s, alone);
	tcase_add_checked_fixture(events, fixture__listen, fixture__end);
	tcase_add_loop_test(events, events_count_without_quartzd, 0, 2);
	tcase_add_test(events, events_count_beside_a_quartzd_that_refuses);
	tcase_add_test(events, a_child_is_not_counted);
	tcase_add_test(events, events_count_with_quartzd);
	suite_add_tcase(s, events);
	return s;
}
