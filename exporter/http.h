/* SPDX-License-Identifier: GPL-2.0-only */
/* The server: who may connect, how many, for how long, and what there is to be had. */
#ifndef QUARTZ_EXPORTER_HTTP_H
#define QUARTZ_EXPORTER_HTTP_H

#include <stdbool.h>
#include <sys/socket.h>

#include "exporter/metrics.h"

struct http;

struct http_options {
	const char *socket;   /* of quartzd */
	const char *password; /* that every request must have; NULL: none */
	bool profiles;	      /* names of procedures are given, too */
};

/* Listens at the address and serves from threads of its own. Borrows all. NULL with errno. */
struct http *http__new(const struct sockaddr *address, socklen_t size,
		       const struct http_options *options, struct metrics *metrics);

/* Ends what is being served. Accepts NULL. */
void http__free(struct http *h);

/* The port that it listens at. */
unsigned int http__port(const struct http *h);

#endif
