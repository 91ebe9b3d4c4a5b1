/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * profiled MODE [ARG]...: a program that keeps profile stacks by libquartz. It computes for known
 * times under known procedures and tells the truth about it.
 *
 *	scopes SECONDS		one procedure that calls another, in two threads
 *	mangled SECONDS		a scope within a procedure of the same name, with parameters as in C++
 *	recursive SECONDS	one that calls itself, and two that call each other
 *	deep SECONDS DEPTH	more procedures than a profile stack holds
 *	pool SECONDS TURNS	two workers, whose work belongs to three submitters in shares 1 : 2 : 3
 *	fork SECONDS		the child goes on after a fork, and so does its parent
 *	die SECONDS		two threads are in procedures when the process is killed
 *	crowd N			N children at once, each with a page set of its own
 *	exec SECONDS		becomes this program in mode scopes
 *	named SECONDS		waits for a condition variable that it has named, in vain
 *	linger FILE		waits for the file, then computes until it is ended
 *	events N		N intervals between events 1 and 2, and a value that comes once
 *	spin SECONDS		one thread works, the other spins until it is done
 *	churn N			N threads, each with a slot of its own for a short time
 *	garbage SECONDS		while it works, another thread fills its slot with whatever there is
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/truth.h"
#include "userlib/quartz.h"

/* ---- scopes ---- */

PROCEDURE static void inner(double seconds)
{
	QUARTZ_SCOPE("inner_scope");
	struct truth start = truth_now();

	compute_seconds(seconds);
	truth_since("inner_scope", start);
}

PROCEDURE static void outer(double seconds)
{
	QUARTZ_SCOPE("outer_scope");
	struct truth start = truth_now();

	compute_seconds(seconds);
	inner(seconds);
	truth_since("outer_scope", start);
}

static void *run_outer(void *seconds)
{
	quartz_thread_name("second outer");
	outer(*(double *)seconds);
	return NULL;
}

static void scopes(double seconds)
{
	pthread_t thread;

	check("pthread_create", pthread_create(&thread, NULL, run_outer, &seconds));
	outer(seconds);
	check("pthread_join", pthread_join(thread, NULL));
}

/* As a compiler of C++ calls sorter(double). */
static void sorter(double seconds) __asm__("_Z6sorterd");
PROCEDURE static void sorter(double seconds)
{
	QUARTZ_SCOPE("sorter");

	inner(seconds);
	compute_seconds(seconds);
}

/* ---- recursion ---- */

PROCEDURE static void recurse(double seconds, int depth)
{
	QUARTZ_SCOPE("recurse_scope");

	compute_seconds(seconds / 50);
	if (depth > 1)
		recurse(seconds, depth - 1);
}

PROCEDURE static void pong(double seconds, int depth);

PROCEDURE static void ping(double seconds, int depth)
{
	QUARTZ_SCOPE("ping_scope");

	compute_seconds(seconds / 50);
	if (depth > 1)
		pong(seconds, depth - 1);
}

static void pong(double seconds, int depth)
{
	QUARTZ_SCOPE("pong_scope");

	compute_seconds(seconds / 50);
	if (depth > 1)
		ping(seconds, depth - 1);
}

static void recursive(double seconds)
{
	struct truth start = truth_now();

	recurse(seconds, 50);
	truth_since("recurse_scope", start);
	start = truth_now();
	ping(seconds, 50);
	truth_since("ping_scope", start);
}

/* Two names by turns, so that nothing is taken for an immediate recursion. */
PROCEDURE static void deep(double seconds, long depth)
{
	if (depth % 2) {
		QUARTZ_SCOPE("deep_odd");

		if (depth > 1)
			deep(seconds, depth - 1);
		else
			compute_seconds(seconds);
	} else {
		QUARTZ_SCOPE("deep_even");

		deep(seconds, depth - 1);
	}
}

/* ---- a pool ---- */

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_filled = PTHREAD_COND_INITIALIZER;
static struct job {
	uint32_t task;
	int kind;
	double seconds;
} jobs[100000];
static long njobs, next_job;
static bool no_more;
static _Atomic uint64_t spent_for[3];

/* All submitters' work looks the same. */
PROCEDURE static void pool_work(const struct job *job)
{
	QUARTZ_SCOPE("pool_work");
	struct truth start = truth_now();

	compute_seconds(job->seconds);
	spent_for[job->kind] += truth_now().cpu_ns - start.cpu_ns;
}

