/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The process quartz-symbolizer as daemon/symbolizer/symbolizer.c sees it: started, spoken to with deadlines,
 * killed. What it sends is not to be trusted; here only headers are checked.
 */
#ifndef QUARTZ_DAEMON_SYMBOLIZER_CHILD_H
#define QUARTZ_DAEMON_SYMBOLIZER_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/privsep/opener.h"
#include "include/quartz/symbolizer.h"

struct symbolizer_child {
	struct helper process;
	uint64_t last_id;
	int64_t until; /* the deadline of the last request */
	bool greeted;  /* it is ready */
};

/* A request, which begins with a header that exchange() fills in. fds go along, nfds <= MESSAGE_FDS. */
struct symbolizer_request {
	void *bytes;
	size_t length;
	uint32_t type;
	const int *fds;
	size_t nfds;
	int deadline_ms;
};

/*
 * Starts the program. -EIO. It is killed by opener__end(), and when quartzd ends, or, where there is no keeper, the
 * thread that started it.
 */
int symbolizer_child__begin(struct symbolizer_child *c, const char *program);

/* Waits until it has given up its privileges: before the first request. -EIO: it was killed. */
int symbolizer_child__greet(struct symbolizer_child *c);

/* Whether it has ended by itself, or was ended by others. */
bool symbolizer_child__ended(const struct symbolizer_child *c);

/*
 * Sends a request and writes the answer, with its header, to answer, which has room for
 * PROTOCOL_MAX_MESSAGE. Returns its length. -ETIME: the deadline has passed, -EBADMSG: what came is
 * no answer, -EPIPE: the child has ended.
 */
ssize_t symbolizer_child__exchange(struct symbolizer_child *c, const struct symbolizer_request *r,
				   void *answer);

/* Receives a further message of the last answer, by the same deadline; what it gives is as above. */
ssize_t symbolizer_child__more(struct symbolizer_child *c, uint32_t type, void *answer);

/* Sends a message that has no answer; what goes wrong shows at the next exchange. */
void symbolizer_child__send(struct symbolizer_child *c, const struct symbolizer_request *r);

#endif
