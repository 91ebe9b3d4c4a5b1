/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The entries of .eh_frame and .debug_frame: the code that they describe, and their instructions.
 * Linux Standard Base, chapter "Exception Frames"; DWARF 5, section 6.4.
 */
#ifndef QUARTZ_SYMBOLIZER_EH_FRAME_H
#define QUARTZ_SYMBOLIZER_EH_FRAME_H

#include "symbolizer/elf/elf_file.h"
#include "symbolizer/util/byte_reader.h"

#define FRAME_MAX_SIZE (48U << 20) /* most bytes of a section */

enum frame_kind {
	FRAME_EH,
	FRAME_DEBUG,
};

struct eh_frame_section {
	enum frame_kind kind;
	const uint8_t *bytes; /* of the file */
	size_t size;
	uint64_t vaddr;	 /* of bytes[0] */
	uint64_t data;	 /* base of data-relative addresses; 0: none */
	bool until_zero; /* the size is unknown; an entry with length 0 ends it */
};

/* An entry whose kind and CIE were read, but not its contents. */
struct eh_frame_entry {
	size_t at, next; /* offsets of this entry and of the next one */
	bool is_cie;
	size_t cie; /* of an FDE: the offset of its CIE */
	struct byte_reader body;
};

/* What the FDEs of this CIE have in common. */
struct eh_frame_cie {
	uint64_t code_factor;
	int64_t data_factor;
	uint64_t return_address; /* DWARF number of the return address */
	uint8_t encoding;	 /* of addresses, DW_EH_PE_* */
	bool augmented;		 /* FDEs have augmentation data */
	struct byte_reader instructions;
};

struct eh_frame_fde {
	uint64_t start, end;
	struct byte_reader instructions;
};

/*
 * Finds the section, and decompresses it if need be. -ENODATA: there is none, or it is empty;
 * -E2BIG: above FRAME_MAX_SIZE; -ENOEXEC: it cannot be read; -ENOMEM.
 */
int eh_frame__find(const struct elf_file *f, enum frame_kind kind, struct eh_frame_section *s);

/*
 * Reads the entry at the offset, or after terminators there. False: the section ends, or is invalid
 * from here on.
 */
bool eh_frame__entry(const struct eh_frame_section *s, size_t at, struct eh_frame_entry *entry);

/* Reads the CIE at the offset. False: there is none, or it has an unknown form. */
bool eh_frame__cie(const struct eh_frame_section *s, size_t at, struct eh_frame_cie *cie);

/* Reads an FDE. False: it describes no code, or has an unknown form. */
bool eh_frame__fde(const struct eh_frame_section *s, const struct eh_frame_entry *entry,
		   const struct eh_frame_cie *cie, struct eh_frame_fde *fde);

#endif
