/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * waits: a thread waits for each kind of object, and one holds a mutex. Prints "KIND ADDRESS TID" of
 * each; lets all go when it has read a byte or the end. Knows nothing of Quartz.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, cond_mutex = PTHREAD_MUTEX_INITIALIZER,
		       held = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t readers = PTHREAD_RWLOCK_INITIALIZER, writers = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_spinlock_t spin;
static sem_t sem;
static int done;

static void say(const char *kind, const volatile void *object)
{
	printf("%s %p %d\n", kind, (const void *)object, gettid());
	fflush(stdout);
}

static void *wait_mutex(void *unused)
{
	pthread_setname_np(pthread_self(), "waiter");
	say("mutex", &mutex);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void *wait_reader(void *unused)
{
	say("rwlock", &readers);
	pthread_rwlock_rdlock(&readers);
	pthread_rwlock_unlock(&readers);
	return NULL;
}

static void *wait_writer(void *unused)
{
	say("rwlock", &writers);
	pthread_rwlock_wrlock(&writers);
	pthread_rwlock_unlock(&writers);
	return NULL;
}

static void *wait_cond(void *unused)
{
	pthread_mutex_lock(&cond_mutex);
	say("cond", &cond);
	while (!done)
		pthread_cond_wait(&cond, &cond_mutex);
	pthread_mutex_unlock(&cond_mutex);
	return NULL;
}

static void *wait_barrier(void *unused)
{
	say("barrier", &barrier);
	pthread_barrier_wait(&barrier);
	return NULL;
}

static void *wait_spin(void *unused)
{
	say("spin", &spin);
	pthread_spin_lock(&spin);
	pthread_spin_unlock(&spin);
	return NULL;
}

static void *wait_sem(void *unused)
{
	say("semaphore", &sem);
	sem_wait(&sem);
	return NULL;
}

static void *hold(void *end)
{
	char c;

	pthread_mutex_lock(&held);
	say("held", &held);
	while (read(*(int *)end, &c, 1) > 0)
		;
	pthread_mutex_unlock(&held);
	return NULL;
}

static void take_all(void)
{
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	sem_init(&sem, 0, 0);
	pthread_mutex_lock(&mutex);
	pthread_rwlock_wrlock(&readers);
	pthread_rwlock_rdlock(&writers);
	pthread_spin_lock(&spin);
}

static void release_all(void)
{
	pthread_mutex_unlock(&mutex);
	pthread_rwlock_unlock(&readers);
	pthread_rwlock_unlock(&writers);
	pthread_spin_unlock(&spin);
	sem_post(&sem);
	pthread_mutex_lock(&cond_mutex);
	done = 1;
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&cond_mutex);
	pthread_barrier_wait(&barrier);
}

int main(void)
{
	void *(*const starts[])(void *) = {wait_mutex,	 wait_reader, wait_writer, wait_cond,
					   wait_barrier, wait_spin,   wait_sem,	   hold};
	enum { COUNT = sizeof(starts) / sizeof(starts[0]) };
	pthread_t threads[COUNT];
	int end[2];
	char c;

	if (pipe(end))
		return 1;
	take_all();
	for (int i = 0; i < COUNT; i++)
		if (pthread_create(&threads[i], NULL, starts[i], &end[0]))
			return 1;
	if (read(0, &c, 1) < 0)
		return 1;
	release_all();
	close(end[1]);
	for (int i = 0; i < COUNT; i++)
		pthread_join(threads[i], NULL);
	puts("done");
	return 0;
}
