/* SPDX-License-Identifier: GPL-2.0-only */
/* Findings: each rule on a profile for it and on one against it, and what holds for all of them. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/advise/advise.h"
#include "core/advise/advise_text.h"
#include "core/advise/bounds.h"
#include "core/advise/usage.h"
#include "core/advise/verdict.h"
#include "core/estimate/estimate.h"
#include "tests/unit/failing.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define MS		1000000ull
#define RANDOM_PROFILES 30

/* What is freed in the end of a test. */
struct advised {
	struct qz_profile *p;
	struct qz_report *r;
	struct qz_advice *a;
};

static struct advised advise(struct fixture *f, uint32_t processors)
{
	struct advised x = {.p = f->p};

	ck_assert_int_eq(f->err, 0);
	f->p->processors = processors;
	ck_assert_int_eq(qz_estimate__profile(f->p), 0);
	x.r = qz_report__new(f->p, 0);
	ck_assert_ptr_nonnull(x.r);
	x.a = qz_advise__new(x.r);
	ck_assert_ptr_nonnull(x.a);
	return x;
}

static void done(struct advised *x)
{
	qz_advise__free(x->a);
	qz_report__free(x->r);
	qz_profile__free(x->p);
}

static const struct qz_finding *find(const struct qz_advice *a, const char *rule)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (!strcmp(a->findings[i].rule, rule))
			return &a->findings[i];
	return NULL;
}

START_TEST(findings_are_whole_and_sorted)
{
	struct qz_profile *p = fixture__random((unsigned int)_i);

	for (uint32_t scope = 0; scope < p->nscopes; scope++) {
		struct qz_report *r = qz_report__new(p, scope);
		struct qz_advice *a = qz_advise__new(r);
		uint64_t before = UINT64_MAX;

		for (uint32_t i = 0; i < a->n; i++) {
			const struct qz_finding *f = &a->findings[i];
			uint64_t middle = f->gain_low_ns / 2 + f->gain_high_ns / 2;

			ck_assert_ptr_nonnull(f->rule);
			ck_assert_ptr_nonnull(f->subject.name);
			ck_assert_ptr_nonnull(f->what);
			ck_assert_ptr_nonnull(f->remedy);
			ck_assert_uint_ge(f->nevidence, 1);
			ck_assert_uint_le(f->gain_low_ns, f->gain_high_ns);
			ck_assert_uint_le(f->gain_high_ns, r->elapsed_ns);
			ck_assert_uint_gt(f->gain_high_ns, 0);
			ck_assert_uint_le(middle, before);
			before = middle;
		}
		qz_advise__free(a);
		qz_report__free(r);
	}
	qz_profile__free(p);
}
END_TEST

START_TEST(lack_of_memory_is_reported)
{
	struct qz_profile *p = fixture__random(3);
	struct qz_report *r = qz_report__new(p, 0);
	struct qz_advice *a = NULL;

	for (unsigned int i = 1; !a; i++) {
		failing__arm(i);
		a = qz_advise__new(r);
		ck_assert_int_eq(failing__disarm(), !a);
	}
	qz_advise__free(a);
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

/* Eight of ten parts of the time one of four processors works, in `load`. */
static struct fixture serial(uint64_t alone, uint64_t together)
{
	const uint64_t level_ns[] = {0, alone * MS, 0, 0, together * MS};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 5), main = fixture__thread(&f, scope, 1);

	fixture__samples(&f, scope, main, "main load read_row", 1, alone);
	fixture__samples(&f, scope, main, "main [thread] work", 4, 4 * together);
	return f;
}

START_TEST(a_serial_phase_is_found)
{
	struct fixture f = serial(800, 200);
	struct advised x = advise(&f, 4);
	const struct qz_finding *found = find(x.a, "serial");

	ck_assert_ptr_nonnull(found);
	ck_assert_int_eq(found->subject.kind, QZ_SUBJECT_PROCEDURE);
	/* at the same processor time, and at 1 and 4/6 times */
	ck_assert_uint_eq(found->gain_high_ns, 600 * MS);
	ck_assert_uint_eq(found->gain_low_ns / MS, 466);
	done(&x);
}
END_TEST

/*
 * The procedure with most code of its own gives the phase its name. What the same thread does alone around it can be divided as well, and is
 * no work that several threads share.
 */
START_TEST(code_around_a_phase_belongs_to_it)
{
	static const uint64_t level_ns[] = {0, 1000 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), main = fixture__thread(&f, scope, 1),
		 other = fixture__thread(&f, scope, 2);
	struct advised x;

	fixture__samples(&f, scope, main, "main work compress", 1, 900);
	fixture__samples(&f, scope, main, "main work output", 1, 80);
	fixture__samples(&f, scope, main, "main queue", 1, 10);
	fixture__samples(&f, scope, other, "main queue", 1, 10);
	x = advise(&f, 2);
	ck_assert_uint_eq(x.a->n, 1);
	ck_assert_str_eq(x.a->findings[0].rule, "serial");
	ck_assert_str_eq(x.a->findings[0].subject.name, "compress");
	ck_assert_uint_eq(x.a->findings[0].gain_low_ns / MS, 300);
	ck_assert_uint_eq(x.a->findings[0].gain_high_ns, 490 * MS);
	done(&x);
}
END_TEST

/* Goroutines run in any thread: which one did tells nothing of who waits for whom. */
START_TEST(tasks_that_threads_run_in_turn_are_serial)
{
	const uint64_t level_ns[] = {0, 1000 * MS};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 2), main = fixture__thread(&f, scope, 1);
	uint32_t other = fixture__thread(&f, scope, 2);
	const struct qz_finding *found;
	struct advised x;

	f.p->threads[other].pid = f.p->threads[main].pid = f.p->threads[main].tid;
	fixture__samples(&f, scope, main, "runtime.goexit main.worker main.burn time.now", 1, 500);
	fixture__samples(&f, scope, other, "runtime.goexit main.worker main.burn time.now", 1, 500);
	fixture__samples(&f, scope, other, "runtime.goexit main.worker main.burn", 1, 200);
	fixture__wait(
		&f,
		&(struct qz_wait) {
			.thread = other, .object = QZ_NONE, .count = 100, .blocked_ns = 500 * MS},
		"runtime.mstart", "futex");
	x = advise(&f, 2);
	found = find(x.a, "serial");
	ck_assert_ptr_nonnull(found);
	ck_assert_ptr_null(find(x.a, "imbalance"));
	ck_assert_str_eq(found->subject.name, "main.burn");
	ck_assert_ptr_nonnull(strstr(found->remedy, "goroutines"));
	ck_assert_uint_eq(found->gain_high_ns, 500 * MS);
	done(&x);
}
END_TEST

START_TEST(parallel_work_is_no_serial_phase)
{
	struct fixture f = serial(10, 990);
	struct advised x = advise(&f, 4);

	ck_assert_ptr_null(find(x.a, "serial"));
	done(&x);
}
END_TEST

/* One of two processors works: in pthread_create for this share of 1,000 ms, else in `load`. */
static struct fixture starting(uint64_t ms, uint64_t threads)
{
	static const uint64_t level_ns[] = {0, 1000 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), main = fixture__thread(&f, scope, 1);

	fixture__samples(&f, scope, main, "main spawn pthread_create", 1, ms);
	fixture__samples(&f, scope, main, "main load", 1, 1000 - ms);
	f.p->scopes[0].counters.threads_seen = threads;
	return f;
}

START_TEST(small_steps_are_no_serial_phase)
{
	struct fixture f = starting(900, 1000);
	struct advised x = advise(&f, 2);
	const struct qz_finding *found = find(x.a, "steps");

	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found->subject.name, "spawn");
	ck_assert_uint_eq(found->gain_low_ns / MS, 810);
	ck_assert_uint_eq(found->gain_high_ns / MS, 1000);
	ck_assert_ptr_null(find(x.a, "serial"));
	done(&x);
}
END_TEST

/* 900 ms for 900 threads and 100 processes. */
START_TEST(what_a_start_costs_is_told)
{
	struct fixture f = starting(900, 1000);
	const struct qz_finding *found;
	struct advised x;
	bool told = false;

	f.p->scopes[0].counters.threads_started = 900;
	f.p->scopes[0].counters.processes_started = 100;
	x = advise(&f, 2);
	found = find(x.a, "steps");
	ck_assert_ptr_nonnull(found);
	for (uint32_t i = 0; i < found->nevidence; i++)
		told |= !strcmp(
			found->evidence[i].text,
			"900 threads and 100 processes were started, each cost 900 us of CPU time");
	ck_assert(told);
	done(&x);
}
END_TEST

START_TEST(the_start_of_a_command_is_no_step)
{
	struct fixture f = starting(900, 3);
	struct advised x = advise(&f, 2);

	ck_assert_ptr_null(find(x.a, "steps"));
	done(&x);
}
END_TEST

/* Times in ms. */
struct waits {
	uint32_t nominal;
	uint64_t count, blocked, ready;
};

static void waited(struct fixture *f, uint32_t thread, const char *stack, const char *cause,
		   struct waits waits)
{
	fixture__wait(f,
		      &(struct qz_wait) {.thread = thread,
					 .object = QZ_NONE,
					 .nominal = waits.nominal,
					 .count = waits.count,
					 .blocked_ns = waits.blocked * MS,
					 .ready_ns = waits.ready * MS},
		      stack, cause);
}

