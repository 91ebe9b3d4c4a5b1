/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Walks of copied stacks: of this process at a signal, and of another one at the moment when it
 * creates a thread. Built without frame pointers.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "tests/unit/suites.h"
#include "tests/unit/symbolizer/symbolizer_util.h"

#define NOINLINE    __attribute__((noinline))
#define STACK_MAX   16384
#define REGIONS_MAX 256
#define FRAMES_MAX  128

/* What would be copied when a thread is created. */
struct snapshot {
	struct qz_user_registers registers;
	uint8_t stack[STACK_MAX];
	size_t size;
};

static struct snapshot snapshot;

static void copy_stack(struct snapshot *shot, pid_t pid)
{
	uint64_t sp = shot->registers.sp, end = util__mapping_end(pid, sp);
	struct iovec local, remote;

	shot->size = end - sp < STACK_MAX ? end - sp : STACK_MAX;
	local = (struct iovec) {shot->stack, shot->size};
	remote = (struct iovec) {(void *)sp, shot->size};
	ck_assert_int_eq(process_vm_readv(pid, &local, 1, &remote, 1, 0), (ssize_t)shot->size);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	const greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;

	snapshot.registers = (struct qz_user_registers) {
		.ip = (uint64_t)r[REG_RIP],
		.sp = (uint64_t)r[REG_RSP],
		.bp = (uint64_t)r[REG_RBP],
	};
	copy_stack(&snapshot, getpid());
}

/* External and not inlined, so that each is a frame with a name; the store keeps it a call. */
static volatile int depth;
void unwind_test_inner(int number);
void unwind_test_middle(int number);
void unwind_test_outer(int number);

NOINLINE void unwind_test_inner(int number)
{
	raise(number);
	depth++;
}

NOINLINE void unwind_test_middle(int number)
{
	char room[100];

	memset(room, number, sizeof(room));
	unwind_test_inner(room[(unsigned int)number % 100]);
	depth++;
}

NOINLINE void unwind_test_outer(int number)
{
	unwind_test_middle(number);
	depth++;
}

static void on_nested_signal(int number)
{
	unwind_test_outer(SIGUSR1);
	depth++;
}

static void *run_in_thread(void *arg)
{
	unwind_test_outer(*(const int *)arg);
	depth++;
	return NULL;
}

static struct stack_copies_region regions[REGIONS_MAX];
static struct stack_copies *copies; /* of the one symbolizer that a test has */

/* The names of the frames of a stack; the caller frees each and gives room for FRAMES_MAX. */
static size_t walk(struct symbolizer *s, size_t nregions, const struct snapshot *shot, char **names,
		   bool *complete)
{
	const struct stack_copy copy = {shot->registers, shot->stack, shot->size};
	struct unwinder_stack stack;

	if (!copies)
		copies = stack_copies__new(s);
	ck_assert_ptr_nonnull(copies);
	stack_copies__walk(copies, regions, (uint32_t)nregions, &copy, &stack);
	*complete = stack.end == QZ_UNWIND_OUTERMOST;
	for (size_t i = 0; i < stack.nframes; i++) {
		struct symbolizer_answer a = {0};
		uint64_t offset;

		for (size_t k = 0; k < nregions; k++) {
			const struct stack_copies_region *r = &regions[k];

			if (stack.frames[i] < r->start || stack.frames[i] >= r->end)
				continue;
			offset = stack.frames[i] - r->start + r->offset - (i > 0);
			ck_assert_int_eq(symbolizer__resolve(s, r->module, &offset, 1, &a), 0);
		}
		names[i] = strdup(a.found ? a.frames[a.nframes - 1].name : "?");
	}
	return stack.nframes;
}

/* The index of the first frame of that name from `from` on. */
static size_t expect_frame(char *const *names, size_t n, size_t from, const char *name)
{
	for (size_t i = from; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	ck_abort_msg("no frame %s after %zu of %zu frames", name, from, n);
	return n;
}

static void free_names(char **names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i]);
}

static void check_own_stack(int number, bool nested)
{
	struct symbolizer *s = util__symbolizer(false, false);
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
	size_t nregions, n, at;
	char *names[FRAMES_MAX];
	pthread_t thread;
	bool complete;

	sigaction(SIGUSR1, &action, NULL);
	signal(SIGUSR2, on_nested_signal);
	ck_assert_int_eq(pthread_create(&thread, NULL, run_in_thread, &number), 0);
	pthread_join(thread, NULL);
	nregions = util__regions(s, getpid(), regions, REGIONS_MAX);
	n = walk(s, nregions, &snapshot, names, &complete);
	at = expect_frame(names, n, 0, "unwind_test_inner");
	ck_assert_str_eq(names[at + 1], "unwind_test_middle");
	ck_assert_str_eq(names[at + 2], "unwind_test_outer");
	if (nested) {
		ck_assert_str_eq(names[at + 3], "on_nested_signal");
		at = expect_frame(names, n, at + 4, "unwind_test_inner");
		ck_assert_str_eq(names[at + 1], "unwind_test_middle");
		ck_assert_str_eq(names[at + 2], "unwind_test_outer");
	}
	ck_assert_str_eq(names[at + 3], "run_in_thread");
	ck_assert(complete);
	free_names(names, n);
	stack_copies__free(copies);
	symbolizer__free(s);
}

