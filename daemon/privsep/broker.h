/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The keeper: the process that keeps the rights that quartzd gives up: it starts openers, a waker and symbolizers, ends them, and
 * opens perf events. It reads nothing that others made, and does nothing else. All of them end with quartzd.
 */
#ifndef QUARTZ_DAEMON_BROKER_H
#define QUARTZ_DAEMON_BROKER_H

#include <stdint.h>
#include <sys/types.h>

#include "daemon/privsep/sample_event.h"
#include "daemon/privsep/seccomp.h"

enum keeper_what {
	KEEPER_START, /* a helper; gives a socket, which is closed when it has ended */
	KEEPER_KILL,  /* one of its own */
	KEEPER_EVENT, /* gives a perf event */
};

/* The answer is an int32_t: 0 or more, a pid where one is started, or -errno; -EAGAIN while too many cannot even be killed. */
struct broker_request {
	uint32_t what;
	uint32_t job; /* enum helper_job */
	int32_t pid;
	struct sample_event event;
};

/*
 * Before there are threads, and before quartzd gives anything up. symbolizer: the program, the only
 * one that it ever executes. niceness: of all of them, added to quartzd's. 0 or -errno.
 */
int broker__start(const char *symbolizer, int niceness);

/*
 * What the keeper does when it is asked for a process; where there is none, quartzd itself, for a symbolizer.
 * Its pid, and its socket, or -errno.
 */
pid_t broker__spawn(enum helper_job job, const char *symbolizer, int *given);

#endif
