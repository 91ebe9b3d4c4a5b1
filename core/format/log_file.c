// SPDX-License-Identifier: GPL-2.0-only
#include "core/format/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/util/gzip.h"

/* ---- writing ---- */

struct qz_log_writer {
	gzFile file;
	int err;
};

struct qz_log_writer *qz_log_writer__new(int fd, const struct qz_log_header *header)
{
	struct qz_log_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->file = qz_gzip__open(fd);
	if (!w->file) {
		free(w);
		return NULL;
	}
	w->err = qz_gzip__write(w->file, header, sizeof(*header));
	return w;
}

int qz_log_writer__put(struct qz_log_writer *w, const struct qz_log_block *block,
		       const void *entries, uint32_t size)
{
	if (!w->err)
		w->err = qz_gzip__write(w->file, block, sizeof(*block));
	if (!w->err && entries)
		w->err = qz_gzip__write(w->file, entries, block->n * size);
	return w->err;
}

int qz_log_writer__close(struct qz_log_writer *w)
{
	int err, closed;

	if (!w)
		return 0;
	err = w->err;
	closed = qz_gzip__close(w->file);
	free(w);
	return err ?: closed;
}

/* ---- reading ---- */

struct qz_log_file {
	gzFile file;
	struct qz_log_header header;
	struct qz_log_record *records;
	uint64_t room;
};

/* 0, -EBADMSG: there is less, or it is damaged, or -errno. */
static int read_whole(gzFile file, void *to, size_t size)
{
	int n = gzread(file, to, (unsigned int)size), status;

	if (n == (int)size)
		return 0;
	gzerror(file, &status);
	return status == Z_ERRNO ? -errno : status == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
}

static bool is_valid(const struct qz_log_header *h)
{
	return h->magic == QZ_LOG_MAGIC && h->record_size == sizeof(struct qz_log_record) &&
	       h->processors && h->processors <= QZ_LOG_PROCESSORS &&
	       !h->kernel[sizeof(h->kernel) - 1] && !h->machine[sizeof(h->machine) - 1];
}

struct qz_log_file *qz_log_file__new(int fd, struct qz_log_header *header)
{
	struct qz_log_file *f = calloc(1, sizeof(*f));
	int own = f ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1, err;

	if (own < 0) {
		free(f);
		return NULL;
	}
	f->file = gzdopen(own, "rb");
	if (!f->file) {
		close(own);
		free(f);
		errno = ENOMEM;
		return NULL;
	}
	err = read_whole(f->file, &f->header, sizeof(f->header));
	if (!err && (gzdirect(f->file) || !is_valid(&f->header)))
		err = -EBADMSG;
	if (err) {
		qz_log_file__free(f);
		errno = -err;
		return NULL;
	}
	*header = f->header;
	return f;
}

/* What a block says is checked before anything is believed of it. */
static bool is_sound(const struct qz_log_file *f, const struct qz_log_block *b)
{
	switch (b->kind) {
	case QZ_LOG_RECORDS:
		return b->number < f->header.processors && b->n && b->n <= QZ_LOG_BATCH;
	case QZ_LOG_LOST:
		return b->number < f->header.processors && b->from <= b->until;
	case QZ_LOG_HORIZON:
	case QZ_LOG_SCOPE:
	case QZ_LOG_END:
		return true;
	}
	return false;
}

static int read_records(struct qz_log_file *f, uint64_t n)
{
	if (n > f->room) {
		struct qz_log_record *more = realloc(f->records, n * sizeof(*more));

		if (!more)
			return -ENOMEM;
		f->records = more;
		f->room = n;
	}
	return read_whole(f->file, f->records, n * sizeof(*f->records));
}

int qz_log_file__next(struct qz_log_file *f, struct qz_log_block *block,
		      const struct qz_log_record **records)
{
	int err = read_whole(f->file, block, sizeof(*block));

	*records = NULL;
	if (!err && !is_sound(f, block))
		err = -EBADMSG;
	if (!err && block->kind == QZ_LOG_RECORDS) {
		err = read_records(f, block->n);
		*records = f->records;
	}
	if (err)
		return err;
	return block->kind != QZ_LOG_END;
}

void qz_log_file__free(struct qz_log_file *f)
{
	if (!f)
		return;
	gzclose_r(f->file);
	free(f->records);
	free(f);
}
