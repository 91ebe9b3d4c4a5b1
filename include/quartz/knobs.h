/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The contract between libquartz (userlib/knobs.c) in a process that has knobs and quartzctl, which
 * lists and sets them: one memory file of the process, QZ_KNOBS_SIZE bytes, sealed against any other
 * size (F_SEAL_SHRINK, F_SEAL_GROW). quartzd has no part in it.
 *
 * The process keeps the file open, with close-on-exec, so that it is found among /proc/PID/fd by its
 * name, or among /proc/PID/map_files. The kernel lets only the owner of the process and root open it. It goes with the
 * process, and a child of fork does not have it.
 *
 * Both sides may write any bytes at any time. The process keeps what it needs in memory of its own. Of the file it reads
 * only requests, and checks them. quartzctl copies all of it once, and validates the copy.
 */
#ifndef QUARTZ_KNOBS_H
#define QUARTZ_KNOBS_H

#include <linux/types.h>

#define QZ_KNOBS_FILE	    "quartz-knobs"
#define QZ_KNOBS_MAGIC	    0x626f6e6b7a51ull
#define QZ_KNOBS_VERSION    1
#define QZ_KNOBS	    64
#define QZ_KNOB_NAME_LENGTH 32 /* with its 0; letters, digits, '.', '_' and '-' */
#define QZ_KNOB_CHOICES	    16
#define QZ_KNOB_CHOICE	    24 /* with its 0; the same characters */

enum qz_knob_role { /* as enum quartz_knob_role of quartz.h */
		    QZ_KNOB_THREADS,
		    QZ_KNOB_CHUNK,
		    QZ_KNOB_OTHER,
		    QZ_KNOB_ROLES,
};

/*
 * A value is `least` plus a multiple of `step`, and at most `most`. A choice has values from 0 on,
 * with names.
 *
 * quartzctl holds a lock (flock) from its request to the answer. It stores `wanted`, increments
 * `asked`, then increments `asked` of the header, and wakes the thread that waits there (FUTEX_WAKE, not private). The
 * process stores `value` and `status`, then `answered`.
 */
struct qz_knob {
	__u32 role; /* enum qz_knob_role */
	__u32 choices;
	__s64 least, most, step;
	__s64 value; /* taken last; before the first request: what it was when it was registered */
	__s64 wanted;
	__u32 asked,
		answered; /* numbers of the last request, and of the last one that was answered */
	__s32 status;	  /* of that: 0, or a negative errno */
	__u32 reserved;
	char name[QZ_KNOB_NAME_LENGTH];
	char choice[QZ_KNOB_CHOICES][QZ_KNOB_CHOICE];
	__u64 reserved2[4];
};

/*
 * Events are counted in the same way, by `count_asked` and `count_answered`. While `counting` is not 0, calls
 * of quartz_event count also when no quartzd listens; the process reads it when a request comes.
 */
struct qz_knobs {
	__u64 magic;
	__u32 version;
	__u32 used;  /* complete knobs */
	__u32 asked; /* requests of all kinds; a futex */
	__u32 pid;   /* as the process sees itself: others may have got its descriptor */
	__u32 counting;
	__u32 count_asked, count_answered;
	__u32 events;	 /* of all threads, modulo 2^32 */
	__u64 events_at; /* CLOCK_MONOTONIC in ns when they were counted */
	char reserved[4096 - 48];
	struct qz_knob knobs[QZ_KNOBS];
};

#define QZ_KNOBS_SIZE sizeof(struct qz_knobs)

_Static_assert(sizeof(struct qz_knob) == 512, "layout");
_Static_assert(sizeof(struct qz_knobs) == 4096 + 64 * 512, "layout");

#endif
