/* SPDX-License-Identifier: GPL-2.0-only */
/* What processor time is for: the table of code, the stacks that it decides, and sums that lose nothing. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/costs/cost_table.h"
#include "core/costs/grain.h"
#include "core/estimate/estimate.h"
#include "core/util/base_name.h"
#include "tests/unit/failing.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define RANDOM_PROFILES 30
#define KERNEL		"[kernel]"
#define LIBC		"/usr/lib/x86_64-linux-gnu/libc.so.6"
#define APP		"/usr/bin/app"
#define PYTHON		"/usr/bin/python3.11"
#define JVM		"/usr/lib/jvm/lib/server/libjvm.so"
#define NODE		"/usr/bin/node"
#define JIT		"[jit]"

/* ---- the table ---- */

static const struct {
	const char *module, *name;
	enum qz_cost cost;
	enum qz_cost_origin origin;
	bool own;
} code[] = {
	{APP, "work", QZ_COST_WORK, QZ_ORIGIN_OTHER, true},
	{APP, "read", QZ_COST_WORK, QZ_ORIGIN_OTHER, true},
	{APP, "futile", QZ_COST_WORK, QZ_ORIGIN_OTHER, true},
	{LIBC, "read", QZ_COST_CALLS, QZ_ORIGIN_BLOCKS, false},
	{LIBC, "munmap", QZ_COST_CALLS, QZ_ORIGIN_MEMORY, false},
	{LIBC, "memcpy", QZ_COST_WORK, QZ_ORIGIN_OTHER, false},
	{LIBC, "pthread_create@@GLIBC_2.34", QZ_COST_STARTING, QZ_ORIGIN_THREADS, false},
	{LIBC, "___pthread_mutex_lock", QZ_COST_HANDING, QZ_ORIGIN_THREADS, false},
	{LIBC, "rand", QZ_COST_HANDING, QZ_ORIGIN_RANDOM, false},
	{APP, "rand", QZ_COST_WORK, QZ_ORIGIN_OTHER, true},
	{"/lib64/ld-linux-x86-64.so.2", "_dl_start", QZ_COST_STARTING, QZ_ORIGIN_PROCESSES, false},
	{"/lib64/ld-linux-x86-64.so.2", "__tls_get_addr", QZ_COST_WORK, QZ_ORIGIN_OTHER, false},
	{"/usr/lib/libgomp.so.1", "libgomp.so.1+0x1d00", QZ_COST_HANDING, QZ_ORIGIN_OPENMP, false},
	{"/usr/lib/libomp.so.5", "__kmp_fork_call", QZ_COST_HANDING, QZ_ORIGIN_OPENMP, false},
	{"/usr/lib/libtbb.so.12", "local_wait_for_all", QZ_COST_HANDING, QZ_ORIGIN_TBB, false},
	{"/usr/lib/libmpi.so.40", "PMPI_Barrier", QZ_COST_HANDING, QZ_ORIGIN_MPI, false},
	{"/usr/lib/openmpi3/mca_op_avx.so", "add", QZ_COST_WORK, QZ_ORIGIN_OTHER, false},
	{"/usr/lib/libopenblas.so.0", "exec_blas", QZ_COST_HANDING, QZ_ORIGIN_OPENBLAS, false},
	{"/usr/lib/libopenblas.so.0", "dgemm_kernel", QZ_COST_WORK, QZ_ORIGIN_OTHER, true},
	{APP, "runtime.chansend1", QZ_COST_HANDING, QZ_ORIGIN_GO, false},
	{APP, "runtime.newproc", QZ_COST_STARTING, QZ_ORIGIN_GO, false},
	{APP, "runtime.mallocgc", QZ_COST_WORK, QZ_ORIGIN_GO, false},
	{APP, "main.main", QZ_COST_WORK, QZ_ORIGIN_OTHER, true},
	{JVM, "JVM_StartThread", QZ_COST_STARTING, QZ_ORIGIN_JAVA, false},
	{JVM, "ObjectMonitor::enter(JavaThread*)", QZ_COST_HANDING, QZ_ORIGIN_JAVA, false},
	{APP, "<std::sync::mpmc::list::Channel<T>>::send", QZ_COST_HANDING, QZ_ORIGIN_RUST, false},
	{APP, "std::thread::spawn", QZ_COST_STARTING, QZ_ORIGIN_THREADS, false},
	{APP, "rayon_core::sleep::Sleep::sleep", QZ_COST_HANDING, QZ_ORIGIN_RUST, false},
	{APP, "tokio::sync::mpsc::chan::Tx::send", QZ_COST_HANDING, QZ_ORIGIN_RUST, false},
	{APP, "std::condition_variable::wait(x)", QZ_COST_HANDING, QZ_ORIGIN_THREADS, false},
	{"/usr/bin/node", "uv_async_send", QZ_COST_HANDING, QZ_ORIGIN_LIBUV, false},
	{PYTHON, "PyThread_acquire_lock_timed", QZ_COST_HANDING, QZ_ORIGIN_PYTHON, false},
	{PYTHON, "python3.11+0x668780", QZ_COST_WORK, QZ_ORIGIN_OTHER, false},
	{JIT, "void java.io.FileOutputStream.write(int, boolean)", QZ_COST_WORK, QZ_ORIGIN_OTHER,
	 false},
	{JIT, "java.lang.Object java.util.concurrent.LinkedBlockingQueue.take()", QZ_COST_HANDING,
	 QZ_ORIGIN_JAVA, false},
	{JIT, "long Work.sum(java.io.File)", QZ_COST_WORK, QZ_ORIGIN_OTHER, true},
	{JIT, "JS:readSync node:fs:709:18", QZ_COST_WORK, QZ_ORIGIN_OTHER, false},
	{JIT, "JS:parse /home/node/app.js:2:18", QZ_COST_WORK, QZ_ORIGIN_OTHER, true},
	{NODE, "node::fs::Read(v8::FunctionCallbackInfo<v8::Value> const&)", QZ_COST_WORK,
	 QZ_ORIGIN_OTHER, false},
	{"/usr/lib/_pickle.cpython-311-x86_64-linux-gnu.so", "save", QZ_COST_COPYING,
	 QZ_ORIGIN_PYTHON, false},
	{KERNEL, "__x64_sys_futex", QZ_COST_HANDING, QZ_ORIGIN_OTHER, false},
	{KERNEL, "__do_sys_clone3", QZ_COST_STARTING, QZ_ORIGIN_OTHER, false},
	{KERNEL, "__x64_sys_exit_group", QZ_COST_STARTING, QZ_ORIGIN_OTHER, false},
	{KERNEL, "anon_pipe_write", QZ_COST_COPYING, QZ_ORIGIN_PIPES, false},
	{KERNEL, "__x64_sys_munmap", QZ_COST_CALLS, QZ_ORIGIN_MEMORY, false},
	{KERNEL, "ksys_read", QZ_COST_CALLS, QZ_ORIGIN_BLOCKS, false},
	{KERNEL, "__x64_sys_readlink", QZ_COST_CALLS, QZ_ORIGIN_FILES, false},
	{KERNEL, "__x64_sys_clock_gettime", QZ_COST_CALLS, QZ_ORIGIN_CLOCK, false},
	{KERNEL, "__x64_sys_getpid", QZ_COST_CALLS, QZ_ORIGIN_OTHER, false},
	{KERNEL, "__x64_sys_getdents64", QZ_COST_CALLS, QZ_ORIGIN_FILES, false},
	{KERNEL, "__do_sys_newfstatat", QZ_COST_CALLS, QZ_ORIGIN_FILES, false},
	{KERNEL, "kthread", QZ_COST_WORK, QZ_ORIGIN_OTHER, true},
};

