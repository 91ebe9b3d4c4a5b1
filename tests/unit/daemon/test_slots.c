/* SPDX-License-Identifier: GPL-2.0-only */
/* What tells the slots of the tables in the kernel apart, and whose the samples in them are. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "daemon/shm/poll_table.h"
#include "daemon/attribution/threads.h"
#include "quartz/records.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

/* ---- what the header finds in a BPF program ---- */

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
#define barrier() __asm__ volatile("" ::: "memory")

#include "bpf/hash.bpf.h"

/* As sample__hash has it: images of siblings are neighbours, and so are the ends of their stacks. */
START_TEST(words_that_differ_alike_have_other_hashes)
{
	for (u64 image = 1; image < 2048; image++)
		for (u64 end = 0; end < 16; end++)
			for (u64 bits = 1; bits < 16; bits++)
				ck_assert_uint_ne(mix(mix(mix(image, 0), end), 0x401000),
						  mix(mix(mix(image ^ bits, 0), end ^ bits),
						      0x401000));
}
END_TEST

START_TEST(the_order_of_words_matters)
{
	for (u64 a = 0; a < 256; a++)
		for (u64 b = 0; b < a; b++)
			ck_assert_uint_ne(mix(mix(0, a), b), mix(mix(0, b), a));
}
END_TEST

/* A hash that is equal, by chance or because a program has chosen its words so. */
START_TEST(a_slot_is_of_one_image_and_shape)
{
	const struct qz_stack_slot slot = {.hash = 1,
					   .image = 7,
					   .nkernel = 2,
					   .nuser = 3,
					   .depth = 3,
					   .end = 1,
					   .ntask = 1,
					   .nown = 2,
					   .profiled = 1,
					   .stored = 1};
	struct qz_stack_slot of[8];

	ck_assert(stack_slot__is(&slot, &slot));
	for (int i = 0; i < 8; i++)
		of[i] = slot;
	of[0].image++;
	of[1].nkernel++;
	of[2].nuser++;
	of[3].depth++;
	of[4].end++;
	of[5].ntask++;
	of[6].nown++;
	of[7].profiled = 0;
	for (int i = 0; i < 8; i++)
		ck_assert(!stack_slot__is(&slot, &of[i]));
}
END_TEST

START_TEST(a_slot_that_is_being_written_is_nobodys)
{
	struct qz_stack_slot slot = {.hash = 1, .image = 7}, of = slot;

	ck_assert(!stack_slot__is(&slot, &of));
	stack_slot__set(&slot, &of);
	ck_assert(!stack_slot__is(&slot, &of));
	stack_slot__store(&slot, 1);
	ck_assert(stack_slot__is(&slot, &of));
}
END_TEST

static struct fixture two_scopes(void)
{
	static const uint64_t level_ns[] = {0, 0, 0};
	struct fixture f = fixture__new();

	fixture__scope(&f, level_ns, 3);
	fixture__scope(&f, level_ns, 3);
	ck_assert_int_eq(f.err, 0);
	return f;
}

START_TEST(a_thread_has_no_row_in_another_scope)
{
	struct fixture f = two_scopes();
	struct threads *t = threads__new(f.p);
	struct thread *thread = threads__get(t, 1);
	struct qz_thread_event ended = {.serial = 1, .comm = "late"};
	uint32_t row = threads__row(t, thread, 0, 10);

	ck_assert_uint_eq(f.p->threads[row].scope, 0);
	ck_assert_uint_eq(threads__row(t, thread, 1, 11), QZ_NONE);
	ck_assert_uint_eq(threads__row(t, thread, 0, 10), row);
	/* its own report is believed, whatever a sample has said before */
	ck_assert_int_eq(threads__ended(t, 1, &ended, 0), 0);
	ck_assert_uint_eq(f.p->threads[threads__get(t, 1)->row].scope, 1);
	ck_assert_str_eq(f.p->threads[threads__get(t, 1)->row].comm, "late");
	threads__free(t);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(a_sample_that_cannot_be_right_is_left_out)
{
	struct qz_sample sample = {.level = 1, .busy = 1, .object = QZ_NONE, .count = 5};
	struct fixture f = two_scopes();

	fixture__thread(&f, 0, 1);
	ck_assert_int_eq(f.err, 0);
	ck_assert_int_eq(qz_profile__add_samples(f.p, &sample), 0);
	sample.scope = 1; /* of a thread of scope 0 */
	ck_assert_int_eq(qz_profile__add_samples(f.p, &sample), -EINVAL);
	ck_assert_uint_eq(f.p->nsamples, 1);
	ck_assert_uint_eq(f.p->samples[0].count, 5);
	qz_profile__free(f.p);
}
END_TEST

/* The stack of a slot is made another one behind its hash's back. */
START_TEST(polled_samples_are_told_by_their_stacks)
{
	struct poll_buffer *buffer = calloc(1, sizeof(*buffer));
	const struct poll_key key = {.image = 1, .serial = 1};
	const uint32_t ids[] = {1, 2};

	ck_assert_ptr_nonnull(buffer);
	ck_assert(poll_buffer__count(buffer, &key, ids, 2));
	ck_assert(poll_buffer__count(buffer, &key, ids, 2));
	ck_assert_uint_eq(buffer->used, 1);
	buffer->ids[1] = 3;
	ck_assert(poll_buffer__count(buffer, &key, ids, 2));
	ck_assert_uint_eq(buffer->used, 2);
	free(buffer);
}
END_TEST

Suite *suite_slots(void)
{
	Suite *s = suite_create("slots");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, words_that_differ_alike_have_other_hashes);
	tcase_add_test(tc, the_order_of_words_matters);
	tcase_add_test(tc, a_slot_is_of_one_image_and_shape);
	tcase_add_test(tc, a_slot_that_is_being_written_is_nobodys);
	tcase_add_test(tc, a_thread_has_no_row_in_another_scope);
	tcase_add_test(tc, a_sample_that_cannot_be_right_is_left_out);
	tcase_add_test(tc, polled_samples_are_told_by_their_stacks);
	suite_add_tcase(s, tc);
	return s;
}
