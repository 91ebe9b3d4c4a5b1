/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The log of the scheduler: what BPF programs (bpf/log.bpf.h) write down at switches, wake-ups and in the lives of
 * threads, and core/replay works out. Each processor has a log that it alone writes, so that processors share no word and
 * the programs decide nothing while the scheduler waits for them. Included by BPF programs, which have the kernel's types
 * from vmlinux.h, and by user space.
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
	QZ_LOG_SWITCH, /* tid leaves the processor, other comes; state: enum qz_log_left. tid == other: it is on the processor */
	QZ_LOG_WAKING, /* tid is woken by other, which runs here, at `site`; state: enum qz_log_woken */
	QZ_LOG_SITE, /* the place of `site` from now on, before the SWITCH of tid with that site; other: QZ_LOG_PLACE */
	/* of the kernel's own threads, the process is number 2, kthreadd */
	QZ_LOG_FORK, /* tid is a new thread of process `site`, created by other; of a new process, `object` is as of UNIT */
	QZ_LOG_EXEC, /* process tid has a new image, given by `object`; other: the thread that called exec, whose number is tid from now on */
	QZ_LOG_EXIT, /* tid, of that name, is about to end: its last SWITCH has QZ_LOG_DEAD */
	QZ_LOG_NAME, /* tid has this name from now on */
	QZ_LOG_FOUND, /* tid of process `other` exists already, at QZ_LOG_PLACE `site`; state: enum qz_log_found */
	QZ_LOG_IDENTITY, /* after FORK and FOUND: tid is `other` in its own pid namespace, `site` the number of its scope; object: QZ_LOG_WHO */
	QZ_LOG_SETTLED, /* all threads were found, and those on a processor have a record: no other thread runs */
	QZ_LOG_NUMBERS, /* to quartzd, in a pid namespace of its own, tid is `other` of process `site` */
	QZ_LOG_UNIT,	  /* process tid is in the control group with number `object` */
	QZ_LOG_SAMPLE,	  /* tid, which runs here, was sampled: see QZ_LOG_SAMPLED_* */
	QZ_LOG_TRANSFERS, /* tid has so many calls so far, `other` and above it `site`, with `object` bytes: quartz/transfer_counters.h */
	QZ_LOG_KINDS,
};

/* How a thread left its processor. */
enum qz_log_left {
	QZ_LOG_PREEMPTED, /* it could go on */
	QZ_LOG_BLOCKED,	  /* it sleeps: `site` gives where and for what */
	QZ_LOG_DEAD,	  /* for good; object: the kernel's account of its processor time */
};

#define QZ_LOG_BOUND                                                                               \
	0x8000 /* a flag in `cause` of a SWITCH: the thread that leaves may run on this processor only */

/* How a thread was woken. */
enum qz_log_woken {
	QZ_LOG_BY_INTERRUPT, /* by an interrupt; `other` was running there by chance */
	QZ_LOG_BY_CALL, /* by `other`, in a system call; cause: which one, as enum qz_wait_cause */
};

/* In what state a thread was found. */
enum qz_log_found {
	QZ_LOG_FOUND_RUNNABLE, /* running or ready: the next records show which */
	QZ_LOG_FOUND_BLOCKED,  /* cause: why, as enum qz_wait_cause */
};

/* Flags in `state` of TRANSFERS. */
enum qz_log_transfers {
	QZ_LOG_READ = 0,
	QZ_LOG_WRITTEN = 1,
	QZ_LOG_BEFORE = 2, /* it had these when it was found */
};

/*
 * 32 bytes, two to a cache line.
 *
 * site: a hash of where a thread waits, or is when it wakes another one: process, system call, its first argument,
 * instruction and stack pointer. 0: not known; then `cause` is why it leaves. The SITE record of a hash comes before its
 * first SWITCH and again from time to time. If two places share a hash, it stands for the place of its last SITE record.
 *
 * object of a SWITCH that blocks at a futex: QZ_LOG_WORD and QZ_LOG_OWNER, as they stood then. At a lock of the kernel's:
 * QZ_LOG_OWNER is the thread that has it, 0: not known.
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
			__u64 object; /* of a SITE: as `address` in struct qz_object_slot;
					 of FOUND: the kernel's account of processor time so far */
		};
		char comm[QZ_LOG_COMM]; /* of EXIT and NAME */
	};
};

/*
 * Where a thread waits and for what. stack: QZ_WAIT_CAUSES + the slot of a stack in wait_stacks, or below that a cause: then
 * there is no stack. object: slot + 1 in objects, 0: none.
 */
#define QZ_LOG_PLACE(stack, object) ((__u32)(stack) | (__u32)(object) << 18)
#define QZ_LOG_STACK(place)	    ((place)&0x3ffff)
#define QZ_LOG_OBJECT(place)	    ((place) >> 18)

/* The identity of a thread for quartzd: its serial, 0 if it has none, and the image of its process (quartz/records.h). */
#define QZ_LOG_WHO(serial, image) ((__u64)(image) << 32 | (__u32)(serial))
#define QZ_LOG_SERIAL(object)	  ((__u32)(object))
#define QZ_LOG_IMAGE(object)	  ((__u32)((object) >> 32))

/*
 * Members of a SAMPLE. other: index of the sample's record in the processor's part of the buffer; cause: candidates on its
 * stack, a bit each; site: its QZ_LOG_PLACE, if the time until woken is wanted.
 */
#define QZ_LOG_SAMPLED_BUFFER	1 /* which of the two, in `state` */
#define QZ_LOG_SAMPLED_SPINNING 2 /* a flag of `state`: as far as the sampler knew */

#define QZ_LOG_WORD(object)  ((__u32)(object))
#define QZ_LOG_OWNER(object) ((__u32)((object) >> 32)) /* the word 8 bytes after it */

enum qz_log_on {
	QZ_LOG_OFF, /* no record is written */
	QZ_LOG_ON,
	QZ_LOG_LIVES, /* only records about the lives of threads and processes: no switch, wake-up or sample */
};

/*
 * One processor's log is an array of such entries; their number is a power of two plus QZ_LOG_FIRST. The first entry is the
 * head, the second the costs; records begin at QZ_LOG_FIRST, so that two share a cache line. The processor writes all but
 * `on` and `read`; quartzd clears `woke`.
 */
struct qz_log_head {
	__u64 next; /* number of records ever written; that of number n is at QZ_LOG_FIRST + n % size */
	__u64 read; /* of these, read by quartzd, which writes this */
	__u32 on;   /* set by quartzd: enum qz_log_on */
	__u32 busy; /* programs that are writing now: the last records may be incomplete */
	__u32 woke; /* quartzd was woken since the log is half full, or a process has ended; cleared by quartzd */
	__u32 pad;
};

/* The cost of the programs on the processor: the second entry. One record in QZ_LOG_TIMED is timed, walks left out. */
struct qz_log_costs {
	__u64 timed_ns;
	__u64 walks, walks_ns;
	__u64 unused;
};

#define QZ_LOG_TIMED 64

#define QZ_LOG_FIRST 2
#define QZ_LOG_LEAST (1u << 13) /* records of one processor: 256 KiB */
#define QZ_LOG_MOST  (1u << 17) /* 4 MiB */

_Static_assert(sizeof(struct qz_log_record) == 32, "layout");
_Static_assert(sizeof(struct qz_log_head) == sizeof(struct qz_log_record), "an entry, too");
_Static_assert(sizeof(struct qz_log_costs) == sizeof(struct qz_log_record), "an entry, too");

#endif
