/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The contract between the BPF programs (bpf/) and quartzd (daemon/): every structure that stands
 * in a map that both use, and every record of the ring buffer. Included by BPF programs, which
 * have the kernel's types from vmlinux.h, and by user space.
 *
 * All times are nanoseconds of CLOCK_MONOTONIC (bpf_ktime_get_ns).
 */
#ifndef QUARTZ_RECORDS_H
#define QUARTZ_RECORDS_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#include "quartz/scope_counters.h"

#define QZ_COMM_LEN	 16
#define QZ_USER_FRAMES	 128
#define QZ_KERNEL_FRAMES 64
/* Of a deeper stack so many inner frames are kept, and a ring of the outermost ones. */
#define QZ_INNER_FRAMES 96
#define QZ_OUTER_FRAMES 32    /* the two add up to QZ_USER_FRAMES */
#define QZ_STACK_COPY	24576 /* bytes of a creator's user stack */
#define QZ_NO_SCOPE	0xffffffffu
/* Where every process is a scope, these two are there besides. */
#define QZ_SCOPE_OF_MACHINE 0 /* its level is the number of processors that are not idle */
#define QZ_SCOPE_OF_KERNEL  1 /* the kernel's own threads */
#define QZ_OWN_SCOPES	    2
/* And so many are for groups alone, when all others are in use. */
#define QZ_SPARE_SCOPES 16
#define QZ_MAX_LEVEL	4094 /* 12 bits of the packed word, one value spare */

/* ---- threads: task storage ---- */

/* Indices of qz_thread_state.ns; a thread that has ended is in QZ_DEAD and has no time there. */
enum qz_state {
	QZ_UNKNOWN = 0, /* adopted, or lost in a gap of the tracepoint, and not seen since */
	QZ_RUNNING = 1,
	QZ_READY = 2,
	QZ_BLOCKED = 3,
	QZ_THREAD_STATES = 4,
	QZ_DEAD = 4,
	/*
	 * The kernel counts what it does, since it is alone in its process, see bpf/single.bpf.h, or while switches are
	 * passed. With QZ_READY or QZ_BLOCKED it is in a wait that is looked at.
	 */
	QZ_SINGLE = 8,
};

/*
 * Why a thread went off its processor. A value from QZ_WAIT_SYSCALL on is a system call by its
 * number; the others have names in QZ_WAIT_NAMES.
 */
enum qz_wait_cause {
	QZ_WAIT_UNKNOWN, /* it was not seen, or waits were lost */
	QZ_WAIT_FUTEX,
	QZ_WAIT_DISK,	    /* in a system call, for input or output that the kernel calls so */
	QZ_WAIT_PAGE_FAULT, /* in an exception: a page that had to be brought */
	QZ_WAIT_PIPE,
	QZ_WAIT_SOCKET,
	QZ_WAIT_POLL, /* poll, select, epoll */
	QZ_WAIT_SLEEP,
	QZ_WAIT_CHILD,	   /* a child process */
	QZ_WAIT_PREEMPTED, /* ready all the time: another thread was given the processor */
	QZ_WAIT_START,	   /* from creation until it first ran */
	QZ_WAIT_STOPPED,   /* by a signal or a debugger */
	QZ_WAIT_KERNEL,	   /* a thread that the kernel made in the process: it has no user code */
	QZ_WAIT_RUNNING,   /* no wait: of stacks of code that woke others */
	QZ_WAIT_PASSED, /* not looked at, and not estimated from those that were: see bpf/wait_gate.bpf.h */
	QZ_WAIT_NAMED,
	QZ_WAIT_SYSCALL = 32,
	QZ_WAIT_CAUSES = 1024,
};

#define QZ_WAIT_NAMES                                                                              \
	{                                                                                          \
		"unknown", "futex", "disk", "page_fault", "pipe", "socket", "poll", "sleep",       \
			"child", "preempted", "start", "stopped", "kernel", "running",             \
			"not_sampled"                                                              \
	}

#define QZ_PARTS 2 /* of two neighbouring values, between which means go to and fro */

#define QZ_WALKED_SHIFT 16 /* from ns to units */
#define QZ_BEGAN_SHIFT	10 /* likewise */
#define QZ_LOOKED_SHIFT 18

/*
 * Waits of one thread from one place that are not yet in the table of waits. `stack` is 1024 + the slot of a stack in
 * wait_stacks, or below that a cause: then there is no stack. Waits of equal nominal parallelism are a part. One cache line.
 */
struct qz_wait_site {
	__u32 where;		 /* hash of registers that are equal at the same place */
	__u32 arg;		 /* of the first argument of the system call: which object */
	__u32 walked;		 /* when the stack was walked, modulo 2^32 units: three days */
	__u32 stack;		 /* see above */
	__u16 object;		 /* that is waited for, 0: none */
	__u16 nominal[QZ_PARTS]; /* mean over each of these waits, see qz_nominal__group */
	__u16 looked; /* of the first site of blocking, or of being preempted: when at any, modulo 2^16 units */
	__u32 count[QZ_PARTS];
	__u64 blocked_ns[QZ_PARTS];
	__u64 ready_ns[QZ_PARTS];
};

