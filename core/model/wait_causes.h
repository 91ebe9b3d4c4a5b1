/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of the causes of waits, as profiles have them. */
#ifndef QUARTZ_CORE_WAIT_CAUSES_H
#define QUARTZ_CORE_WAIT_CAUSES_H

#include <stdbool.h>
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

/* Whether another process stopped or froze the thread, whatever it was doing. */
bool qz_wait_cause__is_held(const char *name);

/* Whether this is the name of a wait for the first of several things, of any kind: poll, select, epoll, io_uring. */
bool qz_wait_cause__is_any(const char *name);

#endif
