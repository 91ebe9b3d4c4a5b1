/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/gzip.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>
#define ZLIB_CONST
#include <zlib.h>

#define CHUNK	    65536
#define GZIP_WINDOW (MAX_WBITS + 16) /* zlib's way to ask for the gzip format */
#define MEMORY	    8		     /* zlib's default */
#define LEVEL	    2 /* a third of the time of zlib's default, for a seventh more bytes */

/* ---- writing ---- */

struct qz_gzip {
	int fd;
	z_stream stream;
	uint8_t out[CHUNK];
};

struct qz_gzip *qz_gzip__new(int fd)
{
	struct qz_gzip *gz = calloc(1, sizeof(*gz));

	if (!gz)
		return NULL;
	gz->fd = fd;
	if (deflateInit2(&gz->stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY, Z_DEFAULT_STRATEGY) !=
	    Z_OK) {
		free(gz);
		errno = ENOMEM;
		return NULL;
	}
	return gz;
}

void qz_gzip__free(struct qz_gzip *gz)
{
	if (!gz)
		return;
	deflateEnd(&gz->stream);
	free(gz);
}

static int write_all(int fd, const uint8_t *data, size_t size)
{
	while (size > 0) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		size -= (size_t)n;
	}
	return 0;
}

/* Compresses all pending input; zlib is done when it leaves room in the output. */
static int compress_input(struct qz_gzip *gz, int flush)
{
	int err = 0;

	do {
		gz->stream.next_out = gz->out;
		gz->stream.avail_out = sizeof(gz->out);
		deflate(&gz->stream, flush);
		err = write_all(gz->fd, gz->out, sizeof(gz->out) - gz->stream.avail_out);
	} while (!err && gz->stream.avail_out == 0);
	return err;
}

int qz_gzip__write(struct qz_gzip *gz, const void *data, size_t size)
{
	int err = 0;

	gz->stream.next_in = data;
	while (!err && size > 0) {
		gz->stream.avail_in = size < CHUNK ? (uInt)size : CHUNK;
		size -= gz->stream.avail_in;
		err = compress_input(gz, Z_NO_FLUSH);
	}
	return err;
}

int qz_gzip__finish(struct qz_gzip *gz)
{
	return compress_input(gz, Z_FINISH);
}

/* ---- reading ---- */

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

int qz_gunzip(int fd, size_t limit, uint8_t **data, size_t *size)
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
