/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocations that fail on purpose: of the code linked into the runner (by --wrap), and of jansson
 * and zlib on its behalf.
 */
#ifndef QUARTZ_TESTS_UNIT_FAILING_H
#define QUARTZ_TESTS_UNIT_FAILING_H

#include <stdbool.h>

/* Once, before anything else. */
void failing__init(void);

/* The nth allocation from now on fails (n counts from 1), and no other. */
void failing__arm(unsigned int n);

/* Ends it, and tells whether an allocation failed. */
bool failing__disarm(void);

/* Whether allocations of jansson count, which they do from the start. */
void failing__include_jansson(bool include);

#endif
