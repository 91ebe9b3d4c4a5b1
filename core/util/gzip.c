/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/util/gzip.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#define CHUNK	    65536
#define GZIP_WINDOW (MAX_WBITS + 16) /* zlib's way to ask for the gzip format */
#define MODE	    "wb2" /* level 2: a third of the time of zlib's default, for a seventh more bytes */

/* ---- writing ---- */

gzFile qz_gzip__open(int fd)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	gzFile file = own < 0 ? NULL : gzdopen(own, MODE);

	if (file) {
		gzbuffer(file, CHUNK);
		return file;
	}
	if (own >= 0) {
		close(own);
		errno = ENOMEM;
	}
	return NULL;
}

static int error_of(int status)
{
	return status == Z_OK ? 0 : status == Z_ERRNO ? -errno : -ENOMEM;
}

int qz_gzip__write(gzFile file, const void *data, size_t size)
{
	int status = Z_OK;

	while (size > 0 && status == Z_OK) {
		unsigned int n = size < INT_MAX ? (unsigned int)size : INT_MAX;

		if (!gzwrite(file, data, n))
			gzerror(file, &status);
		data = (const char *)data + n;
		size -= n;
	}
	return error_of(status);
}

int qz_gzip__close(gzFile file)
{
	return error_of(gzclose_w(file));
}

/* ---- reading ---- */

/*
 * Profiles come to a fifth to a fifteenth of their size; zlib can make a thousandth of what is always the
 * same. Small ones may be anything.
 */
#define MAX_RATIO 64
#define SMALL	  ((size_t)16 << 20)

struct gunzip {
	int fd;
	size_t limit;
	z_stream stream;
	size_t consumed; /* compressed bytes read */
	uint8_t *data;
	size_t size, capacity;
	bool ended; /* the member is complete */
	uint8_t in[CHUNK];
};

static int grow(struct gunzip *g)
{
	size_t capacity = g->capacity ? 2 * g->capacity : CHUNK;
	uint8_t *data;

	if (g->size < g->capacity)
		return 0;
	if (g->size >= g->limit)
		return -EFBIG;
	data = realloc(g->data, capacity);
	if (!data)
		return -ENOMEM;
	g->data = data;
	g->capacity = capacity;
	return 0;
}

static int expand_input(struct gunzip *g)
{
	while (g->stream.avail_in > 0) {
		int err = g->ended ? -EBADMSG : grow(g); /* no bytes may follow the member */
		size_t space;
		int status;

		if (err)
			return err;
		space = g->capacity - g->size;
		if (space > CHUNK)
			space = CHUNK;
		g->stream.next_out = g->data + g->size;
		g->stream.avail_out = (uInt)space;
		status = inflate(&g->stream, Z_NO_FLUSH);
		g->size += space - g->stream.avail_out;
		if (g->size > SMALL && g->size / MAX_RATIO > g->consumed)
			return -EFBIG;
		if (status == Z_MEM_ERROR)
			return -ENOMEM;
		if (status != Z_OK && status != Z_STREAM_END)
			return -EBADMSG;
		g->ended = status == Z_STREAM_END;
	}
	return 0;
}

static int read_all(struct gunzip *g)
{
	for (;;) {
		ssize_t n = read(g->fd, g->in, sizeof(g->in));
		int err;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return g->ended ? 0 : -EBADMSG;
		g->consumed += (size_t)n;
		if (g->consumed > g->limit)
			return -EFBIG;
		g->stream.next_in = g->in;
		g->stream.avail_in = (uInt)n;
		err = expand_input(g);
		if (err)
			return err;
	}
}

int qz_gzip__read(int fd, size_t limit, uint8_t **data, size_t *size)
{
	struct gunzip *g = calloc(1, sizeof(*g));
	int err;

	if (!g)
		return -ENOMEM;
	g->fd = fd;
	g->limit = limit;
	if (inflateInit2(&g->stream, GZIP_WINDOW) != Z_OK) {
		free(g);
		return -ENOMEM;
	}
	err = read_all(g);
	inflateEnd(&g->stream);
	if (err) {
		free(g->data);
	} else {
		*data = g->data;
		*size = g->size;
	}
	free(g);
	return err;
}
