/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A quartzd as far as libquartz sees one: flag, socket, page sets of memory files. It lives in a
 * temporary directory and in a thread of the test, which reads the page sets where they stand.
 */
#ifndef QUARTZ_TESTS_USERLIB_FAKE_H
#define QUARTZ_TESTS_USERLIB_FAKE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "quartz/page.h"

#define FAKE_SETS 64

struct fake_set {
	pid_t pid; /* who asked */
	uint32_t generation;
	uint32_t segments;
	struct qz_tables *tables;
	struct qz_slot *slots[QZ_SEGMENTS];
};

struct fake {
	char directory[64];
	struct qz_page_flag *flag;
	struct fake_set sets[FAKE_SETS];
	uint32_t count;	      /* of sets, in the order of opening */
	uint32_t refuse;      /* errno to answer with, 0: serve */
	uint32_t patience_ms; /* that programs are asked for; 0: as much as can be */
	bool silent;	      /* takes requests, and does not answer */
	uint32_t requests;
	int listener;
	bool stop;
};

/* Makes the directory and names it in QUARTZ_RUNTIME_DIR. No server listens yet. */
struct fake *fake__new(void);
void fake__free(struct fake *f);

/* As quartzd starts: with a generation of its own. */
void fake__listen(struct fake *f);

/* As quartzd ends: in good order, or killed, when the flag keeps standing. */
void fake__end(struct fake *f, bool killed);

/* The latest set of the process, NULL without one. */
struct fake_set *fake__set(struct fake *f, pid_t pid);

/* The slot of a thread, NULL when it has none. */
struct qz_slot *fake__slot(struct fake_set *set, pid_t tid);

/* Name of a symbol; "?" when it has none. */
const char *fake__name(const struct fake_set *set, uint32_t id);

/* The profile stack as "outer/inner", with tasks before a colon. */
void fake__stack(const struct fake_set *set, const struct qz_slot *slot, char *text, size_t size);

#endif
