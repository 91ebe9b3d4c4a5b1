/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pool [BEST [THREADS]]: a pool of threads that read from a disk, until it is ended, for quartzctl tune. With libquartz it
 * tells its size as a knob, and each job that is done as an event.
 *
 * The disk is made up, so that the best size is known: it serves requests side by side, but the more of them there are, the
 * longer its head travels. BEST threads [8] get the most done; the pool begins with THREADS [1].
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <quartz/quartz.h>

#define MOST 32
#define SEEK 0.004 /* seconds, of a request that is alone */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t resized = PTHREAD_COND_INITIALIZER;
static long threads = 1, best = 8; /* the former under the lock */

/* Most requests in a second are done when `at_once` is `best`. */
static void read_from_disk(double at_once)
{
	double crowd = at_once / (double)best;
	double time = SEEK * (1 + crowd * crowd * crowd * crowd / 3);
	struct timespec rest = {.tv_nsec = (long)(time * 1e9) % 1000000000, .tv_sec = (time_t)time};

	nanosleep(&rest, NULL);
}

/* The thread with this number rests while the pool is smaller. */
static void *work(void *number)
{
	for (;;) {
		long size;

		pthread_mutex_lock(&lock);
		while ((long)number >= threads)
			pthread_cond_wait(&resized, &lock);
		size = threads;
		pthread_mutex_unlock(&lock);
		read_from_disk((double)size);
		quartz_event(1);
	}
	return NULL;
}

/* What `quartzctl set PID threads=N` does, in a thread of libquartz. */
static int resize(long value, void *context)
{
	(void)context;
	pthread_mutex_lock(&lock);
	threads = value;
	pthread_cond_broadcast(&resized);
	pthread_mutex_unlock(&lock);
	return 0;
}

int main(int argc, char **argv)
{
	static long size;
	const struct quartz_knob knob = {
		.name = "threads",
		.value = &size,
		.least = 1,
		.most = MOST,
		.role = QUARTZ_KNOB_THREADS,
		.changed = resize,
	};

	if (argc > 1)
		best = atol(argv[1]);
	if (argc > 2)
		threads = atol(argv[2]);
	size = threads;
	if (best < 1 || quartz_knob(&knob)) {
		fprintf(stderr, "usage: pool [BEST [THREADS]], with 1 to %d threads\n", MOST);
		return 2;
	}
	for (long i = 0; i < MOST; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, work, (void *)i)) {
			fputs("pool: no more threads\n", stderr);
			return 1;
		}
	}
	printf("pool %d is ready\n", (int)getpid());
	fflush(stdout);
	pause();
	return 0;
}
