/* SPDX-License-Identifier: GPL-2.0-only */
/* Executes call frame instructions, and writes the rows for the addresses that they pass. */
#ifndef QUARTZ_SYMBOLIZER_CFI_MACHINE_H
#define QUARTZ_SYMBOLIZER_CFI_MACHINE_H

#include "symbolizer/cfi/cfi.h"
#include "symbolizer/cfi/cfi_row.h"
#include "symbolizer/cfi/eh_frame.h"

#define CFI_MAX_DEPTH 16 /* of DW_CFA_remember_state; compilers use 1 */

/* The rows of a table that is being built. */
struct cfi_rows {
	struct cfi_table *table;
	uint32_t room;	       /* in table->rows */
	uint32_t instructions; /* budget: that may still be executed */
};

/*
 * Appends the row for the addresses from vaddr on; replaces rows that are not before it. 0, -E2BIG
 * or -ENOMEM.
 */
int cfi_rows__emit(struct cfi_rows *rows, uint64_t vaddr, struct qz_unwind_row row);

/* The state while the instructions of one entry are executed. */
struct cfi_machine {
	struct cfi_rows *rows;
	const struct eh_frame_cie *cie;
	const struct cfi_state *initial; /* after the instructions of the CIE */
	struct cfi_state *remembered;	 /* room for CFI_MAX_DEPTH */
	unsigned int depth;		 /* how many of them are in use */
	struct cfi_state state;
	uint64_t at, end; /* the addresses without a row yet */
};

/*
 * 0; -EINVAL: invalid instructions; -E2BIG, -ENOMEM. The caller writes the row for the addresses
 * that are left, if any.
 */
int cfi_machine__run(struct cfi_machine *m, struct byte_reader r);

#endif