START_TEST(code_is_known)
{
	struct qz_procedure procedure = {.name = (char *)code[_i].name,
					 .module = (char *)code[_i].module};
	const struct qz_cost_code *row = qz_cost_code__find(&procedure);

	ck_assert_int_eq(!row, code[_i].own);
	if (!row)
		return;
	ck_assert_int_eq(row->cost, code[_i].cost);
	ck_assert_int_eq(row->origin, code[_i].origin);
}
END_TEST

/* ---- stacks ---- */

static const struct {
	const char *
		stack; /* outermost first; "k:" and "c:" are code of the kernel and of the C library */
	enum qz_cost cost;
	const char *asker, *through; /* NULL: none */
	bool bulk, nested;
} stacks[] = {
	{"main work", QZ_COST_WORK, "work", NULL, false, false},
	{"main work c:memcpy", QZ_COST_WORK, "work", "c:memcpy", false, false},
	{"main c:qsort less", QZ_COST_WORK, "less", NULL, false, false},
	/* the outermost one is what was asked for */
	{"main c:pthread_create c:mmap k:entry_SYSCALL_64 k:__x64_sys_mmap", QZ_COST_STARTING,
	 "main", "c:pthread_create", false, false},
	{"main c:pthread_mutex_lock k:entry_SYSCALL_64 k:__x64_sys_futex", QZ_COST_HANDING, "main",
	 "c:pthread_mutex_lock", false, false},
	{"main GOMP_parallel c:pthread_create c:clone3", QZ_COST_STARTING, "main", "GOMP_parallel",
	 false, false},
	{"main GOMP_parallel gomp_team_barrier_wait", QZ_COST_HANDING, "main", "GOMP_parallel",
	 false, false},
	{"main GOMP_parallel main._omp_fn.0 GOMP_parallel gomp_team_start", QZ_COST_HANDING,
	 "main._omp_fn.0", "GOMP_parallel", false, true},
	{"main GOMP_parallel [thread] gomp_thread_start main._omp_fn.0", QZ_COST_WORK,
	 "main._omp_fn.0", NULL, false, false},
	/* a scheduler's class is not that of the loop's body, which is inlined in a template */
	{"main t:execute tbb::detail::start_for::execute m:sin", QZ_COST_WORK, "main", "t:execute",
	 false, false},
	{"main t:execute tbb::detail::start_for::execute t:spawn", QZ_COST_HANDING, "main",
	 "t:execute", false, false},
	{"main t:execute", QZ_COST_HANDING, "main", "t:execute", false, false},
	/* calls, by the call and by the byte */
	{"main c:read k:entry_SYSCALL_64 k:ksys_read k:fdget", QZ_COST_CALLS, "main", "c:read",
	 false, false},
	{"main c:read k:entry_SYSCALL_64 k:ksys_read k:filemap_read k:rep_movs_alternative",
	 QZ_COST_CALLS, "main", "c:read", true, false},
	{"main c:read k:entry_SYSCALL_64 k:ksys_read k:filemap_read k:filemap_get_pages",
	 QZ_COST_CALLS, "main", "c:read", false, false},
	{"main c:write k:entry_SYSCALL_64 k:ksys_write k:ext4_buffered_write_iter "
	 "k:__filemap_get_folio k:filemap_add_folio",
	 QZ_COST_CALLS, "main", "c:write", true, false},
	{"main c:readdir k:entry_SYSCALL_64 k:__x64_sys_getdents64 k:iterate_dir", QZ_COST_CALLS,
	 "main", "c:readdir", true, false},
	{"main c:write k:entry_SYSCALL_64 k:ksys_write k:pipe_write", QZ_COST_COPYING, "main",
	 "c:write", false, false},
	{"main work k:asm_exc_page_fault k:clear_page_erms", QZ_COST_CALLS, "work",
	 "k:asm_exc_page_fault", true, false},
	{"main c:malloc c:sysmalloc k:entry_SYSCALL_64 k:__x64_sys_brk", QZ_COST_CALLS, "main",
	 "c:malloc", false, false},
	/* no procedure asks for interrupts, and they do not change what runs */
	{"main work k:asm_sysvec_apic_timer_interrupt k:sock_read k:__x64_sys_futex", QZ_COST_WORK,
	 "work", "k:asm_sysvec_apic_timer_interrupt", false, false},
	{"main c:write k:entry_SYSCALL_64 k:asm_common_interrupt k:x", QZ_COST_CALLS, "main",
	 "c:write", false, false},
	/* code of libraries alone begins and ends threads and processes */
	{"main spawn [thread] c:start_thread c:madvise k:__x64_sys_madvise", QZ_COST_STARTING,
	 "spawn", "c:start_thread", false, false},
	{"main spawn [thread] k:ret_from_fork_asm k:schedule_tail", QZ_COST_STARTING, "spawn",
	 "k:ret_from_fork_asm", false, false},
	{"sh run c:fork [process] c:exit k:__x64_sys_exit_group k:do_exit", QZ_COST_STARTING, "run",
	 "c:fork", false, false},
	{"c:_start c:__libc_start_main c:exit", QZ_COST_STARTING, NULL, NULL, false, false},
	{"main [thread] c:start_thread loop c:pthread_cond_wait", QZ_COST_HANDING, "loop",
	 "c:pthread_cond_wait", false, false},
	/* a runtime may work for itself */
	{"main [thread] runtime.mstart runtime.gcBgMarkWorker", QZ_COST_WORK, "main",
	 "runtime.mstart", false, false},
	{"k:ret_from_fork k:kthread k:worker_thread", QZ_COST_WORK, "k:kthread", "k:worker_thread",
	 false, false},
	/* a language's own functions ask, not what runs them */
	{"i:Py_RunMain p:me/bytes.py:main i:_Py_read c:read k:entry_SYSCALL_64 k:ksys_read",
	 QZ_COST_CALLS, "p:me/bytes.py:main", "i:_Py_read", false, false},
	{"i:Py_RunMain p:me/hash.py:main i:sha256", QZ_COST_WORK, "p:me/hash.py:main", "i:sha256",
	 false, false},
	{"n:node::Start j:parse n:Builtins_CEntry n:node::fs::Read c:read k:entry_SYSCALL_64",
	 QZ_COST_CALLS, "j:parse", "n:Builtins_CEntry", false, false},
	/* where none is known, the innermost procedure of the runtime does, in this process */
	{"i:Py_RunMain i:eval i:_Py_read c:read k:entry_SYSCALL_64 k:ksys_read", QZ_COST_CALLS,
	 "i:_Py_read", "c:read", false, false},
	{"sh c:fork [process] i:Py_RunMain i:_Py_read c:read k:entry_SYSCALL_64", QZ_COST_CALLS,
	 "i:_Py_read", "c:read", false, false},
	{"[truncated] i:_Py_read c:read k:entry_SYSCALL_64", QZ_COST_CALLS, "i:_Py_read", "c:read",
	 false, false},
	{"main j:[unknown] n:node::fs::Read c:read k:entry_SYSCALL_64", QZ_COST_CALLS,
	 "n:node::fs::Read", "c:read", false, false},
	/* pools of processes pack, for who has them; what they pack it for works */
	{"i:Py_RunMain p:me/pool.py:main p:lib/python3.11/multiprocessing/pool.py:Pool.__init__ "
	 "p:lib/python3.11/threading.py:Thread.start i:start c:pthread_create [thread] "
	 "p:lib/python3.11/multiprocessing/pool.py:Pool._handle_tasks "
	 "p:lib/python3.11/multiprocessing/connection.py:Connection._send i:_Py_write "
	 "c:pthread_cond_wait k:entry_SYSCALL_64 k:__x64_sys_futex",
	 QZ_COST_COPYING, "p:me/pool.py:main",
	 "p:lib/python3.11/multiprocessing/pool.py:Pool.__init__", false, false},
	{"p:me/pool.py:main p:lib/python3.11/multiprocessing/pool.py:IMapIterator.next "
	 "p:lib/python3.11/threading.py:Condition.wait i:PyThread_acquire_lock_timed",
	 QZ_COST_HANDING, "p:me/pool.py:main",
	 "p:lib/python3.11/multiprocessing/pool.py:IMapIterator.next", false, false},
	{"p:me/pool.py:main [process] p:lib/python3.11/multiprocessing/process.py:BaseProcess.run "
	 "p:lib/python3.11/multiprocessing/pool.py:worker p:me/pool.py:job i:sum",
	 QZ_COST_WORK, "p:me/pool.py:job", "i:sum", false, false},
	{"p:me/pool.py:main p:me/queue.py:send i:_Py_write c:write k:entry_SYSCALL_64",
	 QZ_COST_CALLS, "p:me/queue.py:send", "i:_Py_write", false, false},
	/* what is not known asks for nothing */
	{"[truncated] c:memcpy", QZ_COST_WORK, NULL, NULL, false, false},
};

