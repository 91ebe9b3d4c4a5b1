/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Snapshots of the running quartzd. Thread-safe: calls do not wait for each other. quartzd serves
 * four clients of one user at a time.
 */
#ifndef QUARTZ_EXPORTER_SOURCE_H
#define QUARTZ_EXPORTER_SOURCE_H

#include <jansson.h>
#include <stddef.h>

#include "core/model/profile.h"

#define SOURCE_REASON 256

/* The whole profile, for qz_profile__free. NULL with the reason, one printable line. */
struct qz_profile *source__profile(const char *socket, char reason[SOURCE_REASON]);

/*
 * The same in *whole, and the difference to `before`, which may be NULL, in *added: everything, if
 * quartzd was restarted since. -1 with the reason; then both are unchanged.
 */
int source__profile_since(const char *socket, const struct qz_profile *before,
			  struct qz_profile **whole, struct qz_profile **added,
			  char reason[SOURCE_REASON]);

/* The same without code, stacks, waits and single threads, as `before` must be, too. */
int source__figures_since(const char *socket, const struct qz_profile *before,
			  struct qz_profile **whole, struct qz_profile **added,
			  char reason[SOURCE_REASON]);

/* The status of quartzd, for json_decref. NULL: it does not answer. */
json_t *source__status(const char *socket);

#endif
