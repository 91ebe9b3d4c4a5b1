/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The process quartz-symbolizer as daemon/symbolizer.c sees it: started, spoken to with deadlines,
 * killed. What it sends is not to be trusted; here only headers are checked.
 */
#ifndef QUARTZ_DAEMON_SYMBOLIZER_CHILD_H
#define QUARTZ_DAEMON_SYMBOLIZER_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "symbolizer/protocol.h"

struct symbolizer_child {
	pid_t pid; /* 0: none is running */
	bool kept; /* the keeper has started it */
	int pidfd, socket;
	uint64_t last_id;
	int64_t until;	  /* the deadline of the last request */
	uint64_t cpu_ns;  /* of those that have ended */
	uint64_t seen_ns; /* of all, at the last look */
};

/* A request, which begins with a header that exchange() fills in. fds go along, nfds <= 2. */
struct symbolizer_request {
	void *bytes;
	size_t length;
	uint32_t type;
	const int *fds;
	size_t nfds;
	int deadline_ms;
};

/*
 * Starts the program, with the socket as its descriptor 0 and nothing else of the caller's. Its pid, or -errno.
 */
pid_t symbolizer_child__spawn(const char *program, int socket);

/*
 * Starts the program and waits until it has given up its privileges. -EIO. It is killed when quartzd
 * ends, or, where there is no keeper, the thread that started it.
 */
int symbolizer_child__start(struct symbolizer_child *c, const char *program);

/* Kills and reaps; without effect when none is running. */
void symbolizer_child__stop(struct symbolizer_child *c);

/* Processor time of the one that runs, and of those before. */
uint64_t symbolizer_child__cpu_ns(struct symbolizer_child *c);

/*
 * Sends a request and writes the answer, with its header, to answer, which has room for
 * PROTOCOL_MAX_MESSAGE. Gives its length. -ETIME: the deadline has passed, -EBADMSG: what came is
 * no answer, -EPIPE: the child has ended. *module is set to the one that the child announced last.
 */
ssize_t symbolizer_child__exchange(struct symbolizer_child *c, const struct symbolizer_request *r,
				   void *answer, uint32_t *module);

/* Receives a further message of the last answer, by the same deadline. Likewise. */
ssize_t symbolizer_child__more(struct symbolizer_child *c, uint32_t type, void *answer);

/* Sends a message that has no answer; what goes wrong shows at the next exchange. */
void symbolizer_child__tell(struct symbolizer_child *c, const struct symbolizer_request *r);

#endif
