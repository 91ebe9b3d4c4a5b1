/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Four threads and one lock, whose waiters wait in poll, each at an eventfd of its own, until the one that lets go of it wakes
 * the one that has waited longest. Who has it sleeps, or works.
 *
 *     latches sleep|work SECTIONS MS     sections of each thread, and how long each is
 *
 * Prints how often and how long threads waited: "truth waits N waited_ns N".
 */
#include <err.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4

struct waiter {
	int fd;
	struct waiter *next;
};

static struct {
	pthread_mutex_t mutex; /* of what follows, for moments */
	int taken;
	struct waiter *first, **last;
	uint64_t waits, waited_ns;
} lock = {.mutex = PTHREAD_MUTEX_INITIALIZER, .last = &lock.first};

static int sections, ms, works;

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static __attribute__((noinline)) void latch_wait(struct waiter *w)
{
	struct pollfd poll_fd = {.fd = w->fd, .events = POLLIN};
	uint64_t value;

	while (poll(&poll_fd, 1, -1) != 1 || read(w->fd, &value, sizeof(value)) != sizeof(value))
		;
}

static __attribute__((noinline)) void latch_acquire(struct waiter *w)
{
	uint64_t since = now(CLOCK_MONOTONIC);

	pthread_mutex_lock(&lock.mutex);
	if (!lock.taken) {
		lock.taken = 1;
		pthread_mutex_unlock(&lock.mutex);
		return;
	}
	w->next = NULL;
	*lock.last = w;
	lock.last = &w->next;
	pthread_mutex_unlock(&lock.mutex);
	latch_wait(w);
	__atomic_add_fetch(&lock.waits, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&lock.waited_ns, now(CLOCK_MONOTONIC) - since, __ATOMIC_RELAXED);
}

static __attribute__((noinline)) void latch_release(void)
{
	const uint64_t one = 1;
	struct waiter *w;

	pthread_mutex_lock(&lock.mutex);
	w = lock.first;
	if (w) { /* who is woken has it */
		lock.first = w->next;
		if (!lock.first)
			lock.last = &lock.first;
	} else {
		lock.taken = 0;
	}
	pthread_mutex_unlock(&lock.mutex);
	if (w && write(w->fd, &one, sizeof(one)) != sizeof(one))
		err(1, "write");
}

static __attribute__((noinline)) void use_row(void)
{
	uint64_t until = now(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)ms * 1000000;

	if (!works)
		usleep((unsigned int)ms * 1000);
	while (works && now(CLOCK_THREAD_CPUTIME_ID) < until)
		for (volatile int i = 0; i < 100000; i++)
			;
}

static __attribute__((noinline)) void update_row(struct waiter *w)
{
	latch_acquire(w);
	use_row();
	latch_release();
}

static void *client(void *unused)
{
	struct waiter w = {.fd = eventfd(0, 0)};

	for (int i = 0; i < sections; i++)
		update_row(&w);
	close(w.fd);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	if (argc != 4)
		errx(2, "sleep|work SECTIONS MS");
	works = !strcmp(argv[1], "work");
	sections = atoi(argv[2]);
	ms = atoi(argv[3]);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, client, NULL))
			errx(1, "pthread_create");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("truth waits %llu waited_ns %llu\n", (unsigned long long)lock.waits,
	       (unsigned long long)lock.waited_ns);
	return 0;
}
