/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Call frame information made byte by byte, true or false. Aborts when there is no memory, or when
 * there are more bytes than a section may have.
 */
#ifndef QUARTZ_TESTS_CFI_BYTES_H
#define QUARTZ_TESTS_CFI_BYTES_H

#include <stddef.h>
#include <stdint.h>

struct cfi_bytes {
	uint8_t *at;
	size_t n;
	size_t length_at; /* of the entry that was begun */
	size_t cie_at;	  /* the last one */
};

/* None yet; the caller frees `at`. */
struct cfi_bytes cfi_new_bytes(void);

/* The lowest `size` bytes of the value. */
void cfi_put(struct cfi_bytes *b, uint64_t value, size_t size);

/* An entry with its length, which the end fills in. */
void cfi_begin_entry(struct cfi_bytes *b);
void cfi_end_entry(struct cfi_bytes *b);

/* A CIE with code factor 1, data factor -8 and return address 16, up to its augmentation's data. */
void cfi_begin_cie(struct cfi_bytes *b, uint8_t version, const char *augmentation);

/* A whole one: FDEs have addresses in this encoding; CFA = rsp + 8, return address at CFA - 8. */
void cfi_put_cie(struct cfi_bytes *b, uint8_t encoding);

/* CFA = rsp + 8, return address at CFA - 8. */
void cfi_put_rules(struct cfi_bytes *b);

/* An FDE of the last CIE, which has pcrel|sdata4, up to its instructions. */
void cfi_begin_fde(struct cfi_bytes *b, uint64_t start, uint32_t size);

/* A whole one, whose CFA is at rsp + 8 * words. */
void cfi_put_fde(struct cfi_bytes *b, uint64_t start, uint32_t size, uint8_t words);

/* Sections of a size that one may have, with more than a table may have. */
#define CFI_FLOODS 4
extern const struct cfi_flood {
	const char *name;
	void (*put)(struct cfi_bytes *);
} cfi_floods[CFI_FLOODS];

#endif
