// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/unwind/unwind_index.h"

#include <stdlib.h>
#include <string.h>

#define SMALL 4096 /* blocks: 32 KiB */

void unwind_index__lead(struct qz_unwind_block *index, uint32_t blocks, uint32_t first,
			const struct qz_unwind_row *rows, uint32_t n, uint32_t before)
{
	memset(index, 0, blocks * sizeof(*index));
	for (uint32_t i = 0; i < n; i++)
		index[QZ_UNWIND_BLOCK(rows[i].pc) - first].count++;
	for (uint32_t i = 0; i < blocks; i++) {
		index[i].before = before;
		before += index[i].count;
	}
}

uint32_t unwind_index__add(struct qz_unwind_row **rows, uint32_t n, uint64_t end)
{
	uint64_t last = n ? (*rows)[n - 1].pc : 0;
	uint32_t first = n ? QZ_UNWIND_BLOCK((*rows)[0].pc) : 0, blocks;
	struct qz_unwind_row *all = NULL;

	if (end > last + 1 && end <= UINT32_MAX)
		last = end - 1;
	blocks = n ? (uint32_t)QZ_UNWIND_BLOCK(last) - first + 1 : 0;
	if (blocks && (blocks <= n || blocks <= SMALL))
		all = reallocarray(*rows, (size_t)blocks + n, sizeof(*all));
	if (!all)
		return 0;
	*rows = all;
	memmove(all + blocks, all, n * sizeof(*all));
	unwind_index__lead((struct qz_unwind_block *)all, blocks, first, all + blocks, n, 0);
	return blocks;
}

bool unwind_index__gap(const struct qz_unwind_row *rows, uint32_t n, uint32_t pc, uint32_t *from,
		       uint32_t *to)
{
	uint32_t i = 0;

	while (i + 1 < n && rows[i + 1].pc <= pc)
		i++;
	if (rows[i].kind != QZ_CFA_NONE)
		return false;
	if (rows[i].pc > *from)
		*from = rows[i].pc;
	if (i + 1 < n)
		*to = rows[i + 1].pc;
	return true;
}

uint32_t unwind_index__splice(struct qz_unwind_row *out, const struct qz_unwind_row *rows,
			      uint32_t n, const struct qz_unwind_row *added, uint32_t nadded,
			      uint32_t from, uint32_t to)
{
	const struct qz_unwind_row vain = {.pc = from, .kind = QZ_CFA_NONE | QZ_UNWIND_DERIVED};
	uint32_t count = 1, i = 1, k = 0;

	out[0] = rows[0];
	for (; i < n && rows[i].pc < from; i++)
		out[count++] = rows[i];
	while (k < nadded && added[k].pc < from)
		k++;
	if (k == nadded || added[k].pc != from)
		out[count++] = vain;
	for (; k < nadded && added[k].pc < to; k++)
		out[count++] = added[k];
	for (; i < n; i++)
		if (rows[i].pc >= to)
			out[count++] = rows[i];
	return count;
}
