/* SPDX-License-Identifier: GPL-2.0-only */
/* The advice for a profile that a test makes. */
#ifndef QUARTZ_TESTS_ADVISED_H
#define QUARTZ_TESTS_ADVISED_H

#include "core/advise/advise.h"
#include "tests/unit/fixture.h"

#define MS 1000000ull

struct advised {
	struct qz_profile *p;
	struct qz_report *r;
	struct qz_advice *a;
};

/*
 * The advice for the first scope of the fixture, whose profile is estimated and belongs to the result from here on. Of a machine with
 * so many processors. Fails the test where the fixture has an error.
 */
struct advised advised__new(struct fixture *f, uint32_t processors);

void advised__free(struct advised *x);

/* The first finding of a rule, or NULL. */
const struct qz_finding *advised__find(const struct qz_advice *a, const char *rule);

/* Times in ms. */
struct advised_waits {
	uint32_t nominal;
	uint64_t count, blocked, ready;
};

/* Waits of a thread without an object. */
void advised__waited(struct fixture *f, uint32_t thread, const char *stack, const char *cause,
		     struct advised_waits waits);

/* What a thread did, in ms: fixture__thread leaves these at 0. */
void advised__lived(struct fixture *f, uint32_t thread, int32_t pid, uint64_t start, uint64_t end,
		    uint64_t running);

#endif
