/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Snapshots as bytes, in and out of the gzip. These abort the test when they fail.
 */
#ifndef QUARTZ_TESTS_UNIT_BYTES_H
#define QUARTZ_TESTS_UNIT_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "core/model/profile.h"

struct bytes {
	uint8_t *data; /* to be freed */
	size_t size;
};

/* A file in memory with this content, to be read from its start. */
int bytes__file(const void *data, size_t size);

/* What qz_pprof__write writes. */
struct bytes bytes__of_profile(const struct qz_profile *p);

struct bytes bytes__compress(const void *data, size_t size);
struct bytes bytes__expand(const struct bytes *gz);

#endif
