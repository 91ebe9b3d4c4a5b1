/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The contract of /dev/quartz, the device of quartz.ko: ioctls.
 *
 * Each structure begins with its size, as the caller was built. The missing fields of a shorter one
 * are 0; a longer one is refused with E2BIG unless the rest is 0. Reserved fields must be 0,
 * otherwise EINVAL. A call that fails changes nothing in the structure.
 *
 * All calls need CAP_PERFMON or CAP_SYS_ADMIN. Numbers that are missing were those of calls that are gone.
 */
#ifndef QUARTZ_DEVICE_H
#define QUARTZ_DEVICE_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define QZ_DEVICE_PATH "/dev/quartz"

/* ---- who speaks ---- */

/* QZ_IOC_LISTEN: this file represents quartzd until it is closed. EBUSY: another file does. */
struct qz_ioc_listen {
	__u32 size;
	__u32 reserved;
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
};

#define QZ_CAPTURE_USER 1 /* the user registers are valid */
#define QZ_CAPTURE_SELF 2 /* the calling processor: it was not interrupted */

/*
 * QZ_IOC_SNAPSHOT: interrupts all processors that run a thread of a target, at the same time, and
 * returns what they were doing. No processor waits for another. A processor is missed if it has not
 * answered after patience_ns, or has not yet answered an earlier call. EINVAL: invalid flags, no
 * target, or more than QZ_TARGETS_MAX.
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
#define QZ_TARGETS_MAX	1024
#define QZ_PATIENCE_MAX 1000000000ull

#define QZ_IOC_LISTEN	     _IOW('Q', 2, struct qz_ioc_listen)
#define QZ_IOC_PUBLISH	     _IOW('Q', 5, struct qz_ioc_publish)
#define QZ_IOC_PUBLISH_SCOPE _IOW('Q', 6, struct qz_ioc_publish_scope)
#define QZ_IOC_RETIRE_SCOPE  _IOW('Q', 7, struct qz_ioc_retire_scope)
#define QZ_IOC_SNAPSHOT	     _IOWR('Q', 8, struct qz_ioc_snapshot)

#endif
