/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/advise/pools.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/model/frames.h"
#include "core/model/spin_rules.h"
#include "core/util/base_name.h"

#define OMP_FLAT "OMP_MAX_ACTIVE_LEVELS=1"
#define GOROUTINES                                                                                 \
	"divide this work among goroutines. If it holds a mutex that others wait for, which the "  \
	"kernel does not see (Go's mutex profile does), hold it for less time"
#define TOKIO_TASKS                                                                                \
	"divide this work among tasks, or give it to spawn_blocking. If it holds a lock that "     \
	"other tasks wait for, which the kernel does not see, hold it for less time"

static const struct qz_pool pools[QZ_POOLS] = {
	[QZ_POOL_OPENBLAS] =
		{"OpenBLAS", "OPENBLAS_NUM_THREADS=", NULL, NULL,
		 "OPENBLAS_NUM_THREADS not above the free CPUs, or OPENBLAS_THREAD_TIMEOUT "
		 "smaller"},
	[QZ_POOL_MKL] = {"MKL", "MKL_NUM_THREADS=", NULL, NULL, NULL},
	[QZ_POOL_BLIS] = {"BLIS", "BLIS_NUM_THREADS=", NULL, NULL, NULL},
	[QZ_POOL_GNU_OPENMP] =
		{"OpenMP", "OMP_NUM_THREADS=", OMP_FLAT, NULL,
		 "OMP_WAIT_POLICY=passive (or GOMP_SPINCOUNT=0), or OMP_NUM_THREADS not "
		 "above the free CPUs"},
	[QZ_POOL_OPENMP] =
		{"OpenMP", "OMP_NUM_THREADS=", OMP_FLAT, NULL,
		 "OMP_WAIT_POLICY=passive or KMP_BLOCKTIME=0, or OMP_NUM_THREADS not above the "
		 "free CPUs"},
	[QZ_POOL_TBB] = {"TBB", "tbb::global_control with max_allowed_parallelism ", NULL, NULL,
			 NULL},
	[QZ_POOL_RAYON] = {"rayon", "RAYON_NUM_THREADS=", NULL, NULL, NULL},
	[QZ_POOL_TOKIO] = {"tokio", "TOKIO_WORKER_THREADS=", NULL, TOKIO_TASKS, NULL},
	[QZ_POOL_LIBUV] = {"libuv", "UV_THREADPOOL_SIZE=", NULL, NULL, NULL},
	[QZ_POOL_JAVA] = {"Java", "-XX:ActiveProcessorCount=", NULL, NULL, NULL},
	[QZ_POOL_GO] = {"Go", "GOMAXPROCS=", NULL, GOROUTINES, NULL},
	[QZ_POOL_REDIS] = {"Redis", "io-threads ", NULL, NULL,
			   "fewer io-threads: less than there are free CPUs, or none"},
};

/* Patterns as of core/costs/cost_code.c: the file's base name, NULL: any; the procedure. */
static const struct {
	const char *module, *procedure;
	enum qz_pool_kind kind;
} codes[] = {
	{"libopenblas*", "*", QZ_POOL_OPENBLAS},
	{NULL, "exec_blas*", QZ_POOL_OPENBLAS},
	{NULL, "blas_thread_*", QZ_POOL_OPENBLAS},
	{"libmkl_*", "*", QZ_POOL_MKL},
	{"libblis*", "*", QZ_POOL_BLIS},
	{"libgomp*", "*", QZ_POOL_GNU_OPENMP},
	{NULL, "gomp_*", QZ_POOL_GNU_OPENMP},
	{NULL, "GOMP_*", QZ_POOL_GNU_OPENMP},
	{"libomp*", "*", QZ_POOL_OPENMP},
	{"libiomp*", "*", QZ_POOL_OPENMP},
	{NULL, "__kmp*", QZ_POOL_OPENMP},
	{"libtbb.so*", "*", QZ_POOL_TBB},
	{NULL, "tbb::*", QZ_POOL_TBB},
	{NULL, "rayon_core::*", QZ_POOL_RAYON},
	{NULL, "tokio::runtime::*", QZ_POOL_TOKIO},
	{NULL, "uv__work_*", QZ_POOL_LIBUV},
	{NULL, "java.util.concurrent.*", QZ_POOL_JAVA},
	{NULL, "runtime.goexit*", QZ_POOL_GO},
	{NULL, "runtime.mstart*", QZ_POOL_GO},
	{NULL, "runtime.mcall*", QZ_POOL_GO},
	{"redis-server*", "*", QZ_POOL_REDIS},
};

const struct qz_pool *qz_pool__info(enum qz_pool_kind kind)
{
	return &pools[kind];
}

enum qz_pool_kind qz_pool__of_procedure(const struct qz_procedure *procedure)
{
	const char *module = qz_base_name(procedure->module);

	if (procedure->kind != QZ_PROCEDURE || !strcmp(module, SPIN_RULES_KERNEL))
		return QZ_POOLS;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if ((!codes[i].module || spin_rules__matches(codes[i].module, module)) &&
		    spin_rules__matches(codes[i].procedure, procedure->name))
			return codes[i].kind;
	return QZ_POOLS;
}

int qz_pools__init(struct qz_pools *s, const struct qz_profile *p)
{
	*s = (struct qz_pools) {p, calloc((size_t)p->nprocedures + 1, sizeof(*s->kinds))};
	if (!s->kinds)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->nprocedures; i++)
		s->kinds[i] = qz_pool__of_procedure(&p->procedures[i]);
	return 0;
}

void qz_pools__free(struct qz_pools *s)
{
	free(s->kinds);
	*s = (struct qz_pools) {0};
}

/* A thread of a pool, and who started it, have its code on their stacks; of nested ones another thread has. */
#define NESTED 3

enum qz_pool_kind qz_pools__at(const struct qz_pools *s, uint32_t node, bool *nested)
{
	struct qz_frames frames = {.profile = s->profile, .node = node};
	enum qz_pool_kind best = QZ_POOLS;
	uint32_t frame, threads = 0;
	bool counted = false;

	while ((frame = qz_frames__next(&frames)) != QZ_NONE) {
		if (s->profile->procedures[frame].kind == QZ_THREAD_START)
			counted = false;
		if (s->kinds[frame] < best) {
			best = s->kinds[frame];
			threads = 0;
			counted = false;
		}
		if (s->kinds[frame] == best && best != QZ_POOLS && !counted) {
			threads++;
			counted = true;
		}
	}
	*nested = threads >= NESTED;
	return best;
}
