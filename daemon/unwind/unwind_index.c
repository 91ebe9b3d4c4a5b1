// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/unwind/unwind_index.h"

#include <stdlib.h>

uint32_t unwind_index__new(const struct qz_unwind_row *rows, uint32_t n,
			   struct qz_unwind_block **index)
{
	uint32_t first = n ? QZ_UNWIND_BLOCK(rows[0].pc) : 0;
	uint32_t blocks = n ? QZ_UNWIND_BLOCK(rows[n - 1].pc) - first + 1 : 0;

	*index = blocks <= n ? calloc(blocks, sizeof(**index)) : NULL;
	if (!*index)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		(*index)[QZ_UNWIND_BLOCK(rows[i].pc) - first].count++;
	for (uint32_t i = 1; i < blocks; i++)
		(*index)[i].before = (*index)[i - 1].before + (*index)[i - 1].count;
	return blocks;
}
