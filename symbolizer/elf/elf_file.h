/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An ELF file, open for reading. Its sizes and offsets were compared with the size of the file. The
 * files belong to measured programs, so they may be truncated, sparse or rewritten at any time.
 * They are read and never mapped, because reading a mapping of a truncated file raises SIGBUS.
 */
#ifndef QUARTZ_SYMBOLIZER_ELF_FILE_H
#define QUARTZ_SYMBOLIZER_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <libelf.h>

#define ELF_FILE_MAX_SIZE     (64ULL << 30)
#define ELF_FILE_MAX_SECTIONS 65535
#define ELF_FILE_BUILD_ID_MAX 64 /* bytes */

/* A PT_LOAD segment. */
struct elf_segment {
	uint64_t vaddr, offset, filesz, memsz;
	bool executable;
};

/* A range of virtual addresses that holds code: a section, or a segment without sections. */
struct elf_code {
	uint64_t start, end;
};

struct elf_file {
	int fd;
	Elf *elf;
	uint16_t type, machine;
	uint64_t entry;
	bool is_program; /* a process begins at entry */
	bool has_sections; /* false also if their headers are invalid, which the kernel and the loader do not need */
	uint64_t frame_hdr; /* file offset of .eh_frame_hdr; 0: none */
	size_t nsegments, ncode;
	struct elf_segment *segments;
	struct elf_code *code; /* sorted by address */
	size_t build_id_size;
	uint8_t build_id[ELF_FILE_BUILD_ID_MAX];
};

/*
 * Opens a 64-bit little-endian ELF file for x86-64 or aarch64. Takes ownership of fd, also on
 * failure. NULL with errno: ENOTSUP: 32 bits; ENOEXEC: no such file, or an invalid one; EFBIG:
 * beyond the limits; ENOMEM.
 */
struct elf_file *elf_file__open(int fd);

/* Whether fd is such a file with valid sections, which another reader may open; fd stays open. */
bool elf_file__is_sound(int fd);

/* Closes the descriptor. Data that was read stays; nothing more can be read. */
void elf_file__detach(struct elf_file *f);

/* Accepts NULL and half-built files. */
void elf_file__close(struct elf_file *f);

/* Converts a file offset to a virtual address, and back. False: no segment has it. */
bool elf_file__vaddr(const struct elf_file *f, uint64_t offset, uint64_t *vaddr);
bool elf_file__offset(const struct elf_file *f, uint64_t vaddr, uint64_t *offset);

/* The lowest virtual address of the file in memory, and the end of the highest segment. */
void elf_file__extent(const struct elf_file *f, uint64_t *low, uint64_t *high);

/* The range of code that contains vaddr, or NULL. */
const struct elf_code *elf_file__code(const struct elf_file *f, uint64_t vaddr);

/*
 * The bytes [vaddr, vaddr + size), or the first *got of them if the file has fewer. Owned by f.
 * NULL: there are none.
 */
const uint8_t *elf_file__bytes(const struct elf_file *f, uint64_t vaddr, size_t size, size_t *got);

/*
 * Reads the bytes [vaddr, vaddr + size) into memory of the caller, without caching. False: the file
 * does not have all of them, or is detached.
 */
bool elf_file__read(const struct elf_file *f, uint64_t vaddr, void *to, size_t size);

/* The section after this one, or the first one for NULL; NULL: there is none. */
Elf_Scn *elf_file__next_section(const struct elf_file *f, Elf_Scn *section);

/* The first section with contents and this type, or this name. NULL: there is none. */
Elf_Scn *elf_file__section_by_type(const struct elf_file *f, uint32_t type);
Elf_Scn *elf_file__section_by_name(const struct elf_file *f, const char *name);

#endif
