/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The client of quartzd's socket. One request and one answer per connection: JSON followed by a
 * NUL, the answer followed by the snapshot that it announces.
 */
#ifndef QUARTZ_CLIENT_LIVE_H
#define QUARTZ_CLIENT_LIVE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* How much of a snapshot is asked for; see core/transform/compact.h. */
struct live_wanted {
	const char *detail; /* "scopes", "procedures" or "stacks" */
	uint64_t since_ns;  /* CLOCK_REALTIME: begin and length of the snapshot before, 0: none */
	int32_t pid;	    /* of the process of which all is wanted, -1: none */
	uint64_t start_ns;
};

/*
 * Asks the quartzd at the socket `path` for a snapshot, of all where `wanted` is NULL; one that is
 * too old to know it gives all as well. Returns a descriptor from which it can
 * be read, or -errno: -ENOENT or -ECONNREFUSED no quartzd serves there, -EACCES or -EPERM not for this
 * user, -ETIMEDOUT, -ECONNRESET no answer, -EBADMSG no sensible one, -EREMOTEIO quartzd gave a reason, which is then in
 * `reason` as it came, unescaped.
 */
int live__snapshot(const char *path, const struct live_wanted *wanted, char *reason, size_t size);

/*
 * Has it carry out `method`, "io.quartz.Status" or another one without a body. What it answers stands in
 * *parameters, to be freed by json_decref. 0 or -errno as above.
 */
int live__call(const char *path, const char *method, json_t **parameters, char *reason,
	       size_t size);

#endif
