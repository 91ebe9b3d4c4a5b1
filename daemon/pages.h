/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The page sets that quartzd has handed out (quartz/page.h): whose they are, their memory, and how
 * many there may be.
 *
 * A page set belongs to one image: a process between two execs. It is made by the server's thread
 * (page_server.h) and freed by quartzd's main thread alone, in pages__collect, once its last figures
 * were read; so the main thread can use what pages__at gives it without a lock. Sampling threads
 * use a page set only between pages__enter and pages__leave.
 */
#ifndef QUARTZ_DAEMON_PAGES_H
#define QUARTZ_DAEMON_PAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "quartz/page.h"

#define MAX_PAGES	   10000
#define MAX_PAGES_PER_USER 4000	 /* root's are limited by MAX_PAGES alone */
#define MAX_SEGMENTS	   24576 /* of slots in all: the kernel allows 65,530 mappings */
#define MAX_POLLERS	   64

struct pages;

struct page {
	uint32_t index; /* of the page set, below MAX_PAGES; used again */
	uint32_t image; /* whose it is, see struct qz_process_event */
	pid_t pid;
	uid_t uid;
	int pidfd;  /* readable when the process has ended */
	int tables; /* descriptor of the area of tables, for page_reader.h */
	/* Slots of all segments, one behind the other: nsegments * QZ_SEGMENT_SLOTS are mapped. */
	const struct qz_slot *slots;
	uint32_t nsegments;
	bool whole; /* all slots are mapped; nsegments of them are counted, and may be read */
	bool over; /* the process has ended, executed another program, or opened another page set */
	uint32_t closing; /* of the main thread, 0 at first */
	uint32_t pairs;	  /* likewise: of procedures, brought into the profile */
};

/* NULL with errno ENOMEM. */
struct pages *pages__new(void);

/* Frees all page sets. No thread may use any. Accepts NULL. */
void pages__free(struct pages *p);

/* What a new page set hands over; the caller closes them. */
struct page_memory {
	int tables, segment;
};

/*
 * Makes a page set for an image; one that the process had before is over. Takes pidfd over when it
 * succeeds. 0, -EAGAIN: too many, of this user or in all, or -errno.
 */
int pages__open(struct pages *p, uint32_t image, pid_t pid, uid_t uid, int pidfd,
		uint32_t generation, struct page_memory *memory, uint32_t *index);

/*
 * The same for a page set of /dev/quartz: `memory` is the descriptor of all of it, with the slots from
 * an offset on, and is taken over with pidfd.
 */
int pages__adopt(struct pages *p, uint32_t image, pid_t pid, uid_t uid, int pidfd, int memory,
		 off_t slots, uint32_t *index);

/*
 * How many slots of a page set may be read: at least `wanted`, if that many are mapped or can be
 * counted in. The main thread, and sampling threads that have entered.
 */
uint32_t pages__slots(struct pages *p, struct page *page, uint32_t wanted);

/*
 * Adds segment `number` of slots to the page set of an image. 0 with its descriptor in *segment,
 * -ENOENT: it has no page set, -EINVAL: not the next one, -EAGAIN: too many in all, or -errno.
 */
int pages__grow(struct pages *p, uint32_t image, uint32_t number, int *segment);

/* A page set of this index, or NULL. For the main thread, and sampling threads that have entered. */
struct page *pages__at(const struct pages *p, uint32_t index);

/* The page set of an image, rather one that is not over, or NULL; main thread. */
struct page *pages__of_image(const struct pages *p, uint32_t image);

/* All indices in use are below this. */
uint32_t pages__limit(const struct pages *p);

/* Says that a page set is over. Any thread. */
void pages__end(struct page *page);

/* Says so of those whose process has ended. Main thread. */
void pages__reap(struct pages *p);

/*
 * Calls `call` for each that is over, and frees those for which it says true: nothing more is
 * wanted of them. Main thread.
 */
typedef bool pages_call(void *context, struct page *page);
void pages__collect(struct pages *p, pages_call *call, void *context);

/* A sampling thread, 0 .. MAX_POLLERS - 1, uses page sets from now on, or no longer. Never waits. */
void pages__enter(struct pages *p, uint32_t poller);
void pages__leave(struct pages *p, uint32_t poller);

/* Counts a request that could not be fulfilled, for want of room or in time. */
void pages__refuse(struct pages *p);
uint64_t pages__refused(const struct pages *p);

#endif
