/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds what a wait is for, from the procedures on its stack and the arguments of the futex call. Pure.
 */
#ifndef QUARTZ_DAEMON_FUTEX_CLASSIFY_H
#define QUARTZ_DAEMON_FUTEX_CLASSIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/model/profile.h"

/* A procedure in which threads wait; the table of them is in futex_classify.c. */
struct futex_classify_function {
	const char *pattern; /* of the name, as fnmatch(3) has it */
	uint32_t kind;	     /* enum qz_object_kind */
	const char *word;    /* what to call the object; NULL: as its kind is called */
	bool unique;	     /* the word is the whole name: there is one in a process */
};

/* The row of a procedure by its demangled name, or NULL. */
const struct futex_classify_function *futex_classify__function(const char *procedure);

/*
 * Whether a procedure is part of a C library, language or thread runtime that implements waiting, so that its caller, and
 * not itself, shows what the thread waits for.
 */
bool futex_classify__is_runtime(const char *procedure, const char *module);

/*
 * Whether a procedure is code of musl's. Its words differ from those of glibc and of libraries with the same values: a
 * thread that waits for a condition or a thread's end waits for a 2 to change, like a thread that waits for a glibc lock.
 */
bool futex_classify__is_musl(const char *procedure, const char *module);

/*
 * What the code of a module mostly waits for where no procedure on the stack has a name: libgomp is stripped, and
 * does not export its barriers. QZ_OBJECT_OTHER: that is not known.
 */
uint32_t futex_classify__module(const char *module);

/* A wait's futex call. */
struct futex_classify_futex {
	uint64_t word;
	uint32_t op, val;
	uint32_t nbytes;      /* of bytes: 0 when the word could not be read */
	const uint8_t *bytes; /* from the word on */
	bool musl;	      /* the call is one of musl's */
};

/*
 * The kind of the word. `called`: what the stack says, QZ_OBJECT_OTHER when it says nothing. It is
 * not always right: who waits in a condition variable's procedure may be getting its mutex back.
 */
uint32_t futex_classify__kind(const struct futex_classify_futex *f, uint32_t called);

/* Offset of the futex word in an object of that kind. */
uint32_t futex_classify__distance(const struct futex_classify_futex *f, uint32_t kind);

/* What an object of that kind is called: "mutex", "condition variable", … */
const char *futex_classify__word(uint32_t kind);

#endif
