/* SPDX-License-Identifier: GPL-2.0-only */
/* Causes, objects, waits and wake-ups of a profile: equal ones are one, wrong ones are refused. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "core/model/profile.h"
#include "core/model/wait_causes.h"
#include "quartz/records.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

static const uint64_t level_ns[] = {10, 20};

static struct qz_object mutex_named(uint32_t scope, char *name)
{
	return (struct qz_object) {
		.scope = scope, .kind = QZ_OBJECT_MUTEX, .name = name, .module = "prog"};
}

START_TEST(equal_waits_are_one)
{
	struct fixture f = fixture__new();
	struct qz_wait w = {.thread = 0, .object = QZ_NONE, .count = 1, .blocked_ns = 5};

	fixture__scope(&f, level_ns, 2);
	fixture__thread(&f, 0, 1);
	ck_assert_int_eq(qz_waits__intern_cause(f.p, "futex"), 0);
	ck_assert_int_eq(qz_waits__intern_cause(f.p, "disk"), 1);
	ck_assert_int_eq(qz_waits__intern_cause(f.p, "futex"), 0);
	ck_assert_int_eq(qz_waits__add(f.p, &w), 0);
	w.ready_ns = 7;
	ck_assert_int_eq(qz_waits__add(f.p, &w), 0);
	w.nominal = 1;
	ck_assert_int_eq(qz_waits__add(f.p, &w), 0);
	w.cause = 1;
	ck_assert_int_eq(qz_waits__add(f.p, &w), 0);
	ck_assert_uint_eq(f.p->nwaits, 3);
	ck_assert_uint_eq(f.p->waits[0].count, 2);
	ck_assert_uint_eq(f.p->waits[0].blocked_ns, 10);
	ck_assert_uint_eq(f.p->waits[0].ready_ns, 7);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(wrong_waits_are_refused)
{
	struct fixture f = fixture__new();
	struct qz_wait w = {.thread = QZ_NONE, .object = QZ_NONE};
	struct qz_object o = mutex_named(1, "m");

	ck_assert_int_eq(qz_waits__add(f.p, &w), -EINVAL);
	fixture__scope(&f, level_ns, 2);
	fixture__scope(&f, level_ns, 2);
	fixture__thread(&f, 0, 1);
	ck_assert_int_eq(qz_waits__add(f.p, &w), -EINVAL);
	ck_assert_int_eq(qz_waits__intern_cause(f.p, "futex"), 0);
	ck_assert_int_eq(qz_waits__add(f.p, &w), 0);
	w.object = 0;
	ck_assert_int_eq(qz_waits__add(f.p, &w), -EINVAL);
	ck_assert_int_eq(qz_waits__intern_object(f.p, &o), 0);
	ck_assert_int_eq(qz_waits__add(f.p, &w), -EINVAL);
	w.scope = 1;
	ck_assert_int_eq(qz_waits__add(f.p, &w), 0);
	w.thread = 0;
	ck_assert_int_eq(qz_waits__add(f.p, &w), -EINVAL);
	ck_assert_uint_eq(f.p->nwaits, 2);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(objects_have_names)
{
	struct fixture f = fixture__new();
	struct qz_object o = mutex_named(0, "queue_lock");

	ck_assert_int_eq(qz_waits__intern_object(f.p, &o), -EINVAL);
	fixture__scope(&f, level_ns, 2);
	ck_assert_int_eq(qz_waits__intern_object(f.p, &o), 0);
	ck_assert_int_eq(qz_waits__intern_object(f.p, &o), 0);
	o.kind = QZ_OBJECT_CONDITION;
	ck_assert_int_eq(qz_waits__intern_object(f.p, &o), 1);
	o.kind = QZ_OBJECT_KINDS;
	ck_assert_int_eq(qz_waits__intern_object(f.p, &o), -EINVAL);
	o = mutex_named(0, "");
	ck_assert_int_eq(qz_waits__intern_object(f.p, &o), -EINVAL);
	ck_assert_uint_eq(f.p->nobjects, 2);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(renamed_objects_keep_what_they_have)
{
	struct fixture f = fixture__new();
	struct qz_object o = mutex_named(0, "[unknown]"), other = mutex_named(0, "other");
	struct qz_object named = mutex_named(0, "queue_lock");

	fixture__scope(&f, level_ns, 2);
	ck_assert_int_eq(qz_waits__intern_object(f.p, &o), 0);
	ck_assert_int_eq(qz_waits__intern_object(f.p, &other), 1);
	f.p->objects[0].wakes = 7;
	named.kind = QZ_OBJECT_CONDITION;
	ck_assert_int_eq(qz_waits__rename_object(f.p, 0, &named), 0);
	ck_assert_str_eq(f.p->objects[0].name, "queue_lock");
	ck_assert_int_eq(f.p->objects[0].kind, QZ_OBJECT_CONDITION);
	ck_assert_uint_eq(f.p->objects[0].wakes, 7);
	ck_assert_int_eq(qz_waits__intern_object(f.p, &named), 0);
	ck_assert_int_eq(qz_waits__rename_object(f.p, 0, &other), 1);
	ck_assert_str_eq(f.p->objects[0].name, "queue_lock");
	ck_assert_int_eq(qz_waits__intern_object(f.p, &o), 2);
	named.name = "";
	ck_assert_int_eq(qz_waits__rename_object(f.p, 0, &named), -EINVAL);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(equal_wakings_are_one)
{
	struct fixture f = fixture__new();
	struct qz_waking w = {.thread = QZ_NONE, .object = QZ_NONE, .count = 1, .woken_ns = 3};

	ck_assert_int_eq(qz_waits__add_waking(f.p, &w), -EINVAL);
	fixture__scope(&f, level_ns, 2);
	ck_assert_int_eq(qz_waits__add_waking(f.p, &w), 0);
	ck_assert_int_eq(qz_waits__add_waking(f.p, &w), 0);
	ck_assert_uint_eq(f.p->nwakings, 1);
	ck_assert_uint_eq(f.p->wakings[0].count, 2);
	ck_assert_uint_eq(f.p->wakings[0].woken_ns, 6);
	w.object = 0;
	ck_assert_int_eq(qz_waits__add_waking(f.p, &w), -EINVAL);
	qz_profile__free(f.p);
}
END_TEST

static unsigned int kind_of(uint32_t cause)
{
	char room[QZ_WAIT_CAUSE_LENGTH];

	return qz_wait_cause__kind(qz_wait_cause__name(cause, room));
}

/* A cause that the table does not have would be taken for a system call of that name. */
static bool is_in_table(uint32_t cause)
{
	char room[QZ_WAIT_CAUSE_LENGTH], words[QZ_WAIT_CAUSE_LENGTH];

	return strncmp(qz_wait_cause__words(qz_wait_cause__name(cause, room), words), "the call ",
		       strlen("the call ")) != 0;
}

