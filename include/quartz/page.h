/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The contract between libquartz (userlib/) in a measured process and quartzd (daemon/): memory
 * that both map, how a process gets it, and who may write what.
 *
 * A process has one page set: one area of tables, and segments of thread slots. quartzd creates the
 * memory; the process maps all of it and writes it; quartzd reads it. Neither side ever waits: the
 * process stores and the reader loads, in any order that the machine allows.
 *
 * The process and its children may write any bytes at any time, also while they are read. So a
 * reader copies once, validates the copy, and compares every count, index and offset with the
 * constants below before use. The contents affect only the figures of that process.
 *
 * Every field is in host byte order and naturally aligned, and is stored and loaded as a whole.
 * Stores of one thread become visible in program order (x86-64; release stores on other machines).
 * Reserved fields are 0. A change that an older reader would misunderstand gets a new
 * QZ_PAGE_VERSION.
 */
#ifndef QUARTZ_PAGE_H
#define QUARTZ_PAGE_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define QZ_PAGE_VERSION 1

/* ---- connecting: two files in quartzd's runtime directory ---- */

/*
 * The runtime directory is /run/quartz, or QUARTZ_RUNTIME_DIR, which a process that gained
 * privileges by exec ignores (secure_getenv).
 */
#define QZ_PAGE_SOCKET "page.sock"
#define QZ_PAGE_FLAG   "page.flag"

/*
 * QZ_PAGE_FLAG, mode 0644. Each process maps it read-only when it starts and reads `generation` in
 * each call; a program does nothing else while no quartzd listens. So a running program notices that
 * quartzd has started without a thread, a descriptor or a signal of its own.
 *
 * quartzd writes the file and never truncates, replaces or removes it, because it stays mapped. At
 * its start, it creates it with one whole page if necessary, and increments `last`, skipping 0 and
 * QZ_PAGE_GONE. (A new file begins with the milliseconds since boot, so that no removed one had the
 * same value.) When it is ready to answer, it stores that value in `generation`; at a clean end, it
 * stores 0 there. A process that sees another generation than that of its page set connects again.
 * A quartzd that was killed leaves the flag set: programs then keep writing, at full cost, to pages that no process reads.
 */
struct qz_page_flag {
	__u32 generation;  /* of the quartzd that listens, 0: none */
	__u32 last;	   /* the last generation used; for quartzd only */
	__u32 patience_ms; /* see QZ_PAGE_SOCKET; 0: QZ_PAGE_PATIENCE_MS */
	__u32 reserved;	   /* 0 */
};

/*
 * If there is no flag yet when a process starts, it maps a memory file of this name instead: one
 * page, shared, and sealed (F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_SEAL). When quartzd finds it among
 * the mappings of a process that it measures, it stores 1 in its `generation`. The process then
 * looks for the flag, and stores 0 there if there still is none for it.
 */
#define QZ_PAGE_WAITING "quartz-page.flag"

/*
 * The `generation` of a flag whose file was removed, as service managers do with runtime
 * directories. quartzd stores it when it finds such a flag in a process that it measures; the
 * process then looks for the new flag.
 */
#define QZ_PAGE_GONE 0xffffffffu

/*
 * The `generation` of QZ_PAGE_WAITING while quartzctl has the process count its events without a
 * quartzd (quartz/knobs.h). A quartzd replaces it as it replaces 0.
 */
#define QZ_PAGE_LOCAL 0xfffffffeu

/*
 * QZ_PAGE_SOCKET, SOCK_SEQPACKET, mode 0666. One connection carries one request and one reply; then
 * both sides close it. SO_PEERCRED identifies the process, not the message. The process gives up
 * after patience_ms of the flag, at most QZ_PAGE_PATIENCE_MAX_MS, and does not ask again in this
 * generation.
 *
 * QZ_PAGE_OPEN: a new page set for the process; an earlier one (before an exec, or of an earlier
 *   attempt) is dropped. The reply has two descriptors: tables, and segment 0 of the slots.
 * QZ_PAGE_MORE: segment `index` of the slots, 1 to QZ_SEGMENTS - 1, requested in order. The reply
 *   has one descriptor. -ENOENT: there is no page set; open one.
 *
 * The process maps a descriptor from offset 0, MAP_SHARED, readable and writable, with the whole
 * size of the area, and then closes it. It cannot shrink (a BPF array, or a memory file with
 * F_SEAL_SHRINK and F_SEAL_GROW). All bytes are 0 at first. quartzd may seal slots against new
 * writable mappings (F_SEAL_FUTURE_WRITE, F_SEAL_SEAL) once `segments` of the header says that they
 * are mapped, and reads none before. The tables are sparse: most of them are never touched. The
 * reader must not touch more of them: reading a hole through a mapping allocates it; pread does
 * not.
 */
