/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * arena SECONDS: four threads allocate and free blocks that are too large for a thread's cache, in bursts. With
 * MALLOC_ARENA_MAX=1 they wait for one lock.
 */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/truth.h"

#define THREADS 4
#define BLOCKS	64
#define BURST	20 /* times all blocks */
#define REST_US 2000

static time_t end;

static time_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec;
}

static void *allocate(void *arg)
{
	void *volatile blocks[BLOCKS]; /* lest the compiler leave the calls out */

	(void)arg;
	while (now() < end) {
		for (int i = 0; i < BURST; i++) {
			for (int k = 0; k < BLOCKS; k++)
				blocks[k] = malloc(2000 + 16 * (size_t)k);
			for (int k = 0; k < BLOCKS; k++)
				free(blocks[k]);
		}
		usleep(REST_US);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	end = now() + count_argument(argc, argv, 1, 10);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, allocate, NULL))
			die("pthread_create", EAGAIN);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
