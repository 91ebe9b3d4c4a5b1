/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * To whom code belongs, and what it is for: one table of procedures of libraries, of runtimes and of the kernel. Code that
 * is not in it is the program's own, and work. A new runtime needs some rows in the table of core/costs/cost_code.c.
 */
#ifndef QUARTZ_CORE_COST_CODE_H
#define QUARTZ_CORE_COST_CODE_H

#include <stdbool.h>

#include "core/model/profile.h"

/* What processor time is for. */
enum qz_cost {
	QZ_COST_WORK,
	QZ_COST_STARTING, /* threads and processes: clone, exec, exit, wait, the loader, stacks */
	QZ_COST_HANDING,  /* locks, queues, channels, sleeps and wake-ups, schedulers of runtimes */
	QZ_COST_COPYING,  /* packing for another process, and copying to it: pickle, pipes */
	QZ_COST_SPINNING, /* waiting in a loop; decided by the sample, not by its code */
	QZ_COST_LINES, /* waiting for a cache line that another processor has; decided by the sample, too */
	QZ_COST_CALLS, /* system calls and page faults, without waiting */
	QZ_COSTS,
};

/* The origin of code with a class, for remedies and for texts: a runtime, or a part of the kernel. */
enum qz_cost_origin {
	QZ_ORIGIN_OTHER,
	QZ_ORIGIN_THREADS, /* threads of the C library, also as used by other languages */
	QZ_ORIGIN_PROCESSES,
	QZ_ORIGIN_OPENMP,
	QZ_ORIGIN_TBB,
	QZ_ORIGIN_MPI, /* and the transports below it */
	QZ_ORIGIN_OPENBLAS,
	QZ_ORIGIN_GO,
	QZ_ORIGIN_JAVA,
	QZ_ORIGIN_RUST, /* tokio, rayon, crossbeam */
	QZ_ORIGIN_LIBUV,
	QZ_ORIGIN_PYTHON,
	QZ_ORIGIN_RANDOM, /* rand() of the C library, which takes a lock */
	QZ_ORIGIN_MEMORY, /* mmap, munmap, brk, page faults */
	QZ_ORIGIN_FILES,  /* their names: open, stat, close */
	QZ_ORIGIN_BLOCKS, /* their contents: read, write */
	QZ_ORIGIN_CLOCK,
	QZ_ORIGIN_SOCKETS,
	QZ_ORIGIN_PIPES,
	QZ_ORIGINS,
};

enum qz_cost_flag {
	QZ_CODE_RUNTIME =
		1, /* may do work for the program itself: collects garbage, compiles, has its code inlined */
	QZ_CODE_WEAK = 2, /* applies only if no other code of the stack has a class */
	QZ_CODE_BULK = 4, /* its time depends on bytes or pages, not on the number of calls */
	QZ_CODE_OWN =
		8, /* runs on no program's behalf, as threads of the kernel do: like code without a row */
	QZ_CODE_ASIDE = 16, /* an interrupt: what runs inside of it is on no program's behalf */
	/* with QZ_CODE_RUNTIME: runs code of a language that has frames of its own; asks only where none of these is known */
	QZ_CODE_LANGUAGE = 32,
	/* a call that the kernel counts: quartz/transfer_counters.h */
	QZ_CODE_READS = 64,
	QZ_CODE_WRITES = 128,
};

struct qz_cost_code {
	/* pattern of the file's base name, of a function of Python of the path of its source; NULL: any but the kernel */
	const char *module;
	const char *procedure; /* pattern, as of the rules of spinning */
	enum qz_cost cost;     /* QZ_COST_WORK: it has no class of its own */
	enum qz_cost_origin origin;
	unsigned int flags;
};

/* The row of the table for a procedure; NULL: it is the program's own. Static. Thread-safe. */
const struct qz_cost_code *qz_cost_code__find(const struct qz_procedure *procedure);

/* "handing over"; a word for JSON: "handing_over". */
const char *qz_cost__name(enum qz_cost cost);
const char *qz_cost__word(enum qz_cost cost);

/* The class that qz_cost__name calls so; QZ_COSTS: none. */
enum qz_cost qz_cost__by_name(const char *name);

/* "OpenMP"; "" where it is not known. */
const char *qz_cost_origin__name(enum qz_cost_origin origin);

#endif