enum qz_page_request_type { QZ_PAGE_OPEN = 1, QZ_PAGE_MORE = 2 };

#define QZ_PAGE_PATIENCE_MS	1000
#define QZ_PAGE_PATIENCE_MAX_MS 60000
#define QZ_PAGE_FDS		2

struct qz_page_request {
	__u32 length;	   /* of this message; unknown fields at its end are ignored */
	__u32 type;	   /* enum qz_page_request_type */
	__u32 version;	   /* QZ_PAGE_VERSION; otherwise -EPROTONOSUPPORT */
	__u32 index;	   /* QZ_PAGE_MORE: which segment */
	__u64 tables_size; /* sizes with which the process was built; if they differ: -EPROTO */
	__u32 segment_size;
	__u32 slot_size;
	__u64 tables_address; /* where the process has mapped, or will map, the tables */
	__u64 slots_address;  /* the same for slot 0; all segments are contiguous */
	/*
	 * Offset from the thread pointer at which each thread keeps the address of its slot (a
	 * variable with the initial-exec TLS model). So a thread's slot can be found from its
	 * registers, in any PID namespace. 0: unknown. The address need not be that of a slot.
	 */
	__s64 slot_pointer_offset;
};

struct qz_page_reply {
	__u32 length;
	__s32 status;	  /* 0, or a negative errno: then there are no descriptors */
	__u32 generation; /* of the page set */
	__u32 reserved;
};

/* ---- thread slots ---- */

#define QZ_SLOT_STACK	      128 /* entries of a profile stack, of which [0] is a sentinel */
#define QZ_SEGMENT_SLOTS      64
#define QZ_SEGMENTS	      256
#define QZ_SLOTS	      (QZ_SEGMENT_SLOTS * QZ_SEGMENTS)
#define QZ_THREAD_NAME_LENGTH 32

/*
 * What a thread waits for, in one word: the state in the upper 8 bits, and the address of the
 * object in the process, 0 if it is not known.
 */
enum qz_wait_state {
	QZ_WAIT_BUSY = 0,     /* doing work; the address is 0 */
	QZ_WAIT_SPINNING = 1, /* on a processor, but waiting: not busy */
	QZ_WAIT_BLOCKED = 2,  /* sleeps, or is about to sleep */
};
#define QZ_WAIT(state, address) ((__u64)(state) << 56 | ((__u64)(address)&0x00ffffffffffffffull))
#define QZ_WAIT_STATE(word)	((__u32)((word) >> 56))
#define QZ_WAIT_ADDRESS(word)	((word)&0x00ffffffffffffffull)

/*
 * A measurement event: its value, and its sequence number in this thread, modulo 2^32. A gap
 * between the numbers that were read is the number of events that were overwritten before.
 */
#define QZ_EVENT_WORD(number, value) ((__u64)(__u32)(number) << 32 | (__u32)(value))
#define QZ_EVENT_NUMBER(word)	     ((__u32)((word) >> 32))
#define QZ_EVENT_VALUE(word)	     ((__u32)(word))

/*
 * The task that a thread runs: entry `task` of the tasks (from 1; 0: none), and the depth of the
 * profile stack when the task began. The thread's logical stack is the task's procedures, outermost
 * first, then stack[base + 1] to stack[depth].
 */
#define QZ_TASK_WORD(task, base) ((__u64)(__u32)(base) << 32 | (__u32)(task))
#define QZ_TASK_BASE(word)	 ((__u32)((word) >> 32))
#define QZ_TASK_ID(word)	 ((__u32)(word))

/*
 * One thread. Only that thread and its signal handlers write it, with plain stores. A thread that
 * claims the slot increments `claims` and stores `tid` last. When it ends, it clears depth, wait,
 * task and held, and then `tid`. A thread that is killed leaves them as they were.
 *
 * The profile stack is stack[1] to stack[depth], outermost first: ids of symbols. A procedure that
 * calls itself directly is there once; other repetitions are possible. A push stores depth, then
 * the entry, so that a signal handler in between does no harm; a reader may see the previous entry
 * of that place. depth is less than QZ_SLOT_STACK if the process obeys the contract.
 */
