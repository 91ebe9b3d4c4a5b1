/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The work of an opener for quartzd, which lacks the rights: one request at a time, each about one process or one file, and
 * only those that are listed here. quartzd is trusted no further.
 */
#ifndef QUARTZ_DAEMON_OPENER_WORKER_H
#define QUARTZ_DAEMON_OPENER_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#define OPENER_BYTES (64 * 1024) /* of one answer */

/* With a descriptor of /proc/PID, but for the last two. */
enum opener_what {
	OPENER_MAPS,	 /* a memory file with /proc/PID/maps */
	OPENER_MEMORY,	 /* bytes from `start` on, as far as they are mapped, at most `size` */
	OPENER_FILE,	 /* the file mapped at start-end, to be read */
	OPENER_FD,	 /* what descriptor `number` is a link to */
	OPENER_FDINFO,	 /* the text about it */
	OPENER_SYSCALL,	 /* the system call that thread `number` is in */
	OPENER_PERF_MAP, /* the names of its JIT code */
	OPENER_WAKE,	 /* nothing: calls it, see shm_wake.h; a waker's only work */
	OPENER_REOPEN,	 /* once more a file that all users may read, or that is open for reading */
	OPENER_COMPANION, /* of a file: the one at `path` with what describes it, if it is its owner's */
};

#define OPENER_PATH 1024

struct opener_request {
	uint32_t what;
	int32_t number;
	uint32_t size, major, minor, zero;
	uint64_t start, end, inode;
	char path[OPENER_PATH]; /* absolute, terminated */
};

/* result: bytes that follow, or -errno. */
struct opener_reply {
	int32_t result;
	char bytes[OPENER_BYTES];
};

/* Never waits longer than the kernel makes it. *given: a descriptor for the asker, or -1. */
void opener_worker__do(const struct opener_request *request, int fd, struct opener_reply *reply,
		       int *given);

/* Does what comes from the socket until the other side is gone, as an opener or as a waker. */
void opener_worker__serve(int socket, bool waker);

#endif
