/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbolizer/spin/last_access.h"

/* The code around the address. */
struct seen {
	struct instruction before; /* ends at the address; length 0: none */
	bool entered;		   /* a branch leads to the address */
	bool again;		   /* a branch leads from after it back to `before`, or farther */
};

static void note_branch(struct seen *s, const struct instruction *code, uint64_t address)
{
	if (!(code->flags & (INSTRUCTION_BRANCH | INSTRUCTION_JUMP)))
		return;
	s->entered |= code->target == address;
	s->again |= code->address >= address && code->target < address;
}

/* Decodes the code, aligned with the address, and continues after it. */
static void read_code(struct cfg *f, uint64_t address, uint64_t start, struct seen *s)
{
	size_t at = cfg__approach(f, address, start), there = (size_t)(address - f->start);
	size_t end = there + LAST_ACCESS_BEHIND;
	struct instruction code;

	for (; at < there; at += code.length) {
		cfg__decode(f, at, &code);
		note_branch(s, &code, address);
		if (at + code.length == there)
			s->before = code;
	}
	for (at = there; at < f->size && at < end; at += code.length) {
		cfg__decode(f, at, &code);
		note_branch(s, &code, address);
	}
}

/*
 * Whether `before` was probably executed last. Code before the head of a loop seldom was, unless
 * the loop returns to it.
 */
static bool led_there(const struct seen *s)
{
	const uint32_t elsewhere = INSTRUCTION_JUMP | INSTRUCTION_CALL | INSTRUCTION_RETURN |
				   INSTRUCTION_END;

	return s->before.length && !(s->before.flags & elsewhere) && (!s->entered || s->again);
}

struct qz_operand last_access__find(struct cfg *f, uint64_t address, uint64_t start)
{
	struct instruction here;
	struct seen s = {0};

	read_code(f, address, start, &s);
	if (led_there(&s) && s.before.memory.size && !(s.before.memory.flags & QZ_OPERAND_PASSING))
		return s.before.memory;
	cfg__decode(f, (size_t)(address - f->start), &here);
	here.memory.flags &= (uint8_t)~QZ_OPERAND_PASSING;
	return here.memory;
}
