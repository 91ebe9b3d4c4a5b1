/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * subject KIND: makes one kind of stack for ever.
 */
#include <err.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

#define NOINLINE __attribute__((noinline))

static volatile uint64_t sink;

static NOINLINE void work(unsigned int turns)
{
	for (unsigned int i = 0; i < turns; i++)
		sink += i * sink + 1;
}

/* ---- depth ---- */

static NOINLINE int descend(int depth)
{
	char room[64];

	memset(room, depth, sizeof(room));
	work(50);
	if (depth > 0 && descend(depth - 1) == 0)
		return room[depth % 64];
	work(50);
	return room[0] == 77;
}

static void deep(void)
{
	descend(80);
}

static void deeper(void)
{
	descend(700);
}

/* ---- signals ---- */

static void on_signal(int number)
{
	work(20000);
}

static void raise_in_depth(int depth)
{
	work(1000);
	if (depth > 0)
		raise_in_depth(depth - 1);
	else
		raise(SIGUSR1);
	work(1000);
}

static void signals(void)
{
	raise_in_depth(5);
}

/* Signals at any instruction, on a stack of their own. */
static void start_timer(void)
{
	static char stack[65536];
	const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_RESTART};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
	struct itimerspec period = {{0, 300000}, {0, 300000}};
	timer_t timer;

	if (sigaltstack(&alternate, NULL) || sigaction(SIGUSR2, &action, NULL) ||
	    timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &period, NULL))
		err(1, "timer");
}

static void altstack(void)
{
	static int started;

	if (!started++)
		start_timer();
	descend(20);
}

/* ---- leaving frames behind ---- */

static jmp_buf home;

static NOINLINE void jump(int depth)
{
	work(200);
	if (depth > 0)
		jump(depth - 1);
	else if (sink != 1)
		longjmp(home, 1);
	work(1);
}

static void jumps(void)
{
	if (setjmp(home) == 0)
		jump(12);
	work(200);
}

/* ---- processes and threads ---- */

static NOINLINE void spawn(void)
{
	pid_t pid = vfork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
}

static void vforks(void)
{
	spawn();
	work(1000);
}

static void *run_thread(void *arg)
{
	descend(3);
	return NULL;
}

static NOINLINE void start_threads(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, run_thread, NULL);
	work(1000);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

static void threads(void)
{
	start_threads();
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *hold_lock(void *arg)
{
	for (;;) {
		pthread_mutex_lock(&lock);
		work(20000);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void locks(void)
{
	pthread_t other;

	pthread_create(&other, NULL, hold_lock, NULL);
	hold_lock(NULL);
}

/* ---- frames of unusual form ---- */

static NOINLINE void fill(void *bytes, size_t size)
{
	memset(bytes, 1, size);
	work(300);
}

/* An alignment and a size that are only known now: the compiler keeps the old stack pointer. */
static NOINLINE void realigned(size_t size)
{
	alignas(64) char aligned[128];
	char *variable = __builtin_alloca(size);

	fill(aligned, sizeof(aligned));
	fill(variable, size);
	sink += (uint64_t)aligned[5] + (uint64_t)variable[size / 2];
}

static void frames(void)
{
	for (size_t size = 16; size < 4096; size += 128)
		realigned(size);
}

static int order(const void *a, const void *b)
{
	work(20);
	return *(const int *)a - *(const int *)b;
}

static void callbacks(void)
{
	int numbers[500];

	for (int i = 0; i < 500; i++)
		numbers[i] = rand();
	qsort(numbers, 500, sizeof(int), order);
}

/*
 * Assembly that describes itself, and keeps no frame pointer: rbp is data, the stack pointer moves,
 * and the way out is described from a remembered state.
 */
void assembly(void (*callee)(unsigned int), unsigned int turns);
__asm__("	.text\n"
	"	.type	assembly, @function\n"
	"assembly:\n"
	"	.cfi_startproc\n"
	"	pushq	%rbp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset %rbp, 0\n"
	"	pushq	%rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset %rbx, 0\n"
	"	subq	$264, %rsp\n"
	"	.cfi_adjust_cfa_offset 264\n"
	"	movl	%esi, %ebp\n"
	"	movq	%rdi, %rbx\n"
	"	testl	%ebp, %ebp\n"
	"	je	2f\n"
	"1:	movl	$300, %edi\n"
	"	call	*%rbx\n"
	"	decl	%ebp\n"
	"	jnz	1b\n"
	"	.cfi_remember_state\n"
	"	addq	$264, %rsp\n"
	"	.cfi_adjust_cfa_offset -264\n"
	"	popq	%rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_restore %rbx\n"
	"	popq	%rbp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_restore %rbp\n"
	"	ret\n"
	"	.cfi_restore_state\n"
	"2:	movl	$900, %edi\n"
	"	call	*%rbx\n"
	"	movl	$1, %ebp\n"
	"	jmp	1b\n"
	"	.cfi_endproc\n"
	"	.size	assembly, . - assembly\n");

static void by_hand(void)
{
	assembly(work, 7);
	assembly(work, 0);
}

static const struct {
	const char *name;
	void (*turn)(void);
} kinds[] = {
	{"deep", deep},	    {"deeper", deeper},	      {"signals", signals},  {"altstack", altstack},
	{"jumps", jumps},   {"vforks", vforks},	      {"threads", threads},  {"locks", locks},
	{"frames", frames}, {"callbacks", callbacks}, {"assembly", by_hand},
};

int main(int argc, char **argv)
{
	signal(SIGUSR1, on_signal);
	for (size_t i = 0; argc == 2 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		while (strcmp(argv[1], kinds[i].name) == 0)
			kinds[i].turn();
	errx(2, "subject KIND");
}
