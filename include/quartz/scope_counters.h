/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What BPF programs count of a scope. quartzd copies the struct whole, and the profile's scope has it as it
 * is: each member needs a row in core/model/fields.c, and is in snapshot files and in JSON then.
 */
#ifndef QUARTZ_SCOPE_COUNTERS_H
#define QUARTZ_SCOPE_COUNTERS_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/*
 * Work between hand-overs, by powers of two of microseconds: [0] is below 1, [1] below 2, [2] below 4, and the last one is
 * for all beyond.
 */
#define QZ_GRAINS 24

struct qz_scope_counters {
	__u64 threads_seen;   /* threads that lived in the window */
	__u64 creations;      /* thread and process starts inside the window */
	__u64 creations_lost; /* of these, without the creator's stack, for want of room */
	/*
	 * Samples in rounds of which it is not known who was busy: impossible ones, and those that were moved for
	 * them, see daemon/collect/round_join.h. Counted by quartzd. (Version 0.1.0: those that found their processor
	 * spinning where its sample before had found it busy, or the reverse.)
	 */
	__u64 spin_turns;
	__u64 limited; /* stacks of waits, waits and objects that it had no share left for */
	/* From the log: threads that were started inside the window, and processes, by threads of the scope. */
	__u64 threads_started, processes_started;
	/*
	 * From the log, of threads that wait for events and are woken at once, three or more: where one alone had something to
	 * do, the others; and the threads of all other times.
	 */
	__u64 events_in_vain, events_shared;
	/*
	 * From the log: hand-overs, which are waits of a thread that another one of the scope ended, by the processor time that
	 * it had since its last one, or its beginning.
	 */
	__u64 grain[QZ_GRAINS];
};

#endif
