/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * beat CPU: does small pieces of work on one processor on command, and tells how long they take.
 * First it prints the numbers of its processes. Then for each line "WORKLOAD SLICES" of input it
 * prints the median time in ns of one unit of that work, over so many slices of some milliseconds.
 *
 * It runs as SCHED_FIFO: whatever else is busy on the machine, most slices are undisturbed.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/truth.h"

#define MAX_SLICES  10000
#define INTERRUPTED 1000 /* ns: many looks at the clock, and less than any interrupt */

/* Two sides hand each other a token; side 1 does so for ever. Shared by both, also across fork. */
struct game {
	_Atomic uint32_t token; /* whose turn it is */
	int private;		/* FUTEX_PRIVATE_FLAG, or 0 between processes */
	int pipes[2][2];	/* pipes[s] wakes side s */
	void (*await)(struct game *g, uint32_t side);
	void (*pass)(struct game *g, uint32_t to);
};

/* ---- handing over ---- */

static void await_futex(struct game *g, uint32_t side)
{
	while (atomic_load(&g->token) != side)
		syscall(SYS_futex, &g->token, FUTEX_WAIT | g->private, 1 - side, NULL);
}

static void pass_futex(struct game *g, uint32_t to)
{
	atomic_store(&g->token, to);
	syscall(SYS_futex, &g->token, FUTEX_WAKE | g->private, 1);
}

static void await_pipe(struct game *g, uint32_t side)
{
	char byte;

	if (read(g->pipes[side][0], &byte, 1) != 1)
		die("read", errno);
}

static void pass_pipe(struct game *g, uint32_t to)
{
	if (write(g->pipes[to][1], "", 1) != 1)
		die("write", errno);
}

PROCEDURE static void *partner(void *arg)
{
	struct game *g = arg;

	for (;;) {
		g->await(g, 1);
		g->pass(g, 0);
	}
	return NULL;
}

PROCEDURE static void play(struct game *g, long round_trips)
{
	for (long i = 0; i < round_trips; i++) {
		g->pass(g, 1);
		g->await(g, 0);
	}
}

/* The other side is a thread, or a process when `private` is 0. */
static struct game *begin_game(int private)
{
	struct game *g =
		mmap(NULL, sizeof(*g), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (g == MAP_FAILED || pipe(g->pipes[0]) || pipe(g->pipes[1]))
		die("game", errno);
	g->private = private;
	return g;
}

static void play_by_futex(struct game *g)
{
	g->await = await_futex;
	g->pass = pass_futex;
}

static void play_by_pipe(struct game *g)
{
	g->await = await_pipe;
	g->pass = pass_pipe;
}

static struct game *with_thread(void (*by)(struct game *g))
{
	struct game *g = begin_game(FUTEX_PRIVATE_FLAG);
	pthread_t thread;

	by(g);
	check("pthread_create", pthread_create(&thread, NULL, partner, g));
	return g;
}

static struct game *with_process(void (*by)(struct game *g))
{
	struct game *g = begin_game(0);
	pid_t pid;

	by(g);
	pid = fork();
	if (pid < 0)
		die("fork", errno);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		partner(g);
	}
	printf(" %d", pid);
	return g;
}

/* ---- workloads ---- */

static struct game *futex_processes, *pipe_processes, *futex_threads, *pipe_threads;

PROCEDURE static void compute(long units)
{
	compute_turns((uint64_t)units * 1000);
}

/*
 * So many ms in which nothing came between two looks at the clock: what takes longer than the time
 * for that is what interrupts took away, however fast the processor is just now.
 */
PROCEDURE static void watch_clock(long ms)
{
	uint64_t had = 0, last = clock_ns(CLOCK_MONOTONIC), now;

	for (; had < (uint64_t)ms * 1000000; last = now) {
		now = clock_ns(CLOCK_MONOTONIC);
		had += now - last < INTERRUPTED ? now - last : 0;
	}
}

PROCEDURE static void ask_parent(long calls)
{
	for (long i = 0; i < calls; i++)
		syscall(SYS_getppid);
}

PROCEDURE static void fork_processes(long n)
{
	for (long i = 0; i < n; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			die("fork", errno);
	}
}

static void *nothing(void *arg)
{
	return arg;
}

PROCEDURE static void create_threads(long n)
{
	pthread_t thread;

	for (long i = 0; i < n; i++) {
		check("pthread_create", pthread_create(&thread, NULL, nothing, NULL));
		check("pthread_join", pthread_join(thread, NULL));
	}
}

static void play_futex_threads(long n)
{
	play(futex_threads, n);
}

static void play_pipe_threads(long n)
{
	play(pipe_threads, n);
}

static void play_futex_processes(long n)
{
	play(futex_processes, n);
}

static void play_pipe_processes(long n)
{
	play(pipe_processes, n);
}

static const struct workload {
	const char *name;
	long units; /* in one slice */
	void (*run)(long units);
} workloads[] = {
	{"compute", 20000, compute},
	{"clock", 20, watch_clock},
	{"futex-threads", 2000, play_futex_threads},
	{"futex-processes", 2000, play_futex_processes},
	{"pipe-threads", 2000, play_pipe_threads},
	{"pipe-processes", 2000, play_pipe_processes},
	{"getppid", 50000, ask_parent},
	{"fork", 30, fork_processes},
	{"thread", 200, create_threads},
};

static const struct workload *find_workload(const char *name)
{
	for (size_t i = 0; i < sizeof(workloads) / sizeof(*workloads); i++)
		if (!strcmp(workloads[i].name, name))
			return &workloads[i];
	die(name, EINVAL);
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median_slice(const struct workload *w, long slices)
{
	static uint64_t ns[MAX_SLICES];

	for (long i = 0; i < slices; i++) {
		uint64_t start = clock_ns(CLOCK_MONOTONIC);

		w->run(w->units);
		ns[i] = clock_ns(CLOCK_MONOTONIC) - start;
	}
	qsort(ns, (size_t)slices, sizeof(*ns), compare);
	return (double)ns[slices / 2] / (double)w->units;
}

static void settle(long processor)
{
	struct sched_param priority = {.sched_priority = 10};
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)processor, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity", errno);
	if (sched_setscheduler(0, SCHED_FIFO, &priority))
		die("sched_setscheduler", errno);
}

int main(int argc, char **argv)
{
	char name[32];
	long slices;

	settle(count_argument(argc, argv, 1, 0));
	/* Unbuffered, so that no forked process has something of it to write, too. */
	setvbuf(stdout, NULL, _IONBF, 0);
	printf("%d", getpid());
	futex_processes = with_process(play_by_futex);
	pipe_processes = with_process(play_by_pipe);
	futex_threads = with_thread(play_by_futex);
	pipe_threads = with_thread(play_by_pipe);
	printf("\n");
	while (scanf("%31s %ld", name, &slices) == 2) {
		if (slices < 1 || slices > MAX_SLICES)
			die("slices", ERANGE);
		printf("%.2f\n", median_slice(find_workload(name), slices));
	}
	return 0;
}
