/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The log of the scheduler: what BPF programs (bpf/log.bpf.h) write down at switches, wake-ups and in the lives of
 * threads, and core/replay works out. Each processor has a log of its own that it alone writes, so that no word is
 * shared between processors and nothing is decided where the scheduler waits. Included by BPF programs, which have the
 * kernel's types from vmlinux.h, and by user space.
 *
 * Times are nanoseconds of CLOCK_MONOTONIC. Threads and processes are numbers of the initial pid namespace; thread 0 is
 * the idle task of the processor.
 */
#ifndef QUARTZ_LOG_H
#define QUARTZ_LOG_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define QZ_LOG_COMM 16

enum qz_log_kind {
	QZ_LOG_NONE,   /* never written: memory that is still zero */
	QZ_LOG_SWITCH, /* tid leaves the processor, other comes; state: enum qz_log_left */
	QZ_LOG_WAKING, /* tid is woken by other, which runs here; state: enum qz_log_woken */
	QZ_LOG_SITE, /* what stands behind `site` from now on, before the SWITCH of tid that has it; other: QZ_LOG_PLACE */
	/* of the kernel's own threads, the process is number 2, kthreadd */
	QZ_LOG_FORK, /* tid is a new thread of process `site`, created by other */
	QZ_LOG_EXEC, /* process tid has a new image; other: the thread that did it, whose number is tid from now on */
	QZ_LOG_EXIT,  /* tid, of that name, is about to end: its last SWITCH has QZ_LOG_DEAD */
	QZ_LOG_NAME,  /* tid has this name from now on */
	QZ_LOG_FOUND, /* tid of process `other` is there already; state: enum qz_log_found */
	QZ_LOG_KINDS,
};

/* How a thread left its processor. */
enum qz_log_left {
	QZ_LOG_PREEMPTED, /* it could go on */
	QZ_LOG_BLOCKED,	  /* it sleeps: site tells where and for what */
	QZ_LOG_DEAD,	  /* for good; object: the kernel's account of its processor time */
};

/* Who woke a thread. */
enum qz_log_woken {
	QZ_LOG_BY_INTERRUPT, /* `other` was only in the way */
	QZ_LOG_BY_CALL,	     /* `other`, in a system call; cause: which, as enum qz_wait_cause */
};

/* In what state a thread was found. */
enum qz_log_found {
	QZ_LOG_FOUND_RUNNABLE, /* running or ready: the next records tell which */
	QZ_LOG_FOUND_BLOCKED,  /* cause: why, as enum qz_wait_cause */
};

/*
 * 32 bytes, two to a cache line.
 *
 * site: a hash of where a thread waits: system call, its first argument, instruction and stack pointer. Of one that is
 * preempted it is 0. The SITE record of a hash comes before its first SWITCH and again from time to time, so a hash
 * that two places share is one place at a time.
 *
 * object of a SWITCH that blocks at a futex: QZ_LOG_WORD and QZ_LOG_OWNER, as they stood then.
 */
struct qz_log_record {
	__u64 time;
	__u32 tid;
	__u8 kind; /* enum qz_log_kind */
	__u8 state; /* see there; of a SITE: enum qz_object_tag of what is waited for, 0: nothing that is known */
	__u16 cause; /* enum qz_wait_cause, of a SITE */
	union {
		struct {
			__u32 other;
			__u32 site;
			__u64 object; /* of a SITE: the address of the futex word, or the number of the inode;
					 of FOUND: the kernel's account of processor time so far */
		};
		char comm[QZ_LOG_COMM]; /* of EXIT and NAME */
	};
};

/* Where a thread waits and for what, as quartzd knows it: of struct qz_wait_site `stack` and `object`. */
#define QZ_LOG_PLACE(stack, object) ((__u32)(stack) | (__u32)(object) << 18)
#define QZ_LOG_STACK(place)	    ((place)&0x3ffff)
#define QZ_LOG_OBJECT(place)	    ((place) >> 18)

#define QZ_LOG_WORD(object)  ((__u32)(object))
#define QZ_LOG_OWNER(object) ((__u32)((object) >> 32)) /* what stands 8 bytes behind the word */

/*
 * One processor's log is an array of such entries, as many as a power of two and QZ_LOG_FIRST: the head is the first one,
 * records begin at QZ_LOG_FIRST, so that two are in a cache line. The processor writes all but on, woke and read.
 */
struct qz_log_head {
	__u64 next; /* number of records ever written; that of number n is at QZ_LOG_FIRST + n % size */
	__u64 read;    /* of these, read by quartzd, which writes this */
	__u32 on;      /* set by quartzd; 0: nothing is written */
	__u32 busy;    /* programs that are writing: the last records may be incomplete */
	__u32 running; /* the thread that came in last */
	__u32 woke;    /* quartzd was woken since the log is half full; cleared by quartzd */
};

#define QZ_LOG_FIRST 2
#define QZ_LOG_LEAST (1u << 13) /* records of one processor: 256 KiB */
#define QZ_LOG_MOST  (1u << 17) /* 4 MiB */

_Static_assert(sizeof(struct qz_log_record) == 32, "layout");
_Static_assert(sizeof(struct qz_log_head) == sizeof(struct qz_log_record), "an entry, too");

#endif
