/* SPDX-License-Identifier: GPL-2.0-only */
/* Fuzzes tables of lines of Python: the kind, the first line, and the table. A line is a number, or unknown. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/attribution/python_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t instructions[] = {0, 1, 100, QZ_PYTHON_CHECK_MASK};
	struct qz_python_table *t;
	size_t n;

	if (size < 2)
		return 0;
	n = size - 2 < QZ_PYTHON_TABLE ? size - 2 : QZ_PYTHON_TABLE;
	t = malloc(offsetof(struct qz_python_table, bytes) + n);
	if (!t)
		return 0;
	t->lines = data[0] % QZ_PYTHON_LINES;
	t->size = (uint32_t)n;
	memcpy(t->bytes, data + 2, n);
	for (size_t i = 0; i < sizeof(instructions) / sizeof(instructions[0]); i++)
		if (python_lines__at(t, data[1], instructions[i]) > INT32_MAX)
			abort();
	free(t);
	return 0;
}
