/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The daemon's side of the symbolizer: a child process without privileges that does all parsing of
 * ELF, DWARF and perf map files. quartzd opens, the child reads; quartzd never parses.
 *
 * The child is started on first use, gets files as descriptors, and is killed when an answer does
 * not come in time or is not well-formed. Then a new child is started, and modules are loaded again when needed. A module
 * during which the child ended is tried again, with longer pauses each time; one during which it was silent twice, or gave
 * an invalid answer, is not.
 *
 * One thread at a time; the child dies with the thread that started it. Functions give 0 or -errno;
 * the strings and arrays of an answer are owned by the symbolizer and valid until the next call on
 * it.
 */
#ifndef QUARTZ_DAEMON_SYMBOLIZER_H
#define QUARTZ_DAEMON_SYMBOLIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <quartz/symbolizer.h>
#include <quartz/unwind.h>

struct symbolizer;
struct table_cache;

struct symbolizer_options {
	bool lines;	     /* source file and line where there is DWARF */
	bool inlines;	     /* inlined procedures too (implies lines) */
	const char *program; /* path of quartz-symbolizer; NULL: the installed or the built one */
	struct table_cache
		*tables; /* borrowed: unwind tables of earlier runs; NULL: all are made */
};

enum symbolizer_kind {
	SYMBOLIZER_ELF,	     /* addresses are file offsets */
	SYMBOLIZER_VDSO,     /* addresses are offsets in the vDSO of the kernel that runs */
	SYMBOLIZER_PERF_MAP, /* addresses are virtual addresses */
};

/* One procedure at an address. Inlined ones come first, the one of the symbol table comes last. */
struct symbolizer_frame {
	const char *name; /* demangled; a stable made-up one when there is no symbol: see unnamed */
	const char *file; /* of the procedure's declaration, "" when unknown */
	const char *line_file; /* of the address, "" when unknown */
	uint32_t decl_line;    /* of the procedure, 0 when unknown */
	uint32_t line;	       /* of the address, 0 when unknown */
};

struct symbolizer_answer {
	uint64_t start; /* of the procedure, in the unit of the request; groups addresses */
	bool found;	/* false: nothing covers this address, frames is empty */
	bool unnamed;	/* the name was made from the module and the procedure's FDE range */
	bool outermost; /* libc begins a thread or process here: _start, clone, start_thread, … */
	uint32_t nframes;
	const struct symbolizer_frame *frames;
};

/* The path of quartz-symbolizer, the built or the installed one; to be freed. NULL without memory. */
char *symbolizer__program(void);

/* NULL with errno ENOMEM. Does not start the child yet. */
struct symbolizer *symbolizer__new(const struct symbolizer_options *opts);
void symbolizer__free(struct symbolizer *s);

/*
 * Starts the child and does not wait for it, unless the unwind table of a file (a descriptor, O_PATH suffices) is there from an
 * earlier run: those of its libraries will be, too. What goes wrong shows when it is asked.
 */
void symbolizer__start_ahead(struct symbolizer *s, int fd);

/*
 * Registers a module and gives its number (>= 0). Takes ownership of fd (a readable regular file),
 * and of debug_fd (its separate debug file found by build-id, or -1; the child compares the
 * build-ids), also on failure. Nothing is parsed before the first question. `path` is only for
 * made-up names. The descriptors stay open until the module is removed or refused, so that a new
 * child can be given them again. -ENOMEM, -ENOSPC.
 */
int symbolizer__add_module(struct symbolizer *s, enum symbolizer_kind kind, int fd, int debug_fd,
			   const char *path);

/* Parses if that was not done, and gives the lower-case hex build-id ("" when there is none). */
int symbolizer__build_id(struct symbolizer *s, int module, const char **build_id);

/*
 * Parses if that was not done, and gives the name of the file that its debug file shares entries with (dwz -m), as that has it:
 * "" when there is none, or no lines are wanted. Do not open what a program may name.
 */
int symbolizer__shared(struct symbolizer *s, int module, const char **name);

/*
 * The same for the name of its debug file that it has itself (.gnu_debuglink), without directories; "" also where it was given
 * one that fits.
 */
int symbolizer__link(struct symbolizer *s, int module, const char **name);

/*
 * Give a module that was added its debug file, or the file with shared entries, and take the descriptor; the child compares the
 * build-ids, or, of a module without one, the checksum. It is parsed anew when it is asked for.
 */
void symbolizer__describe(struct symbolizer *s, int module, int fd);
void symbolizer__share(struct symbolizer *s, int module, int fd);

/* Whether a module has parts in files of their own, see below; it is parsed if that was not done. false where no lines are wanted. */
bool symbolizer__is_split(struct symbolizer *s, int module);

/* A file in which a part of a module has its procedures (-gsplit-dwarf). */
struct symbolizer_split {
	const char *name; /* as the module has it; "": none is wanted */
	int error; /* of the one that was given: 0, -ESTALE: of another build, -EFBIG or -ENOEXEC */
};

/*
 * Tells which such file has what is inlined at one of n addresses, if none of it was told so far. fd: the one that was told last,
 * which is read now, -1: there is none. To be called until none is wanted. Do not open what a program may name. Errors as for
 * symbolizer__resolve.
 */