/* One of two processors works, or none, all of the time in a call: so many of 1,000 ms copy there. */
static struct fixture calling(uint64_t copies_ms, uint64_t idle_ms)
{
	static const char *const kernel[] = {"do_syscall_64", "copy_folio_from_iter_atomic",
					     "shmem_write_end"};
	const uint64_t level_ns[] = {idle_ms * MS, 1000 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), main = fixture__thread(&f, scope, 1);

	fixture__samples(&f, scope, main, "main io do_syscall_64 copy_folio_from_iter_atomic", 1,
			 copies_ms);
	fixture__samples(&f, scope, main, "main io do_syscall_64 shmem_write_end", 1,
			 1000 - copies_ms);
	for (size_t i = 0; !f.err && i < sizeof(kernel) / sizeof(kernel[0]); i++)
		f.err = qz_profile__set_string(
			&f.p->procedures[fixture__procedure(f.p, kernel[i])].module, "[kernel]");
	return f;
}

/* So many reads and writes, of so many bytes, take 900 of 1,000 ms; the first sentence about them. */
static void copying(struct qz_transfers of, const char *proof, const char *remedy)
{
	struct fixture f = fixture__new();
	const uint64_t level_ns[] = {0, 1000 * MS, 0};
	uint32_t scope = fixture__scope(&f, level_ns, 3), main = fixture__thread(&f, scope, 1);
	const struct qz_finding *found;
	struct advised x;
	bool told = false;

	fixture__samples(&f, scope, main, "main copy do_syscall_64 ksys_read", 1, 500);
	fixture__samples(&f, scope, main, "main copy do_syscall_64 ksys_write", 1, 400);
	fixture__samples(&f, scope, main, "main copy", 1, 100);
	for (uint32_t i = 0; i < f.p->nprocedures; i++)
		if (strstr(f.p->procedures[i].name, "sys"))
			f.err |= qz_profile__set_string(&f.p->procedures[i].module, "[kernel]");
	f.p->scopes[0].counters.transfers = of;
	x = advise(&f, 2);
	found = find(x.a, "steps");
	ck_assert_ptr_nonnull(found);
	for (uint32_t i = 0; i < found->nevidence; i++)
		told |= !strcmp(found->evidence[i].text, proof);
	ck_assert_msg(told, "%s", proof);
	ck_assert_msg(strstr(found->remedy, remedy) != NULL, "%s", found->remedy);
	done(&x);
}

START_TEST(what_a_call_moves_is_told)
{
	copying((struct qz_transfers) {500000, 500004, 400000, 400000},
		"500000 reads of 1 byte and 400000 writes of 1 byte on average, each took 1.0 us "
		"of CPU time",
		"bs=64k");
	copying((struct qz_transfers) {9000000, 4 * 9000000, 5, 1 << 20},
		"9000000 reads of 4 bytes on average, each took 0.1 us of CPU time", "bs=64k");
	/* who has large blocks is not told to take larger ones */
	copying((struct qz_transfers) {1000, 1000 << 16, 1000, 1000 << 16},
		"1000 reads of 64 KiB and 1000 writes of 64 KiB on average, each took 450.0 us of "
		"CPU time",
		"fewer calls");
}
END_TEST

/* Who waits for a device for longer than its calls run is not told to make them larger, but to sync less often. */
START_TEST(calls_that_wait_for_devices_are_no_small_steps)
{
	static const uint64_t idle_ms[] = {1500, 500};
	struct fixture f = calling(100, idle_ms[_i]);
	struct advised x;

	waited(&f, 0, "main io", "disk", (struct waits) {0, 100, idle_ms[_i], 0});
	x = advise(&f, 2);
	ck_assert_str_eq(x.a->findings[0].rule, _i ? "steps" : "overlap");
	if (!_i) {
		ck_assert_ptr_null(find(x.a, "steps"));
		ck_assert_uint_eq(x.a->findings[0].gain_high_ns, 2500 * MS);
	}
	done(&x);
}
END_TEST

/* Who copies for more than half of the time has blocks that are large. */
START_TEST(calls_with_large_blocks_are_not_too_small)
{
	struct fixture f = calling(100, 0);
	struct advised x = advise(&f, 2);

	ck_assert_ptr_nonnull(find(x.a, "steps"));
	ck_assert_str_eq(find(x.a, "steps")->word, "CALLS TOO SMALL");
	done(&x);
	f = calling(550, 0);
	x = advise(&f, 2);
	ck_assert_ptr_null(find(x.a, "steps"));
	done(&x);
}
END_TEST

/* A server that waits for requests most of the time gets no more of them with larger calls; a command that waits ends. */
START_TEST(who_has_no_work_waits_for_it_with_larger_calls_too)
{
	static const uint64_t level_ns[] = {1500 * MS, 1000 * MS, 0};

	for (int ended = 0; ended < 2; ended++) {
		struct fixture f = calling(100, 0);
		struct qz_wait wait = {
			.thread = 0, .object = QZ_NONE, .blocked_ns = 1500 * MS, .count = 1000};
		struct advised x;

		fixture__wait(&f, &wait, "main io recv", "socket");
		memcpy(f.p->scopes[0].level_ns, level_ns, sizeof(level_ns));
		f.p->scopes[0].kind = ended ? QZ_SCOPE_JOB : QZ_SCOPE_PROCESS;
		f.p->scopes[0].ended = ended;
		f.p->threads[0].running_ns = 1000 * MS;
		qz_scope__sum_levels(&f.p->scopes[0]);
		x = advise(&f, 2);
		ck_assert_ptr_nonnull(find(x.a, "steps"));
		ck_assert_uint_eq(find(x.a, "steps")->gain_high_ns / MS, ended ? 2500 : 1000);
		done(&x);
	}
}
END_TEST

/* A queue of 400 ms: in what asks for these calls, or elsewhere. */
static struct fixture queueing(const char *stack)
{
	struct fixture f = calling(100, 0);
	struct qz_wait wait = {.thread = 0, .blocked_ns = 400 * MS, .nominal = 1, .count = 10};

	wait.object = fixture__object(&f, 0, QZ_OBJECT_LOCK, "the inode's lock of /tmp/log");
	fixture__wait(&f, &wait, stack, "pwrite64");
	if (!f.err) {
		f.p->objects[wait.object].queue_ns[1] = 400 * MS;
		f.p->objects[wait.object].waits = 10;
	}
	return f;
}

START_TEST(a_lock_of_the_kernel_is_named_with_the_calls_that_queue_for_it)
{
	struct fixture f = queueing("main io");
	struct advised x = advise(&f, 2);
	const struct qz_finding *found = find(x.a, "steps");

	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found->word, "CONTENDED");
	ck_assert_ptr_nonnull(strstr(found->what, "the inode's lock of /tmp/log 40%"));
	ck_assert_ptr_nonnull(strstr(found->remedy, "larger writes"));
	ck_assert_ptr_null(find(x.a, "contention"));
	done(&x);
	f = queueing("main other");
	x = advise(&f, 2);
	ck_assert_ptr_nonnull(find(x.a, "steps"));
	ck_assert_str_eq(find(x.a, "steps")->word, "CALLS TOO SMALL");
	done(&x);
}
END_TEST

/* Nor are they divided among threads: the work is, of 800 ms. */
START_TEST(few_steps_are_not_too_small)
{
	struct fixture f = starting(200, 1000);
	struct advised x = advise(&f, 2);
	const struct qz_finding *found = find(x.a, "serial");

	ck_assert_ptr_null(find(x.a, "steps"));
	ck_assert_ptr_nonnull(found);
	ck_assert_uint_eq(found->gain_high_ns / MS, 400);
	done(&x);
}
END_TEST

START_TEST(one_processor_leaves_nothing_to_divide)
{
	static const uint64_t level_ns[] = {0, 1000 * MS};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 2);
	struct advised x;

	fixture__samples(&f, scope, fixture__thread(&f, scope, 1), "main work", 1, 100);
	x = advise(&f, 1);
	ck_assert_uint_eq(x.a->n, 0);
	done(&x);
}
END_TEST

/* What a thread did in the scope that is built: fixture__thread leaves these at 0. */
static void lived(struct fixture *f, uint32_t thread, int32_t pid, uint64_t start, uint64_t end,
		  uint64_t running)
{
	struct qz_thread *t = &f->p->threads[thread];

	t->pid = pid;
	t->start_ns = start * MS;
	t->end_ns = end * MS;
	t->running_ns = running * MS;
}

/* Its only processor is another program's most of the time: it is serial still, not idle. */
START_TEST(ready_time_is_not_idle)
{
	static const uint64_t level_ns[] = {600 * MS, 400 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), thread = fixture__thread(&f, scope, 1);
	const struct qz_finding *found;
	struct advised x;

	fixture__samples(&f, scope, thread, "main deflate", 1, 400);
	waited(&f, thread, "main deflate", "preempted", (struct waits) {1, 100, 0, 600});
	f.p->scopes[0].runnable_ns = 1000 * MS;
	x = advise(&f, 2);
	found = find(x.a, "serial");
	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found->subject.name, "deflate");
	ck_assert_uint_eq(found->gain_high_ns, 500 * MS);
	done(&x);
}
END_TEST

