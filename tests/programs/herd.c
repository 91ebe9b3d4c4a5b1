/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * herd broadcast|signal|epoll|exclusive [ITEMS [THREADS]]: threads wait for items, which come one by one: at a condition, all
 * or one of which are woken, or at a descriptor with an epoll instance for each. Prints how often one woke up and
 * found nothing.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tests/programs/truth.h"

#define TURNS 100000 /* of work for an item */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static long items; /* that are there; -1: no more come */
static atomic_long taken, futile, left;
static atomic_bool ended;
static int event;
static bool exclusive;

PROCEDURE static void work(void)
{
	compute_turns(TURNS);
	atomic_fetch_add(&taken, 1);
}

PROCEDURE static void *wait_at_condition(void *unused)
{
	for (;;) {
		pthread_mutex_lock(&lock);
		while (!items) {
			pthread_cond_wait(&condition, &lock);
			if (!items)
				atomic_fetch_add(&futile, 1);
		}
		if (items < 0)
			break;
		items--;
		pthread_mutex_unlock(&lock);
		work();
	}
	pthread_mutex_unlock(&lock);
	return unused;
}

/* The value of the event is the number of items. */
PROCEDURE static void *wait_at_epoll(void *unused)
{
	struct epoll_event e = {.events = EPOLLIN | (exclusive ? EPOLLEXCLUSIVE : 0)};
	int epoll = epoll_create1(0);
	uint64_t item;

	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, event, &e))
		die("epoll", errno);
	for (;;) {
		if (epoll_wait(epoll, &e, 1, -1) != 1)
			continue;
		if (read(event, &item, sizeof(item)) != sizeof(item)) {
			atomic_fetch_add(&futile, 1);
			continue;
		}
		if (atomic_load(&ended))
			break;
		work();
	}
	atomic_fetch_add(&left, 1);
	return unused;
}

static void pause_between(void)
{
	struct timespec pause = {0, 300000};

	nanosleep(&pause, NULL);
}

static void give_at_condition(bool all, long value)
{
	pthread_mutex_lock(&lock);
	items = value < 0 ? value : items + value;
	if (all || value < 0)
		pthread_cond_broadcast(&condition);
	else
		pthread_cond_signal(&condition);
	pthread_mutex_unlock(&lock);
}

static void give_at_epoll(uint64_t n)
{
	if (write(event, &n, sizeof(n)) != sizeof(n))
		die("write", errno);
}

/* One after the other: where one is woken alone, others may not be. */
static void end_at_epoll(long threads)
{
	for (long i = 0; i < threads; i++) {
		give_at_epoll(1);
		while (atomic_load(&left) <= i)
			pause_between();
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	bool epoll = !strcmp(how, "epoll") || !strcmp(how, "exclusive");
	bool all = !strcmp(how, "broadcast");
	long n = count_argument(argc, argv, 2, 2000), threads = count_argument(argc, argv, 3, 16);
	pthread_t *pool = calloc((size_t)threads, sizeof(*pool));

	if (!pool || (!epoll && !all && strcmp(how, "signal")))
		die(how, EINVAL);
	exclusive = !strcmp(how, "exclusive");
	event = eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK);
	for (long i = 0; i < threads; i++)
		check("pthread_create",
		      pthread_create(&pool[i], NULL, epoll ? wait_at_epoll : wait_at_condition,
				     NULL));
	for (long i = 0; i < n; i++) {
		pause_between();
		if (epoll)
			give_at_epoll(1);
		else
			give_at_condition(all, 1);
	}
	while (atomic_load(&taken) < n)
		pause_between();
	printf("herd %s items %ld futile %ld\n", how, n, atomic_load(&futile));
	atomic_store(&ended, true);
	if (epoll)
		end_at_epoll(threads);
	else
		give_at_condition(true, -1);
	for (long i = 0; i < threads; i++)
		pthread_join(pool[i], NULL);
	free(pool);
	return 0;
}
