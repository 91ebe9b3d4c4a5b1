/* SPDX-License-Identifier: GPL-2.0-only */
/* What objects cost, what threads waited for while nothing ran, and the findings about locks. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/advise/advise.h"
#include "core/estimate/estimate.h"
#include "core/locks/lock_bounds.h"
#include "core/locks/lock_kind.h"
#include "core/report/idle_time.h"
#include "core/report/lock_code.h"
#include "tests/unit/failing.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define MS		1000000ull
#define RANDOM_PROFILES 30

/* Two threads of one procedure, one lock, two processors, one second: how they use it differs. */
struct use {
	const char *name; /* of the object */
	uint32_t kind;
	const char *lock_stack; /* where they wait for it */
	const char *hold_stack; /* what its holder runs */
	const char *cause;	/* what its holder waits for, or NULL */
	uint64_t waits;
	uint64_t level_ns[3];
	uint64_t queued_ns;
	uint64_t held, code, rest; /* samples: of holders, of the lock's code, of other work */
	uint64_t alone;		   /* of other work at level 1 */
	uint64_t blocked_ns;	   /* of holders */
	uint64_t
		blocks; /* so often each, while nothing ran, of a command that came to its end; 0: once */
};

static const struct use cache = {
	.name = "cache_lock",
	.kind = QZ_OBJECT_MUTEX,
	.lock_stack = "main [thread] work get pthread_mutex_lock __lll_lock_wait",
	.hold_stack = "main [thread] work get render",
	.waits = 1000,
	.level_ns = {0, 800 * MS, 200 * MS},
	.queued_ns = 700 * MS,
	.held = 700,
	.code = 50,
	.rest = 450,
};

struct locked {
	struct fixture f;
	struct qz_report *r;
	struct qz_advice *a;
	uint32_t object;
};

static void add_samples(struct fixture *f, uint32_t thread, const char *words, uint32_t object,
			uint32_t level, uint64_t count)
{
	struct qz_sample key = {.thread = thread, .object = object, .level = level, .busy = level};
	int64_t index;

	if (!count)
		return;
	key.node = fixture__stack(f, words);
	index = qz_profile__intern_sample(f->p, &key);
	ck_assert_int_ge(index, 0);
	f->p->samples[index].count += count;
}

static void add_waits(struct fixture *f, const struct use *use, const uint32_t threads[2],
		      uint32_t object)
{
	for (int i = 0; i < 2; i++) {
		struct qz_wait w = {.thread = threads[i],
				    .object = object,
				    .nominal = 1,
				    .count = use->waits / 2,
				    .blocked_ns = use->queued_ns / 2};

		fixture__wait(f, &w, use->lock_stack, "futex");
		w = (struct qz_wait) {.thread = threads[i],
				      .object = QZ_NONE,
				      .count = use->blocks ? use->blocks : 1,
				      .nominal = !use->blocks,
				      .blocked_ns = use->blocked_ns / 2};
		if (use->cause)
			fixture__wait(f, &w, use->hold_stack, use->cause);
		f->p->threads[threads[i]].running_ns =
			(use->level_ns[1] + 2 * use->level_ns[2]) / 2;
	}
}

static struct locked locked(const struct use *use)
{
	struct locked x = {.f = fixture__new()};
	struct fixture *f = &x.f;
	uint32_t scope = fixture__scope(f, use->level_ns, 3), threads[2];
	struct qz_object *o;

	for (int i = 0; i < 2; i++)
		threads[i] = fixture__thread(f, scope, i + 1);
	x.object = fixture__object(f, scope, use->kind, use->name);
	o = &f->p->objects[x.object];
	o->waits = o->wakes = o->arrivals[0] = use->waits;
	o->wait_ns = o->queue_ns[1] = use->queued_ns;
	add_samples(f, threads[0], use->hold_stack, x.object, 1, use->held);
	add_samples(f, threads[1], use->lock_stack, QZ_NONE, 1, use->code);
	add_samples(f, threads[1], "main [thread] work compute", QZ_NONE, 2, use->rest);
	add_samples(f, threads[0], "main [thread] work compute", QZ_NONE, 1, use->alone);
	add_waits(f, use, threads, x.object);
	ck_assert_int_eq(f->err, 0);
	if (use->blocks)
		f->p->scopes[scope].kind = QZ_SCOPE_JOB;
	f->p->scopes[scope].ended = use->blocks != 0;
	f->p->processors = 2;
	ck_assert_int_eq(qz_estimate__profile(f->p), 0);
	x.r = qz_report__new(f->p, scope);
	x.a = qz_advise__new(x.r);
	ck_assert_ptr_nonnull(x.a);
	return x;
}