/* Its thread ran for a third of the time that it could. */
START_TEST(others_come_first_where_they_cost_most)
{
	static const uint64_t level_ns[] = {700 * MS, 300 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), thread = fixture__thread(&f, scope, 1);
	struct advised x;
	char *text;

	fixture__samples(&f, scope, thread, "main deflate", 1, 300);
	waited(&f, thread, "main deflate", "preempted", (struct waits) {1, 100, 0, 700});
	f.p->scopes[0].runnable_ns = 1000 * MS;
	x = advise(&f, 2);
	ck_assert_ptr_nonnull(find(x.a, "serial"));
	ck_assert(qz_verdict__others_first(x.a));
	text = qz_verdict__text(x.a);
	ck_assert_str_eq(text,
			 "SHORT OF CPUS: it kept 0.3 of 2 CPUs busy on average, only one for 30% "
			 "of the time, none "
			 "for 70%. Other programs had 0.7 more that its threads were ready for");
	free(text);
	/* what gains more without them, too, is said before them */
	x.a->findings[0].gain_low_ns = 700 * MS;
	x.a->findings[0].gain_high_ns = 900 * MS;
	x.a->findings[0].word = "STEPS TOO SMALL";
	ck_assert(!qz_verdict__others_first(x.a));
	text = qz_verdict__text(x.a);
	ck_assert_int_eq(strncmp(text, "STEPS TOO SMALL: ", 17), 0);
	free(text);
	done(&x);
}
END_TEST

/* Where it waits for something else most of the time, it has little to gain from more processors. */
START_TEST(others_are_not_why_it_waits)
{
	static const uint64_t level_ns[] = {900 * MS, 100 * MS, 0};
	static const uint64_t blocked_ms[] = {600, 300};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), thread = fixture__thread(&f, scope, 1);
	uint64_t blocked = blocked_ms[_i], ready = 900 - blocked;
	struct advised x;
	char *text;

	fixture__samples(&f, scope, thread, "main ask", 1, 100);
	waited(&f, thread, "main ask", "socket", (struct waits) {1, 100, blocked, 0});
	waited(&f, thread, "main ask", "preempted", (struct waits) {1, 100, 0, ready});
	f.p->scopes[0].runnable_ns = (100 + ready) * MS;
	x = advise(&f, 2);
	ck_assert_int_eq(qz_verdict__others_first(x.a), blocked < 500);
	text = qz_verdict__text(x.a);
	ck_assert_int_eq(strncmp(text, "SHORT OF CPUS: ", 15) == 0, blocked < 500);
	free(text);
	done(&x);
}
END_TEST

static const struct {
	uint64_t daemon_ms;
	const char *word, *taken;
} crowdings[] = {
	{400, "SHORT OF CPUS: ",
	 ". Other programs had 0.6 more that its threads were ready for; Quartz itself had 0.4"},
	{50, "SHORT OF CPUS: ",
	 ". Other programs had 0.9 more that its threads were ready for; Quartz itself had 0.05"},
	{30, "SHORT OF CPUS: ", ". Other programs had 1.0 more that its threads were ready for"},
	{960, "PARALLEL: ", ". Quartz itself had 1.0 more that its threads were ready for"},
};

/* Two threads that would both run, of which others leave room for one: these are quartzd, as far as it ran. */
START_TEST(crowded_out_is_not_serial)
{
	static const uint64_t level_ns[] = {0, 1000 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), one = fixture__thread(&f, scope, 1);
	uint32_t two = fixture__thread(&f, scope, 2);
	struct advised x;
	char *verdict;

	fixture__samples(&f, scope, one, "main [thread] deflate", 1, 500);
	fixture__samples(&f, scope, two, "main [thread] deflate", 1, 500);
	waited(&f, one, "main [thread] deflate", "preempted", (struct waits) {2, 100, 0, 500});
	waited(&f, two, "main [thread] deflate", "preempted", (struct waits) {2, 100, 0, 500});
	f.p->scopes[0].runnable_ns = 2000 * MS;
	f.p->costs.daemon_ns = crowdings[_i].daemon_ms * MS;
	x = advise(&f, 2);
	ck_assert_uint_eq(x.a->n, 0);
	verdict = qz_verdict__text(x.a);
	ck_assert_ptr_nonnull(strstr(verdict, crowdings[_i].word));
	ck_assert_pstr_eq(strstr(verdict, ". "), crowdings[_i].taken);
	free(verdict);
	done(&x);
}
END_TEST

/* The same where no other program ran, as the samples say: on one processor by their affinity. */
START_TEST(a_limit_is_not_what_others_had)
{
	static const uint64_t level_ns[] = {0, 1000 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), one = fixture__thread(&f, scope, 1);
	uint32_t two = fixture__thread(&f, scope, 2);
	struct advised x;
	char *verdict;

	fixture__samples(&f, scope, one, "main [thread] deflate", 1, 500);
	fixture__samples(&f, scope, two, "main [thread] deflate", 1, 500);
	waited(&f, one, "main [thread] deflate", "preempted", (struct waits) {2, 100, 0, 500});
	waited(&f, two, "main [thread] deflate", "preempted", (struct waits) {2, 100, 0, 500});
	f.p->scopes[0].runnable_ns = 2000 * MS;
	f.p->scopes[0].cpu_ns = 1000 * MS;
	f.p->ledger = (struct qz_ledger) {.expected = 1000, .accepted = 1000};
	qz_ledger__add_event(&f.p->ledger, "log_lost_ns", 1500 * MS);
	qz_ledger__add_event(&f.p->ledger, "log_off_ns", 6000 * MS);
	f.p->window_ns = 4000 * MS;
	f.p->ceiling_ppm = 10000;
	x = advise(&f, 2);
	verdict = qz_verdict__text(x.a);
	ck_assert_ptr_nonnull(strstr(verdict, "what ran in 1.5 s of a CPU's time is not known"));
	ck_assert_ptr_nonnull(strstr(verdict, "Quartz measured for 25% of the time, "));
	ck_assert_ptr_nonnull(strstr(verdict, "LIMITED: it kept 1.0 of 2 CPUs busy"));
	ck_assert_ptr_nonnull(strstr(verdict, "a quota kept it from 1.0 more"));
	ck_assert_ptr_null(strstr(verdict, "Other programs"));
	ck_assert_int_eq(qz_verdict__shortage(x.r), QZ_SHORT_BY_LIMIT);
	free(verdict);
	done(&x);
}
END_TEST

/*
 * Two threads in turn, and whoever is woken needs a moment: no other program had the other processor, as the samples say,
 * in 50 of 1000 ms at most.
 */
START_TEST(waking_up_is_not_waiting_for_others)
{
	static const uint64_t level_ns[] = {0, 1000 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), one = fixture__thread(&f, scope, 1);
	uint32_t two = fixture__thread(&f, scope, 2);
	struct advised x;
	struct qz_usage u;

	fixture__samples(&f, scope, one, "main [thread] deflate", 1, 500);
	fixture__samples(&f, scope, two, "main [thread] deflate", 1, 500);
	waited(&f, one, "main [thread] get", "futex", (struct waits) {2, 100, 100, 400});
	waited(&f, two, "main [thread] get", "futex", (struct waits) {2, 100, 100, 400});
	f.p->scopes[0].runnable_ns = 1800 * MS;
	f.p->scopes[0].cpu_ns = 1000 * MS;
	f.p->ledger = (struct qz_ledger) {.expected = 1050, .accepted = 1000, .filtered = 50};
	x = advise(&f, 2);
	qz_usage__find(x.r, &u);
	ck_assert_uint_eq(u.taken_ns, 50 * MS);
	ck_assert_uint_eq(u.alone_ns, 950 * MS);
	/* where samples were not counted, all of it may be theirs */
	x.p->ledger = (struct qz_ledger) {0};
	qz_usage__find(x.r, &u);
	ck_assert_uint_eq(u.taken_ns, 800 * MS);
	done(&x);
}
END_TEST

/*
 * One thread of two processors. What a second one gains where others have 1.1 processors: 2 of 3.1 threads for 1 of 2.1, 1.35 times as
 * much. Not where others have hardly any, where they are Quartz itself, and where they were not counted.
 */
START_TEST(others_compete_for_what_is_freed)
{
	static const struct {
		uint64_t others;
		const char *program;
		uint64_t low, high;
	} cases[] = {{1100, "sh", 95, 261},
		     {150, "sh", 333, 500},
		     {1100, "quartzd", 333, 500},
		     {0, NULL, 333, 500}};
	static const uint64_t level_ns[] = {0, 1000 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), one = fixture__thread(&f, scope, 1);
	const struct qz_finding *found;
	struct advised x;

	fixture__samples(&f, scope, one, "main deflate", 1, 1000);
	f.p->scopes[0].cpu_ns = 1000 * MS;
	f.p->ledger = (struct qz_ledger) {.expected = 1000 + cases[_i].others, .accepted = 1000};
	if (cases[_i].program)
		qz_ledger__add_outside(&f.p->ledger, cases[_i].program, cases[_i].others);
	else
		f.p->ledger = (struct qz_ledger) {0};
	x = advise(&f, 2);
	found = find(x.a, "serial");
	ck_assert_ptr_nonnull(found);
	ck_assert_uint_eq(found->gain_low_ns / MS, cases[_i].low);
	ck_assert_uint_eq(found->gain_high_ns / MS, cases[_i].high);
	done(&x);
}
END_TEST

