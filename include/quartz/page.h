/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The contract between libquartz (userlib/), in the process that is measured, and quartzd
 * (daemon/): memory that both map, how it is handed over, and who may write what.
 *
 * A process has one page set: one area of tables, and segments of thread slots. quartzd creates
 * the memory; the process maps all of it and writes it; quartzd reads it. Nothing is ever waited
 * for: the process stores, the reader loads, in any order that the machine allows.
 *
 * The process may put any bytes anywhere, at any time, also while they are read, and its children
 * may, too. So a reader copies once, then validates the copy, and uses no count, index or offset
 * that it has not compared with the constants below; what it finds is said of that process only.
 *
 * Every field is in host byte order and naturally aligned, and is stored and loaded whole. Stores
 * of one thread become visible in program order (x86-64, or release stores elsewhere).
 * Reserved fields are 0. A change that an older reader would misread has another QZ_PAGE_VERSION.
 */
#ifndef QUARTZ_PAGE_H
#define QUARTZ_PAGE_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define QZ_PAGE_VERSION 1

/* ---- rendezvous: two files in quartzd's runtime directory ---- */

/*
 * The runtime directory is /run/quartz, or QUARTZ_RUNTIME_DIR, which a process that gained
 * privileges by exec ignores (secure_getenv).
 */
#define QZ_PAGE_SOCKET "page.sock"
#define QZ_PAGE_FLAG   "page.flag"

/*
 * QZ_PAGE_FLAG, mode 0644: each process maps it read-only when it starts and looks at `generation`
 * on each call, which is all that an instrumented program does while nobody listens. It is how a
 * program that runs already learns that quartzd has started, without a thread, a descriptor or a
 * signal of its own.
 *
 * quartzd writes it and never truncates, replaces or removes it (it stays mapped): at start it
 * creates it with one whole page if need be, raises `last` by one, skipping 0, and when it is ready
 * to answer, stores that in `generation`; at a clean end it stores 0 there. A process that sees
 * another generation than that of its page set connects anew. Killed quartzds leave the flag
 * standing: programs then go on writing, at full cost, to pages that nobody reads.
 *
 * Where quartz.ko is loaded, it has such a page, too (QZ_DEVICE_FLAG of quartz/device.h), which a
 * process looks at that finds no QZ_PAGE_FLAG and has no QUARTZ_RUNTIME_DIR. And a page set is asked
 * of the device first, if `device`, or that page, says that the same quartzd listens there: it is one
 * file, tables from 0 on and all slots from QZ_TABLES_SIZE on. Whoever may not open the device, or
 * finds another generation in the header of what he gets, asks at the socket.
 */
struct qz_page_flag {
	__u32 generation;  /* of the quartzd that listens, 0: none */
	__u32 last;	   /* the highest generation given out; for quartzd only */
	__u32 patience_ms; /* see QZ_PAGE_SOCKET; 0: QZ_PAGE_PATIENCE_MS */
	__u32 device;	   /* its generation at the device, 0: it does not listen there */
};

/*
 * A process that starts where there is no flag yet has a memory file of this name instead, of one page,
 * mapped shared and sealed (F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_SEAL). A quartzd that finds it among
 * the mappings of a process that it is to measure stores 1 in its `generation`; the process then looks
 * for the flag, and stores 0 there when there still is none for it.
 */
#define QZ_PAGE_WAITING "quartz-page.flag"

/*
 * QZ_PAGE_SOCKET, SOCK_SEQPACKET, mode 0666: one connection is one request and one reply, and both
 * sides then close it. Who asks is said by SO_PEERCRED, not by the message. The process gives up
 * after patience_ms of the flag, QZ_PAGE_PATIENCE_MAX_MS at most, and does not ask again in this
 * generation.
 *
 * QZ_PAGE_OPEN: a new page set for the process; one that it had (before an exec, or of an earlier
 *   try) is over. The reply carries two descriptors: tables, and segment 0 of the slots.
 * QZ_PAGE_MORE: segment `index` of the slots, 1 to QZ_SEGMENTS - 1, asked for in order. The reply
 *   carries one descriptor. -ENOENT: no page set, open one.
 *
 * A descriptor is mapped from offset 0, MAP_SHARED, readable and writable, with the whole size of
 * the area, and then closed; it is of a kind that cannot shrink (a BPF array, or a memory file
 * with F_SEAL_SHRINK, F_SEAL_GROW and F_SEAL_SEAL). All bytes are 0 at first. The area of tables is
 * meant to be sparse: most of it is never touched. The reader must not touch more either: reading
 * a hole through a mapping allocates it; pread does not.
 */
