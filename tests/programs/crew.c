/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * crew [THREADS [CHUNK]]: does one piece of work after the other, until its input ends. Each has ITEMS items, which the threads take
 * by chunks under a mutex; who finds none spins until all are done. Both numbers are knobs; a piece that is done is an event.
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "userlib/quartz.h"

#define MOST  16
#define ITEMS 4096

static long threads = 2, chunk = 64; /* of the knobs */
static long size, step;		     /* of this piece */
static unsigned int piece;	     /* number of it: 0 before the first */
static long next, resting;	     /* the former under the lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void do_item(void)
{
	for (volatile int i = 0; i < 100; i++)
		;
}

static long take_items(void)
{
	long first;

	pthread_mutex_lock(&lock);
	first = next;
	next += step;
	pthread_mutex_unlock(&lock);
	return first;
}

static void do_items(void)
{
	for (long first; (first = take_items()) < ITEMS;)
		for (long i = first; i < first + step && i < ITEMS; i++)
			do_item();
}

static void wait_for_piece(unsigned int done)
{
	while (__atomic_load_n(&piece, __ATOMIC_ACQUIRE) == done)
		;
}

static void wait_for_others(void)
{
	while (__atomic_load_n(&resting, __ATOMIC_ACQUIRE) < size - 1)
		;
}

/* A thread that ends when its number is beyond the size. */
static void *work(void *number)
{
	unsigned int done = __atomic_load_n(&piece, __ATOMIC_ACQUIRE);

	for (;;) {
		__atomic_add_fetch(&resting, 1, __ATOMIC_RELEASE);
		wait_for_piece(done++);
		if ((long)number >= size)
			return NULL;
		do_items();
	}
}

/* All others rest. */
static void resize(pthread_t *crew)
{
	long before = size;

	size = threads;
	step = chunk;
	next = 0;
	resting = 0;
	__atomic_add_fetch(&piece, 1, __ATOMIC_RELEASE);
	for (long i = size; i < before; i++)
		pthread_join(crew[i], NULL);
	for (long i = before > 1 ? before : 1; i < size; i++)
		pthread_create(&crew[i], NULL, work, (void *)i);
}

static int add(const char *name, long *value, long least, long most, enum quartz_knob_role role)
{
	return quartz_knob(&(struct quartz_knob) {
		.name = name, .value = value, .least = least, .most = most, .role = role});
}

int main(int argc, char **argv)
{
	struct pollfd input = {.fd = 0, .events = POLLIN};
	pthread_t crew[MOST];

	if (argc > 1)
		threads = atol(argv[1]);
	if (argc > 2)
		chunk = atol(argv[2]);
	if (add("threads", &threads, 1, MOST, QUARTZ_KNOB_THREADS) ||
	    add("chunk", &chunk, 1, ITEMS, QUARTZ_KNOB_CHUNK))
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	size = 1;
	while (!poll(&input, 1, 0)) {
		quartz_knob_point();
		resize(crew);
		do_items();
		wait_for_others();
		quartz_event(1);
	}
	return 0;
}