static struct fixture shared_loop(uint64_t alone, uint64_t together)
{
	const uint64_t level_ns[] = {0, alone * MS, together * MS};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), main = fixture__thread(&f, scope, 1);
	uint32_t worker = fixture__thread(&f, scope, 2);

	fixture__samples(&f, scope, main, "main loop", 1, alone);
	fixture__samples(&f, scope, main, "main loop", 2, together);
	fixture__samples(&f, scope, worker, "main [thread] loop", 2, together);
	return f;
}

static struct advised shared_work(uint64_t alone, uint64_t together)
{
	struct fixture f = shared_loop(alone, together);

	return advise(&f, 2);
}

START_TEST(imbalance_is_found)
{
	struct advised x = shared_work(600, 400);
	const struct qz_finding *found = find(x.a, "imbalance");
	char *verdict = qz_verdict__text(x.a);

	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found->subject.name, "loop");
	ck_assert_uint_eq(found->gain_high_ns, 300 * MS);
	ck_assert_uint_eq(found->gain_low_ns, 195 * MS);
	ck_assert_int_eq(strncmp(verdict, "UNBALANCED: ", 12), 0);
	ck_assert_ptr_null(find(x.a, "serial"));
	free(verdict);
	done(&x);
}
END_TEST

/* A lock at which they hardly ever wait is not why the others do nothing. */
START_TEST(imbalance_with_a_lock_is_found)
{
	static const uint64_t blocked_ms[] = {5, 500};
	struct fixture f = shared_loop(600, 400);
	struct qz_wait wait = {.thread = 1, .count = 10, .nominal = 1};
	struct advised x;

	wait.object = fixture__object(&f, 0, QZ_OBJECT_MUTEX, "lock");
	wait.blocked_ns = blocked_ms[_i] * MS;
	fixture__wait(&f, &wait, "main [thread] loop", "futex");
	x = advise(&f, 2);
	ck_assert_int_eq(!find(x.a, "imbalance"), _i);
	done(&x);
}
END_TEST

/*
 * A shell and its children, say, which run the same code one after another: none runs while another one does, or
 * their lives do not overlap.
 */
START_TEST(processes_that_share_work_run_at_once)
{
	static const struct {
		uint64_t together, began;
	} cases[] = {{100, 0}, {0, 0}, {100, 700}};
	uint64_t together = cases[_i].together;
	const uint64_t level_ns[] = {0, (1000 - together) * MS, together * MS};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), one = fixture__thread(&f, scope, 1);
	uint32_t two = fixture__thread(&f, scope, 2);
	const struct qz_finding *found;
	struct advised x;

	fixture__samples(&f, scope, one, "main execute", 1, 800 - together);
	fixture__samples(&f, scope, one, "main execute", 2, together);
	fixture__samples(&f, scope, two, "main [process] execute", 1, 200);
	fixture__samples(&f, scope, two, "main [process] execute", 2, together);
	lived(&f, one, 1, 0, _i == 2 ? 800 : 1000, 800);
	lived(&f, two, 2, cases[_i].began, 1000, 200 + together);
	x = advise(&f, 2);
	found = find(x.a, "imbalance");
	ck_assert_int_eq(!found, _i > 0);
	if (found) {
		ck_assert_ptr_nonnull(strstr(found->what, "2 processes run execute"));
		ck_assert_ptr_null(strstr(found->remedy, "OpenMP"));
	}
	done(&x);
}
END_TEST

static void add_locked(struct fixture *f, uint32_t thread, bool spinning, const char *words)
{
	struct qz_sample sample = {.thread = thread,
				   .level = 2,
				   .busy = 1,
				   .spinning = spinning,
				   .object = QZ_NONE,
				   .count = 500,
				   .node = fixture__stack(f, words)};

	if (!f->err)
		f->err = qz_profile__add_samples(f->p, &sample);
}

static void be_of_library(struct qz_profile *p, const char *name, const char *module)
{
	struct qz_procedure *procedure = &p->procedures[fixture__procedure(p, name)];

	free(procedure->module);
	procedure->module = strdup(module);
}

/* What a spin loop is for is not known by its code: the one of OpenMP is, by its library. */
START_TEST(who_waits_for_a_spin_lock_is_contended)
{
	for (int openmp = 0; openmp < 2; openmp++) {
		static const uint64_t level_ns[] = {0, 0, 1000 * MS};
		struct fixture f = fixture__new();
		uint32_t scope = fixture__scope(&f, level_ns, 3);
		uint32_t threads[] = {fixture__thread(&f, scope, 1), fixture__thread(&f, scope, 2)};
		const struct qz_finding *found;
		struct advised x;
		char *verdict;

		for (size_t t = 0; t < 2; t++) {
			add_locked(&f, threads[t], false, "main [thread] loop");
			add_locked(&f, threads[t], true, "main [thread] loop take_lock");
		}
		if (openmp)
			be_of_library(f.p, "take_lock", "/usr/lib/libgomp.so.1");
		x = advise(&f, 2);
		found = find(x.a, "imbalance");
		ck_assert_ptr_nonnull(found);
		ck_assert_str_eq(found->subject.name, "loop");
		ck_assert_int_eq(!strstr(found->what, "take_lock"), openmp);
		verdict = qz_verdict__text(x.a);
		ck_assert_int_eq(!!strncmp(verdict, "CONTENDED: ", 11), openmp);
		free(verdict);
		done(&x);
	}
}
END_TEST

/*
 * Two threads that work in turns and sleep at a word of their own each, until the other one wakes them: that is a lock. It is none
 * where there is one word with a queue of two, where another thread wakes them, or where one has so much more to do that
 * the other one waits for it. A third one that sleeps there until they end, and wakes none, changes nothing. In a
 * library's code, it is a pool that has nothing to do.
 */
START_TEST(who_parks_is_contended)
{
	static const uint64_t ran_ms[][2] = {{500, 500}, {500, 500}, {500, 500}, {600, 400},
					     {900, 100}, {500, 500}, {500, 500}};
	static const char *const stacks[][3] = {
		{"main [thread] loop get", "main [thread] loop get park",
		 "main [thread] loop get unpark"},
		{"main [thread] loop core::call", "main [thread] loop core::call park",
		 "main [thread] loop core::call unpark"}};
	bool locked = _i == 0 || _i == 3 || _i == 5;
	static const uint64_t level_ns[] = {0, 1000 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), threads[3], words;
	struct qz_wait joins;
	const struct qz_finding *found;
	struct advised x;

	for (int32_t i = 0; i < 3; i++)
		threads[i] = fixture__thread(&f, scope, i + 1);
	words = fixture__object(&f, scope, QZ_OBJECT_OTHER, "park");
	joins = (struct qz_wait) {
		.thread = threads[2], .object = words, .count = 1, .blocked_ns = 3000 * MS};
	f.p->objects[words].grouped = 2;
	f.p->objects[words].queue_ns[_i == 1 ? 2 : 1] = 500 * MS;
	for (int i = 0; i < 2; i++) {
		const struct qz_wait wait = {.thread = threads[i],
					     .object = words,
					     .nominal = 1,
					     .count = 100,
					     .blocked_ns = 500 * MS};
		const struct qz_waking waking = {
			.thread = threads[_i == 2 ? 2 : 1 - i], .object = words, .count = 100};

		lived(&f, threads[i], 1, 0, 1000, ran_ms[_i][i]);
		fixture__samples(&f, scope, threads[i], stacks[_i == 6][0], 1, ran_ms[_i][i]);
		fixture__wait(&f, &wait, stacks[_i == 6][1], "futex");
		fixture__waking(&f, &waking, stacks[_i == 6][2]);
	}
	if (_i == 5)
		fixture__wait(&f, &joins, "main join park", "futex");
	x = advise(&f, 2);
	found = x.a->findings;
	ck_assert_uint_ge(x.a->n, 1);
	ck_assert_str_eq(found->rule, locked ? "parked" : "imbalance");
	ck_assert_str_eq(found->word, locked	? "CONTENDED"
				      : _i == 4 ? "UNBALANCED"
						: "TAKING TURNS");
	if (locked) {
		ck_assert_ptr_nonnull(
			strstr(found->evidence[0].text, "they slept there 200 times, 1.00 s"));
		ck_assert_str_eq(found->where, "taken in get, let go of in unpark");
		ck_assert_uint_eq(found->gain_high_ns, (_i == 3 ? 400 : 500) * MS);
	}
	done(&x);
}
END_TEST

/*
 * HotSpot's interpreter has one name for all methods: a phase of one is named after what it calls, or after what runs it. Ruby's has
 * none: what its users wrote is not its code.
 */
