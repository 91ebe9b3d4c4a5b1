/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Images and their mappings. An image is a process between two execs; an address has a meaning only within one. Fed, in
 * order of time, with the reports of BPF about processes and of the kernel about mappings.
 *
 * All threads share them; see doc/unwinding.md, "Threads", for who does what. A lock guards them, which
 * is not held while a file is opened. Functions take it unless they say that it must be held.
 */
#ifndef QUARTZ_DAEMON_ADDRESS_SPACES_H
#define QUARTZ_DAEMON_ADDRESS_SPACES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/target/modules.h"
#include "daemon/target/address_map.h"
#include "daemon/target/past.h"
#include "daemon/kernel/perf_sampler.h"
#include "quartz/records.h"

struct image {
	uint32_t number;
	uint32_t scope; /* number in BPF */
	pid_t pid;
	uint64_t start_boottime;
	uint64_t seen; /* when it was found or began; CLOCK_MONOTONIC */
	bool found;    /* ran already when it was first seen: its threads' creators are unknown */

	/* The main thread's. */
	uint32_t cpus; /* that its first thread may use, see daemon/collect/allowances.h; 0: all */
	bool launcher; /* waits to become a command: runs quartzd's own code until then */
	uint32_t node; /* below which the threads found belong, see spawn_stacks__unseen */
	uint64_t candidates; /* what daemon/what_if has told of its contents */
	bool reread; /* /proc/PID/maps was read in this drain for an address that no region covered */

	/* With the lock. */
	struct address_map map;
	uint64_t contents;  /* changes with the regions; equal in a forked copy */
	uint64_t published; /* contents that the unwinder has, see unwind_tables.h */
	uint64_t mapped;    /* when something was last mapped; 0 when unwind_tables.h knows of it */
	uint64_t read;	    /* when its mappings were last read */
	struct past past;   /* what it had mapped before */
	bool ended;
	bool superseded;       /* there is a later image of this pid */
	bool live;	       /* see address_spaces__live() */
	bool forgotten;	       /* freed when it is not that any more */
	struct image *earlier; /* the one before of this pid, or NULL */
	struct image *sibling; /* the one before of this scope, or NULL */
};

struct address_spaces;

/* NULL with errno ENOMEM. */
struct address_spaces *address_spaces__new(struct modules *modules);
void address_spaces__free(struct address_spaces *spaces);

/*
 * Also keeps mappings of processes that are not known yet, since they may be reported later. To be called before the first
 * mapping.
 */
void address_spaces__keep_all(struct address_spaces *spaces);

void address_spaces__lock(struct address_spaces *spaces);
void address_spaces__unlock(struct address_spaces *spaces);

/* How often anything was changed, so far. */
uint64_t address_spaces__changes(const struct address_spaces *spaces);

/* ---- who reads the rings, one thread at a time ---- */

/* Takes in a new image. 0 or -ENOMEM. */
int address_spaces__process(struct address_spaces *spaces, const struct qz_process_event *event);

/* Takes in a mapping or an exec of any process; those of others are ignored. */
void address_spaces__mapping(struct address_spaces *spaces,
			     const struct perf_sampler_mapping *mapping);

/* Reports were lost: what each process has is read. Samples of before have no name where it replaces other code. */
void address_spaces__distrust(struct address_spaces *spaces);

/* The images of a scope in BPF that were there at a time have ended. */
void address_spaces__end(struct address_spaces *spaces, uint32_t scope, uint64_t time);

/* ---- who makes unwind tables, with the lock held ---- */

/* Images that have not ended, and those that have but are published: the first n. */
struct image *const *address_spaces__live(const struct address_spaces *spaces, uint32_t *n);

/* The i-th of these has ended, and is not published. Another one takes its place then. */
void address_spaces__withdrawn(struct address_spaces *spaces, uint32_t i);

/* ---- the main thread ---- */

/* NULL when there is no image of this number. Valid until it is forgotten. */
struct image *address_spaces__get(struct address_spaces *spaces, uint32_t number);

/*
 * The image that a process was at a time; its first one, for a time before. NULL when none is known that
 * is not a launcher. Valid as long.
 */
struct image *address_spaces__of_process(struct address_spaces *spaces, pid_t pid, uint64_t time);

/* All images that are not forgotten, in the order in which they came. With the lock held. */
uint32_t address_spaces__count(const struct address_spaces *spaces);
struct image *address_spaces__at(struct address_spaces *spaces, uint32_t index);

#define ADDRESS_SPACES_NOW UINT64_MAX

/*
 * What an image had at an address at a time, by the reports that have been read, or NULL; with the lock held. What is not
 * known, image->past knows. /proc/PID/maps is no answer: it may have what is not reported yet, and has nothing when the
 * process has ended.
 */
const struct region *address_spaces__find(const struct image *image, uint64_t address,
					  uint64_t time);

/* All that it had then, which is empty without memory; *contents is the same if this is. */
struct address_map address_spaces__copy(struct address_spaces *spaces, const struct image *image,
					uint64_t time, uint64_t *contents);

/*
 * The module that an address was in, and where: the offset in its file, the address itself in code made at run time.
 * False: in none. Where no region has it, the process' mappings are read once again if it lives; what they have at places
 * that are known is left to the reports, whose time tells which samples it concerns.
 */
bool address_spaces__locate(struct address_spaces *spaces, struct image *image, uint64_t address,
			    uint64_t time, uint32_t *module, uint64_t *offset);

/* Mappings may be read once more for each image. Called before and after a drain. */
void address_spaces__refresh(struct address_spaces *spaces);

/* Forgets the images of the scopes that are marked, by number in BPF. */
void address_spaces__forget(struct address_spaces *spaces, const bool *marked);

#endif