#define QZ_BLOCKED_SITES  3 /* a thread that blocks in turn at so many places walks no stack */
#define QZ_PREEMPTED_SITE 3 /* likewise where it was preempted */
#define QZ_SITES	  4

/* Flags of qz_waiting, above the number of a site and, of being preempted, what `step` is of blocking. */
#define QZ_WAITING_STEP_SHIFT 2
#define QZ_WAITING_STEP	      0x3c
#define QZ_WAITING_CLOSED     0x80 /* no wait that is looked at is under way */
#define QZ_WAITING_PASSED     0x40 /* what is not charged may be of waits that were passed, too */

/*
 * The waits of one thread. What stands in qz_thread_state.ns beyond what was charged, less what was
 * before its scope began, belongs to the wait that has not ended, at its site, or to waits that were passed.
 */
struct qz_waiting {
	__u16 queued;	/* the object in whose queue the thread stands, 0: none */
	__u16 acquired; /* the last object whose queue it left, 0: none, see bpf/object.bpf.h */
	__u8 woken_by;	/* kind of the call that has just woken it, see bpf/object.bpf.h */
	__u8 flags; /* QZ_WAITING_*, and the number of the site of the last wait that was looked at */
	/* See bpf/wait_gate.bpf.h: log2 of the waits for which that one stands, and of those for the next one. */
	__u8 weight : 4, step : 4;
	__u8 passes; /* waits to pass before that */
	/*
	 * Integral of the scope's nominal parallelism at its beginning; of QZ_SINGLE: how long it was ready, by the
	 * kernel's account, when it was first seen.
	 */
	__u64 nominal;
	__u64 charged_blocked;
	__u64 charged_ready;
	struct qz_wait_site sites[QZ_SITES];
	__u32 released;	   /* the last object at which it woke another thread, 0: none */
	__u32 woke;	   /* hash of registers that are equal where it last woke another thread */
	__u32 woke_walked; /* as qz_wait_site.walked */
	__u32 woke_stack;  /* its number, as in struct qz_wait_site */
};

/*
 * One thread of a scope. Written by the processor that runs the thread, under its runqueue lock, or by the one that
 * wakes it, which the scheduler orders before the switch-in, and which waits for QZ_BLOCKED, or for sched_wakeup, which
 * comes after the switch-out; adoption leaves QZ_UNKNOWN only by compare-and-swap.
 * Conservation: the sum of ns[] is since - seen.
 *
 * Most of what a switch costs is memory that is not in the cache. The kernel puts the state 16 bytes behind the
 * beginning of a cache line (8 bytes before Linux 6.4): each switch touches the first two lines, and one for the
 * place of a wait. `make bpf-lines` shows it.
 */
struct qz_thread_state {
	__u32 state; /* enum qz_state */
	__u32 scope;
	__u64 since; /* of the last change of state */
	__u64 ns[QZ_THREAD_STATES];
	/* second line */
	__u64 cpu_in; /* sum_exec_runtime when it last came in or went out */
	union {
		__u64 run; /* qz_cpu_state.run of the time it is running, see there */
		__u64 delay; /* not running: how long it was ready before, by the kernel; bpf/kernel_account.bpf.h */
	};
	__u32 serial; /* unique in one run of quartzd, from 1 */
	__u32 image;  /* of the process, see qz_process_event */
	__u16 page;   /* page set of the process + 1, see qz_page_place; 0: none, or not yet seen */
	__u16 slot;   /* of the thread in it + 1 */
	__u16 cpu;    /* where it runs or ran last */
	__u16 skipped; /* with QZ_SINGLE: since switches are skipped, see bpf/skip.bpf.h; it need not be alone */
	struct qz_waiting waiting; /* up to its sites */
	/* rarely */
	union {
		struct {
			union {		     /* in units of 2^QZ_BEGAN_SHIFT ns, modulo 2^32 */
				__u32 began; /* when the wait last looked at began */
				__u32 woken; /* each is looked at: when it was last woken, but not yet blocked */
			};
			__u32 claims; /* qz_slot.claims, the same as long as the slot is this thread's */
		};
		__u64 more; /* skipped: what ns[QZ_RUNNING] had more than the kernel's account when that began */
	};
	__u64 seen;	/* first seen: creation, or attach */
	__u64 cpu_base; /* sum_exec_runtime when first seen */
	/* In quartzd's pid namespace, as in all records: kept, since a thread may lose its own before its end is told. */
	__s32 tid, tgid;
};

/* ---- scopes: memory-mapped array ---- */

