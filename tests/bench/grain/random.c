/* SPDX-License-Identifier: GPL-2.0-only */
/* Four threads with random numbers: of the C library, or each with a state of its own. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define TURNS 15000000

static volatile int sink;
static int own;

static void *run(void *argument)
{
	unsigned int seed = (unsigned int)(uintptr_t)argument;
	int sum = 0;

	for (int i = 0; i < TURNS; i++)
		sum ^= own ? rand_r(&seed) : rand();
	sink = sum;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[4];

	own = argc > 1 && argv[1][0] == 'o';
	for (uintptr_t i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
