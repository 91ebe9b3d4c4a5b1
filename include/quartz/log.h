/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The log of the scheduler. BPF programs (bpf/log.bpf.h) write a record at each switch and wake-up, and when threads begin,
 * change and end; core/replay computes figures from the records. Each processor has a log of its own, so processors share
 * no word, and the programs decide nothing while the scheduler waits for them. Included by BPF programs, which have the
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
	QZ_LOG_NONE, /* never written: memory that is still zero */
	QZ_LOG_SWITCH, /* tid leaves the processor, other comes; state: enum qz_log_left. tid == other: tid runs here */
	QZ_LOG_WAKING, /* other, which runs here at `site`, wakes tid; state: enum qz_log_woken */
	QZ_LOG_SITE, /* from now on, `site` stands for the place `other` (QZ_LOG_PLACE); written before tid's record with that site */
	/* the kernel's own threads are threads of process 2, kthreadd */
	QZ_LOG_FORK, /* other has created tid, a thread of process `site`; if that is a new process, `object` is as in UNIT */
	QZ_LOG_EXEC, /* process tid has a new image (QZ_LOG_IMAGE of `object`); thread `other` called exec, and has the number tid now */
	QZ_LOG_EXIT, /* tid, with the name comm, is about to end: its last SWITCH has QZ_LOG_DEAD */
	QZ_LOG_NAME, /* from now on, tid has the name comm */
	QZ_LOG_FOUND, /* tid of process `other` existed before the log, and is at QZ_LOG_PLACE `site`; state: enum qz_log_found */
	QZ_LOG_IDENTITY, /* after FORK or FOUND: tid is `other` in its own pid namespace; `site`: number of its scope; object: QZ_LOG_WHO */
	QZ_LOG_SETTLED, /* all threads were found, and each processor has a record of the thread that runs there */
	QZ_LOG_NUMBERS, /* in quartzd's pid namespace, if it has its own, tid is `other` of process `site` */
	QZ_LOG_UNIT,	  /* process tid is in the control group with number `object` */
	QZ_LOG_SAMPLE,	  /* a sample of tid, which runs here: see QZ_LOG_SAMPLED_* */
	QZ_LOG_TRANSFERS, /* calls of tid so far (`other`, and `site` as upper half) and their bytes (`object`): quartz/transfer_counters.h */
	QZ_LOG_KINDS,
};

/* How a thread left its processor. */
enum qz_log_left {
	QZ_LOG_PREEMPTED, /* it stays ready */
	QZ_LOG_BLOCKED,	  /* it sleeps; `site` says where and for what */
	QZ_LOG_DEAD,	  /* it has ended; object: the kernel's account of its processor time */
};

#define QZ_LOG_BOUND                                                                               \
	0x8000 /* a flag in `cause` of a SWITCH: the leaving thread may run on this processor only */

/* How a thread was woken. */
enum qz_log_woken {
	QZ_LOG_BY_INTERRUPT, /* by an interrupt, while `other` ran there by chance */
	QZ_LOG_BY_CALL, /* by `other`, in a system call; cause: which one, as enum qz_wait_cause */
};

/* In what state a thread was found. */
enum qz_log_found {
	QZ_LOG_FOUND_RUNNABLE, /* running or ready: later records show which */
	QZ_LOG_FOUND_BLOCKED,  /* cause: why, as enum qz_wait_cause */
};

/* Flags in `state` of TRANSFERS. */
enum qz_log_transfers {
	QZ_LOG_READ = 0,
	QZ_LOG_WRITTEN = 1,
	QZ_LOG_BEFORE = 2, /* the counts when the thread was found, which are left out */
};

/*
 * 32 bytes, two to a cache line.
 *
 * site: a hash of the place where a thread waits, or wakes another one: of the process, the system call and its first
 * argument, the instruction and stack pointers, and the cause. 0: not known; then `cause` says why the thread leaves. The
 * SITE record of a hash comes before its first use and again from time to time. If two places share a hash, the last SITE
 * record counts.
 *
 * object of a SWITCH that blocks at a futex: QZ_LOG_WORD and QZ_LOG_OWNER, the contents at that time. At a lock of the
 * kernel: QZ_LOG_OWNER is the thread that holds it, 0: not known.
 */
struct qz_log_record {
	__u64 time;
	__u32 tid;
	__u8 kind; /* enum qz_log_kind */
	__u8 state; /* see enum qz_log_kind; of a SITE: enum qz_object_tag of what the thread waits for, 0: not known */
	__u16 cause; /* of a SITE: enum qz_wait_cause; else see enum qz_log_kind */
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
 * Where a thread waits, and for what. stack: QZ_WAIT_CAUSES + the slot of its stack in wait_stacks; or, without a stack, the
 * cause. object: slot + 1 in objects; 0: none.
 */
#define QZ_LOG_PLACE(stack, object) ((__u32)(stack) | (__u32)(object) << 18)
#define QZ_LOG_STACK(place)	    ((place)&0x3ffff)
#define QZ_LOG_OBJECT(place)	    ((place) >> 18)

/* The identity of a thread for quartzd: its serial, 0 if it has none, and the image of its process (quartz/records.h). */
#define QZ_LOG_WHO(serial, image) ((__u64)(image) << 32 | (__u32)(serial))
#define QZ_LOG_SERIAL(object)	  ((__u32)(object))
#define QZ_LOG_IMAGE(object)	  ((__u32)((object) >> 32))

/*
 * Members of a SAMPLE. other: index of the sample's record in the processor's part of the buffer; cause: the candidates on its
 * stack, a bit each; site: its QZ_LOG_PLACE, but only for the time until woken.
 */
#define QZ_LOG_SAMPLED_BUFFER	1 /* a bit of `state`: which of the two buffers */
#define QZ_LOG_SAMPLED_SPINNING 2 /* a flag of `state`: the sampler knew that it spins */

#define QZ_LOG_WORD(object) ((__u32)(object))
#define QZ_LOG_OWNER(object)                                                                       \
	((__u32)((object) >> 32)) /* the owner that is stored near it, see log__futex_word() */

enum qz_log_on {
	QZ_LOG_OFF, /* no record is written */
	QZ_LOG_ON,
	QZ_LOG_LIVES, /* no records of switches, wake-ups and samples */
};

/*
 * The log of a processor is an array of entries of this size: the head, the costs, and from QZ_LOG_FIRST on the records, whose
 * number is a power of two. Two records share a cache line. The processor writes everything except `on` and `read`; quartzd
 * also clears `woke`.
 */
struct qz_log_head {
	__u64 next; /* records ever written; record n is at QZ_LOG_FIRST + n % (number of records) */
	__u64 read; /* how many of these quartzd has read; written by quartzd */
	__u32 on;   /* set by quartzd: enum qz_log_on */
	__u32 busy; /* programs that are writing now; meanwhile the last records may be incomplete */
	__u32 woke; /* 1: quartzd was woken, because the log is half full or a process has ended */
	__u32 pad;
};

/* The cost of the programs on the processor. One record in QZ_LOG_TIMED is timed, without walks. */
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
