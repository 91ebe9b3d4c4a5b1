/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An ELF file opened for reading. Its sizes and offsets were compared with the file size.
 *
 * Files belong to the measured programs: they may be truncated, sparse or rewritten at any time.
 * They are read, never mapped, because reading the mapping of a truncated file causes SIGBUS.
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
	bool has_sections; /* false also where their headers make no sense, as the kernel and the loader need none */
	uint64_t frame_hdr; /* file offset of .eh_frame_hdr, 0 when there is none */
	size_t nsegments, ncode;
	struct elf_segment *segments;
	struct elf_code *code; /* by address */
	size_t build_id_size;
	uint8_t build_id[ELF_FILE_BUILD_ID_MAX];
};

/*
 * Opens a 64-bit little-endian ELF of x86-64 or aarch64. Takes ownership of fd, also on failure.
 * NULL with errno: ENOTSUP one of 32 bits, ENOEXEC not such a file or contradictory, EFBIG beyond our limits, ENOMEM.
 */
struct elf_file *elf_file__open(int fd);

/* Whether a file that another reader is to open is one, with sections that make sense; fd stays open. */
bool elf_file__is_sound(int fd);

/*
 * Closes the descriptor. Data that was read remains; the rest cannot be read any more.
 */
void elf_file__detach(struct elf_file *f);

/* Accepts NULL and half-built files. */
void elf_file__close(struct elf_file *f);

/* File offset to virtual address and back. false when no segment has it. */
bool elf_file__vaddr(const struct elf_file *f, uint64_t offset, uint64_t *vaddr);
bool elf_file__offset(const struct elf_file *f, uint64_t vaddr, uint64_t *offset);

/* The lowest virtual address of the file in memory, and the end of the highest. */
void elf_file__extent(const struct elf_file *f, uint64_t *low, uint64_t *high);

/* The code range that holds vaddr, or NULL. */
const struct elf_code *elf_file__code(const struct elf_file *f, uint64_t vaddr);

/*
 * The bytes [vaddr, vaddr + size), or the first *got of them if the file has fewer.
 * Owned by f. NULL when there are none.
 */
const uint8_t *elf_file__bytes(const struct elf_file *f, uint64_t vaddr, size_t size, size_t *got);

/*
 * Reads the bytes [vaddr, vaddr + size) into the caller's memory; they are not cached. false: the file does not have
 * them all, or has been detached.
 */
bool elf_file__read(const struct elf_file *f, uint64_t vaddr, void *to, size_t size);

/* The next section, of NULL the first one; NULL: there is none. */
Elf_Scn *elf_file__next_section(const struct elf_file *f, Elf_Scn *section);

/* The first section with contents of that type, or of that name. NULL when there is none. */
Elf_Scn *elf_file__section_by_type(const struct elf_file *f, uint32_t type);
Elf_Scn *elf_file__section_by_name(const struct elf_file *f, const char *name);

#endif
