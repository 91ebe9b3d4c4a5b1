/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Machine instructions, as far as needed to tell whether code waits: what they read and write, and
 * where they lead. One file for each architecture decodes them.
 */
#ifndef QUARTZ_SYMBOLIZER_INSN_H
#define QUARTZ_SYMBOLIZER_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <quartz/operand.h>
#include <quartz/spin.h>

#define CODE_MAX_LENGTH 15 /* bytes of an instruction */

enum instruction_flags {
	INSTRUCTION_BRANCH = 1 << 0, /* to target, or continues */
	INSTRUCTION_JUMP = 1 << 1,   /* to target */
	INSTRUCTION_CALL = 1 << 2,   /* calls target */
	INSTRUCTION_RETURN = 1 << 3,
	INSTRUCTION_END = 1 << 4,	/* returns, jumps indirectly, or traps */
	INSTRUCTION_OPAQUE = 1 << 5,	/* has effects that are not described here */
	INSTRUCTION_RELAX = 1 << 6,	/* pauses or yields the processor */
	INSTRUCTION_LOAD = 1 << 7,	/* reads memory that others may write, or the time */
	INSTRUCTION_STORE = 1 << 8,	/* writes memory that others may read */
	INSTRUCTION_ATOMIC = 1 << 9,	/* loads and stores at once, and is idempotent */
	INSTRUCTION_STEP = 1 << 10,	/* writes an operand plus, or times, a constant */
	INSTRUCTION_STACK = 1 << 11,	/* moves the stack pointer */
	INSTRUCTION_CONSTANT = 1 << 12, /* writes a constant */
	INSTRUCTION_COPY = 1 << 13,	/* writes one of its operands unchanged */
};

/* Sets of registers: bit n is the low 16 bits of register n, bit 16 + n is the rest of it. */
#define REGISTER_BOTH(n) (0x10001ull << (n))
#define REGISTER_LOW	 0xffffull
#define REGISTER_FLAGS	 (1ull << 32)

/* An operand in the procedure's frame: bytes at a distance from the stack or frame pointer. */
struct slot {
	int32_t at;
	uint8_t size; /* 0: no such operand */
	bool by_frame_pointer;
	bool read, written;
};

/* Memory at a distance from one register, or at a fixed place. */
struct place {
	uint64_t at;
	uint8_t base; /* register, or QZ_SPIN_FIXED */
	bool known;
};

struct instruction {
	uint64_t address;
	uint64_t target; /* of a direct branch, jump or call */
	uint32_t length;
	uint32_t flags;		/* enum instruction_flags */
	uint64_t reads, writes; /* registers */
	uint32_t pointers;	/* registers that addresses are made of, bit by number */
	struct slot slot;
	struct place load;	  /* memory that it loads and others may write, if known */
	struct qz_operand memory; /* its memory operand, except of jumps and lea */
	int64_t constant; /* the value written, or what a step adds; 0: a step that multiplies */
};

struct decoder;

/* For one architecture (ELF e_machine). NULL with errno: ENOTSUP: no decoder for it; ENOMEM. */
struct decoder *decoder__new(uint16_t machine);
void decoder__free(struct decoder *d);

/*
 * Decodes the instruction at an address. The `before` bytes before `bytes` are code, too. False: it
 * is invalid, or cut.
 */
bool decoder__decode(struct decoder *d, const uint8_t *bytes, size_t before, size_t size,
		     uint64_t address, struct instruction *out);

/* Whether the up to `before` bytes before `bytes` end like a relaxing instruction. */
bool decoder__follows_relax(const uint8_t *bytes, size_t before);

/* The number of instructions decoded so far. */
uint64_t decoder__count(const struct decoder *d);

#include "symbolizer/insn/insn_x86.h" /* numbers of registers */

#endif
