/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libc_waits [N]: two threads take turns with a mutex N times, one waits for a condition and one for a semaphore, once and
 * for 0.2 s each. Nothing of it depends on the C library, so that a test can build it with another one.
 */
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include "tests/programs/truth.h"

pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER, state_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t state_changed = PTHREAD_COND_INITIALIZER;
sem_t free_slots;
static int state;
static long rounds;

PROCEDURE static void hold(void)
{
	compute_seconds(0.002);
}

PROCEDURE static void take_lock(void)
{
	pthread_mutex_lock(&queue_lock);
	hold();
	pthread_mutex_unlock(&queue_lock);
}

static void *take_locks(void *arg)
{
	for (long i = 0; i < rounds; i++)
		take_lock();
	return arg;
}

PROCEDURE static void wait_for_state(void)
{
	pthread_mutex_lock(&state_lock);
	while (!state)
		pthread_cond_wait(&state_changed, &state_lock);
	pthread_mutex_unlock(&state_lock);
}

static void *await_state(void *arg)
{
	wait_for_state();
	return arg;
}

PROCEDURE static void wait_for_slot(void)
{
	while (sem_wait(&free_slots))
		;
}

static void *await_slot(void *arg)
{
	wait_for_slot();
	return arg;
}

int main(int argc, char **argv)
{
	void *(*const starts[])(void *) = {await_state, await_slot, take_locks, take_locks};
	pthread_t threads[4];

	rounds = count_argument(argc, argv, 1, 100);
	sem_init(&free_slots, 0, 0);
	for (int i = 0; i < 4; i++)
		check("pthread_create", pthread_create(&threads[i], NULL, starts[i], NULL));
	usleep(200000);
	pthread_mutex_lock(&state_lock);
	state = 1;
	pthread_cond_signal(&state_changed);
	pthread_mutex_unlock(&state_lock);
	sem_post(&free_slots);
	for (int i = 0; i < 4; i++)
		check("pthread_join", pthread_join(threads[i], NULL));
	return 0;
}
