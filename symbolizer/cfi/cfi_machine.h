/* SPDX-License-Identifier: GPL-2.0-only */
/* Executes call frame instructions, and writes the rows of the addresses that they pass. */
#ifndef QUARTZ_SYMBOLIZER_CFI_MACHINE_H
#define QUARTZ_SYMBOLIZER_CFI_MACHINE_H

#include "symbolizer/cfi/cfi.h"
#include "symbolizer/cfi/cfi_row.h"
#include "symbolizer/cfi/eh_frame.h"

#define CFI_MAX_DEPTH 16 /* of remembered states; compilers use 1 */

/* The rows of a table that is being built. */
struct cfi_rows {
	struct cfi_table *table;
	uint32_t room;	       /* in table->rows */
	uint32_t instructions; /* that may still be executed */
};

/* Appends the row of the addresses from vaddr on, in the place of rows that are not before it. 0, -E2BIG or -ENOMEM. */
int cfi_rows__emit(struct cfi_rows *rows, uint64_t vaddr, struct qz_unwind_row row);

/* What executes the instructions of one entry. */
struct cfi_machine {
	struct cfi_rows *rows;
	const struct eh_frame_cie *cie;
	const struct cfi_state *initial; /* after the instructions of the CIE */
	struct cfi_state *remembered;	 /* room for CFI_MAX_DEPTH */
	unsigned int depth;		 /* of them in use */
	struct cfi_state state;
	uint64_t at, end; /* the addresses still to be described */
};

/* 0; -EINVAL: they make no sense; -E2BIG, -ENOMEM. The row of what is left, if anything, is the caller's. */
int cfi_machine__run(struct cfi_machine *m, struct byte_reader r);

#endif
