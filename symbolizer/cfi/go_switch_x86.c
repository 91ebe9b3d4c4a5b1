/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbolizer/cfi/go_switch.h"

#include <string.h>

#include "quartz/unwind.h"

#define CODE_SIZE 160 /* bytes of the function that are searched */

/* Finds the 32-bit operand after these first bytes of an instruction, anywhere in the code. */
static bool find_operand(const uint8_t *code, size_t size, const uint8_t *instruction,
			 size_t length, int32_t *operand)
{
	for (size_t i = 0; i + length + sizeof(*operand) <= size; i++)
		if (memcmp(code + i, instruction, length) == 0) {
			memcpy(operand, code + i + length, sizeof(*operand));
			return true;
		}
	return false;
}

bool go_switch__find(const struct elf_file *file, uint64_t start, int32_t *slot)
{
	static const uint8_t g[] = {0x64, 0x48, 0x8b, 0x04, 0x25}; /* mov rax, fs:slot */
	static const uint8_t back[] = {
		0x48, 0x8b, 0x58, QZ_GO_G_M,		    /* mov rbx, [rax + m] */
		0x48, 0x8b, 0x83, QZ_GO_M_CURG, 0,    0, 0, /* mov rax, [rbx + curg] */
		0x64, 0x48, 0x89, 0x04,		0x25,	    /* mov fs:slot, rax */
	};
	static const uint8_t stack[] = {0x48, 0x8b, 0x60, QZ_GO_G_SP}; /* mov rsp, [rax + sp] */
	const uint8_t *code;
	int32_t other;
	size_t size;

	code = elf_file__bytes(file, start, CODE_SIZE, &size);
	return code && find_operand(code, size, g, sizeof(g), slot) && *slot % 8 == 0 &&
	       *slot / 8 >= INT16_MIN && *slot / 8 <= INT16_MAX &&
	       find_operand(code, size, back, sizeof(back), &other) && other == *slot &&
	       find_operand(code, size, stack, sizeof(stack), &other);
}

/* The first load from rax + n; rax has the argument since Go 1.17. */
static bool find_load(const uint8_t *code, size_t size, int32_t *offset)
{
	for (size_t i = 0; i + 3 + sizeof(*offset) <= size; i++)
		if (code[i] == 0x48 && code[i + 1] == 0x8b && (code[i + 2] & 0xc7) == 0x80) {
			memcpy(offset, code + i + 3, sizeof(*offset));
			return true;
		}
	return false;
}

/* cmp qword [register + goid], 1 */
static bool asks_for_first(const uint8_t *code, size_t size, int32_t below)
{
	int32_t offset;

	for (size_t i = 0; i + 8 <= size; i++) {
		memcpy(&offset, code + i + 3, sizeof(offset));
		if ((code[i] | 1) == 0x49 && code[i + 1] == 0x83 && (code[i + 2] & 0xf8) == 0xb8 &&
		    code[i + 7] == 1 && offset > 0 && offset < below)
			return true;
	}
	return false;
}

uint32_t go_switch__creator(const struct elf_file *file, uint64_t start)
{
	const uint8_t *code;
	int32_t offset;
	size_t size;

	code = elf_file__bytes(file, start, CODE_SIZE, &size);
	if (!code || !find_load(code, size, &offset) || offset % 8 || offset <= 0 ||
	    offset / 8 > INT8_MAX || !asks_for_first(code, size, offset))
		return 0;
	return (uint32_t)offset;
}
