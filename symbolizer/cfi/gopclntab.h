/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of functions in Go programs (.gopclntab; runtime/symtab.go), which they need for
 * tracebacks and keep when they are stripped: the addresses and the name of each function, and the
 * distance of the stack pointer from the caller's frame at each address. x86-64, Go 1.16 and newer.
 */
#ifndef QUARTZ_SYMBOLIZER_GOPCLNTAB_H
#define QUARTZ_SYMBOLIZER_GOPCLNTAB_H

#include <quartz/unwind.h>

#include "symbolizer/elf/elf_file.h"
#include "symbolizer/util/byte_reader.h"

#define GO_MAX_SIZE (48U << 20) /* most bytes of the table */

struct gopclntab_functions {
	const struct elf_file *file;
	const uint8_t *bytes; /* of the file */
	size_t size;
	uint32_t n;
	uint64_t text;		/* base of entries */
	bool wide;		/* Go 1.16 and 1.17: addresses have 8 bytes */
	uint64_t names, deltas; /* offsets */
	uint64_t
		index; /* offset of the index: entry and offset of each function, sorted by entry */
};

/* How to unwind from a function. */
enum go_kind {
	GO_PLAIN, /* by the stack pointer */
	GO_FRAMED, /* it changes the stack pointer, but has a frame pointer whenever it has a frame */
	GO_OUTERMOST, /* it begins a stack, or switches stacks */
	GO_GOROUTINE, /* runtime.goexit: a goroutine's stack begins with it */
	GO_SWITCH,    /* runtime.systemstack: it switches to the thread's own stack and back */
	GO_SIGNAL,    /* what signal handlers return to */
};

struct gopclntab_function {
	uint64_t start, end; /* end: start of the next function */
	const char *name;    /* of the file */
	enum go_kind kind;
	int32_t slot; /* of GO_SWITCH: offset of the goroutine's address from the thread pointer */
	uint32_t creator; /* of runtime.printcreatedby: see go_switch__creator(); 0: it is none */
	struct byte_reader deltas; /* for gopclntab__next */
};

/* The distance of the stack pointer from the return address, up to an address. */
struct gopclntab_delta {
	uint64_t end;
	int64_t bytes;
};

/*
 * Finds the table. -ENODATA: there is none, or its version is unknown; -E2BIG: above GO_MAX_SIZE;
 * -ENOEXEC: it cannot be read. The result is valid as long as the file is open.
 */
int gopclntab__find(const struct elf_file *f, struct gopclntab_functions *functions);

/* Reads function i < n. False: it is invalid. */
bool gopclntab__function(const struct gopclntab_functions *functions, uint32_t i,
			 struct gopclntab_function *fn);

/*
 * Reads the next range of addresses of the function. Start with *delta = {fn->start, -1}. False:
 * there is no more, or the data are invalid.
 */
bool gopclntab__next(struct gopclntab_function *fn, struct gopclntab_delta *delta);

#endif
