/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What the parts of libquartz share. Nothing here takes a lock: what only one thread may do at a
 * time is done by whoever gets `busy`, and not done by the others until their next call.
 *
 * The page set always stands at the same addresses. At first it is private memory, which keeps
 * what is named before quartzd is there; its shared memory is then mapped over it, and after a
 * restart of quartzd the next one over that. So a pointer to a slot stays good for ever, and the
 * number of a symbol, too.
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

/* Of an instrumented procedure on the profile stack, at the same index; for its thread only. */
struct shadow {
	uint64_t function; /* address; of [0]: unused */
	uint64_t frame;	   /* stack pointer when it was entered; of [0]: the highest there is */
	uint32_t id;	   /* as on the profile stack; another one there: not pushed by a hook */
	uint32_t repeats;  /* calls of itself that it is in; of [0]: pushes without room */
	uint64_t site;	   /* where it was called from */
};

/*
 * Where procedures return to whose return address has been replaced (returns.c), found by the
 * stack pointer after the return: in the RETURN_PROBES entries from frame / 16 % RETURNS on. One table
 * per slot, written by its thread alone. The call frame information in profile.S walks these.
 */
struct return_address {
	uint64_t frame; /* 0: free */
	uint64_t address;
};
#define RETURNS	      1024
#define RETURN_PROBES 8
struct return_table {
	struct return_address entries[RETURNS + RETURN_PROBES];
};

struct returns {
	struct return_table *tables; /* by slot; NULL until one is needed */
	struct return_table *end;    /* of those that were ever used */
};

extern hidden struct returns library_returns;

struct library {
	struct qz_tables *tables; /* NULL until memory__reserve */
	struct qz_slot *slots;
	struct shadow (*shadows)[QZ_SLOT_STACK]; /* by slot */
	uint32_t generation;			 /* of the page set, 0: private memory */
	uint32_t tried;				 /* generation that is not asked again */
	uint32_t segments;			 /* of slots, mapped */
	pid_t pid;
	uint32_t busy;		    /* somebody connects, or maps a segment */
	uint32_t moving;	    /* tables are being copied: nothing may be interned */
	uint32_t interning;	    /* threads that intern just now */
	uint32_t flags;		    /* QZ_PAGE_… */
	uint64_t used[QZ_SEGMENTS]; /* one bit per slot */
};

extern hidden struct library library;

/* The flag, as quartz_generation_ has it, without the way round by the dynamic linker. */
extern hidden const uint32_t *library_generation;

/* Where the hooks of a thread with a slot write. */
struct hooks {
	struct quartz_slot_ *slot;
	struct shadow *shadow;
	struct qz_call *calls; /* of this thread */
	const struct qz_symbol *symbols;
	struct return_table *returns; /* NULL until one is needed */
	uint32_t generation;	      /* as in quartz_thread_, 0: no slot */
};

/* What a thread keeps besides quartz_thread_. */
struct thread_state {
	struct hooks hooks;
	uint32_t refused; /* generation in which there was no slot */
	bool ended;	  /* destructors have run: no slot any more */
	char name[QZ_THREAD_NAME_LENGTH];
};

extern hidden __thread struct thread_state thread_state;

/* ---- memory.c ---- */

/* Makes the private page set. False without memory. Any thread, any number of times. */
hidden bool memory__reserve(void);

/* Maps the shared memory of a new page set over the present one, with what is in the tables and in
 * `segments` segments of slots. `slots` are that many descriptors. Closes none. 0 or -errno, and
 * then the present one may be in parts the new one; only under `busy`. */
hidden int memory__replace(int tables, const int *slots, uint32_t segments);

/* The same with one descriptor of all, as /dev/quartz has it: all segments are mapped, and the first
 * ones, so many as are in use, are taken over. */
hidden int memory__replace_all(int set, uint32_t segments);

/* Maps one more segment. 0 or -errno; only under `busy`. */
hidden int memory__add_segment(int fd);

/* In a child after fork: private memory again, with the names and the slot of this thread. */
hidden void memory__make_private(uint32_t slot, const struct qz_slot *contents);

/* ---- client.c ---- */

struct client_answer {
	uint32_t generation;
	uint32_t count; /* of descriptors */
	int fds[QZ_PAGE_FDS];
};

/* Where the flag of quartzd is mapped, nobody's at first. */
extern hidden const struct qz_page_flag *client_flag;

/* Looks for the flag of quartzd, unless it is mapped. */
hidden void client__find_flag(void);

/* Nobody was found: from now on a quartzd that starts can call this process. */
hidden void client__wait(void);

/* A generation was seen. When it was a call, looks who has called: his generation, or 0. */
hidden uint32_t client__called(uint32_t generation);

/* How long quartzd wants to be waited for. */
hidden uint32_t client__patience_ms(void);

/* One request. 0, and the descriptors are the caller's to close, or -errno. Waits for
 * client__patience_ms at most. */
hidden int client__ask(uint32_t type, uint32_t index, struct client_answer *answer);

/* What identifies the process's thread slots to BPF, see struct qz_page_request. */
hidden int64_t client__slot_pointer_offset(void);

/* ---- device.c ---- */

/* The flag of the module, mapped; NULL without one that this process may use. */
hidden const struct qz_page_flag *device__flag(void);

/*
 * A page set of /dev/quartz in the place of the present one, with `segments` segments of slots taken
 * over, if the quartzd of the flag listens there. 0: all segments are there; -ENODEV: it cannot be had
 * there, nothing has changed; else -errno, as for memory__replace. Only under `busy`.
 */
hidden int device__open_set(uint32_t segments);

/* ---- symbols.c ---- */

/* The number of a symbol, which stays the same; 0 when there is no room, and while the tables are
 * moved. `name` may be NULL. */
hidden uint32_t symbols__intern(uint64_t address, uint32_t kind, const char *name);

/* Copies a name into the text: its offset, or 0. Between symbols__begin and symbols__end. */
hidden uint32_t symbols__text(const char *name);
hidden bool symbols__begin(void);
hidden void symbols__end(void);

/* ---- returns.c ---- */

/* The table of the slot, NULL without memory. */
hidden struct return_table *returns__table(uint32_t slot);

/* The thread in the slot ends, this one: no procedure on its stack will return any more. */
hidden void returns__forget(uint32_t slot);

/* An entry in the tables of all threads: a stack may have changed hands. Ends the process when there
 * is none, since nobody knows then where to go on. */
hidden struct return_address *returns__search(uint64_t frame);

/* In a table: the entry, or NULL. */
static inline struct return_address *returns__find(struct return_table *table, uint64_t frame)
{
	struct return_address *e = &table->entries[frame / 16 % RETURNS];

	for (int i = 0; i < RETURN_PROBES; i++)
		if (e[i].frame == frame)
			return &e[i];
	return NULL;
}

/* ---- calibrate.c ---- */

/* Measures what a scope and an event cost, and writes it into the header. Signals must be blocked:
 * this thread has another slot meanwhile. */
hidden void calibrate__run(uint32_t generation);

/* ps for each of so many calls that took so many ns. */
hidden uint32_t calibrate__cost(uint64_t ns, uint32_t calls);

hidden uint64_t calibrate__now(void);

#endif