/* "p:lib/queue.py:put" is a function of Python, "put (queue.py)". */
static void set_python(struct qz_procedure *procedure)
{
	const char *path = procedure->name + 2, *name = strchr(path, ':') + 1;
	char text[128];

	snprintf(text, sizeof(text), "/%.*s", (int)(name - 1 - path), path);
	ck_assert_int_eq(qz_profile__set_string(&procedure->file, text), 0);
	snprintf(text, sizeof(text), "%s (%s)", name, qz_base_name(procedure->file));
	ck_assert_int_eq(qz_profile__set_string(&procedure->module, QZ_PYTHON_MODULE), 0);
	ck_assert_int_eq(qz_profile__set_string(&procedure->name, text), 0);
}

/* By the letter before a colon. */
static void set_modules(struct qz_profile *p)
{
	static const char *const modules[] = {['k'] = KERNEL,
					      ['c'] = LIBC,
					      ['i'] = PYTHON,
					      ['n'] = NODE,
					      ['j'] = JIT,
					      ['m'] = "/usr/lib/libm.so.6",
					      ['t'] = "/usr/lib/libtbb.so.12"};

	for (uint32_t i = 0; i < p->nprocedures; i++) {
		struct qz_procedure *procedure = &p->procedures[i];
		size_t letter = (unsigned char)procedure->name[0];

		if (procedure->name[1] != ':' || procedure->name[2] == ':')
			continue;
		if (letter == 'p') {
			set_python(procedure);
			continue;
		}
		ck_assert_uint_lt(letter, sizeof(modules) / sizeof(modules[0]));
		ck_assert_int_eq(qz_profile__set_string(&procedure->module, modules[letter]), 0);
		memmove(procedure->name, procedure->name + 2, strlen(procedure->name + 2) + 1);
	}
}

