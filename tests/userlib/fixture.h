/* SPDX-License-Identifier: GPL-2.0-only */
/* What the suites of libquartz share: a listening quartzd, and threads that stand still. */
#ifndef QUARTZ_TESTS_USERLIB_FIXTURE_H
#define QUARTZ_TESTS_USERLIB_FIXTURE_H

#include <check.h>
#include <unistd.h>

#include "tests/userlib/fake.h"
#include "userlib/quartz.h"

extern struct fake *fake;

/* Checked fixture: `fake` listens, and this process knows. */
void fixture__listen(void);
void fixture__end(void);

/* This thread's page set and slot; the test fails when there is none. */
struct fake_set *fixture__set(void);
struct qz_slot *fixture__slot(void);

/* The stack of this thread is this one. */
#define ck_stack(expected)                                                                         \
	do {                                                                                       \
		char text_[4096];                                                                  \
		fake__stack(fixture__set(), fixture__slot(), text_, sizeof(text_));                \
		ck_assert_str_eq(text_, expected);                                                 \
	} while (0)

/* Suites put one of these on the profile stack. */
extern struct quartz_procedure proc_a, proc_b, proc_c;

#endif
