/* SPDX-License-Identifier: GPL-2.0-only */
/* A producer and a consumer with a queue that has a lock; the argument is how many items are handed over at once. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define ITEMS 3000000
#define ROOM  4096

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static long queue[ROOM];
static long head, tail, step;

static long make(long i)
{
	for (int k = 0; k < 20; k++)
		i = i * 6364136223846793005L + 1442695040888963407L;
	return i;
}

static void *produce(void *unused)
{
	long items[ROOM];

	for (long i = 0; i < ITEMS; i += step) {
		for (long k = 0; k < step; k++)
			items[k] = make(i + k);
		pthread_mutex_lock(&lock);
		while (tail + step - head > ROOM)
			pthread_cond_wait(&changed, &lock);
		for (long k = 0; k < step; k++)
			queue[tail++ % ROOM] = items[k];
		pthread_cond_signal(&changed);
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

int main(int argc, char **argv)
{
	long items[ROOM], sum = 0;
	pthread_t thread;

	step = argc > 1 ? atol(argv[1]) : 1;
	if (pthread_create(&thread, NULL, produce, NULL))
		return 1;
	for (long i = 0; i < ITEMS; i += step) {
		pthread_mutex_lock(&lock);
		while (tail - head < step)
			pthread_cond_wait(&changed, &lock);
		for (long k = 0; k < step; k++)
			items[k] = queue[head++ % ROOM];
		pthread_cond_signal(&changed);
		pthread_mutex_unlock(&lock);
		for (long k = 0; k < step; k++)
			sum += make(items[k]);
	}
	pthread_join(thread, NULL);
	printf("%ld\n", sum);
	return 0;
}