/* Names of Python come as set_python() has set them. */
static void check_name(const struct qz_profile *p, uint32_t procedure, const char *name)
{
	const char *plain = name && name[1] == ':' ? name + 2 : name;

	if (!name) {
		ck_assert_uint_eq(procedure, QZ_NONE);
		return;
	}
	ck_assert_uint_ne(procedure, QZ_NONE);
	if (*name == 'p' && plain != name)
		ck_assert_int_eq(strncmp(p->procedures[procedure].name, strchr(plain, ':') + 1,
					 strlen(strchr(plain, ':') + 1)),
				 0);
	else
		ck_assert_str_eq(p->procedures[procedure].name, plain);
}

START_TEST(stacks_are_decided)
{
	struct fixture f = fixture__new();
	uint32_t leaf = fixture__stack(&f, stacks[_i].stack);
	struct qz_cost_stack s;
	struct qz_cost_walk w;

	ck_assert_int_eq(f.err, 0);
	set_modules(f.p);
	ck_assert_int_eq(qz_cost_walk__init(&w, f.p), 0);
	s = qz_cost_walk__at(&w, leaf);
	ck_assert_str_eq(qz_cost__name(s.cost), qz_cost__name(stacks[_i].cost));
	check_name(f.p, s.asker, stacks[_i].asker);
	check_name(f.p, s.through, stacks[_i].through);
	ck_assert_int_eq(s.bulk, stacks[_i].bulk);
	ck_assert_int_eq(s.nested, stacks[_i].nested);
	qz_cost_walk__free(&w);
	qz_profile__free(f.p);
}
END_TEST