START_TEST(methods_without_names_are_told)
{
	static const uint64_t level_ns[] = {0, 500 * MS, 500 * MS};
	static const struct {
		const char *stack, *subject, *where, *shown;
	} cases[] = {
		{"main Interpreter burn", "burn", "called by methods that Java interprets",
		 "burn "},
		{"main JavaMain Interpreter", "JavaMain", "it runs methods that Java interprets",
		 "JavaMain "},
		{"main burn", "burn", NULL, "burn "},
		{"main vm_exec_core", "vm_exec_core", "methods of Ruby have no names",
		 "Ruby code "},
		{"main Perl_runops_standard", "Perl_runops_standard",
		 "procedures of Perl have no names", "Perl code "},
		{"main evaltree", "evaltree", "lines of shell scripts have no names",
		 "Shell code "},
		{"main Perl_runops_standard Perl_pp_sort", "Perl_pp_sort", NULL, "Perl_pp_sort "},
		{"main Interpreter parse burn", "burn", NULL, "burn "},
	};
	static const char *const modules[][2] = {{"Interpreter", "[jit]"},
						 {"JavaMain", "/usr/lib/libjli.so"},
						 {"vm_exec_core", "/usr/lib/libruby.so.3"},
						 {"Perl_runops_standard", "/usr/bin/perl"},
						 {"Perl_pp_sort", "/usr/bin/perl"},
						 {"evaltree", "/usr/bin/dash"},
						 {"burn", "[jit]"},
						 {"parse", "[jit]"}};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3);
	uint32_t threads[] = {fixture__thread(&f, scope, 1), fixture__thread(&f, scope, 2)};
	const struct qz_finding *found;
	struct advised x;

	fixture__samples(&f, scope, threads[0], cases[_i].stack, 1, 500);
	for (size_t t = 0; t < 2; t++)
		fixture__samples(&f, scope, threads[t], "main [thread] compute", 2, 500);
	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
		if (strstr(cases[_i].stack, modules[i][0]))
			be_of_library(f.p, modules[i][0], modules[i][1]);
	x = advise(&f, 2);
	found = find(x.a, "serial");
	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found->subject.name, cases[_i].subject);
	ck_assert_int_eq(strncmp(found->what, cases[_i].shown, strlen(cases[_i].shown)), 0);
	if (cases[_i].where)
		ck_assert_ptr_nonnull(strstr(found->where, cases[_i].where));
	else
		ck_assert_ptr_null(found->where);
	done(&x);
}
END_TEST

/*
 * Code that the first thread runs alone, and two others together later, as of a method that no caller of has a name. Where the first one
 * does half of its part beside them, it is the slowest of three.
 */
START_TEST(who_runs_shared_code_alone_is_serial)
{
	static const uint64_t level_ns[] = {0, 500 * MS, 500 * MS};
	static const uint64_t ran_ms[][2] = {{500, 0}, {250, 250}};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), threads[3];
	const struct qz_finding *found;
	struct advised x;

	for (int32_t i = 0; i < 3; i++)
		threads[i] = fixture__thread(&f, scope, i + 1);
	fixture__samples(&f, scope, threads[0], "main burn", 1, ran_ms[_i][0]);
	if (_i)
		fixture__samples(&f, scope, threads[0], "main burn", 2, ran_ms[_i][1]);
	for (int i = 1; i < 3; i++) {
		fixture__samples(&f, scope, threads[i], "main [thread] burn", 2, 450);
		if (_i)
			fixture__samples(&f, scope, threads[i], "main [thread] burn", 1, 100);
	}
	x = advise(&f, 2);
	found = find(x.a, _i ? "imbalance" : "serial");
	ck_assert_ptr_nonnull(found);
	ck_assert_ptr_null(find(x.a, _i ? "serial" : "imbalance"));
	ck_assert_str_eq(found->shown, "burn");
	done(&x);
}
END_TEST

/*
 * A collection has all stopped while it computes and while it waits for its helpers; what waits for its end, and a collector that works
 * beside the program, add nothing.
 */
START_TEST(collections_that_stop_the_world_are_named)
{
	static const uint64_t level_ns[] = {100 * MS, 600 * MS, 300 * MS};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), vm, helper;
	struct qz_wait wait = {.object = QZ_NONE, .count = 10, .blocked_ns = 150 * MS};
	const struct qz_finding *found;
	struct advised x;

	vm = fixture__thread(&f, scope, 1);
	helper = fixture__thread(&f, scope, 2);
	fixture__samples(&f, scope, vm, "main [thread] run VM_G1CollectForAllocation::doit() mark",
			 1, 200);
	fixture__samples(
		&f, scope, helper,
		_i ? "main [thread] run G1ConcurrentMark::mark"
		   : "main [thread] VM_G1CollectForAllocation::doit() [thread] GangWorker::loop()",
		1, 400);
	fixture__samples(&f, scope, helper, "main work", 2, 600);
	wait.thread = vm;
	fixture__wait(&f, &wait, "main [thread] run VM_G1CollectForAllocation::doit() park",
		      "futex");
	wait.thread = helper;
	wait.blocked_ns = 300 * MS;
	fixture__wait(&f, &wait, "main work VMThread::execute(VM_Operation*)", "futex");
	x = advise(&f, 2);
	found = find(x.a, "collection");
	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found->word, "COLLECTING");
	ck_assert_uint_eq(found->gain_high_ns, 350 * MS);
	ck_assert_ptr_nonnull(
		strstr(found->what, "Java's garbage collection stops all threads for 35%"));
	ck_assert_ptr_nonnull(strstr(found->remedy, "-Xmx"));
	done(&x);
}
END_TEST

/* Any thread runs a goroutine: what tells a phase of one from the work of all is what it was started with. */
START_TEST(a_phase_of_a_goroutine_is_named)
{
	static const uint64_t level_ns[] = {0, 500 * MS, 500 * MS};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3);
	const struct qz_finding *found;
	struct advised x;

	for (int32_t i = 0; i < 2; i++) {
		uint32_t thread = fixture__thread(&f, scope, i + 1);

		fixture__samples(&f, scope, thread,
				 "runtime.goexit.abi0 runtime.main main.main main.parse main.burn",
				 1, 250);
		fixture__samples(&f, scope, thread,
				 "main.main [thread] runtime.goexit.abi0 main.compute main.burn", 2,
				 500);
	}
	x = advise(&f, 2);
	found = find(x.a, "serial");
	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found->shown, "main.parse");
	ck_assert_ptr_null(find(x.a, "imbalance"));
	done(&x);
}
END_TEST

START_TEST(balanced_threads_have_no_finding)
{
	struct advised x = shared_work(20, 980);

	ck_assert_uint_eq(x.a->n, 0);
	done(&x);
}
END_TEST

/* A serial phase and unbalanced threads are two losses: each has its own part of the time. */
START_TEST(losses_that_were_divided_are_both_told)
{
	static const uint64_t level_ns[] = {0, 700 * MS, 300 * MS};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), main = fixture__thread(&f, scope, 1);
	uint32_t worker = fixture__thread(&f, scope, 2);
	struct advised x;

	fixture__samples(&f, scope, main, "main load", 1, 400);
	fixture__samples(&f, scope, main, "main loop", 1, 300);
	fixture__samples(&f, scope, main, "main loop", 2, 300);
	fixture__samples(&f, scope, worker, "main [thread] loop", 2, 300);
	x = advise(&f, 2);
	ck_assert_uint_eq(x.a->n, 2);
	ck_assert_uint_eq(find(x.a, "serial")->gain_high_ns, 200 * MS);
	ck_assert_str_eq(find(x.a, "serial")->subject.name, "load");
	ck_assert_uint_eq(find(x.a, "imbalance")->gain_high_ns, 150 * MS);
	done(&x);
}
END_TEST

static struct advised stages(uint64_t waits)
{
	static const uint64_t level_ns[] = {0, 700 * MS, 300 * MS};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), slow = fixture__thread(&f, scope, 1);
	uint32_t fast = fixture__thread(&f, scope, 2);

	fixture__samples(&f, scope, slow, "main [thread] encode", 1, 700);
	fixture__samples(&f, scope, slow, "main [thread] encode", 2, 300);
	fixture__samples(&f, scope, fast, "main parse", 2, 300);
	waited(&f, fast, "main put", "futex", (struct waits) {1, waits, 700, 0});
	lived(&f, slow, 100, 0, 1000, 1000);
	lived(&f, fast, 100, 0, 1000, 300);
	return advise(&f, 2);
}

START_TEST(the_slow_stage_of_a_pipeline_is_found)
{
	struct advised x = stages(600);
	const struct qz_finding *found = find(x.a, "pipeline");

	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found->subject.name, "encode");
	ck_assert_uint_eq(found->gain_high_ns, 350 * MS);
	ck_assert_ptr_null(find(x.a, "serial"));
	done(&x);
}
END_TEST

START_TEST(a_thread_that_is_waited_for_once_is_no_stage)
{
	struct advised x = stages(1);

	ck_assert_ptr_null(find(x.a, "pipeline"));
	ck_assert_ptr_nonnull(find(x.a, "serial"));
	done(&x);
}
END_TEST

/*
 * Four processes of 250 ms each, which live all the time or in turn, and who waits for them. `drivers`: each is started by
 * one that works for a tenth of it, as cc1 is by gcc.
 */
static struct advised jobs(bool in_turn, bool drivers)
{
	static const uint64_t level_ns[] = {0, 1000 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), shell = fixture__thread(&f, scope, 1);

