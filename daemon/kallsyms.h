/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of kernel code, from /proc/kallsyms. */
#ifndef QUARTZ_DAEMON_KALLSYMS_H
#define QUARTZ_DAEMON_KALLSYMS_H

#include <stdint.h>

struct kallsyms;

/*
 * Opens the table, so that it can be read by who has lost the right to (CAP_SYSLOG). Without it, it is
 * opened to be read.
 */
void kallsyms__open(void);

/* Reads the table. NULL with errno; EPERM when the kernel hides its addresses (kptr_restrict). */
struct kallsyms *kallsyms__new(void);
void kallsyms__free(struct kallsyms *k);

/* The name of the function at an address and where it starts, or NULL. */
const char *kallsyms__find(const struct kallsyms *k, uint64_t address, uint64_t *start);

/*
 * Calls take for each name of a function, by address, with the range up to the next function, until
 * it gives an error, which is given on. Names of one address come with the same range.
 */
typedef int kallsyms_take(void *context, const char *name, uint64_t start, uint64_t end);
int kallsyms__each(const struct kallsyms *k, kallsyms_take *take, void *context);

#endif