/* By what is called, whichever runtime calls it; other classes by the runtime. */
static const struct {
	const char *stack;
	enum qz_cost_origin origin;
} calls[] = {
	{"main c:read k:entry_SYSCALL_64 k:do_syscall_64", QZ_ORIGIN_BLOCKS},
	{"main c:read k:entry_SYSCALL_64 k:ksys_read k:sock_read_iter", QZ_ORIGIN_SOCKETS},
	{"main runtime.mallocgc k:entry_SYSCALL_64 k:do_syscall_64 k:__x64_sys_clock_gettime",
	 QZ_ORIGIN_CLOCK},
	{"main c:stat k:entry_SYSCALL_64 k:__do_sys_newfstatat", QZ_ORIGIN_FILES},
	{"main c:syscall k:entry_SYSCALL_64 k:__x64_sys_getpid", QZ_ORIGIN_OTHER},
	{"main GOMP_parallel c:read k:entry_SYSCALL_64 k:ksys_read", QZ_ORIGIN_OPENMP},
};

START_TEST(calls_are_told_apart)
{
	struct fixture f = fixture__new();
	uint32_t leaf = fixture__stack(&f, calls[_i].stack);
	struct qz_cost_walk w;

	ck_assert_int_eq(f.err, 0);
	set_modules(f.p);
	ck_assert_int_eq(qz_cost_walk__init(&w, f.p), 0);
	ck_assert_str_eq(qz_cost_origin__name(qz_cost_walk__at(&w, leaf).origin),
			 qz_cost_origin__name(calls[_i].origin));
	qz_cost_walk__free(&w);
	qz_profile__free(f.p);
}
END_TEST

/* ---- sums ---- */

