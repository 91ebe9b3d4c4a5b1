/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Windows of an unwind table that the unwinder is using: 256 KiB of code each, whose rows are replaced by others when
 * code in it that nothing describes has been analyzed. The others lie elsewhere in the map, where the index leads to.
 *
 * One thread at a time: that of unwind_worker.h.
 */
#ifndef QUARTZ_DAEMON_UNWIND_WINDOWS_H
#define QUARTZ_DAEMON_UNWIND_WINDOWS_H

#include <stdint.h>

#include <quartz/unwind.h>

#include "daemon/kernel/bpf_runtime.h"
#include "daemon/unwind/range_alloc.h"

/* Where a table is in the map of rows, see struct qz_unwind_region, and what has taken the place of its windows. */
struct unwind_windows {
	uint32_t first, blocks, block;
	struct unwind_window_rows {
		uint32_t first, count; /* count 0: those of the table */
	} * rows;		       /* by window; NULL: none was replaced */
};

/* A window as it was read. */
struct unwind_window {
	uint32_t number;
	uint32_t from, to;	    /* pc: what is to be analyzed */
	struct qz_unwind_row *rows; /* the first one holds where the window begins */
	uint32_t n;
};

/*
 * Reads the window of a pc, and finds the code around pc that nothing describes, as far as it is in the window. The caller
 * frees what is read, also on failure: *window is set. -ENODATA: the code is described, or was analyzed; -ERANGE: the table
 * has no index, or none of that code; -ENOMEM; or what bpf_rows__read gives.
 */
int unwind_windows__read(const struct unwind_windows *w, struct bpf_runtime *bpf, uint32_t pc,
			 struct unwind_window *window);

/*
 * Puts n rows of what was to be analyzed into the window; what they leave out was analyzed in vain. -ENOSPC: `room` has
 * none; -ENOMEM; or what bpf_rows__store gives. The table is then as it was.
 */
int unwind_windows__replace(struct unwind_windows *w, struct bpf_runtime *bpf,
			    struct range_alloc *room, const struct unwind_window *window,
			    const struct qz_unwind_row *rows, uint32_t n);

/* Gives all that was put into windows back to `room`. */
void unwind_windows__drop(struct unwind_windows *w, struct range_alloc *room);

#endif
