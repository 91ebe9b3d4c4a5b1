/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Gzip'd files by descriptor. Functions give 0 or -errno.
 */
#ifndef QUARTZ_CORE_GZIP_H
#define QUARTZ_CORE_GZIP_H

#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

/* A file to compress to fd, which stays the caller's. NULL with errno. */
gzFile qz_gzip__open(int fd);

/* Errors are those of write(2), and -ENOMEM. */
int qz_gzip__write(gzFile file, const void *data, size_t size);

/* Completes it; also after an error. */
int qz_gzip__close(gzFile file);

/*
 * Reads fd to its end, which must be the end of its one gzip member, and gives what was compressed;
 * the caller frees it. -EBADMSG when cut, damaged or no gzip, -EFBIG beyond limit bytes (of either
 * form), or where far more comes out than a profile can be packed into so few bytes, -ENOMEM, or of read(2).
 */
int qz_gzip__read(int fd, size_t limit, uint8_t **data, size_t *size);

#endif
