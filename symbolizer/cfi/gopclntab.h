/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of functions that Go programs carry, also stripped ones, for their own tracebacks
 * (.gopclntab; runtime/symtab.go): where each function is, what it is called, and how far the stack
 * pointer is from the caller's frame at each of its addresses. x86-64, from Go 1.16 on.
 */
#ifndef QUARTZ_SYMBOLIZER_GOPCLNTAB_H
#define QUARTZ_SYMBOLIZER_GOPCLNTAB_H

#include <quartz/unwind.h>

#include "symbolizer/elf/elf_file.h"
#include "symbolizer/util/byte_reader.h"

#define GO_MAX_SIZE (48U << 20) /* bytes of the table */

struct gopclntab_functions {
	const struct elf_file *file;
	const uint8_t *bytes; /* of the file */
	size_t size;
	uint32_t n;
	uint64_t text;		/* what entries count from */
	bool wide;		/* Go 1.16 and 1.17: addresses have 8 bytes */
	uint64_t names, deltas; /* offsets */
	uint64_t index;		/* offset; there are entry and offset of each function, by entry */
};

/* How the frames of a function are left. */
enum go_kind {
	GO_PLAIN, /* by the stack pointer */
	GO_FRAMED, /* it moves the stack pointer, but keeps a frame pointer as soon as it has a frame */
	GO_OUTERMOST, /* it begins a stack, or goes over from one to another */
	GO_GOROUTINE, /* runtime.goexit: a goroutine's stack begins with it */
	GO_SWITCH, /* runtime.systemstack: it goes over to the thread's own stack and comes back */
	GO_SIGNAL, /* what signal handlers return to */
};

struct gopclntab_function {
	uint64_t start, end; /* end: where the next one starts */
	const char *name;    /* of the file */
	enum go_kind kind;
	int32_t slot; /* of GO_SWITCH: where from the thread pointer the goroutine's address is */
	uint32_t creator; /* of runtime.printcreatedby: see go_switch__creator(); 0: it is none */
	struct byte_reader deltas; /* for gopclntab__next */
};

/* How far the stack pointer is below the return address, up to an address. */
struct gopclntab_delta {
	uint64_t end;
	int64_t bytes;
};

/*
 * Finds the table. -ENODATA: there is none, or of an unknown version; -E2BIG: above GO_MAX_SIZE;
 * -ENOEXEC: it cannot be read. It is used as long as the file is open.
 */
int gopclntab__find(const struct elf_file *f, struct gopclntab_functions *functions);

/* Reads function i < n. false when it makes no sense. */
bool gopclntab__function(const struct gopclntab_functions *functions, uint32_t i,
			 struct gopclntab_function *fn);

/*
 * Goes to the next range of addresses of the function. To begin with, *delta is {fn->start, -1}.
 * false at the end, and when it goes on senselessly.
 */
bool gopclntab__next(struct gopclntab_function *fn, struct gopclntab_delta *delta);

#endif
