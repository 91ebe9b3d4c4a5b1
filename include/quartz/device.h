/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The contract of /dev/quartz, the device of quartz.ko: ioctls, and what can be mapped.
 *
 * Each structure begins with its size as the caller was built. A shorter one is taken as if the
 * rest were 0; a longer one is refused with E2BIG unless the rest is 0. Reserved fields must be 0,
 * else EINVAL. Nothing of a structure changes when a call fails.
 *
 * Any process that may open the device can make a page set of its own. All other calls need
 * CAP_PERFMON, or CAP_SYS_ADMIN.
 */
#ifndef QUARTZ_DEVICE_H
#define QUARTZ_DEVICE_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define QZ_DEVICE_PATH	  "/dev/quartz"
#define QZ_DEVICE_VERSION 1

/* ---- page sets: memory that a process shares with quartzd ---- */

/*
 * The first 4 KiB from this offset on can be mapped by everybody, for reading: struct qz_page_flag
 * of quartz/page.h. `generation` is 0 whenever no quartzd has said QZ_IOC_LISTEN or it has died.
 */
#define QZ_DEVICE_FLAG (1ull << 40)

/*
 * QZ_IOC_OPEN_SET makes the file a page set of so many bytes, all 0, that can be mapped shared from
 * offset 0 on; memory is taken when it is touched, and charged to the memory cgroup of who touches
 * it. The set belongs to the calling process and is gone with the last mapping and descriptor.
 * The version and the generation in force stand at its beginning (struct qz_page_header).
 *
 * With a patience, and while somebody listens, the call waits for QZ_IOC_ANSWER_SET, so that quartzd
 * has looked at the process while it is there for certain; a refusal is given as the error, and
 * the file is no set then.
 *
 * EBUSY: the file is a set already. EDQUOT: too many sets of this user. ENOSPC: too many sets.
 * EINVAL: a size that is 0, no whole number of pages, or beyond QZ_SET_MAX; a patience beyond
 * QZ_SET_PATIENCE_MAX. ETIMEDOUT: nobody answered in that time. ESHUTDOWN: the listener went away.
 */
struct qz_ioc_open_set {
	__u32 size;
	__u32 page_version; /* QZ_PAGE_VERSION of the caller */
	__u64 bytes;
	__u64 tables_address;	   /* where the process is going to map the beginning … */
	__u64 slots_address;	   /* … and the thread slots; told to quartzd, never used here */
	__u64 slots_offset;	   /* of the thread slots in the set */
	__s64 slot_pointer_offset; /* as in struct qz_page_request */
	__u64 patience_ns;
	__u64 reserved[2];
};

#define QZ_SET_MAX	    (512ull << 20)
#define QZ_SET_PATIENCE_MAX 60000000000ull

/*
 * QZ_IOC_LISTEN: this file speaks for quartzd until it is closed, and poll(2) says POLLIN while a set
 * waits for an answer. EBUSY: another one does.
 */
struct qz_ioc_listen {
	__u32 size;
	__u32 generation; /* out: never 0 */
};

/* A page set as quartzd sees it. The identity is the kernel's word, the rest the process's own. */
struct qz_set_info {
	__u64 id; /* not used again while the module is loaded */
	__u64 start_boottime;
	__u64 bytes, tables_address, slots_address, slots_offset;
	__s64 slot_pointer_offset;
	__s32 tgid; /* in the initial pid namespace */
	__u32 uid;
	__u32 page_version;
	__u32 generation; /* in which it was made */
	__u32 awaiting;	  /* 1: the process is in QZ_IOC_OPEN_SET and waits for the answer */
	__u32 reserved;
};

/* QZ_IOC_LIST_SETS: sets with an id above `after`, in order; gives how many were written. */
struct qz_ioc_list_sets {
	__u32 size;
	__u32 room; /* entries of sets */
	__u64 after;
	__u64 sets; /* address of struct qz_set_info */
	__u64 reserved;
};

/*
 * QZ_IOC_ATTACH_SET: gives a descriptor, close-on-exec, that maps and reads the set and cannot write
 * it. It keeps the memory, not the set. pread of what was never touched gives 0 and takes no
 * memory. ESRCH: no such set.
 */
struct qz_ioc_attach_set {
	__u32 size;
	__u32 reserved;
	__u64 id;
};

/*
 * QZ_IOC_ANSWER_SET: ends the wait for a set, with 0 or the negative errno that the process gets.
 * When it succeeds, the process has been there since the set was listed, and tgid its own.
 * ESRCH: no set of this id waits. EINVAL: no such errno. EPERM: not listening.
 */
struct qz_ioc_answer_set {
	__u32 size;
	__s32 status;
	__u64 id;
};

/* ---- results, shown under /sys/kernel/quartz ---- */

