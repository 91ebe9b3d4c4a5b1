/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much running servers have sent to their clients: bytes that these have acknowledged, of the TCP connections at the ports at which
 * the servers listen, as the kernel counts them for each (sock_diag(7)). Bytes, and not calls: how many answers go into one call depends
 * on what is tried. A connection that lives for less than the time between two counts is not seen.
 */
#ifndef QUARTZ_CLI_EXPERIMENT_SENDS_H
#define QUARTZ_CLI_EXPERIMENT_SENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/util/options.h"

#define SENDS_PORTS 64

struct sent_by {
	uint64_t cookie; /* of the connection */
	uint64_t bytes;
};

struct sends {
	int fd;
	uint32_t nports;
	uint16_t ports[SENDS_PORTS]; /* in network order */
	struct sent_by *connections; /* by cookie */
	uint32_t n;
	uint64_t total;
	bool counted; /* once at least: what new connections have sent is new since then */
};

/*
 * Looks where these processes listen, in the network of the first one. 0 or -errno; -ENOENT: nowhere. To be closed if it is 0.
 */
int sends__open(struct sends *s, const struct qz_integers *pids);
void sends__close(struct sends *s);

/* Bytes since the first count. 0 or -errno. */
int sends__count(struct sends *s, uint64_t *bytes);

#endif
