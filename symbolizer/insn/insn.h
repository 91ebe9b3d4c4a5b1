/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Machine instructions, as far as it matters for telling whether code waits: what they read and
 * write, and where they go. One file for each architecture knows how to decode them.
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
	INSTRUCTION_BRANCH = 1 << 0, /* may go to target, or on */
	INSTRUCTION_JUMP = 1 << 1,   /* goes to target */
	INSTRUCTION_CALL = 1 << 2,   /* calls target */
	INSTRUCTION_RETURN = 1 << 3,
	INSTRUCTION_END = 1 << 4,    /* goes elsewhere: returns, jumps by a register, traps */
	INSTRUCTION_OPAQUE = 1 << 5, /* has effects that are not described here */
	INSTRUCTION_RELAX = 1 << 6,  /* tells the processor that the thread waits, or yields it */
	INSTRUCTION_LOAD = 1 << 7,   /* reads memory that others may write, or the time */
	INSTRUCTION_STORE = 1 << 8,  /* writes memory that others may read */
	INSTRUCTION_ATOMIC = 1 << 9, /* both at once, and doing it twice is doing it once */
	INSTRUCTION_STEP = 1 << 10,  /* writes something plus a constant, or multiplied by one */
	INSTRUCTION_STACK = 1 << 11, /* moves the stack pointer */
	INSTRUCTION_CONSTANT = 1 << 12, /* writes a constant */
	INSTRUCTION_COPY = 1 << 13,	/* writes what it reads, one or the other of it */
};

/* Sets of registers: the low 16 bits of register n are bit n, all above them is bit 16 + n. */
#define REGISTER_BOTH(n) (0x10001ull << (n))
#define REGISTER_LOW	 0xffffull
#define REGISTER_FLAGS	 (1ull << 32)

/* An operand in the frame of the procedure: bytes at a distance from the stack or frame pointer. */
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
	uint64_t target; /* of a branch, jump or call that goes to a fixed place */
	uint32_t length;
	uint32_t flags;		/* enum instruction_flags */
	uint64_t reads, writes; /* registers */
	uint32_t pointers;	/* registers that make up an address, by number */
	struct slot slot;
	struct place load;	  /* what it loads that others may write, if that is known */
	struct qz_operand memory; /* that it names, but to go there or to take its address */
	int64_t constant; /* that is written, or that a step adds; 0 for a step that multiplies */
};

struct decoder;

/* For one architecture (ELF e_machine). NULL with errno: ENOTSUP it has no decoder, ENOMEM. */
struct decoder *decoder__new(uint16_t machine);
void decoder__free(struct decoder *d);

/*
 * Decodes the instruction that stands at the address; `before` bytes in front of `bytes` are code,
 * too. false: it is none, or cut.
 */
bool decoder__decode(struct decoder *d, const uint8_t *bytes, size_t before, size_t size,
		     uint64_t address, struct instruction *out);

/* Whether the up to `before` bytes in front of `bytes` end like an instruction that relaxes. */
bool decoder__follows_relax(const uint8_t *bytes, size_t before);

/* Instructions decoded so far. */
uint64_t decoder__count(const struct decoder *d);

#include "symbolizer/insn/insn_x86.h" /* numbers of registers */

#endif
