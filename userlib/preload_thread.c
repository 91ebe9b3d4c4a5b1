// SPDX-License-Identifier: LGPL-2.1-only
/* Threads: each gets its slot at once, and works for the procedures that created it. */
#include <pthread.h>
#include <stdlib.h>

#include "userlib/preload.h"

struct beginning {
	void *(*start)(void *);
	void *argument;
	uint32_t task;
};

static void *begin(void *context)
{
	struct beginning b = *(struct beginning *)context;

	free(context);
	quartz_connect();
	quartz_task_begin(b.task);
	return b.start(b.argument);
}

/* Without memory, the thread is created unchanged. */
exported int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
			    void *argument)
{
	struct beginning *b = malloc(sizeof(*b));
	int err;

	if (!b)
		return real(pthread_create)(thread, attr, start, argument);
	*b = (struct beginning) {start, argument, quartz_task_capture()};
	err = real(pthread_create)(thread, attr, begin, b);
	if (err)
		free(b);
	return err;
}

exported int pthread_join(pthread_t thread, void **result)
{
	WAITING(BLOCKED, NULL);
	return real(pthread_join)(thread, result);
}

exported int pthread_setname_np(pthread_t thread, const char *name)
{
	int err = real(pthread_setname_np)(thread, name);

	if (!err && pthread_equal(thread, pthread_self()))
		quartz_thread_name(name);
	return err;
}

void quartz_preloaded_(void);

__attribute__((constructor)) static void start(void)
{
	quartz_preloaded_();
}
