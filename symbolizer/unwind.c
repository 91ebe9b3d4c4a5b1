/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbolizer/unwind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/expression.h"

/*
 * glibc ends the FDE of clone and clone3 before the system call, because the child could not be
 * unwound by it; the parent still can. This is the way from behind the two-byte instruction back
 * into the FDE.
 */
#define SYSCALL_BACK 3

static Dwarf_Frame *find_frame(Dwarf_CFI *cfi, uint64_t vaddr, bool innermost)
{
	Dwarf_Frame *frame;

	if (dwarf_cfi_addrframe(cfi, vaddr, &frame) == 0)
		return frame;
	if (innermost && vaddr >= SYSCALL_BACK &&
	    dwarf_cfi_addrframe(cfi, vaddr - SYSCALL_BACK, &frame) == 0)
		return frame;
	return NULL;
}

/* The caller's value of one register. -ENODATA when it is undefined. */
static int restore(Dwarf_Frame *frame, int number, const struct expression_input *in,
		   uint64_t *value)
{
	Dwarf_Op memory[3], *ops;
	bool is_value = false;
	size_t n;
	int err;

	if (dwarf_frame_register(frame, number, memory, &ops, &n))
		return -EINVAL;
	if (n == 0 && ops == memory)
		return -ENODATA;
	if (n == 0) {
		*value = in->registers[number];
		return 0;
	}
	err = expression__evaluate(ops, n, in, value, &is_value);
	if (!err && !is_value && !expression__read(in->stack, *value, value))
		err = -EFAULT;
	return err;
}

/*
 * Replaces the registers by those of the caller. 0; -ENODATA: there is no caller; otherwise the
 * stack cannot be followed further.
 */
static int step(Dwarf_Frame *frame, uint64_t *registers, const struct unwind_stack *stack)
{
	struct expression_input in = {.registers = registers, .stack = stack};
	uint64_t caller[DWARF_REGISTERS] = {0};
	bool is_value;
	Dwarf_Op *ops;
	size_t n;
	int err;

	if (dwarf_frame_cfa(frame, &ops, &n))
		return -EINVAL;
	err = expression__evaluate(ops, n, &in, &in.cfa, &is_value);
	if (!err)
		err = restore(frame, DWARF_RA, &in, &caller[DWARF_RA]);
	if (err)
		return err;
	if (in.cfa <= registers[DWARF_SP])
		return -ELOOP;
	for (int i = 0; i < DWARF_RA; i++)
		if (restore(frame, i, &in, &caller[i]))
			caller[i] = 0;
	caller[DWARF_SP] = in.cfa;
	memcpy(registers, caller, sizeof(caller));
	return caller[DWARF_RA] ? 0 : -ENODATA;
}

uint32_t unwind__stack(const uint64_t registers[DWARF_REGISTERS], const struct unwind_stack *stack,
		       unwind_find_fn find, void *arg, uint64_t *addresses, uint32_t max,
		       bool *complete)
{
	uint64_t regs[DWARF_REGISTERS];
	bool exact = true; /* regs[RA] is the instruction itself, not the one after a call */
	uint32_t n = 0;
	int err = 0;

	memcpy(regs, registers, sizeof(regs));
	*complete = false;
	while (n < max && !err) {
		uint64_t ip = regs[DWARF_RA], vaddr;
		const struct procedure *p;
		struct module *m;
		Dwarf_Frame *frame;

		addresses[n++] = ip;
		m = find(arg, exact ? ip : ip - 1, &vaddr);
		if (!m)
			break;
		p = module__procedure(m, vaddr);
		/* clone begins the thread that it creates; in the creator it is a call like others. */
		*complete = n > 1 && p && p->flags & PROCEDURE_OUTERMOST;
		frame = module__cfi(m) ? find_frame(module__cfi(m), vaddr, n == 1) : NULL;
		if (!frame)
			break;
		err = step(frame, regs, stack);
		if (dwarf_frame_info(frame, NULL, NULL, &exact) < 0)
			exact = false;
		free(frame);
	}
	if (err == -ENODATA)
		*complete = true;
	return n;
}
