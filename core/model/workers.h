/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads that share the tasks of a runtime. */
#ifndef QUARTZ_CORE_WORKERS_H
#define QUARTZ_CORE_WORKERS_H

#include <stdbool.h>
#include <string.h>

/*
 * Whether a thread of this name may be one of the workers of which one polls for all, while the others wait at futex words. tokio
 * calls them tokio-runtime-worker, later tokio-rt-worker, unless it is told another name, and so the threads of its pool for
 * calls that block, which do not poll.
 */
static inline bool qz_worker__has_name(const char *comm)
{
	static const char tokio[] = "tokio-r";

	return !strncmp(comm, tokio, sizeof(tokio) - 1);
}

#endif
