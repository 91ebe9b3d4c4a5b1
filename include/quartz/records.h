/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The contract between the BPF programs (bpf/) and quartzd (daemon/): every structure in a map that both use, and every
 * record of the ring buffer. Included by BPF programs, which have the kernel's types from vmlinux.h, and by user space.
 *
 * All times are nanoseconds of CLOCK_MONOTONIC (bpf_ktime_get_ns).
 */
#ifndef QUARTZ_RECORDS_H
#define QUARTZ_RECORDS_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#include "quartz/loop_counters.h"
#include "quartz/transfer_counters.h"
#include "quartz/scope_counters.h"

#define QZ_COMM_LEN 16
#define QZ_KERNEL_NAME                                                                             \
	768 /* of an address of the kernel: with its offset, at most KSYM_SYMBOL_LEN */
#define QZ_TEXT_LEVELS                                                                             \
	65 /* levels of a scope in text tables; the last one has the time of all levels beyond */
#define QZ_USER_FRAMES	 128
#define QZ_KERNEL_FRAMES 64
/* Of a deeper stack, so many innermost frames are kept, and a ring of the outermost ones. */
#define QZ_INNER_FRAMES 96
#define QZ_OUTER_FRAMES 32    /* the two add up to QZ_USER_FRAMES */
#define QZ_STACK_COPY	24576 /* bytes of a creator's user stack */
#define QZ_NO_SCOPE	0xffffffffu
/* Where every process is a scope, there are two more scopes: */
#define QZ_SCOPE_OF_MACHINE 0 /* its level is the number of processors that are not idle */
#define QZ_SCOPE_OF_KERNEL  1 /* the kernel's own threads */
#define QZ_OWN_SCOPES	    2
/* So many scopes are reserved for groups, for when all others are in use. */
#define QZ_SPARE_SCOPES 16
#define QZ_MAX_LEVEL	4094 /* 12 bits of the packed word, one value spare */

/*
 * The place of the i-th frame from the inner end, in a stack of `depth` frames of which `kept` are kept. The ring of the
 * outer frames begins after the last one.
 */
static inline __u32 qz_kept_frame(__u32 depth, __u32 kept, __u32 i)
{
	if (depth > kept && i >= QZ_INNER_FRAMES)
		return QZ_INNER_FRAMES + (depth + i - QZ_INNER_FRAMES) % QZ_OUTER_FRAMES;
	return i;
}

/* ---- threads ---- */

/* States of a thread, as indices of times. A thread that has ended is in QZ_DEAD, which has no time. */
enum qz_state {
	QZ_UNKNOWN = 0, /* not seen: before its first record, or after a gap */
	QZ_RUNNING = 1,
	QZ_READY = 2,
	QZ_BLOCKED = 3,
	QZ_THREAD_STATES = 4,
	QZ_DEAD = 4,
};

/*
 * Why a thread went off its processor. A value from QZ_WAIT_SYSCALL on is a system call by its
 * number; the others have names in QZ_WAIT_NAMES.
 */
enum qz_wait_cause {
	QZ_WAIT_UNKNOWN, /* it was not seen, or waits were lost */
	QZ_WAIT_FUTEX,
	QZ_WAIT_DISK,	    /* in a system call; the kernel marks the wait as input or output */
	QZ_WAIT_PAGE_FAULT, /* in an exception: a page had to be read */
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
	QZ_WAIT_UNUSED,	   /* reserved: kept logs store numbers of causes */
	QZ_WAIT_FROZEN,	   /* with its control group, or the machine */
	QZ_WAIT_MAP_LOCK, /* for the lock of its process' memory map, in mmap, munmap, a page fault */
	QZ_WAIT_IO_URING, /* for requests of several kinds, or of an unknown kind */
	QZ_WAIT_NAMED,
	QZ_WAIT_SYSCALL = 32,
	QZ_WAIT_CAUSES = 1024,
};

#define QZ_WAIT_NAMES                                                                              \
	{                                                                                          \
		"unknown", "futex", "disk", "page_fault", "pipe", "socket", "poll", "sleep",       \
			"child", "preempted", "start", "stopped", "kernel", "running", "unused",   \
			"frozen", "map_lock", "io_uring"                                           \
	}

/* A frame near the outer end of a thread's last deep stack, see bpf/unwind.bpf.h. */
struct qz_unwind_mark {
	__u64 ip, sp, bp; /* ip 0: there is none */
};

/*
 * The state of a thread for programs at samples, waits and wake-ups: task storage. Made when the thread is reported: at
 * fork, by the sampler, or by an iterator.
 */