static void add_figures(const struct qz_profile *p, uint32_t scope, struct qz_figure *sum)
{
	*sum = (struct qz_figure) {0};
	for (uint32_t i = 0; i < p->nsamples; i++) {
		const struct qz_sample *s = &p->samples[i];

		if (s->scope != scope || qz_sample__is_unattributed(p, s))
			continue;
		sum->samples += s->count;
		sum->cpu_ns += s->cpu_ns;
		sum->norm_ns += s->norm_ns;
	}
}

/* Classes add up to all samples, and the rows of each to the class. */
START_TEST(nothing_is_lost)
{
	struct qz_profile *p = fixture__random((unsigned int)_i);

	for (uint32_t scope = 0; scope < p->nscopes; scope++) {
		struct qz_report *r = qz_report__new(p, scope);
		struct qz_figure all, sum = {0};
		struct qz_cost_table t;

		ck_assert_int_eq(qz_cost_table__find(&t, r), 0);
		add_figures(p, scope, &all);
		for (int cost = 0; cost < QZ_COSTS; cost++) {
			const struct qz_cost_class *class = &t.classes[cost];
			uint64_t norm_ns = 0;

			for (uint32_t i = 0; i < class->n; i++) {
				ck_assert_int_eq(class->rows[i].cost, cost);
				norm_ns += class->rows[i].figure.norm_ns;
			}
			ck_assert_uint_eq(norm_ns, class->figure.norm_ns);
			ck_assert_uint_le(class->bulk_norm_ns, class->figure.norm_ns);
			sum.samples += class->figure.samples;
			sum.cpu_ns += class->figure.cpu_ns;
			sum.norm_ns += class->figure.norm_ns;
		}
		ck_assert_uint_eq(sum.samples, all.samples);
		ck_assert_uint_eq(sum.cpu_ns, all.cpu_ns);
		ck_assert_uint_eq(sum.norm_ns, all.norm_ns);
		ck_assert_uint_eq(t.classes[QZ_COST_SPINNING].figure.cpu_ns, r->spin_ns);
		qz_cost_table__free(&t);
		qz_report__free(r);
	}
	qz_profile__free(p);
}
END_TEST