	lived(&f, shell, 1, 0, 1000, 0);
	waited(&f, shell, "main wait", "child", (struct waits) {1, 4, 1000, 0});
	for (uint64_t i = 0; i < 4; i++) {
		uint32_t job = fixture__thread(&f, scope, 2 + (int32_t)i);
		uint64_t start = in_turn ? 250 * i : 0, end = in_turn ? 250 * i + 250 : 1000;
		uint64_t own = drivers ? 25 : 0;

		lived(&f, job, 2 + (int32_t)i, start, end, 250 - own);
		fixture__samples(&f, scope, job, "main [process] bzip", 1, 250 - own);
		if (drivers) {
			uint32_t driver = fixture__thread(&f, scope, 12 + (int32_t)i);

			lived(&f, driver, 12 + (int32_t)i, start, end, own);
			fixture__samples(&f, scope, driver, "main [process] drive", 1, own);
			waited(&f, driver, "main [process] drive", "child",
			       (struct waits) {1, 1, end - start - own, 0});
		}
	}
	return advise(&f, 2);
}

START_TEST(jobs_one_after_another_are_found)
{
	struct advised x = jobs(true, _i);
	const struct qz_finding *found = find(x.a, "processes");

	ck_assert_ptr_nonnull(found);
	ck_assert_uint_eq(found->gain_high_ns, 500 * MS);
	ck_assert_uint_eq(found->gain_low_ns, 350 * MS);
	ck_assert_uint_eq(x.a->n, 1);
	done(&x);
}
END_TEST

START_TEST(jobs_side_by_side_are_not_in_turn)
{
	struct advised x = jobs(false, _i);

	ck_assert_ptr_null(find(x.a, "processes"));
	done(&x);
}
END_TEST

/* One works alone, then starts two that work side by side, of which one has more to do: it does not wait for one before the next. */
START_TEST(who_starts_jobs_is_none_of_them)
{
	static const uint64_t level_ns[] = {0, 640 * MS, 360 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 4), driver = fixture__thread(&f, scope, 1);
	uint32_t one = fixture__thread(&f, scope, 2), two = fixture__thread(&f, scope, 3);
	struct advised x;

	lived(&f, driver, 1, 0, 1000, 400);
	fixture__samples(&f, scope, driver, "main parse", 1, 400);
	waited(&f, driver, "main wait", "child", (struct waits) {1, 2, 600, 0});
	lived(&f, one, 2, 400, 1000, 600);
	fixture__samples(&f, scope, one, "main [process] compute", 1, 240);
	fixture__samples(&f, scope, one, "main [process] compute", 2, 360);
	lived(&f, two, 3, 400, 760, 360);
	fixture__samples(&f, scope, two, "main [process] compute", 2, 360);
	x = advise(&f, 2);
	ck_assert_ptr_null(find(x.a, "processes"));
	ck_assert_ptr_nonnull(find(x.a, "serial"));
	done(&x);
}
END_TEST

/* Two that begin at once, on a full machine, where hardly more than one of them runs at a time. */
START_TEST(jobs_of_two_lengths_are_not_in_turn)
{
	static const uint64_t level_ns[] = {300 * MS, 700 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), driver = fixture__thread(&f, scope, 1);
	uint32_t one = fixture__thread(&f, scope, 2), two = fixture__thread(&f, scope, 3);
	struct advised x;

	lived(&f, driver, 1, 0, 1000, 0);
	waited(&f, driver, "main wait", "poll", (struct waits) {1, 2, 1000, 0});
	lived(&f, one, 2, 0, 1000, 450);
	fixture__samples(&f, scope, one, "main [process] compute", 1, 450);
	lived(&f, two, 3, 0, 450, 250);
	fixture__samples(&f, scope, two, "main [process] compute", 1, 250);
	x = advise(&f, 2);
	ck_assert_ptr_null(find(x.a, "processes"));
	done(&x);
}
END_TEST

static struct advised blocked_for(const char *cause)
{
	static const uint64_t level_ns[] = {600 * MS, 400 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), thread = fixture__thread(&f, scope, 1);

	fixture__samples(&f, scope, thread, "main search", 1, 400);
	waited(&f, thread, "main search read_file", cause, (struct waits) {0, 100, 600, 0});
	return advise(&f, 2);
}

START_TEST(devices_that_are_waited_for_are_found)
{
	struct advised x = blocked_for("disk");

	ck_assert_uint_eq(x.a->n, 2);
	ck_assert_str_eq(x.a->findings[0].rule, "overlap");
	ck_assert_str_eq(x.a->findings[0].where, "read_file");
	ck_assert_uint_eq(x.a->findings[0].gain_high_ns, 600 * MS);
	ck_assert_uint_eq(x.a->findings[0].gain_low_ns, 200 * MS);
	done(&x);
}
END_TEST

/* A thread waits for a device until it has a processor again. */
START_TEST(who_comes_late_from_a_device_waited_for_it)
{
	static const uint64_t level_ns[] = {600 * MS, 400 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), thread = fixture__thread(&f, scope, 1);
	struct advised x;

	fixture__samples(&f, scope, thread, "main search", 1, 400);
	waited(&f, thread, "main search read_file", "disk", (struct waits) {0, 100, 500, 100});
	x = advise(&f, 2);
	ck_assert_str_eq(x.a->findings[0].rule, "overlap");
	ck_assert_uint_eq(x.a->findings[0].gain_high_ns, 600 * MS);
	done(&x);
}
END_TEST

/* Who asks a device less often also saves the calls. */
START_TEST(calls_of_devices_are_part_of_what_they_cost)
{
	static const uint64_t level_ns[] = {600 * MS, 400 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), thread = fixture__thread(&f, scope, 1);
	struct advised x;

	fixture__samples(&f, scope, thread, "main search", 1, 300);
	fixture__samples(&f, scope, thread, "main search read_file", 1, 100);
	waited(&f, thread, "main search read_file", "disk", (struct waits) {0, 100, 600, 0});
	x = advise(&f, 2);
	ck_assert_str_eq(x.a->findings[0].rule, "overlap");
	ck_assert_uint_eq(x.a->findings[0].gain_high_ns, 700 * MS);
	done(&x);
}
END_TEST

START_TEST(code_that_faults_is_no_call_of_a_device)
{
	static const uint64_t level_ns[] = {100 * MS, 900 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), thread = fixture__thread(&f, scope, 1);
	struct advised x;

	fixture__samples(&f, scope, thread, "main search", 1, 900);
	waited(&f, thread, "main search", "page_fault", (struct waits) {0, 100, 100, 0});
	x = advise(&f, 2);
	ck_assert_uint_eq(find(x.a, "overlap")->gain_high_ns, 100 * MS);
	done(&x);
}
END_TEST

/* A server that its clients leave without work gains nothing by being faster. */
START_TEST(idle_servers_have_no_finding)
{
	struct advised x = blocked_for("poll");
	char text[512] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	ck_assert_uint_eq(x.a->n, 0);
	ck_assert_int_eq(qz_advise_text__head(out, x.a, 0, 1), 0);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text,
				     "\nWhile it kept no CPU busy, it waited for the first of "
				     "several (poll) (60% of the time). It has"));
	done(&x);
}
END_TEST

/* Eight threads that an event wakes, so many for nothing and so many others, in a second: whether that is found. */
static bool is_herd(uint64_t in_vain, uint64_t shared, const char *cause)
{
	static const uint64_t level_ns[] = {500 * MS, 500 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), thread = fixture__thread(&f, scope, 1);
	const struct qz_finding *found;
	struct advised x;
	bool is;

	fixture__samples(&f, scope, thread, "main serve epoll_wait", 1, 300);
	fixture__samples(&f, scope, thread, "main serve handle", 1, 200);
	waited(&f, thread, "main serve epoll_wait", cause, (struct waits) {0, 20000, 900, 0});
	if (!f.err)
		f.err = qz_profile__set_string(
			&f.p->procedures[fixture__procedure(f.p, "epoll_wait")].module,
			"/usr/lib/libc.so.6");
	f.p->scopes[scope].counters.events_in_vain = in_vain;
	f.p->scopes[scope].counters.events_shared = shared;
	x = advise(&f, 2);
	found = find(x.a, "herd");
	is = found;
	if (is) {
		ck_assert_ptr_eq(found, x.a->findings);
		ck_assert_str_eq(found->subject.name, "serve");
		ck_assert_ptr_nonnull(strstr(found->remedy, "EPOLLEXCLUSIVE"));
		ck_assert_ptr_null(find(x.a, "steps")); /* the same calls */
	}
	done(&x);
	return is;
}

START_TEST(events_that_wake_all_are_found)
{
	ck_assert(is_herd(16000, 3000, "poll"));
	ck_assert(!is_herd(7000, 8000, "poll")); /* messages to several */
	ck_assert(!is_herd(1900, 0, "poll"));	 /* seldom */
	ck_assert(!is_herd(16000, 3000, "futex"));
}
END_TEST

