/* SPDX-License-Identifier: GPL-2.0-only */
/* Jobs of a thread, one after another; the argument is for how long it sleeps between two looks, in us. 0: it is woken. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define JOBS 200

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static int waiting, ended;
static useconds_t nap;
static volatile double sink;

static void work(void)
{
	for (int i = 0; i < 400000; i++)
		sink += i;
}

static void look_again(void)
{
	if (!nap) {
		pthread_cond_wait(&more, &lock);
		return;
	}
	pthread_mutex_unlock(&lock);
	usleep(nap);
	pthread_mutex_lock(&lock);
}

static void *serve(void *unused)
{
	pthread_mutex_lock(&lock);
	while (waiting || !ended) {
		if (!waiting) {
			look_again();
			continue;
		}
		pthread_mutex_unlock(&lock);
		work();
		pthread_mutex_lock(&lock);
		waiting = 0;
		pthread_cond_signal(&done);
	}
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t server;

	nap = argc > 1 ? (useconds_t)atol(argv[1]) : 10000;
	if (pthread_create(&server, NULL, serve, NULL))
		return 1;
	for (int i = 0; i < JOBS; i++) {
		pthread_mutex_lock(&lock);
		waiting = 1;
		pthread_cond_signal(&more);
		while (waiting)
			pthread_cond_wait(&done, &lock);
		pthread_mutex_unlock(&lock);
		work();
	}
	pthread_mutex_lock(&lock);
	ended = 1;
	pthread_cond_signal(&more);
	pthread_mutex_unlock(&lock);
	return pthread_join(server, NULL);
}
