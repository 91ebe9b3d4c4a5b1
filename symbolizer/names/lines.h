/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Source files, lines and inlined procedures, from DWARF.
 */
#ifndef QUARTZ_SYMBOLIZER_LINES_H
#define QUARTZ_SYMBOLIZER_LINES_H

#include <elfutils/libdw.h>

#include "symbolizer/names/module.h"

struct lines;

/* NULL when the file has no DWARF or it cannot be read. file must outlive the result. */
struct lines *lines__new(const struct elf_file *file);
void lines__free(struct lines *l);

/* Whether units have their procedures in files of their own (.dwo). */
bool lines__are_split(const struct lines *l);

/* Whether the unit at an address has its procedures in such a file that was not asked for so far; writes the file's name. */
bool lines__lack(struct lines *l, uint64_t vaddr, struct name *file);

/*
 * Takes the file that was asked for last, -1: it is not there. 0, -ESTALE: of another build, -EFBIG: too large, or -ENOEXEC. In a
 * process without an open() of its own nothing comes of it.
 */
int lines__complete(struct lines *l, int fd);

/* The name of the file that it shares entries with (.gnu_debugaltlink), owned by l; NULL: none. */
const char *lines__shared(const struct lines *l);

/* Takes entries from that file, if it is of the same build; it must outlive l. */
void lines__share(struct lines *l, const struct elf_file *file);

/* Owned by l. */
Dwarf *lines__dwarf(const struct lines *l);

/*
 * Writes the procedures inlined at the address, innermost first, and then the one they are inlined
 * in, whose name is left empty: the symbol table knows it better. Without `inlines` only the
 * latter. start: where it begins; the line there is its declaration if there is no other. Gives the
 * number of frames, 0 when nothing is known of the address.
 */
uint32_t lines__resolve(struct lines *l, uint64_t vaddr, uint64_t start, bool inlines,
			struct module_frame *frames, uint32_t max);

#endif
