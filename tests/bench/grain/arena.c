/* SPDX-License-Identifier: GPL-2.0-only */
/* Four threads that allocate all the time; the argument is how many arenas malloc has for them: 1. */
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define TURNS 1500000

static void *run(void *argument)
{
	char *kept[16] = {0};

	for (long i = 0; i < TURNS; i++) {
		char **slot = &kept[i % 16];

		free(*slot);
		*slot = malloc(200 + i % 700);
		if (*slot)
			memset(*slot, (int)i, 32);
	}
	for (int i = 0; i < 16; i++)
		free(kept[i]);
	return argument;
}

int main(int argc, char **argv)
{
	pthread_t threads[4];

	mallopt(M_ARENA_MAX, argc > 1 ? atoi(argv[1]) : 1);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
