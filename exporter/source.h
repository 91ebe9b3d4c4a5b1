/* SPDX-License-Identifier: GPL-2.0-only */
/* Snapshots of the running quartzd. Thread-safe: it is asked one question at a time. */
#ifndef QUARTZ_EXPORTER_SOURCE_H
#define QUARTZ_EXPORTER_SOURCE_H

#include <jansson.h>
#include <stddef.h>

#include "core/profile.h"

#define SOURCE_REASON 256

/* The profile so far; NULL with the reason, of one printable line. */
struct qz_profile *source__profile(const char *socket, char reason[SOURCE_REASON]);

/*
 * The same in *whole, and what was added since `before`, which may be NULL, in *added: all of it, when
 * quartzd has begun anew since. -1 with the reason, and nothing in either.
 */
int source__profile_since(const char *socket, const struct qz_profile *before,
			  struct qz_profile **whole, struct qz_profile **added,
			  char reason[SOURCE_REASON]);

/* The same without code, stacks, waits and single threads; `before` must be such a one, too. */
int source__figures_since(const char *socket, const struct qz_profile *before,
			  struct qz_profile **whole, struct qz_profile **added,
			  char reason[SOURCE_REASON]);

/* What quartzd says of itself, to be freed by json_decref; NULL when it does not answer. */
json_t *source__status(const char *socket);

#endif
