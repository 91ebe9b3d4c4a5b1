/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Figures of a thread that waits for events, from the scheduler's log: core/replay/grain.c. A turn is the time from the end
 * of one wait in poll, select or epoll to the beginning of the next one; for a worker of a runtime (core/model/workers.h), waits
 * at futex words end a turn, too. Within a turn the thread may have polled without having to wait.
 */
#ifndef QUARTZ_LOOP_COUNTERS_H
#define QUARTZ_LOOP_COUNTERS_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/*
 * A turn that takes so long, without the time in which the thread had no processor, is a block: the loop answered nothing
 * meanwhile.
 */
#define QZ_LOOP_BLOCK_NS 10000000

/* A thread with fewer turns is not an event loop. */
#define QZ_LOOP_LEAST_TURNS 20

struct qz_loop {
	__u64 turns, turn_ns;	/* all: it ran, or waited for something else */
	__u64 blocks, block_ns; /* of these, those that were blocks */
	__u64 block_waited_ns;	/* of block_ns, it waited */
	__u64 block_ready_ns;	/* beside block_ns: it had no processor in them */
	__u64 longest_ns;	/* of the longest block */
};

#endif