START_TEST(causes_have_words)
{
	char room[QZ_WAIT_CAUSE_LENGTH], words[QZ_WAIT_CAUSE_LENGTH];

	for (uint32_t i = 0; i < QZ_WAIT_CAUSES; i++)
		ck_assert_uint_lt(strlen(qz_wait_cause__words(qz_wait_cause__name(i, room), words)),
				  32);
	for (uint32_t i = 0; i < QZ_WAIT_NAMED; i++)
		ck_assert_int_eq(is_in_table(i), i != QZ_WAIT_RUNNING && i != QZ_WAIT_UNUSED);
	ck_assert_str_eq(qz_wait_cause__words(qz_wait_cause__name(QZ_WAIT_FROZEN, room), words),
			 "its group to be thawed (frozen)");
	ck_assert_str_eq(qz_wait_cause__words("fsync", words), "the call fsync");
	ck_assert_uint_eq(kind_of(QZ_WAIT_STOPPED), QZ_WAIT_IS_HELD);
	ck_assert_uint_eq(kind_of(QZ_WAIT_FROZEN), QZ_WAIT_IS_HELD);
	ck_assert_uint_eq(kind_of(QZ_WAIT_PAGE_FAULT), QZ_WAIT_IS_FAULT);
	ck_assert(kind_of(QZ_WAIT_IO_URING) & QZ_WAIT_IS_ANY);
	ck_assert(kind_of(QZ_WAIT_POLL) & QZ_WAIT_IS_ANY);
	ck_assert(!(kind_of(QZ_WAIT_DISK) & QZ_WAIT_IS_ANY));
	ck_assert_uint_eq(qz_wait_cause__kind("fsync"), QZ_WAIT_IS_SYNC);
	ck_assert_uint_eq(qz_wait_cause__kind("flock"), 0);
	ck_assert_uint_eq(qz_wait_cause__kind(""), 0);
}
END_TEST

Suite *suite_waits(void)
{
	Suite *s = suite_create("waits");
	TCase *t = tcase_create("waits");

	tcase_add_test(t, equal_waits_are_one);
	tcase_add_test(t, wrong_waits_are_refused);
	tcase_add_test(t, causes_have_words);
	tcase_add_test(t, objects_have_names);
	tcase_add_test(t, renamed_objects_keep_what_they_have);
	tcase_add_test(t, equal_wakings_are_one);
	suite_add_tcase(s, t);
	return s;
}
