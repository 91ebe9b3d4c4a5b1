/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unwind tables: how to get from a frame to its caller, for each range of addresses of a module.
 * Built by the symbolizer from .eh_frame or .debug_frame, laid out by quartzd in memory-mapped maps,
 * used by the unwinder in BPF. For x86-64, where rsp and rbp are the stack and the frame pointer; another architecture
 * needs a kind for return addresses in a register.
 *
 * A table is an array of rows sorted by pc; a row holds up to the next one. Code without call frame information has a row
 * of kind QZ_CFA_NONE. Before the rows there may be an index: the rows of each block of code. It may point to rows
 * elsewhere; the row before these holds where the block begins.
 */
#ifndef QUARTZ_UNWIND_H
#define QUARTZ_UNWIND_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/* How to compute the canonical frame address (CFA), the stack pointer in the caller. */
enum qz_cfa_kind {
	QZ_CFA_NONE = 0,	/* nothing is known: stop */
	QZ_CFA_RSP = 1,		/* rsp + cfa */
	QZ_CFA_RBP = 2,		/* rbp + cfa */
	QZ_CFA_RSP_DEREF = 3,	/* *(rsp + cfa) + 8: assembly that realigns its stack */
	QZ_CFA_RBP_DEREF = 4,	/* *(rbp + cfa): a compiler's realigned stack */
	QZ_CFA_PLT = 5,		/* the procedure linkage table: rsp + 8 + (pc % 16 >= cfa) * 8 */
	QZ_CFA_SIGNAL = 6,	/* the kernel's signal frame at rsp, which has all registers */
	QZ_CFA_END = 7,		/* the outermost frame */
	QZ_CFA_UNSUPPORTED = 8, /* stop; cfa says why: enum qz_unwind_unsupported */
	QZ_CFA_FRAME = 9,	/* rbp + 16, of a frame that may be on another stack */
	QZ_CFA_GO = 10,		/* on the stack of the goroutine that the thread runs, see below */
	QZ_CFA_RSP_SLOT = 11,	/* *(rsp + n) + m: the same, after pushes; QZ_UNWIND_SLOT(n, m) */
	QZ_CFA_GOROUTINE = 12,	/* a goroutine's stack ends here; its creator: see below */
	QZ_CFA_REGISTER = 13,	/* a register + m, innermost frame; QZ_UNWIND_REGISTER(n, m) */
	QZ_CFA_KINDS,
};

/* What the cfa of QZ_CFA_RSP_SLOT holds, both in units of 8 bytes. */
#define QZ_UNWIND_SLOT(at, added) ((at) | (added) << 11)
#define QZ_UNWIND_SLOT_AT(cfa)	  ((cfa)&2047)
#define QZ_UNWIND_SLOT_ADDED(cfa) ((cfa) >> 11 & 15)
#define QZ_UNWIND_SLOT_MAX	  2047
#define QZ_UNWIND_SLOT_ADDED_MAX  15

/* What the cfa of QZ_CFA_REGISTER holds: which word of struct pt_regs it is, and m in units of 8 bytes. */
#define QZ_UNWIND_REGISTER(at, added) ((at) | (added) << 4)
#define QZ_UNWIND_REGISTER_AT(cfa)    ((cfa)&15)
#define QZ_UNWIND_REGISTER_ADDED(cfa) ((cfa) >> 4 & 2047)
#define QZ_UNWIND_REGISTER_ADDED_MAX  2047

/*
 * Go: runtime.systemstack calls a function on the thread's own stack, and has saved the goroutine's.
 * The word at the thread pointer + 8 * row.cfa is the address of the g of the thread's own stack.
 * Offsets, of runtime/runtime2.go: g.m, m.curg, g.sched.sp, g.sched.bp.
 */
#define QZ_GO_G_M    0x30
#define QZ_GO_M_CURG 0xc0
#define QZ_GO_G_SP   0x38
#define QZ_GO_G_BP   0x68

/*
 * Go: after the end of a goroutine's stack follows its creator: the address after its go statement, g.gopc of the
 * goroutine that the thread runs, which is at 8 * row.rbp. row.cfa as above. Next to it is g.ancestors, a pointer to a
 * slice, if the program keeps them (GODEBUG=tracebackancestors=N): an ancestorInfo for each ancestor, the nearest first,
 * with a slice of the return addresses of its stack at that time (pcs), its number, and its own gopc. They follow as
 * frames, too.
 */
#define QZ_GO_ANCESTOR	   40 /* bytes of an ancestorInfo */
#define QZ_GO_ANCESTORS	   8  /* of them are read, at most */
#define QZ_GO_ANCESTOR_PCS 50 /* of each, as many as Go keeps */

/* Why call frame information cannot be stored in a row. */
enum qz_unwind_unsupported {
	QZ_UNSUPPORTED_BROKEN = 0,     /* the description makes no sense */
	QZ_UNSUPPORTED_REGISTER = 1,   /* the CFA is far from a register other than rsp and rbp */
	QZ_UNSUPPORTED_EXPRESSION = 2, /* the CFA is an expression of no known form */
	QZ_UNSUPPORTED_OFFSET = 3,     /* the CFA is too far away, or no multiple of 8 */
	QZ_UNSUPPORTED_RETURN = 4,     /* the return address is not at CFA - 8 */
	QZ_UNSUPPORTED_RBP = 5,	       /* rbp is in another register, or far away */
	QZ_UNSUPPORTED_REASONS,
};

