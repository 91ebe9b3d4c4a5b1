/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of kernel code, from /proc/kallsyms. */
#ifndef QUARTZ_DAEMON_KALLSYMS_H
#define QUARTZ_DAEMON_KALLSYMS_H

#include <stdint.h>

struct kallsyms;

/*
 * Opens the table while there is the right to (CAP_SYSLOG), so that it can be read after that is given up. Waits for the
 * thread of kallsyms__read_ahead, which would keep the right. Without this call, the table is opened when it is read.
 */
void kallsyms__open(void);

/* The table, which is read when it is first asked for something, if not before. NULL with ENOMEM. */
struct kallsyms *kallsyms__new(void);
void kallsyms__free(struct kallsyms *k);

/*
 * Begins to read the table in a thread of its own, while the main thread has to wait for something else. Whoever needs
 * the table then waits for that thread.
 */
void kallsyms__read_ahead(struct kallsyms *k);

/* 0, or why there are no names: -EPERM when the kernel hides its addresses (kptr_restrict), or another -errno. */
int kallsyms__read(struct kallsyms *k);

/*
 * Reads a table from a file, from where it is on, in place of the kernel's. -EPERM: all its addresses are 0; -ENOMEM; or what
 * reading met. To be called once, by kallsyms__read and by tests.
 */
int kallsyms__read_file(struct kallsyms *k, int fd);

/* The name of the function at an address and where it starts, or NULL. */
const char *kallsyms__find(struct kallsyms *k, uint64_t address, uint64_t *start);

/* Calls take for each name of the function at an address, with its range. A function may have several names. */
typedef void kallsyms_take(void *context, const char *name, uint64_t start, uint64_t end);
void kallsyms__names(struct kallsyms *k, uint64_t address, kallsyms_take *take, void *context);

#endif