START_TEST(lack_of_memory_is_reported)
{
	struct qz_profile *p = fixture__random(5);
	struct qz_report *r = qz_report__new(p, 0);
	int err = -1;

	for (unsigned int i = 1; err; i++) {
		struct qz_cost_table t;

		failing__arm(i);
		err = qz_cost_table__find(&t, r);
		ck_assert_int_eq(failing__disarm(), err != 0);
		qz_cost_table__free(&t);
	}
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

/* ---- grain ---- */

/* Ten samples of 10 ms of starting, twenty of handing over, and five of the command's own start, which does not count. */
static struct qz_report *make_steps(struct fixture *f)
{
	*f = fixture__new();
	fixture__scope(f, (uint64_t[]) {0, 350000000}, 2);
	fixture__thread(f, 0, 100);
	fixture__samples(f, 0, 0, "main c:pthread_create", 1, 10);
	fixture__samples(f, 0, 0, "main c:pthread_mutex_lock", 1, 20);
	fixture__samples(f, 0, 0, "c:_start c:exit", 1, 5);
	ck_assert_int_eq(f->err, 0);
	set_modules(f->p);
	ck_assert_int_eq(qz_estimate__profile(f->p), 0);
	return qz_report__new(f->p, 0);
}

START_TEST(each_has_its_cost)
{
	struct fixture f;
	struct qz_report *r = make_steps(&f);
	struct qz_scope_counters *c = &f.p->scopes[0].counters;
	struct qz_cost_table t;
	struct qz_grain g;

	ck_assert_int_eq(qz_cost_table__find(&t, r), 0);
	g = qz_grain__find(&f.p->scopes[0], &t);
	ck_assert(qz_grain__is_none(&g));
	ck_assert_uint_eq(g.half_below_ns, 0);
	c->threads_started = 15;
	c->processes_started = 5;
	c->grain[0] = 49;
	c->grain[3] = 50;
	c->grain[QZ_GRAINS - 1] = 1;
	g = qz_grain__find(&f.p->scopes[0], &t);
	ck_assert(!qz_grain__is_none(&g));
	ck_assert_uint_eq(g.hand_overs, 100);
	ck_assert_double_eq_tol(g.start.ns, 100e6 / 20, 1);
	ck_assert_uint_eq(g.start.samples, 10);
	ck_assert_double_eq_tol(g.hand_over.ns, 200e6 / 100, 1);
	ck_assert_uint_eq(g.hand_over.samples, 20);
	ck_assert_uint_eq(g.half_below_ns, 8000);
	c->grain[0]++;
	c->grain[3]--;
	ck_assert_uint_eq(qz_grain__find(&f.p->scopes[0], &t).half_below_ns, 1000);
	c->grain[QZ_GRAINS - 1] = 1000;
	ck_assert_uint_eq(qz_grain__find(&f.p->scopes[0], &t).half_below_ns, UINT64_MAX);
	qz_cost_table__free(&t);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

/* Ten samples of reading a pipe, twenty of writing a file, and thirty of a call that is not counted. */
START_TEST(each_call_has_its_cost)
{
	struct fixture f = fixture__new();
	struct qz_cost_table t;
	struct qz_report *r;
	struct qz_grain g;

	fixture__scope(&f, (uint64_t[]) {0, 600000000}, 2);
	fixture__thread(&f, 0, 100);
	fixture__samples(&f, 0, 0, "main c:read k:entry_SYSCALL_64 k:ksys_read k:pipe_read", 1, 10);
	fixture__samples(&f, 0, 0, "main k:do_syscall_64 k:__x64_sys_pwrite64 k:shmem_write_end", 1,
			 15);
	fixture__samples(&f, 0, 0, "main c:write", 1, 5);
	fixture__samples(&f, 0, 0, "main k:do_syscall_64 k:__x64_sys_readlink", 1, 30);
	ck_assert_int_eq(f.err, 0);
	set_modules(f.p);
	ck_assert_int_eq(qz_estimate__profile(f.p), 0);
	r = qz_report__new(f.p, 0);
	ck_assert_int_eq(qz_cost_table__find(&t, r), 0);
	g = qz_grain__find(&f.p->scopes[0], &t);
	ck_assert_uint_eq(g.read.samples + g.write.samples, 0);
	f.p->scopes[0].counters.transfers = (struct qz_transfers) {1000, 1000, 400, 0};
	g = qz_grain__find(&f.p->scopes[0], &t);
	ck_assert(!qz_grain__is_none(&g));
	ck_assert_uint_eq(g.read.samples, 10);
	ck_assert_double_eq_tol(g.read.ns, 100e6 / 1000, 1);
	ck_assert_uint_eq(g.write.samples, 20);
	ck_assert_double_eq_tol(g.write.ns, 200e6 / 400, 1);
	qz_cost_table__free(&t);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(bytes_of_a_call)
{
	static const struct {
		uint64_t bytes, calls;
		const char *text;
	} means[] = {
		{0, 0, "0 bytes"},
		{1, 3, "0 bytes"},
		{1000005, 1000000, "1 byte"},
		{4096, 8, "512 bytes"},
		{1023, 1, "1023 bytes"},
		{1024, 1, "1 KiB"},
		{65536 * 7, 7, "64 KiB"},
		{1536, 1, "1.5 KiB"},
		{3 << 20, 1, "3 MiB"},
		{UINT64_MAX, 1, "1.72e+10 GiB"},
	};
	char room[QZ_GRAIN_BYTES];

	for (size_t i = 0; i < sizeof(means) / sizeof(means[0]); i++)
		ck_assert_str_eq(qz_grain__bytes(means[i].bytes, means[i].calls, room),
				 means[i].text);
}
END_TEST

Suite *suite_costs(void)
{
	Suite *s = suite_create("costs");
	TCase *tc = tcase_create("all");

	tcase_add_loop_test(tc, code_is_known, 0, sizeof(code) / sizeof(code[0]));
	tcase_add_loop_test(tc, stacks_are_decided, 0, sizeof(stacks) / sizeof(stacks[0]));
	tcase_add_loop_test(tc, calls_are_told_apart, 0, sizeof(calls) / sizeof(calls[0]));
	tcase_add_loop_test(tc, nothing_is_lost, 0, RANDOM_PROFILES);
	tcase_add_test(tc, lack_of_memory_is_reported);
	tcase_add_test(tc, each_has_its_cost);
	tcase_add_test(tc, each_call_has_its_cost);
	tcase_add_test(tc, bytes_of_a_call);
	suite_add_tcase(s, tc);
	return s;
}
