/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QUARTZ_TESTS_SYMBOLIZER_UTIL_H
#define QUARTZ_TESTS_SYMBOLIZER_UTIL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/symbolizer/symbolizer.h"
#include "daemon/unwind/stack_copies.h"

#define LIBC "/lib/x86_64-linux-gnu/libc.so.6"

/* A symbolizer with the program of this build; lines and inlines as given. Aborts the test. */
struct symbolizer *util__symbolizer(bool lines, bool inlines);

/* The path of a fixture of this build, in a static buffer. */
const char *util__fixture(const char *name);

/* Opens and adds an ELF; debug may be NULL. Gives its number. */
int util__add(struct symbolizer *s, const char *path, const char *debug);

/* A memfd with these bytes. */
int util__memfd(const void *bytes, size_t size);

/* A symbol as nm(1) sees it. */
struct util_symbol {
	uint64_t vaddr, offset, size;
	char type;
	char name[128];
};

/* The sized symbols of code in a file, by address; dynamic: those of .dynsym. The caller frees. */
struct util_symbol *util__nm(const char *path, bool dynamic, size_t *n);
const struct util_symbol *util__find(const struct util_symbol *all, size_t n, const char *name);

/* The child process of this one that runs quartz-symbolizer. */
pid_t util__child(void);

/* The most memory that it had, in KiB; 0 with sanitizers, whose own memory would be in it. */
long util__child_peak_kb(void);

/*
 * Writes the executable mappings of a process, by address, adding a module for each file. Gives
 * their number; modules[] and regions[] have room for max.
 */
size_t util__regions(struct symbolizer *s, pid_t pid, struct stack_copies_region *regions,
		     size_t max);

/* The end of the mapping that has the address, 0 when there is none. */
uint64_t util__mapping_end(pid_t pid, uint64_t address);

#endif
