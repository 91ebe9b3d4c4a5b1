/* SPDX-License-Identifier: GPL-2.0-only */
/* The HTTP server: connections, access, pages. */
#ifndef QUARTZ_EXPORTER_HTTP_H
#define QUARTZ_EXPORTER_HTTP_H

#include <stdbool.h>
#include <sys/socket.h>

#include "core/util/options.h"
#include "exporter/metrics.h"

struct http;

struct http_options {
	const char *socket;    /* of quartzd */
	const char *password;  /* required in every request; NULL: none */
	struct qz_texts hosts; /* accepted in Host, besides loopback addresses and localhost */
	bool profiles;	       /* serve profiles, with names of procedures */
};

/* Listens and serves in threads of its own. Borrows all arguments. NULL with errno. */
struct http *http__new(const struct sockaddr *address, socklen_t size,
		       const struct http_options *options, struct metrics *metrics);

/* Closes all connections. Accepts NULL. */
void http__free(struct http *h);

/* The port at which it listens. */
unsigned int http__port(const struct http *h);

#endif