/* Where the caller's rbp is. The return address is always at CFA - 8. */
enum qz_rbp_kind {
	QZ_RBP_SAME = 0, /* still in rbp */
	QZ_RBP_CFA = 1,	 /* at CFA + rbp */
	QZ_RBP_RBP = 2,	 /* at rbp + rbp: a compiler's realigned stack */
};

struct qz_unwind_row {
	__u32 pc;  /* virtual address in the file less the page of the lowest one that is loaded */
	__s16 cfa; /* in units of 8 bytes */
	__s8 rbp;  /* in units of 8 bytes */
	__u8 kind; /* enum qz_cfa_kind | enum qz_rbp_kind << 4 | QZ_UNWIND_DERIVED */
};

/*
 * The code has no call frame information: the rule was derived from its instructions, and the unwinder checks the result
 * before it uses it. With QZ_CFA_NONE: the instructions gave no rule.
 */
#define QZ_UNWIND_DERIVED 0x80

#define QZ_UNWIND_KIND(cfa, rbp) ((__u8)((cfa) | (rbp) << 4))
#define QZ_UNWIND_CFA(kind)	 ((kind)&15)
#define QZ_UNWIND_RBP(kind)	 ((kind) >> 4 & 7)

_Static_assert(sizeof(struct qz_unwind_row) == 8, "layout");

/* The rows of a block of code, in an index. Takes the place of a row. */
struct qz_unwind_block {
	__u32 before; /* its first row less that of the table, modulo 2^32 */
	__u32 count;
};

/* Rows of one map: 2 MiB. All of them lie in such pieces, one after the other; a table may begin in one and end in a later one. */
#define QZ_UNWIND_PIECE (1u << 18)

#define QZ_UNWIND_BLOCK(pc)   ((pc) >> 10) /* by number */
#define QZ_UNWIND_BLOCK_PC(n) ((n) << 10)  /* where it begins */

_Static_assert(sizeof(struct qz_unwind_block) == sizeof(struct qz_unwind_row), "layout");

/* Statistics of a module's call frame information. */
struct qz_unwind_stats {
	__u32 bytes;	/* of .eh_frame and .debug_frame */
	__u32 entries;	/* that describe code */
	__u32 left_out; /* entries that describe no code, or cannot be read */
	__u32 unsupported[QZ_UNSUPPORTED_REASONS]; /* rows */
};

/* A range of addresses of an image and its part of the rows. Sorted by start, without overlap. */
struct qz_unwind_region {
	__u64 start, end;
	__u64 bias;    /* address - bias = pc of rows */
	__u32 first;   /* row; without rows, one of the values below, or any lower one */
	__u32 count;   /* of rows; 0: no table, frame pointers are used */
	__u32 blocks;  /* of the index, which ends where the rows begin; 0: there is none */
	__u32 block;   /* the number of its first one */
	__u32 derived; /* of code without call frame information, see below */
	__u32 python; /* layout + 1 of the Python interpreter in it, see quartz/python.h; 0: none */
};

/*
 * A table is made when the unwinder asks for it, by replacing the former value by the latter. Rows of code without call
 * frame information are asked for in the same way: the unwinder replaces the value by the pc of its walk, and quartzd
 * resets it; 0: there will be no more rows.
 */
#define QZ_UNWIND_PENDING 0xffffffffu
#define QZ_UNWIND_WANTED  0xfffffffeu
/* Code that is made as the program runs. */
#define QZ_UNWIND_GENERATED 0xfffffffdu

/* The regions of an image. */
struct qz_unwind_image {
	__u32 first; /* region */
	__u32 count;
	/* pages of code that were mapped when the regions were read; 0: not to be compared */
	__u64 exec_vm;
	__u64 known; /* the regions have the mappings up to this time (CLOCK_MONOTONIC, ns) */
};

/* How much earlier than it is reported a mapping may have been noticed. */
#define QZ_UNWIND_MARGIN 10000000ull

/* Why a walk ended. */
enum qz_unwind_end {
	QZ_UNWIND_OUTERMOST = 0, /* complete */
	QZ_UNWIND_NOT_READY = 1, /* no tables of this image yet */
	QZ_UNWIND_NO_REGION = 2, /* an address outside of all code */
	QZ_UNWIND_NO_ROW = 3,	 /* code without a row */
	QZ_UNWIND_UNSUPPORTED = 4,
	QZ_UNWIND_FAULT = 5, /* the stack could not be read */
	QZ_UNWIND_TOO_DEEP = 6,
	QZ_UNWIND_BACKWARDS = 7, /* the caller's frame is not above: no stack */
	QZ_UNWIND_STALE = 8,	 /* mappings have changed since the tables were made */
	QZ_UNWIND_GUESSED =
		9, /* complete, but the innermost caller was found by a scan of the stack */
	QZ_UNWIND_ENDS,
};

#define QZ_UNWIND_END_NAMES                                                                        \
	{                                                                                          \
		"outermost", "not_ready", "no_region", "no_row", "unsupported", "fault",           \
			"too_deep", "backwards", "stale", "guessed"                                \
	}

#endif