enum qz_page_request_type { QZ_PAGE_OPEN = 1, QZ_PAGE_MORE = 2 };

#define QZ_PAGE_PATIENCE_MS	1000
#define QZ_PAGE_PATIENCE_MAX_MS 60000
#define QZ_PAGE_FDS		2

struct qz_page_request {
	__u32 length;	   /* of this message; longer ones are read as far as known */
	__u32 type;	   /* enum qz_page_request_type */
	__u32 version;	   /* QZ_PAGE_VERSION; unknown: -EPROTONOSUPPORT */
	__u32 index;	   /* QZ_PAGE_MORE: which segment */
	__u64 tables_size; /* sizes as the process was built; others than ours: -EPROTO */
	__u32 segment_size;
	__u32 slot_size;
	__u64 tables_address; /* where the process has mapped, or is going to map, the tables … */
	__u64 slots_address;  /* … and slot 0; all segments follow each other there */
	/*
	 * Where each thread keeps the address of its slot, from its thread pointer (a variable of the
	 * initial-exec TLS model), so that a thread's slot is known from its registers alone, whatever
	 * pid namespace its tid belongs to. 0: not told. The address may be one of no slot.
	 */
	__s64 slot_pointer_offset;
};

struct qz_page_reply {
	__u32 length;
	__s32 status;	  /* 0, or a negative errno: then there are no descriptors */
	__u32 generation; /* that the page set belongs to */
	__u32 reserved;
};

/* ---- thread slots ---- */

#define QZ_SLOT_STACK	      128 /* entries of a profile stack, of which [0] is a sentinel */
#define QZ_SEGMENT_SLOTS      64
#define QZ_SEGMENTS	      256
#define QZ_SLOTS	      (QZ_SEGMENT_SLOTS * QZ_SEGMENTS)
#define QZ_THREAD_NAME_LENGTH 32

/* What a thread waits for, in one word: state in the upper 8 bits, below them the address of the
 * object in the process, 0 when it is not known. */
enum qz_wait_state {
	QZ_WAIT_BUSY = 0,     /* doing work; the address is 0 */
	QZ_WAIT_SPINNING = 1, /* on a processor, but waiting: not busy */
	QZ_WAIT_BLOCKED = 2,  /* has asked the kernel to wait, or is about to */
};
#define QZ_WAIT(state, address) ((__u64)(state) << 56 | ((__u64)(address)&0x00ffffffffffffffull))
#define QZ_WAIT_STATE(word)	((__u32)((word) >> 56))
#define QZ_WAIT_ADDRESS(word)	((word)&0x00ffffffffffffffull)

/* A measurement event: its value, and how many the thread had written, with this one, modulo 2^32.
 * The difference of two numbers seen, less one, is how many were overwritten unseen. */
#define QZ_EVENT_WORD(number, value) ((__u64)(__u32)(number) << 32 | (__u32)(value))
#define QZ_EVENT_NUMBER(word)	     ((__u32)((word) >> 32))
#define QZ_EVENT_VALUE(word)	     ((__u32)(word))

/* On whose behalf: entry `task` of the tasks (from 1; 0: nobody's), and the depth of the profile
 * stack when the task began. The thread's logical stack is the task's procedures, outermost
 * first, then stack[base + 1] to stack[depth]. */
#define QZ_TASK_WORD(task, base) ((__u64)(__u32)(base) << 32 | (__u32)(task))
#define QZ_TASK_BASE(word)	 ((__u32)((word) >> 32))
#define QZ_TASK_ID(word)	 ((__u32)(word))

