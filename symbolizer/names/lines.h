/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Source files, lines and inlined procedures, from DWARF.
 */
#ifndef QUARTZ_SYMBOLIZER_LINES_H
#define QUARTZ_SYMBOLIZER_LINES_H

#include <elfutils/libdw.h>

#include "symbolizer/names/module.h"

struct lines;

/* NULL: the file has no DWARF, or none that can be read. file must outlive the result. */
struct lines *lines__new(const struct elf_file *file);
void lines__free(struct lines *l);

/* Whether units have their procedures in other files (.dwo). */
bool lines__are_split(const struct lines *l);

/*
 * Whether the unit at an address needs such a file that was not asked for yet; writes the name of
 * the file.
 */
bool lines__lack(struct lines *l, uint64_t vaddr, struct name *file);

/*
 * Takes the file that was asked for last; -1: it does not exist. 0; -ESTALE: of another build;
 * -EFBIG: too large; or -ENOEXEC. Works only in the process with split_file__open().
 */
int lines__complete(struct lines *l, int fd);

/* The name of the file with shared entries (.gnu_debugaltlink), owned by l; NULL: none. */
const char *lines__shared(const struct lines *l);

/* Uses entries of that file if it is of the same build; it must outlive l. */
void lines__share(struct lines *l, const struct elf_file *file);

/* Owned by l. */
Dwarf *lines__dwarf(const struct lines *l);

/*
 * Writes the procedures that are inlined at the address, innermost first, and then the procedure
 * that they are inlined in, without its name, which the symbol table knows better. Without
 * `inlines`, only the latter. start: of the procedure; the line there is its declaration if there
 * is no other. Returns the number of frames; 0: nothing is known of the address.
 */
uint32_t lines__resolve(struct lines *l, uint64_t vaddr, uint64_t start, bool inlines,
			struct module_frame *frames, uint32_t max);

#endif
