/* SPDX-License-Identifier: GPL-2.0-only */
/* A module: an ELF file or a perf map, parsed once, that can be asked for names. */
#ifndef QUARTZ_SYMBOLIZER_MODULE_H
#define QUARTZ_SYMBOLIZER_MODULE_H

#include <elfutils/libdw.h>

#include "symbolizer/elf/elf_file.h"
#include "symbolizer/util/name.h"
#include "include/quartz/symbolizer.h"
#include "symbolizer/util/address_table.h"

#define MODULE_MAX_FRAMES 64

struct module;

/* One procedure of an answer, innermost first. */
struct module_frame {
	struct name name;
	struct name file;      /* of the declaration */
	struct name line_file; /* of the line */
	uint32_t decl_line, line;
};

struct module_answer {
	uint64_t start;
	uint32_t flags;		     /* enum answer_flags */
	uint32_t nframes;	     /* at most MODULE_MAX_FRAMES */
	struct module_frame *frames; /* memory of the caller */
};

/* Descriptors; all but fd may be -1. */
struct module_files {
	int fd, debug; /* the separate debug file */
	int shared;    /* with entries shared by debug files, see module__shared() */
};

/*
 * Parses a module. Takes ownership of the descriptors, also on failure. label: base name of the
 * file. NULL with errno: ENOEXEC, EFBIG, ENOMEM.
 */
struct module *module__load(uint32_t kind, uint32_t flags, const struct module_files *files,
			    const char *label);
void module__free(struct module *m);

/*
 * The name of the file with shared entries, as dwz -m writes it; "": none, or no lines were wanted.
 */
const char *module__shared(const struct module *m);

/*
 * The name of its debug file in .gnu_debuglink, without directories; "": none, or a fitting debug
 * file was given.
 */
const char *module__link(const struct module *m);

/*
 * Whether its procedures, and what is inlined into them, are in other files (-gsplit-dwarf). False
 * if no lines were wanted.
 */
bool module__is_split(const struct module *m);

/* See lines__lack(). The address is in the unit of the module's kind. */
bool module__lacks(struct module *m, uint64_t address, struct name *file);

/* See lines__complete(). Takes the descriptor. */
int module__complete(struct module *m, int fd);

/* The ELF file; NULL: it is a perf map. */
const struct elf_file *module__file(const struct module *m);

/* The procedure at a virtual address, or NULL. */
const struct procedure *module__procedure(const struct module *m, uint64_t vaddr);

/*
 * Finds the procedures at an address, in the unit of the module's kind. answer->frames has room for
 * MODULE_MAX_FRAMES.
 */
void module__resolve(struct module *m, uint64_t address, struct module_answer *answer);

/* Writes the name of a procedure as in answers. */
void module__name(const struct module *m, const struct procedure *p, struct name *name);

/* The variable at an address, of an ELF module. */
struct module_variable {
	int64_t low, high; /* begin and end of the module, relative to the code */
	bool found;
	struct name name;
};

/*
 * Names the variable `distance` bytes from the code with this file offset. beyond: see
 * data_symbols__name(). The first call reads the tables; if the module was loaded without lines, it
 * reads DWARF from fd, which it takes ownership of. 0; -ENOEXEC: no ELF module, or no such code;
 * -ENOMEM, -EFBIG.
 */
int module__variable(struct module *m, int fd, uint64_t code, int64_t distance, uint32_t beyond,
		     struct module_variable *out);

/* The number of procedures. */
size_t module__size(const struct module *m);

#endif