/*
 * One thread. Written by that thread alone, with plain stores, and by its signal handlers. A thread
 * that claims the slot counts `claims` up and stores `tid` last of all; when it ends, it clears
 * depth, wait, task and held, and then `tid`. One that is killed leaves them as they were.
 *
 * The profile stack is stack[1] to stack[depth], outermost first: ids of symbols. A procedure that
 * calls itself is there once, others may be repeated. Pushing stores depth, then the entry, so that
 * a signal handler in between does no harm: a reader may see the former entry of that place.
 * depth is below QZ_SLOT_STACK whenever the process keeps to the contract.
 */
struct qz_slot {
	__u32 tid;    /* as the process sees it (its pid namespace), 0: free */
	__u32 claims; /* by how many threads the slot has been used */
	__u32 depth;
	__u32 overflows; /* pushes for which there was no room */
	__u64 wait;	 /* QZ_WAIT */
	__u64 task;	 /* QZ_TASK_WORD */
	__u64 event;	 /* QZ_EVENT_WORD; runs on when the slot is claimed again */
	__u64 pushes; /* calls of quartz_enter or of a hook so far, pushed or not: times cost_…_ps
			  * of the header, the time spent in libquartz since another value was read */
	__u64 held;   /* address of the lock taken last and not yet released, 0: none known */
	__u64 reserved;
	__u32 stack[QZ_SLOT_STACK];
	char name[QZ_THREAD_NAME_LENGTH]; /* given by the program, else empty; ends with 0 */
	__u64 reserved2[52];
};

#define QZ_SEGMENT_SIZE (QZ_SEGMENT_SLOTS * sizeof(struct qz_slot))

/* ---- tables ---- */

#define QZ_SYMBOLS	 (1u << 17)
#define QZ_SYMBOL_PROBES 64
#define QZ_TEXT_SIZE	 (1u << 20)
#define QZ_NAME_LENGTH	 256 /* of a name in the text, with its 0 */
#define QZ_TASKS	 4096
#define QZ_TASK_STACK	 62
#define QZ_CALLS	 (1u << 16)
#define QZ_CALL_PROBES	 64
#define QZ_THREAD_CALLS	 1024
#define QZ_PAGE_MAGIC	 0x31656761705a51ull
#define QZ_HEADER_SIZE	 4096

/*
 * Written by the process, but for the first three fields, which quartzd writes before it hands the
 * memory over and never reads again. Numbers of things refused are the process's own ledger: what
 * it could not tell for want of room.
 */
struct qz_page_header {
	__u64 magic;
	__u32 version;
	__u32 generation;
	__u32 pid;	  /* as the process sees itself */
	__u32 slots_used; /* slots beyond were never claimed */
	__u32 segments;	  /* of slots that are mapped */
	__u32 symbols_used;
	__u32 text_used; /* bytes, may exceed QZ_TEXT_SIZE when some were refused */
	__u32 tasks_used;
	__u32 calls_used;
	__u32 flags;	     /* QZ_PAGE_… */
	__u64 calibrated;    /* CLOCK_MONOTONIC in ns when the costs were measured; 0: not yet */
	__u32 cost_scope_ps; /* quartz_enter and quartz_leave: what each call of a procedure that
				is no QZ_SYMBOL_FUNCTION has cost */
	__u32 cost_hook_ps;  /* the two hooks of -finstrument-functions; 0: not in use */
	__u32 cost_event_ps;
	__u32 reserved;
	__u64 slots_refused; /* threads without a slot */
	__u64 symbols_refused;
	__u64 text_refused;
	__u64 tasks_refused;
	__u64 calls_refused; /* calls that are in no count */
};

#define QZ_PAGE_INSTRUMENTED 1 /* hooks of the compiler are in use */
#define QZ_PAGE_PRELOADED    2 /* pthread functions are wrapped */

/*
 * Procedures and objects, in one hash table: the id is the index + 1 and stays while the page set
 * lives, also over a change of quartzd. The address is stored by exchange from 0, last of all
 * `kind` is set: entries of kind 0 are not finished. Two ids can have one name: it is one
 * procedure.
 *
 * To find an address: QZ_SYMBOL_PROBES entries from qz_symbol_place(address) on, round the end.
 */
