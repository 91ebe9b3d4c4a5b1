/* SPDX-License-Identifier: GPL-2.0-only */
/* Stacks of processes that are gone give their numbers back, those of others never. */
#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/waits/sleeping_stacks.h"
#include "daemon/waits/wait_stacks.h"
#include "tests/unit/suites.h"

#define SLOTS  16
#define FRAMES 64

/* What the programs and the rest of quartzd would do. */
static struct qz_wait_stack slots[SLOTS];
static uint64_t ring[FRAMES], in_use;
static struct bpf_runtime_waits waits = {.stacks = slots,
					 .nstacks = SLOTS,
					 .frames = ring,
					 .nframes = FRAMES,
					 .used_stacks = &in_use};
static struct qz_control control;
static struct image images[2]; /* numbers 1 and 2 */
static uint32_t asked;

const struct bpf_runtime_waits *bpf_runtime__waits(const struct bpf_runtime *bpf)
{
	(void)bpf;
	return &waits;
}

struct qz_control *bpf_runtime__control(const struct bpf_runtime *bpf)
{
	(void)bpf;
	return &control;
}

/* Of the linker's --wrap, see files.mk. */
struct image *__real_address_spaces__get(struct address_spaces *spaces, uint32_t number);
struct image *__wrap_address_spaces__get(struct address_spaces *spaces, uint32_t number);

/* Other tests have address spaces. */
struct image *__wrap_address_spaces__get(struct address_spaces *spaces, uint32_t number)
{
	if (spaces)
		return __real_address_spaces__get(spaces, number);
	asked++;
	return number >= 1 && number <= 2 ? &images[number - 1] : NULL;
}

void stack__want(const struct stack_context *c, const struct bpf_runtime_buffer *buffer,
		 const struct qz_stack_slot *slot)
{
	(void)c, (void)buffer, (void)slot;
}

void stack__place(const struct stack_context *c, const struct bpf_runtime_buffer *buffer,
		  const struct qz_stack_slot *slot, struct stack *stack)
{
	(void)c, (void)buffer, (void)slot;
	*stack = (struct stack) {.n = 1};
}

int64_t stack__node(struct qz_profile *profile, uint32_t node, const struct stack *stack)
{
	(void)profile, (void)node, (void)stack;
	return 7;
}

struct sleeping_stacks *sleeping_stacks__read(const struct image *image, pid_t tid,
					      const struct qz_user_registers *regs)
{
	(void)image, (void)tid, (void)regs;
	return NULL;
}

void sleeping_stacks__free(struct sleeping_stacks *s)
{
	(void)s;
}

enum qz_unwind_end sleeping_stacks__walk(const struct sleeping_stacks *s,
					 struct spawn_stacks *spawn, const struct image *image,
					 uint64_t frames[QZ_USER_FRAMES], uint32_t *n)
{
	(void)s, (void)spawn, (void)image, (void)frames;
	*n = 0;
	return QZ_UNWIND_NO_REGION;
}

static pid_t start_child(void)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (!pid) {
		pause();
		_exit(0);
	}
	return pid;
}