START_TEST(follows_a_stack_without_frame_pointers)
{
	check_own_stack(SIGUSR1, false);
}
END_TEST

START_TEST(follows_a_stack_through_a_signal_frame)
{
	check_own_stack(SIGUSR2, true);
}
END_TEST

START_TEST(gives_a_cut_stack_as_far_as_it_goes)
{
	struct symbolizer *s = util__symbolizer(false, false);
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
	char *names[FRAMES_MAX];
	size_t nregions, n, whole;
	bool complete;

	sigaction(SIGUSR1, &action, NULL);
	unwind_test_outer(SIGUSR1);
	nregions = util__regions(s, getpid(), regions, REGIONS_MAX);
	whole = walk(s, nregions, &snapshot, names, &complete);
	free_names(names, whole);
	for (snapshot.size = 0; snapshot.size < 400; snapshot.size += 8) {
		n = walk(s, nregions, &snapshot, names, &complete);
		ck_assert_uint_ge(n, 1);
		ck_assert_uint_le(n, whole);
		ck_assert(!complete || n == whole);
		free_names(names, n);
	}
	stack_copies__free(copies);
	symbolizer__free(s);
}
END_TEST

/* Whatever the registers and the stack hold, an answer comes, and from the same child. */
START_TEST(survives_stacks_of_nonsense)
{
	struct symbolizer *s = util__symbolizer(false, false);
	size_t nregions = util__regions(s, getpid(), regions, REGIONS_MAX);
	struct snapshot shot = {.size = STACK_MAX};

	srandom(1);
	for (int turn = 0; turn < 200; turn++) {
		uint64_t *words = (uint64_t *)shot.stack;
		char *names[FRAMES_MAX];
		bool complete;

		for (size_t i = 0; i < STACK_MAX / sizeof(*words); i++) {
			const struct stack_copies_region *r = &regions[(size_t)random() % nregions];

			words[i] = r->start + (uint64_t)random() % (r->end - r->start);
		}
		shot.registers.ip = words[0];
		shot.registers.sp = turn % 2 ? 0x7000000 : UINT64_MAX - 64;
		shot.registers.bp = shot.registers.sp + 8 * ((uint64_t)random() % 100);
		free_names(names, walk(s, nregions, &shot, names, &complete));
	}
	ck_assert_uint_eq(symbolizer__counters(s)->started, 1);
	stack_copies__free(copies);
	symbolizer__free(s);
}
END_TEST

/* Starts a fixture and stops it in the system call that creates its thread. */
static pid_t stop_in_clone(const char *program)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl(program, program, (char *)NULL);
		_exit(1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSTOPPED(status));
	ck_assert_int_eq(ptrace(PTRACE_SETOPTIONS, pid, NULL,
				(void *)(PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL)),
			 0);
	ck_assert_int_eq(ptrace(PTRACE_CONT, pid, NULL, NULL), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSTOPPED(status));
	ck_assert_int_eq(status >> 8, SIGTRAP | PTRACE_EVENT_CLONE << 8);
	return pid;
}

static const char *const creators[] = {"O2", "static"};

START_TEST(follows_the_stack_of_a_thread_creation)
{
	struct symbolizer *s = util__symbolizer(false, false);
	pid_t pid = stop_in_clone(util__fixture(creators[_i]));
	struct snapshot shot = {0};
	struct user_regs_struct r;
	char *names[FRAMES_MAX];
	size_t nregions, n, at;
	bool complete;

	ck_assert_int_eq(ptrace(PTRACE_GETREGS, pid, NULL, &r), 0);
	shot.registers = (struct qz_user_registers) {r.rip, r.rsp, r.rbp};
	copy_stack(&shot, pid);
	nregions = util__regions(s, pid, regions, REGIONS_MAX);
	kill(pid, SIGKILL);
	while (waitpid(-1, NULL, __WALL) > 0)
		; /* its new thread, which is traced too, and then itself */
	n = walk(s, nregions, &shot, names, &complete);
	at = expect_frame(names, n, 0, "spawn_worker");
	ck_assert_uint_ge(at, 3);
	ck_assert_str_eq(names[at - 1], "pthread_create");
	ck_assert_str_eq(names[at + 1], "main");
	ck_assert_str_eq(names[at + 2], "__libc_start_call_main");
	ck_assert_str_eq(names[at + 3], "__libc_start_main");
	ck_assert_str_eq(names[at + 4], "_start");
	ck_assert_uint_eq(n, at + 5);
	ck_assert(complete);
	free_names(names, n);
	shot.size = 0;
	n = walk(s, nregions, &shot, names, &complete);
	ck_assert_uint_eq(n, 1);
	ck_assert(!complete);
	free_names(names, n);
	stack_copies__free(copies);
	symbolizer__free(s);
}
END_TEST

Suite *suite_stack_copies(void)
{
	Suite *suite = suite_create("stack_copies");
	TCase *tcase = tcase_create("stacks");

	tcase_add_test(tcase, follows_a_stack_without_frame_pointers);
	tcase_add_test(tcase, follows_a_stack_through_a_signal_frame);
	tcase_add_test(tcase, gives_a_cut_stack_as_far_as_it_goes);
	tcase_add_test(tcase, survives_stacks_of_nonsense);
	tcase_add_loop_test(tcase, follows_the_stack_of_a_thread_creation, 0, 2);
	suite_add_tcase(suite, tcase);
	return suite;
}