enum qz_symbol_kind {
	QZ_SYMBOL_PROCEDURE = 1, /* named by the program; address: of something unique to it */
	QZ_SYMBOL_FUNCTION = 2,	 /* address: in its code; the reader finds the name */
	QZ_SYMBOL_OBJECT = 3,	 /* address: of the object; named or not */
	QZ_SYMBOL_EXCLUDED = 4,	 /* a function that is not followed any more */
};

struct qz_symbol {
	__u64 address; /* 0: free */
	__u32 text;    /* offset of the name in the text, 0: none */
	__u32 kind;    /* enum qz_symbol_kind */
};

static inline __u32 qz_symbol_place(__u64 address)
{
	return (__u32)((address >> 3) * 0x9e3779b97f4a7c15ull >> 47) & (QZ_SYMBOLS - 1);
}

/* Distinct procedures on a stack from which work was submitted, outermost first. Entries are
 * written once: count last. The task numbered n is entry n - 1. */
struct qz_task {
	__u32 count; /* 1 to QZ_TASK_STACK; 0: not finished */
	__u32 hash;
	__u32 procedures[QZ_TASK_STACK];
};

/*
 * How often the caller called the callee, both ids of symbols; caller 0: none, or not known, beyond
 * an overflow. A pair's number is the sum over `calls` and over `thread_calls` of all slots used; it
 * is exact while no call is being made, and never too high. Entries of `calls` are added to by all
 * threads, those of `thread_calls` belong to the thread in the slot, and stay when it ends.
 */
struct qz_call {
	__u64 pair; /* caller in the upper half; 0: free */
	__u64 count;
};

#define QZ_CALL_PAIR(caller, callee) ((__u64)(__u32)(caller) << 32 | (__u32)(callee))
#define QZ_CALL_CALLER(pair)	     ((__u32)((pair) >> 32))
#define QZ_CALL_CALLEE(pair)	     ((__u32)(pair))

/* The area of tables as it is mapped. */
struct qz_tables {
	struct qz_page_header header;
	char reserved[QZ_HEADER_SIZE - sizeof(struct qz_page_header)];
	struct qz_symbol symbols[QZ_SYMBOLS];
	char text[QZ_TEXT_SIZE]; /* names, each ended by 0; [0] is 0 */
	struct qz_task tasks[QZ_TASKS];
	struct qz_call calls[QZ_CALLS];
	struct qz_call thread_calls[QZ_SLOTS][QZ_THREAD_CALLS];
};

#define QZ_TABLES_SIZE sizeof(struct qz_tables)

_Static_assert(sizeof(struct qz_page_flag) == 16, "layout");
_Static_assert(sizeof(struct qz_page_request) == 56, "layout");
_Static_assert(sizeof(struct qz_page_reply) == 16, "layout");
_Static_assert(sizeof(struct qz_slot) == 1024, "layout");
_Static_assert(__builtin_offsetof(struct qz_slot, depth) == 8, "layout");
_Static_assert(__builtin_offsetof(struct qz_slot, wait) == 16, "layout");
_Static_assert(__builtin_offsetof(struct qz_slot, event) == 32, "layout");
_Static_assert(__builtin_offsetof(struct qz_slot, stack) == 64, "layout");
_Static_assert(QZ_SEGMENT_SIZE == 65536, "layout");
_Static_assert(sizeof(struct qz_page_header) == 112, "layout");
_Static_assert(sizeof(struct qz_symbol) == 16, "layout");
_Static_assert(sizeof(struct qz_task) == 256, "layout");
_Static_assert(sizeof(struct qz_call) == 16, "layout");
_Static_assert(__builtin_offsetof(struct qz_tables, symbols) == 0x1000, "layout");
_Static_assert(__builtin_offsetof(struct qz_tables, text) == 0x201000, "layout");
_Static_assert(__builtin_offsetof(struct qz_tables, tasks) == 0x301000, "layout");
_Static_assert(__builtin_offsetof(struct qz_tables, calls) == 0x401000, "layout");
_Static_assert(__builtin_offsetof(struct qz_tables, thread_calls) == 0x501000, "layout");
#ifndef __CHECKER__ /* sparse counts its bits, in 32 of them */
_Static_assert(QZ_TABLES_SIZE == 0x10501000, "layout");
#endif

#endif
