/* SPDX-License-Identifier: GPL-2.0-only */
/* x86-64. */
#include "symbolizer/cfi/cfi_row.h"

#include <dwarf.h>
#include <string.h>

/* Offsets in the kernel's signal frame, arch/x86/include/uapi/asm/sigcontext.h. */
enum {
	SIGNAL_RBP = 120,
	SIGNAL_RSP = 160,
	SIGNAL_RIP = 168,
};

/* ---- expressions: recognized by their form ---- */

static bool read_register_offset(struct byte_reader *r, uint64_t *reg, int64_t *offset)
{
	uint8_t op;

	if (!byte_reader__bytes(r, &op, 1) || op < DW_OP_breg0 || op > DW_OP_breg31)
		return false;
	*reg = op - DW_OP_breg0;
	return byte_reader__sleb128(r, offset);
}

/* rsp + 8 + ((rip & 15) >= n) << 3: GNU ld's and LLD's description of lazy PLT entries. */
static bool is_plt(struct byte_reader r, int64_t *n)
{
	static const uint8_t before[] = {DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and};
	static const uint8_t behind[] = {DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus};
	const uint8_t *p = r.at;

	if (byte_reader__left(&r) != sizeof(before) + 1 + sizeof(behind) ||
	    memcmp(p, before, sizeof(before)) != 0 ||
	    memcmp(p + sizeof(before) + 1, behind, sizeof(behind)) != 0)
		return false;
	*n = (int64_t)p[sizeof(before)] - DW_OP_lit0;
	return *n >= 0 && *n < 16;
}

struct cfi_expression cfi_row__read_cfa(struct byte_reader r)
{
	struct cfi_expression other = {.form = EXPRESSION_OTHER}, e = {.form = EXPRESSION_DEREF};
	uint8_t op;

	if (is_plt(r, &e.offset)) {
		e.form = EXPRESSION_PLT;
		return e;
	}
	if (!read_register_offset(&r, &e.reg, &e.offset) || !byte_reader__bytes(&r, &op, 1) ||
	    op != DW_OP_deref)
		return other;
	if (byte_reader__left(&r) == 0)
		return e;
	if (!byte_reader__bytes(&r, &op, 1) || op != DW_OP_plus_uconst ||
	    !byte_reader__uleb128(&r, &e.added) || byte_reader__left(&r))
		return other;
	return e;
}

struct cfi_place cfi_row__read_place(struct byte_reader r)
{
	struct cfi_place place = {.form = PLACE_MEMORY};

	if (!read_register_offset(&r, &place.reg, &place.offset) || byte_reader__left(&r))
		return (struct cfi_place) {.form = PLACE_OTHER};
	return place;
}

/* ---- rows ---- */

struct qz_unwind_row cfi_row__unsupported(enum qz_unwind_unsupported why)
{
	return (struct qz_unwind_row) {.kind = QZ_CFA_UNSUPPORTED, .cfa = (int16_t)why};
}

bool cfi_row__in_words(int64_t offset, int64_t min, int64_t max)
{
	return offset % 8 == 0 && offset / 8 >= min && offset / 8 <= max;
}

/* The signal frame is the same in every program, so no augmentation is needed to know it. */
static bool is_signal_frame(const struct cfi_state *s)
{
	const struct cfi_expression *cfa = &s->expression;

	return cfa->form == EXPRESSION_DEREF && cfa->reg == CFI_SP && cfa->offset == SIGNAL_RSP &&
	       cfa->added == 0 && s->rip.form == PLACE_MEMORY && s->rip.reg == CFI_SP &&
	       s->rip.offset == SIGNAL_RIP && s->rbp.form == PLACE_MEMORY && s->rbp.reg == CFI_SP &&
	       s->rbp.offset == SIGNAL_RBP;
}

/*
 * glibc's vfork pops its return address into a register before the system call and pushes it again
 * afterwards, since the child shares the stack. Meanwhile the address is still in the same word.
 */
static bool return_is_copied(const struct cfi_state *s)
{
	return s->rip.form == PLACE_REGISTER && s->expression.form == EXPRESSION_NONE &&
	       s->reg == CFI_SP && (s->offset == 0 || s->offset == 8);
}

