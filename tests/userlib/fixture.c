/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdlib.h>

#include "tests/userlib/fixture.h"

struct fake *fake;
struct quartz_procedure proc_a = QUARTZ_PROCEDURE("a"), proc_b = QUARTZ_PROCEDURE("b"),
			proc_c = QUARTZ_PROCEDURE("c");

/* Before the library looks for one: the quartzd of this machine is none of ours. */
__attribute__((constructor(101))) static void hide_others(void)
{
	setenv("QUARTZ_RUNTIME_DIR", "/nonexistent", 1);
}

void fixture__listen(void)
{
	fake = fake__new();
	fake__listen(fake);
	quartz_connect();
}

void fixture__end(void)
{
	fake__free(fake);
}

struct fake_set *fixture__set(void)
{
	struct fake_set *set = fake__set(fake, getpid());

	ck_assert_ptr_nonnull(set);
	return set;
}

struct qz_slot *fixture__slot(void)
{
	struct qz_slot *slot = fake__slot(fixture__set(), gettid());

	ck_assert_ptr_nonnull(slot);
	return slot;
}
