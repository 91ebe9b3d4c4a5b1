/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * returns: all ways to call a procedure and to leave it, or not, that replaced return addresses could
 * spoil. Built with -pg and without, it must print the same.
 */
#include <csetjmp>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <immintrin.h>
#include <pthread.h>
#include <stdexcept>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static volatile long sink;

/* ---- arguments and results ---- */

struct big {
	long words[20];
};

struct pair {
	double a;
	long b;
};

static NOINLINE double sum(int count, ...)
{
	double result = 0;
	va_list list;

	va_start(list, count);
	for (int i = 0; i < count; i++)
		result = result * 3 + va_arg(list, double);
	va_end(list);
	return result;
}

static NOINLINE long integers(long a, long b, long c, long d, long e, long f, long g, long h)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

static NOINLINE double doubles(double a, double b, double c, double d, double e, double f, double g,
			       double h, double i)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i;
}

static NOINLINE struct big make_big(long x)
{
	struct big b;

	for (int i = 0; i < 20; i++)
		b.words[i] = x * i;
	return b;
}

static NOINLINE struct pair make_pair(double a, long b)
{
	return {a + 1, b + 2};
}

static NOINLINE __int128 make_wide(long a, long b)
{
	return (__int128)a << 64 | b;
}

static NOINLINE long double make_long(long double x)
{
	return x * 3 + 1;
}

static NOINLINE _Complex long double make_complex(long double x)
{
	_Complex long double c;

	__real__ c = x;
	__imag__ c = x * 2;
	return c;
}

__attribute__((target("avx"))) static NOINLINE __m256d make_vector(__m256d a, __m256d b)
{
	return _mm256_add_pd(a, b);
}

__attribute__((target("avx"))) static NOINLINE void vectors(void)
{
	__m256d v = make_vector(_mm256_set_pd(1, 2, 3, 4), _mm256_set_pd(10, 20, 30, 40));
	double d[4];

	_mm256_storeu_pd(d, v);
	printf("vector %g %g %g %g\n", d[0], d[1], d[2], d[3]);
}

static NOINLINE void values(void)
{
	struct pair p = make_pair(1.5, 7);
	__int128 wide = make_wide(3, 4);
	_Complex long double c = make_complex(1.25L);
	struct big b = make_big(3);

	printf("%g %ld\n", sum(10, 1., 2., 3., 4., 5., 6., 7., 8., 9., 10.),
	       integers(1, 2, 3, 4, 5, 6, 7, 8));
	printf("%g %ld\n", doubles(1, 2, 3, 4, 5, 6, 7, 8, 9), b.words[19]);
	printf("%g %ld %ld %ld\n", p.a, p.b, (long)(wide >> 64), (long)wide);
	printf("%Lg %Lg %Lg\n", make_long(1.5L), __real__ c, __imag__ c);
	if (__builtin_cpu_supports("avx"))
		vectors();
}

/* ---- ends that are not told ---- */

static NOINLINE void fail(int depth)
{
	struct guard {
		NOINLINE ~guard()
		{
			sink = sink + 1;
		}
	} g;

	if (depth)
		fail(depth - 1);
	else
		throw std::runtime_error("failed");
	sink = sink + 1000000;
}

static NOINLINE int recover(int depth)
{
	try {
		fail(depth);
	} catch (const std::runtime_error &) {
		try {
			fail(3);
		} catch (...) {
			return 1;
		}
	}
	return 0;
}

static jmp_buf back;

static NOINLINE void jump(int depth)
{
	if (depth)
		jump(depth - 1);
	if (sink >= 0)
		longjmp(back, 1);
}

static NOINLINE int come_back(int depth)
{
	if (!setjmp(back))
		jump(depth);
	return depth;
}

static NOINLINE void leave_untold(void)
{
	int caught = 0, came = 0;

	for (int i = 0; i < 200; i++) {
		caught += recover(i % 40);
		came += come_back(i);
	}
	printf("caught %d came %d ended %ld\n", caught, came, sink);
}

/* ---- more than there is room for ---- */

static NOINLINE long deep(long n)
{
	volatile char filler[40];

	filler[n % 40] = 1;
	return n ? deep(n - 1) + filler[n % 40] : 0;
}

/* ---- signals, on a stack of their own ---- */

static volatile long signals;