static void done(struct locked *x)
{
	qz_advise__free(x->a);
	qz_report__free(x->r);
	qz_profile__free(x->f.p);
}

static const struct qz_finding *find(const struct locked *x, const char *rule)
{
	for (uint32_t i = 0; i < x->a->n; i++)
		if (!strcmp(x->a->findings[i].rule, rule))
			return &x->a->findings[i];
	return NULL;
}

/* ---- cost ---- */

START_TEST(cost_is_made_of_holders_code_and_waiting)
{
	struct locked x = locked(&cache);
	const struct qz_object_cost *cost = &x.r->objects[0].cost;

	/* 750 samples share the 800 ms at level 1. */
	ck_assert_uint_eq(cost->queued_ns, 700 * MS);
	ck_assert_uint_eq(cost->held_running_ns / MS, 700);
	ck_assert_uint_eq(cost->lock_ns / MS, 53);
	ck_assert_uint_eq(cost->lock_cpu_ns, cost->lock_ns);
	ck_assert_uint_eq(cost->held_blocked_ns, 0);
	ck_assert_uint_eq(cost->free_ns, 0);
	ck_assert_uint_eq(cost->cost_ns, cost->held_running_ns + cost->lock_ns);
	done(&x);
}
END_TEST

/* Half of the queue's time its holder is seen nowhere, and one of two processors is free. */
START_TEST(queues_cost_what_processors_are_free)
{
	struct use use = cache;
	struct locked x;
	const struct qz_object_cost *cost;

	use.held = 0;
	use.code = 0;
	use.rest = 800;
	x = locked(&use);
	cost = &x.r->objects[0].cost;
	ck_assert_uint_eq(cost->held_running_ns, 0);
	ck_assert_uint_eq(cost->free_ns, 350 * MS);
	ck_assert_uint_eq(cost->cost_ns, 350 * MS);
	done(&x);
}
END_TEST

/* The same where others kept 0.8 of the two processors busy: a tenth of 700 ms was free. */
START_TEST(queues_cost_nothing_while_others_have_the_processors)
{
	static uint64_t level_ns[] = {0, 0, 1000 * MS};
	const struct qz_scope machine = {.kind = QZ_SCOPE_MACHINE,
					 .comm = "",
					 .command = "",
					 .cgroup = "",
					 .elapsed_ns = 1000 * MS,
					 .nlevels = 3,
					 .level_ns = level_ns};
	struct use use = cache;
	struct qz_report *r;
	struct locked x;

	use.held = 0;
	use.code = 0;
	use.rest = 800;
	x = locked(&use);
	ck_assert_int_eq(qz_profile__add_scope(x.f.p, &machine), 1);
	r = qz_report__new(x.f.p, 0);
	ck_assert_uint_eq((r->objects[0].cost.free_ns + 1) / MS, 70);
	qz_report__free(r);
	done(&x);
}
END_TEST

/* The same where the machine was not profiled, and samples found others for as much. */
START_TEST(queues_cost_nothing_while_samples_find_others)
{
	struct use use = cache;
	struct qz_report *r;
	struct locked x;

	use.held = 0;
	use.code = 0;
	use.rest = 800;
	x = locked(&use);
	x.f.p->scopes[0].cpu_ns = 1000 * MS;
	x.f.p->ledger.accepted = 1000;
	x.f.p->ledger.expected = 1800;
	r = qz_report__new(x.f.p, 0);
	ck_assert_uint_eq((r->objects[0].cost.free_ns + 1) / MS, 70);
	qz_report__free(r);
	done(&x);
}
END_TEST