struct qz_thread_state {
	__u32 serial; /* unique in one run of quartzd, from 1 */
	__u32 scope;
	__u32 image;  /* of the process, see qz_process_event */
	__u32 place;  /* QZ_LOG_PLACE where it slept when it was found; 0: it did not */
	__u16 page;   /* page set of the process + 1, see qz_page_place; 0: none, or not yet seen */
	__u16 slot;   /* of the thread in it + 1 */
	__u32 claims; /* qz_slot.claims, the same as long as the slot is this thread's */
	__u64 seen;   /* first seen: creation, or attach */
	/*
	 * In quartzd's pid namespace, as in all records. Kept here, since a thread may lose its number before its end is
	 * reported.
	 */
	__s32 tid, tgid;
	__u64 calls;  /* read or written, when quartzd looked last: bpf/transfers.bpf.h */
	__u64 python; /* its PyThreadState, see bpf/python.bpf.h */
	struct qz_unwind_mark mark;
};

/* ---- scopes: memory-mapped array ---- */

/* Packed word: low 12 bits the number of running threads, above them 52 bits of the time. */
#define QZ_LEVEL_BITS 12
#define QZ_LEVEL_MASK ((1ull << QZ_LEVEL_BITS) - 1)
#define QZ_TIME_MASK  ((1ull << (64 - QZ_LEVEL_BITS)) - 1)

#define QZ_MAX_NOMINAL 4095

/* From 16 on, rounds means down by a fifth at most, so that there are few different values. */
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

/* Resources that all scopes share; no scope may take all of one, see bpf/quota.bpf.h. */
enum qz_share {
	QZ_SHARE_STACKS, /* of waits */
	QZ_SHARE_FRAMES, /* of these, since the last drain */
	QZ_SHARE_OBJECTS,
	QZ_SHARES,
};

/* Names of the above in ledgers, in order: refusals to scopes that had taken their share. */
#define QZ_SHARE_NAMES                                                                             \
	{                                                                                          \
		"wait_stacks_limited", "wait_frames_limited", "objects_limited"                    \
	}

/*
 * Filled by quartzd from the log (daemon/log/live.h), except for what programs need or count: follows, pid, process,
 * shares, counters.
 */
struct qz_scope_state {
	__u64 running;	/* packed: effective parallelism and since when */
	__u64 runnable; /* nominal parallelism: running + ready threads */
	__u64 alive;	/* threads that have not ended */
	__u64 began;
	__u64 ended; /* when alive came to 0; 0 before */
	/* sums over the threads that have ended */
	__u64 ended_ns[QZ_THREAD_STATES];
	__u64 ended_cpu;
	__u32 follows; /* children become part of the scope */
	__s32 pid;
	__u32 process; /* pid of a target that was found, in the initial pid namespace */
	__u32 youth;   /* enum qz_youth */
	__u32 begun; /* one of its threads has been followed; counters.threads_seen comes from the log */
	__u64 woken_ns;		 /* time until woken */
	__u32 shares[QZ_SHARES]; /* that it has taken; corrected by quartzd at each drain */
	__u32 drain;		 /* of its frames */
	__u32 group;		 /* if folded: scope of the group that has its figures */
	__u32 serial;		 /* of a group: stands for a thread's serial in its waits */
	struct qz_scope_counters counters;
};

/* Whether the figures of a process are its own or a group's: daemon/log/live_groups.h. */
enum qz_youth {
	QZ_GROWN,  /* its own */
	QZ_YOUNG,  /* its own, until it ends */
	QZ_FOLDED, /* it has ended, and the group has it */
	QZ_GROUP,  /* this is a group */
};

/* The key of a group: processes of one program in one control group. */
struct qz_group_key {
	__u64 cgroup; /* its number */
	char comm[QZ_COMM_LEN];
};

/* ---- processors: memory-mapped array ---- */

enum qz_sample_loss {
	QZ_LOSS_UNSETTLED, /* of a process that could not be reported, as no scope was left: bpf/tell.bpf.h */
	QZ_LOSS_STACKS_FULL,  /* no slot for a new stack */
	QZ_LOSS_FRAMES_FULL,  /* no room for the frames of a new stack */
	QZ_LOSS_SAMPLES_FULL, /* no slot for a new sample key */
	QZ_LOSS_STACK_FAULT,  /* neither a user nor a kernel frame could be read */
	QZ_LOSSES,
};

/* Names of the above in ledgers, in order. */
#define QZ_LOSS_NAMES                                                                              \
	{                                                                                          \
		"unsettled", "stacks_full", "frames_full", "samples_full", "stack_fault"           \
	}