struct qz_slot {
	__u32 tid;    /* as the process sees it (its pid namespace), 0: free */
	__u32 claims; /* number of threads that have used the slot */
	__u32 depth;
	__u32 overflows; /* pushes for which there was no room */
	__u64 wait;	 /* QZ_WAIT */
	__u64 task;	 /* QZ_TASK_WORD */
	__u64 event;	 /* QZ_EVENT_WORD; continues when the slot is claimed again */
	__u64 pushes; /* calls of quartz_enter or of a hook, pushed or not; times cost_…_ps of the
			  * header, this is the time spent in libquartz */
	__u64 held;   /* address of the last lock taken and not released, 0: none */
	__u64 reserved;
	__u32 stack[QZ_SLOT_STACK];
	char name[QZ_THREAD_NAME_LENGTH]; /* given by the program, else empty; ends in 0 */
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
 * Written by the process, except for the first three fields, which quartzd writes before it passes
 * the memory on and never reads again. The fields *_refused count what did not fit.
 */
struct qz_page_header {
	__u64 magic;
	__u32 version;
	__u32 generation;
	__u32 pid;	  /* as the process sees itself */
	__u32 slots_used; /* slots from here on were never claimed */
	__u32 segments;	  /* mapped segments of slots */
	__u32 symbols_used;
	__u32 text_used; /* bytes; may exceed QZ_TEXT_SIZE if some were refused */
	__u32 tasks_used;
	__u32 calls_used;
	__u32 flags;	     /* QZ_PAGE_… */
	__u64 calibrated;    /* CLOCK_MONOTONIC in ns when the costs were measured; 0: not yet */
	__u32 cost_scope_ps; /* of quartz_enter with quartz_leave: for each call of a procedure that
				is not a QZ_SYMBOL_FUNCTION */
	__u32 cost_hook_ps;  /* the two hooks of -finstrument-functions; 0: not in use */
	__u32 cost_event_ps;
	__u32 reserved;
	__u64 slots_refused; /* threads without a slot */
	__u64 symbols_refused;
	__u64 text_refused;
	__u64 tasks_refused;
	__u64 calls_refused; /* calls that were not counted */
};

#define QZ_PAGE_INSTRUMENTED 1 /* hooks of the compiler are in use */

/*
 * Procedures and objects, in one hash table. The id is the index + 1 and never changes, even if
 * quartzd restarts. The address is exchanged for 0 first, and `kind` is stored last: entries of
 * kind 0 are not complete. Two ids with the same name are the same procedure.
 *
 * An address is in one of QZ_SYMBOL_PROBES entries from qz_symbol_place(address) on, with
 * wrap-around.
 */
enum qz_symbol_kind {
	QZ_SYMBOL_PROCEDURE = 1, /* named by the program; any unique address */
	QZ_SYMBOL_FUNCTION = 2,	 /* an address in its code; the reader finds the name */
	QZ_SYMBOL_OBJECT = 3,	 /* the address of the object; may have a name */
	QZ_SYMBOL_EXCLUDED = 4,	 /* a function that is not recorded any more */
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

/*
 * The distinct procedures of a stack that submitted a task, outermost first. Entries are written
 * once, count last. Task n is entry n - 1.
 */
struct qz_task {
	__u32 count; /* 1 to QZ_TASK_STACK; 0: not complete */
	__u32 hash;
	__u32 procedures[QZ_TASK_STACK];
};

/*
 * How often the caller called the callee, both ids of symbols; caller 0: none, or unknown because
 * the stack was full. The count of a pair is the sum over `calls` and over `thread_calls` of all
 * used slots. It is exact while no call is in progress, and never too high. All threads add to
 * `calls`; entries of `thread_calls` belong to the thread in the slot, and stay when it ends.
 */
struct qz_call {
	__u64 pair; /* caller in the upper half; 0: free */
	__u64 count;
};

#define QZ_CALL_PAIR(caller, callee) ((__u64)(__u32)(caller) << 32 | (__u32)(callee))
#define QZ_CALL_CALLER(pair)	     ((__u32)((pair) >> 32))
#define QZ_CALL_CALLEE(pair)	     ((__u32)(pair))

/* The memory of the tables. */
struct qz_tables {
	struct qz_page_header header;
	char reserved[QZ_HEADER_SIZE - sizeof(struct qz_page_header)];
	struct qz_symbol symbols[QZ_SYMBOLS];
	char text[QZ_TEXT_SIZE]; /* names, each ends in 0; [0] is 0 */
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