/* Index of a register in the kernel's struct pt_regs, in words, by DWARF number. */
static const int8_t places[] = {10, 12, 11, 5, 13, 14, 4, -1, 9, 8, 7, 6, 3, 2, 1, 0};

struct qz_unwind_row cfi_row__by_register(uint64_t reg, int64_t offset)
{
	if (reg >= sizeof(places) || places[reg] < 0 ||
	    !cfi_row__in_words(offset, 0, QZ_UNWIND_REGISTER_ADDED_MAX))
		return cfi_row__unsupported(QZ_UNSUPPORTED_REGISTER);
	return (struct qz_unwind_row) {.kind = QZ_CFA_REGISTER,
				       .cfa = (int16_t)QZ_UNWIND_REGISTER(places[reg], offset / 8)};
}

/* The row for a CFA, without rbp; of kind QZ_CFA_UNSUPPORTED if no row can express it. */
static struct qz_unwind_row cfa_row(const struct cfi_state *s)
{
	const struct cfi_expression *e = &s->expression;
	bool is_plain = e->form == EXPRESSION_NONE;
	uint64_t reg = is_plain ? s->reg : e->reg;
	int64_t offset = is_plain ? s->offset : e->offset;
	struct qz_unwind_row row = {.cfa = (int16_t)(offset / 8)};

	if (e->form == EXPRESSION_PLT)
		return (struct qz_unwind_row) {.kind = QZ_CFA_PLT, .cfa = (int16_t)offset};
	if (e->form == EXPRESSION_OTHER)
		return cfi_row__unsupported(QZ_UNSUPPORTED_EXPRESSION);
	if (reg != CFI_SP && reg != CFI_FP)
		return is_plain ? cfi_row__by_register(reg, offset)
				: cfi_row__unsupported(QZ_UNSUPPORTED_EXPRESSION);
	if (!cfi_row__in_words(offset, INT16_MIN, INT16_MAX))
		return cfi_row__unsupported(QZ_UNSUPPORTED_OFFSET);
	if (is_plain)
		row.kind = reg == CFI_SP ? QZ_CFA_RSP : QZ_CFA_RBP;
	else if (reg == CFI_SP && e->added == 8)
		row.kind = QZ_CFA_RSP_DEREF;
	else if (reg == CFI_FP && e->added == 0)
		row.kind = QZ_CFA_RBP_DEREF;
	else
		return cfi_row__unsupported(QZ_UNSUPPORTED_EXPRESSION);
	return row;
}

static bool rbp_kind(const struct cfi_place *rbp, enum qz_rbp_kind *kind)
{
	switch (rbp->form) {
	case PLACE_SAME:
	case PLACE_UNDEFINED: /* not needed by the caller */
		*kind = QZ_RBP_SAME;
		return true;
	case PLACE_CFA:
		*kind = QZ_RBP_CFA;
		return cfi_row__in_words(rbp->offset, INT8_MIN, INT8_MAX);
	case PLACE_MEMORY:
		*kind = QZ_RBP_RBP;
		return rbp->reg == CFI_FP && cfi_row__in_words(rbp->offset, INT8_MIN, INT8_MAX);
	default:
		return false;
	}
}

struct qz_unwind_row cfi_row__make(const struct cfi_state *s)
{
	struct qz_unwind_row row;
	enum qz_rbp_kind rbp;

	if (s->rip.form == PLACE_UNDEFINED)
		return (struct qz_unwind_row) {.kind = QZ_CFA_END};
	if (is_signal_frame(s))
		return (struct qz_unwind_row) {.kind = QZ_CFA_SIGNAL};
	row = cfa_row(s);
	if (row.kind == QZ_CFA_UNSUPPORTED)
		return row;
	if (!(s->rip.form == PLACE_CFA && s->rip.offset == -8) && !return_is_copied(s))
		return cfi_row__unsupported(QZ_UNSUPPORTED_RETURN);
	if (!rbp_kind(&s->rbp, &rbp))
		return cfi_row__unsupported(QZ_UNSUPPORTED_RBP);
	row.kind = QZ_UNWIND_KIND(row.kind, rbp);
	if (rbp != QZ_RBP_SAME)
		row.rbp = (int8_t)(s->rbp.offset / 8);
	return row;
}
