/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Profiles built by hand for the tests. After a failed call the later ones do nothing, so that one
 * look at `err` at the end will do.
 */
#ifndef QUARTZ_TESTS_UNIT_FIXTURE_H
#define QUARTZ_TESTS_UNIT_FIXTURE_H

#include "core/model/profile.h"

struct fixture {
	struct qz_profile *p;
	int err;
};

struct fixture fixture__new(void);

/* A scope with these level times; elapsed_ns is their sum. */
uint32_t fixture__scope(struct fixture *f, const uint64_t *level_ns, uint32_t nlevels);
uint32_t fixture__thread(struct fixture *f, uint32_t scope, int32_t tid);

/*
 * The leaf of a stack given as words, outermost first: names of procedures, each with a location of
 * its own, or of the markers [thread], [process], [truncated]. "a+b" is one location where b, which
 * was inlined, was called by a.
 */
uint32_t fixture__stack(struct fixture *f, const char *words);

void fixture__samples(struct fixture *f, uint32_t scope, uint32_t thread, const char *words,
		      uint32_t level, uint64_t count);

uint32_t fixture__object(struct fixture *f, uint32_t scope, uint32_t kind, const char *name);

/* Add a wait with this stack and cause, or a wake-up with this stack. */
void fixture__wait(struct fixture *f, const struct qz_wait *wait, const char *words,
		   const char *cause);
void fixture__waking(struct fixture *f, const struct qz_waking *waking, const char *words);

/* Adds `count` instants at which the procedures named, separated by blanks, ran; "~name" spun. */
void fixture__round(struct fixture *f, uint32_t scope, const char *names, uint64_t count);

/* Adds counted calls; caller NULL: unknown. */
void fixture__calls(struct fixture *f, uint32_t scope, const char *caller, const char *callee,
		    uint64_t count);

/* The procedure of this name. */
uint32_t fixture__procedure(const struct qz_profile *p, const char *name);

/* A small estimated profile in which each field and kind occurs, or NULL. */
struct qz_profile *fixture__everything(void);

/* An estimated profile of random shape, the same for the same seed. */
struct qz_profile *fixture__random(unsigned int seed);

/* Gives scopes and threads, which may have the same names, a birth of their own. */
void fixture__tell_apart(struct qz_profile *p);

/* Fails the test unless a and b hold the same. Nodes may have other numbers. */
void fixture__assert_equal(const struct qz_profile *a, const struct qz_profile *b);

#endif
