/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The scheduler's log as a file (quartzctl record --log): a gzip'd header, then blocks in the order in which quartzd read
 * them, in host byte order. Any error in a file, or its early end, is reported; the blocks before it are valid.
 *
 * Not thread-safe. Functions return 0 or -errno.
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
	uint32_t every_process; /* 1: every process is a scope; 0: those that are opened */
	uint64_t unused[3];
	char kernel[64], machine[64]; /* uname -r, uname -n */
};

enum qz_log_block_kind {
	QZ_LOG_RECORDS = 1, /* n records of processor `number` follow */
	QZ_LOG_LOST,	    /* those of processor `number` from one time to another */
	QZ_LOG_HORIZON,	    /* all events before `until` precede this block */
	QZ_LOG_SCOPE, /* process `number` is a scope from `until` on; n: QZ_LOG_FOLLOWS and others */
	QZ_LOG_END,   /* the run ended at `until`; nothing follows */
};

#define QZ_LOG_FOLLOWS 1 /* with its descendants */
#define QZ_LOG_COMMAND 2 /* it is a command that was recorded */
#define QZ_LOG_AGAIN   4 /* it was a scope before: its figures so far are cleared */

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

/*
 * Writes a block and the entries that follow it: block->n entries of `size` bytes. After an error nothing more is written,
 * and each call returns that error.
 */
int qz_log_writer__put(struct qz_log_writer *w, const struct qz_log_block *block,
		       const void *entries, uint32_t size);

/* Completes the file, and frees the writer. NULL is fine. */
int qz_log_writer__close(struct qz_log_writer *w);

/* ---- reading ---- */

struct qz_log_file;

/*
 * Opens a file to read; the descriptor stays the caller's. NULL with errno: EBADMSG, it is not a log of this version, or is
 * damaged or cut within the header.
 */
struct qz_log_file *qz_log_file__new(int fd, struct qz_log_header *header);

/*
 * Reads the next block, and its records, which are valid until the next call; NULL if it has none. 1: there was a block; 0:
 * the file is complete and has no more; -EBADMSG: the file is cut or damaged here; -ENOMEM, or an error of read(2).
 */
int qz_log_file__next(struct qz_log_file *f, struct qz_log_block *block,
		      const struct qz_log_record **records);

void qz_log_file__free(struct qz_log_file *f);

#endif
