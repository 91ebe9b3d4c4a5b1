/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Opens what quartzd itself has no right to, or would have to wait for: files, memory and descriptors of other processes.
 * Openers, separate processes (daemon/privsep/broker.h), do this, one for each thread that makes requests. An opener that
 * does not answer within two seconds is killed, and its request is not repeated, so that one target does not stop the
 * others.
 *
 * Where broker__start was not called, as in unit tests, the caller's own rights are used. Any thread.
 */
#ifndef QUARTZ_DAEMON_OPENER_H
#define QUARTZ_DAEMON_OPENER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/privsep/broker.h"
#include "daemon/privsep/opener_worker.h"

/* Sets the socket and pid of the keeper, a process that starts and ends openers. 0: there is none. */
void opener__use(int keeper, pid_t pid);

/* To be watched for its end (POLLHUP), after which nothing can be opened any more. -1: not used. */
int opener__keeper(void);

/* All take a descriptor of /proc/PID. Those that give a descriptor or a length give -errno otherwise. */
int opener__maps(int dir);
ssize_t opener__memory(int dir, uint64_t start, void *to, size_t size);
ssize_t opener__text(int dir, enum opener_what what, int number, char *to, size_t size);
int opener__wake(int dir);

/* What gives a descriptor: OPENER_FILE, OPENER_PERF_MAP, and of fd, which stays open, OPENER_REOPEN and OPENER_COMPANION. */
int opener__file(int fd, struct opener_request request);

/* A process that the keeper has started. All 0 to begin with. */
struct helper {
	pid_t pid; /* 0: none is there */
	int socket;
	enum helper_job job;
	uint64_t cpu_ns;   /* of all that were there, at the last look */
	uint64_t ended_ns; /* of those that have ended */
};

/*
 * Starts one at the other end of the socket. Where there is no keeper, a symbolizer, which is this program,
 * is quartzd's own child. 0 or -errno.
 */
int opener__start(struct helper *h, enum helper_job job, const char *symbolizer);

/* Kills it and has it reaped; no effect if there is none. */
void opener__end(struct helper *h);

/* Processor time of the one that is there, and of those before. */
uint64_t opener__cpu_of(struct helper *h);

/*
 * A keeper that does not answer, for example because it is stopped, gets no more requests until it has answered: what needs
 * it fails with -EAGAIN. This is detected within seconds, or, with `hurry`, at once: when quartzd is to end, which ends the
 * keeper and all of its processes.
 */
void opener__hurry(bool hurry);

/* As sample_event__open(), with the rights of the keeper; -EACCES when there is none. */
int opener__sample_event(const struct sample_event *event);

/* Whether the keeper has answered again after it had not, since the caller's last look, kept in *known. */
bool opener__came_back(uint32_t *known);

struct opener_counts {
	uint64_t late;	/* requests that were not answered in time */
	uint64_t ended; /* openers that ended by themselves, or were killed by others */
	bool keeper_late;
};
struct opener_counts opener__counts(void);

/* How many ms a request may take, after `late` ones that took too long within a minute. */
int opener__patience(uint32_t late);

/* Processor time of the openers, those that have ended included. */
uint64_t opener__cpu_ns(void);

#endif