/* It is said beside what is found of the rest of the time, too; not where it is little. */
START_TEST(who_is_frozen_for_a_while_is_said_to_be)
{
	for (uint64_t held = 50 * MS; held <= 300 * MS; held += 250 * MS) {
		const uint64_t level_ns[] = {300 * MS, 700 * MS, 0};
		struct fixture f = fixture__new();
		uint32_t scope = fixture__scope(&f, level_ns, 3);
		uint32_t thread = fixture__thread(&f, scope, 1);
		struct advised x;
		char text[1024] = "";
		FILE *out = fmemopen(text, sizeof(text), "w");

		fixture__samples(&f, scope, thread, "main search", 1, 700);
		waited(&f, thread, "main search", "frozen", (struct waits) {0, 1, held / MS, 0});
		waited(&f, thread, "main search nanosleep", "sleep",
		       (struct waits) {0, 1, 300 - held / MS, 0});
		x = advise(&f, 2);
		ck_assert_uint_ge(x.a->n, 1);
		ck_assert_int_eq(qz_advise_text__head(out, x.a, 0, 1), 0);
		fclose(out);
		ck_assert_int_eq(strstr(text, "\nIt was stopped or frozen 30% of the time.") !=
					 NULL,
				 held == 300 * MS);
		done(&x);
	}
}
END_TEST

/* A server that waits for its children is idle; what they do is elsewhere. */
START_TEST(children_that_are_left_out_are_told)
{
	static const uint64_t level_ns[][2] = {
		{1000 * MS, 0}, {1000 * MS, 0}, {400 * MS, 600 * MS}};
	static const char *const lines[] = {
		"\nIt had 13 child processes, which are not in this profile: record --tree 7.",
		"\nIt had 1 child process, which is not in this profile: record --tree 7.", NULL};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns[_i], 2);
	uint32_t thread = fixture__thread(&f, scope, 1);
	struct advised x;
	char text[1024] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	fixture__samples(&f, scope, thread, "main search", 1, level_ns[_i][1] / MS + 1);
	f.p->scopes[scope].pid = 7;
	f.p->scopes[scope].children = _i == 1 ? 1 : 13;
	x = advise(&f, 2);
	ck_assert_int_eq(qz_advise_text__head(out, x.a, 0, 1), 0);
	fclose(out);
	if (lines[_i])
		ck_assert_msg(strstr(text, lines[_i]) != NULL, "%s", text);
	else
		ck_assert_ptr_null(strstr(text, "child process"));
	done(&x);
}
END_TEST

/* Who is stopped or frozen has work. */
START_TEST(who_is_frozen_is_not_said_to_have_no_work)
{
	static const char *const causes[] = {"frozen", "stopped"};

	for (int i = 0; i < 2; i++) {
		struct advised x = blocked_for(causes[i]);
		char text[512] = "";
		FILE *out = fmemopen(text, sizeof(text), "w");

		ck_assert_uint_eq(x.a->n, 0);
		ck_assert_int_eq(qz_advise_text__head(out, x.a, 0, 1), 0);
		fclose(out);
		ck_assert_ptr_nonnull(strstr(text, causes[i]));
		ck_assert_msg(strstr(text, "That is none of its own doing.") != NULL, "%s", text);
		ck_assert_ptr_null(strstr(text, "has no work"));
		done(&x);
	}
}
END_TEST

/*
 * Two processors for 1 s: one works in `work`, one in `waits`, spinning or not, in thread `waiter` of the second
 * process if there are two. So many threads are ready on average.
 */
struct crowd {
	const char *waits;
	bool spins;
	int32_t processes;
	uint64_t ready;
};

static struct advised crowd(struct crowd c)
{
	static const uint64_t level_ns[] = {0, 0, 1000 * MS};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), thread = 0;
	uint32_t node = fixture__stack(&f, c.waits);

	for (int32_t i = 0; i < 4; i++) {
		thread = fixture__thread(&f, scope, i + 1);
		f.p->threads[thread].pid = i < 2 ? 1 : c.processes;
	}
	fixture__samples(&f, scope, 0, "main [thread] exec_blas work", 2, 1000);
	if (c.spins)
		f.err = qz_profile__add_samples(f.p, &(struct qz_sample) {.scope = scope,
									  .thread = thread,
									  .node = node,
									  .level = 2,
									  .busy = 1,
									  .object = QZ_NONE,
									  .spinning = true,
									  .count = 1000});
	else
		fixture__samples(&f, scope, thread, c.waits, 2, 1000);
	waited(&f, thread, c.waits, "preempted", (struct waits) {4, 100, 0, c.ready * 1000});
	f.p->scopes[0].runnable_ns = (2 + c.ready) * 1000 * MS;
	return advise(&f, 2);
}

#define POOL "main exec_blas [thread] blas_thread_server"

/*
 * Half of the processor time is spun: half as many threads spin half of that, and no more than all of it and two
 * thirds of the pool's work are saved.
 */
START_TEST(a_pool_that_is_too_large_is_found)
{
	struct advised x = crowd((struct crowd) {POOL, true, 1, 4});
	const struct qz_finding *found = find(x.a, "oversubscribed");

	ck_assert_ptr_nonnull(found);
	ck_assert_ptr_eq(found, x.a->findings);
	ck_assert_uint_eq(found->gain_low_ns / MS, 250);
	ck_assert_uint_eq(found->gain_high_ns / MS, 830);
	ck_assert_str_eq(found->remedy, "OPENBLAS_NUM_THREADS=2");
	done(&x);
}
END_TEST

/* One thread for each waits for no other. */
START_TEST(pools_of_several_processes_are_named)
{
	struct advised x = crowd((struct crowd) {POOL, true, 2, 4});
	const struct qz_finding *found = find(x.a, "oversubscribed");

	ck_assert_ptr_nonnull(found);
	ck_assert_uint_eq(found->gain_low_ns / MS, 500);
	ck_assert_ptr_nonnull(strstr(found->what, "in each of 2 processes"));
	ck_assert_str_eq(found->remedy, "OPENBLAS_NUM_THREADS=1 in each process");
	done(&x);
}
END_TEST

START_TEST(nested_regions_get_no_threads)
{
	struct advised x = crowd((struct crowd) {
		"main GOMP_parallel [thread] gomp_start inner GOMP_parallel [thread] gomp_start",
		true, 1, 4});
	const struct qz_finding *found = find(x.a, "oversubscribed");

	ck_assert_ptr_nonnull(found);
	ck_assert_ptr_nonnull(strstr(found->remedy, "OMP_MAX_ACTIVE_LEVELS=1"));
	done(&x);
}
END_TEST

/* Without a pool there is no size to set; twice as many threads as processors may cost nothing, nor those that work. */
START_TEST(not_every_crowd_is_too_large)
{
	static const struct crowd crowds[] = {
		{"main [thread] await", true, 1, 4},
		{POOL, true, 1, 2},
		{POOL " work", false, 1, 4},
	};
	struct advised x = crowd(crowds[_i]);

	ck_assert_ptr_null(find(x.a, "oversubscribed"));
	done(&x);
}
END_TEST

/* One process at half of a processor, the other half of which another one had. */
static struct advised neighbours(bool machine)
{
	static const uint64_t level_ns[] = {500 * MS, 500 * MS, 0}, both[] = {0, 0, 1000 * MS};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), other = fixture__scope(&f, level_ns, 3);
	uint32_t thread = fixture__thread(&f, scope, 1);

	if (machine) {
		uint32_t all = fixture__scope(&f, both, 3);

		f.p->scopes[all].kind = QZ_SCOPE_MACHINE;
	}
	f.p->scopes[other].cpu_ns = 1500 * MS;
	ck_assert_int_eq(qz_profile__set_string(&f.p->scopes[other].comm, "backup"), 0);
	fixture__samples(&f, scope, thread, "main work", 1, 500);
	waited(&f, thread, "main work", "preempted", (struct waits) {1, 100, 0, 500});
	f.p->scopes[scope].runnable_ns = 1000 * MS;
	return advise(&f, 2);
}

START_TEST(who_had_the_processors_is_named)
{
	struct advised x = neighbours(true);
	const struct qz_finding *found = find(x.a, "taken");

	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found->subject.name, "backup");
	ck_assert_uint_ge(found->gain_high_ns, 499 * MS);
	ck_assert_uint_le(found->gain_high_ns, 500 * MS);
	done(&x);
}
END_TEST

START_TEST(who_is_not_known_is_not_named)
{
	struct advised x = neighbours(false);

	ck_assert_ptr_null(find(x.a, "taken"));
	done(&x);
}
END_TEST

/* ---- bounds ---- */

START_TEST(bounds_are_of_the_elapsed_time)
{
	struct qz_profile *p = fixture__random((unsigned int)_i);

	for (uint32_t scope = 0; scope < p->nscopes; scope++) {
		struct qz_report *r = qz_report__new(p, scope);

		for (uint32_t i = 0; i < r->nrows + r->nobjects; i++) {
			struct qz_part part =
				i < r->nrows ? qz_part__of_procedure(r, &r->rows[i])
					     : qz_part__of_object(r, &r->objects[i - r->nrows]);
			struct qz_bounds all[] = {qz_bounds__spread(r, part, 8, 1),
						  qz_bounds__spread(r, part, 2, 3),
						  qz_bounds__remove(r, part),
						  qz_bounds__speedup(r, part, 1.5),
						  qz_bounds__overlap(r, part)};

			for (int k = 0; k < 5; k++) {
				ck_assert_uint_le(all[k].low_ns, all[k].high_ns);
				ck_assert_uint_le(all[k].high_ns, r->elapsed_ns);
			}
			ck_assert_uint_le(all[1].high_ns, all[0].high_ns);
			ck_assert_uint_le(all[3].high_ns, all[2].high_ns);
		}
		qz_report__free(r);
	}
	qz_profile__free(p);
}
END_TEST

