/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbolizer/cfi/fde.h"

#include <errno.h>
#include <stdlib.h>
#include <dwarf.h>

#include "symbolizer/cfi/eh_frame.h"
#include "symbolizer/util/sort.h"

#define FDE_MAX (4U << 20)

static bool is_outermost(const struct eh_frame_cie *cie, struct byte_reader instructions)
{
	uint8_t rule[2];

	return byte_reader__bytes(&instructions, rule, sizeof(rule)) &&
	       rule[0] == DW_CFA_undefined && rule[1] == cie->return_address;
}

static int append(struct fde **fdes, size_t *n, const struct fde *fde)
{
	struct fde *bigger;

	if ((*n & (*n - 1)) == 0) { /* the array is full at each power of two */
		bigger = reallocarray(*fdes, *n ? *n * 2 : 1, sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		*fdes = bigger;
	}
	(*fdes)[(*n)++] = *fde;
	return 0;
}

int fde__read_all(const struct elf_file *f, struct fde **fdes, size_t *n)
{
	struct eh_frame_cie cie = {0};
	struct eh_frame_entry entry;
	struct eh_frame_section s;
	size_t cie_at = SIZE_MAX, count = 0;
	struct fde *all = NULL;
	bool usable = false;

	*fdes = NULL;
	*n = 0;
	if (eh_frame__find(f, FRAME_EH, &s))
		return 0;
	for (size_t at = 0; count < FDE_MAX && eh_frame__entry(&s, at, &entry); at = entry.next) {
		struct eh_frame_fde raw;
		struct fde fde;

		if (entry.is_cie)
			continue;
		if (entry.cie != cie_at)
			usable = eh_frame__cie(&s, entry.cie, &cie);
		cie_at = entry.cie;
		if (!usable || !eh_frame__fde(&s, &entry, &cie, &raw))
			continue;
		fde = (struct fde) {raw.start, raw.end, is_outermost(&cie, raw.instructions)};
		if (append(&all, &count, &fde)) {
			free(all);
			return -ENOMEM;
		}
	}
	if (sort__by_number(all, count, sizeof(*all))) {
		free(all);
		return -ENOMEM;
	}
	*fdes = all;
	*n = count;
	return 0;
}

size_t fde__up_to(const struct fde *fdes, size_t n, uint64_t address)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (fdes[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct fde *fde__at(const struct fde *fdes, size_t n, uint64_t start)
{
	size_t i = fde__up_to(fdes, n, start);

	return i > 0 && fdes[i - 1].start == start ? &fdes[i - 1] : NULL;
}
