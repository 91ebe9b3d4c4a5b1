/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The contract of /dev/quartz, the device of quartz.ko: ioctls and mappings.
 *
 * Each structure begins with its size, as the caller was built. The missing fields of a shorter one
 * are 0; a longer one is refused with E2BIG unless the rest is 0. Reserved fields must be 0,
 * otherwise EINVAL. A call that fails changes nothing in the structure.
 *
 * Any process that may open the device can create a page set. All other calls need CAP_PERFMON or
 * CAP_SYS_ADMIN.
 */
#ifndef QUARTZ_DEVICE_H
#define QUARTZ_DEVICE_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define QZ_DEVICE_PATH	  "/dev/quartz"
#define QZ_DEVICE_VERSION 1

/* ---- page sets: memory that a process shares with quartzd ---- */

/*
 * The page at this offset can be mapped for reading by any process that may open the device: struct
 * qz_page_flag of quartz/page.h. `generation` is 0 while no file listens (QZ_IOC_LISTEN).
 */
#define QZ_DEVICE_FLAG (1ull << 40)

/*
 * QZ_IOC_OPEN_SET makes the file a page set of `bytes` bytes, all 0, that can be mapped shared from
 * offset 0. Memory is allocated when it is touched, and charged to the memory cgroup of the process
 * that touches it. The set belongs to the calling process and is freed with the last mapping and
 * descriptor. It begins with the version and the current generation (struct qz_page_header).
 *
 * With patience_ns, and while a file listens, the call waits for QZ_IOC_ANSWER_SET. So quartzd can read /proc of the
 * process while it certainly exists. A refusal becomes the error of this call, and the file is not a set then.
 *
 * EBUSY: the file is a set already. EDQUOT: too many sets of this user. ENOSPC: too many sets.
 * EINVAL: a size that is 0, no whole number of pages, or beyond QZ_SET_MAX; a patience beyond
 * QZ_SET_PATIENCE_MAX. ETIMEDOUT: no answer came in that time. ESHUTDOWN: the listener went away.
 */
struct qz_ioc_open_set {
	__u32 size;
	__u32 page_version; /* QZ_PAGE_VERSION of the caller */
	__u64 bytes;
	__u64 tables_address;	   /* where the process will map the beginning … */
	__u64 slots_address;	   /* … and the thread slots; passed to quartzd, not used here */
	__u64 slots_offset;	   /* of the thread slots in the set */
	__s64 slot_pointer_offset; /* as in struct qz_page_request */
	__u64 patience_ns;
	__u64 reserved[2];
};

#define QZ_SET_MAX	    (512ull << 20)
#define QZ_SET_PATIENCE_MAX 60000000000ull

/*
 * QZ_IOC_LISTEN: this file represents quartzd until it is closed. poll(2) returns POLLIN while a
 * set waits for an answer. EBUSY: another file listens.
 */
struct qz_ioc_listen {
	__u32 size;
	__u32 generation; /* out: never 0 */
};

/*
 * A page set as quartzd sees it. The kernel vouches for the identity; the process has chosen the
 * rest.
 */
struct qz_set_info {
	__u64 id; /* not reused while the module is loaded */
	__u64 start_boottime;
	__u64 bytes, tables_address, slots_address, slots_offset;
	__s64 slot_pointer_offset;
	__s32 tgid; /* in the initial pid namespace */
	__u32 uid;
	__u32 page_version;
	__u32 generation; /* in which it was created */
	__u32 awaiting;	  /* 1: the process is in QZ_IOC_OPEN_SET and waits for the answer */
	__u32 reserved;
};

/*
 * QZ_IOC_LIST_SETS: sets with an id above `after`, in order; returns the number of entries written.
 */
struct qz_ioc_list_sets {
	__u32 size;
	__u32 room; /* entries of sets */
	__u64 after;
	__u64 sets; /* address of struct qz_set_info */
	__u64 reserved;
};

/*
 * QZ_IOC_ATTACH_SET: returns a descriptor, close-on-exec, that can map and read the set but not
 * write it. It keeps the memory alive, not the set. pread of untouched memory returns zeros and
 * allocates nothing. ESRCH: no such set.
 */
struct qz_ioc_attach_set {
	__u32 size;
	__u32 reserved;
	__u64 id;
};

/*
 * QZ_IOC_ANSWER_SET: ends the wait of a set, with 0 or the negative errno for the process. If the
 * call succeeds, the process has existed, with this tgid, since the set was listed. ESRCH: no set
 * with this id waits. EINVAL: not an errno. EPERM: not listening.
 */
struct qz_ioc_answer_set {
	__u32 size;
	__s32 status;
	__u64 id;
};

/* ---- results, shown in /sys/kernel/quartz ---- */

/* QZ_IOC_PUBLISH: figures of the whole run. Each call is a heartbeat. EPERM: not listening. */
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

/* One of the procedures and objects with the most normalized time. Texts end in 0. */
struct qz_top_row {
	char name[QZ_SYMBOL_MAX];
	char kind[16];
	__u64 normalized_ns, self_normalized_ns, cpu_ns, spin_ns;
};

/*
 * QZ_IOC_PUBLISH_SCOPE: creates or updates a scope's directory. Its name consists of letters,
 * digits and ._:@- and does not begin with a dot. A sysfs file shows at most 512 levels.
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

/* QZ_IOC_RETIRE_SCOPE: removes a scope's directory. ENOENT: there is none. */
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
	__u64 kernel_ip; /* 0: it was in user mode, or this is not known */
};

#define QZ_CAPTURE_USER 1 /* the user registers are valid */
#define QZ_CAPTURE_KERNEL                                                                          \
	2		  /* it was interrupted in the kernel; otherwise in user mode, or unknown */
#define QZ_CAPTURE_SELF 4 /* the calling processor: it was not interrupted */

/*
 * QZ_IOC_SNAPSHOT: interrupts all processors that run a thread of a target, at the same time, and
 * returns what they were doing. No processor waits for another. A processor is missed if it has not
 * answered after patience_ns, or has not yet answered an earlier call. EINVAL: invalid flags, no
 * target, or more than QZ_TARGETS_MAX. EOPNOTSUPP: NMIs are not available.
 */
struct qz_ioc_snapshot {
	__u32 size;
	__u32 flags;	/* QZ_SNAPSHOT_… */
	__u32 ntargets; /* entries at targets */
	__u32 room;	/* entries at captures */
	__u64 targets;	/* address of __s32, process ids */
	__u64 captures; /* address of struct qz_capture */
	__u64 patience_ns;
	__u32 captured; /* out: entries written, only those of targets */
	__u32 missed;	/* out: processors without an answer */
	__u64 begun;	/* out: CLOCK_MONOTONIC before the first interrupt was sent */
	__u64 skew_ns;	/* out: last capture less first */
	__u64 reserved[2];
};

#define QZ_SNAPSHOT_ALL 1 /* every processor online, whatever it runs */
#define QZ_SNAPSHOT_NMI 2 /* by NMI: also with interrupts disabled, and with kernel_ip */
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
