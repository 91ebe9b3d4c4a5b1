/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * make_profiles DIRECTORY: writes the profiles that the tests of quartzctl read. The same bytes
 * each time, so that a change of the file format shows.
 */
#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/model/what_if.h"
#include "core/estimate/estimate.h"
#include "core/format/pprof.h"
#include "core/transform/timeline_cut.h"

#define MS 1000000ULL

/* ---- building ---- */

static uint32_t must(int64_t index)
{
	if (index < 0)
		errx(1, "cannot build a profile: %s", strerror((int)-index));
	return (uint32_t)index;
}

static struct qz_profile *new_profile(uint32_t processors)
{
	struct qz_profile *p = qz_profile__new();

	if (!p || qz_profile__set_string(&p->quartz_version, "0.1.0") ||
	    qz_profile__set_string(&p->kernel, "6.1.0-18-amd64") ||
	    qz_profile__set_string(&p->machine, "symmetry") ||
	    qz_profile__set_string(&p->event, "cpu-clock"))
		errx(1, "out of memory");
	p->rate_hz = 100;
	p->processors = processors;
	p->wall_start_ns = 643284000000 * MS; /* 1990-05-21 */
	return p;
}

static uint32_t add_scope(struct qz_profile *p, enum qz_scope_kind kind, int pid, char *comm,
			  char *command, uint64_t *level_ns)
{
	struct qz_scope scope = {
		.kind = kind,
		.pid = pid,
		.comm = comm,
		.command = command,
		.nlevels = p->processors + 1,
		.level_ns = level_ns,
		.ended = true,
	};

	for (uint32_t n = 0; n < scope.nlevels; n++) {
		scope.elapsed_ns += level_ns[n];
		scope.cpu_ns += n * level_ns[n];
	}
	scope.runnable_ns = scope.cpu_ns;
	if (scope.elapsed_ns > p->window_ns)
		p->window_ns = scope.elapsed_ns;
	return must(qz_profile__add_scope(p, &scope));
}

static uint32_t add_thread(struct qz_profile *p, uint32_t scope, int tid, char *comm)
{
	struct qz_thread thread = {
		.scope = scope,
		.tid = tid,
		.pid = p->scopes[scope].pid,
		.comm = comm,
		.name = "",
		.end_ns = p->scopes[scope].elapsed_ns,
		.ended = true,
	};

	p->scopes[scope].counters.threads_seen++;
	return must(qz_profile__add_thread(p, &thread));
}

static uint32_t call(struct qz_profile *p, uint32_t caller, char *name, char *module, char *file)
{
	struct qz_procedure procedure = {name, module, file, *file ? 12 : 0, QZ_PROCEDURE};
	struct qz_line line = {must(qz_profile__intern_procedure(p, &procedure)), 0};
	struct qz_location location = {0x1000 + 64 * (uint64_t)line.procedure, QZ_NONE, 1, &line};
	uint32_t index = must(qz_profile__intern_location(p, &location));

	return must(qz_profile__intern_node(p, caller, index));
}

static uint32_t mark(struct qz_profile *p, uint32_t caller, enum qz_procedure_kind kind)
{
	return must(qz_profile__intern_node(p, caller, must(qz_profile__marker(p, kind))));
}

/* Of procedures by nodes; node 0: no known caller. */
static void count_calls(struct qz_profile *p, uint32_t scope, uint32_t caller, uint32_t callee,
			uint64_t count)
{
	const struct qz_node *nodes = p->nodes;
	struct qz_call_count key = {.scope = scope, .caller = QZ_NONE};
	uint32_t index;

	if (caller)
		key.caller = p->locations[nodes[caller].location].lines[0].procedure;
	key.callee = p->locations[nodes[callee].location].lines[0].procedure;
	index = must(qz_call_counts__intern(p, &key));
	p->calls[index].count += count;
}

/* Counts samples, and gives their time to the thread and the ledger as the kernel would. */
static void sample_as(struct qz_profile *p, struct qz_sample samples)
{
	struct qz_thread *t = &p->threads[samples.thread];
	uint64_t count = samples.count, ns = count * 1000 * MS / p->rate_hz;

	samples.scope = t->scope;
	must(qz_profile__add_samples(p, &samples));
	p->scopes[t->scope].samples += count;
	must(qz_losses__add(&p->scopes[t->scope].stack_ends, &p->scopes[t->scope].nstack_ends,
			    "outermost", count));
	p->ledger.accepted += count;
	p->ledger.expected += count;
	t->cpu_ns += ns;
	t->running_ns += ns;
}

static void sample(struct qz_profile *p, uint32_t thread, uint32_t node, uint32_t level,
		   uint64_t count)
{
	sample_as(p, (struct qz_sample) {.thread = thread,
					 .node = node,
					 .level = level,
					 .busy = level,
					 .object = QZ_NONE,
					 .count = count});
}

/* The same while others wait for the object. */
static void hold(struct qz_profile *p, uint32_t thread, uint32_t node, uint32_t level,
		 uint32_t object, uint64_t count)
{
	sample_as(p, (struct qz_sample) {.thread = thread,
					 .node = node,
					 .level = level,
					 .busy = level,
					 .object = object,
					 .count = count});
}

static uint32_t add_object(struct qz_profile *p, uint32_t kind, char *name, char *module)
{
	struct qz_object object = {.kind = kind,
				   .pid = p->scopes[0].pid,
				   .address = 0x404080 + 64 * (uint64_t)p->nobjects,
				   .name = name,
				   .module = module};
	uint32_t index = must(qz_waits__intern_object(p, &object));

	p->objects[index].grouped = 1;
	return index;
}

/* Charges a wait to its stack, its object, and its thread as far as it was ready. */
static void wait_for(struct qz_profile *p, uint32_t thread, uint32_t node, const char *cause,
		     struct qz_wait wait)
{
	wait.scope = p->threads[thread].scope;
	wait.thread = thread;
	wait.node = node;
	wait.cause = must(qz_waits__intern_cause(p, cause));
	must(qz_waits__add(p, &wait));
	p->threads[thread].ready_ns += wait.ready_ns;
	p->scopes[wait.scope].runnable_ns += wait.ready_ns;
	if (wait.object != QZ_NONE) {
		p->objects[wait.object].waits += wait.count;
		p->objects[wait.object].wakes += wait.count;
		p->objects[wait.object].wait_ns += wait.blocked_ns;
	}
}

/* Of the samples whose walk came to the outermost frame, some did not. */
static void end_otherwise(struct qz_scope *scope, const char *end, uint64_t count)
{
	scope->stack_ends[0].count -= count;
	must(qz_losses__add(&scope->stack_ends, &scope->nstack_ends, end, count));
}

