/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbolizer/expression.h"

#include <errno.h>
#include <string.h>
#include <dwarf.h>

#define DEPTH 16

struct machine {
	const struct expression_input *in;
	uint64_t stack[DEPTH];
	size_t depth;
	bool is_value;
};

bool expression__read(const struct unwind_stack *stack, uint64_t address, uint64_t *value)
{
	uint64_t at = address - stack->start;

	if (address < stack->start || at > stack->size || stack->size - at < sizeof(*value))
		return false;
	memcpy(value, stack->bytes + at, sizeof(*value));
	return true;
}

static int push(struct machine *m, uint64_t value)
{
	if (m->depth == DEPTH)
		return -EINVAL;
	m->stack[m->depth++] = value;
	return 0;
}

static int push_register(struct machine *m, uint64_t number, uint64_t offset)
{
	if (number >= DWARF_REGISTERS)
		return -EINVAL;
	return push(m, m->in->registers[number] + offset);
}

static int unary(struct machine *m, const Dwarf_Op *op)
{
	uint64_t *top;

	if (m->depth == 0)
		return -EINVAL;
	top = &m->stack[m->depth - 1];
	switch (op->atom) {
	case DW_OP_deref:
		return expression__read(m->in->stack, *top, top) ? 0 : -EFAULT;
	case DW_OP_plus_uconst:
		*top += op->number;
		return 0;
	case DW_OP_dup:
		return push(m, *top);
	case DW_OP_drop:
		m->depth--;
		return 0;
	case DW_OP_stack_value:
		m->is_value = true;
		return 0;
	default:
		return -EINVAL;
	}
}

static int binary(struct machine *m, const Dwarf_Op *op)
{
	uint64_t a, b;

	if (m->depth < 2)
		return -EINVAL;
	b = m->stack[--m->depth];
	a = m->stack[--m->depth];
	switch (op->atom) {
	case DW_OP_plus:
		return push(m, a + b);
	case DW_OP_minus:
		return push(m, a - b);
	case DW_OP_mul:
		return push(m, a * b);
	case DW_OP_and:
		return push(m, a & b);
	case DW_OP_or:
		return push(m, a | b);
	case DW_OP_shl:
		return push(m, b < 64 ? a << b : 0);
	case DW_OP_shr:
		return push(m, b < 64 ? a >> b : 0);
	case DW_OP_eq:
		return push(m, a == b);
	case DW_OP_ne:
		return push(m, a != b);
	case DW_OP_ge:
		return push(m, (int64_t)a >= (int64_t)b);
	case DW_OP_gt:
		return push(m, (int64_t)a > (int64_t)b);
	case DW_OP_le:
		return push(m, (int64_t)a <= (int64_t)b);
	case DW_OP_lt:
		return push(m, (int64_t)a < (int64_t)b);
	default:
		return -EINVAL;
	}
}

static int execute(struct machine *m, const Dwarf_Op *op)
{
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		return push(m, op->atom - DW_OP_lit0);
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return push_register(m, op->atom - DW_OP_breg0, op->number);
	switch (op->atom) {
	case DW_OP_bregx:
		return push_register(m, op->number, op->number2);
	case DW_OP_regx:
		m->is_value = true;
		return push_register(m, op->number, 0);
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts:
		return push(m, op->number);
	case DW_OP_call_frame_cfa:
		return push(m, m->in->cfa);
	case DW_OP_nop:
		return 0;
	case DW_OP_deref:
	case DW_OP_plus_uconst:
	case DW_OP_dup:
	case DW_OP_drop:
	case DW_OP_stack_value:
		return unary(m, op);
	default:
		return binary(m, op);
	}
}

int expression__evaluate(const Dwarf_Op *ops, size_t n, const struct expression_input *in,
			 uint64_t *result, bool *is_value)
{
	struct machine m = {.in = in};

	for (size_t i = 0; i < n; i++) {
		int err = execute(&m, &ops[i]);

		if (err)
			return err;
	}
	if (m.depth == 0)
		return -EINVAL;
	*result = m.stack[m.depth - 1];
	*is_value = m.is_value;
	return 0;
}