static NOINLINE long step(long x)
{
	return x * 3 + 1;
}

static NOINLINE void handle(int)
{
	signals = signals + (step(1) == 4 && deep(20) == 20);
}

static NOINLINE void interrupted(void)
{
	static char stack[65536];
	stack_t other = {};
	struct sigaction action = {};
	struct itimerval often = {{0, 200}, {0, 200}}, never = {};
	unsigned long x = 0;

	other.ss_sp = stack;
	other.ss_size = sizeof(stack);
	sigaltstack(&other, NULL);
	action.sa_handler = handle;
	action.sa_flags = SA_ONSTACK | SA_RESTART;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (signals < 300)
		x += deep(9) == 9 ? 0 : 1;
	setitimer(ITIMER_REAL, &never, NULL);
	printf("interrupted %lu\n", x);
}

/* ---- processes ---- */

static NOINLINE pid_t forked(int depth)
{
	return depth ? forked(depth - 1) : fork();
}

static NOINLINE void run_true(void)
{
	pid_t pid = vfork();
	int status;

	if (!pid) {
		step(1);
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	waitpid(pid, &status, 0);
	printf("vfork %d\n", status);
}

static NOINLINE void processes(void)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = forked(10);
	if (!pid)
		_exit(deep(50) == 50 && recover(9) ? 7 : 1);
	waitpid(pid, &status, 0);
	printf("fork %d\n", WEXITSTATUS(status));
	run_true();
}

/* ---- coroutines, that go on in another thread ---- */

static ucontext_t coroutine, outside;
static char coroutine_stack[65536];

static NOINLINE void give_way(int depth)
{
	if (depth)
		give_way(depth - 1);
	else
		swapcontext(&coroutine, &outside);
	sink = sink + 1;
}

static NOINLINE void turns(void)
{
	for (;;)
		give_way(5);
}

static NOINLINE void resume(int depth)
{
	if (depth)
		resume(depth - 1);
	else
		swapcontext(&outside, &coroutine);
	sink = sink + 1;
}

static NOINLINE void *go_on(void *)
{
	for (int i = 0; i < 100; i++)
		resume(i % 10);
	return NULL;
}

static NOINLINE void coroutines(void)
{
	pthread_t thread;

	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = coroutine_stack;
	coroutine.uc_stack.ss_size = sizeof(coroutine_stack);
	makecontext(&coroutine, turns, 0);
	sink = 0;
	for (int i = 0; i < 3; i++) {
		go_on(NULL);
		pthread_create(&thread, NULL, go_on, NULL);
		pthread_join(thread, NULL);
	}
	printf("coroutines %ld\n", sink);
}

/* ---- threads that end inside ---- */

static NOINLINE void end_thread(int depth)
{
	struct guard {
		NOINLINE ~guard()
		{
			__atomic_fetch_add(&sink, 1, __ATOMIC_RELAXED);
		}
	} g;

	if (depth)
		end_thread(depth - 1);
	else if (sink >= 0)
		pthread_exit(NULL);
	sink = sink + 1000000;
}

static NOINLINE void *ended(void *)
{
	for (int i = 0; i < 100; i++)
		sink = sink + (deep(i) != i);
	end_thread(9);
	return NULL;
}

static NOINLINE void wait_here(int depth)
{
	struct guard {
		NOINLINE ~guard()
		{
			__atomic_fetch_add(&sink, 1, __ATOMIC_RELAXED);
		}
	} g;

	if (depth)
		wait_here(depth - 1);
	else
		pause();
	sink = sink + 1000000;
}

static NOINLINE void *cancelled(void *)
{
	wait_here(9);
	return NULL;
}

static NOINLINE void threads(void)
{
	pthread_t thread;

	sink = 0;
	for (int i = 0; i < 20; i++) {
		pthread_create(&thread, NULL, i % 2 ? ended : cancelled, NULL);
		if (i % 2 == 0)
			pthread_cancel(thread);
		pthread_join(thread, NULL);
	}
	/* A thread may be cancelled before it is in there. */
	printf("threads %d\n", sink >= 100 && sink <= 200);
}

int main()
{
	values();
	leave_untold();
	printf("deep %ld\n", deep(20000));
	interrupted();
	processes();
	coroutines();
	threads();
	values();
	return 0;
}
