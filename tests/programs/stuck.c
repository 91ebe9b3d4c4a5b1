/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stuck FIFO: three threads that wait until a process writes to the FIFO. One reads it and holds
 * stuck_lock, for which the second one waits, for whose end the first one does. A fourth one computes
 * meanwhile.
 */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "tests/programs/truth.h"

static pthread_mutex_t stuck_lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t is_held;
static int fifo;
static atomic_bool is_written;

static void *read_holding(void *arg)
{
	char byte;

	pthread_mutex_lock(&stuck_lock);
	sem_post(&is_held);
	if (read(fifo, &byte, 1) != 1)
		die("read", errno);
	is_written = true;
	pthread_mutex_unlock(&stuck_lock);
	return NULL;
}

static void *take_lock(void *arg)
{
	pthread_mutex_lock(&stuck_lock);
	pthread_mutex_unlock(&stuck_lock);
	return NULL;
}

PROCEDURE static void *compute_meanwhile(void *arg)
{
	while (!is_written)
		compute_seconds(0.01);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t busy, holder, waiter;

	/* for writing as well, so that opening waits for no other */
	fifo = open(argc > 1 ? argv[1] : "", O_RDWR | O_CLOEXEC);
	if (fifo < 0)
		die("open", errno);
	sem_init(&is_held, 0, 0);
	check("pthread_create", pthread_create(&busy, NULL, compute_meanwhile, NULL));
	check("pthread_create", pthread_create(&holder, NULL, read_holding, NULL));
	sem_wait(&is_held);
	check("pthread_create", pthread_create(&waiter, NULL, take_lock, NULL));
	printf("about to wait\n");
	fflush(stdout);
	check("pthread_join", pthread_join(waiter, NULL));
	return 0; /* the others end with it: it waits for one end alone */
}