/*
 * One processor. It writes its own entry, except `halvings`, `records` of the buffer that quartzd has emptied, and what
 * quartzd takes from the log: times and counts of the log's programs.
 */
struct qz_cpu_state {
	/*
	 * The running thread, for readers of its slot, where there are page sets: valid if `run` is even, and the same
	 * afterwards.
	 */
	__u64 run, mark;
	__u32 scope;			 /* or QZ_NO_SCOPE */
	__u32 serial, image, page, slot; /* see qz_thread_state */
	__u32 halvings;			 /* of the rates, written by quartzd */
	__u16 records[2];		 /* in each buffer, see struct qz_sample_record */
	__u16 registers[2];		 /* in each buffer: sets of them in use */
	__u16 pad[2];
	__u32 in_sample; /* epoch + 1 while the sampler runs, else 0 */
	__u64 accepted;
	__u64 filtered; /* a thread outside of every scope */
	__u64 lost[QZ_LOSSES];
	/* Where the last sample was, for quartzd to classify soon; the words may be of two samples. */
	__u64 leaf;	  /* user address */
	__u64 caller;	  /* the call before, 0: not known */
	__u32 leaf_image; /* see leaf */
	__u32 offline;	  /* quartzd's: it has no timers, and its time is not in idle_ns */
	__u64 sampling_ns;
	/* quartzd's, from the log as far as it is read; but idle_since is the program's until then */
	__u64 idle_ns;	  /* no thread to run: no samples are expected then */
	__u64 idle_since; /* 0: not idle, or in idle_ns */
	__u64 calls;	  /* of programs at switches and wake-ups */
	__u64 accounting_ns, walking_ns, wait_walks;
	__u64 gaps; /* switches that were not seen */
};

/* ---- page sets (quartz/page.h): hash table by image, written by the daemon ---- */

/* Where a process has mapped its page set, as the process says: to be read only in the context of that process. */
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
 * Written by quartzd, which sets `address` last and removes entries only all at once; read by the sampler. An entry is in
 * the slot of its hash or, after slots in use, in one of the next QZ_SPIN_PROBES.
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
 * A slot is taken by compare-and-swap of its key from 0: all processors share a buffer, and none
 * waits for another.
 */
struct qz_stack_slot {
	__u64 hash; /* of frames and all below but offset, stored and taken, never 0 in use */
	__u32 image;
	__u32 offset;  /* of the frames in this buffer */
	__u16 nkernel; /* kernel frames come first, innermost first */
	__u16 nuser;
	__u16 depth; /* user frames walked; when more than nuser, see QZ_INNER_FRAMES */
	__u8 end;    /* enum qz_unwind_end */
	__u8 stored; /* enum qz_stack_stored, written last */
	/*
	 * Ids of the thread's profile stack follow the user frames, outermost first: those of
	 * the task that it works on, and then what it has entered since.
	 */
	__u8 ntask, nown;
	__u8 profiled; /* the thread has a slot */
	/* Frames of Python (quartz/python.h) are between the user frames and those ids. */
	__u8 npython;
	__u16 python_depth; /* that were walked; of more than npython as depth has it */
	__u8 pad[2];
	/*
	 * When it was first seen. The sampler does not take it for the stack of another time if code at some of its addresses
	 * may have been replaced by other code since.
	 */
	__u64 taken;
};

/*
 * What one processor did at one instant: its answer in that round. Each processor appends its own answers to its part of
 * each buffer.
 *
 * key: stack slot (20 bits) | level (12 bits) | thread serial (32 bits)
 * time: units of 2^QZ_ROUND_SHIFT ns modulo 2^30 (30 bits) | stream of the timer, see daemon/kernel/timer_phase.h (2 bits)
 */
struct qz_sample_record {
	__u64 key;
	__u32 time;
	__u16 machine; /* its level, 0 where it is no scope */
	__u16 object;  /* that the thread holds or spins on; 0: none */
	__u16 changed; /* registers that differ from the thread's previous sample, as instructions number them */
	__u16 flags;	 /* enum qz_record_flags */
	__u16 registers; /* number + 1 of a set of the processor's own in this buffer; 0: none */
	__u16 woken;	 /* set by the replay: how often the thread has been woken, its low bits */
};

/*
 * The registers of a thread that was sampled in user mode, as instructions number them. Kept only for threads that share
 * memory with others, and up to a bound.
 */
struct qz_register_set {
	__u64 values[16];
};

