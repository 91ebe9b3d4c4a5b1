/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * x86-64, by libcapstone. The effects of an instruction on its operands are in the table below,
 * because libcapstone's lists are not exact for all. An instruction that is not in the table is
 * opaque.
 */
#include "symbolizer/insn/insn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <elf.h>
#include <capstone/capstone.h>

struct decoder {
	csh handle;
	cs_insn *insn;
	uint64_t count;
};

/* The use of the operands. The first one is the destination. */
enum kind {
	KIND_OPAQUE,
	KIND_NOTHING,  /* no effect that matters */
	KIND_WRITE,    /* writes the first, reads the others */
	KIND_MODIFY,   /* reads and writes the first, reads the others */
	KIND_READ,     /* reads all */
	KIND_EXCHANGE, /* reads and writes all */
	KIND_ADDRESS,  /* lea */
	KIND_TIME,
	KIND_RELAX,
	KIND_PUSH,
	KIND_POP,
};

#define CONDITIONS(name, kind)                                                                     \
	[X86_INS_##name##A] = (kind), [X86_INS_##name##AE] = (kind), [X86_INS_##name##B] = (kind), \
	[X86_INS_##name##BE] = (kind), [X86_INS_##name##E] = (kind), [X86_INS_##name##G] = (kind), \
	[X86_INS_##name##GE] = (kind), [X86_INS_##name##L] = (kind),                               \
	[X86_INS_##name##LE] = (kind), [X86_INS_##name##NE] = (kind),                              \
	[X86_INS_##name##NO] = (kind), [X86_INS_##name##NP] = (kind),                              \
	[X86_INS_##name##NS] = (kind), [X86_INS_##name##O] = (kind), [X86_INS_##name##P] = (kind), \
	[X86_INS_##name##S] = (kind)

/* Indexed by instruction; all others are opaque. */
static const uint8_t kinds[X86_INS_ENDING] = {
	[X86_INS_NOP] = KIND_NOTHING,
	[X86_INS_ENDBR64] = KIND_NOTHING,
	[X86_INS_MFENCE] = KIND_NOTHING,
	[X86_INS_LFENCE] = KIND_NOTHING,
	[X86_INS_SFENCE] = KIND_NOTHING,
	[X86_INS_PREFETCH] = KIND_NOTHING,
	[X86_INS_PREFETCHW] = KIND_NOTHING,
	[X86_INS_PREFETCHNTA] = KIND_NOTHING,
	[X86_INS_PREFETCHT0] = KIND_NOTHING,
	[X86_INS_PREFETCHT1] = KIND_NOTHING,
	[X86_INS_PREFETCHT2] = KIND_NOTHING,
	[X86_INS_MOV] = KIND_WRITE,
	[X86_INS_MOVABS] = KIND_WRITE,
	[X86_INS_MOVZX] = KIND_WRITE,
	[X86_INS_MOVSX] = KIND_WRITE,
	[X86_INS_MOVSXD] = KIND_WRITE,
	[X86_INS_MOVBE] = KIND_WRITE,
	[X86_INS_POPCNT] = KIND_WRITE,
	[X86_INS_LZCNT] = KIND_WRITE,
	[X86_INS_TZCNT] = KIND_WRITE,
	[X86_INS_ANDN] = KIND_WRITE,
	[X86_INS_BEXTR] = KIND_WRITE,
	[X86_INS_BLSI] = KIND_WRITE,
	[X86_INS_BLSR] = KIND_WRITE,
	[X86_INS_BLSMSK] = KIND_WRITE,
	[X86_INS_BZHI] = KIND_WRITE,
	[X86_INS_RORX] = KIND_WRITE,
	[X86_INS_SARX] = KIND_WRITE,
	[X86_INS_SHLX] = KIND_WRITE,
	[X86_INS_SHRX] = KIND_WRITE,
	[X86_INS_CBW] = KIND_WRITE,
	[X86_INS_CWDE] = KIND_WRITE,
	[X86_INS_CDQE] = KIND_WRITE,
	[X86_INS_CWD] = KIND_WRITE,
	[X86_INS_CDQ] = KIND_WRITE,
	[X86_INS_CQO] = KIND_WRITE,
	CONDITIONS(SET, KIND_WRITE),
	[X86_INS_ADD] = KIND_MODIFY,
	[X86_INS_SUB] = KIND_MODIFY,
	[X86_INS_INC] = KIND_MODIFY,
	[X86_INS_DEC] = KIND_MODIFY,
	[X86_INS_ADC] = KIND_MODIFY,
	[X86_INS_SBB] = KIND_MODIFY,
	[X86_INS_AND] = KIND_MODIFY,
	[X86_INS_OR] = KIND_MODIFY,
	[X86_INS_XOR] = KIND_MODIFY,
	[X86_INS_NOT] = KIND_MODIFY,
	[X86_INS_NEG] = KIND_MODIFY,
	[X86_INS_SHL] = KIND_MODIFY,
	[X86_INS_SHR] = KIND_MODIFY,
	[X86_INS_SAL] = KIND_MODIFY,
	[X86_INS_SAR] = KIND_MODIFY,
	[X86_INS_ROL] = KIND_MODIFY,
	[X86_INS_ROR] = KIND_MODIFY,
	[X86_INS_SHLD] = KIND_MODIFY,
	[X86_INS_SHRD] = KIND_MODIFY,
	[X86_INS_BSWAP] = KIND_MODIFY,
	[X86_INS_BTS] = KIND_MODIFY,
	[X86_INS_BTR] = KIND_MODIFY,
	[X86_INS_BTC] = KIND_MODIFY,
	[X86_INS_BSF] = KIND_MODIFY,
	[X86_INS_BSR] = KIND_MODIFY,
	CONDITIONS(CMOV, KIND_MODIFY),
	[X86_INS_IMUL] = KIND_MODIFY,
	[X86_INS_MUL] = KIND_MODIFY,
	[X86_INS_DIV] = KIND_MODIFY,
	[X86_INS_IDIV] = KIND_MODIFY,
	[X86_INS_CMP] = KIND_READ,
	[X86_INS_TEST] = KIND_READ,
	[X86_INS_BT] = KIND_READ,
	[X86_INS_XCHG] = KIND_EXCHANGE,
	[X86_INS_XADD] = KIND_EXCHANGE,
	[X86_INS_CMPXCHG] = KIND_EXCHANGE,
	[X86_INS_CMPXCHG8B] = KIND_EXCHANGE,
	[X86_INS_CMPXCHG16B] = KIND_EXCHANGE,
	[X86_INS_LEA] = KIND_ADDRESS,
	[X86_INS_RDTSC] = KIND_TIME,
	[X86_INS_RDTSCP] = KIND_TIME,
	[X86_INS_PAUSE] = KIND_RELAX,
	[X86_INS_PUSH] = KIND_PUSH,
	[X86_INS_POP] = KIND_POP,
	[X86_INS_LEAVE] = KIND_POP,
};

struct decoder *decoder__new(uint16_t machine)
{
	struct decoder *d;

	if (machine != EM_X86_64) {
		errno = ENOTSUP;
		return NULL;
	}
	d = calloc(1, sizeof(*d));
	if (!d || cs_open(CS_ARCH_X86, CS_MODE_64, &d->handle) != CS_ERR_OK) {
		free(d);
		errno = ENOMEM;
		return NULL;
	}
	cs_option(d->handle, CS_OPT_DETAIL, CS_OPT_ON);
	d->insn = cs_malloc(d->handle);
	if (!d->insn) {
		decoder__free(d);
		errno = ENOMEM;
		return NULL;
	}
	return d;
}

void decoder__free(struct decoder *d)
{
	if (!d)
		return;
	if (d->insn)
		cs_free(d->insn, 1);
	cs_close(&d->handle);
	free(d);
}

/* ---- registers ---- */

/* The number of a general register in instructions, and its size in bytes; -1: another register. */
static int register_number(x86_reg reg, uint8_t *size)
{
	static const struct {
		uint16_t names[5]; /* 8 bytes, 4, 2, low 1, second 1 */
	} legacy[] = {
		{{X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH}},
		{{X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH}},
		{{X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH}},
		{{X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH}},
		{{X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL, X86_REG_INVALID}},
		{{X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL, X86_REG_INVALID}},
		{{X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL, X86_REG_INVALID}},
		{{X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL, X86_REG_INVALID}},
	};
	static const uint8_t sizes[] = {8, 4, 2, 1, 1};

	for (int i = 0; i < 8 && reg != X86_REG_INVALID; i++)
		for (int k = 0; k < 5; k++)
			if (legacy[i].names[k] == reg) {
				*size = sizes[k];
				return i;
			}
	for (int i = 0; i < 8; i++) {
		static const x86_reg first[] = {X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B};

		for (int k = 0; k < 4; k++)
			if (reg == first[k] + (unsigned int)i) {
				*size = sizes[k];
				return 8 + i;
			}
	}
	return -1;
}

/* A write of 4 bytes clears the upper 4; a write of 1 or 2 bytes keeps the others. */
static uint64_t register_bits(int number, uint8_t size)
{
	return size >= 4 ? REGISTER_BOTH(number) : 1ull << number;
}

static void add_implicit(struct decoder *d, const cs_detail *detail, struct instruction *out)
{
	uint8_t size;

	for (int i = 0; i < detail->regs_read_count; i++) {
		int number = register_number(detail->regs_read[i], &size);

		if (detail->regs_read[i] == X86_REG_EFLAGS)
			out->reads |= REGISTER_FLAGS;
		else if (number >= 0)
			out->reads |= register_bits(number, size);
	}
	for (int i = 0; i < detail->regs_write_count; i++) {
		int number = register_number(detail->regs_write[i], &size);

		if (detail->regs_write[i] == X86_REG_EFLAGS)
			out->writes |= REGISTER_FLAGS;
		else if (number >= 0)
			out->writes |= register_bits(number, size);
	}
}

/* ---- operands ---- */

static void add_register(struct decoder *d, x86_reg reg, bool read, bool write,
			 struct instruction *out)
{
	uint8_t size;
	int number = register_number(reg, &size);

	if (number < 0) {
		out->flags |= INSTRUCTION_OPAQUE;
		return;
	}
	if (read)
		out->reads |= register_bits(number, size);
	if (write)
		out->writes |= register_bits(number, size);
	if (write && number == DECODER_SP)
		out->flags |= INSTRUCTION_STACK;
}

static void add_pointers(struct decoder *d, const x86_op_mem *mem, struct instruction *out)
{
	x86_reg regs[] = {mem->base, mem->index};
	uint8_t size;

	for (int i = 0; i < 2; i++) {
		int number = regs[i] == X86_REG_INVALID ? -1 : register_number(regs[i], &size);

		if (number < 0)
			continue;
		out->reads |= REGISTER_BOTH(number);
		out->pointers |= 1u << number;
	}
}

/*
 * Variables of the procedure are above the stack pointer, or below the frame pointer. Programs that
 * use rbp for something else rarely store below it, and change it afterwards.
 */
static bool is_slot(const x86_op_mem *mem)
{
	if (mem->segment != X86_REG_INVALID || mem->index != X86_REG_INVALID)
		return false;
	return mem->base == X86_REG_RSP || (mem->base == X86_REG_RBP && mem->disp < 0);
}

static struct place place_of(const x86_op_mem *mem, const struct instruction *out)
{
	uint8_t size;
	int number;

	if (mem->segment != X86_REG_INVALID || mem->index != X86_REG_INVALID ||
	    mem->base == X86_REG_INVALID)
		return (struct place) {.known = false};
	if (mem->base == X86_REG_RIP)
		return (struct place) {out->address + out->length + (uint64_t)mem->disp,
				       QZ_SPIN_FIXED, true};
	number = register_number(mem->base, &size);
	return (struct place) {(uint64_t)mem->disp, (uint8_t)number, number >= 0 && size == 8};
}

static void add_memory(struct decoder *d, const cs_x86_op *op, bool read, bool write,
		       struct instruction *out)
{
	add_pointers(d, &op->mem, out);
	if (is_slot(&op->mem) && op->mem.disp == (int32_t)op->mem.disp) {
		out->slot = (struct slot) {
			.at = (int32_t)op->mem.disp,
			.size = op->size ? op->size : 8,
			.by_frame_pointer = op->mem.base == X86_REG_RBP,
			.read = read,
			.written = write,
		};
		return;
	}
	/* thread-local memory is not changed by others */
	if (read && op->mem.segment != X86_REG_FS) {
		out->flags |= INSTRUCTION_LOAD;
		out->load = place_of(&op->mem, out);
	}
	if (write)
		out->flags |= INSTRUCTION_STORE;
}

static void add_operand(struct decoder *d, const cs_x86_op *op, bool read, bool write,
			struct instruction *out)
{
	if (op->type == X86_OP_REG)
		add_register(d, op->reg, read, write, out);
	else if (op->type == X86_OP_MEM)
		add_memory(d, op, read, write, out);
}

static bool in_group(const cs_insn *insn, uint8_t group)
{
	for (int i = 0; i < insn->detail->groups_count; i++)
		if (insn->detail->groups[i] == group)
			return true;
	return false;
}

static bool is_locked(const cs_x86 *x86)
{
	return x86->prefix[0] == X86_PREFIX_LOCK;
}

/* xor r, r and the like: the result does not depend on r. */
static bool is_cleared(const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;

	return (insn->id == X86_INS_XOR || insn->id == X86_INS_SUB) && x86->op_count == 2 &&
	       x86->operands[0].type == X86_OP_REG && x86->operands[1].type == X86_OP_REG &&
	       x86->operands[0].reg == x86->operands[1].reg;
}

/* "lock or $0, (%rsp)", which compilers use as a fence. */
static bool is_fence(const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;

	return is_locked(x86) && (insn->id == X86_INS_OR || insn->id == X86_INS_ADD) &&
	       x86->op_count == 2 && x86->operands[1].type == X86_OP_IMM &&
	       x86->operands[1].imm == 0;
}

/* Whether an atomic instruction tries to take something, rather than counts. */
static bool is_repeatable(const cs_insn *insn)
{
	switch (insn->id) {
	case X86_INS_XCHG:
		return true;
	case X86_INS_CMPXCHG:
	case X86_INS_CMPXCHG8B:
	case X86_INS_CMPXCHG16B:
	case X86_INS_BTS:
	case X86_INS_BTR:
	case X86_INS_AND:
	case X86_INS_OR:
		return is_locked(&insn->detail->x86);
	default:
		return false;
	}
}

/* Whether it has one operand: mul and the like also use rax and rdx, which the library reports. */
static bool is_wide(const cs_insn *insn)
{
	switch (insn->id) {
	case X86_INS_IMUL:
	case X86_INS_MUL:
	case X86_INS_DIV:
	case X86_INS_IDIV:
		return insn->detail->x86.op_count == 1;
	default:
		return false;
	}
}

/* Whether it copies all bytes of its operand, or, by a condition, of one of two. */
static bool is_copy(const cs_insn *insn)
{
	switch (insn->id) {
	case X86_INS_MOV:
	case X86_INS_MOVSXD:
	case X86_INS_CDQE:
		return true;
	default:
		return kinds[insn->id] == KIND_MODIFY && in_group(insn, X86_GRP_CMOV);
	}
}

/* The value that a step adds; 0: it multiplies. False: no step. */
static bool step_of(const cs_insn *insn, int64_t *step)
{
	const cs_x86 *x86 = &insn->detail->x86;
	bool by_constant = x86->op_count == 2 && x86->operands[1].type == X86_OP_IMM;
	bool doubles = x86->op_count == 2 && x86->operands[0].type == X86_OP_REG &&
		       x86->operands[1].type == X86_OP_REG &&
		       x86->operands[0].reg == x86->operands[1].reg;
	int64_t constant = by_constant ? x86->operands[1].imm : 0;

	*step = 0;
	switch (insn->id) {
	case X86_INS_ADD:
		*step = constant;
		return by_constant || doubles;
	case X86_INS_SUB:
		*step = -constant;
		return by_constant;
	case X86_INS_INC:
		*step = 1;
		return true;
	case X86_INS_DEC:
		*step = -1;
		return true;
	case X86_INS_SHL:
	case X86_INS_SAL:
		return by_constant || x86->op_count == 1;
	default:
		return false;
	}
}

/* False: it is no general register, or a part of one. */
static bool address_register(x86_reg reg, uint8_t *number)
{
	uint8_t size;
	int found;

	*number = QZ_OPERAND_NONE;
	if (reg == X86_REG_INVALID)
		return true;
	found = register_number(reg, &size);
	if (found < 0 || size != 8)
		return false;
	*number = (uint8_t)found;
	return true;
}

/* False: thread-local memory, or an address that does not follow from registers. */
static bool operand_at(const x86_op_mem *mem, const struct instruction *out, struct qz_operand *o)
{
	bool fixed = mem->base == X86_REG_RIP;

	if (mem->segment == X86_REG_FS || mem->segment == X86_REG_GS || (fixed && mem->index))
		return false;
	o->at = (uint64_t)mem->disp + (fixed ? out->address + out->length : 0);
	o->scale = (uint8_t)mem->scale;
	o->flags = fixed ? QZ_OPERAND_CODE : 0;
	return address_register(fixed ? X86_REG_INVALID : mem->base, &o->base) &&
	       address_register(mem->index, &o->index);
}

/* Whether it changes a register of its operand's address. */
static bool changes_address(struct decoder *d, const cs_insn *insn, const struct instruction *out,
			    const struct qz_operand *o)
{
	uint64_t by = (o->base < QZ_OPERAND_NONE ? REGISTER_BOTH(o->base) : 0) |
		      (o->index < QZ_OPERAND_NONE ? REGISTER_BOTH(o->index) : 0);
	uint64_t written = out->writes;
	cs_regs reads, writes;
	uint8_t nreads, nwrites, size;

	if (cs_regs_access(d->handle, insn, reads, &nreads, writes, &nwrites))
		return true;
	for (int i = 0; i < nwrites; i++) {
		int number = register_number(writes[i], &size);

		written |= number >= 0 ? REGISTER_BOTH(number) : 0;
	}
	return written & by;
}

/* The access to the operand: by the table of kinds, else by the library. */
static uint8_t access_of(const cs_insn *insn, enum kind kind, const cs_x86_op *op)
{
	bool first = op == insn->detail->x86.operands, read, written;

	if (kind == KIND_WRITE || kind == KIND_MODIFY || kind == KIND_READ ||
	    kind == KIND_EXCHANGE) {
		read = kind != KIND_WRITE || !first;
		written = kind != KIND_READ && (first || kind == KIND_EXCHANGE);
	} else {
		read = op->access & CS_AC_READ;
		written = op->access & CS_AC_WRITE;
	}
	return (read ? QZ_OPERAND_READ : 0) | (written ? QZ_OPERAND_WRITTEN : 0) |
	       (is_locked(&insn->detail->x86) || (insn->id == X86_INS_XCHG && written)
			? QZ_OPERAND_ATOMIC
			: 0);
}

/* Finds the memory operand of an instruction that is executed for its effect there. */
static void find_memory(struct decoder *d, const cs_insn *insn, enum kind kind,
			struct instruction *out)
{
	const cs_x86 *x86 = &insn->detail->x86;
	const cs_x86_op *found = NULL;
	struct qz_operand o = {0};

	if (kind == KIND_NOTHING || kind == KIND_ADDRESS || is_fence(insn) ||
	    out->flags & (INSTRUCTION_BRANCH | INSTRUCTION_JUMP | INSTRUCTION_CALL |
			  INSTRUCTION_RETURN | INSTRUCTION_END))
		return;
	for (int i = 0; i < x86->op_count; i++) {
		if (x86->operands[i].type != X86_OP_MEM)
			continue;
		if (found)
			return; /* memory to memory */
		found = &x86->operands[i];
	}
	if (!found || !found->size || !operand_at(&found->mem, out, &o))
		return;
	o.flags |= access_of(insn, kind, found);
	if (changes_address(d, insn, out, &o))
		o.flags |= QZ_OPERAND_PASSING;
	o.size = found->size;
	out->memory = o;
}

/* Adds what is known of the result. */
static void add_arithmetic(const cs_insn *insn, enum kind kind, struct instruction *out)
{
	const cs_x86 *x86 = &insn->detail->x86;
	int64_t step;

	if (out->flags & INSTRUCTION_STORE || is_locked(x86))
		return;
	if (is_cleared(insn)) {
		out->flags |= INSTRUCTION_CONSTANT;
	} else if (kind == KIND_WRITE && x86->op_count == 2 &&
		   x86->operands[1].type == X86_OP_IMM) {
		out->flags |= INSTRUCTION_CONSTANT;
		out->constant = x86->operands[1].imm;
	} else if (step_of(insn, &step)) {
		out->flags |= INSTRUCTION_STEP;
		out->constant = step;
	} else if (is_copy(insn)) {
		out->flags |= INSTRUCTION_COPY;
	}
}

static void add_operands(struct decoder *d, const cs_insn *insn, enum kind kind,
			 struct instruction *out)
{
	const cs_x86 *x86 = &insn->detail->x86;
	bool three = insn->id == X86_INS_IMUL && x86->op_count == 3;
	bool first_read = kind != KIND_WRITE && !is_cleared(insn) && !three;
	bool first_written = kind != KIND_READ && !is_wide(insn);

	for (int i = 0; i < x86->op_count; i++) {
		bool read = i > 0 || first_read, write = i == 0 && first_written;

		if (kind == KIND_EXCHANGE) {
			read = true;
			write = i == 0 || insn->id != X86_INS_CMPXCHG;
		}
		if (is_cleared(insn))
			read = false;
		add_operand(d, &x86->operands[i], read, write, out);
	}
	if (insn->id == X86_INS_CMPXCHG) {
		out->reads |= REGISTER_BOTH(0);
		out->writes |= REGISTER_BOTH(0);
	}
	if (out->flags & INSTRUCTION_STORE && is_repeatable(insn))
		out->flags |= INSTRUCTION_ATOMIC;
	add_arithmetic(insn, kind, out);
}

/* lea can be a step, too: 1(%rax), %rcx or (%rax, %rax), %rcx. */
static void add_address(struct decoder *d, const cs_insn *insn, struct instruction *out)
{
	const cs_x86 *x86 = &insn->detail->x86;
	const x86_op_mem *mem = &x86->operands[1].mem;

	add_pointers(d, mem, out);
	add_register(d, x86->operands[0].reg, false, true, out);
	if (mem->base == X86_REG_INVALID || mem->base == X86_REG_RIP ||
	    (mem->index != X86_REG_INVALID && mem->index != mem->base))
		return;
	out->flags |= INSTRUCTION_STEP;
	out->constant = mem->index == X86_REG_INVALID ? mem->disp : 0;
}

/* ---- control flow ---- */

uint64_t decoder__count(const struct decoder *d)
{
	return d->count;
}

static bool fixed_target(const cs_insn *insn, struct instruction *out)
{
	const cs_x86 *x86 = &insn->detail->x86;

	if (x86->op_count != 1 || x86->operands[0].type != X86_OP_IMM)
		return false;
	out->target = (uint64_t)x86->operands[0].imm;
	return true;
}

static bool add_control(const cs_insn *insn, struct instruction *out)
{
	switch (insn->id) {
	case X86_INS_JMP:
		out->flags = fixed_target(insn, out) ? INSTRUCTION_JUMP : INSTRUCTION_END;
		return true;
	case X86_INS_CALL:
		out->flags = fixed_target(insn, out) ? INSTRUCTION_CALL : INSTRUCTION_OPAQUE;
		return true;
	case X86_INS_RET:
		out->flags = INSTRUCTION_RETURN | INSTRUCTION_END;
		return true;
	case X86_INS_HLT:
	case X86_INS_UD0:
	case X86_INS_UD2:
	case X86_INS_UD2B:
	case X86_INS_INT3:
	case X86_INS_RETF:
	case X86_INS_IRETQ:
	case X86_INS_LJMP:
		out->flags = INSTRUCTION_END | INSTRUCTION_OPAQUE;
		return true;
	case X86_INS_LOOP:
	case X86_INS_LOOPE:
	case X86_INS_LOOPNE:
		out->flags = INSTRUCTION_BRANCH | INSTRUCTION_OPAQUE;
		return fixed_target(insn, out);
	default:
		if (!in_group(insn, CS_GRP_JUMP))
			return false;
		out->flags = INSTRUCTION_BRANCH;
		return fixed_target(insn, out);
	}
}

static void describe(struct decoder *d, const cs_insn *insn, struct instruction *out)
{
	enum kind kind = insn->id < X86_INS_ENDING ? kinds[insn->id] : KIND_OPAQUE;

	if (in_group(insn, CS_GRP_JUMP) || kind == KIND_OPAQUE) {
		if (!add_control(insn, out))
			out->flags = INSTRUCTION_OPAQUE;
		add_implicit(d, insn->detail, out);
		return;
	}
	if (kind == KIND_NOTHING || is_fence(insn))
		return;
	add_implicit(d, insn->detail, out);
	switch (kind) {
	case KIND_TIME:
		out->flags = INSTRUCTION_LOAD;
		out->writes |= REGISTER_BOTH(0) | REGISTER_BOTH(2);
		break;
	case KIND_RELAX:
		out->flags = INSTRUCTION_RELAX;
		break;
	case KIND_ADDRESS:
		add_address(d, insn, out);
		break;
	case KIND_PUSH:
	case KIND_POP:
		out->flags = INSTRUCTION_STACK;
		if (insn->id == X86_INS_LEAVE)
			out->writes |= REGISTER_BOTH(DECODER_FP);
		else
			add_operand(d, &insn->detail->x86.operands[0], kind == KIND_PUSH,
				    kind == KIND_POP, out);
		break;
	default:
		add_operands(d, insn, kind, out);
		break;
	}
}

/*
 * Length of UMONITOR, UMWAIT or TPAUSE, which the library does not know: 66/f2 0f ae /6 with
 * registers.
 */
static size_t timed_pause(const uint8_t *bytes, size_t size)
{
	bool fits = size >= 4 && (bytes[0] == 0x66 || bytes[0] == 0xf2) && bytes[1] == 0x0f &&
		    bytes[2] == 0xae && (bytes[3] & 0xf8) == 0xf0;

	return fits ? 4 : 0;
}

static size_t plain_pause(const uint8_t *bytes, size_t size)
{
	return size >= 2 && bytes[0] == 0xf3 && bytes[1] == 0x90 ? 2 : 0;
}

/* Length of the system call sched_yield, whose number is set just before. */
static size_t yield(const uint8_t *bytes, size_t before, size_t size)
{
	static const uint8_t number[] = {0xb8, 24, 0, 0, 0}, call[] = {0x0f, 0x05};
	bool fits = before >= sizeof(number) && size >= sizeof(call) &&
		    !memcmp(bytes - sizeof(number), number, sizeof(number)) &&
		    !memcmp(bytes, call, sizeof(call));

	return fits ? sizeof(call) : 0;
}

bool decoder__follows_relax(const uint8_t *bytes, size_t before)
{
	return (before >= 2 && (plain_pause(bytes - 2, 2) || yield(bytes - 2, before - 2, 2))) ||
	       (before >= 4 && timed_pause(bytes - 4, 4));
}

bool decoder__decode(struct decoder *d, const uint8_t *bytes, size_t before, size_t size,
		     uint64_t address, struct instruction *out)
{
	uint64_t at = address;
	size_t length = timed_pause(bytes, size) ?: yield(bytes, before, size);

	memset(out, 0, sizeof(*out));
	out->address = address;
	d->count++;
	if (length) {
		out->length = (uint32_t)length;
		out->flags = INSTRUCTION_RELAX;
		out->writes = REGISTER_FLAGS | REGISTER_BOTH(0) | REGISTER_BOTH(1) |
			      REGISTER_BOTH(11);
		return true;
	}
	if (!cs_disasm_iter(d->handle, &bytes, &size, &at, d->insn))
		return false;
	out->length = d->insn->size;
	describe(d, d->insn, out);
	find_memory(d, d->insn, d->insn->id < X86_INS_ENDING ? kinds[d->insn->id] : KIND_OPAQUE,
		    out);
	return true;
}
