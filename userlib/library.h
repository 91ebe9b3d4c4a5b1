/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Shared by the files of libquartz. Nothing here takes a lock. What only one thread may do at a
 * time is done by the thread that sets `busy`; other threads wait for it, for a limited time.
 *
 * The page set is always at the same addresses. At first it is private memory, which keeps what is
 * named before quartzd runs. Then quartzd's shared memory is mapped over it, and after a restart of
 * quartzd the next one. So a pointer to a slot remains valid for ever, and so does the number of a
 * symbol.
 */
#ifndef QUARTZ_USERLIB_LIBRARY_H
#define QUARTZ_USERLIB_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "quartz/page.h"
#include "userlib/quartz.h"

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define hidden	    __attribute__((visibility("hidden")))
#define exported    __attribute__((visibility("default")))

#define load(p)	       __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define store(p, v)    __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define add(p, v)      __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define exchange(p, v) __atomic_exchange_n((p), (v), __ATOMIC_ACQ_REL)
#define replace(p, old, new)                                                                       \
	__atomic_compare_exchange_n((p), (old), (new), false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)

#define PAGE_BYTES 4096ul

/* An instrumented procedure on the profile stack, at the same index. Private to its thread. */
struct shadow {
	uint64_t function; /* address; of [0]: unused */
	uint64_t frame;	   /* stack pointer at its entry; of [0]: the highest possible */
	uint32_t id;	   /* as on the profile stack; if that differs, no hook has pushed it */
	uint32_t repeats;  /* depth of its direct recursion; of [0]: pushes without room */
	uint64_t site;	   /* return address */
};

struct library {
	struct qz_tables *tables; /* NULL until memory__reserve */
	struct qz_slot *slots;
	struct shadow (*shadows)[QZ_SLOT_STACK]; /* by slot */
	uint32_t generation;			 /* of the page set, 0: private memory */
	uint32_t tried;				 /* generation whose quartzd has refused */
	uint32_t segments;			 /* mapped segments of slots */
	pid_t pid;
	uint32_t busy;		    /* a thread connects, or maps a segment */
	uint32_t moving;	    /* tables are being copied: nothing may be interned */
	uint32_t interning;	    /* threads that are interning */
	uint32_t flags;		    /* QZ_PAGE_… */
	uint64_t used[QZ_SEGMENTS]; /* one bit per slot */
};

extern hidden struct library library;

/* The same as quartz_generation_, without an indirection by the dynamic linker. */
extern hidden const uint32_t *library_generation;

/* What the hooks of a thread with a slot use. */
struct hooks {
	struct quartz_slot_ *slot;
	struct shadow *shadow;
	struct qz_call *calls; /* of this thread */
	const struct qz_symbol *symbols;
	uint32_t generation; /* as in quartz_thread_, 0: no slot */
};

/* Thread-local state besides quartz_thread_. */
struct thread_state {
	struct hooks hooks;
	uint32_t refused; /* generation in which it got no slot */
	bool ended;	  /* destructors have run; it gets no slot any more */
	char name[QZ_THREAD_NAME_LENGTH];
};

extern hidden __thread struct thread_state thread_state;

/* ---- attach.c ---- */

/* Events of all threads since the page set was made, modulo 2^32. */
hidden uint32_t attach__events(void);

/* ---- memory.c ---- */

/* Creates the private page set if necessary. False without memory. Any thread. */
hidden bool memory__reserve(void);

/*
 * Copies the tables and `segments` segments of slots to the shared memory of a new page set, and
 * maps that over the present one. `slots` has that many descriptors; the caller closes all. 0 or
 * -errno; then parts may have been replaced. Only under `busy`.
 */
hidden int memory__replace(int tables, const int *slots, uint32_t segments);

/* Maps one more segment. 0 or -errno; only under `busy`. */
hidden int memory__add_segment(int fd);

/* In a child after fork: returns to private memory, with the names and the slot of this thread. */
hidden void memory__make_private(uint32_t slot, const struct qz_slot *contents);

/* ---- client.c ---- */

struct client_answer {
	uint32_t generation;
	uint32_t count; /* of descriptors */
	int fds[QZ_PAGE_FDS];
};

/* The mapped flag of quartzd; a constant one until it is found. */
extern hidden const struct qz_page_flag *client_flag;

/* Looks for the flag of quartzd, unless it is mapped already. */
hidden void client__find_flag(void);

/* After no flag was found: lets a quartzd that starts later notify this process. */
hidden void client__wait(void);

/*
 * Handles a generation that was read from the flag. If it is a notification, finds the flag.
 * Returns the generation of the quartzd that listens, or 0.
 */
hidden uint32_t client__called(uint32_t generation);

/*
 * While no quartzd listens that has not refused this process, makes threads count their events all the
 * same, in the private page set, or ends that. A quartzd that comes meanwhile is found as ever.
 */
hidden void client__count(bool on);

/* In a child after fork: its parent's events may be counted, its own are not. */
hidden void client__forked(void);

/* How long to wait for an answer of quartzd. */
hidden uint32_t client__patience_ms(void);

/* Sends a request. 0, and the caller closes the descriptors, or -errno. Waits for at most
 * client__patience_ms. */
hidden int client__ask(uint32_t type, uint32_t index, struct client_answer *answer);

/* slot_pointer_offset of struct qz_page_request. */
hidden int64_t client__slot_pointer_offset(void);

/* ---- device.c ---- */

/* The mapped flag of the module; NULL if there is none that this process may use. */
hidden const struct qz_page_flag *device__flag(void);

/*
 * Replaces the page set by one of /dev/quartz, with the contents of `segments` segments of slots,
 * if the quartzd of the flag listens there. 0: all segments are mapped. -ENODEV: the device cannot
 * be used, and nothing has changed. Other -errno: as memory__replace. Only under `busy`.
 */
hidden int device__open_set(uint32_t segments);

/* ---- symbols.c ---- */

/*
 * The permanent number of a symbol; 0 if there is no room, and while the tables are copied. `name`
 * may be NULL.
 */
hidden uint32_t symbols__intern(uint64_t address, uint32_t kind, const char *name);

hidden bool symbols__begin(void);
hidden void symbols__end(void);

/* ---- knobs.c ---- */

/* In a child after fork: it has none. */
hidden void knobs__forget(void);

/* ---- calibrate.c ---- */

/*
 * Measures the cost of a scope and of an event, and writes it into the header. Signals must be
 * blocked, because this thread has another slot meanwhile.
 */
hidden void calibrate__run(uint32_t generation);

/* Picoseconds for each of `calls` calls that took `ns`. */
hidden uint32_t calibrate__cost(uint64_t ns, uint32_t calls);

/* CLOCK_MONOTONIC in ns. */
hidden uint64_t calibrate__now(void);

#endif
