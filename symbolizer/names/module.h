/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A module: an ELF file or a perf map, parsed once, ready to be asked for names.
 */
#ifndef QUARTZ_SYMBOLIZER_MODULE_H
#define QUARTZ_SYMBOLIZER_MODULE_H

#include <elfutils/libdw.h>

#include "symbolizer/elf/elf_file.h"
#include "symbolizer/util/name.h"
#include "include/quartz/symbolizer.h"
#include "symbolizer/util/address_table.h"

#define MODULE_MAX_FRAMES 64

struct module;

/* One procedure of an answer; the outermost one comes last. */
struct module_frame {
	struct name name;
	struct name file;      /* of the declaration */
	struct name line_file; /* of the line */
	uint32_t decl_line, line;
};

struct module_answer {
	uint64_t start;
	uint32_t flags;		     /* enum answer_flags */
	uint32_t nframes;	     /* up to MODULE_MAX_FRAMES */
	struct module_frame *frames; /* of the caller */
};

/* Descriptors; all but the first may be -1. */
struct module_files {
	int fd, debug; /* the separate debug file */
	int shared;    /* that debug files share entries in, see module__shared() */
};

/*
 * Parses. Takes ownership of the descriptors, also on failure. label is the file's base name. NULL with errno: ENOEXEC,
 * EFBIG, ENOMEM.
 */
struct module *module__load(uint32_t kind, uint32_t flags, const struct module_files *files,
			    const char *label);
void module__free(struct module *m);

/* The name of the file that its lines share entries with, as dwz -m has written it; "": none, or no lines were wanted. */
const char *module__shared(const struct module *m);

/* The name of its debug file by its .gnu_debuglink, without directories; "": it has none, or a debug file was given that fits. */
const char *module__link(const struct module *m);

/* Whether its procedures, and what they inline, are in files of their own (-gsplit-dwarf); false where no lines were wanted. */
bool module__is_split(const struct module *m);

/* See lines.h. The address is in the unit of the module's kind. */
bool module__lacks(struct module *m, uint64_t address, struct name *file);

/* See lines__complete(). Takes the descriptor. */
int module__complete(struct module *m, int fd);

/* The ELF file; NULL when it is none. */
const struct elf_file *module__file(const struct module *m);

/* The procedure at a virtual address, or NULL. */
const struct procedure *module__procedure(const struct module *m, uint64_t vaddr);

/* Answers for an address in the unit of the module's kind. answer->frames has MODULE_MAX_FRAMES. */
void module__resolve(struct module *m, uint64_t address, struct module_answer *answer);

/* The name of a procedure as answers have it. */
void module__name(const struct module *m, const struct procedure *p, struct name *name);

/* What is at an address of memory that holds variables of an ELF module. */
struct module_variable {
	int64_t low, high; /* where the module begins and ends, as distances from the code */
	bool found;
	struct name name;
};

/*
 * Names the variable `distance` bytes from the place in the code that has this file offset. beyond:
 * see data_symbols__name. The first call reads the tables; DWARF, where the module was not loaded with
 * lines, from fd, which it takes ownership of. 0, -ENOEXEC: no ELF module, or no such code, -ENOMEM,
 * -EFBIG.
 */
int module__variable(struct module *m, int fd, uint64_t code, int64_t distance, uint32_t beyond,
		     struct module_variable *out);

/* The number of procedures. */
size_t module__size(const struct module *m);

#endif