enum qz_record_flags {
	QZ_RECORD_SPINNING = 1, /* as far as the sampler knew */
	QZ_RECORD_FIRST = 2,	/* the previous sample is not known */
	QZ_RECORD_IN_BLOCK = 4, /* set by the replay of the log: struct replay_moment */
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
 * which it does when the process has ended. Its frames are in a ring of words from `offset` on; quartzd takes them out
 * about once a second, and says in control.wait_frames_read how far.
 */
struct qz_wait_stack {
	struct qz_stack_slot stack; /* no kernel frames */
	__u32 cause;		    /* enum qz_wait_cause */
	__s32 asleep; /* thread that slept when it was found: its frames are its qz_user_registers */
	__u32 scope;
	__u32 pad;
};

/* In place of the nominal parallelism of a wait: this is a wake-up, charged to the code at the stack. */
#define QZ_WAKING 4095

/* ---- objects: a memory-mapped array ---- */

enum qz_object_tag {
	QZ_TAG_FUTEX = 1,
	QZ_TAG_PIPE,
	QZ_TAG_SOCKET,
	QZ_TAG_FILE,
	QZ_TAG_SEMAPHORES, /* a System V set */
	QZ_TAG_EVENT,	   /* an eventfd */
	QZ_TAG_LOCKS,	   /* what follows is a lock of the kernel */
	QZ_TAG_FLOCK = QZ_TAG_LOCKS,
	QZ_TAG_RECORD,	 /* a lock of a file by fcntl */
	QZ_TAG_INODE,	 /* held while a file or directory is changed */
	QZ_TAG_POSITION, /* of a descriptor that threads share */
	QZ_TAG_MAP,	 /* of the memory of a process */
	QZ_TAGS,
};

#define QZ_OBJECT_SLOTS 8192u /* a power of two; numbers, from 1, have 19 bits in a sample */
#define QZ_WORD_BYTES	20
#define QZ_LENGTHS	16 /* of queues, the last one is for all beyond */

/*
 * An object that a thread waited for. A program takes a slot by compare-and-swap of its hash, stores what the object is,
 * fills the rest, and sets `stored` after each of the two. When a slot has had no reference and no wait for some seconds,
 * quartzd sets its hash to QZ_OBJECT_RETIRED, so that no program finds it. If it still has no reference a second later,
 * hash becomes 0.
 */
struct qz_object_slot {
	__u64 hash;   /* of tag, space, place and offset, which identify it */
	__u64 space;  /* image; of what processes share, scope and device */
	__u64 place;  /* address; of what processes share, inode number */
	__u64 offset; /* of a word that processes share, in the inode */
	__u64 address; /* of the futex word; inode number, process of a map, number + 1 of an eventfd and a set */
	__u32 tag; /* enum qz_object_tag */
	__u32 scope;
	__u32 image;  /* of the first waiter */
	__u32 serial; /* of the first waiter */
	__u32 stack;  /* of its wait, see QZ_LOG_PLACE */
	__u32 op;     /* second and third argument of its futex call */
	__u32 val;
	__s32 fd; /* of its other call */
	__u32 nbytes;
	__u8 bytes[QZ_WORD_BYTES]; /* from the word on */
	__u32 refs;		   /* threads that wait there, by the log */
	__u32 stored;		   /* enum qz_object_stored */
};

/* A first waiter that slept when it was found gives less information about the object than the next one. */
enum qz_object_stored {
	QZ_OBJECT_FILLING,
	QZ_OBJECT_STORED,
	QZ_OBJECT_ASLEEP, /* by a thread that was found asleep: one frame instead of a stack, no bytes */
	QZ_OBJECT_REFILLED,   /* another one is writing */
	QZ_OBJECT_IDENTIFIED, /* the first one is writing, and its identity is stored */
};

/* Figures of an object, as quartzd takes them from the log; set to 0 when they become part of the profile. */
struct qz_object_figures {
	__u64 wakes;	 /* waits that a thread ended by a system call */
	__u64 in_vain;	 /* of these, for nothing: core/replay/grain.c */
	__u64 beyond_ns; /* time times waiters, of queues that the last length stands for */
	struct {
		__u64 ns;	/* with so many waiters; of none it is not kept */
		__u64 arrivals; /* waits that found so many */
	} lengths[QZ_LENGTHS];
};

/* In place of a futex call's argument: a thread that spun on the word was the first to use it. */
#define QZ_OP_SPUN 0xffffffffu

#define QZ_OBJECT_RETIRED 1

/* ---- ring buffer: rare events ---- */

enum qz_event_type {
	QZ_EVENT_CREATION = 1,	 /* struct qz_creation_event */
	QZ_EVENT_PROCESS = 2,	 /* struct qz_process_event */
	QZ_EVENT_THREAD_END = 3, /* struct qz_thread_event */
	QZ_EVENT_UNKNOWN_CODE =
		5,	    /* struct qz_event: a walk met code that quartzd does not know yet */
	QZ_EVENT_GROUP = 6, /* struct qz_group_event */
	QZ_EVENT_SLOT = 7,  /* struct qz_slot_event */
};

struct qz_event {
	__u32 type;
	__u32 length; /* of the whole record */
	__u64 time;
};

/* Where a thread is in user code: a walk of its stack begins here. */
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
	__u32 npython, python_depth; /* after them, as in struct qz_stack_slot */
	__u8 stack[];
};

