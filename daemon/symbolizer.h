/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The daemon's side of the symbolizer: a child process without privileges that does all parsing of
 * ELF, DWARF and perf map files. quartzd opens, the child reads; quartzd never parses.
 *
 * The child is started on first use, gets files as descriptors, and is killed when an answer does
 * not come in time or is not well-formed. A module whose parsing killed it is marked and not tried
 * again; the child is started anew and the others are loaded again as they are needed.
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

#include <quartz/spin.h>
#include <quartz/unwind.h>

struct symbolizer;

struct symbolizer_options {
	bool lines;	     /* source file and line where there is DWARF */
	bool inlines;	     /* inlined procedures too (implies lines) */
	const char *program; /* path of quartz-symbolizer; NULL: the installed or the built one */
};

enum symbolizer_kind {
	SYMBOLIZER_ELF,	     /* addresses are file offsets */
	SYMBOLIZER_PERF_MAP, /* addresses are virtual addresses */
};

/* One procedure at an address. Inlined ones come first, the one of the symbol table comes last. */
struct symbolizer_frame {
	const char *name; /* demangled; a stable made-up one when there is no symbol: see unnamed */
	const char *file; /* "" when unknown */
	uint32_t decl_line; /* of the procedure, 0 when unknown */
	uint32_t line;	    /* of the address, 0 when unknown */
};

struct symbolizer_answer {
	uint64_t start; /* of the procedure, in the unit of the request; groups addresses */
	bool found;	/* false: nothing covers this address, frames is empty */
	bool unnamed;	/* the name was made from the module and the procedure's FDE range */
	bool outermost; /* libc begins a thread or process here: _start, clone, start_thread, … */
	uint32_t nframes;
	const struct symbolizer_frame *frames;
};

/* A mapping of the process whose stack is unwound. */
struct symbolizer_region {
	uint64_t start, end, offset;
	uint32_t module;
};

/* x86-64 user registers at the point where the stack was copied. */
struct symbolizer_registers {
	uint64_t ip, sp, bp, bx, r12, r13, r14, r15;
};

/* The path of quartz-symbolizer, the built or the installed one; to be freed. NULL without memory. */
char *symbolizer__program(void);

/* NULL with errno ENOMEM. Does not start the child yet. */
struct symbolizer *symbolizer__new(const struct symbolizer_options *opts);
void symbolizer__free(struct symbolizer *s);

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

/* Whether it was found to be no good, for which its files are closed already. */
bool symbolizer__refused(const struct symbolizer *s, int module);

/* Drops a module: closes its files, forgets it in the child. Its number is not used again. */
void symbolizer__remove_module(struct symbolizer *s, int module);

/*
 * To be called about once a second: what nobody asks about for minutes the child forgets. It is loaded again
 * when it is needed.
 */
void symbolizer__rest(struct symbolizer *s);

/*
 * Names n addresses of one module. answers has room for n; on failure what it holds is undefined.
 * -ENOEXEC: not parseable; -ETIME: the child was killed, or ended, over this module; -EIO: no child
 * can be started; -ENOENT: removed; -EINVAL: no such module. An error is for good: asking again
 * gives it at once.
 */
int symbolizer__resolve(struct symbolizer *s, int module, const uint64_t *addresses, size_t n,
			struct symbolizer_answer *answers);

/*
 * Unwinds a copied user stack with the CFI of the modules. regions are sorted by start, as
 * /proc/PID/maps is; only modules that a word of the stack points into are parsed. stack holds
 * `size` bytes from regs->sp upwards, of which 24 KiB are used. Writes up to max addresses, and
 * their number to *n: regs->ip, then return addresses, which stand behind the call; to name those,
 * take one off. *complete tells whether the outermost frame was reached. Registers at a system call
 * inside clone/clone3, where glibc's CFI ends early, are handled. -ENOMEM, -EIO, -ETIME: the child
 * was killed over one of the modules, which is refused from now on; asking again may succeed.
 */
int symbolizer__unwind(struct symbolizer *s, const struct symbolizer_region *regions,
		       size_t nregions, const struct symbolizer_registers *regs, const void *stack,
		       size_t size, uint64_t *addresses, size_t max, size_t *n, bool *complete);

/*
 * Whether a thread that executes at an address only waits there. Addresses are in the unit of the
 * request.
 */
struct symbolizer_verdict {
	enum qz_spin_class spin;
	/*
	 * Code of this shape may also pass without waiting: it counts when two successive samples
	 * of a thread are between start and end and all registers but those in `written` are equal.
	 */
	bool confirm;
	/*
	 * The address is in a small procedure without effects, such as one that reads a flag, and
	 * spin is NONE: the verdict is that on its return address, as it stands on the stack.
	 */
	bool by_caller;
	uint64_t start, end; /* of the loop, the known procedure, or the small one; 0: neither */
	/*
	 * Registers that the code from start to end writes, where there is a loop or a small
	 * procedure: bits by the number that instructions give them: rax, rcx, rdx, rbx, rsp, rbp,
	 * rsi, rdi, r8 to r15.
	 */
	uint32_t written;
	/*
	 * Each turn of the loop loads from one place only: at a distance from a register that it does
	 * not write, or (base QZ_SPIN_FIXED) in the module, in the unit of the addresses.
	 */
	bool watches;
	uint32_t base;
	uint64_t at;
	const char *procedure; /* its name as answers have it; "" when there is no symbol */
	uint64_t procedure_start, procedure_end; /* 0: not known */
};

/*
 * Judges n addresses of one module by the shape of its code; for known names see verdicts.h. Code
 * of perf maps is never judged, only named. verdicts has room for n, and is undefined on failure.
 * Errors as for symbolizer__resolve, and -ENOMEM.
 */
int symbolizer__judge(struct symbolizer *s, int module, const uint64_t *addresses, size_t n,
		      struct symbolizer_verdict *verdicts);

/* What is at an address near the code of a module. */
struct symbolizer_variable {
	int64_t low,
		high; /* where the module begins and ends in memory, as distances from the code */
	const char *name; /* "" when no variable is known there */
};

/*
 * Names the variable that is `distance` bytes from the code at a file offset: "lock", with DWARF
 * "pool.lock", else "pool+0x28". `beyond`: how far behind the beginning of an object of that kind
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
};

/*
 * Builds the unwind table of an ELF file. *rows are malloc'ed, sorted by pc, and the caller's. Reads
 * nothing else of the file than what that needs, and nothing is kept. -ENODATA: no code is
 * described; -E2BIG: more than the limits in symbolizer/cfi.h; -ENOMEM; those two are no errors of
 * the module, it can still be asked for names. -ENOEXEC, -ETIME, -EIO, -ENOENT, -EINVAL as for
 * symbolizer__resolve.
 */
int symbolizer__unwind_table(struct symbolizer *s, int module, struct qz_unwind_row **rows,
			     uint32_t *n, struct symbolizer_table *table);

/*
 * The virtual address that a mapping with code has from its start on when it begins at the file
 * offset, a multiple of the page size. false when no such mapping is meant by the file.
 */
bool symbolizer_table__vaddr(const struct symbolizer_table *table, uint64_t offset,
			     uint64_t *vaddr);

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