/* Packed word: low 12 bits the number of running threads, above them 52 bits of the time. */
#define QZ_LEVEL_BITS 12
#define QZ_LEVEL_MASK ((1ull << QZ_LEVEL_BITS) - 1)
#define QZ_TIME_MASK  ((1ull << (64 - QZ_LEVEL_BITS)) - 1)

/*
 * Packed word of nominal parallelism: low 16 bits the number n of runnable threads, above them
 * M = sum of delta * t over its changes, in units of 256 ns modulo 2^48. A change is one atomic
 * addition, and n * t - M is the integral of n up to t: the mean over a wait is the difference of
 * two integrals. Unambiguous while mean * wait < 2^48 units: 20 hours for 1000 threads.
 */
#define QZ_NOMINAL_BITS	 16
#define QZ_NOMINAL_MASK	 ((1ull << QZ_NOMINAL_BITS) - 1)
#define QZ_INTEGRAL_MASK ((1ull << (64 - QZ_NOMINAL_BITS)) - 1)
#define QZ_NOMINAL_SHIFT 8 /* from ns to units */
#define QZ_MAX_NOMINAL	 4095

/* What to add to the word for a change of n by delta at time t. */
static inline __u64 qz_nominal__packed_delta(int delta, __u64 t)
{
	__s64 d = delta;

	return (__u64)d + (((__u64)d * (t >> QZ_NOMINAL_SHIFT)) << QZ_NOMINAL_BITS);
}

/* The integral of n up to t. */
static inline __u64 qz_nominal__integral(__u64 word, __u64 t)
{
	__u64 n = word & QZ_NOMINAL_MASK;

	return (n * (t >> QZ_NOMINAL_SHIFT) - (word >> QZ_NOMINAL_BITS)) & QZ_INTEGRAL_MASK;
}

/*
 * The mean of n from the time when its integral was `from` until t, ns later, rounded. Where that is
 * within one unit it is the n of now.
 */
static inline __u32 qz_nominal__mean(__u64 word, __u64 from, __u64 t, __u64 ns)
{
	__u64 units = (t >> QZ_NOMINAL_SHIFT) - ((t - ns) >> QZ_NOMINAL_SHIFT);
	__u64 mean = word & QZ_NOMINAL_MASK;

	if (units)
		mean = (((qz_nominal__integral(word, t) - from) & QZ_INTEGRAL_MASK) + units / 2) /
		       units;
	return mean < QZ_MAX_NOMINAL ? mean : QZ_MAX_NOMINAL;
}

/* From 16 on, means are rounded down by a fifth at most: so that few of them differ. */
static inline __u32 qz_nominal__group(__u32 mean)
{
	if (mean < 16)
		return mean;
	if (mean < 64)
		return mean & ~3u;
	if (mean < 256)
		return mean & ~15u;
	return mean < 1024 ? mean & ~63u : mean & ~255u;
}

/* The part of a site for a mean that is grouped: neighbours have different ones. */
static inline __u32 qz_nominal__part(__u32 group)
{
	if (group < 16)
		return group & 1;
	if (group < 64)
		return group >> 2 & 1;
	if (group < 256)
		return group >> 4 & 1;
	return (group < 1024 ? group >> 6 : group >> 8) & 1;
}

/* What all scopes share, of which none may take all: see bpf/quota.bpf.h. */
enum qz_share {
	QZ_SHARE_STACKS, /* of waits */
	QZ_SHARE_FRAMES, /* of these, since the last drain */
	QZ_SHARE_WAITS,	 /* slots of the table of waits */
	QZ_SHARE_OBJECTS,
	QZ_SHARES,
};

/* Names of the above in ledgers, in order: what was refused to who had taken his share. */
#define QZ_SHARE_NAMES                                                                             \
	{                                                                                          \
		"wait_stacks_limited", "wait_frames_limited", "waits_limited", "objects_limited"   \
	}

struct qz_scope_state {
	__u64 running;	/* packed: effective parallelism and since when */
	__u64 runnable; /* packed: nominal parallelism, running + ready threads */
	__u64 alive;	/* threads that have not ended */
	__u64 began;
	__u64 ended; /* when alive came to 0; 0 before */
	/* sums over the threads that have ended, so that totals never depend on an event */
	__u64 ended_ns[QZ_THREAD_STATES];
	__u64 ended_cpu;
	__u32 follows; /* children become part of the scope */
	__s32 pid;
	__u64 waits_lost; /* for want of room, and their times */
	__u64 lost_blocked_ns;
	__u64 lost_ready_ns;
	__u64 woken_ns;	    /* time until woken; see qz_wait_slot */
	__u64 wakings_lost; /* wake-ups, for want of room, and their times */
	__u64 woken_lost_ns;
	__u32 shares[QZ_SHARES]; /* that it has; set right by quartzd at each drain */
	__u32 drain;		 /* of its frames */
	/* See bpf/group.bpf.h. */
	__u32 youth;	  /* enum qz_youth */
	__u32 unreported; /* enum qz_image_cause of the image that quartzd was not told of; 0: it was */
	__u32 origin;	  /* the image that its process was forked from */
	__u32 group;	  /* folded: scope of the group that has its figures */
	__u32 serial;	  /* of a group: in the place of that of a thread, in its waits */
	struct qz_scope_counters counters;
};

