/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbolizer/cfi/stack_effect.h"

#include <stdbool.h>
#include <string.h>

#define NO_REGISTER 16

enum rex {
	REX_B = 1,
	REX_X = 2,
	REX_R = 4,
	REX_W = 8,
};

/* The operands of an instruction with a ModRM byte. */
struct operands {
	uint8_t reg; /* or an extension of the opcode */
	uint8_t rm;  /* the register, or the base of the address; NO_REGISTER: another form */
	bool memory;
	int32_t displacement;
	const uint8_t *immediate;
	const uint8_t *end;
};

static int32_t number(const uint8_t *at, const uint8_t *end, size_t size)
{
	int32_t value = 0;

	if (end < at || (size_t)(end - at) < size)
		return 0;
	if (size != 4)
		return size == 1 ? (int8_t)*at : 0;
	memcpy(&value, at, sizeof(value));
	return value;
}

/* Bytes of SIB and displacement after a ModRM byte. */
static size_t address_size(const uint8_t *modrm, size_t size)
{
	uint8_t mod = modrm[0] >> 6, rm = modrm[0] & 7;
	size_t sib = mod != 3 && rm == 4;

	if (mod == 0 && (rm == 5 || (sib && size > 1 && (modrm[1] & 7) == 5)))
		return sib + 4;
	return sib + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

static bool read_operands(const uint8_t *modrm, const uint8_t *end, uint8_t rex, struct operands *o)
{
	uint8_t mod, rm;
	size_t size;

	if (modrm >= end)
		return false;
	mod = modrm[0] >> 6;
	rm = modrm[0] & 7;
	size = address_size(modrm, (size_t)(end - modrm));
	if ((size_t)(end - modrm) < 1 + size)
		return false;
	*o = (struct operands) {.reg = (modrm[0] >> 3 & 7) | (rex & REX_R ? 8 : 0),
				.rm = rm | (rex & REX_B ? 8 : 0),
				.memory = mod != 3,
				.immediate = modrm + 1 + size,
				.end = end};
	if (!o->memory)
		return true;
	if (rm == 4) {
		o->rm = (modrm[1] & 7) | (rex & REX_B ? 8 : 0);
		if ((modrm[1] >> 3 & 7) != 4 || rex & REX_X || (mod == 0 && (o->rm & 7) == 5))
			o->rm = NO_REGISTER;
		o->displacement = number(modrm + 2, end, size - 1);
	} else {
		if (mod == 0 && rm == 5)
			o->rm = NO_REGISTER;
		o->displacement = number(modrm + 1, end, size);
	}
	if (mod == 0 && o->rm != NO_REGISTER)
		o->displacement = 0;
	return true;
}

static struct stack_effect effect(enum stack_effect_kind kind, uint8_t reg, int32_t value)
{
	return (struct stack_effect) {kind, reg, value};
}

static const struct stack_effect nothing = {STACK_NOTHING, NO_REGISTER, 0};

/* add, sub, and the like with a constant. */
static struct stack_effect arithmetic(const struct operands *o, size_t size)
{
	int32_t value = number(o->immediate, o->end, size);

	if (o->memory || o->rm != STACK_RSP || (o->reg & 7) == 7)
		return nothing;
	if ((o->reg & 7) == 0)
		return effect(STACK_MOVE, NO_REGISTER, value);
	if ((o->reg & 7) == 5)
		return effect(STACK_MOVE, NO_REGISTER, -value);
	return effect(STACK_LOSE, NO_REGISTER, 0);
}

static struct stack_effect address(const struct operands *o)
{
	if (o->reg == STACK_RSP && o->rm == STACK_RSP)
		return effect(STACK_MOVE, NO_REGISTER, o->displacement);
	if (o->reg == STACK_RSP)
		return o->rm == NO_REGISTER ? effect(STACK_LOSE, NO_REGISTER, 0)
					    : effect(STACK_RETURN_TO, o->rm, o->displacement);
	return o->rm == STACK_RSP ? effect(STACK_KEEP, o->reg, o->displacement) : nothing;
}

static struct stack_effect copy(uint8_t to, uint8_t from)
{
	if (to == from)
		return nothing;
	if (to == STACK_RSP)
		return effect(STACK_RETURN_TO, from, 0);
	return from == STACK_RSP ? effect(STACK_KEEP, to, 0) : nothing;
}

static struct stack_effect load(const struct operands *o)
{
	if (!o->memory)
		return copy(o->reg, o->rm);
	if (o->rm == STACK_RSP)
		return effect(STACK_LOAD, o->reg, o->displacement);
	return o->reg == STACK_RSP ? effect(STACK_LOSE, NO_REGISTER, 0) : nothing;
}

static struct stack_effect store(const struct operands *o)
{
	if (!o->memory)
		return copy(o->rm, o->reg);
	return o->rm == STACK_RSP ? effect(STACK_STORE, o->reg, o->displacement) : nothing;
}

static struct stack_effect with_operands(uint8_t opcode, const struct operands *o, uint8_t rex)
{
	bool wide = rex & REX_W, to_rsp = !o->memory && o->rm == STACK_RSP;

	switch (opcode) {
	case 0x8f:
		return effect(STACK_POP, NO_REGISTER, 0);
	case 0xff:
		return (o->reg & 7) == 6 ? effect(STACK_PUSH, NO_REGISTER, 0) : nothing;
	case 0x81:
		return wide ? arithmetic(o, 4) : nothing;
	case 0x83:
		return wide ? arithmetic(o, 1) : nothing;
	case 0x8d:
		return wide ? address(o) : nothing;
	case 0x89:
		return wide ? store(o) : nothing;
	case 0x8b:
		return wide ? load(o) : nothing;
	case 0x01: /* add and sub of a register */
	case 0x29:
	case 0x21:
		return wide && to_rsp ? effect(STACK_LOSE, NO_REGISTER, 0) : nothing;
	case 0x03:
	case 0x2b:
	case 0x23:
		return wide && o->reg == STACK_RSP ? effect(STACK_LOSE, NO_REGISTER, 0) : nothing;
	case 0x31: /* xor */
	case 0x33:
		return !o->memory && o->reg == o->rm ? effect(STACK_CLEAR, o->reg, 0) : nothing;
	case 0x87: /* xchg */
		return wide && (to_rsp || o->reg == STACK_RSP) ? effect(STACK_LOSE, NO_REGISTER, 0)
							       : nothing;
	default:
		return nothing;
	}
}

static struct stack_effect effect_of(const uint8_t *bytes, size_t length)
{
	const uint8_t *at = bytes, *end = bytes + length;
	struct operands o;
	uint8_t rex = 0, b;

	while (at < end && (*at == 0x66 || *at == 0xf2 || *at == 0xf3))
		at++;
	if (at < end && (*at & 0xf0) == 0x40)
		rex = *at++;
	if (at == end)
		return nothing;
	b = rex & REX_B ? 8 : 0;
	if (*at >= 0x50 && *at <= 0x57)
		return effect(STACK_PUSH, (*at - 0x50) | b, 0);
	if (*at >= 0x58 && *at <= 0x5f)
		return effect(STACK_POP, (*at - 0x58) | b, 0);
	if (*at == 0x68 || *at == 0x6a || *at == 0x9c)
		return effect(STACK_PUSH, NO_REGISTER, 0);
	if (*at == 0x9d)
		return effect(STACK_POP, NO_REGISTER, 0);
	if (*at == 0xc9)
		return effect(STACK_LEAVE, STACK_RBP, 0);
	return read_operands(at + 1, end, rex, &o) ? with_operands(*at, &o, rex) : nothing;
}

/* Whether an instruction of the second opcode map has an 8-bit immediate. */
static bool has_immediate(uint8_t opcode)
{
	return (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 ||
	       (opcode >= 0xc4 && opcode <= 0xc6);
}

/* The bytes before the opcode in VEX, EVEX or XOP encoding; 0: another encoding. */
static size_t vector_prefix(const uint8_t *bytes, size_t size, uint8_t *map)
{
	*map = 1;
	if (size < 3)
		return 0;
	if (bytes[0] == 0xc5)
		return 2;
	*map = bytes[1] & (bytes[0] == 0x62 ? 7 : 31);
	if (bytes[0] == 0x62)
		return 4;
	return bytes[0] == 0xc4 || (bytes[0] == 0x8f && *map >= 8) ? 3 : 0;
}

/* Length of a vector instruction; 0: none, or it is cut. None of them changes the stack pointer. */
static uint32_t vector_length(const uint8_t *bytes, size_t size)
{
	uint8_t map;
	size_t prefix = vector_prefix(bytes, size, &map), length;

	if (prefix == 0 || map == 0 || size < prefix + 1)
		return 0;
	if (map == 1 && bytes[0] != 0x62 && bytes[prefix] == 0x77) /* vzeroupper, vzeroall */
		return (uint32_t)prefix + 1;
	if (size < prefix + 2)
		return 0;
	length = prefix + 2 + address_size(bytes + prefix + 1, size - prefix - 1);
	length += map == 3 || map == 8 || (map == 1 && has_immediate(bytes[prefix])) ? 1 : 0;
	length += map == 10 ? 4 : 0;
	return length <= size ? (uint32_t)length : 0;
}

/* ---- lengths of the others ---- */

enum shape {
	PLAIN = 0,
	MODRM = 1,
	BYTE = 2,  /* immediate of one byte */
	WORD = 4,  /* of two bytes */
	LONG = 8,  /* of four, two with prefix 66 */
	FULL = 16, /* of four, or eight with REX.W */
	WIDE = 32, /* an address of eight */
	TEST = 64, /* a constant with the first two of its group */
	NONE = 128,
};

/* Ranges of opcodes of a map, by their first one. */
struct range {
	uint8_t first;
	uint8_t shape;
};

static const struct range first_map[] = {
	{0x40, NONE},
	{0x50, PLAIN},
	{0x60, NONE},
	{0x63, MODRM},
	{0x64, NONE},
	{0x68, LONG},
	{0x69, MODRM | LONG},
	{0x6a, BYTE},
	{0x6b, MODRM | BYTE},
	{0x6c, PLAIN},
	{0x70, BYTE},
	{0x80, MODRM | BYTE},
	{0x81, MODRM | LONG},
	{0x82, NONE},
	{0x83, MODRM | BYTE},
	{0x84, MODRM},
	{0x90, PLAIN},
	{0x9a, NONE},
	{0x9b, PLAIN},
	{0xa0, WIDE},
	{0xa4, PLAIN},
	{0xa8, BYTE},
	{0xa9, LONG},
	{0xaa, PLAIN},
	{0xb0, BYTE},
	{0xb8, FULL},
	{0xc0, MODRM | BYTE},
	{0xc2, WORD},
	{0xc3, PLAIN},
	{0xc4, NONE},
	{0xc6, MODRM | BYTE},
	{0xc7, MODRM | LONG},
	{0xc8, WORD | BYTE},
	{0xc9, PLAIN},
	{0xca, WORD},
	{0xcb, PLAIN},
	{0xcd, BYTE},
	{0xce, NONE},
	{0xcf, PLAIN},
	{0xd0, MODRM},
	{0xd4, NONE},
	{0xd7, PLAIN},
	{0xd8, MODRM},
	{0xe0, BYTE},
	{0xe8, FULL},
	{0xea, NONE},
	{0xeb, BYTE},
	{0xec, PLAIN},
	{0xf0, NONE},
	{0xf1, PLAIN},
	{0xf2, NONE},
	{0xf4, PLAIN},
	{0xf6, MODRM | TEST | BYTE},
	{0xf7, MODRM | TEST | LONG},
	{0xf8, PLAIN},
	{0xfe, MODRM},
};

static const struct range second_map[] = {
	{0x00, MODRM},	      {0x04, NONE},	    {0x05, PLAIN},	  {0x0a, NONE},
	{0x0b, PLAIN},	      {0x0c, NONE},	    {0x0d, MODRM},	  {0x0e, PLAIN},
	{0x0f, MODRM | BYTE}, {0x10, MODRM},	    {0x24, NONE},	  {0x28, MODRM},
	{0x30, PLAIN},	      {0x36, NONE},	    {0x37, PLAIN},	  {0x38, NONE},
	{0x40, MODRM},	      {0x70, MODRM | BYTE}, {0x74, MODRM},	  {0x77, PLAIN},
	{0x78, MODRM},	      {0x80, FULL},	    {0x90, MODRM},	  {0xa0, PLAIN},
	{0xa3, MODRM},	      {0xa4, MODRM | BYTE}, {0xa5, MODRM},	  {0xa6, NONE},
	{0xa8, PLAIN},	      {0xab, MODRM},	    {0xac, MODRM | BYTE}, {0xad, MODRM},
	{0xba, MODRM | BYTE}, {0xbb, MODRM},	    {0xc2, MODRM | BYTE}, {0xc3, MODRM},
	{0xc4, MODRM | BYTE}, {0xc7, MODRM},	    {0xc8, PLAIN},	  {0xd0, MODRM},
};

static uint8_t shape_in(const struct range *map, size_t n, uint8_t opcode)
{
	size_t i = 0;

	while (i + 1 < n && map[i + 1].first <= opcode)
		i++;
	return map[i].shape;
}

static uint8_t shape_of(uint8_t opcode)
{
	if (opcode >= 0x40)
		return shape_in(first_map, sizeof(first_map) / sizeof(*first_map), opcode);
	switch (opcode & 7) {
	case 4:
		return BYTE;
	case 5:
		return LONG;
	case 6:
	case 7:
		return NONE;
	default:
		return MODRM;
	}
}

static bool is_prefix(uint8_t byte)
{
	switch (byte) {
	case 0x66:
	case 0x67:
	case 0xf0:
	case 0xf2:
	case 0xf3:
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65:
		return true;
	default:
		return false;
	}
}

/* Bytes of immediates after the operands. */
static size_t constant_size(uint8_t shape, const uint8_t *modrm, bool narrow, uint8_t rex)
{
	size_t size = 0;

	if (shape & TEST && (*modrm >> 3 & 7) > 1)
		return 0;
	size += shape & BYTE ? 1 : 0;
	size += shape & WORD ? 2 : 0;
	size += shape & LONG ? narrow && !(rex & REX_W) ? 2 : 4 : 0;
	size += shape & FULL ? 4 : 0;
	size += shape & WIDE ? 8 : 0;
	return size;
}

/* Reads the control flow from the opcode, which begins at an offset. */
static void read_flow(const uint8_t *bytes, size_t opcode, struct stack_instruction *in)
{
	const uint8_t *end = bytes + in->length, *at = bytes + opcode;
	uint8_t group = at + 1 < end ? at[1] >> 3 & 7 : 0;

	if (*at == 0xc3 || *at == 0xc2) {
		in->flow = STACK_RETURNS;
	} else if (*at == 0xeb || *at == 0xe9) {
		in->flow = STACK_JUMPS;
		in->target = *at == 0xeb ? number(end - 1, end, 1) : number(end - 4, end, 4);
	} else if ((*at >= 0x70 && *at <= 0x7f) || (*at >= 0xe0 && *at <= 0xe3)) {
		in->flow = STACK_BRANCHES;
		in->target = number(end - 1, end, 1);
	} else if (*at == 0x0f && at[1] >= 0x80 && at[1] <= 0x8f) {
		in->flow = STACK_BRANCHES;
		in->target = number(end - 4, end, 4);
	} else if (*at == 0xe8 || (*at == 0xff && (group == 2 || group == 3))) {
		in->flow = STACK_CALLS;
	} else if (*at == 0xff && (group == 4 || group == 5)) {
		in->flow = STACK_LEAVES;
	} else if (*at == 0xcc || *at == 0xf4 || *at == 0xcb || *at == 0xcf ||
		   (*at == 0x0f && (at[1] == 0x0b || at[1] == 0xff))) {
		in->flow = STACK_ENDS;
	}
}

bool stack_effect__read(const uint8_t *bytes, size_t size, struct stack_instruction *in)
{
	size_t at = 0, opcode;
	bool narrow = false;
	uint8_t rex = 0, shape;

	*in = (struct stack_instruction) {.length = vector_length(bytes, size), .effect = nothing};
	if (in->length || size == 0 || vector_prefix(bytes, size, &shape))
		return in->length != 0;
	for (; at < size && at < 14 && is_prefix(bytes[at]); at++)
		narrow |= bytes[at] == 0x66;
	if (at < size && (bytes[at] & 0xf0) == 0x40)
		rex = bytes[at++];
	opcode = at;
	if (at + 1 >= size && (at == size || bytes[at] == 0x0f))
		return false;
	shape = shape_of(bytes[at++]);
	if (bytes[opcode] == 0x0f) {
		uint8_t second = bytes[at++];

		shape = shape_in(second_map, sizeof(second_map) / sizeof(*second_map), second);
		if (second == 0x38 || second == 0x3a) {
			shape = second == 0x38 ? MODRM : MODRM | BYTE;
			at++;
		}
	} else if (bytes[opcode] >= 0xb8 && bytes[opcode] <= 0xbf) {
		shape = rex & REX_W ? WIDE : LONG;
	}
	if (shape & NONE || (shape & MODRM && at >= size))
		return false;
	in->length = (uint32_t)(at + constant_size(shape, bytes + at, narrow, rex));
	if (shape & MODRM)
		in->length += 1 + address_size(bytes + at, size - at);
	if (in->length > size || in->length > 15)
		return false;
	read_flow(bytes, opcode, in);
	in->effect = effect_of(bytes, in->length);
	return true;
}

uint32_t stack_effect__padding(const uint8_t *bytes, size_t size)
{
	size_t prefix = 0, length;

	while (prefix < size && prefix < 12 && (bytes[prefix] == 0x66 || bytes[prefix] == 0x2e))
		prefix++;
	if (prefix < size && bytes[prefix] == 0x90)
		return (uint32_t)prefix + 1;
	if (prefix == 0 && size && (bytes[0] == 0xcc || bytes[0] == 0))
		return 1;
	if (size - prefix < 3 || bytes[prefix] != 0x0f || bytes[prefix + 1] != 0x1f)
		return 0;
	length = prefix + 3 + address_size(bytes + prefix + 2, size - prefix - 2);
	return length <= size ? (uint32_t)length : 0;
}
