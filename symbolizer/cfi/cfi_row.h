/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rules of call frame information for the CFA and the caller's registers, and the row of an
 * unwind table that says the same. Only the forms of expressions that occur are known. One file for
 * each architecture.
 */
#ifndef QUARTZ_SYMBOLIZER_CFI_ROW_H
#define QUARTZ_SYMBOLIZER_CFI_ROW_H

#include "include/quartz/symbolizer.h"
#include "symbolizer/cfi/cfi_x86.h"
#include "symbolizer/util/byte_reader.h"

struct cfi_expression {
	enum {
		EXPRESSION_NONE,
		EXPRESSION_DEREF, /* *(register + offset) + added */
		EXPRESSION_PLT,	  /* rsp + 8, and 8 more where pc % 16 >= offset */
		EXPRESSION_OTHER,
	} form;
	uint64_t reg;
	int64_t offset;
	uint64_t added;
};

/* The place of a register of the caller. */
struct cfi_place {
	enum {
		PLACE_SAME,
		PLACE_UNDEFINED,
		PLACE_CFA,	/* in memory, at CFA + offset */
		PLACE_MEMORY,	/* in memory, at register + offset */
		PLACE_REGISTER, /* in another register */
		PLACE_OTHER,
	} form;
	uint64_t reg;
	int64_t offset;
};

/* The CFA: register + offset, or an expression, which leaves reg and offset unchanged. */
struct cfi_state {
	uint64_t reg;
	int64_t offset;
	struct cfi_expression expression;
	struct cfi_place rbp, rip;
};

/* Reads an expression for the CFA, or for the place of a register. */
struct cfi_expression cfi_row__read_cfa(struct byte_reader r);
struct cfi_place cfi_row__read_place(struct byte_reader r);

/* The row for a state; of kind QZ_CFA_UNSUPPORTED if no row can express it. */
struct qz_unwind_row cfi_row__make(const struct cfi_state *s);
struct qz_unwind_row cfi_row__unsupported(enum qz_unwind_unsupported why);

/* The same for a CFA alone: a register other than rsp and rbp, by DWARF number, + offset. */
struct qz_unwind_row cfi_row__by_register(uint64_t reg, int64_t offset);

/* Whether an offset is a number of words between these two. */
bool cfi_row__in_words(int64_t offset, int64_t min, int64_t max);

#endif