/* Whether what a process does is its own or a group's: bpf/group.bpf.h. */
enum qz_youth {
	QZ_GROWN,  /* its own */
	QZ_YOUNG,  /* its own, until it ends */
	QZ_FOLDED, /* it has ended, and the group has it */
	QZ_GROUP,  /* this is a group */
};

#define QZ_GROUPS 1024

/* Which processes are put together: those of a program in a unit. */
struct qz_group_key {
	__u64 cgroup; /* its number */
	char comm[QZ_COMM_LEN];
};

/* ---- processors: memory-mapped array ---- */

enum qz_sample_loss {
	QZ_LOSS_UNSETTLED, /* the scope was at level 0, adoption not finished; or none was left, bpf/passed.bpf.h */
	QZ_LOSS_STACKS_FULL,  /* no slot for a new stack */
	QZ_LOSS_FRAMES_FULL,  /* no room for the frames of a new stack */
	QZ_LOSS_SAMPLES_FULL, /* no slot for a new sample key */
	QZ_LOSS_STACK_FAULT,  /* neither a user nor a kernel frame could be had */
	QZ_LOSSES,
};

/* Names of the above in ledgers, in order. */
#define QZ_LOSS_NAMES                                                                              \
	{                                                                                          \
		"unsettled", "stacks_full", "frames_full", "samples_full", "stack_fault"           \
	}

/* Kinds of calls whose own kind does not interrupt them, for what they cost. */
enum qz_timed { QZ_TIMED_SWITCH, QZ_TIMED_WAKEUP, QZ_TIMED_LIFE, QZ_TIMED };

#define QZ_TIMED_CALLS 61 /* a prime, so as to be in step with nothing */

/* What processes did that ended in turn on a processor, are of one group, and were passed, see bpf/passed.bpf.h. */
struct qz_passed_sum {
	struct qz_group_key key;
	__u32 group, serial; /* its scope, and of that */
	__u64 processes;     /* 0: none, and the rest means nothing */
	__u64 life_ns;
	__u64 cpu_ns, delay_ns; /* by the kernel's accounts */
};

/*
 * One processor, written by itself only, except `run`, and `records` of the buffer that quartzd has emptied.
 *
 * `task` is the thread last seen coming in. The switch tracepoint is not gapless on every host:
 * when prev is another one, the thread in the mark left unseen. Its scope must be told once, by
 * whoever notices first (this processor at its next switch, or another one that sees the thread
 * again), and that is who makes `run` odd, by exchange, from the even value of that switch-in.
 */
struct qz_cpu_state {
	/* what each switch touches: two cache lines */
	__u64 task;	/* address, only ever compared; 0: nothing seen yet */
	__u64 run;	/* 2 more at each switch-in, 1 more by whoever settles a gap */
	__u64 behind;	/* so much the clock of the runqueue is, see bpf/idle.bpf.h; 0: not known */
	__u32 scope;	/* of that thread, or QZ_NO_SCOPE */
	__u32 skipping; /* switches are skipped, see bpf/skip.bpf.h; set by quartzd, cleared here */
	__u64 switches; /* context switches of any thread */
	__u64 idle_ns;	/* nothing to run: no samples are expected then */
	__u64 idle_since; /* 0: not idle */
	__u16 counted;	  /* for the machine, see enum qz_counted */
	__u16 open;	  /* enum qz_open */
	__u32 halvings;	  /* of the rates, written by quartzd */
	/* Of the thread that runs, for who reads its slot; good if run is the same afterwards. */
	__u32 serial, image, page, slot; /* see qz_thread_state */
	/* What Quartz costs here: of the accounting, one call in QZ_TIMED_CALLS is timed. */
	__u64 began[QZ_TIMED]; /* when the call under way began, 0: it is not timed */
	__u16 records[2];      /* in each buffer, see struct qz_sample_record */
	__u32 wakings_left;    /* wake-ups to pass before one is looked at, see bpf/release.bpf.h */
	__u64 wait_reuses; /* stacks of waits that were taken for the last one's of the same place */
	__u64 mark;	   /* run at the last switch-in */
	/* the rest */
	__u64 wait_walks; /* stacks of waits that were walked */
	__u64 idle_ahead; /* the kernel's account of idle time less idle_ns; 0: not known, see bpf/idle.bpf.h */
	__u64 accepted;
	__u64 filtered; /* a thread outside of every scope */
	__u64 lost[QZ_LOSSES];
	__u64 gaps; /* implicit switches settled */
	/* Where the last sample was, for quartzd to judge soon; the words may be of two samples. */
	__u64 leaf;	     /* user address */
	__u64 caller;	     /* the call before, 0: not known */
	__u32 leaf_image;    /* see leaf */
	__u32 in_sample;     /* epoch + 1 while the sampler runs, else 0 */
	__u64 accounting_ns; /* of timed calls at switches and wake-ups, walks left out */
	__u64 sampling_ns, walking_ns;
	/* A line for ends of processes, and one for forks. */
	struct qz_passed_sum passed;
	__u64 lifecycle_ns; /* of timed calls at forks, execs and ends of processes */
	__u64 forks_passed; /* see bpf/passed.bpf.h */
	__u64 fork_time;    /* of the last one */
	__u64 fork_room;    /* ns, of which each that is looked at takes some */
	__u64 unused[4];
};

