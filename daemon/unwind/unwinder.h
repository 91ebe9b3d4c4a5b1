/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The unwinder of bpf/unwind.bpf.h as ordinary C, on tables and memory that the caller provides.
 */
#ifndef QUARTZ_DAEMON_UNWINDER_H
#define QUARTZ_DAEMON_UNWINDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <quartz/python.h>
#include <quartz/records.h>
#include <quartz/unwind.h>

struct unwinder {
	const struct qz_unwind_region *regions; /* by start */
	uint32_t nregions;
	const struct qz_unwind_row *rows;
	uint32_t nrows;
	uint8_t *touched; /* of the caller: set to 1 for each row that is read; may be NULL */
	bool (*read)(void *arg, uint64_t address, void *to, size_t size);
	void *arg;
	const uint64_t
		*registers; /* of the innermost frame, as in struct pt_regs; NULL: not known */
	bool no_code; /* `read` has only the stack: rows derived from code are used without a check */
};

struct unwinder_start {
	uint64_t ip, sp, bp;
	uint32_t at_clone; /* in a system call that makes a thread or process */
	uint32_t pad;
	uint64_t thread_pointer;
};

struct unwinder_stack {
	uint32_t depth;	  /* frames walked */
	uint32_t end;	  /* enum qz_unwind_end */
	uint32_t nframes; /* frames kept: the first QZ_INNER_FRAMES and the last ones */
	uint32_t guessed; /* frames found without call frame information */
	uint64_t frames[QZ_USER_FRAMES];
};

void unwinder__walk(const struct unwinder *w, const struct unwinder_start *start,
		    struct unwinder_stack *stack);

#endif