START_TEST(known_bounds)
{
	static const uint64_t level_ns[] = {200 * MS, 500 * MS, 300 * MS};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), main = fixture__thread(&f, scope, 1);
	uint32_t worker = fixture__thread(&f, scope, 2);
	struct qz_part part;
	struct advised x;

	fixture__samples(&f, scope, main, "main load", 1, 500);
	fixture__samples(&f, scope, main, "main load", 2, 300);
	fixture__samples(&f, scope, worker, "main [thread] work", 2, 300);
	waited(&f, main, "main load", "disk", (struct waits) {0, 10, 200, 0});
	x = advise(&f, 2);
	for (uint32_t i = 0; i < x.r->nrows; i++)
		if (x.r->rows[i].procedure == fixture__procedure(x.p, "load"))
			part = qz_part__of_procedure(x.r, &x.r->rows[i]);
	ck_assert_uint_eq(part.alone_ns, 500 * MS);
	ck_assert_uint_eq(part.beside_ns, 300 * MS);
	ck_assert_uint_eq(part.idle_ns, 200 * MS);
	ck_assert_uint_eq(qz_bounds__spread(x.r, part, 2, 1).high_ns, 450 * MS);
	ck_assert_uint_eq(qz_bounds__spread(x.r, part, 2, 1.5).high_ns, 325 * MS);
	ck_assert_uint_eq(qz_bounds__spread(x.r, part, 2, 3).high_ns, 200 * MS);
	ck_assert_uint_eq(qz_bounds__remove(x.r, part).low_ns, 500 * MS);
	ck_assert_uint_eq(qz_bounds__remove(x.r, part).high_ns, 1000 * MS);
	ck_assert_uint_eq(qz_bounds__speedup(x.r, part, 2).low_ns, 250 * MS);
	ck_assert_uint_eq(qz_bounds__overlap(x.r, part).high_ns, 200 * MS);
	done(&x);
}
END_TEST

/* A shell gets a name of a program as one word, or not at all. */
START_TEST(names_are_quoted_in_commands)
{
	static const char *const names[][2] = {
		{"work", "quartzctl report work"},
		{"get(int)", "quartzctl report 'get(int)'"},
		{"it's;rm", "quartzctl report 'it'\\''s;rm'"},
		{"\033[2J", NULL},
		{"-x", NULL},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct qz_finding f = {0};

		qz_finding__prove(&f, "report", names[i][0], "text");
		ck_assert(!f.failed);
		if (names[i][1])
			ck_assert_str_eq(f.evidence[0].command, names[i][1]);
		else
			ck_assert_ptr_null(f.evidence[0].command);
		free(f.evidence[0].text);
		free(f.evidence[0].command);
	}
}
END_TEST

/* Samples without a name, and with a stack that is cut, of 100; of a few nothing is said. */
static const struct {
	uint64_t samples, unresolved, truncated;
	const char *module, *said;
} missing[] = {
	{100, 99, 0, "/usr/lib/libgame.so",
	 ". The code of 99% of its samples has no names: most of it is in libgame.so"},
	{100, 60, 0, "",
	 ". The code of 60% of its samples has no names: most of it is in memory without a file"},
	{100, 0, 70, "",
	 ". 70% of its stacks are cut: callers have less time below than is theirs"},
	{100, 40, 40, "", NULL},
	{10, 10, 10, "", NULL},
};

START_TEST(what_is_missing_is_said_first)
{
	static const uint64_t level_ns[] = {0, 1000 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), main = fixture__thread(&f, scope, 1);
	struct advised x;
	char *verdict;

	fixture__samples(&f, scope, main, "main [unknown]", 1, missing[_i].samples);
	if (!f.err)
		f.err = qz_profile__set_string(
			&f.p->procedures[fixture__procedure(f.p, "[unknown]")].module,
			missing[_i].module);
	f.p->scopes[scope].samples = missing[_i].samples;
	f.p->scopes[scope].unresolved = missing[_i].unresolved;
	f.p->scopes[scope].truncated = missing[_i].truncated;
	x = advise(&f, 2);
	verdict = qz_verdict__text(x.a);
	ck_assert_pstr_eq(strstr(verdict, ". "), missing[_i].said);
	free(verdict);
	done(&x);
}
END_TEST

Suite *suite_advise(void)
{
	Suite *s = suite_create("advise");
	TCase *tc = tcase_create("all");

	tcase_add_loop_test(tc, findings_are_whole_and_sorted, 0, RANDOM_PROFILES);
	tcase_add_test(tc, lack_of_memory_is_reported);
	tcase_add_test(tc, a_serial_phase_is_found);
	tcase_add_test(tc, code_around_a_phase_belongs_to_it);
	tcase_add_test(tc, tasks_that_threads_run_in_turn_are_serial);
	tcase_add_test(tc, parallel_work_is_no_serial_phase);
	tcase_add_test(tc, small_steps_are_no_serial_phase);
	tcase_add_test(tc, what_a_start_costs_is_told);
	tcase_add_test(tc, what_a_call_moves_is_told);
	tcase_add_test(tc, the_start_of_a_command_is_no_step);
	tcase_add_loop_test(tc, what_is_missing_is_said_first, 0,
			    sizeof(missing) / sizeof(missing[0]));
	tcase_add_test(tc, few_steps_are_not_too_small);
	tcase_add_loop_test(tc, calls_that_wait_for_devices_are_no_small_steps, 0, 2);
	tcase_add_test(tc, calls_with_large_blocks_are_not_too_small);
	tcase_add_test(tc, who_has_no_work_waits_for_it_with_larger_calls_too);
	tcase_add_test(tc, a_lock_of_the_kernel_is_named_with_the_calls_that_queue_for_it);
	tcase_add_test(tc, one_processor_leaves_nothing_to_divide);
	tcase_add_test(tc, ready_time_is_not_idle);
	tcase_add_test(tc, others_come_first_where_they_cost_most);
	tcase_add_loop_test(tc, others_are_not_why_it_waits, 0, 2);
	tcase_add_loop_test(tc, crowded_out_is_not_serial, 0,
			    sizeof(crowdings) / sizeof(crowdings[0]));
	tcase_add_test(tc, a_limit_is_not_what_others_had);
	tcase_add_test(tc, waking_up_is_not_waiting_for_others);
	tcase_add_loop_test(tc, others_compete_for_what_is_freed, 0, 4);
	tcase_add_test(tc, imbalance_is_found);
	tcase_add_loop_test(tc, imbalance_with_a_lock_is_found, 0, 2);
	tcase_add_loop_test(tc, processes_that_share_work_run_at_once, 0, 3);
	tcase_add_test(tc, who_waits_for_a_spin_lock_is_contended);
	tcase_add_loop_test(tc, who_parks_is_contended, 0, 7);
	tcase_add_loop_test(tc, methods_without_names_are_told, 0, 8);
	tcase_add_test(tc, a_phase_of_a_goroutine_is_named);
	tcase_add_loop_test(tc, collections_that_stop_the_world_are_named, 0, 2);
	tcase_add_loop_test(tc, who_runs_shared_code_alone_is_serial, 0, 2);
	tcase_add_test(tc, balanced_threads_have_no_finding);
	tcase_add_test(tc, losses_that_were_divided_are_both_told);
	tcase_add_test(tc, the_slow_stage_of_a_pipeline_is_found);
	tcase_add_test(tc, a_thread_that_is_waited_for_once_is_no_stage);
	tcase_add_loop_test(tc, jobs_one_after_another_are_found, 0, 2);
	tcase_add_test(tc, who_starts_jobs_is_none_of_them);
	tcase_add_test(tc, jobs_of_two_lengths_are_not_in_turn);
	tcase_add_loop_test(tc, jobs_side_by_side_are_not_in_turn, 0, 2);
	tcase_add_test(tc, devices_that_are_waited_for_are_found);
	tcase_add_test(tc, who_comes_late_from_a_device_waited_for_it);
	tcase_add_test(tc, calls_of_devices_are_part_of_what_they_cost);
	tcase_add_test(tc, code_that_faults_is_no_call_of_a_device);
	tcase_add_test(tc, idle_servers_have_no_finding);
	tcase_add_test(tc, events_that_wake_all_are_found);
	tcase_add_test(tc, who_is_frozen_for_a_while_is_said_to_be);
	tcase_add_loop_test(tc, children_that_are_left_out_are_told, 0, 3);
	tcase_add_test(tc, who_is_frozen_is_not_said_to_have_no_work);
	tcase_add_test(tc, a_pool_that_is_too_large_is_found);
	tcase_add_test(tc, pools_of_several_processes_are_named);
	tcase_add_test(tc, nested_regions_get_no_threads);
	tcase_add_loop_test(tc, not_every_crowd_is_too_large, 0, 3);
	tcase_add_test(tc, who_had_the_processors_is_named);
	tcase_add_test(tc, who_is_not_known_is_not_named);
	tcase_add_test(tc, known_bounds);
	tcase_add_loop_test(tc, bounds_are_of_the_elapsed_time, 0, RANDOM_PROFILES);
	tcase_add_test(tc, names_are_quoted_in_commands);
	suite_add_tcase(s, tc);
	return s;
}
