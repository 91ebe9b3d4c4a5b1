/* SPDX-License-Identifier: GPL-2.0-only */
/* libquartz among threads, children and signal handlers. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "tests/unit/suites.h"
#include "tests/userlib/fixture.h"

#define MANY 10000

static pthread_t start_thread(void *(*run)(void *))
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	ck_assert_int_eq(pthread_create(&thread, &attr, run, NULL), 0);
	pthread_attr_destroy(&attr);
	return thread;
}

/* ---- slots ---- */

static unsigned inside, leave_now;

static void *stand_in_scope(void *unused)
{
	QUARTZ_SCOPE("standing");

	__atomic_fetch_add(&inside, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &leave_now, 0, 0, NULL, NULL, 0);
	while (!__atomic_load_n(&leave_now, __ATOMIC_ACQUIRE))
		usleep(1000);
	return NULL;
}

static void release_all(void)
{
	__atomic_store_n(&leave_now, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &leave_now, 1, MANY, NULL, NULL, 0);
}

static unsigned count_standing(void)
{
	struct fake_set *set = fixture__set();
	unsigned n = 0;

	for (uint32_t i = 0; i < set->segments * QZ_SEGMENT_SLOTS; i++) {
		const struct qz_slot *slot =
			&set->slots[i / QZ_SEGMENT_SLOTS][i % QZ_SEGMENT_SLOTS];

		if (slot->tid && slot->depth == 1)
			n += !strcmp(fake__name(set, slot->stack[1]), "standing");
	}
	return n;
}