static void write_profile(struct qz_profile *p, int directory, const char *name)
{
	int fd = openat(directory, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	int error;

	for (uint32_t i = 0; i < p->nthreads; i++) {
		struct qz_thread *t = &p->threads[i];

		t->blocked_ns = t->end_ns - t->running_ns - t->ready_ns - t->unknown_ns;
	}
	if (fd < 0)
		err(1, "%s", name);
	error = qz_estimate__profile(p);
	if (!error)
		error = qz_pprof__write(p, fd);
	if (error || close(fd))
		errx(1, "%s: %s", name, strerror(-error));
	qz_profile__free(p);
}

/* ---- the profiles ---- */

/*
 * Verify, the circuit verifier of the case study in the 1990 paper: 18 processors, a serial phase
 * that builds cones and logs them, then parallel work. Its figure 1 gives the amounts.
 */
static void make_verify(int directory)
{
	enum { PROCESSORS = 18 };
	static char module[] = "/usr/local/bin/verify";
	uint64_t level_ns[PROCESSORS + 1] = {70 * MS, 6060 * MS};
	struct qz_profile *p = new_profile(PROCESSORS);
	uint32_t threads[PROCESSORS], work[PROCESSORS];
	uint32_t scope, main_node, started, cone, input;

	for (uint32_t n = 2; n < PROCESSORS; n++)
		level_ns[n] = 10 * n * MS;
	level_ns[16] = 880 * MS;
	level_ns[17] = 1430 * MS;
	level_ns[18] = 6730 * MS;
	scope = add_scope(p, QZ_SCOPE_JOB, 4711, "verify", "verify -p 18 c6288.ckt c6288.opt",
			  level_ns);
	main_node = call(p, call(p, 0, "_start", module, ""), "main", module, "verify.c");
	input = call(p, main_node, "input", module, "input.c");
	cone = call(p, main_node, "create_cone", module, "cone.c");
	work[0] = call(p, main_node, "work", module, "work.c");
	started = call(p, mark(p, main_node, QZ_THREAD_START), "work", module, "work.c");
	for (int i = 0; i < PROCESSORS; i++) {
		threads[i] = add_thread(p, scope, 4711 + i, "verify");
		work[i] = i ? started : work[0];
	}
	sample(p, threads[0], main_node, 1, 31);
	sample(p, threads[0], input, 1, 123);
	sample(p, threads[0], call(p, input, "parse_gate", module, "input.c"), 1, 70);
	sample(p, threads[0], cone, 1, 62);
	sample(p, threads[0],
	       call(p, call(p, cone, "log_cone", module, "log.c"), "fprintf",
		    "/lib/x86_64-linux-gnu/libc.so.6", ""),
	       1, 300);
	sample(p, threads[0], call(p, work[0], "compare", module, "work.c"), 1, 20);
	for (uint32_t n = 2; n <= PROCESSORS; n++) {
		for (uint32_t i = 0; i < n; i++) {
			uint64_t all = level_ns[n] / (10 * MS), lock = all / 20, self = all / 10;

			sample(p, threads[i], work[i], n, self);
			sample(p, threads[i], call(p, work[i], "lock_table", module, "lock.c"), n,
			       lock);
			sample(p, threads[i], call(p, work[i], "compare", module, "work.c"), n,
			       all - lock - self);
		}
	}
	p->scopes[scope].counters.creations = PROCESSORS - 1;
	write_profile(p, directory, "verify.pb.gz");
}

/* Two scopes: a server of two threads, and a tree of processes. */
static void make_two(int directory)
{
	uint64_t server_ns[] = {7500 * MS, 2000 * MS, 500 * MS, 0, 0};
	uint64_t tree_ns[] = {0, 1000 * MS, 0, 0, 3000 * MS};
	struct qz_profile *p = new_profile(4);
	uint32_t server = add_scope(p, QZ_SCOPE_PROCESS, 100, "redis-server", "", server_ns);
	uint32_t tree = add_scope(p, QZ_SCOPE_TREE, 200, "make", "make -j4", tree_ns);
	uint32_t loop = add_thread(p, server, 100, "redis-server");
	uint32_t io = add_thread(p, server, 101, "io_thd_1");
	uint32_t main_node = call(p, 0, "main", "/usr/bin/redis-server", "");
	uint32_t make = call(p, 0, "main", "/usr/bin/make", "");
	uint32_t compile =
		call(p, mark(p, make, QZ_PROCESS_START), "compile_file", "/usr/libexec/cc1", "");
	uint32_t poll = call(p, main_node, "aeProcessEvents", "/usr/bin/redis-server", "");

	p->live = true;
	sample(p, loop, poll, 1, 150);
	sample(p, loop, call(p, poll, "do_epoll_wait", "[kernel]", ""), 1, 50);
	sample(p, loop, poll, 2, 50);
	sample(p, io,
	       call(p, mark(p, main_node, QZ_THREAD_START), "IOThreadMain", "/usr/bin/redis-server",
		    ""),
	       2, 50);
	qz_profile__set_string(&p->threads[io].name, "io 1");
	sample(p, add_thread(p, tree, 200, "make"), make, 1, 100);
	for (int i = 0; i < 4; i++)
		sample(p, add_thread(p, tree, 201 + i, "cc1"), compile, 4, 300);
	write_profile(p, directory, "two.pb.gz");
}

/* Everything that can be incomplete is. */
static void make_troubled(int directory)
{
	uint64_t level_ns[] = {100 * MS, 1000 * MS, 2000 * MS, 250 * MS, 0};
	struct qz_profile *p = new_profile(4);
	uint32_t scope = add_scope(p, QZ_SCOPE_PROCESS, 300, "troubled", "./troubled", level_ns);
	uint32_t first = add_thread(p, scope, 300, "troubled");
	uint32_t others = add_thread(p, scope, 0, "short");
	uint32_t main_node = call(p, 0, "main", "/srv/troubled", "");
	uint32_t cut = call(p, mark(p, 0, QZ_TRUNCATED), "worker", "/srv/troubled", "");
	uint32_t orphan = call(p, mark(p, 0, QZ_THREAD_START), "worker", "/srv/troubled", "");
	struct qz_ledger *ledger = &p->ledger;

	sample(p, first, main_node, 1, 90);
	sample(p, first, call(p, main_node, "worker", "/srv/troubled", ""), 2, 150);
	sample(p, others, cut, 2, 100);
	sample(p, others, orphan, 2, 150);
	p->threads[first].unknown_ns = 100 * MS;
	p->threads[first].ready_ns = 50 * MS;
	p->scopes[scope].runnable_ns += 50 * MS;
	p->threads[others].merged = true;
	p->scopes[scope].counters.threads_seen = 41;
	p->scopes[scope].truncated = 100;
	end_otherwise(&p->scopes[scope], "no_row", 60);
	end_otherwise(&p->scopes[scope], "not_ready", 45);
	end_otherwise(&p->scopes[scope], "fault", 2);
	end_otherwise(&p->scopes[scope], "of_the_future", 1);
	end_otherwise(&p->scopes[scope], "guessed", 20);
	p->scopes[scope].unresolved = 1;
	p->scopes[scope].counters.creations = 40;
	p->scopes[scope].counters.creations_lost = 3;
	must(qz_ledger__add_loss(ledger, "stack_map_full", 12));
	must(qz_ledger__add_loss(ledger, "throttled", 3));
	must(qz_ledger__add_loss(ledger, "recursion", 0));
	must(qz_ledger__add_event(ledger, "implicit_switches", 7));
	must(qz_ledger__add_event(ledger, "events_lost", 3));
	must(qz_ledger__add_event(ledger, "mappings_lost", 0));
	must(qz_ledger__add_event(ledger, "modules_refused", 1200));
	ledger->filtered = 2000;
	ledger->expected += 2000 + 15 + 60;
	qz_ledger__close(ledger);
	write_profile(p, directory, "troubled.pb.gz");
}

/* Names that mean harm, that are missing, that are long, or that are shared. */
static void make_hostile(int directory)
{
	static char cpp[] =
		"std::vector<std::basic_string<char>, std::allocator<"
		"std::basic_string<char>>>::emplace_back<char const (&)[6]>(char const (&)[6])";
	uint64_t level_ns[] = {0, 2000 * MS, 0};
	struct qz_profile *p = new_profile(2);
	uint32_t scope = add_scope(p, QZ_SCOPE_PROCESS, 400, "\033[2Jevil\n", "\033]0;evil\a x\ny",
				   level_ns);
	uint32_t thread = add_thread(p, scope, 400, "\033[2Jevil\n");
	uint32_t root = call(p, 0, "main\033[31m", "/tmp/\033[1mapp", "");

	sample(p, thread, call(p, root, "right\u202eleft", "/tmp/app", ""), 1, 10);
	sample(p, thread, call(p, root, "bad\xff\xc3utf8", "/tmp/app", ""), 1, 20);
	sample(p, thread, call(p, root, "naïve_größe", "/tmp/app", ""), 1, 30);
	sample(p, thread, call(p, root, "", "/tmp/app", ""), 1, 35);
	sample(p, thread, call(p, root, cpp, "/tmp/app", ""), 1, 40);
	sample(p, thread, call(p, root, "worker", "/tmp/app", "a.c"), 1, 15);
	sample(p, thread, call(p, root, "worker", "/tmp/app", "src/b.c"), 1, 16);
	sample(p, thread, call(p, root, "worker", "/usr/lib/liba.so.1", ""), 1, 17);
	sample(p, thread, call(p, root, "app+0x4a10", "/tmp/app", ""), 1, 17);
	wait_for(p, thread, root, "fut\033[31mex",
		 (struct qz_wait) {QZ_NONE,
				   .object = add_object(p, QZ_OBJECT_MUTEX, "\033[2Jlock\n",
							"/tmp/\033[1mapp"),
				   .count = 1, .blocked_ns = 100 * MS});
	write_profile(p, directory, "hostile.pb.gz");
}

/* Many processors: more levels than lines. */
static void make_wide(int directory)
{
	enum { PROCESSORS = 128 };
	uint64_t level_ns[PROCESSORS + 1] = {0, 5000 * MS};
	struct qz_profile *p = new_profile(PROCESSORS);
	uint32_t scope, main_node, worker;

	for (int n = 60; n <= PROCESSORS; n++)
		level_ns[n] = 20 * MS * (uint64_t)n;
	scope = add_scope(p, QZ_SCOPE_JOB, 500, "wide", "wide", level_ns);
	main_node = call(p, 0, "main", "/usr/bin/wide", "");
	worker = call(p, mark(p, main_node, QZ_THREAD_START), "worker", "/usr/bin/wide", "");
	for (uint32_t i = 0; i < PROCESSORS; i++) {
		uint32_t thread = add_thread(p, scope, (int)(500 + i), "wide");

		if (i % 16)
			continue; /* keeps the file small */
		if (!i)
			sample(p, thread, main_node, 1, 500);
		for (uint32_t n = i < 60 ? 60 : i + 1; n <= PROCESSORS; n++)
			sample(p, thread, i ? worker : main_node, n, 2 * n);
	}
	write_profile(p, directory, "wide.pb.gz");
}

/* A program that other programs left few processors; another main has no samples. */
static void make_crowded(int directory)
{
	uint64_t level_ns[] = {1000 * MS, 2500 * MS, 500 * MS};
	struct qz_profile *p = new_profile(2);
	uint32_t scope = add_scope(p, QZ_SCOPE_JOB, 700, "xz", "xz -T2", level_ns);
	uint32_t first = add_thread(p, scope, 701, "xz"), second = add_thread(p, scope, 702, "xz");
	uint32_t main_node = call(p, 0, "main", "/usr/bin/xz", "");

	call(p, 0, "main", "/usr/sbin/quartzd", "");
	sample(p, first, main_node, 1, 250);
	sample(p, first, main_node, 2, 50);
	sample(p, second, main_node, 2, 50);
	end_otherwise(&p->scopes[scope], "not_ready", 3);
	p->scopes[scope].truncated = 3;
	p->scopes[scope].runnable_ns += 4500 * MS;
	p->scopes[scope].counters.threads_seen = 5;
	write_profile(p, directory, "crowded.pb.gz");
}

struct locked {
	uint32_t mutex, pipe, push, compute, locking, unlocking, reading;
};

/* A worker ran 4 s, 1.6 s of them with the lock, waited 4.5 s for it and read a pipe for 1.4 s. */
static void make_worker(struct qz_profile *p, const struct locked *l, int tid)
{
	uint32_t worker = add_thread(p, 0, tid, "worker");

	hold(p, worker, l->push, 1, l->mutex, 125);
	hold(p, worker, l->push, 2, l->mutex, 35);
	sample(p, worker, l->compute, 2, 40);
	sample(p, worker, l->compute, 4, 200);
	wait_for(p, worker, l->locking, "futex",
		 (struct qz_wait) {QZ_NONE, .object = l->mutex, .nominal = 1, .count = 800,
				   .blocked_ns = 4000 * MS, .ready_ns = 60 * MS});
	wait_for(p, worker, l->locking, "futex",
		 (struct qz_wait) {QZ_NONE, .object = l->mutex, .nominal = 2, .count = 100,
				   .blocked_ns = 500 * MS, .ready_ns = 40 * MS});
	wait_for(p, worker, l->reading, "pipe",
		 (struct qz_wait) {QZ_NONE, .object = l->pipe, .nominal = 0, .count = 7,
				   .blocked_ns = 1400 * MS});
}

static void fill_queue(struct qz_object *o, int longest, uint64_t ns, uint64_t arrivals)
{
	for (int n = 1; n <= longest; n++) {
		o->queue_ns[n] = ns;
		o->arrivals[n - 1] = arrivals;
	}
}

/* Four workers that mostly wait for one lock, and main, which waits for them. */
static void make_locked(int directory)
{
	static char module[] = "/srv/locked", libc[] = "/lib/x86_64-linux-gnu/libc.so.6";
	uint64_t level_ns[] = {500 * MS, 6000 * MS, 1500 * MS, 0, 2000 * MS};
	struct qz_profile *p = new_profile(4);
	uint32_t scope = add_scope(p, QZ_SCOPE_JOB, 800, "locked", "./locked 4", level_ns);
	uint32_t first = add_thread(p, scope, 800, "locked");
	uint32_t main_node = call(p, 0, "main", module, "locked.c");
	uint32_t started =
		call(p, mark(p, main_node, QZ_THREAD_START), "worker", module, "locked.c");
	struct locked l = {.mutex = add_object(p, QZ_OBJECT_MUTEX, "queue_lock", module)};
	uint32_t done = add_object(p, QZ_OBJECT_CONDITION, "done", module);
	uint32_t buckets = add_object(p, QZ_OBJECT_MUTEX, "mutex in hash_insert", module);

	l.pipe = add_object(p, QZ_OBJECT_PIPE, "pipe:[4711]", "");
	l.push = call(p, started, "push", module, "queue.c");
	l.compute = call(p, started, "compute", module, "locked.c");
	l.locking = call(p, call(p, l.push, "pthread_mutex_lock", libc, ""), "__lll_lock_wait",
			 libc, "");
	l.unlocking = call(p, l.push, "pthread_mutex_unlock", libc, "");
	l.reading = call(p, call(p, started, "next_block", module, "locked.c"), "read", libc, "");
	for (int i = 1; i <= 4; i++)
		make_worker(p, &l, 800 + i);
	sample(p, first, main_node, 1, 100);
	wait_for(p, first, call(p, main_node, "pthread_cond_wait", libc, ""), "futex",
		 (struct qz_wait) {QZ_NONE, .object = done, .nominal = 2, .count = 1,
				   .blocked_ns = 8900 * MS, .ready_ns = 100 * MS});
	fill_queue(&p->objects[l.mutex], 3, 3000 * MS, 1200);
	fill_queue(&p->objects[done], 1, 8900 * MS, 1);
	fill_queue(&p->objects[l.pipe], 4, 560 * MS, 7);
	p->objects[buckets].grouped = 64;
	p->objects[buckets].waits = p->objects[buckets].arrivals[0] = 10;
	p->objects[buckets].wait_ns = p->objects[buckets].queue_ns[1] = MS;
	must(qz_waits__add_waking(p, &(struct qz_waking) {scope, QZ_NONE, l.unlocking, l.mutex,
							  3600, 0}));
	must(qz_waits__add_waking(p, &(struct qz_waking) {scope, QZ_NONE, l.push, l.mutex, 0,
							  12000 * MS}));
	must(qz_waits__add_waking(p, &(struct qz_waking) {scope, QZ_NONE, l.compute, done, 1,
							  2500 * MS}));
	write_profile(p, directory, "locked.pb.gz");
}

/* Two threads: one computes while the other spins, then the reverse. */
static void make_spinning(int directory)
{
	static char module[] = "/srv/spinning", omp[] = "/usr/lib/libgomp.so.1";
	uint64_t level_ns[] = {0, 500 * MS, 4000 * MS};
	struct qz_profile *p = new_profile(2);
	uint32_t scope = add_scope(p, QZ_SCOPE_PROCESS, 900, "spinning", "./spinning", level_ns);
	uint32_t threads[] = {add_thread(p, scope, 900, "spinning"),
			      add_thread(p, scope, 901, "spinning")};
	uint32_t main_node = call(p, 0, "main", module, "");
	uint32_t started = mark(p, main_node, QZ_THREAD_START);
	uint32_t parents[] = {main_node, started};
	uint32_t barrier = add_object(p, QZ_OBJECT_BARRIER, "barrier in region", module);

	sample(p, threads[0], main_node, 1, 50);
	for (int i = 0; i < 2; i++) {
		struct qz_sample s = {.thread = threads[i],
				      .level = 2,
				      .busy = 1,
				      .object = QZ_NONE,
				      .count = 200};
		uint32_t region = call(p, parents[i], "region", module, "");

		s.node = call(p, region, "compute", module, "");
		sample_as(p, s);
		s.node = call(p, region, "gomp_barrier_wait", omp, "");
		s.spinning = true;
		s.object = i ? QZ_NONE : barrier;
		sample_as(p, s);
	}
	p->scopes[scope].counters.spin_turns = 2;
	write_profile(p, directory, "spinning.pb.gz");
}

/* An instrumented program, with calls that no sample has met. */
static void make_called(int directory)
{
	static char module[] = "/home/user/called";
	uint64_t level_ns[] = {0, 1000 * MS, 0};
	struct qz_profile *p = new_profile(2);
	uint32_t scope = add_scope(p, QZ_SCOPE_PROCESS, 950, "called", "./called", level_ns);
	uint32_t thread = add_thread(p, scope, 950, "called");
	uint32_t main_node = call(p, 0, "main", module, "called.c");
	uint32_t middle = call(p, main_node, "middle", module, "called.c");
	uint32_t leaf = call(p, middle, "leaf", module, "called.c");
	uint32_t seldom = call(p, main_node, "seldom", module, "called.c");

	sample(p, thread, main_node, 1, 10);
	sample(p, thread, middle, 1, 30);
	sample(p, thread, leaf, 1, 50);
	sample(p, thread, call(p, middle, "memcpy", "/lib/libc.so.6", ""), 1, 10);
	count_calls(p, scope, 0, main_node, 1);
	count_calls(p, scope, main_node, middle, 123456789);
	count_calls(p, scope, main_node, seldom, 2);
	count_calls(p, scope, middle, leaf, 246913578);
	p->calls[p->ncalls - 1].cost_ns = 100 * MS;
	count_calls(p, scope, middle, middle, 17);
	must(qz_ledger__add_event(&p->ledger, "libquartz_ns", 123456789));
	must(qz_ledger__add_event(&p->ledger, "libquartz_scope_ps", 1234));
	must(qz_ledger__add_event(&p->ledger, "libquartz_hook_ps", 5678));
	write_profile(p, directory, "called.pb.gz");
}

static void instants(struct qz_profile *p, uint32_t scope, uint64_t count, uint32_t n,
		     const uint32_t *members)
{
	uint32_t sorted[8];

	memcpy(sorted, members, n * sizeof(*members));
	must(qz_rounds__add(p, &(struct qz_round) {scope, n, sorted, count}));
}

/* What all processors were doing at 1,000 instants: two phases, and a thread that spins. */
static void make_together(int directory)
{
	static char module[] = "/home/user/pipeline";
	uint64_t level_ns[] = {500 * MS, 3000 * MS, 1500 * MS, 0, 5000 * MS};
	struct qz_profile *p = new_profile(4);
	uint32_t scope = add_scope(p, QZ_SCOPE_JOB, 980, "pipeline", "./pipeline", level_ns);
	uint32_t thread = add_thread(p, scope, 980, "pipeline");
	uint32_t main_node = call(p, 0, "main", module, "pipeline.c");
	uint32_t nodes[] = {call(p, main_node, "read_input", module, "pipeline.c"),
			    call(p, main_node, "compress", module, "pipeline.c"),
			    call(p, main_node, "await_block", module, "pipeline.c")};
	uint32_t read, compress, spin;

	sample(p, thread, nodes[0], 1, 200);
	sample(p, thread, nodes[1], 4, 2000);
	sample(p, thread, nodes[2], 2, 200);
	read = QZ_MEMBER(p->locations[p->nodes[nodes[0]].location].lines[0].procedure, false);
	compress = QZ_MEMBER(p->locations[p->nodes[nodes[1]].location].lines[0].procedure, false);
	spin = QZ_MEMBER(p->locations[p->nodes[nodes[2]].location].lines[0].procedure, true);
	p->instants = (struct qz_rounds) {100, 1007, 2, 1, 12345 * 1001, 234567, 4, 930, 2};
	instants(p, scope, 50, 0, NULL);
	instants(p, scope, 300, 1, (uint32_t[]) {read});
	instants(p, scope, 150, 2, (uint32_t[]) {read, spin});
	instants(p, scope, 480, 4, (uint32_t[]) {compress, compress, compress, compress});
	instants(p, scope, 20, 4, (uint32_t[]) {compress, read, compress, spin});
	write_profile(p, directory, "together.pb.gz");
}

/* A program that slept. */
static void make_idle(int directory)
{
	uint64_t level_ns[] = {1500 * MS, 0, 0};
	struct qz_profile *p = new_profile(2);
	uint32_t scope = add_scope(p, QZ_SCOPE_PROCESS, 600, "sleep", "sleep 1", level_ns);

	add_thread(p, scope, 600, "sleep");
	write_profile(p, directory, "idle.pb.gz");
}

/* A sample of a thread in its own scope, and in that of the machine, which is the first one. */
static void sample_both(struct qz_profile *p, uint32_t thread, uint32_t node, uint32_t level,
			uint32_t busy, uint64_t count)
{
	sample(p, thread, node, level, count);
	must(qz_profile__add_samples(p, &(struct qz_sample) {.thread = thread,
							     .node = node,
							     .level = busy,
							     .busy = busy,
							     .object = QZ_NONE,
							     .count = count}));
	p->scopes[0].samples += count;
}

/*
 * A machine of 4 processors: a database of two threads, and later beside it a program that a user gave
 * an evil name. The second snapshot is of the same run, 10 s after the first one.
 */
static void make_system(int directory, bool later)
{
	static char database[] = "/usr/lib/postgresql/15/bin/postgres";
	uint64_t machine_ns[] = {1000 * MS, 6000 * MS, 3000 * MS, 0, 0};
	uint64_t later_ns[] = {2000 * MS, 7000 * MS, 6000 * MS, 0, 5000 * MS};
	uint64_t none_ns[5] = {10000 * MS}, database_ns[] = {1000 * MS, 6000 * MS, 3000 * MS, 0, 0};
	uint64_t database_later_ns[] = {4000 * MS, 9000 * MS, 7000 * MS, 0, 0};
	uint64_t evil_ns[] = {5000 * MS, 0, 5000 * MS, 0, 0};
	struct qz_profile *p = new_profile(4);
	uint32_t machine =
		add_scope(p, QZ_SCOPE_MACHINE, 0, "machine", "", later ? later_ns : machine_ns);
	uint32_t kernel = add_scope(p, QZ_SCOPE_KERNEL, 0, "kernel", "", none_ns);
	uint32_t scope = add_scope(p, QZ_SCOPE_PROCESS, 500, "postgres", "",
				   later ? database_later_ns : database_ns);
	uint32_t main_node = call(p, 0, "main", database, "");
	uint32_t lock = call(p, main_node, "LWLockAcquire", database, "");
	uint32_t run = call(p, main_node, "ExecutorRun", database, "");
	uint32_t threads[] = {add_thread(p, scope, 500, "postgres"),
			      add_thread(p, scope, 501, "postgres")};

	p->live = true;
	qz_profile__set_string(&p->scopes[scope].cgroup, "/system.slice/postgresql.service");
	sample_both(p, threads[0], run, 1, 1, 600);
	sample_both(p, threads[0], lock, 2, 2, 300);
	sample_both(p, threads[1], run, 2, 2, 300);
	must(qz_ledger__add_loss(&p->ledger, "stack_map_full", later ? 12 : 5));
	if (later) {
		uint32_t evil =
			add_scope(p, QZ_SCOPE_PROCESS, 600, "e\033[31m\"v\n\\il", "", evil_ns);
		uint32_t a = add_thread(p, evil, 600, "evil"), b = add_thread(p, evil, 601, "evil");
		uint32_t loop = call(p, 0, "l\033[2Joop", "/tmp/evil", "");

		p->scopes[evil].start_ns = 10000 * MS;
		qz_profile__set_string(&p->scopes[evil].cgroup, "/user.slice/evil.scope");
		sample_both(p, threads[0], run, 1, 1, 100);
		sample_both(p, threads[0], run, 1, 2, 200);
		sample_both(p, threads[0], run, 2, 2, 200);
		sample_both(p, threads[1], run, 2, 2, 200);
		sample_both(p, threads[0], lock, 2, 4, 200);
		sample_both(p, threads[1], run, 2, 4, 200);
		sample_both(p, a, loop, 2, 4, 500);
		sample_both(p, b, loop, 2, 4, 500);
	}
	for (uint32_t i = 0; i < p->nscopes; i++)
		p->scopes[i].ended = false;
	p->scopes[machine].counters.threads_seen = 4;
	p->scopes[kernel].counters.threads_seen = 0;
	write_profile(p, directory, later ? "system-later.pb.gz" : "system.pb.gz");
}

/* Programs that were given the names of what Quartz makes up, and others that differ in what is not printed. */
static void make_names(int directory)
{
	static char *const names[] = {
		"other (limited)", "other (ended)", "[kernel]",	 "-",	  "",
		"\033x",	   "\\x1bx",	    "\\x5cx1bx", "\\x2d",
	};
	uint64_t ns[] = {9000 * MS, 1000 * MS}, none_ns[2] = {10000 * MS};
	struct qz_profile *p = new_profile(1);
	char cgroup[1000];

	add_scope(p, QZ_SCOPE_MACHINE, 0, "machine", "", none_ns);
	add_scope(p, QZ_SCOPE_KERNEL, 0, "kernel", "", ns);
	add_scope(p, QZ_SCOPE_PROCESS, 0, "other (ended)", "", ns);
	for (int i = 0; i < (int)(sizeof(names) / sizeof(*names)); i++) {
		uint32_t scope = add_scope(p, QZ_SCOPE_PROCESS, 100 + i, names[i], "", ns);

		snprintf(cgroup, sizeof(cgroup), "/user.slice/%0*d%s%d", i < 2 ? 900 : 1, 0,
			 names[i], i < 2 ? i : 0);
		qz_profile__set_string(&p->scopes[scope].cgroup, i == 4 ? "" : cgroup);
	}
	write_profile(p, directory, "names.pb.gz");
}

/*
 * A machine of 2 processors whose rate was lowered from 99 Hz to 3: one process has enough samples, one a few,
 * and one, which took the most processor time, none at all. All wait for a pipe or a socket. The second snapshot
 * is of the same run 10 s later, of which the last one has ended and no thread has done anything else.
 */
static void make_lowered(int directory, bool later)
{
	static char long_name[] =
		"std::vector<std::basic_string<char>>::_M_realloc_insert(char const*)";
	uint64_t machine_ns[] = {1000 * MS, 3000 * MS, 6000 * MS}, none_ns[] = {10000 * MS, 0, 0};
	uint64_t levels[][3] = {{6000 * MS, 4000 * MS, 0},
				{9500 * MS, 500 * MS, 0},
				{4000 * MS, 2000 * MS, 4000 * MS}};
	static char *const names[] = {"postgres", "redis-server", "brief"};
	static const uint64_t samples[] = {20, 5, 0};
	struct qz_profile *p = new_profile(2);
	uint32_t machine = add_scope(p, QZ_SCOPE_MACHINE, 0, "machine", "", machine_ns);

	p->live = true;
	p->rate_hz = 99;
	p->halvings = 5;
	p->ceiling_ppm = 10000;
	p->costs.daemon_ns = 150 * MS;
	add_scope(p, QZ_SCOPE_KERNEL, 0, "kernel", "", none_ns);
	for (int i = 0; i < 3; i++) {
		uint32_t scope = add_scope(p, QZ_SCOPE_PROCESS, 500 + i, names[i], "", levels[i]);
		uint32_t thread = add_thread(p, scope, 500 + i, names[i]);
		uint32_t main_node = call(p, 0, "main", names[i], "");
		struct qz_object key = {.scope = scope,
					.pid = 500 + i,
					.kind = i ? QZ_OBJECT_SOCKET : QZ_OBJECT_PIPE,
					.name = i ? "socket tcp 127.0.0.1:6379" : "pipe:[4711]",
					.module = ""};
		uint32_t object = must(qz_waits__intern_object(p, &key));

		p->objects[object].waits = 7;
		p->objects[object].wait_ns = (5000 + 100 * (uint64_t)i) * MS;
		sample_both(p, thread, call(p, main_node, long_name, names[i], ""), 1, 2,
			    samples[i]);
		p->scopes[scope].ended = later && i == 2;
	}
	qz_profile__set_string(&p->scopes[machine + 2].cgroup,
			       "/system.slice/a-service-with-a-long-name.service");
	p->scopes[machine].ended = p->scopes[machine + 1].ended = false;
	p->ledger.filtered = 2;
	p->ledger.expected += 3;
	must(qz_ledger__add_loss(&p->ledger, "stack_map_full", 1));
	if (later)
		p->window_ns += 10000 * MS;
	write_profile(p, directory, later ? "lowered-later.pb.gz" : "lowered.pb.gz");
}

/* A place of a procedure: an address in its file, and a line. */
static uint32_t place(struct qz_profile *p, uint32_t caller, struct qz_procedure *procedure,
		      uint32_t mapping, uint64_t address, uint32_t line_number)
{
	struct qz_line line = {must(qz_profile__intern_procedure(p, procedure)), line_number};
	struct qz_location location = {address, mapping, 1, &line};

	return must(qz_profile__intern_node(p, caller,
					    must(qz_profile__intern_location(p, &location))));
}

/* Recorded with lines. The file of `work` is in the working directory, whichever that is. */
static void make_lines(int directory)
{
	uint64_t level_ns[] = {0, 1200 * MS, 800 * MS};
	struct qz_procedure entry = {"main", "/proc/self/cwd/lines.so", "/srv/build/lines.c", 40};
	struct qz_procedure work = {"work", "/proc/self/cwd/lines.so", "/srv/build/lines.c", 3};
	struct qz_procedure hash = {"hash", "/usr/lib/x86_64-linux-gnu/libhash.so.1", "", 0};
	struct qz_mapping own = {"/proc/self/cwd/lines.so", "0011223344556677", 0, 1ULL << 47, 0};
	struct qz_mapping library = {"/usr/lib/x86_64-linux-gnu/libhash.so.1", "aabbccdd", 0,
				     1ULL << 47, 0};
	struct qz_profile *p = new_profile(2);
	uint32_t scope = add_scope(p, QZ_SCOPE_JOB, 990, "lines", "./lines", level_ns);
	uint32_t first = add_thread(p, scope, 990, "lines");
	uint32_t second = add_thread(p, scope, 991, "lines");
	uint32_t mapping = must(qz_profile__intern_mapping(p, &own)), main_node;

	p->addresses_sampled = true;
	main_node = place(p, 0, &entry, mapping, 0x1010, 41);
	sample(p, first, place(p, main_node, &work, mapping, 0x1000, 5), 1, 60);
	sample(p, first, place(p, main_node, &work, mapping, 0x1003, 5), 2, 40);
	sample(p, second, place(p, main_node, &work, mapping, 0x1006, 7), 2, 20);
	sample(p, second, place(p, main_node, &work, mapping, 0x100b, 26), 2, 12);
	sample(p, second, place(p, main_node, &work, mapping, 0x1008, 0), 1, 30);
	sample_as(p, (struct qz_sample) {.thread = second,
					 .node = place(p, main_node, &work, mapping, 0x1009, 9),
					 .level = 2,
					 .busy = 1,
					 .object = QZ_NONE,
					 .spinning = true,
					 .count = 28});
	mapping = must(qz_profile__intern_mapping(p, &library));
	sample(p, first, place(p, main_node, &hash, mapping, 0x2000, 0), 1, 30);
	write_profile(p, directory, "lines.pb.gz");
}

/* The body of a procedure of a parser stands in the grammar, and in a file that it includes. */
static void make_grammar(int directory)
{
	uint64_t level_ns[] = {0, 1000 * MS, 0};
	struct qz_procedure parse = {"parse", "/srv/parser", "/srv/build/gram.c", 3};
	struct qz_mapping own = {"/srv/parser", "0011223344556677", 0, 1ULL << 47, 0};
	struct qz_profile *p = new_profile(2);
	uint32_t scope = add_scope(p, QZ_SCOPE_JOB, 990, "parser", "./parser", level_ns);
	uint32_t thread = add_thread(p, scope, 990, "parser");
	uint32_t mapping = must(qz_profile__intern_mapping(p, &own));
	struct qz_line line = {must(qz_profile__intern_procedure(p, &parse)), 5};
	struct qz_location location = {0x1000, mapping, 1, &line};
	static const char *const files[] = {"", "/srv/build/gram.y", "/srv/build/body.inc"};

	p->addresses_sampled = true;
	for (uint64_t i = 0; i < 3; i++) {
		location.address += 4;
		must(qz_profile__place_line(p, &line, files[i]));
		sample(p, thread,
		       must(qz_profile__intern_node(
			       p, 0, must(qz_profile__intern_location(p, &location)))),
		       1, 20 << i);
	}
	write_profile(p, directory, "grammar.pb.gz");
}

/* ---- how a run developed ---- */

/* Serial for a second, then nothing for half of one, then parallel: what each step of 100 ms adds. */
static void develop(struct qz_profile *p, uint32_t scope, const uint32_t *threads,
		    const uint32_t *nodes, uint32_t step)
{
	uint32_t level = step < 10 ? 1 : step < 15 ? 0 : 2;
	uint32_t node = nodes[level == 1 ? 0 : step < 20 ? 1 : 2];

	p->window_ns += 100 * MS;
	p->scopes[scope].level_ns[level] += 100 * MS;
	p->scopes[scope].elapsed_ns += 100 * MS;
	p->scopes[scope].cpu_ns += level * 100 * MS;
	p->scopes[scope].runnable_ns += level * 100 * MS;
	for (uint32_t i = 0; i < 2; i++) {
		p->threads[threads[i]].end_ns += 100 * MS;
		if (i < level) {
			sample(p, threads[i], node, level, 10);
			continue;
		}
		p->threads[threads[i]].blocked_ns += 100 * MS;
		wait_for(p, threads[i], nodes[3], level ? "futex" : "sleep",
			 (struct qz_wait) {.object = QZ_NONE, .count = 1, .blocked_ns = 100 * MS});
	}
}

static void make_developed(int directory)
{
	uint64_t level_ns[] = {0, 0, 0};
	struct qz_profile *p = new_profile(2);
	struct qz_timeline_cut *cut = qz_timeline_cut__new(p);
	uint32_t scope = add_scope(p, QZ_SCOPE_JOB, 995, "build", "./build all", level_ns);
	uint32_t threads[] = {add_thread(p, scope, 995, "build"),
			      add_thread(p, scope, 996, "build")};
	uint32_t entry = call(p, 0, "main", "/srv/build", "");
	uint32_t nodes[] = {call(p, entry, "read_all", "/srv/build", ""),
			    call(p, entry, "compile", "/srv/build", ""),
			    call(p, entry, "link_all", "/srv/build", ""),
			    call(p, entry, "await", "/srv/build", "")};

	if (!cut)
		errx(1, "out of memory");
	for (uint32_t step = 0; step < 23; step++) {
		develop(p, scope, threads, nodes, step);
		must(qz_timeline_cut__take(cut, p,
					   p->scopes[scope].start_ns + (step + 1) * 100 * MS));
	}
	qz_timeline_cut__free(cut);
	write_profile(p, directory, "developed.pb.gz");
}

/*
 * One run of a solver on n processors: 2 s of reading by main alone, 8 s of solving, which take a tenth more for each
 * processor beyond one, and, with several, half a second of merging under a lock that the others wait for. Runs differ by
 * hundredths of a second.
 */
static void make_solver(int directory, uint32_t n, uint32_t run)
{
	static char module[] = "/srv/solver", libc[] = "/lib/x86_64-linux-gnu/libc.so.6";
	uint64_t solving = 800 + 80 * (n - 1), reading = 200 + run, merging = n > 1 ? 50 : 0;
	uint64_t level_ns[5] = {0, (reading + merging) * 10 * MS};
	struct qz_profile *p = new_profile(n);
	uint32_t scope, first, main_node, started, lock, locking, end;
	char name[64], command[] = "solver -t 1";

	level_ns[n] += solving * 10 * MS / n;
	command[10] = (char)('0' + n);
	scope = add_scope(p, QZ_SCOPE_JOB, 1000, "solver", command, level_ns);
	first = add_thread(p, scope, 1000, "solver");
	main_node = call(p, 0, "main", module, "solver.c");
	started = call(p, mark(p, main_node, QZ_THREAD_START), "worker", module, "solver.c");
	lock = add_object(p, QZ_OBJECT_MUTEX, "merge_lock", module);
	end = add_object(p, QZ_OBJECT_JOIN, "worker", module);
	locking = call(p, started, "pthread_mutex_lock", libc, "");
	sample(p, first, call(p, main_node, "read_input", module, "input.c"), 1, reading);
	for (uint32_t i = 1; i <= n; i++) {
		uint32_t worker = add_thread(p, scope, (int)(1000 + i), "worker");

		sample(p, worker, call(p, started, "solve", module, "solver.c"), n, solving / n);
		if (i == 1 && merging)
			hold(p, worker, call(p, started, "merge", module, "solver.c"), 1, lock,
			     merging);
		else if (i > 1)
			wait_for(p, worker, locking, "futex",
				 (struct qz_wait) {.object = lock,
						   .nominal = 1,
						   .count = 10,
						   .blocked_ns = merging * 10 * MS});
	}
	wait_for(p, first, call(p, main_node, "pthread_join", libc, ""), "futex",
		 (struct qz_wait) {QZ_NONE, .object = end, .nominal = n, .count = 1,
				   .blocked_ns = level_ns[n] - (n == 1 ? reading * 10 * MS : 0)});
	snprintf(name, sizeof(name), "solver-on%u-run%u.pb.gz", n, run);
	write_profile(p, directory, name);
}

/*
 * One run of a program of tasks on n processors: 4 s of work, a second of locks for each processor beyond one, and a fifth
 * of a second of starting threads.
 */
static void make_tasks(int directory, uint32_t n, uint32_t run)
{
	static char module[] = "/srv/tasks", libc[] = "/lib/x86_64-linux-gnu/libc.so.6";
	uint64_t work = 400 / n, locking = 100 * (n - 1) / n, starting = 20 + run;
	uint64_t level_ns[5] = {0, starting * 10 * MS};
	struct qz_profile *p = new_profile(n);
	uint32_t scope, first, main_node, started;
	char name[64], command[] = "tasks -t 1";

	level_ns[n] += (work + locking) * 10 * MS;
	command[9] = (char)('0' + n);
	scope = add_scope(p, QZ_SCOPE_JOB, 1300, "tasks", command, level_ns);
	first = add_thread(p, scope, 1300, "tasks");
	main_node = call(p, 0, "main", module, "tasks.c");
	started = call(p, mark(p, main_node, QZ_THREAD_START), "run_tasks", module, "tasks.c");
	sample(p, first, call(p, main_node, "pthread_create", libc, ""), 1, starting);
	for (uint32_t i = 1; i <= n; i++) {
		uint32_t worker = add_thread(p, scope, (int)(1300 + i), "tasks");

		sample(p, worker, call(p, started, "solve", module, "tasks.c"), n, work);
		if (locking)
			sample(p, worker, call(p, started, "pthread_mutex_lock", libc, ""), n,
			       locking);
	}
	p->scopes[scope].counters.threads_started = n;
	p->scopes[scope].counters.processes_started = n > 2;
	p->scopes[scope].counters.grain[0] = locking;
	p->scopes[scope].counters.grain[5] = 3000 * locking;
	p->scopes[scope].counters.grain[QZ_GRAINS - 1] = locking ? 1 : 0;
	snprintf(name, sizeof(name), "tasks-on%u-run%u.pb.gz", n, run);
	write_profile(p, directory, name);
}

/* What it is compared with: 9 s on one processor. */
static void make_baseline(int directory, uint32_t run)
{
	uint64_t level_ns[] = {0, (900 + run) * 10 * MS};
	struct qz_profile *p = new_profile(1);
	uint32_t scope = add_scope(p, QZ_SCOPE_JOB, 1100, "sh", "sh -c quicksolve", level_ns);
	uint32_t first = add_thread(p, scope, 1100, "quicksolve");
	char name[64];

	sample(p, first, call(p, 0, "main", "/srv/quicksolve", ""), 1, 900 + run);
	snprintf(name, sizeof(name), "baseline-run%u.pb.gz", run);
	write_profile(p, directory, name);
}

static void make_scale(int directory)
{
	for (uint32_t run = 1; run <= 3; run++) {
		for (uint32_t n = 1; n <= 4; n *= 2) {
			make_solver(directory, n, run);
			make_tasks(directory, n, run);
		}
		make_baseline(directory, run);
	}
}

/* What was computed of candidates: one on the longest path, a lock, and one that was not met. */
static void make_candidates(int directory)
{
	static char names[][24] = {"compress", "mutex queue", "read_all", "no\nbody"};
	uint64_t level_ns[] = {500 * MS, 4500 * MS, 5000 * MS};
	struct qz_profile *p = new_profile(2);
	uint32_t scope = add_scope(p, QZ_SCOPE_JOB, 1200, "pack", "pack -2 data", level_ns);
	uint32_t first = add_thread(p, scope, 1200, "pack"),
		 second = add_thread(p, scope, 1201, "pack");
	uint32_t main_node = call(p, 0, "main", "/usr/bin/pack", "pack.c");
	uint32_t read_all = call(p, main_node, "read_all", "/usr/bin/pack", "pack.c");
	uint32_t compress =
		call(p, mark(p, main_node, QZ_THREAD_START), "compress", "/usr/bin/pack", "pack.c");
	struct qz_what_if what_if = {.scope = scope, .kept_ns = 300 * MS, .freed_ns = 3000 * MS};

	add_object(p, QZ_OBJECT_MUTEX, "queue", "/usr/bin/pack");
	sample(p, second, compress, 1, 400);
	sample(p, first, read_all, 1, 50);
	sample(p, first, read_all, 2, 500);
	sample(p, second, compress, 2, 500);
	for (uint32_t i = 0; i < 4; i++) {
		what_if.name = names[i];
		what_if.kind = i < 3 ? 1 + i % 2 : QZ_WHAT_IF_UNKNOWN;
		what_if.work_ns = i == 1 ? 0 : (8500 - 2000 * i) * MS;
		for (uint32_t k = 0; k < QZ_WHAT_IF_SPEEDS; k++) {
			what_if.run_ns[k] = i < 3 ? 10000 * MS - ((7000 - i * 3200) * MS >> k) : 0;
			what_if.most_ns[k] = (i ? 4000 : 5500) * MS;
		}
		must(qz_what_ifs__add(p, &what_if));
	}
	write_profile(p, directory, "candidates.pb.gz");
}

/* A server whose loop waits for events 240 times, and computes for 300 ms in four of its turns. */
static void make_event_loop(int directory)
{
	static char module[] = "/srv/answers", libc[] = "/lib/x86_64-linux-gnu/libc.so.6";
	uint64_t level_ns[] = {8600 * MS, 1400 * MS, 0};
	struct qz_profile *p = new_profile(2);
	uint32_t scope = add_scope(p, QZ_SCOPE_PROCESS, 1400, "answers", "answers -p 80", level_ns);
	uint32_t first = add_thread(p, scope, 1400, "answers");
	uint32_t loop = call(p, call(p, 0, "main", module, "a.c"), "run_loop", module, "a.c");

	sample(p, first, call(p, loop, "render_report", module, "report.c"), 1, 120);
	p->samples[p->nsamples - 1].in_block = 116;
	sample(p, first, call(p, loop, "answer", module, "a.c"), 1, 20);
	wait_for(p, first, call(p, loop, "epoll_wait", libc, ""), "poll",
		 (struct qz_wait) {QZ_NONE, .object = QZ_NONE, .count = 241,
				   .blocked_ns = 8550 * MS, .ready_ns = 50 * MS});
	p->threads[first].loop = (struct qz_loop) {.turns = 240,
						   .turn_ns = 1400 * MS,
						   .blocks = 4,
						   .block_ns = 1200 * MS,
						   .block_ready_ns = 20 * MS,
						   .longest_ns = 340 * MS};
	write_profile(p, directory, "event-loop.pb.gz");
}

int main(int argc, char **argv)
{
	int directory;

	if (argc != 2)
		errx(2, "usage: make_profiles DIRECTORY");
	directory = open(argv[1], O_DIRECTORY | O_CLOEXEC);
	if (directory < 0)
		err(1, "%s", argv[1]);
	make_verify(directory);
	make_two(directory);
	make_troubled(directory);
	make_hostile(directory);
	make_wide(directory);
	make_crowded(directory);
	make_idle(directory);
	make_locked(directory);
	make_spinning(directory);
	make_called(directory);
	make_together(directory);
	make_system(directory, false);
	make_system(directory, true);
	make_names(directory);
	make_lowered(directory, false);
	make_lowered(directory, true);
	make_lines(directory);
	make_grammar(directory);
	make_developed(directory);
	make_scale(directory);
	make_event_loop(directory);
	make_candidates(directory);
	close(directory);
	return 0;
}
