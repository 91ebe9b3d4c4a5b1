/* SPDX-License-Identifier: GPL-2.0-only */
#include <pthread.h>

void *other_namesake(void);

static pthread_mutex_t namesake = PTHREAD_MUTEX_INITIALIZER;

void *other_namesake(void)
{
	return &namesake;
}
