/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/unit/symbolizer/cfi_bytes.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/cfi/eh_frame.h"
#include "include/quartz/symbolizer.h"
#include "tests/unit/symbolizer/cfi_image.h"

#define BYTES_MAX (FRAME_MAX_SIZE + (1U << 20))
#define CODE	  CFI_IMAGE_CODE

/* Assertions of Check would be system calls, too slow for what is done a million times. */
void cfi_put(struct cfi_bytes *b, uint64_t value, size_t size)
{
	if (b->n + size > BYTES_MAX)
		abort();
	memcpy(b->at + b->n, &value, size);
	b->n += size;
}

struct cfi_bytes cfi_new_bytes(void)
{
	struct cfi_bytes b = {.at = malloc(BYTES_MAX)};

	if (!b.at)
		abort();
	return b;
}

void cfi_begin_entry(struct cfi_bytes *b)
{
	b->length_at = b->n;
	cfi_put(b, 0, 4);
}

void cfi_end_entry(struct cfi_bytes *b)
{
	uint32_t length = (uint32_t)(b->n - b->length_at - 4);

	memcpy(b->at + b->length_at, &length, sizeof(length));
}

void cfi_put_rules(struct cfi_bytes *b)
{
	cfi_put(b, DW_CFA_def_cfa, 1);
	cfi_put(b, 7, 1);
	cfi_put(b, 8, 1);
	cfi_put(b, DW_CFA_offset | 16, 1);
	cfi_put(b, 1, 1);
}

void cfi_begin_cie(struct cfi_bytes *b, uint8_t version, const char *augmentation)
{
	b->cie_at = b->n;
	cfi_begin_entry(b);
	cfi_put(b, 0, 4);
	cfi_put(b, version, 1);
	for (size_t i = 0; i <= strlen(augmentation); i++)
		cfi_put(b, (uint8_t)augmentation[i], 1);
	cfi_put(b, 1, 1);    /* code factor */
	cfi_put(b, 0x78, 1); /* data factor -8 */
	cfi_put(b, 16, 1);   /* return address */
}

void cfi_put_cie(struct cfi_bytes *b, uint8_t encoding)
{
	cfi_begin_cie(b, 1, "zR");
	cfi_put(b, 1, 1);
	cfi_put(b, encoding, 1);
	cfi_put_rules(b);
	cfi_end_entry(b);
}

void cfi_begin_fde(struct cfi_bytes *b, uint64_t start, uint32_t size)
{
	cfi_begin_entry(b);
	cfi_put(b, b->n - b->cie_at, 4);
	cfi_put(b, start - CFI_IMAGE_FRAMES - b->n, 4);
	cfi_put(b, size, 4);
	cfi_put(b, 0, 1);
}

void cfi_put_fde(struct cfi_bytes *b, uint64_t start, uint32_t size, uint8_t words)
{
	cfi_begin_fde(b, start, size);
	cfi_put(b, DW_CFA_def_cfa_offset, 1);
	cfi_put(b, (uint8_t)(8 * words), 1);
	cfi_end_entry(b);
}

/* ---- floods ---- */

static void flood_rows(struct cfi_bytes *b)
{
	cfi_put_cie(b, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
	cfi_begin_fde(b, CODE, 0x7fffffff);
	for (uint32_t i = 0; i <= TABLE_MAX_ROWS; i++) {
		cfi_put(b, DW_CFA_advance_loc | 1, 1);
		cfi_put(b, DW_CFA_def_cfa_offset, 1);
		cfi_put(b, i % 2 ? 16 : 24, 1);
	}
	cfi_end_entry(b);
}

static void flood_entries(struct cfi_bytes *b)
{
	cfi_put_cie(b, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
	for (uint32_t i = 0; b->n < FRAME_MAX_SIZE - 32; i++) {
		cfi_begin_fde(b, CODE + 16 * i, 1);
		cfi_end_entry(b);
	}
}

/* Each of many entries has the one of two long CIEs that the one before it has not. */
static void flood_instructions(struct cfi_bytes *b)
{
	size_t cies[2];

	for (int i = 0; i < 2; i++) {
		cfi_begin_cie(b, 1, "zR");
		cfi_put(b, 1, 1);
		cfi_put(b, DW_EH_PE_pcrel | DW_EH_PE_sdata4, 1);
		for (int k = 0; k < 100000; k++)
			cfi_put(b, DW_CFA_nop, 1);
		cfi_end_entry(b);
		cies[i] = b->cie_at;
	}
	for (uint32_t i = 0; i < 100000; i++) {
		b->cie_at = cies[i % 2];
		cfi_put_fde(b, CODE + 16 * i, 8, 1);
	}
}

static void flood_bytes(struct cfi_bytes *b)
{
	cfi_put_cie(b, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
	cfi_put_fde(b, CODE, 8, 1);
	memset(b->at + b->n, 0, FRAME_MAX_SIZE);
	b->n = FRAME_MAX_SIZE + 1;
}

const struct cfi_flood cfi_floods[CFI_FLOODS] = {
	{"rows", flood_rows},
	{"entries", flood_entries},
	{"instructions", flood_instructions},
	{"bytes", flood_bytes},
};
