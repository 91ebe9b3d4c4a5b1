/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * steps ITEMS BATCH: one thread makes items, another one works on them. So many of them are handed over at once: with 1, each
 * step of work is smaller than what it costs to hand it over.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t full = PTHREAD_COND_INITIALIZER, empty = PTHREAD_COND_INITIALIZER;
static uint64_t *box; /* what is handed over */
static long in_box;   /* items */
static long items, batch;

/* About a microsecond. */
static uint64_t work(uint64_t item)
{
	for (int i = 0; i < 1000; i++)
		item = item * 6364136223846793005u + 1442695040888963407u;
	return item;
}

static void put(const uint64_t *from, long n)
{
	pthread_mutex_lock(&lock);
	while (in_box)
		pthread_cond_wait(&empty, &lock);
	for (long i = 0; i < n; i++)
		box[i] = from[i];
	in_box = n;
	pthread_cond_signal(&full);
	pthread_mutex_unlock(&lock);
}

static long take(uint64_t *to)
{
	long n;

	pthread_mutex_lock(&lock);
	while (!in_box)
		pthread_cond_wait(&full, &lock);
	n = in_box;
	for (long i = 0; i < n; i++)
		to[i] = box[i];
	in_box = 0;
	pthread_cond_signal(&empty);
	pthread_mutex_unlock(&lock);
	return n;
}

static void *consume(void *mine)
{
	uint64_t sum = 0;

	for (long done = 0, n; done < items; done += n) {
		n = take(mine);
		for (long i = 0; i < n; i++)
			sum += work(((uint64_t *)mine)[i]);
	}
	printf("sum %016llx\n", (unsigned long long)sum);
	return NULL;
}

static void produce(uint64_t *mine)
{
	long n = 0;

	for (long i = 0; i < items; i++) {
		mine[n++] = work((uint64_t)i);
		if (n == batch || i == items - 1) {
			put(mine, n);
			n = 0;
		}
	}
}

int main(int argc, char **argv)
{
	pthread_t consumer;
	uint64_t *room;

	items = argc > 1 ? atol(argv[1]) : 0;
	batch = argc > 2 ? atol(argv[2]) : 0;
	if (items < 1 || batch < 1 || batch > items) {
		fprintf(stderr,
			"usage: steps ITEMS BATCH, both at least 1, no batch larger than all\n");
		return 2;
	}
	room = calloc((size_t)batch, 3 * sizeof(*room));
	if (!room || pthread_create(&consumer, NULL, consume, room + batch)) {
		perror("steps");
		return 1;
	}
	box = room + 2 * batch;
	produce(room);
	pthread_join(consumer, NULL);
	free(room);
	return 0;
}
