/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the memory that a process shares (quartz/page.h). Everything is copied once, the copy is
 * validated, and every count is a constant or was compared with one: whatever the process writes,
 * at any time, only its own figures can become wrong. Needs no privileges, allocates nothing, and
 * may be called by any thread.
 */
#ifndef QUARTZ_DAEMON_SHM_READER_H
#define QUARTZ_DAEMON_SHM_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "quartz/page.h"

/* The result of copying a slot. */
enum page_verdict {
	PAGE_SLOT_GOOD,
	PAGE_SLOT_FREE,	   /* no thread has it */
	PAGE_SLOT_INVALID, /* it violates the contract */
};

/* A validated copy of a slot. */
struct page_slot {
	uint32_t tid; /* as the process sees it */
	uint32_t claims;
	uint32_t overflows;
	uint32_t state;	 /* enum qz_wait_state */
	uint64_t object; /* that it waits for; 0: unknown */
	uint64_t event;	 /* QZ_EVENT_WORD */
	uint64_t pushes;
	uint64_t held;
	uint32_t task; /* the task that it runs for, at most QZ_TASKS; 0: none */
	uint32_t base; /* number of ids when the task began; at most n */
	uint32_t n;
	union {
		uint32_t stack[QZ_SLOT_STACK]; /* as in the slot */
		struct {
			uint32_t sentinel;
			uint32_t ids[QZ_SLOT_STACK - 1]; /* of symbols, outermost first, each
							    1 .. QZ_SYMBOLS */
		};
	};
};

/*
 * Copies a slot of the shared memory. Stack entries that are no ids are left out; any other
 * impossible value makes the whole copy invalid.
 */
enum page_verdict shm_slot__copy(const struct qz_slot *shared, struct page_slot *slot);

/* Writes the name that a thread gave itself; "": none. */
void shm_slot__name(const struct qz_slot *shared, char name[QZ_THREAD_NAME_LENGTH]);

/* ---- tables, read with pread, which allocates no pages for holes ---- */

/* Copies the header; all its counts are within their limits. 0 or -EIO. */
int shm_tables__header(int fd, struct qz_page_header *header);

struct page_symbol {
	uint64_t address;
	uint32_t kind; /* enum qz_symbol_kind */
	char name[QZ_NAME_LENGTH];
};

/* Reads the symbol of an id. 0; -ENOENT: none, or not finished yet; -EINVAL: it is invalid. */
int shm_tables__symbol(int fd, uint32_t id, struct page_symbol *symbol);

/* Writes the name that the program gave to the object at an address. False: none. */
bool shm_tables__object_name(int fd, uint64_t address, char name[QZ_NAME_LENGTH]);

/* Reads the procedures of a task, outermost first. Returns their number; 0: it has none. */
uint32_t shm_tables__task(int fd, uint32_t task, uint32_t procedures[QZ_TASK_STACK]);

/*
 * Calls `call` for each pair of caller (0: the first procedure of a thread) and callee in the
 * tables, until it returns false. A pair may come more than once; its numbers are to be added up. 0
 * or -EIO.
 */
typedef bool page_call(void *context, uint32_t caller, uint32_t callee, uint64_t count);
int shm_tables__calls(int fd, const struct qz_page_header *header, page_call *call, void *context);

#endif
