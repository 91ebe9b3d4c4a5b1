/* SPDX-License-Identifier: GPL-2.0-only */
/* A mutex that is held until the end of the block, however it is left. */
#ifndef QUARTZ_DAEMON_GUARD_H
#define QUARTZ_DAEMON_GUARD_H

#include <pthread.h>

static inline pthread_mutex_t *guard__lock(pthread_mutex_t *mutex)
{
	pthread_mutex_lock(mutex);
	return mutex;
}

static inline void guard__unlock(pthread_mutex_t **mutex)
{
	pthread_mutex_unlock(*mutex);
}

#define GUARD(mutex)                                                                               \
	pthread_mutex_t *guard __attribute__((cleanup(guard__unlock), unused)) = guard__lock(mutex)

#endif
