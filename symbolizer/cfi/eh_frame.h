/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The entries of .eh_frame and .debug_frame: which code they describe, and where the instructions
 * stand that do it. Linux Standard Base, chapter "Exception Frames"; DWARF 5, section 6.4.
 */
#ifndef QUARTZ_SYMBOLIZER_EH_FRAME_H
#define QUARTZ_SYMBOLIZER_EH_FRAME_H

#include "symbolizer/elf/elf_file.h"
#include "symbolizer/util/byte_reader.h"

#define FRAME_MAX_SIZE (48U << 20) /* bytes of a section */

enum frame_kind {
	FRAME_EH,
	FRAME_DEBUG,
};

struct eh_frame_section {
	enum frame_kind kind;
	const uint8_t *bytes; /* of the file */
	size_t size;
	uint64_t vaddr;	 /* of bytes[0] */
	uint64_t data;	 /* what data-relative addresses count from, 0 when there are none */
	bool until_zero; /* its size is not known, an entry without length ends it */
};

/* An entry with its kind and its owner read, but not its contents. */
struct eh_frame_entry {
	size_t at, next; /* offsets: its own, and that of the entry behind it */
	bool is_cie;
	size_t cie; /* of an FDE: the offset of its CIE */
	struct byte_reader body;
};

/* What the entries that name it have in common. */
struct eh_frame_cie {
	uint64_t code_factor;
	int64_t data_factor;
	uint64_t return_address; /* the register that stands for it */
	uint8_t encoding;	 /* of addresses: DW_EH_PE_ */
	bool augmented;		 /* FDEs carry data of their own */
	struct byte_reader instructions;
};

struct eh_frame_fde {
	uint64_t start, end;
	struct byte_reader instructions;
};

/*
 * Finds the section, decompresses it if need be. -ENODATA: there is none or it is empty; -E2BIG:
 * above FRAME_MAX_SIZE; -ENOEXEC: it cannot be read; -ENOMEM.
 */
int eh_frame__find(const struct elf_file *f, enum frame_kind kind, struct eh_frame_section *s);

/*
 * Reads the entry at the offset, or behind terminators that stand there. false at the end of the
 * section, and when it goes on senselessly.
 */
bool eh_frame__entry(const struct eh_frame_section *s, size_t at, struct eh_frame_entry *entry);

/* Reads the CIE at the offset. false when there is none that could be understood. */
bool eh_frame__cie(const struct eh_frame_section *s, size_t at, struct eh_frame_cie *cie);

/* Reads an FDE. false when it describes nothing or cannot be understood. */
bool eh_frame__fde(const struct eh_frame_section *s, const struct eh_frame_entry *entry,
		   const struct eh_frame_cie *cie, struct eh_frame_fde *fde);

#endif
