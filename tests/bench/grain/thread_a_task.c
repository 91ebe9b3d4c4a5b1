/* SPDX-License-Identifier: GPL-2.0-only */
/* Tasks of some microseconds; the argument is how many of them a thread does before it ends. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define TASKS 24000

static long step;

static double task(long n)
{
	double sum = 0;

	for (int i = 1; i < 400; i++)
		sum += sin((double)n * i);
	return sum;
}

static void *work(void *first)
{
	static __thread double sum;

	for (long i = 0; i < step; i++)
		sum += task((long)first + i);
	return NULL;
}

int main(int argc, char **argv)
{
	step = argc > 1 ? atol(argv[1]) : 1;
	for (long i = 0; i < TASKS; i += 2 * step) {
		pthread_t threads[2];

		for (int k = 0; k < 2; k++)
			if (pthread_create(&threads[k], NULL, work, (void *)(i + k * step)))
				return 1;
		for (int k = 0; k < 2; k++)
			pthread_join(threads[k], NULL);
	}
	return 0;
}