int symbolizer__complete(struct symbolizer *s, int module, int fd, const uint64_t *addresses,
			 size_t n, struct symbolizer_split *next);

/* Whether an error is temporary, so that a later request may succeed. */
bool symbolizer__is_passing(int err);

/* Whether a question about a module would be asked now, or answered at once with an error that stays. */
bool symbolizer__may_ask(const struct symbolizer *s, int module);

/* Modules that are to be tried again. */
uint32_t symbolizer__waiting(const struct symbolizer *s);

/* Whether the module was refused for good; then its files are closed already. */
bool symbolizer__refused(const struct symbolizer *s, int module);

/* Drops a module: closes its files, forgets it in the child. Its number is not used again. */
void symbolizer__remove_module(struct symbolizer *s, int module);

/*
 * To be called about once a second: the child drops modules that were not asked about for minutes. They are loaded again
 * when needed.
 */
void symbolizer__rest(struct symbolizer *s);

/*
 * Names n addresses of one module. answers has room for n; on failure what it holds is undefined.
 * -ENOTSUP: of 32 bits; -ENOEXEC: not parseable; -ETIME: the child was killed over this module; -ENOENT: removed;
 * -ESTALE: written since it was added; -EINVAL: no such module. These are for good: asking again gives the same at
 * once. For the time being: -EAGAIN: the child has ended over this module; -EIO: no child can be started.
 */
int symbolizer__resolve(struct symbolizer *s, int module, const uint64_t *addresses, size_t n,
			struct symbolizer_answer *answers);

/*
 * What the code at n addresses of one module is by its shape; for known names see spin_classify.h. Code of perf
 * maps has names only. codes has room for n, and is undefined on failure. Errors as for
 * symbolizer__resolve, and -ENOMEM.
 */
int symbolizer__classify(struct symbolizer *s, int module, const uint64_t *addresses, size_t n,
			 struct spin_record *codes);

/* The name of a procedure in the last answer, as answers have it; "" when there is no symbol. */
const char *symbolizer__procedure(const struct symbolizer *s, const struct spin_record *code);

/* What is at an address near the code of a module. */
struct symbolizer_variable {
	int64_t low,
		high; /* where the module begins and ends in memory, as distances from the code */
	const char *name; /* "" when no variable is known there */
};

/*
 * Names the variable that is `distance` bytes from the code at a file offset: "lock", with DWARF
 * "pool.lock", else "pool+0x28". `beyond`: how far after the beginning of an object of that kind
 * the address is; the distance in a name without members is of the object. The first question about
 * a module may take a second. Errors as for symbolizer__resolve; -ENODATA: not known of this file,
 * which can still be asked for other things.
 */
int symbolizer__variable(struct symbolizer *s, int module, uint64_t code, int64_t distance,
			 uint32_t beyond, struct symbolizer_variable *variable);

/* A part of a file that is mapped with code. */
struct symbolizer_segment {
	uint64_t vaddr, offset, size;
};

#define SYMBOLIZER_MAX_SEGMENTS 16

/* Where the rows of an unwind table belong, and what came of its building. */
struct symbolizer_table {
	uint64_t base; /* virtual address of pc 0 */
	uint32_t nsegments;
	struct symbolizer_segment segments[SYMBOLIZER_MAX_SEGMENTS];
	struct qz_unwind_stats stats;
	struct qz_python_layout python; /* of an interpreter; runtime 0: the file has none */
};

/*
 * Builds the unwind table of an ELF file, or finds it in `tables` of the options, where what was built is kept. *rows are
 * malloc'ed, sorted by pc, and the caller's. Reads nothing else of the file than what that needs. -ENODATA: no code is
 * described; -E2BIG: more than the limits in symbolizer/cfi/cfi.h; -ENOMEM; those two are no errors of
 * the module, it can still be asked for names. -ENOEXEC, -ETIME, -EIO, -ENOENT, -EINVAL as for
 * symbolizer__resolve.
 */
int symbolizer__unwind_table(struct symbolizer *s, int module, struct qz_unwind_row **rows,
			     uint32_t *n, struct symbolizer_table *table);

/*
 * Makes rows of code that nothing describes, at virtual addresses [from, to): that code is read and analyzed, and nothing
 * else of the file. Their pc may be beyond that. Else as for symbolizer__unwind_table.
 */
int symbolizer__derive(struct symbolizer *s, int module, uint64_t from, uint64_t to,
		       struct qz_unwind_row **rows, uint32_t *n);

/*
 * The virtual address that a mapping with code has from its start on when it begins at the file
 * offset, a multiple of the page size. false when no such mapping is meant by the file.
 */
bool symbolizer_table__vaddr(const struct symbolizer_table *table, uint64_t offset,
			     uint64_t *vaddr);

/* Where code ends, as the pc of a row. */
uint64_t symbolizer_table__end(const struct symbolizer_table *table);

/* Counters, for the quality line and for tests. */
struct symbolizer_counters {
	uint64_t started;	  /* children */
	uint64_t killed;	  /* because of a deadline or a malformed answer */
	uint64_t crashed;	  /* ended by themselves */
	uint64_t modules_refused; /* not parseable, or killed over them */
};
const struct symbolizer_counters *symbolizer__counters(const struct symbolizer *s);

/* Processor time of all children so far. */
uint64_t symbolizer__cpu_ns(struct symbolizer *s);

#endif
