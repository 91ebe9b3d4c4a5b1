/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the logs of all processors (daemon/kernel/bpf_log.h) in a thread of its own, before they are full, and writes
 * them to a file (core/format/log_file.h). What was overwritten before it was read is in the file as lost.
 *
 * One thread at a time may call. Functions give 0 or -errno.
 */
#ifndef QUARTZ_DAEMON_LOG_READER_H
#define QUARTZ_DAEMON_LOG_READER_H

#include "core/format/log_file.h"
#include "daemon/kernel/bpf_log.h"

struct log_reader;

/* Borrows bpf and fd, which must outlive it. NULL with errno. */
struct log_reader *log_reader__new(struct bpf_runtime *bpf, int fd);
void log_reader__free(struct log_reader *r);

/* Tells that a process is a scope, with its descendants if `follows`. Before log_reader__start. */
int log_reader__add_scope(struct log_reader *r, uint32_t process, bool follows, bool is_command);

/* The programs are attached, all threads are followed: the logs begin, and a thread that reads them. */
int log_reader__start(struct log_reader *r);

struct log_reader_figures {
	uint64_t records;
	uint64_t lost;	  /* overwritten before they were read */
	uint32_t fullest; /* percent of a log that were unread at most */
};

/* The run has ended at a time: reads the rest, and completes the file. Gives also what went wrong on the way. */
int log_reader__finish(struct log_reader *r, uint64_t until, struct log_reader_figures *figures);

#endif
