/* SPDX-License-Identifier: GPL-2.0-only */
/* Pools of threads, by the code of libraries and runtimes. */
#include <check.h>

#include "core/advise/pools.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

static const struct {
	const char *module, *procedure;
	enum qz_pool_kind kind;
} known[] = {
	{"/usr/lib/libopenblasp-r0.3.21.so", "[unknown]", QZ_POOL_OPENBLAS},
	{"/opt/solver", "blas_thread_server", QZ_POOL_OPENBLAS},
	{"/opt/intel/libmkl_gnu_thread.so.2", "mkl_blas_dgemm_omp_driver", QZ_POOL_MKL},
	{"/usr/lib/libblis.so.4", "bli_thrcomm_barrier", QZ_POOL_BLIS},
	{"/usr/lib/libgomp.so.1.0.0", "GOMP_parallel", QZ_POOL_GNU_OPENMP},
	{"/usr/lib/libomp.so.5", "__kmpc_fork_call", QZ_POOL_OPENMP},
	{"/usr/lib/libtbb.so.12.8", "[unknown]", QZ_POOL_TBB},
	{"/usr/lib/libtbbmalloc.so.2", "scalable_malloc", QZ_POOLS},
	{"/opt/solver", "rayon_core::registry::WorkerThread::wait_until_cold", QZ_POOL_RAYON},
	{"/opt/server", "tokio::runtime::scheduler::multi_thread::worker::run", QZ_POOL_TOKIO},
	{"/usr/bin/node", "uv__work_submit", QZ_POOL_LIBUV},
	{"[jit]", "java.util.concurrent.ThreadPoolExecutor.runWorker", QZ_POOL_JAVA},
	{"/opt/server", "runtime.goexit.abi0", QZ_POOL_GO},
	{"/usr/bin/redis-server", "IOThreadMain", QZ_POOL_REDIS},
	{"/usr/lib/libc.so.6", "sched_yield", QZ_POOLS},
	{"[kernel]", "runtime.goexit", QZ_POOLS},
};
#define NKNOWN ((int)(sizeof(known) / sizeof(known[0])))

START_TEST(pools_are_known_by_their_code)
{
	struct qz_procedure p = {.name = (char *)known[_i].procedure,
				 .module = (char *)known[_i].module,
				 .kind = QZ_PROCEDURE};

	ck_assert_int_eq(qz_pool__of_procedure(&p), known[_i].kind);
}
END_TEST

static const struct {
	const char *stack;
	enum qz_pool_kind kind;
	bool nested;
} stacks[] = {
	{"main work", QZ_POOLS, false},
	{"main exec_blas inner", QZ_POOL_OPENBLAS, false},
	/* matrices by OpenMP */
	{"main exec_blas GOMP_parallel [thread] gomp_start inner", QZ_POOL_OPENBLAS, false},
	{"main GOMP_parallel loop exec_blas", QZ_POOL_OPENBLAS, false},
	{"main GOMP_parallel loop", QZ_POOL_GNU_OPENMP, false},
	{"main GOMP_parallel [thread] gomp_start loop", QZ_POOL_GNU_OPENMP, false},
	{"main GOMP_parallel [thread] gomp_start loop GOMP_parallel inner", QZ_POOL_GNU_OPENMP,
	 false},
	{"main GOMP_parallel [thread] gomp_start loop GOMP_parallel [thread] gomp_start inner",
	 QZ_POOL_GNU_OPENMP, true},
	/* threads of the program with a pool each */
	{"main [thread] loop exec_blas [thread] blas_thread_server", QZ_POOL_OPENBLAS, false},
};
#define NSTACKS ((int)(sizeof(stacks) / sizeof(stacks[0])))

START_TEST(stacks_run_in_a_pool)
{
	struct fixture f = fixture__new();
	uint32_t node = fixture__stack(&f, stacks[_i].stack);
	struct qz_pools pools;
	bool nested;

	ck_assert_int_eq(f.err, 0);
	ck_assert_int_eq(qz_pools__init(&pools, f.p), 0);
	ck_assert_int_eq(qz_pools__at(&pools, node, &nested), stacks[_i].kind);
	ck_assert_int_eq(nested, stacks[_i].nested);
	qz_pools__free(&pools);
	qz_profile__free(f.p);
}
END_TEST

Suite *suite_pools(void)
{
	Suite *s = suite_create("pools");
	TCase *tc = tcase_create("pools");

	tcase_add_loop_test(tc, pools_are_known_by_their_code, 0, NKNOWN);
	tcase_add_loop_test(tc, stacks_run_in_a_pool, 0, NSTACKS);
	suite_add_tcase(s, tc);
	return s;
}
