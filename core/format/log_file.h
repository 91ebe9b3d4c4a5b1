/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The scheduler's log as a file (quartzctl record --log): a gzip'd header, then blocks in the order in which quartzd read
 * them, in host byte order. Any error of a file, or a file cut short, is told; what came before it is good.
 *
 * Not thread-safe. Functions give 0 or -errno.
 */
#ifndef QUARTZ_CORE_LOG_FILE_H
#define QUARTZ_CORE_LOG_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "quartz/log.h"

#define QZ_LOG_MAGIC	  0x31306c6f67717a71ull /* "qzqgol01" */
#define QZ_LOG_PROCESSORS 8192			/* at most */
#define QZ_LOG_BATCH	  (1u << 20)		/* records of one block, at most */

struct qz_log_header {
	uint64_t magic;
	uint32_t record_size;
	uint32_t processors;	/* their numbers are below it */
	uint64_t began;		/* CLOCK_MONOTONIC */
	uint64_t wall_start_ns; /* CLOCK_REALTIME at that time */
	uint32_t online;
	uint32_t every_process; /* each is a scope; else those that are opened */
	uint64_t unused[3];
	char kernel[64], machine[64]; /* uname -r, uname -n */
};

enum qz_log_block_kind {
	QZ_LOG_RECORDS = 1, /* n records of processor `number` follow */
	QZ_LOG_LOST,	    /* those of processor `number` from one time to another */
	QZ_LOG_HORIZON,	    /* all that happened before `until` stands before this */
	QZ_LOG_SCOPE, /* process `number` is a scope from `until` on; n: QZ_LOG_FOLLOWS and others */
	QZ_LOG_END,   /* the run ended at `until`; nothing follows */
};

#define QZ_LOG_FOLLOWS 1 /* with its descendants */
#define QZ_LOG_COMMAND 2 /* it is a command that was recorded */
#define QZ_LOG_AGAIN   4 /* it was before: what it did so far is forgotten */

/* Numbers that a block does not need are 0. */
struct qz_log_block {
	uint32_t kind;
	uint32_t number;
	uint64_t n;
	uint64_t from, until;
};

/* ---- writing ---- */

struct qz_log_writer;

/* Writes the header; the descriptor stays the caller's. NULL with errno. */
struct qz_log_writer *qz_log_writer__new(int fd, const struct qz_log_header *header);

/* A block, and what follows it: n entries of so many bytes. After an error nothing more is written, and each call gives it. */
int qz_log_writer__put(struct qz_log_writer *w, const struct qz_log_block *block,
		       const void *entries, uint32_t size);

/* Completes the file, and frees the writer. NULL is fine. */
int qz_log_writer__close(struct qz_log_writer *w);

/* ---- reading ---- */

struct qz_log_file;

/*
 * Opens a file to read; the descriptor stays the caller's. NULL with errno: EBADMSG, it is no log of this version, damaged
 * or cut within the header.
 */
struct qz_log_file *qz_log_file__new(int fd, struct qz_log_header *header);

/*
 * The next block, and its records: good until the next call; NULL where it has none. 0: it was the last one and the file is
 * complete, 1: there was one, -EBADMSG: the file is cut or damaged here, -ENOMEM, or of read(2).
 */
int qz_log_file__next(struct qz_log_file *f, struct qz_log_block *block,
		      const struct qz_log_record **records);

void qz_log_file__free(struct qz_log_file *f);

#endif
