/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The code around a progress loop that is known by name: procedures of communication libraries without a name, which call it again
 * and again until something has come. A thread that was seen in the call, and then in the code that has made it, called from the
 * same places all the way, has not come back from there: it still waits. Pure.
 */
#ifndef QUARTZ_DAEMON_AROUND_H
#define QUARTZ_DAEMON_AROUND_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/attribution/threads.h"

/* By a stack: 0 stands for none. */
struct around {
	/*
	 * Of a stack within a progress loop: by what places that was called, which code on the way into it was as well; its caller; and
	 * the caller of that. All are of such libraries.
	 */
	uint64_t callers[AROUND_CALLERS];
	uint64_t
		leaf; /* of code of such a library that runs itself: by what places that was called */
	bool elsewhere; /* code of others, which is no part of it */
};

/* Takes in the next sample of a thread, in the order of time, and returns whether it waits around a progress loop. */
bool around__takes(struct thread *t, const struct around *a);

#endif
