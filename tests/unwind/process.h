/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process whose stacks are unwound: its mappings of code, and their tables.
 */
#ifndef QUARTZ_TESTS_UNWIND_PROCESS_H
#define QUARTZ_TESTS_UNWIND_PROCESS_H

#include <sys/types.h>

#include "daemon/unwind/unwinder.h"

struct process_module;

struct process {
	pid_t pid;
	char *maps; /* text, as it was last read */
	struct qz_unwind_region *regions;
	uint32_t nregions;
	struct qz_unwind_row *rows; /* of all modules, one after the other */
	uint32_t nrows;
	struct process_module *modules;
	uint32_t nmodules;
};

/* A process that may read another's memory and mappings. Does not read them yet. */
void process__init(struct process *p, pid_t pid);
void process__free(struct process *p);

/*
 * Reads the mappings, and builds the tables of modules that are new; a module without a table has
 * regions without rows. 1 when anything has changed, 0, -errno.
 */
int process__refresh(struct process *p);

/* As struct unwinder wants it; arg is the process. */
bool process__read_memory(void *arg, uint64_t address, void *to, size_t size);

#endif