/* Whether of the thread that runs some time before is not accounted for yet, see switch__count(), and of its scope. */
enum qz_open { QZ_OPEN_NOT, QZ_OPEN, QZ_OPEN_THREAD };

/* How the machine's level has a processor. */
enum qz_counted { QZ_COUNTED_NOT, QZ_COUNTED_IDLE, QZ_COUNTED_BUSY };

/* ---- page sets (quartz/page.h): hash table by image, written by the daemon ---- */

/* Where a process has mapped its page set. Its own word: read from as that process only. */
struct qz_page_place {
	__u64 slots;
	__u64 tables;
	__s64 slot_pointer; /* see qz_page_request.slot_pointer_offset */
	__u32 index;	    /* number of the page set */
	__u32 pad;
};

/* ---- addresses of code that waits: memory-mapped hash table ---- */

#define QZ_SPIN_ADDRESSES 16384 /* a power of two */
#define QZ_SPIN_PROBES	  16

/*
 * Written by quartzd, which sets `address` last and takes out nothing but all; read by the sampler.
 * A slot follows upon its hash, or upon slots in use, at most QZ_SPIN_PROBES.
 */
struct qz_spin_address {
	__u64 address; /* 0: free */
	__u32 image;   /* 0: of the kernel */
	__u16 written; /* registers that the loop writes, see struct spin_code in symbolizer.h */
	__u16 flags;   /* enum qz_spin_flags; the base of what is watched is in the upper half */
	__u64 start;   /* of the loop */
	__u64 at;      /* of what is watched: distance from the register, or its address */
	__s32 first, many; /* of the loop's counter, see struct spin_code */
	__u32 counter;	   /* its register */
	__u32 zero;
};

static inline __u32 qz_spin__hash(__u32 image, __u64 address)
{
	__u64 h = (address ^ (__u64)image << 40) * 0x9e3779b97f4a7c15ull;

	return (__u32)(h >> 32);
}

/* ---- samples: two buffers, each of three memory-mapped arrays ---- */

enum qz_stack_stored {
	QZ_STACK_FILLING,
	QZ_STACK_STORED,  /* the frames are complete */
	QZ_STACK_NO_ROOM, /* there was no room for them */
};

/*
 * The sampler writes to buffer (epoch & 1); the daemon moves the epoch on, waits until no processor
 * is in an older one, reads the other buffer and zeroes it.
 *
 * A slot is taken by compare-and-swap of its key from 0, so that the sampler may interrupt itself
 * (NMI) and no lock is needed.
 */
struct qz_stack_slot {
	__u64 hash; /* of frames and all below but offset and stored, never 0 in use */
	__u32 image;
	__u32 offset;  /* of the frames in this buffer */
	__u16 nkernel; /* kernel frames come first, innermost first */
	__u16 nuser;
	__u16 depth; /* user frames walked; when more than nuser, see QZ_INNER_FRAMES */
	__u8 end;    /* enum qz_unwind_end */
	__u8 stored; /* enum qz_stack_stored, written last */
	/*
	 * Ids of the thread's profile stack stand behind the user frames, outermost first: those of
	 * the task that it works on, and then what it has entered since.
	 */
	__u8 ntask, nown;
	__u8 profiled; /* the thread has a slot */
	__u8 pad[5];
};

/*
 * What one processor did at one instant, its answer in that round. Each processor writes those of its own, one
 * after the other, to a part of each buffer.
 *
 * key: stack slot (20 bits) | level (12 bits) | thread serial (32 bits)
 * time: units of 2^QZ_ROUND_SHIFT ns modulo 2^30 (30 bits) | stream of the timer, see daemon/kernel/timer_phase.h (2 bits)
 */
struct qz_sample_record {
	__u64 key;
	__u32 time;
	__u16 machine; /* its level, 0 where it is no scope */
	__u16 object;  /* held, or spun on; 0: none */
	__u16 changed; /* registers, as instructions number them, since the sample of the thread before */
	__u16 flags; /* enum qz_record_flags */
	__u32 zero;
};

