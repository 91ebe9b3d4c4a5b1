/* SPDX-License-Identifier: GPL-2.0-only */
/* The effect of an x86-64 instruction on the stack pointer and on its copies. Pure computation. */
#ifndef QUARTZ_SYMBOLIZER_STACK_EFFECT_H
#define QUARTZ_SYMBOLIZER_STACK_EFFECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers of registers in instructions. */
#define STACK_RSP 4
#define STACK_RBP 5

enum stack_effect_kind {
	STACK_NOTHING,
	STACK_PUSH,	 /* of reg */
	STACK_POP,	 /* into reg */
	STACK_MOVE,	 /* rsp += value */
	STACK_LOSE,	 /* rsp gets an unknown value: aligned, or shifted */
	STACK_KEEP,	 /* reg = rsp + value */
	STACK_RETURN_TO, /* rsp = reg + value */
	STACK_STORE,	 /* the word at rsp + value = reg */
	STACK_LOAD,	 /* reg = the word at rsp + value */
	STACK_LEAVE,	 /* rsp = rbp, and pop rbp */
	STACK_CLEAR,	 /* reg = 0 */
};

struct stack_effect {
	enum stack_effect_kind kind;
	uint8_t reg; /* 16: none, or memory */
	int32_t value;
};

enum stack_flow {
	STACK_GOES_ON,
	STACK_CALLS,	/* continues if the callee returns */
	STACK_BRANCHES, /* to its target, or continues */
	STACK_JUMPS,	/* to its target */
	STACK_RETURNS,
	STACK_LEAVES, /* indirect jump */
	STACK_ENDS,   /* traps */
};

struct stack_instruction {
	uint32_t length;
	enum stack_flow flow;
	int32_t target; /* relative to the end of the instruction */
	struct stack_effect effect;
};

/*
 * Decodes one instruction, but its operands only as far as they concern the stack pointer. That is
 * some fifty times as fast as a disassembler, and skips vector instructions that a disassembler
 * does not know yet. False: it is invalid, or cut.
 */
bool stack_effect__read(const uint8_t *bytes, size_t size, struct stack_instruction *in);

/* The length of one padding instruction between procedures; 0: it is none. */
uint32_t stack_effect__padding(const uint8_t *bytes, size_t size);

#endif