/* A worker that sleeps at a word of its own until there is work may look like a thread that waits for a mutex. */
START_TEST(a_wait_without_a_holder_is_no_queue)
{
	struct use use = cache;
	struct locked x;

	use.held = 0;
	use.code = 0;
	use.rest = 800;
	use.waits = _i ? 4 : 2;
	x = locked(&use);
	ck_assert_int_eq(find(&x, "contention") != NULL, _i);
	done(&x);
}
END_TEST

START_TEST(what_is_not_held_costs_its_code)
{
	struct use use = cache;
	struct locked x;

	use.kind = QZ_OBJECT_CONDITION;
	use.held = 0;
	use.lock_stack = "main [thread] work get pthread_cond_wait";
	x = locked(&use);
	ck_assert_uint_eq(x.r->objects[0].cost.queued_ns, 0);
	ck_assert_uint_gt(x.r->objects[0].cost.lock_ns, 0);
	ck_assert_uint_eq(x.r->objects[0].cost.cost_ns, x.r->objects[0].cost.lock_ns);
	done(&x);
}
END_TEST

/* Of samples at a place where two objects are locked, each has the part that its waits have. */
START_TEST(code_of_one_place_is_divided_by_waits)
{
	struct fixture f = fixture__new();
	static const uint64_t level_ns[] = {0, 1000 * MS};
	static const char stack[] = "main get pthread_mutex_lock";
	uint32_t scope = fixture__scope(&f, level_ns, 2), thread = fixture__thread(&f, scope, 1);
	struct qz_report *r;

	for (uint32_t i = 0; i < 2; i++) {
		struct qz_wait w = {.thread = thread, .count = i ? 3 : 1, .blocked_ns = 10};

		w.object = fixture__object(&f, scope, QZ_OBJECT_MUTEX, i ? "b" : "a");
		fixture__wait(&f, &w, stack, "futex");
	}
	fixture__samples(&f, scope, thread, stack, 1, 10);
	ck_assert_int_eq(f.err, 0);
	ck_assert_int_eq(qz_estimate__profile(f.p), 0);
	r = qz_report__new(f.p, scope);
	for (uint32_t i = 0; i < 2; i++)
		ck_assert_uint_eq(r->objects[i].cost.lock_ns,
				  r->objects[i].object ? 750 * MS : 250 * MS);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(costs_are_within_the_elapsed_time)
{
	struct qz_profile *p = fixture__random((unsigned int)_i);

	for (uint32_t scope = 0; scope < p->nscopes; scope++) {
		struct qz_report *r = qz_report__new(p, scope);

		for (uint32_t i = 0; i < r->nobjects; i++) {
			const struct qz_object_cost *cost = &r->objects[i].cost;

			ck_assert_uint_le(cost->cost_ns, r->elapsed_ns);
			ck_assert_uint_le(cost->queued_ns, r->elapsed_ns);
			ck_assert_uint_le(cost->held_blocked_ns + cost->free_ns, cost->queued_ns);
		}
		qz_report__free(r);
	}
	qz_profile__free(p);
}
END_TEST

/* ---- idle time ---- */

START_TEST(idle_time_is_charged_to_the_nanosecond)
{
	struct qz_profile *p = fixture__random((unsigned int)_i);

	for (uint32_t scope = 0; scope < p->nscopes; scope++) {
		struct qz_report *r = qz_report__new(p, scope);
		struct qz_idle idle;
		uint64_t sum = 0;

		ck_assert_int_eq(qz_idle_time__find(r, &idle), 0);
		for (uint32_t i = 0; i < idle.n; i++) {
			ck_assert_uint_gt(idle.rows[i].idle_ns, 0);
			sum += idle.rows[i].idle_ns;
		}
		ck_assert_uint_eq(sum, r->idle_ns);
		/* all of it stands in the columns of what waited, but for what no wait is known of */
		if (!idle.n || idle.rows[0].kind != QZ_IDLE_UNKNOWN)
			ck_assert_uint_eq(r->waits.charged_ns, r->idle_ns);
		else
			ck_assert_uint_eq(r->waits.charged_ns, 0);
		free(idle.rows);
		qz_report__free(r);
	}
	qz_profile__free(p);
}
END_TEST

START_TEST(idle_time_without_memory_is_an_error)
{
	struct qz_profile *p = fixture__random(3);
	struct qz_report *r = qz_report__new(p, 0);
	struct qz_idle idle;
	int err = -ENOMEM;

	for (unsigned int i = 1; err; i++) {
		failing__arm(i);
		err = qz_idle_time__find(r, &idle);
		ck_assert_int_eq(failing__disarm(), err != 0);
		ck_assert(!err || err == -ENOMEM);
		free(idle.rows);
	}
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

/* A worker sleeps, main waits for its end, and a third thread waits for work all the time. */
START_TEST(idle_time_is_of_those_who_work)
{
	static const uint64_t level_ns[] = {600 * MS, 400 * MS};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 2), main = fixture__thread(&f, scope, 1);
	uint32_t worker = fixture__thread(&f, scope, 2), service = fixture__thread(&f, scope, 3);
	struct qz_wait waits[3] = {
		{.thread = main, .count = 1, .blocked_ns = 1000 * MS},
		{.thread = worker, .object = QZ_NONE, .count = 9, .blocked_ns = 600 * MS},
		{.thread = service, .object = QZ_NONE, .count = 1, .blocked_ns = 1000 * MS},
	};
	struct qz_report *r;
	struct qz_idle idle;

	waits[0].object = fixture__object(&f, scope, QZ_OBJECT_JOIN, "end of thread in main");
	fixture__samples(&f, scope, worker, "main [thread] work", 1, 40);
	f.p->threads[main].running_ns = 10 * MS;
	f.p->threads[worker].running_ns = 390 * MS;
	fixture__wait(&f, &waits[0], "main pthread_join", "futex");
	fixture__wait(&f, &waits[1], "main [thread] work nanosleep", "sleep");
	fixture__wait(&f, &waits[2], "main [thread] serve read", "poll");
	ck_assert_int_eq(qz_estimate__profile(f.p), 0);
	r = qz_report__new(f.p, scope);
	ck_assert_int_eq(qz_idle_time__find(r, &idle), 0);
	ck_assert_uint_eq(idle.n, 1);
	ck_assert_int_eq(idle.rows[0].kind, QZ_IDLE_BLOCKED);
	ck_assert_str_eq(f.p->causes[idle.rows[0].cause], "sleep");
	ck_assert_uint_eq(idle.rows[0].idle_ns, 600 * MS);
	free(idle.rows);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

/* ---- rules ---- */

START_TEST(contention_is_found)
{
	struct locked x = locked(&cache);
	const struct qz_finding *f = find(&x, "contention");

	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_eq(f, x.a->findings);
	ck_assert_uint_eq(f->subject.index, x.object);
	/*
	 * 0.8 times half of what holders had alone, and half of the lock's code; at most what each thread does not
	 * need for its own work of 600 ms, of which a part was that code.
	 */
	ck_assert_uint_eq(f->gain_low_ns / MS, 306);
	ck_assert_uint_eq(f->gain_high_ns / MS, 426);
	ck_assert_str_eq(f->where, "taken in get");
	done(&x);
}
END_TEST

static void rename_to(struct locked *x, const char *name, const char *unnamed, const char *module)
{
	struct qz_procedure *p = &x->f.p->procedures[fixture__procedure(x->f.p, name)];

	ck_assert_int_eq(qz_profile__set_string(&p->name, unnamed), 0);
	ck_assert_int_eq(qz_profile__set_string(&p->module, module), 0);
}

/* Without debug symbols, code of the C library inside of a lock has no name, and is not where the lock was taken. */
START_TEST(a_lock_is_not_taken_in_unnamed_code_of_its_own)
{
	struct use use = cache;
	struct locked x;
	uint32_t get;

	use.lock_stack = "main [thread] work get pthread_mutex_lock inner innermost";
	x = locked(&use);
	get = fixture__procedure(x.f.p, "get");
	rename_to(&x, "inner", "libc.so.6+0x86170", "/usr/lib/libc.so.6");
	rename_to(&x, "innermost", "libc.so.6+0x86100", "/usr/lib/libc.so.6");
	ck_assert_uint_eq(qz_lock_kind__locker(x.r, x.object), get);
	/* a library that takes a lock and has no symbols */
	rename_to(&x, "get", "plugin.so+0x1200", "/usr/lib/plugin.so");
	ck_assert_uint_eq(qz_lock_kind__locker(x.r, x.object), get);
	done(&x);
}
END_TEST

START_TEST(short_queues_are_no_contention)
{
	struct use use = cache;
	struct locked x;

	use.queued_ns = 5 * MS;
	use.held = 5;
	use.code = 1;
	use.alone = 794;
	x = locked(&use);
	ck_assert_ptr_null(find(&x, "contention"));
	done(&x);
}
END_TEST

/* A futex word of unknown use, as barriers of a runtime without symbols: a lock only if a thread holds it. */
START_TEST(words_that_nobody_holds_are_no_locks)
{
	struct use use = cache;
	struct locked x;

	use.kind = QZ_OBJECT_OTHER;
	x = locked(&use);
	ck_assert_ptr_nonnull(find(&x, "contention"));
	done(&x);
	use.held = 0;
	use.alone = 700;
	x = locked(&use);
	ck_assert_ptr_null(find(&x, "contention"));
	done(&x);
}
END_TEST

/* With a quarter of the queue a quarter of the gain, and more than that only if others run alone. */
START_TEST(bounds_follow_the_queue)
{
	struct use use = cache;
	struct locked x;
	const struct qz_finding *f;

	use.queued_ns = 175 * MS;
	use.held = 175;
	use.alone = 575;
	x = locked(&use);
	f = find(&x, "contention");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_ge(f->gain_low_ns / MS, 87);
	ck_assert_uint_le(f->gain_low_ns / MS, 150);
	ck_assert_uint_le(f->gain_high_ns / MS, 400);
	done(&x);
}
END_TEST

static const struct use log_use = {
	.name = "log_lock",
	.kind = QZ_OBJECT_MUTEX,
	.lock_stack = "main [thread] work put_line pthread_mutex_lock __lll_lock_wait",
	.hold_stack = "main [thread] work put_line write",
	.cause = "pipe",
	.waits = 1000,
	.level_ns = {800 * MS, 200 * MS, 0},
	.queued_ns = 900 * MS,
	.held = 20,
	.code = 10,
	.blocked_ns = 800 * MS,
};

START_TEST(output_under_a_lock_is_found)
{
	struct locked x = locked(&log_use);
	const struct qz_finding *f = find(&x, "lock-io");

	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_eq(f, x.a->findings);
	ck_assert_ptr_null(find(&x, "contention"));
	ck_assert_uint_gt(x.r->objects[0].cost.held_blocked_ns, 600 * MS);
	ck_assert_uint_ge(f->gain_low_ns, 350 * MS);
	ck_assert_uint_ge(f->gain_high_ns, 800 * MS);
	done(&x);
}
END_TEST

/* Who sleeps with a lock is waited for; who sleeps without one looks for work. */
START_TEST(sleep_under_a_lock_is_no_polling)
{
	struct use use = log_use;
	struct locked x;

	use.hold_stack = "main [thread] work put_line usleep";
	use.cause = "sleep";
	use.blocks = 50;
	x = locked(&use);
	ck_assert_ptr_nonnull(find(&x, "lock-io"));
	ck_assert_ptr_null(find(&x, "polling"));
	done(&x);
	use.hold_stack = "main [thread] work look usleep";
	x = locked(&use);
	ck_assert_ptr_nonnull(find(&x, "polling"));
	done(&x);
}
END_TEST

/* The same output from a procedure that does not take the lock. */
START_TEST(output_elsewhere_is_not_under_the_lock)
{
	struct use use = log_use;
	struct locked x;

	use.hold_stack = "main [thread] work flush_all write";
	x = locked(&use);
	ck_assert_ptr_null(find(&x, "lock-io"));
	ck_assert_uint_eq(x.r->objects[0].cost.held_blocked_ns, 0);
	done(&x);
}
END_TEST

/* What an allocator itself costs is due to the arena as far as threads queue for it. */
START_TEST(code_of_an_allocator_goes_with_its_arena)
{
	struct use use = cache;
	struct qz_lock_gain with, without;
	struct locked x;

	use.name = "main_arena.mutex";
	use.lock_stack = "main [thread] work malloc __lll_lock_wait_private";
	use.hold_stack = "main [thread] work malloc _int_malloc";
	x = locked(&use);
	ck_assert_int_eq(qz_lock_bounds__find(x.r, &x.r->objects[0], &with), 0);
	done(&x);
	use.hold_stack = cache.hold_stack;
	x = locked(&use);
	ck_assert_int_eq(qz_lock_bounds__find(x.r, &x.r->objects[0], &without), 0);
	done(&x);
	/* nearly all of 700 of 750 samples of 800 ms; 0.7 of it in the 0.7 of the time with a queue */
	ck_assert_uint_eq((with.running.low_ns - without.running.low_ns) / MS, 365);
	ck_assert_uint_eq(with.running.high_ns, 1000 * MS);
}
END_TEST

/* Each kind of lock has its rule, and no other one finds it. */
START_TEST(kinds_of_locks_have_rules_of_their_own)
{
	static const struct {
		const char *rule, *name, *stack;
	} kinds[] = {
		{"allocator", "main_arena.mutex",
		 "main [thread] work malloc __lll_lock_wait_private"},
		{"allocator", "mutex in work", "main [thread] work free _int_free __lll_lock_wait"},
		{"stdio", "stdio lock in work", "main [thread] work fputc __lll_lock_wait_private"},
		{"interpreter", "the interpreter lock", "main [thread] work take_gil"},
	};
	struct use use = cache;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct locked x;

		use.name = kinds[i].name;
		use.lock_stack = kinds[i].stack;
		x = locked(&use);
		ck_assert_ptr_nonnull(find(&x, kinds[i].rule));
		ck_assert_ptr_null(find(&x, "contention"));
		done(&x);
		use.queued_ns = 1 * MS;
		use.held = use.code = 1;
		use.alone = 798;
		x = locked(&use);
		ck_assert_ptr_null(find(&x, kinds[i].rule));
		done(&x);
		use = cache;
	}
}
END_TEST

START_TEST(locks_of_the_kernel_are_found)
{
	static const struct {
		const char *name, *remedy, *stack;
	} locks[] = {
		{"the lock of /var/lib/db (flock)", "a file", "main [thread] work flock"},
		{"the inode's lock of /tmp/log", "larger writes", "main [thread] work pwrite64"},
		{"the position's lock of /tmp/log", "pread", "main [thread] work read"},
		{"the process' memory map (mmap, munmap, page faults)", "keep memory",
		 "main [thread] work munmap"},
	};

	for (size_t i = 0; i < sizeof(locks) / sizeof(locks[0]); i++) {
		struct use use = cache;
		const struct qz_finding *f;
		struct locked x;

		use.name = locks[i].name;
		use.kind = QZ_OBJECT_LOCK;
		use.lock_stack = locks[i].stack;
		x = locked(&use);
		f = find(&x, "contention");
		ck_assert_ptr_nonnull(f);
		ck_assert_ptr_nonnull(strstr(f->what, "the "));
		ck_assert_ptr_nonnull(strstr(f->remedy, locks[i].remedy));
		ck_assert_str_eq(f->word, "CONTENDED");
		done(&x);
	}
}
END_TEST

/* What Rust has around all that a thread does is named like its locks, and is none. */
START_TEST(the_beginning_of_a_thread_is_no_code_of_a_lock)
{
	static const struct {
		const char *name;
		bool lock;
	} codes[] = {
		{"std::sys::backtrace::__rust_begin_short_backtrace", false},
		{"std::sys::sync::mutex::futex::Mutex::lock_contended", true},
		{"<std::sys::sync::mutex::futex::Mutex>::lock_contended", true},
		{"parking_lot::raw_mutex::RawMutex::lock_slow", true},
		{"ledger::book", false},
	};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		ck_assert_int_eq(
			qz_lock_code__is(&(struct qz_procedure) {.name = (char *)codes[i].name}),
			codes[i].lock);
}
END_TEST

static const struct use slices = {
	.name = "b",
	.kind = QZ_OBJECT_BARRIER,
	.lock_stack = "main [thread] work pthread_barrier_wait",
	.hold_stack = "main [thread] work",
	.waits = 40000,
	.level_ns = {0, 800 * MS, 200 * MS},
	.queued_ns = 400 * MS,
	.code = 400,
	.rest = 500,
};

START_TEST(meetings_that_are_too_frequent_are_found)
{
	struct locked x = locked(&slices);
	const struct qz_finding *f = find(&x, "fine");

	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_eq(f, x.a->findings);
	ck_assert_uint_eq(f->subject.index, x.object);
	ck_assert_uint_ge(f->gain_low_ns, 300 * MS);
	done(&x);
}
END_TEST

/* Few meetings, and many meetings at a lock, which has a rule of its own. */
START_TEST(few_meetings_are_not_too_frequent)
{
	struct use use = slices;
	struct locked x;

	use.waits = 400;
	x = locked(&use);
	ck_assert_ptr_null(find(&x, "fine"));
	done(&x);
	use = cache;
	use.waits = 40000;
	x = locked(&use);
	ck_assert_ptr_null(find(&x, "fine"));
	ck_assert_ptr_nonnull(find(&x, "contention"));
	done(&x);
}
END_TEST

/* A thread that waits for a time, and is woken by none, meets no other and hands nothing over: it sleeps. */
START_TEST(sleeps_at_a_word_are_no_meetings)
{
	struct use use = slices;
	struct locked x;

	use.kind = QZ_OBJECT_CONDITION;
	use.lock_stack = "main [thread] work pthread_cond_timedwait";
	use.code = 700;
	use.rest = 200;
	x = locked(&use);
	ck_assert(find(&x, "fine") || find(&x, "steps"));
	qz_advise__free(x.a);
	x.f.p->objects[x.object].wakes = use.waits / 100;
	x.a = qz_advise__new(x.r);
	ck_assert_ptr_nonnull(x.a);
	ck_assert_ptr_null(find(&x, "fine"));
	ck_assert_ptr_null(find(&x, "steps"));
	done(&x);
}
END_TEST

#define ALL "main put pthread_cond_broadcast"

static struct locked woken(const struct use *use, uint64_t wakes, uint64_t in_vain, const char *by)
{
	struct locked x = locked(use);

	fixture__waking(&x.f, &(struct qz_waking) {.object = x.object, .count = wakes}, by);
	qz_advise__free(x.a);
	x.f.p->objects[x.object].wakes = wakes;
	x.f.p->objects[x.object].in_vain = in_vain;
	x.f.p->scopes[0].counters.grain[2] = 50000;
	x.a = qz_advise__new(x.r);
	ck_assert_ptr_nonnull(x.a);
	return x;
}

START_TEST(threads_that_are_woken_for_nothing_are_found)
{
	struct use use = slices;
	const struct qz_finding *f;
	struct locked x;

	use.kind = QZ_OBJECT_CONDITION;
	use.lock_stack = "main [thread] work pthread_cond_wait";
	x = woken(&use, 40000, 30000, ALL);
	f = find(&x, "in_vain");
	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_eq(f, x.a->findings);
	ck_assert_uint_eq(f->subject.index, x.object);
	ck_assert_ptr_null(find(&x, "fine"));
	done(&x);
	x = woken(&use, 40000, 30000, "main put pthread_cond_signal"); /* one after the other */
	ck_assert_ptr_null(find(&x, "in_vain"));
	done(&x);
	x = woken(&use, 40000, 15000, ALL); /* mostly not */
	ck_assert_ptr_null(find(&x, "in_vain"));
	done(&x);
	x = woken(&use, 2000, 1500, ALL); /* seldom */
	ck_assert_ptr_null(find(&x, "in_vain"));
	done(&x);
	x = woken(&slices, 40000, 30000, ALL); /* a barrier */
	ck_assert_ptr_null(find(&x, "in_vain"));
	done(&x);
}
END_TEST

/* What one thread does alone, while no thread queues for the lock, is another loss than the lock's. */
START_TEST(a_serial_phase_beside_a_lock_is_told)
{
	struct use use = cache;
	struct locked x;
	struct qz_report *r;
	struct qz_advice *a;
	uint32_t main;

	use.level_ns[1] = 1800 * MS;
	x = locked(&use);
	main = fixture__thread(&x.f, 0, 9);
	add_samples(&x.f, main, "main parse", QZ_NONE, 1, 1000);
	ck_assert_int_eq(qz_estimate__profile(x.f.p), 0);
	r = qz_report__new(x.f.p, 0);
	a = qz_advise__new(r);
	ck_assert_uint_eq(a->n, 2);
	ck_assert_str_eq(a->findings[0].rule, "contention");
	ck_assert_str_eq(a->findings[1].rule, "serial");
	ck_assert_str_eq(a->findings[1].subject.name, "parse");
	qz_advise__free(a);
	qz_report__free(r);
	done(&x);
}
END_TEST

/* A lock that is queued for since others have the processors: its holder ran for a twentieth of the time that it could. */
START_TEST(a_lock_of_threads_without_processors_is_no_finding)
{
	struct use use = cache;
	struct locked x;

	use.level_ns[0] = 950 * MS;
	use.level_ns[1] = 50 * MS;
	use.level_ns[2] = 0;
	use.held = 50;
	use.code = use.rest = 0;
	x = locked(&use);
	ck_assert_ptr_nonnull(find(&x, "contention"));
	qz_advise__free(x.a);
	fixture__wait(&x.f,
		      &(struct qz_wait) {.thread = 0,
					 .object = QZ_NONE,
					 .nominal = 2,
					 .count = 100,
					 .ready_ns = 1800 * MS},
		      use.hold_stack, "preempted");
	x.a = qz_advise__new(x.r);
	ck_assert_ptr_null(find(&x, "contention"));
	done(&x);
}
END_TEST

Suite *suite_locks(void)
{
	Suite *s = suite_create("locks");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, cost_is_made_of_holders_code_and_waiting);
	tcase_add_test(tc, queues_cost_what_processors_are_free);
	tcase_add_test(tc, queues_cost_nothing_while_others_have_the_processors);
	tcase_add_test(tc, queues_cost_nothing_while_samples_find_others);
	tcase_add_loop_test(tc, a_wait_without_a_holder_is_no_queue, 0, 2);
	tcase_add_test(tc, what_is_not_held_costs_its_code);
	tcase_add_test(tc, code_of_one_place_is_divided_by_waits);
	tcase_add_loop_test(tc, costs_are_within_the_elapsed_time, 0, RANDOM_PROFILES);
	tcase_add_loop_test(tc, idle_time_is_charged_to_the_nanosecond, 0, RANDOM_PROFILES);
	tcase_add_test(tc, idle_time_without_memory_is_an_error);
	tcase_add_test(tc, idle_time_is_of_those_who_work);
	tcase_add_test(tc, contention_is_found);
	tcase_add_test(tc, a_lock_is_not_taken_in_unnamed_code_of_its_own);
	tcase_add_test(tc, bounds_follow_the_queue);
	tcase_add_test(tc, short_queues_are_no_contention);
	tcase_add_test(tc, words_that_nobody_holds_are_no_locks);
	tcase_add_test(tc, output_under_a_lock_is_found);
	tcase_add_test(tc, sleep_under_a_lock_is_no_polling);
	tcase_add_test(tc, output_elsewhere_is_not_under_the_lock);
	tcase_add_test(tc, code_of_an_allocator_goes_with_its_arena);
	tcase_add_test(tc, kinds_of_locks_have_rules_of_their_own);
	tcase_add_test(tc, locks_of_the_kernel_are_found);
	tcase_add_test(tc, meetings_that_are_too_frequent_are_found);
	tcase_add_test(tc, the_beginning_of_a_thread_is_no_code_of_a_lock);
	tcase_add_test(tc, sleeps_at_a_word_are_no_meetings);
	tcase_add_test(tc, few_meetings_are_not_too_frequent);
	tcase_add_test(tc, threads_that_are_woken_for_nothing_are_found);
	tcase_add_test(tc, a_serial_phase_beside_a_lock_is_told);
	tcase_add_test(tc, a_lock_of_threads_without_processors_is_no_finding);
	suite_add_tcase(s, tc);
	return s;
}