enum qz_record_flags {
	QZ_RECORD_SPINNING = 1, /* as far as was known to the sampler */
	QZ_RECORD_FIRST = 2,	/* nothing is known of the sample before */
};

#define QZ_ROUND_SHIFT		  10
#define QZ_STREAM_BITS		  2
#define QZ_ROUND_TIME(ns, stream) ((__u32)((ns) >> QZ_ROUND_SHIFT) << QZ_STREAM_BITS | (stream))

#define QZ_SAMPLE_KEY(stack, level, serial)                                                        \
	((__u64)(stack) << 44 | (__u64)(level) << 32 | (__u64)(serial))
#define QZ_SAMPLE_STACK(key)  ((__u32)((key) >> 44))
#define QZ_SAMPLE_LEVEL(key)  ((__u32)((key) >> 32) & 0xfff)
#define QZ_SAMPLE_SERIAL(key) ((__u32)(key))

/* ---- waits: memory-mapped arrays ---- */

/*
 * Stacks of waits. A slot is taken by compare-and-swap of its hash and stays until quartzd frees it,
 * which it does when the process has ended. Its frames stand in a ring of words from `offset`
 * on; quartzd takes them out about once a second and tells in control.wait_frames_read how far.
 */
struct qz_wait_stack {
	struct qz_stack_slot stack; /* no kernel frames */
	__u32 cause;		    /* enum qz_wait_cause */
	__s32 asleep; /* thread that slept when it was found: its qz_user_registers are the frames */
	__u32 scope;
	__u32 pad;
};

/*
 * Waits that are equal in key and object; quartzd exchanges the figures for 0 about once a second.
 * key: stack (20 bits, see qz_wait_site) | nominal (12 bits) | thread serial (32 bits)
 * variance: of blocked_ns + ready_ns, in units of 2^20 ns^2, where a wait that was looked at stands for others.
 * It frees a slot that was idle in two steps a second apart: first object becomes
 * QZ_WAIT_RETIRED, so that nobody finds the slot any more; then, with all that was added
 * meanwhile taken out, key becomes 0. So a slot that was just taken is nobody's until object is written.
 */
struct qz_wait_slot {
	__u64 key;
	__u32 object;
	__u32 scope;
	__u64 count;
	__u64 blocked_ns;
	__u64 ready_ns;
	__u64 variance;
};

/*
 * Wake-ups stand in the same table, with this in the place of nominal: `stack` is of the code that
 * is charged, count of those made from there, blocked_ns the time until woken. serial 0: nobody that
 * is known made them. Where the time until woken is not wanted, only those are there that let go of an
 * object, and their count is an estimate.
 */
#define QZ_WAKING 4095

#define QZ_WAIT_RETIRED 0xffffffffu

#define QZ_WAIT_KEY(stack, nominal, serial) QZ_SAMPLE_KEY(stack, nominal, serial)
#define QZ_WAIT_STACK(key)		    QZ_SAMPLE_STACK(key)
#define QZ_WAIT_NOMINAL(key)		    QZ_SAMPLE_LEVEL(key)
#define QZ_WAIT_SERIAL(key)		    QZ_SAMPLE_SERIAL(key)

/* ---- objects: two memory-mapped arrays ---- */

enum qz_object_tag {
	QZ_TAG_FUTEX = 1,
	QZ_TAG_PIPE,
	QZ_TAG_SOCKET,
	QZ_TAG_FILE,
};

#define QZ_OBJECT_SLOTS 8192u /* a power of two; numbers, from 1, have 19 bits in a sample */
#define QZ_WORD_BYTES	20
#define QZ_LENGTHS	16 /* of queues, the last one is for all beyond */

/*
 * What somebody waited for. A slot is taken by compare-and-swap of its hash; who took it tells of what it is, fills it,
 * and sets `stored` after each of the two. When nobody refers to a slot and nothing has happened there for some seconds,
 * quartzd sets its hash to QZ_OBJECT_RETIRED: nobody finds it then. If nobody refers to it a second later, hash becomes 0.
 */
struct qz_object_slot {
	__u64 hash;    /* of tag, space, place and offset, which tell it from others */
	__u64 space;   /* image; of what processes share, scope and device */
	__u64 place;   /* address; of what processes share, inode number */
	__u64 offset;  /* of a word that processes share, in the inode */
	__u64 address; /* of the futex word; inode number */
	__u32 tag;     /* enum qz_object_tag */
	__u32 scope;
	__u32 image;  /* of the first waiter */
	__u32 serial; /* likewise */
	__u32 stack;  /* of its wait, see qz_wait_site */
	__u32 op;     /* second and third argument of its futex call */
	__u32 val;
	__s32 fd; /* of its other call */
	__u16 nbytes;
	__u16 rwlock;		   /* quartzd: for reading and writing */
	__u8 bytes[QZ_WORD_BYTES]; /* from the word on */
	__u32 refs;		   /* sites of threads that name it */
	__u32 stored;		   /* enum qz_object_stored */
};

