/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks the Host header of requests, against DNS rebinding: a web page can make its own name
 * resolve to the loopback address and read the answers, but it cannot choose the Host header of its
 * requests. No system calls.
 */
#ifndef QUARTZ_EXPORTER_HOST_H
#define QUARTZ_EXPORTER_HOST_H

#include <stdbool.h>
#include <sys/socket.h>

#include "core/util/options.h"

/*
 * Whether a Host header, with or without a port, is localhost, a loopback address, the numeric
 * address at which the connection arrived, or one of the names, ignoring case.
 */
bool host__is_ours(const char *header, const struct sockaddr *arrived,
		   const struct qz_texts *names);

#endif
