/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ELF files of nothing but call frame information, made of given bytes.
 */
#ifndef QUARTZ_TESTS_CFI_IMAGE_H
#define QUARTZ_TESTS_CFI_IMAGE_H

#include <stddef.h>

/*
 * Where an image has its parts. Almost all addresses are said to be code, so that entries from
 * elsewhere describe something; it is not in the file.
 */
#define CFI_IMAGE_CODE	    0x1000UL
#define CFI_IMAGE_CODE_SIZE 0xf0000000UL
#define CFI_IMAGE_FRAMES    0x10000UL
#define CFI_IMAGE_GOT	    0x800UL

/* A memfd with an image whose section of that name, .eh_frame or .debug_frame, has these bytes. */
int cfi_image__make(const char *section, const void *bytes, size_t size);

#endif
