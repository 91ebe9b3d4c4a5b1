/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What quartzd has no right to itself, and what others can make it wait for: files, memory and
 * descriptors of their processes. The openers, processes of their own (daemon/keeper.h), do it, as
 * many at a time as there are threads that ask. One that does not answer within two seconds is ended,
 * and what it was asked for is not asked for again; so that one target does not stop the others.
 *
 * Where keeper__start was not called, as in unit tests, the caller's own rights are used. Any thread.
 */
#ifndef QUARTZ_DAEMON_OPENER_H
#define QUARTZ_DAEMON_OPENER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/opener_work.h"
#include "daemon/sample_event.h"

/* Speaks by this socket to the keeper from now on, which starts and ends openers. */
void opener__use(int keeper);

/* To be watched for its end (POLLHUP), after which nothing can be opened any more. -1: not used. */
int opener__keeper(void);

/* All take a descriptor of /proc/PID. Those that give a descriptor or a length give -errno otherwise. */
int opener__maps(int dir);
ssize_t opener__memory(int dir, uint64_t start, void *to, size_t size);
ssize_t opener__text(int dir, enum opener_what what, int number, char *to, size_t size);
int opener__perf_map(int dir, pid_t pid);
int opener__wake(int dir);

/*
 * Of the file that is mapped at a place, one to read. Device and inode are those that were mapped
 * there; it may be another one by now.
 */
struct opener_file {
	uint64_t start, end, inode;
	uint32_t major, minor;
};
int opener__file(int dir, const struct opener_file *file);

/* Gives a descriptor, with an offset of its own, to read what fd is; fd stays open. */
int opener__reopen(int fd);

/*
 * Starts quartz-symbolizer with one end of a socket pair, of which *socket is the other one. Gives its
 * process, -ENOSYS when there is no keeper, or -errno.
 */
pid_t opener__start_symbolizer(int *socket, int *pidfd);

/* Of one that was started so. It is reaped, too. */
void opener__kill(pid_t pid);

/* As sample_event__open(), with the rights of the keeper; -EACCES when there is none. */
int opener__sample_event(const struct sample_event *event);

struct opener_counts {
	uint64_t late;	/* requests that were not answered in time */
	uint64_t ended; /* openers that ended by themselves, or were killed by others */
};
struct opener_counts opener__counts(void);

/* Processor time of the openers, those that have ended included. */
uint64_t opener__cpu_ns(void);

#endif