static void *pool_worker(void *unused)
{
	QUARTZ_SCOPE("pool_worker");

	for (;;) {
		struct job job;
		uint64_t begun;

		pthread_mutex_lock(&queue_lock);
		while (next_job == njobs && !no_more)
			pthread_cond_wait(&queue_filled, &queue_lock);
		if (next_job == njobs) {
			pthread_mutex_unlock(&queue_lock);
			return NULL;
		}
		job = jobs[next_job++];
		pthread_mutex_unlock(&queue_lock);
		begun = quartz_task_begin(job.task);
		pool_work(&job);
		quartz_task_end(begun);
	}
}

static void submit(int kind, double seconds)
{
	pthread_mutex_lock(&queue_lock);
	jobs[njobs++] = (struct job) {quartz_task_capture(), kind, seconds};
	pthread_cond_signal(&queue_filled);
	pthread_mutex_unlock(&queue_lock);
}

static void submitter_one(double seconds)
{
	QUARTZ_SCOPE("submitter_one");

	submit(0, seconds);
}

static void submitter_two(double seconds)
{
	QUARTZ_SCOPE("submitter_two");

	submit(1, 2 * seconds);
}

static void submitter_three(double seconds)
{
	QUARTZ_SCOPE("submitter_three");

	submit(2, 3 * seconds);
}

static void pool(double seconds, long turns)
{
	pthread_t workers[2];

	for (int i = 0; i < 2; i++)
		check("pthread_create", pthread_create(&workers[i], NULL, pool_worker, NULL));
	for (long i = 0; i < turns; i++) {
		submitter_one(seconds / 6 / turns);
		submitter_two(seconds / 6 / turns);
		submitter_three(seconds / 6 / turns);
	}
	pthread_mutex_lock(&queue_lock);
	no_more = true;
	pthread_cond_broadcast(&queue_filled);
	pthread_mutex_unlock(&queue_lock);
	for (int i = 0; i < 2; i++)
		check("pthread_join", pthread_join(workers[i], NULL));
	truth_print("submitter_one", spent_for[0], 0);
	truth_print("submitter_two", spent_for[1], 0);
	truth_print("submitter_three", spent_for[2], 0);
}

/* ---- processes ---- */

static void fork_and_work(double seconds)
{
	pid_t child;

	inner(seconds);
	child = fork();
	if (!child) {
		QUARTZ_SCOPE("child_scope");
		struct truth start = truth_now();

		compute_seconds(seconds);
		truth_since("child_scope", start);
		fflush(stdout);
		_exit(0);
	}
	check("fork", child < 0 ? errno : 0);
	inner(seconds);
	waitpid(child, NULL, 0);
}

static void *work_for_ever(void *unused)
{
	QUARTZ_SCOPE("for_ever_scope");

	for (;;)
		compute_turns(10000);
	return NULL;
}

static void die_within(double seconds)
{
	pthread_t thread;

	QUARTZ_SCOPE("last_scope");
	check("pthread_create", pthread_create(&thread, NULL, work_for_ever, NULL));
	inner(seconds);
	raise(SIGKILL);
}

/* Says whether it has a page set, and ends when its parent lets go. */
static void be_one_of(int here, int go)
{
	QUARTZ_SCOPE("crowd_scope");
	char has = quartz_thread_.generation != 0;

	check("write", write(here, &has, 1) == 1 ? 0 : errno);
	_exit(read(go, &has, 1));
}

static void crowd(long n)
{
	int here[2], go[2];
	long have = 0;
	char has;

	check("pipe", pipe(here) || pipe(go) ? errno : 0);
	for (long i = 0; i < n; i++) {
		pid_t child = fork();

		check("fork", child < 0 ? errno : 0);
		if (!child) {
			close(go[1]);
			be_one_of(here[1], go[0]);
		}
	}
	for (long i = 0; i < n; i++) {
		check("read", read(here[0], &has, 1) == 1 ? 0 : errno);
		have += has;
	}
	close(go[1]);
	for (long i = 0; i < n; i++)
		wait(NULL);
	printf("truth crowd %ld\n", have);
}

/* Sleeps until the file is there; busy from then on. */
static void linger(const char *file)
{
	puts("ready");
	fflush(stdout);
	while (access(file, F_OK))
		usleep(10000);
	for (;;) {
		QUARTZ_SCOPE("linger_scope");

		compute_seconds(0.01);
	}
}

/* ---- events, spinning, churn ---- */

static void events(long n)
{
	for (long i = 0; i < n; i++) {
		quartz_event(1);
		compute_seconds(0.002);
		quartz_event(2);
		compute_seconds(0.002);
	}
	quartz_event(77);
	printf("truth events %ld\n", 2 * n + 1);
}

