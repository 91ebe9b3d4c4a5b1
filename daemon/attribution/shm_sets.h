/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The page sets that quartzd has handed out (quartz/page.h): owners, memory and limits. A page set
 * belongs to one image: a process between two execs. The server's thread makes it (shm_server.h);
 * only quartzd's main thread frees it, in shm_sets__collect(), after its last figures were read. So
 * the main thread can use the result of shm_sets__at() without a lock. Sampling threads use a page
 * set only between shm_sets__enter() and shm_sets__leave().
 */
#ifndef QUARTZ_DAEMON_SHM_SETS_H
#define QUARTZ_DAEMON_SHM_SETS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "quartz/page.h"

/*
 * Limits of all users together. Users other than root share four fifths of the page sets, and of
 * the segments beyond the first one of each. A user may take half of what others have left free.
 */
#define MAX_PAGES    10000
#define MAX_SEGMENTS 24576 /* segments of slots: the kernel allows 65,530 mappings */
#define MAX_POLLERS  64

struct shm_sets;

struct segment {
	int fd;		  /* open until it is sealed, else -1 */
	uint16_t touched; /* a bit per 4 KiB: the process is known to have written there */
	uint16_t in_vain; /* when the kernel last knew of nothing new */
};

struct page {
	uint32_t index; /* below MAX_PAGES; is reused */
	uint32_t image; /* of the owner, see struct qz_process_event */
	pid_t pid;
	uid_t uid;
	int pidfd;  /* readable when the process has ended */
	int tables; /* descriptor of the area of tables, for shm_reader.h */
	/* Slots of all segments in a row, see shm_sets__slot; nsegments of them are mapped. */
	const struct qz_slot *slots;
	uint32_t nsegments;
	struct segment segments[QZ_SEGMENTS];
	bool over; /* the process has ended, executed another program, or opened another page set */
	uint32_t closing; /* for the main thread; 0 at first */
	uint32_t pairs;	  /* for the main thread: pairs of procedures already in the profile */
};

/* NULL with errno ENOMEM. */
struct shm_sets *shm_sets__new(void);

/* Frees all page sets. No thread may use any. Accepts NULL. */
void shm_sets__free(struct shm_sets *sets);

/* The owner of a new page set. The set takes over pidfd. */
struct page_owner {
	uint32_t image;
	pid_t pid;
	uid_t uid;
	int pidfd;
};

/* The memory of a new page set: descriptors for the process, which the caller closes. */
struct page_memory {
	uint32_t generation;
	int tables, segment;
};

/*
 * Adds a page set; an earlier one of the process is over. 0 and its index; -EAGAIN: this user, or
 * all together, have as many as they may; or -errno.
 */
int shm_sets__open(struct shm_sets *sets, const struct page_owner *owner,
		   struct page_memory *memory, uint32_t *index);

/*
 * A slot that may be read. NULL: it is not mapped, or its process has never written to it; then
 * reading would allocate a page, which counts for quartzd. For the main thread, and for sampling
 * threads that have entered.
 */
const struct qz_slot *shm_sets__slot(struct shm_sets *sets, struct page *page, uint32_t slot);

/*
 * The first slot from `from` on that may be read; `end`: there is none before. A slot that was
 * written to just now can be missed, unless `now` is true: then the kernel is asked in any case.
 */
uint32_t shm_sets__next_slot(struct shm_sets *sets, struct page *page, uint32_t from, uint32_t end,
			     bool now);

/*
 * Adds segment `number` of slots to the page set of an image. 0 and its descriptor in *segment;
 * -ENOENT: it has no page set; -EINVAL: the number is not the next one; -EAGAIN: as in
 * shm_sets__open; or -errno.
 */
int shm_sets__grow(struct shm_sets *sets, uint32_t image, uint32_t number, int *segment);

/*
 * The page set with this index, or NULL. For the main thread, and for sampling threads that have
 * entered.
 */
struct page *shm_sets__at(const struct shm_sets *sets, uint32_t index);

/* The page set of an image, preferably one that is not over; or NULL. Main thread. */
struct page *shm_sets__of_image(const struct shm_sets *sets, uint32_t image);

/* All indices in use are below this. */
uint32_t shm_sets__limit(const struct shm_sets *sets);

/* Marks a page set as over. Any thread. */
void shm_sets__end(struct page *page);

/* Marks page sets of ended processes as over. Main thread. */
void shm_sets__reap(struct shm_sets *sets);

/*
 * Calls `call` for each page set that is over, and frees those for which it returns true: their
 * figures were read. Main thread.
 */
typedef bool pages_call(void *context, struct page *page);
void shm_sets__collect(struct shm_sets *sets, pages_call *call, void *context);

/*
 * The sampling thread `poller`, 0 .. MAX_POLLERS - 1, begins or ends to use page sets. Never
 * blocks.
 */
void shm_sets__enter(struct shm_sets *sets, uint32_t poller);
void shm_sets__leave(struct shm_sets *sets, uint32_t poller);

/* Counts a request that could not be fulfilled, for lack of room or of time. */
void shm_sets__refuse(struct shm_sets *sets);
uint64_t shm_sets__refused(const struct shm_sets *sets);

#endif
