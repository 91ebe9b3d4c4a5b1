/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pools of threads that libraries and runtimes start on their own, and the setting for their number of threads: one table,
 * in core/advise/pools.c. A new pool needs a row in each of its two parts.
 */
#ifndef QUARTZ_CORE_POOLS_H
#define QUARTZ_CORE_POOLS_H

#include <stdbool.h>

#include "core/model/profile.h"

/* A pool that uses another one comes before it. */
enum qz_pool_kind {
	QZ_POOL_OPENBLAS,
	QZ_POOL_MKL,
	QZ_POOL_BLIS,
	QZ_POOL_GNU_OPENMP,
	QZ_POOL_OPENMP,
	QZ_POOL_TBB,
	QZ_POOL_RAYON,
	QZ_POOL_TOKIO,
	QZ_POOL_LIBUV,
	QZ_POOL_JAVA,
	QZ_POOL_GO,
	QZ_POOL_REDIS,
	QZ_POOLS, /* none of these */
};

/* NULL: nothing is known, or there is none. */
struct qz_pool {
	const char *name; /* "OpenBLAS" */
	const char *size; /* the number of threads follows: "OPENBLAS_NUM_THREADS=" */
	const char *flat; /* makes nested regions use no further threads */
	/* How to divide work among its tasks, if any thread runs them and they wait without the kernel. */
	const char *divide;
	const char *passive; /* setting by which its threads block instead of spin */
};

/* The table's information about a pool; not for QZ_POOLS. */
const struct qz_pool *qz_pool__info(enum qz_pool_kind kind);

/* The pool whose code this is. Thread-safe. */
enum qz_pool_kind qz_pool__of_procedure(const struct qz_procedure *procedure);

/* The pools of all procedures of a profile. */
struct qz_pools {
	const struct qz_profile *profile; /* borrowed */
	enum qz_pool_kind *kinds;	  /* by procedure */
};

/* 0 or -ENOMEM; free in either case. */
int qz_pools__init(struct qz_pools *s, const struct qz_profile *p);
void qz_pools__free(struct qz_pools *s);

/*
 * The pool that a stack runs in. Of several the first of the enumeration: a library for matrices runs its threads by
 * OpenMP, and a program of Java may call both. *nested: threads of the pool started those that it runs in.
 */
enum qz_pool_kind qz_pools__at(const struct qz_pools *s, uint32_t node, bool *nested);

#endif
