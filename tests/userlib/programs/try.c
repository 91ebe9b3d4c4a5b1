/* SPDX-License-Identifier: GPL-2.0-only */
/* What kinds mutexes have after they were locked. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t usual = PTHREAD_MUTEX_INITIALIZER, recursive;

static void *lock(void *context)
{
	pthread_mutex_lock(&usual);
	pthread_mutex_unlock(&usual);
	return context;
}

int main(void)
{
	pthread_mutexattr_t attributes;
	pthread_t other;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&recursive, &attributes);
	for (int i = 0; i < 2; i++)
		pthread_mutex_lock(&recursive);
	pthread_mutex_lock(&usual);
	pthread_create(&other, NULL, lock, NULL);
	pthread_mutex_unlock(&usual);
	pthread_join(other, NULL);
	printf("%s, %s\n",
	       usual.__data.__kind == PTHREAD_MUTEX_ADAPTIVE_NP ? "adaptive"
	       : usual.__data.__kind == PTHREAD_MUTEX_TIMED_NP	? "default"
								: "another",
	       recursive.__data.__kind == PTHREAD_MUTEX_RECURSIVE_NP ? "recursive" : "another");
	return 0;
}