static _Atomic bool done;

static void *spin(void *unused)
{
	QUARTZ_SCOPE("spin_scope");
	struct truth start = truth_now();

	quartz_spin_begin((void *)&done);
	while (!done)
		compute_turns(10);
	quartz_spin_end();
	truth_since("spin_scope", start);
	return NULL;
}

static void work_and_spin(double seconds)
{
	pthread_t thread;

	check("pthread_create", pthread_create(&thread, NULL, spin, NULL));
	inner(seconds);
	done = true;
	check("pthread_join", pthread_join(thread, NULL));
}

/* Random bytes, all at its maximum, and what could be true, by turns. */
static void spoil(struct quartz_slot_ *slot, uint32_t tid, unsigned int *seed)
{
	struct quartz_slot_ garbage;
	unsigned char *bytes = (unsigned char *)&garbage;
	int way = rand_r(seed) % 3;

	for (size_t i = 0; i < sizeof(garbage); i++)
		bytes[i] = way ? rand_r(seed) >> 8 : 0xff;
	garbage.tid = tid;
	if (way == 2) {
		garbage.depth %= QUARTZ_STACK_;
		garbage.wait = garbage.task = 0;
		for (int i = 0; i < QUARTZ_STACK_; i++)
			garbage.stack[i] %= 20;
	}
	memcpy(slot, &garbage, sizeof(garbage));
}

static void *spoil_slot(void *slot)
{
	unsigned int seed = 1;

	while (!done)
		spoil(slot, getpid(), &seed);
	return NULL;
}

static void work_on_garbage(double seconds)
{
	pthread_t thread;

	QUARTZ_SCOPE("garbage_scope");
	check("slot", quartz_thread_.slot ? 0 : ENXIO);
	check("pthread_create", pthread_create(&thread, NULL, spoil_slot, quartz_thread_.slot));
	compute_seconds(seconds);
	done = true;
	check("pthread_join", pthread_join(thread, NULL));
}

static void *live_shortly(void *unused)
{
	QUARTZ_SCOPE("churn_scope");

	compute_turns(10000);
	return NULL;
}

static void churn(long n)
{
	pthread_t threads[64];

	for (long i = 0; i < n; i += 64) {
		for (int k = 0; k < 64; k++)
			check("pthread_create",
			      pthread_create(&threads[k], NULL, live_shortly, NULL));
		for (int k = 0; k < 64; k++)
			check("pthread_join", pthread_join(threads[k], NULL));
	}
}

static void wait_for_named(double seconds)
{
	static pthread_cond_t bell = PTHREAD_COND_INITIALIZER;
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct timespec end;

	inner(seconds);
	quartz_object_name(&bell, "the bell");
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec++;
	pthread_mutex_lock(&lock);
	while (pthread_cond_timedwait(&bell, &lock, &end) != ETIMEDOUT)
		;
	pthread_mutex_unlock(&lock);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	double seconds = 0.3;

	if (strcmp(mode, "events") && strcmp(mode, "churn") && strcmp(mode, "linger") &&
	    strcmp(mode, "crowd"))
		seconds = seconds_argument(argc, argv, 2, 0.3);
	if (!strcmp(mode, "scopes"))
		scopes(seconds);
	else if (!strcmp(mode, "mangled"))
		sorter(seconds);
	else if (!strcmp(mode, "recursive"))
		recursive(seconds);
	else if (!strcmp(mode, "deep"))
		deep(seconds, count_argument(argc, argv, 3, 200));
	else if (!strcmp(mode, "pool"))
		pool(seconds, count_argument(argc, argv, 3, 10));
	else if (!strcmp(mode, "fork"))
		fork_and_work(seconds);
	else if (!strcmp(mode, "die"))
		die_within(seconds);
	else if (!strcmp(mode, "crowd"))
		crowd(count_argument(argc, argv, 2, 100));
	else if (!strcmp(mode, "exec"))
		inner(seconds), execl("/proc/self/exe", argv[0], "scopes", argv[2], NULL);
	else if (!strcmp(mode, "named"))
		wait_for_named(seconds);
	else if (!strcmp(mode, "linger"))
		linger(argc > 2 ? argv[2] : "/");
	else if (!strcmp(mode, "events"))
		events(count_argument(argc, argv, 2, 20));
	else if (!strcmp(mode, "spin"))
		work_and_spin(seconds);
	else if (!strcmp(mode, "churn"))
		churn(count_argument(argc, argv, 2, 1000));
	else if (!strcmp(mode, "garbage"))
		work_on_garbage(seconds);
	else
		return 2;
	return 0;
}
