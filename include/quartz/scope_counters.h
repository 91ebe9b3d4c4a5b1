/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What BPF programs count of a scope. quartzd copies the whole struct into the profile's scope: each member needs a row in
 * core/model/fields.c, by which it is in snapshot files and in JSON.
 */
#ifndef QUARTZ_SCOPE_COUNTERS_H
#define QUARTZ_SCOPE_COUNTERS_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#include "quartz/transfer_counters.h"

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
	 * Samples in rounds whose busy threads are not known: impossible rounds, and those that were moved for them, see
	 * daemon/collect/round_join.h. Counted by quartzd. (Version 0.1.0: those that found their processor spinning where
	 * its sample before had found it busy, or the reverse.)
	 */
	__u64 spin_turns;
	__u64 limited; /* stacks of waits, waits and objects that were refused, since the scope had taken its share */
	/* From the log: threads that were started inside the window, and processes, by threads of the scope. */
	__u64 threads_started, processes_started;
	/*
	 * From the log, of three or more threads that wait for events and are woken at once: if only one had something to
	 * do, the others count in events_in_vain; all other threads count in events_shared.
	 */
	__u64 events_in_vain, events_shared;
	/*
	 * From the log: hand-overs, which are waits of a thread that another thread of the scope ended, by the processor
	 * time that the thread had since its last hand-over, or its beginning.
	 */
	__u64 grain[QZ_GRAINS];
	struct qz_transfers transfers; /* of its threads inside the window */
};

#endif
