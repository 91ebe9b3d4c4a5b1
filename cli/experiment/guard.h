/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process that undoes what an experiment has changed in other processes, if the experiment is killed before it has done
 * so itself.
 */
#ifndef QUARTZ_CLI_EXPERIMENT_GUARD_H
#define QUARTZ_CLI_EXPERIMENT_GUARD_H

#include <sys/types.h>

struct guard {
	int fd;	   /* held open as long as this process lives */
	pid_t pid; /* 0: there is none */
};

/* It calls undo(context), of this moment, when this process has died; else guard__end must follow. 0 or -errno. */
int guard__start(struct guard *g, void (*undo)(void *context), void *context);

/* After all was undone, or is to stay. Also where guard__start was not called or has failed. */
void guard__end(struct guard *g);

#endif