START_TEST(ten_thousand_threads_have_a_slot_each)
{
	static pthread_t threads[MANY];

	for (int i = 0; i < MANY; i++)
		threads[i] = start_thread(stand_in_scope);
	while (__atomic_load_n(&inside, __ATOMIC_ACQUIRE) < MANY)
		usleep(1000);
	ck_assert_uint_eq(fixture__set()->tables->header.slots_refused, 0);
	ck_assert_uint_eq(count_standing(), MANY);
	release_all();
	for (int i = 0; i < MANY; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_eq(count_standing(), 0);
}
END_TEST

static void *pass_through(void *unused)
{
	QUARTZ_SCOPE("passing");

	return NULL;
}

START_TEST(slots_are_used_again)
{
	struct fake_set *set = fixture__set();
	uint32_t claims = 0;

	for (int i = 0; i < 1000; i++)
		pthread_join(start_thread(pass_through), NULL);
	ck_assert_uint_eq(set->segments, 1);
	for (int i = 0; i < QZ_SEGMENT_SLOTS; i++)
		claims += set->slots[0][i].claims;
	ck_assert_uint_eq(claims, 1001);
	ck_assert_uint_eq(set->tables->header.slots_used, 2);
}
END_TEST

static void *wait_for_ever(void *unused)
{
	QUARTZ_SCOPE("waiting");

	__atomic_fetch_add(&inside, 1, __ATOMIC_RELEASE);
	for (;;)
		pause();
	return NULL;
}

START_TEST(a_cancelled_thread_gives_its_slot_back)
{
	pthread_t thread = start_thread(wait_for_ever);

	while (!__atomic_load_n(&inside, __ATOMIC_ACQUIRE))
		usleep(1000);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(fixture__set()->slots[0][1].tid, 0);
	ck_assert_uint_eq(fixture__set()->slots[0][1].depth, 0);
	ck_assert_uint_eq(fixture__set()->slots[0][1].claims, 1);
}
END_TEST

/* ---- symbols ---- */

#define SITES 2000

static struct quartz_procedure sites[SITES];

static void *enter_all(void *unused)
{
	for (int i = 0; i < SITES; i++)
		quartz_leave(quartz_enter(&sites[i]));
	return NULL;
}

START_TEST(threads_agree_on_numbers)
{
	static char names[SITES][16];
	pthread_t threads[8];

	for (int i = 0; i < SITES; i++) {
		snprintf(names[i], sizeof(names[i]), "p%d", i);
		sites[i].name = names[i];
	}
	for (int i = 0; i < 8; i++)
		threads[i] = start_thread(enter_all);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_eq(fixture__set()->tables->header.symbols_used, SITES);
	for (int i = 0; i < SITES; i++)
		ck_assert_str_eq(fake__name(fixture__set(), sites[i].id_), names[i]);
}
END_TEST

/* ---- children ---- */

/* The server is a thread of the parent: what the child writes is checked there. */
static void fork_and(void (*body)(struct qz_slot *))
{
	struct qz_slot *slot = fixture__slot();
	struct fake_set *set;
	char text[256];
	int status, ready[2], go[2];
	pid_t pid;

	ck_assert(!pipe(ready) && !pipe(go));
	pid = fork();
	if (!pid) {
		uint32_t b;

		b = quartz_enter(&proc_b);
		if (write(ready[1], "x", 1) != 1 || read(go[0], text, 1) != 1)
			_exit(1);
		quartz_leave(b);
		_exit(0);
	}
	ck_assert_int_eq(read(ready[0], text, 1), 1);
	set = fake__set(fake, pid);
	ck_assert_ptr_nonnull(set);
	ck_assert_ptr_nonnull(fake__slot(set, pid));
	fake__stack(set, fake__slot(set, pid), text, sizeof(text));
	ck_assert_str_eq(text, "a/b");
	body(slot);
	ck_assert_int_eq(write(go[1], "x", 1), 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(fake__slot(set, pid)->depth, 1);
}

static void parent_is_as_before(struct qz_slot *slot)
{
	ck_assert_ptr_eq(fixture__slot(), slot);
	ck_stack("a");
}

START_TEST(a_forked_child_has_a_page_set_of_its_own)
{
	uint32_t a = quartz_enter(&proc_a);

	fork_and(parent_is_as_before);
	fork_and(parent_is_as_before);
	quartz_leave(a);
	ck_stack("");
	ck_assert_uint_eq(fake->count, 3);
}
END_TEST

START_TEST(a_forked_child_of_a_thread_too)
{
	pthread_t standing = start_thread(stand_in_scope);
	uint32_t a = quartz_enter(&proc_a);

	while (!__atomic_load_n(&inside, __ATOMIC_ACQUIRE))
		usleep(1000);
	fork_and(parent_is_as_before);
	release_all();
	pthread_join(standing, NULL);
	quartz_leave(a);
	/* The other thread is not in the child. */
	ck_assert_uint_eq(fake->sets[1].slots[0][1].tid, 0);
}
END_TEST

static __attribute__((noinline)) void end_vforked(void)
{
	quartz_leave(quartz_enter(&proc_b));
	_exit(3);
}

static __attribute__((noinline)) pid_t enter_in_vfork(void)
{
	pid_t pid = vfork();

	if (!pid)
		end_vforked();
	return pid;
}

START_TEST(vfork_borrows_the_stack_and_gives_it_back)
{
	uint32_t a = quartz_enter(&proc_a);
	pid_t pid = enter_in_vfork();
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(WEXITSTATUS(status), 3);
	ck_stack("a");
	quartz_leave(a);
	ck_assert_uint_eq(fake->count, 1);
}
END_TEST

/* Made without the C library's knowledge: writes on in the parent's memory, but never asks. */
START_TEST(an_unknown_child_asks_for_nothing)
{
	int status;
	pid_t pid = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);

	if (!pid) {
		fake->flag->generation++;
		for (int i = 0; i < 10; i++)
			quartz_leave(quartz_enter(&proc_b));
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(fake->count, 1);
}
END_TEST

/* ---- signal handlers ---- */

static volatile sig_atomic_t handled, wrong;
static struct quartz_procedure in_handler = QUARTZ_PROCEDURE("handler");

static void handle(int signal)
{
	const struct quartz_slot_ *slot = quartz_slot_();
	uint32_t before = slot ? slot->depth : 0;
	uint32_t entered = quartz_enter(&in_handler);

	if (slot && slot->depth != before + 1)
		wrong++;
	quartz_leave(entered);
	if (slot && slot->depth != before)
		wrong++;
	handled++;
}

static void *watch(void *stop)
{
	const struct qz_slot *slot = &fixture__set()->slots[0][0];
	unsigned *beyond = calloc(1, sizeof(*beyond));

	while (!__atomic_load_n((bool *)stop, __ATOMIC_ACQUIRE))
		if (__atomic_load_n(&slot->depth, __ATOMIC_RELAXED) >= QZ_SLOT_STACK)
			++*beyond;
	return beyond;
}

static void interrupt_often(void)
{
	const struct itimerval interval = {{0, 100}, {0, 100}};

	signal(SIGALRM, handle);
	setitimer(ITIMER_REAL, &interval, NULL);
}

/* As many handlers as it takes, and the stack is right after each call, while another thread reads. */
START_TEST(handlers_leave_the_stack_as_it_was)
{
	pthread_t watcher;
	bool stop = false;
	sigset_t alarm;
	void *beyond;

	quartz_leave(quartz_enter(&in_handler));
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	ck_assert_int_eq(pthread_create(&watcher, NULL, watch, &stop), 0);
	pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
	interrupt_often();
	while (handled < 1000) {
		uint32_t a = quartz_enter(&proc_a), b = quartz_enter(&proc_b);
		const struct quartz_slot_ *slot = quartz_slot_();

		if (slot->depth != 2 || slot->stack[1] != proc_a.id_ ||
		    slot->stack[2] != proc_b.id_)
			wrong++;
		quartz_leave(b);
		quartz_leave(a);
	}
	signal(SIGALRM, SIG_IGN);
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	pthread_join(watcher, &beyond);
	ck_assert_int_eq(wrong, 0);
	ck_assert_uint_eq(*(unsigned *)beyond, 0);
	free(beyond);
	ck_stack("");
}
END_TEST

static sigjmp_buf out;
static volatile sig_atomic_t jumps;

static void jump_out(int signal)
{
	jumps++;
	siglongjmp(out, 1);
}

static __attribute__((noinline)) void use_until_jump(void)
{
	const struct itimerval once = {{0, 0}, {0, 200}};

	setitimer(ITIMER_REAL, &once, NULL);
	for (;;) {
		struct quartz_procedure new = QUARTZ_PROCEDURE("new");

		quartz_leave(quartz_enter(&new));
		quartz_object_name(&new, "object");
	}
}

/* Also out of the middle of the library, and of its first use under each quartzd. */
START_TEST(jumping_out_of_the_library_is_survived)
{
	signal(SIGALRM, jump_out);
	while (jumps < 50) {
		fake__end(fake, jumps % 2);
		fake__listen(fake);
		if (!sigsetjmp(out, 1))
			use_until_jump();
	}
	for (int i = 0; i < 1000; i++)
		quartz_leave(quartz_enter(&proc_a));
	quartz_leave(0);
	ck_stack("");
}
END_TEST

Suite *suite_library_threads(void)
{
	Suite *s = suite_create("library_threads");
	TCase *c = tcase_create("library_threads");

	tcase_add_checked_fixture(c, fixture__listen, fixture__end);
	tcase_add_test(c, ten_thousand_threads_have_a_slot_each);
	tcase_add_test(c, slots_are_used_again);
	tcase_add_test(c, a_cancelled_thread_gives_its_slot_back);
	tcase_add_test(c, threads_agree_on_numbers);
	tcase_add_test(c, a_forked_child_has_a_page_set_of_its_own);
	tcase_add_test(c, a_forked_child_of_a_thread_too);
	tcase_add_test(c, vfork_borrows_the_stack_and_gives_it_back);
	tcase_add_test(c, an_unknown_child_asks_for_nothing);
	tcase_add_test(c, handlers_leave_the_stack_as_it_was);
	tcase_add_test(c, jumping_out_of_the_library_is_survived);
	suite_add_tcase(s, c);
	return s;
}
