/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of the causes of waits, as profiles have them. */
#ifndef QUARTZ_CORE_WAIT_CAUSES_H
#define QUARTZ_CORE_WAIT_CAUSES_H

#include <stdint.h>

#define QZ_WAIT_CAUSE_LENGTH 32

/*
 * The name of a number of enum qz_wait_cause, below QZ_WAIT_CAUSES; of a system call without a name, one that is made in
 * `room`. Thread-safe.
 */
const char *qz_wait_cause__name(uint32_t cause, char room[QZ_WAIT_CAUSE_LENGTH]);

#endif