/* A first waiter that slept when it was found tells less of the object than the next one. */
enum qz_object_stored {
	QZ_OBJECT_FILLING,
	QZ_OBJECT_STORED,
	QZ_OBJECT_ASLEEP,     /* by one that was found asleep: no stack but a frame, no bytes */
	QZ_OBJECT_REFILLED,   /* another one is writing */
	QZ_OBJECT_IDENTIFIED, /* the first one is writing, and what it is of is there */
};

/*
 * `queue` packs the number of waiters with the time of its last change, as qz_scope_state.running
 * does. All are added to atomically; quartzd exchanges the figures for 0. Who waits alone touches one cache line.
 */
struct qz_object_figures {
	__u64 queue;
	__u32 acquirer;	 /* serial of the thread that was woken last */
	__u32 releaser;	 /* and of that which woke it */
	__u64 wakes;	 /* waits that a thread ended by a system call */
	__u64 beyond_ns; /* time times waiters, of queues that the last length stands for */
	struct {
		__u64 ns;	/* with so many waiters; of none it is not kept */
		__u64 arrivals; /* waits that found so many */
	} lengths[QZ_LENGTHS];
} __attribute__((aligned(64)));

/* In the place of a futex call's argument: the word was first seen by a thread that spun on it. */
#define QZ_OP_SPUN 0xffffffffu

#define QZ_OBJECT_RETIRED 1

/* ---- ring buffer: rare events ---- */

enum qz_event_type {
	QZ_EVENT_CREATION = 1,	 /* struct qz_creation_event */
	QZ_EVENT_PROCESS = 2,	 /* struct qz_process_event */
	QZ_EVENT_THREAD_END = 3, /* struct qz_thread_event */
	QZ_EVENT_SCOPE_END = 4,	 /* struct qz_scope_event */
	QZ_EVENT_UNKNOWN_CODE =
		5,	    /* struct qz_event: a walk met code that quartzd does not know yet */
	QZ_EVENT_GROUP = 6, /* struct qz_group_event */
};

struct qz_event {
	__u32 type;
	__u32 length; /* of the whole record */
	__u64 time;
};

/* Where a thread is in user code: what a walk of its stack begins with. */
struct qz_user_registers {
	__u64 ip, sp, bp;
};

/* A thread or process was started by a thread of a scope. */
struct qz_creation_event {
	struct qz_event event;
	__u32 parent; /* serials */
	__u32 child;
	__u32 image;		       /* of the parent: whose code the stack belongs to */
	__u32 process;		       /* the child is a process of its own */
	struct qz_user_registers regs; /* of the parent */
	__u32 size;		       /* bytes that follow */
	__u32 nframes; /* they are so many return addresses, innermost first; 0: stack from sp upwards */
	__u8 stack[];
};

/*
 * A process has a new memory image: by fork (the parent's code under a new number) or by exec.
 * Images, not processes, are what addresses mean something in; an image number is never reused.
 */
enum qz_image_cause { QZ_IMAGE_FOUND = 1, QZ_IMAGE_FORK = 2, QZ_IMAGE_EXEC = 3 };

struct qz_process_event {
	struct qz_event event;
	__u32 cause; /* enum qz_image_cause */
	__u32 image;
	__u32 parent; /* image forked from or replaced, 0 when not known */
	__u32 scope;
	__s32 tgid;
	__u32 leader;	      /* serial of its first thread when its creation is not told, else 0 */
	__u64 start_boottime; /* with tgid, the identity of the process */
	__u64 began;	      /* what was mapped before then was another process's */
	char comm[QZ_COMM_LEN];
	struct qz_user_registers regs; /* found only: of the leader */
};

/* Waits of a thread that are not in the table of waits, see struct qz_wait_site and qz_wait_part. */
struct qz_thread_wait {
	__u32 stack;
	__u32 object;
	__u32 nominal;
	__u32 count;
	__u64 blocked_ns;
	__u64 ready_ns;
};

#define QZ_THREAD_WAITS (2 + QZ_SITES * QZ_PARTS)

/*
 * A thread as it stands (dump, or an event whose state is not QZ_DEAD) or ended (event): of its state
 * what quartzd needs, since many may end at once. event.length tells how many waits there are. The
 * first one of a thread that stands is that which it is in, or was in last, up to `since`; a thread
 * that has ended is in none.
 */
