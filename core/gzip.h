/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Gzip'd files by descriptor. Functions give 0 or -errno.
 */
#ifndef QUARTZ_CORE_GZIP_H
#define QUARTZ_CORE_GZIP_H

#include <stddef.h>
#include <stdint.h>

struct qz_gzip;

/* Compresses to fd, which stays the caller's. NULL: ENOMEM. */
struct qz_gzip *qz_gzip__new(int fd);
void qz_gzip__free(struct qz_gzip *gz);

/* Errors are those of write(2). */
int qz_gzip__write(struct qz_gzip *gz, const void *data, size_t size);

/* Completes the file; nothing may be written after. */
int qz_gzip__finish(struct qz_gzip *gz);

/*
 * Reads fd to its end, which must be the end of its one gzip member, and gives what was compressed;
 * the caller frees it. -EBADMSG when cut, damaged or no gzip, -EFBIG beyond limit bytes (of either
 * form), -ENOMEM, or of read(2).
 */
int qz_gunzip(int fd, size_t limit, uint8_t **data, size_t *size);

#endif
