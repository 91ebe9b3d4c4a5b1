/* SPDX-License-Identifier: GPL-2.0-only */
/* Four threads that need 64 KiB for each of their turns: the argument is whether they map it for each, or once. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define TURNS 20000
#define SIZE  65536

static char how;
static volatile uint64_t sink;

static unsigned char *map(void)
{
	unsigned char *memory =
		mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		exit(1);
	return memory;
}

static void *run(void *argument)
{
	unsigned char *memory = how == 'e' ? NULL : map();
	uint64_t sum = 0;

	for (int i = 0; i < TURNS; i++) {
		if (how == 'e')
			memory = map();
		for (int k = 0; k < SIZE; k += 4096)
			sum += ++memory[k];
		if (how == 'e')
			munmap(memory, SIZE);
	}
	sink = sum;
	return argument;
}

int main(int argc, char **argv)
{
	pthread_t threads[4];

	how = argc > 1 ? argv[1][0] : 'e'; /* each or once */
	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, run, NULL))
			return 1;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
