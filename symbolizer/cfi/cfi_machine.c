/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbolizer/cfi/cfi_machine.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

/* ---- rows ---- */

static bool same_rules(const struct qz_unwind_row *a, const struct qz_unwind_row *b)
{
	return a->cfa == b->cfa && a->rbp == b->rbp && a->kind == b->kind;
}

int cfi_rows__emit(struct cfi_rows *rows, uint64_t vaddr, struct qz_unwind_row row)
{
	struct cfi_table *t = rows->table;

	row.pc = (uint32_t)(vaddr - t->base);
	while (t->n && t->rows[t->n - 1].pc >= row.pc)
		t->n--;
	if (t->n && same_rules(&t->rows[t->n - 1], &row))
		return 0;
	if (t->n == TABLE_MAX_ROWS)
		return -E2BIG;
	if (t->n == rows->room) {
		uint32_t room = rows->room ? 2 * rows->room : 1024;
		struct qz_unwind_row *more = reallocarray(t->rows, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		t->rows = more;
		rows->room = room;
	}
	t->rows[t->n++] = row;
	return 0;
}

/* ---- instructions ---- */

static bool read_block(struct byte_reader *r, struct byte_reader *block)
{
	uint64_t size;

	if (!byte_reader__uleb128(r, &size))
		return false;
	block->at = r->at;
	if (!byte_reader__skip(r, size))
		return false;
	block->end = r->at;
	return true;
}

static int64_t scale(int64_t number, int64_t factor)
{
	return (int64_t)((uint64_t)number * (uint64_t)factor);
}

static void set_place(struct cfi_machine *m, uint64_t reg, struct cfi_place place)
{
	if (reg == CFI_FP)
		m->state.rbp = place;
	else if (reg == m->cie->return_address)
		m->state.rip = place;
}

static void set_offset(struct cfi_machine *m, uint64_t reg, int64_t number)
{
	struct cfi_place place = {PLACE_CFA, 0, scale(number, m->cie->data_factor)};

	set_place(m, reg, place);
}

static void restore(struct cfi_machine *m, uint64_t reg)
{
	const struct cfi_state *initial = m->initial;

	set_place(m, reg, reg == CFI_FP ? initial->rbp : initial->rip);
}

/* Writes the row for the addresses up to the new one, or up to the end if that comes first. */
static int advance(struct cfi_machine *m, uint64_t delta)
{
	uint64_t distance, left = m->end - m->at;
	int err;

	if (__builtin_mul_overflow(delta, m->cie->code_factor, &distance) || distance > left)
		distance = left;
	if (distance == 0)
		return 0;
	err = cfi_rows__emit(m->rows, m->at, cfi_row__make(&m->state));
	m->at += distance;
	return err;
}

static int advance_by(struct cfi_machine *m, struct byte_reader *r, size_t size)
{
	uint64_t delta;

	return byte_reader__number(r, size, &delta) ? advance(m, delta) : -EINVAL;
}

static int remember(struct cfi_machine *m)
{
	if (m->depth == CFI_MAX_DEPTH)
		return -EINVAL;
	m->remembered[m->depth++] = m->state;
	return 0;
}

static int recall(struct cfi_machine *m)
{
	if (m->depth == 0)
		return -EINVAL;
	m->state = m->remembered[--m->depth];
	return 0;
}

static bool change_offset(struct cfi_machine *m, struct byte_reader *r, bool factored)
{
	struct cfi_state *s = &m->state;

	if (!factored)
		return byte_reader__uleb128(r, (uint64_t *)&s->offset);
	if (!byte_reader__sleb128(r, &s->offset))
		return false;
	s->offset = scale(s->offset, m->cie->data_factor);
	return true;
}

/*
 * DW_CFA_def_cfa_register after an expression uses the offset from before it, as libgcc and gdb do;
 * libgcrypt relies on it. DW_CFA_def_cfa_offset does not end an expression.
 */
static bool change_cfa(struct cfi_machine *m, uint8_t op, struct byte_reader *r)
{
	struct cfi_state *s = &m->state;
	struct byte_reader block;

	switch (op) {
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
		s->expression.form = EXPRESSION_NONE;
		return byte_reader__uleb128(r, &s->reg) &&
		       change_offset(m, r, op == DW_CFA_def_cfa_sf);
	case DW_CFA_def_cfa_register:
		s->expression.form = EXPRESSION_NONE;
		return byte_reader__uleb128(r, &s->reg);
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
		return change_offset(m, r, op == DW_CFA_def_cfa_offset_sf);
	case DW_CFA_def_cfa_expression:
		if (!read_block(r, &block))
			return false;
		s->expression = cfi_row__read_cfa(block);
		return true;
	default:
		return false;
	}
}

/* The instructions that change where one register is saved. */
static bool change_place(struct cfi_machine *m, uint8_t op, struct byte_reader *r)
{
	struct cfi_place place = {.form = PLACE_OTHER};
	struct byte_reader block;
	uint64_t reg, number;
	int64_t factored;

	if (!byte_reader__uleb128(r, &reg))
		return false;
	switch (op) {
	case DW_CFA_offset_extended:
	case DW_CFA_GNU_negative_offset_extended:
		if (!byte_reader__uleb128(r, &number))
			return false;
		set_offset(m, reg,
			   op == DW_CFA_offset_extended ? (int64_t)number : -(int64_t)number);
		return true;
	case DW_CFA_offset_extended_sf:
		if (!byte_reader__sleb128(r, &factored))
			return false;
		set_offset(m, reg, factored);
		return true;
	case DW_CFA_restore_extended:
		restore(m, reg);
		return true;
	case DW_CFA_undefined:
		place.form = PLACE_UNDEFINED;
		break;
	case DW_CFA_same_value:
		place.form = PLACE_SAME;
		break;
	case DW_CFA_register:
		place.form = PLACE_REGISTER;
		if (!byte_reader__uleb128(r, &place.reg))
			return false;
		break;
	case DW_CFA_expression:
		if (!read_block(r, &block))
			return false;
		place = cfi_row__read_place(block);
		break;
	case DW_CFA_val_expression:
		if (!read_block(r, &block))
			return false;
		break;
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		if (!byte_reader__uleb128(r, &number))
			return false;
		break;
	default:
		return false;
	}
	set_place(m, reg, place);
	return true;
}

/* 0, -EINVAL: invalid, or as cfi_rows__emit. */
static int execute(struct cfi_machine *m, uint8_t op, struct byte_reader *r)
{
	uint64_t number;

	switch (op & 0xc0) {
	case DW_CFA_advance_loc:
		return advance(m, op & 0x3f);
	case DW_CFA_offset:
		if (!byte_reader__uleb128(r, &number))
			return -EINVAL;
		set_offset(m, op & 0x3f, (int64_t)number);
		return 0;
	case DW_CFA_restore:
		restore(m, op & 0x3f);
		return 0;
	}
	switch (op) {
	case DW_CFA_nop:
	case DW_CFA_GNU_window_save: /* aarch64: the return address is signed */
		return 0;
	case DW_CFA_advance_loc1:
		return advance_by(m, r, 1);
	case DW_CFA_advance_loc2:
		return advance_by(m, r, 2);
	case DW_CFA_advance_loc4:
		return advance_by(m, r, 4);
	case DW_CFA_remember_state:
		return remember(m);
	case DW_CFA_restore_state:
		return recall(m);
	case DW_CFA_GNU_args_size:
		return byte_reader__uleb128(r, &number) ? 0 : -EINVAL;
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
	case DW_CFA_def_cfa_register:
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
	case DW_CFA_def_cfa_expression:
		return change_cfa(m, op, r) ? 0 : -EINVAL;
	default:
		return change_place(m, op, r) ? 0 : -EINVAL;
	}
}

int cfi_machine__run(struct cfi_machine *m, struct byte_reader r)
{
	uint8_t op;
	int err;

	while (byte_reader__bytes(&r, &op, 1)) {
		if (m->rows->instructions == 0)
			return -E2BIG;
		m->rows->instructions--;
		err = execute(m, op, &r);
		if (err)
			return err;
	}
	return 0;
}
