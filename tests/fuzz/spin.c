/* SPDX-License-Identifier: GPL-2.0-only */
/* Verdicts on any code: two bytes tell at which address, the rest is the code. */
#include <stdlib.h>
#include <string.h>
#include <elf.h>

#include "symbolizer/spin/spin.h"

#define BASE 0x1000

struct code {
	const uint8_t *bytes;
	size_t size;
};

static bool range(void *context, uint64_t address, uint64_t *start, uint64_t *end)
{
	const struct code *c = context;

	*start = BASE;
	*end = BASE + c->size;
	return address >= *start && address < *end;
}

static size_t read_code(void *context, uint64_t address, uint8_t *to, size_t size)
{
	const struct code *c = context;
	uint64_t start, end;

	if (!range(context, address, &start, &end))
		return 0;
	if (size > end - address)
		size = end - address;
	memcpy(to, c->bytes + (address - BASE), size);
	return size;
}

static bool yields(void *context, uint64_t address)
{
	return address % 64 == 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct spin *spin;
	struct code code = {data + 2, size - 2};
	struct code_source source = {&code, range, read_code, yields};
	struct spin_code v;
	uint64_t before, at;

	if (size < 3)
		return 0;
	if (!spin)
		spin = spin__new(EM_X86_64);
	if (!spin)
		abort();
	at = BASE + (data[0] | (uint64_t)data[1] << 8) % code.size;
	before = spin__decoded(spin);
	spin__classify(spin, &source, at, BASE, BASE + code.size, &v);
	if (spin__decoded(spin) - before > SPIN_MAX_DECODED || v.class >= QZ_SPIN_CLASSES ||
	    v.operand.base > QZ_OPERAND_NONE || v.operand.index > QZ_OPERAND_NONE ||
	    v.operand.scale > 8 || v.operand.flags >= QZ_OPERAND_FLAGS || v.start > v.end ||
	    (v.class && (v.flags & QZ_SPIN_CONFIRM) && !v.end))
		abort();
	return 0;
}