/*
 * A process has a new memory image: by fork (the parent's code under a new number) or by exec.
 * Addresses have a meaning within an image, not within a process. An image number is never reused.
 */
enum qz_image_cause { QZ_IMAGE_FOUND = 1, QZ_IMAGE_FORK = 2, QZ_IMAGE_EXEC = 3 };

struct qz_process_event {
	struct qz_event event;
	__u32 cause; /* enum qz_image_cause */
	__u32 image;
	__u32 parent; /* image forked from or replaced, 0 when not known */
	__u32 scope;
	__s32 tgid;
	__u32 leader; /* serial of its first thread if its creation is not reported, else 0 */
	__u64 start_boottime; /* with tgid, the identity of the process */
	__u64 began;	      /* mappings before then were another process's */
	char comm[QZ_COMM_LEN];
	struct qz_user_registers regs; /* found only: of the leader */
};

/* Samples of a process that is in no scope. */
struct qz_outside {
	__u64 samples;
	char comm[QZ_COMM_LEN]; /* of its first thread, at the first of them */
};

/* A thread that has ended, or its present state, as quartzd takes it from the log. */
struct qz_thread_event {
	struct qz_event event;
	__u32 serial, state, scope, image; /* as in struct qz_thread_state; enum qz_state */
	__s32 tid;
	__s32 tgid;
	__u64 seen;
	__u64 since;
	__u64 ns[QZ_THREAD_STATES];
	__u64 cpu;
	struct qz_loop loop;
	struct qz_transfers transfers;
	char comm[QZ_COMM_LEN];
};

/* A thread has a slot of its process' page set, see struct qz_thread_state. */
struct qz_slot_event {
	struct qz_event event;
	__u32 serial, page, slot, claims;
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

/* One of the first procedures of a scope, written by quartzd from time to time. */
struct qz_text_procedure {
	__u64 total_norm_ns, self_norm_ns, self_cpu_ns, samples;
	__u32 rank; /* from 1; 0: unused */
	__u32 scope;
	char name[QZ_TEXT_NAME]; /* escaped */
};

/* One thread that lives. */
struct qz_text_thread {
	__u32 used; /* 0: unused */
	__u32 scope;
	__s32 pid, tid;
	__u32 state; /* enum qz_state */
	__u32 pad;
	__u64 running_ns, ready_ns, blocked_ns;
};

/* ---- control: one entry, memory-mapped, written by the daemon ---- */

struct qz_control {
	__u64 heartbeat; /* written every tick, 0 before the first; the text tables print its age */
	__u64 left_alone; /* when the sampler found that quartzd does not run, see bpf/watchdog.bpf.h; 0: it runs */
	__u32 epoch;
	__u32 text_reads;     /* of a text table, by any process */
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
	__u64 objects_full;	   /* waits without an object, since there was no room for it */
	__u64 wait_stacks_lost;	   /* no room for a stack: the wait has only a cause */
	__u32 running_stacks;	   /* of code that woke others, or ran before */
	__u64 running_stacks_lost; /* no room for one of these */
	__u32 shared[QZ_SHARES];   /* taken by all scopes; of frames see wait_frames_used */
	__u64 limited[QZ_SHARES];  /* refusals */
	__u32 drain;		   /* number of the last one */
	__u32 asleep_stacks;	   /* of threads that slept when they were found */
};

_Static_assert(sizeof(struct qz_thread_state) == 80, "layout");
_Static_assert(sizeof(struct qz_spin_address) == 48, "layout");
_Static_assert(sizeof(struct qz_stack_slot) == 40, "layout");
_Static_assert(sizeof(struct qz_text_procedure) == 200, "layout");
_Static_assert(sizeof(struct qz_wait_stack) == 56, "layout");
_Static_assert(sizeof(struct qz_object_slot) == 104, "layout");
_Static_assert(sizeof(struct qz_sample_record) == 24, "layout");
_Static_assert(sizeof(struct qz_creation_event) == 72, "layout");
_Static_assert(sizeof(struct qz_group_event) == 56, "layout");
_Static_assert(sizeof(struct qz_process_event) == 96, "layout");

#endif