static void end_child(pid_t pid)
{
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* A stack as wait_stack__fill() leaves it. */
static void take_slot(uint32_t at, uint32_t image, uint32_t cause)
{
	slots[at] = (struct qz_wait_stack) {
		.stack = {.hash = 1000 + at, .image = image, .nuser = 1, .depth = 1, .stored = 1},
		.cause = cause};
	in_use |= 1ull << at;
}

static struct wait_stacks *new_stacks(uint32_t nliving, uint32_t nended, pid_t living, pid_t ended)
{
	static struct stack_context context;
	struct wait_stacks *s;

	in_use = asked = 0;
	for (uint32_t i = 0; i < SLOTS; i++)
		slots[i] = (struct qz_wait_stack) {0};
	images[0] = (struct image) {.number = 1, .pid = living};
	images[1] = (struct image) {.number = 2, .pid = ended};
	for (uint32_t i = 0; i < nliving; i++)
		take_slot(i, 1, QZ_WAIT_FUTEX);
	for (uint32_t i = nliving; i < nliving + nended; i++)
		take_slot(i, 2, i % 2 ? QZ_WAIT_RUNNING : QZ_WAIT_FUTEX);
	s = wait_stacks__new(NULL, &context);
	ck_assert_ptr_nonnull(s);
	return s;
}

static void drain(struct wait_stacks *s, uint32_t times)
{
	for (uint32_t i = 0; i < times; i++) {
		wait_stacks__drain(s, true);
		wait_stacks__want(s);
		wait_stacks__place(s);
	}
}

static uint32_t used(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < SLOTS; i++) {
		ck_assert_uint_eq(in_use >> i & 1, slots[i].stack.hash != 0);
		n += slots[i].stack.hash != 0;
	}
	return n;
}

START_TEST(those_of_the_gone_are_freed_after_their_grace)
{
	struct thread thread = {.node = 1, .placed = true};
	pid_t ended = start_child();
	struct wait_stacks *s = new_stacks(4, 6, getpid(), ended);

	control.running_stacks = 3;
	drain(s, 3 * WAIT_STACKS_GRACE);
	ck_assert_uint_eq(used(), 10);
	end_child(ended);
	drain(s, WAIT_STACKS_GRACE);
	ck_assert_uint_eq(used(), 10);
	drain(s, 1);
	ck_assert_uint_eq(used(), 4);
	ck_assert_uint_eq(control.running_stacks, 0);
	for (uint32_t i = 0; i < 4; i++)
		ck_assert_int_eq(wait_stacks__node(s, QZ_WAIT_CAUSES + i, &thread), 7);
	wait_stacks__free(s);
}
END_TEST

START_TEST(a_number_is_given_to_another)
{
	struct thread thread = {.node = 1, .placed = true};
	pid_t ended = start_child();
	struct wait_stacks *s = new_stacks(0, 9, getpid(), ended);

	drain(s, 1);
	end_child(ended);
	drain(s, WAIT_STACKS_GRACE + 1);
	ck_assert_uint_eq(used(), 0);
	ck_assert(wait_stacks__lasts(s, QZ_WAIT_CAUSES, 2));
	take_slot(0, 1, QZ_WAIT_FUTEX);
	ck_assert_int_eq(wait_stacks__node(s, QZ_WAIT_CAUSES, &thread), 1);
	drain(s, 1);
	ck_assert_int_eq(wait_stacks__node(s, QZ_WAIT_CAUSES, &thread), 7);
	ck_assert(wait_stacks__lasts(s, QZ_WAIT_CAUSES, 1));
	ck_assert(!wait_stacks__lasts(s, QZ_WAIT_CAUSES, 2));
	drain(s, 3 * WAIT_STACKS_GRACE);
	ck_assert_uint_eq(used(), 1);
	wait_stacks__free(s);
}
END_TEST

START_TEST(with_room_left_nobody_is_asked)
{
	pid_t ended = start_child();
	struct wait_stacks *s = new_stacks(0, SLOTS / 2, getpid(), ended);

	end_child(ended);
	drain(s, 3 * WAIT_STACKS_GRACE);
	ck_assert_uint_eq(used(), SLOTS / 2);
	ck_assert_uint_eq(asked, 0);
	wait_stacks__free(s);
}
END_TEST

Suite *suite_wait_stacks(void)
{
	Suite *suite = suite_create("wait_stacks");
	TCase *tc = tcase_create("numbers");

	tcase_add_test(tc, those_of_the_gone_are_freed_after_their_grace);
	tcase_add_test(tc, a_number_is_given_to_another);
	tcase_add_test(tc, with_room_left_nobody_is_asked);
	suite_add_tcase(suite, tc);
	return suite;
}
