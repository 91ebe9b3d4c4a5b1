/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The process that keeps the rights that quartzd gives up: it starts openers and symbolizers, ends them, and
 * opens perf events. It looks at nothing that others made, and does nothing else. All of them end with quartzd.
 */
#ifndef QUARTZ_DAEMON_KEEPER_H
#define QUARTZ_DAEMON_KEEPER_H

#include <stdint.h>

#include "daemon/sample_event.h"

enum keeper_what {
	KEEPER_OPENER,	   /* gives a socket */
	KEEPER_SYMBOLIZER, /* gives a socket and a pidfd */
	KEEPER_KILL,	   /* one of its own */
	KEEPER_EVENT,	   /* gives a perf event */
};

/* The answer is an int32_t: a pid, 0 or -errno; -EAGAIN while too many cannot even be killed. */
struct keeper_request {
	uint32_t what;
	int32_t pid;
	struct sample_event event;
};

/*
 * Before there are threads, and before quartzd gives anything up. symbolizer: the program, the only
 * one that it ever executes. niceness: of all of them, added to quartzd's. 0 or -errno.
 */
int keeper__start(const char *symbolizer, int niceness);

#endif
