/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stacks of real programs in a file: for each stop the registers, the memory that an unwinder read,
 * and the frames that it must find; and the rows of the tables that these need. Compressed.
 */
#ifndef QUARTZ_TESTS_UNWIND_RECORDING_H
#define QUARTZ_TESTS_UNWIND_RECORDING_H

#include "daemon/unwind/unwinder.h"

#define RECORDING_BLOCK 64 /* bytes */

struct recording_block {
	uint64_t address; /* a multiple of RECORDING_BLOCK */
	uint8_t bytes[RECORDING_BLOCK];
};

struct recording_stop {
	struct unwinder_start start;
	struct unwinder_stack stack; /* expected */
	uint32_t nblocks;
	struct recording_block *blocks; /* by address */
};

struct recording {
	struct qz_unwind_region *regions;
	struct qz_unwind_row *rows;
	struct recording_stop *stops;
	uint32_t nregions, nrows, nstops;
};

/* -errno; -EBADMSG: not such a file. The caller calls recording__free after a success. */
int recording__read(struct recording *r, const char *path);
int recording__write(const struct recording *r, const char *path);
void recording__free(struct recording *r);

/* Reads the memory of a stop, as struct unwinder wants it; arg is the stop. */
bool recording__read_memory(void *arg, uint64_t address, void *to, size_t size);

#endif
