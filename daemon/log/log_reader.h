/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the logs of all processors (daemon/kernel/bpf_log.h) in a thread of its own, before they are full, into a stream
 * (core/replay/stream.h), and to a file (core/format/log_file.h) if it is kept. What was overwritten before it was read
 * is in both as lost.
 *
 * One thread at a time may call. Functions give 0 or -errno.
 */
#ifndef QUARTZ_DAEMON_LOG_READER_H
#define QUARTZ_DAEMON_LOG_READER_H

#include "core/format/log_file.h"
#include "core/replay/stream.h"
#include "daemon/kernel/bpf_log.h"
#include "daemon/kernel/bpf_scopes.h"

/* Nice value of its thread, if RLIMIT_NICE allows it: on a busy machine, records that are read late are lost. */
#define LOG_READER_NICE (-10)

struct log_reader;

/* The logs' processors, and one more, which has what was found at the start. */
uint32_t log_reader__processors(const struct bpf_runtime *bpf);

/* Borrows all, which must outlive it. fd -1: no file is kept. NULL with errno. */
struct log_reader *log_reader__new(struct bpf_runtime *bpf, struct replay_stream *stream, int fd);
void log_reader__free(struct log_reader *r);

/* Tells the file that a process is a scope from a time on. flags: QZ_LOG_FOLLOWS and others. */
int log_reader__add_scope(struct log_reader *r, uint32_t process, uint32_t flags, uint64_t when);

/* To be called when the programs are attached: the logs begin, and all threads are found. Errors as of bpf_scopes__find. */
int log_reader__find(struct log_reader *r);

/* To be called when scopes are open: passes on the found threads, and starts the thread that reads the logs. */
int log_reader__start(struct log_reader *r);

/*
 * Reads all records, and stops the thread until log_reader__end(): the caller may use the stream. Returns the time up to
 * which it is complete.
 */
uint64_t log_reader__begin(struct log_reader *r);
void log_reader__end(struct log_reader *r);

/* See live__set_windows(). */
void log_reader__set_windows(struct log_reader *r, uint32_t halvings);

/*
 * Processes that quartzd does not know are told, and what threads have read and written so far; the latter not so often
 * that it takes more than a thousandth of a processor, unless the run is about to end.
 */
int log_reader__look(struct log_reader *r, bool at_end);

struct log_reader_figures {
	uint64_t records;
	uint64_t lost;	  /* overwritten before they were read */
	uint32_t fullest; /* percent of a log that were unread at most */
	uint64_t
		cpu_ns; /* of the thread that reads; and of who asked, from log_reader__begin to _end */
};

struct log_reader_figures log_reader__figures(const struct log_reader *r);

/* The run has ended at a time, and the logs: reads the rest, and completes the file. Also returns what went wrong on the way. */
int log_reader__finish(struct log_reader *r, uint64_t until);

#endif