/* QZ_IOC_PUBLISH: the figures of the whole run. Each call is a heartbeat. EPERM: not listening. */
struct qz_ioc_publish {
	__u32 size;
	__u32 targets;
	__u64 effective_milli, nominal_milli; /* parallelism in thousandths */
	__u64 samples, lost;
	__u64 overhead_ppm; /* of the processor time of the machine */
	__u64 reserved[4];
};

#define QZ_NAME_MAX   64
#define QZ_SYMBOL_MAX 256
#define QZ_TOP_MAX    64
#define QZ_LEVELS_MAX 8193
#define QZ_SCOPES_MAX 4096

/* One row of the leading procedures and objects. Texts end with 0. */
struct qz_top_row {
	char name[QZ_SYMBOL_MAX];
	char kind[16];
	__u64 normalized_ns, self_normalized_ns, cpu_ns, spin_ns;
};

/*
 * QZ_IOC_PUBLISH_SCOPE: a scope's directory, made or brought up to date. Its name is of letters,
 * digits and ._:@- and does not begin with a dot. At most 512 levels fit into a file of sysfs; more
 * are cut there.
 */
struct qz_ioc_publish_scope {
	__u32 size;
	__u32 levels; /* entries at level_ns */
	__u32 rows;   /* entries at top, at most QZ_TOP_MAX */
	__u32 reserved;
	char name[QZ_NAME_MAX];
	__u64 elapsed_ns, normalized_ns, cpu_ns, spin_ns, serial_ns, mean_parallelism_milli;
	__u64 level_ns; /* address of __u64 */
	__u64 top;	/* address of struct qz_top_row */
};

/* QZ_IOC_RETIRE_SCOPE: removes a scope's directory. ENOENT. */
struct qz_ioc_retire_scope {
	__u32 size;
	__u32 reserved;
	char name[QZ_NAME_MAX];
};

/* ---- synchronized snapshot ---- */

/* What one processor was doing. */
struct qz_capture {
	__u32 cpu;
	__u32 flags; /* QZ_CAPTURE_… */
	__u64 time;  /* CLOCK_MONOTONIC when its handler ran */
	__s32 tgid, tid;
	__u64 user_ip, user_sp, user_bp;
	__u64 kernel_ip; /* 0: it was in user mode, or not known */
};

#define QZ_CAPTURE_USER	  1 /* the user registers are valid */
#define QZ_CAPTURE_KERNEL 2 /* it was interrupted in the kernel; else in user mode, or unknown */
#define QZ_CAPTURE_SELF	  4 /* the processor that took the snapshot: no interrupt, no target */

/*
 * QZ_IOC_SNAPSHOT: interrupts each processor that runs a thread of one of the targets, once and at
 * the same time, and gives what they were doing. No processor waits for another. One that has not
 * answered after patience_ns is counted as missed, and so is one that still owes an earlier answer.
 * EINVAL: flags, no target, more than QZ_TARGETS_MAX. EOPNOTSUPP: NMIs are not to be had.
 */
struct qz_ioc_snapshot {
	__u32 size;
	__u32 flags;	/* QZ_SNAPSHOT_… */
	__u32 ntargets; /* entries at targets */
	__u32 room;	/* entries at captures */
	__u64 targets;	/* address of __s32, process ids */
	__u64 captures; /* address of struct qz_capture */
	__u64 patience_ns;
	__u32 captured; /* out: entries written; those whose thread is no target are left out */
	__u32 missed;	/* out: processors */
	__u64 begun;	/* out: CLOCK_MONOTONIC before the first interrupt was sent */
	__u64 skew_ns;	/* out: last capture less first */
	__u64 reserved[2];
};

#define QZ_SNAPSHOT_ALL 1 /* every processor online, whatever it runs */
#define QZ_SNAPSHOT_NMI 2 /* by NMI: also where interrupts are off, with kernel_ip */
#define QZ_TARGETS_MAX	1024
#define QZ_PATIENCE_MAX 1000000000ull

#define QZ_IOC_OPEN_SET	     _IOW('Q', 1, struct qz_ioc_open_set)
#define QZ_IOC_LISTEN	     _IOWR('Q', 2, struct qz_ioc_listen)
#define QZ_IOC_LIST_SETS     _IOW('Q', 3, struct qz_ioc_list_sets)
#define QZ_IOC_ATTACH_SET    _IOW('Q', 4, struct qz_ioc_attach_set)
#define QZ_IOC_PUBLISH	     _IOW('Q', 5, struct qz_ioc_publish)
#define QZ_IOC_PUBLISH_SCOPE _IOW('Q', 6, struct qz_ioc_publish_scope)
#define QZ_IOC_RETIRE_SCOPE  _IOW('Q', 7, struct qz_ioc_retire_scope)
#define QZ_IOC_SNAPSHOT	     _IOWR('Q', 8, struct qz_ioc_snapshot)
#define QZ_IOC_ANSWER_SET    _IOW('Q', 9, struct qz_ioc_answer_set)

#endif