struct qz_thread_event {
	struct qz_event event;
	__u32 serial, state, scope, image; /* as in struct qz_thread_state */
	__u32 page, slot, claims;
	__u32 gone; /* as it stands: its run is over, see qz_cpu_state */
	__s32 tid;
	__s32 tgid;
	__u64 seen;
	__u64 since;
	__u64 ns[QZ_THREAD_STATES];
	__u64 cpu; /* until it came in or went out last */
	char comm[QZ_COMM_LEN];
	struct qz_thread_wait waits[QZ_THREAD_WAITS];
};

struct qz_scope_event {
	struct qz_event event;
	__u32 scope;
	__u32 pad;
};

/* There is a new group. */
struct qz_group_event {
	struct qz_event event;
	__u32 scope;
	__u32 serial;	/* of its threads */
	__u32 relative; /* an image whose process is in the same unit; 0: none is known */
	__u32 pad;
	struct qz_group_key key;
};

/* ---- text tables ---- */

#define QZ_TEXT_NAME 160

/* One leading procedure of one scope, written by quartzd now and then. */
struct qz_text_procedure {
	__u64 total_norm_ns, self_norm_ns, self_cpu_ns, samples;
	__u32 rank; /* from 1; 0: unused */
	__u32 scope;
	char name[QZ_TEXT_NAME]; /* escaped */
};

/* ---- control: one entry, memory-mapped, written by the daemon ---- */

struct qz_control {
	__u64 heartbeat; /* written every tick, 0 before the first; the text tables print its age */
	__u64 left_alone; /* when the sampler saw that quartzd does not run, see bpf/watchdog.bpf.h; 0: it runs */
	__u64 samples_alone; /* by cycles: how many were not taken since */
	__u32 epoch;
	__u32 text_reads;     /* of a text table, by anybody */
	__u32 stacks_used[2]; /* by the sampler: how full each buffer is */
	__u32 frames_used[2];
	__u32 next_serial;
	__u32 next_image;
	__u64 events_lost;	   /* ring buffer records of any type for which there was no room */
	__u64 noticed;		   /* time of the last QZ_EVENT_UNKNOWN_CODE */
	__u64 scopes_refused;	   /* processes beyond the number of scopes */
	__u64 threads_refused;	   /* no memory for the state of a thread */
	__u32 wait_frames_used;	   /* words ever taken of the ring of frames, modulo 2^32 */
	__u32 wait_frames_read;	   /* of these, free again */
	__u64 objects_full;	   /* waits whose object had no room: they are without */
	__u64 wait_stacks_lost;	   /* no room for a stack: the wait has its cause alone */
	__u32 running_stacks;	   /* of code that woke others, or ran before */
	__u32 waking_rows;	   /* wake-ups in the table of waits; quartzd corrects it */
	__u64 running_stacks_lost; /* likewise */
	__u32 shared[QZ_SHARES];   /* what all scopes have; of frames see wait_frames_used */
	__u64 limited[QZ_SHARES];  /* refusals */
	__u32 drain;		   /* number of the last one */
	__u32 asleep_stacks;	   /* of threads that slept when they were found */
};

_Static_assert(QZ_OBJECT_SLOTS < 65536, "numbers of objects have 16 bits in the state of a thread");
_Static_assert(QZ_MAX_LEVEL < 65536, "so have processors");
_Static_assert(sizeof(struct qz_wait_site) == 64, "layout");
_Static_assert(16 + __builtin_offsetof(struct qz_thread_state, waiting.sites) == 128,
	       "a switch touches two lines of the state of a thread, and a place");
_Static_assert(__builtin_offsetof(struct qz_cpu_state, wait_walks) == 128,
	       "and two of the state of a processor");
/* with what the kernel has before it, 512 bytes: a byte more, and each thread takes 1,024 */
_Static_assert(sizeof(struct qz_thread_state) == 416, "layout");
_Static_assert(sizeof(struct qz_scope_state) == 176 + sizeof(struct qz_scope_counters), "layout");
_Static_assert(sizeof(struct qz_cpu_state) == 384, "layout");
_Static_assert(sizeof(struct qz_spin_address) == 48, "layout");
_Static_assert(sizeof(struct qz_stack_slot) == 32, "layout");
_Static_assert(sizeof(struct qz_text_procedure) == 200, "layout");
_Static_assert(sizeof(struct qz_wait_stack) == 48, "layout");
_Static_assert(sizeof(struct qz_wait_slot) == 48, "layout");
_Static_assert(sizeof(struct qz_object_slot) == 104, "layout");
_Static_assert(sizeof(struct qz_object_figures) == 320, "layout");
_Static_assert(sizeof(struct qz_sample_record) == 24, "layout");
_Static_assert(sizeof(struct qz_creation_event) == 64, "layout");
_Static_assert(sizeof(struct qz_group_event) == 56, "layout");
_Static_assert(sizeof(struct qz_process_event) == 96, "layout");
_Static_assert(sizeof(struct qz_thread_event) == 128 + 32 * QZ_THREAD_WAITS, "layout");

#endif
