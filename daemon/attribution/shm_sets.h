/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The page sets that quartzd has handed out (quartz/page.h): their owners, their memory, and their limits.
 *
 * A page set belongs to one image: a process between two execs. It is made by the server's thread
 * (shm_server.h) and freed by quartzd's main thread alone, in shm_sets__collect, once its last figures
 * were read; so the main thread can use what shm_sets__at gives it without a lock. Sampling threads
 * use a page set only between shm_sets__enter and shm_sets__leave.
 */
#ifndef QUARTZ_DAEMON_SHM_SETS_H
#define QUARTZ_DAEMON_SHM_SETS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "quartz/page.h"

/*
 * For all users together. Users other than root share four fifths of the page sets, and of the segments beyond the
 * first one of each. A user may take as much as is left free then: the first one half, the next one a quarter, and so on.
 */
#define MAX_PAGES    10000
#define MAX_SEGMENTS 24576 /* of slots: the kernel allows 65,530 mappings */
#define MAX_POLLERS  64

struct shm_sets;

struct segment {
	int fd; /* until it is sealed, else -1 */
	uint16_t
		touched; /* one bit per 4 KiB that the process has written to, as far as is known */
	uint16_t in_vain; /* when the kernel was last asked for more, and had none */
};

struct page {
	uint32_t index; /* of the page set, below MAX_PAGES; used again */
	uint32_t image; /* of the owner, see struct qz_process_event */
	pid_t pid;
	uid_t uid;
	int pidfd;  /* readable when the process has ended */
	int tables; /* descriptor of the area of tables, for shm_reader.h */
	/* Slots of all segments, one behind the other, see shm_sets__slot; nsegments are mapped. */
	const struct qz_slot *slots;
	uint32_t nsegments;
	struct segment segments[QZ_SEGMENTS];
	bool whole; /* of the device: all slots are mapped, as one */
	bool over; /* the process has ended, executed another program, or opened another page set */
	uint32_t closing; /* of the main thread, 0 at first */
	uint32_t pairs;	  /* the same: of procedures, brought into the profile */
};

/* NULL with errno ENOMEM. */
struct shm_sets *shm_sets__new(void);

/* Frees all page sets. No thread may use any. Accepts NULL. */
void shm_sets__free(struct shm_sets *sets);

/* The owner of a new page set; takes over pidfd. */
struct page_owner {
	uint32_t image;
	pid_t pid;
	uid_t uid;
	int pidfd;
};

/* Its memory: new, with descriptors for the process, which the caller closes; or the memory of /dev/quartz. */
struct page_memory {
	int device;	     /* descriptor of that, which is taken over; -1: it is made */
	uint32_t generation; /* else: */
	int tables, segment;
};

/*
 * Adds a page set; one that the process had before is over. 0 with its index, -EAGAIN: this user, or all
 * together, have as many as they may, or -errno.
 */
int shm_sets__open(struct shm_sets *sets, const struct page_owner *owner,
		   struct page_memory *memory, uint32_t *index);

/*
 * A slot to be read, or NULL: it is not mapped, or its process has never touched it. Reading would then
 * make memory of a hole, which is quartzd's. The main thread, and sampling threads that have entered.
 */
const struct qz_slot *shm_sets__slot(struct shm_sets *sets, struct page *page, uint32_t slot);

/*
 * The first slot from `from` on that may be read; `end` when there is none before. A slot that was touched just now can be
 * missed, unless `now` is true: then the kernel is asked, at any cost.
 */
uint32_t shm_sets__next_slot(struct shm_sets *sets, struct page *page, uint32_t from, uint32_t end,
			     bool now);

/*
 * Adds segment `number` of slots to the page set of an image. 0 with its descriptor in *segment,
 * -ENOENT: it has no page set, -EINVAL: not the next one, -EAGAIN: as in shm_sets__open, or -errno.
 */
int shm_sets__grow(struct shm_sets *sets, uint32_t image, uint32_t number, int *segment);

/* A page set of this index, or NULL. For the main thread, and sampling threads that have entered. */
struct page *shm_sets__at(const struct shm_sets *sets, uint32_t index);

/* The page set of an image, rather one that is not over, or NULL; main thread. */
struct page *shm_sets__of_image(const struct shm_sets *sets, uint32_t image);

/* All indices in use are below this. */
uint32_t shm_sets__limit(const struct shm_sets *sets);

/* Marks a page set as over. Any thread. */
void shm_sets__end(struct page *page);

/* Marks those whose process has ended. Main thread. */
void shm_sets__reap(struct shm_sets *sets);

/*
 * Calls `call` for each that is over, and frees those for which it says true: nothing more is
 * wanted of them. Main thread.
 */
typedef bool pages_call(void *context, struct page *page);
void shm_sets__collect(struct shm_sets *sets, pages_call *call, void *context);

/* A sampling thread, 0 .. MAX_POLLERS - 1, uses page sets from now on, or no longer. Never waits. */
void shm_sets__enter(struct shm_sets *sets, uint32_t poller);
void shm_sets__leave(struct shm_sets *sets, uint32_t poller);

/* Counts a request that could not be fulfilled, for want of room or in time. */
void shm_sets__refuse(struct shm_sets *sets);
uint64_t shm_sets__refused(const struct shm_sets *sets);

#endif
