/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The causes of waits: their names, as profiles have them, and what each is. One table, in wait_causes.c;
 * a new cause is judged there, once for all views and rules.
 */
#ifndef QUARTZ_CORE_WAIT_CAUSES_H
#define QUARTZ_CORE_WAIT_CAUSES_H

#include <stdint.h>

#define QZ_WAIT_CAUSE_LENGTH 32

/*
 * The name of a number of enum qz_wait_cause, below QZ_WAIT_CAUSES; of a system call without a name, one that is made in
 * `room`. Thread-safe.
 */
const char *qz_wait_cause__name(uint32_t cause, char room[QZ_WAIT_CAUSE_LENGTH]);

/*
 * What a thread with this cause waits for, in words that follow "waited for": "a child process", "the call fsync". Made in
 * `room` if there is no constant. Thread-safe.
 */
const char *qz_wait_cause__words(const char *name, char room[QZ_WAIT_CAUSE_LENGTH]);

/* What a thread waits for, one bit for each kind. */
enum qz_wait_kind {
	QZ_WAIT_IS_FUTEX = 1 << 0,
	QZ_WAIT_IS_DISK = 1 << 1,
	QZ_WAIT_IS_FAULT = 1 << 2, /* a page that is read from a disk */
	QZ_WAIT_IS_SYNC = 1 << 3,  /* a disk, in fsync and the like */
	QZ_WAIT_IS_PIPE = 1 << 4,
	QZ_WAIT_IS_SOCKET = 1 << 5,
	QZ_WAIT_IS_POLL = 1 << 6, /* poll, select, epoll */
	QZ_WAIT_IS_URING = 1 << 7,
	QZ_WAIT_IS_SLEEP = 1 << 8,
	QZ_WAIT_IS_CHILD = 1 << 9, /* the end of a process that it started */
	QZ_WAIT_IS_HELD = 1 << 10, /* another process stopped or froze it, whatever it was doing */

	QZ_WAIT_IS_DEVICE = QZ_WAIT_IS_DISK | QZ_WAIT_IS_FAULT | QZ_WAIT_IS_SYNC,
	QZ_WAIT_IS_ANY = QZ_WAIT_IS_POLL | QZ_WAIT_IS_URING, /* the first of several things */
};

/* The kind of a cause, by its name: a bit of enum qz_wait_kind, or 0. Thread-safe. */
unsigned int qz_wait_cause__kind(const char *name);

#endif
