/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbolizer/spin/callee_effects.h"

#include <string.h>

/* Callee-saved registers. */
#define KEPT                                                                                       \
	(REGISTER_BOTH(3) | REGISTER_BOTH(4) | REGISTER_BOTH(5) | REGISTER_BOTH(12) |              \
	 REGISTER_BOTH(13) | REGISTER_BOTH(14) | REGISTER_BOTH(15))

/* The state while a procedure is read from its first instruction on. */
struct reading {
	struct decoder *decoder;
	const struct code_source *source;
	struct callee_effects *leaf;
	uint64_t furthest; /* address that a branch leads to */
	unsigned int left; /* budget of instructions, callees included */
	unsigned int depth;
};

static void read_procedure(struct reading *r, uint64_t address);

static void take_effects(struct reading *r, uint64_t address, uint64_t reads, uint64_t writes,
			 uint64_t kills)
{
	struct callee_effects *leaf = r->leaf;

	leaf->reads |= reads & ~leaf->kills;
	leaf->writes |= writes;
	if (address >= r->furthest)
		leaf->kills |= kills;
}

/* False: the callee is no leaf. */
static bool take_call(struct reading *r, const struct instruction *code)
{
	struct callee_effects inner = {0};
	struct reading below = *r;

	if (r->source->yields(r->source->context, code->target)) {
		r->leaf->kind = LEAF_RELAX;
		r->leaf->straight |= code->address >= r->furthest;
		return false;
	}
	if (r->depth == LEAF_DEPTH)
		return false;
	below.leaf = &inner;
	below.furthest = 0;
	below.depth++;
	read_procedure(&below, code->target);
	r->left = below.left;
	r->leaf->loads |= inner.loads;
	if (inner.kind == LEAF_RELAX) {
		r->leaf->kind = LEAF_RELAX;
		r->leaf->straight |= inner.straight && code->address >= r->furthest;
	}
	if (!inner.complete)
		return false;
	take_effects(r, code->address, inner.reads, inner.writes, inner.kills);
	return true;
}

/* False: the procedure cannot be read further. */
static bool take(struct reading *r, const struct instruction *code)
{
	uint64_t next = code->address + code->length;

	r->leaf->end = next;
	if (code->flags & INSTRUCTION_RELAX) {
		r->leaf->kind = LEAF_RELAX;
		r->leaf->straight |= code->address >= r->furthest;
		take_effects(r, code->address, 0, code->writes, code->writes);
		return true;
	}
	if (code->flags & INSTRUCTION_RETURN) {
		if (next <= r->furthest)
			return true;
		r->leaf->complete = true;
		if (r->leaf->kind == LEAF_NONE)
			r->leaf->kind = LEAF_PURE;
		return false;
	}
	if (code->flags & (INSTRUCTION_OPAQUE | INSTRUCTION_STORE | INSTRUCTION_END))
		return false;
	if (code->flags & INSTRUCTION_CALL)
		return take_call(r, code);
	if (code->flags & (INSTRUCTION_BRANCH | INSTRUCTION_JUMP)) {
		if (code->target <= code->address)
			return false;
		if (code->target > r->furthest)
			r->furthest = code->target;
	}
	if (code->flags & INSTRUCTION_LOAD)
		r->leaf->loads = true;
	take_effects(r, code->address, code->reads, code->writes, code->writes);
	return true;
}

static void read_procedure(struct reading *r, uint64_t address)
{
	uint8_t bytes[LEAF_BYTES];
	size_t size = r->source->read(r->source->context, address, bytes, sizeof(bytes));
	struct instruction code;

	for (size_t at = 0; at < size && r->left; at += code.length) {
		r->left--;
		if (!decoder__decode(r->decoder, bytes + at, at, size - at, address + at, &code) ||
		    !take(r, &code))
			break;
	}
}

void callee_effects__read(struct decoder *d, const struct code_source *source, uint64_t address,
			  struct callee_effects *leaf)
{
	struct reading r = {
		.decoder = d, .source = source, .leaf = leaf, .left = LEAF_INSTRUCTIONS};

	*leaf = (struct callee_effects) {.end = address};
	read_procedure(&r, address);
	leaf->reads &= ~KEPT;
	leaf->writes &= ~KEPT;
	leaf->kills &= ~KEPT;
}
