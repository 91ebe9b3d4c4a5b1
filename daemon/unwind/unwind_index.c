// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/unwind/unwind_index.h"

#include <stdlib.h>
#include <string.h>

uint32_t unwind_index__add(struct qz_unwind_row **rows, uint32_t n)
{
	uint32_t first = n ? QZ_UNWIND_BLOCK((*rows)[0].pc) : 0;
	uint32_t blocks = n ? QZ_UNWIND_BLOCK((*rows)[n - 1].pc) - first + 1 : 0;
	struct qz_unwind_row *all = NULL;
	struct qz_unwind_block *index;

	if (blocks && blocks <= n)
		all = reallocarray(*rows, blocks + n, sizeof(*all));
	if (!all)
		return 0;
	*rows = all;
	memmove(all + blocks, all, n * sizeof(*all));
	index = memset(all, 0, blocks * sizeof(*index));
	for (uint32_t i = 0; i < n; i++)
		index[QZ_UNWIND_BLOCK(all[blocks + i].pc) - first].count++;
	for (uint32_t i = 1; i < blocks; i++)
		index[i].before = index[i - 1].before + index[i - 1].count;
	return blocks;
}
