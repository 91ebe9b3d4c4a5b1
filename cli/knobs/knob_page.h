/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The knobs of a running process (quartz/knobs.h), opened with the rights of the caller. What the process wrote is copied
 * once and validated.
 */
#ifndef QUARTZ_CLI_KNOBS_KNOB_PAGE_H
#define QUARTZ_CLI_KNOBS_KNOB_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "quartz/knobs.h"

struct knob_page {
	pid_t pid;
	int fd, process; /* the latter: a pidfd */
	struct qz_knobs *map;
	struct qz_knobs copy; /* valid */
};

/* How many events a process had counted by some time of CLOCK_MONOTONIC. */
struct knob_count {
	uint32_t events; /* modulo 2^32 */
	uint64_t at;
};

/*
 * 0, or: -ESRCH, no such process; -EACCES or -EPERM, it belongs to another user; -ENOENT, it has no knobs; -EPROTO, they are not
 * what libquartz writes; other errors are want of memory or descriptors. If it is 0, knob_page__close() must follow.
 */
int knob_page__open(struct knob_page *p, pid_t pid);

/* Copies again; -ENOENT, -EPROTO as open. */
int knob_page__read(struct knob_page *p);
void knob_page__close(struct knob_page *p);

/* Whether a copy is what libquartz writes: names are text that ends, and all numbers are in their limits. */
bool knob_page__is_valid(const struct qz_knobs *copy);

/* The knob of that name, or NULL. */
const struct qz_knob *knob_page__find(const struct knob_page *p, const char *name);

#define KNOB_VALUE 24

/* A value as text, which need not be one that it can have: the name of a choice, or else a number, in `text`. */
const char *knob_page__value(const struct qz_knob *k, int64_t value, char text[KNOB_VALUE]);

/* Whether the knob can have this value. */
bool knob_page__allows(const struct qz_knob *k, int64_t value);

/*
 * Asks for a value, and waits for so long until the program has taken it: 0; -ERANGE or -EINVAL, libquartz refused it;
 * -ECANCELED, the program did; -ETIMEDOUT, it was not at a safe point, and the request stays; -EBUSY, another quartzctl waits
 * for an answer; -ESRCH, it has ended; -EPROTO, its answer is none of these.
 */
int knob_page__set(struct knob_page *p, const struct qz_knob *knob, int64_t value,
		   uint64_t patience_ns);

/*
 * Asks for the number of events so far. From now on the process counts them also while no quartzd listens. Errors as of set,
 * but for refusals.
 */
int knob_page__count(struct knob_page *p, struct knob_count *count, uint64_t patience_ns);

/* It need not count any more. Waits for nothing. */
void knob_page__stop_counting(struct knob_page *p);

#endif
