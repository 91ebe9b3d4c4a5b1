/* SPDX-License-Identifier: GPL-2.0-only */
/* Which threads are event loops that are blocked, and what is said of them. */
#include <check.h>
#include <string.h>

#include "core/advise/advise.h"
#include "core/estimate/estimate.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define MS 1000000ull

/* The thread of a server that ran for 10 s; times in ms. */
struct server {
	struct qz_loop loop; /* in ms */
	uint64_t runs, ready, polls;
	uint64_t slow, in_block, quick; /* samples in parse, of these in blocks, and in answer */
	const char *poll;		/* the stack where it waits for events */
	const char *module;		/* of the code there */
	const char *other, *cause;	/* stack and cause of other waits, so many, so long */
	uint64_t others, other_ms;
	uint32_t processors;
};

/* Four requests of 300 ms, up to 340 ms, among others that take 0.5 ms. */
static const struct server blocked = {
	.loop = {.turns = 200,
		 .turn_ns = 1300,
		 .blocks = 4,
		 .block_ns = 1200,
		 .block_ready_ns = 50,
		 .longest_ns = 340},
	.runs = 1300,
	.ready = 100,
	.polls = 8000,
	.slow = 1200,
	.in_block = 1160,
	.quick = 100,
	.poll = "main loop epoll_wait",
	.module = "/usr/bin/server",
	.processors = 2,
};

static struct fixture make(const struct server *s)
{
	const uint64_t level_ns[] = {10000 * MS - s->runs * MS, s->runs * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), thread = fixture__thread(&f, scope, 100);
	struct qz_thread *t = &f.p->threads[thread];

	fixture__samples(&f, scope, thread, "main loop handle parse copy", 1, s->slow);
	f.p->samples[0].in_block = s->in_block;
	fixture__samples(&f, scope, thread, "main loop answer", 1, s->quick);
	fixture__wait(&f,
		      &(struct qz_wait) {.thread = thread,
					 .object = QZ_NONE,
					 .count = s->loop.turns + 1,
					 .blocked_ns = s->polls * MS},
		      s->poll, "poll");
	if (s->other)
		fixture__wait(&f,
			      &(struct qz_wait) {.thread = thread,
						 .object = QZ_NONE,
						 .count = s->others,
						 .blocked_ns = s->other_ms * MS},
			      s->other, s->cause);
	t->running_ns = s->runs * MS;
	t->ready_ns = s->ready * MS;
	t->blocked_ns = (s->polls + s->other_ms) * MS;
	t->loop = s->loop;
	t->loop.turn_ns *= MS;
	t->loop.block_ns *= MS;
	t->loop.block_waited_ns *= MS;
	t->loop.block_ready_ns *= MS;
	t->loop.longest_ns *= MS;
	f.err = f.err ? f.err : qz_profile__set_string(&t->comm, "srv");
	for (uint32_t i = 0; i < f.p->nprocedures; i++)
		if (!strcmp(f.p->procedures[i].name, "epoll_wait"))
			qz_profile__set_string(&f.p->procedures[i].module, s->module);
	f.p->processors = s->processors;
	return f;
}

/* Gives the finding, with a copy of what it says, to the caller's check, and whether there is one. */
static bool finds(struct fixture *f, void (*check)(const struct qz_finding *))
{
	struct qz_report *r;
	struct qz_advice *a;
	bool found = false;

	ck_assert_int_eq(f->err, 0);
	ck_assert_int_eq(qz_estimate__profile(f->p), 0);
	r = qz_report__new(f->p, 0);
	ck_assert_ptr_nonnull(r);
	a = qz_advise__new(r);
	ck_assert_ptr_nonnull(a);
	for (uint32_t i = 0; i < a->n; i++)
		if (!strcmp(a->findings[i].rule, "event-loop")) {
			found = true;
			if (check)
				check(&a->findings[i]);
		}
	qz_advise__free(a);
	qz_report__free(r);
	qz_profile__free(f->p);
	return found;
}

static bool is_found(const struct server *s, void (*check)(const struct qz_finding *))
{
	struct fixture f = make(s);

	return finds(&f, check);
}

/* ---- what is said ---- */

static void check_blocked(const struct qz_finding *f)
{
	ck_assert_str_eq(f->word, "EVENT LOOP BLOCKED");
	ck_assert_str_eq(f->what, "The event loop of srv (thread 100) was blocked 4 times, up to "
				  "340 ms, by copy.");
	ck_assert_uint_eq(f->nevidence, 3);
	ck_assert_str_eq(f->evidence[0].text,
			 "4 of its 200 turns took 10 ms or more: 1.20 s, of which it waited 0.00 "
			 "s, and 0.05 s more without a processor");
	ck_assert_str_eq(f->evidence[1].text, "it is in 100% of the samples of these");
	ck_assert_str_eq(f->evidence[1].command, "quartzctl report copy");
	ck_assert_ptr_nonnull(strstr(f->evidence[2].text, "is not known"));
	ck_assert_ptr_nonnull(strstr(f->remedy, "another thread"));
	/* all of the blocks at most, on two processors beside the rest */
	ck_assert_uint_eq(f->gain_low_ns, 0);
	ck_assert_uint_eq(f->gain_high_ns / MS, 1200);
}

START_TEST(a_loop_that_is_blocked_is_found)
{
	ck_assert(is_found(&blocked, check_blocked));
}
END_TEST

/* Of 10 s it computes 6 s in blocks: on one processor, the rest goes on in 4 s at most, and in 6 s the blocks are done. */
static void check_long(const struct qz_finding *f)
{
	ck_assert_uint_eq(f->gain_low_ns, 0);
	ck_assert_uint_eq(f->gain_high_ns / MS, 4000);
}

START_TEST(what_was_computed_is_computed_still)
{
	struct server s = blocked;

	s.loop.turn_ns = s.runs = 6100;
	s.loop.block_ns = 6000;
	s.slow = s.in_block = 6000;
	s.polls = 3900;
	s.ready = 0;
	s.processors = 1;
	ck_assert(is_found(&s, check_long));
}
END_TEST

/* Waits of 270 ms each, in three of the four. */
static const struct server waiting = {
	.loop = {.turns = 200,
		 .turn_ns = 1300,
		 .blocks = 4,
		 .block_ns = 1200,
		 .block_waited_ns = 1100,
		 .longest_ns = 340},
	.runs = 200,
	.polls = 8000,
	.slow = 100,
	.in_block = 60,
	.quick = 100,
	.poll = "main loop epoll_wait",
	.module = "/usr/bin/server",
	.other = "main loop handle query recv",
	.cause = "socket",
	.others = 4,
	.other_ms = 1100,
	.processors = 2,
};

static void check_waiting(const struct qz_finding *f)
{
	ck_assert_str_eq(f->what, "The event loop of srv (thread 100) was blocked 4 times, up to "
				  "340 ms, mostly by waiting: socket in recv.");
	ck_assert_uint_eq(f->nevidence, 2);
	ck_assert_ptr_nonnull(strstr(f->evidence[0].text, "of which it waited 1.10 s"));
}

START_TEST(a_loop_that_waits_for_something_else_is_found)
{
	ck_assert(is_found(&waiting, check_waiting));
}
END_TEST

static const struct remedy {
	const char *poll, *module, *part;
} remedies[] = {
	{"main loop epoll_wait", "/usr/bin/node", "setImmediate()"},
	{"main loop epoll_wait", "/usr/lib/libnode.so.108", "worker_threads"},
	{"main loop epoll_wait", "/usr/bin/python3.11", "asyncio.to_thread()"},
	{"main loop epoll_wait", "/usr/lib/libpython3.12.so.1.0", "run_in_executor()"},
	{"main loop epoll_wait", "/usr/lib/jvm/lib/server/libjvm.so", "EventExecutorGroup"},
	{"main tokio::runtime::io::driver::turn epoll_wait", "/usr/bin/server", "spawn_blocking()"},
	{"main loop epoll_wait", "/usr/bin/node_monitor", "in another thread"},
	{"main loop epoll_wait", "/usr/bin/nginx", "in pieces between which the loop goes on"},
};

static const char *part;

static void check_remedy(const struct qz_finding *f)
{
	ck_assert_msg(strstr(f->remedy, part) != NULL, "%s", f->remedy);
}

START_TEST(remedies_are_of_the_runtime)
{
	struct server s = blocked;

	s.poll = remedies[_i].poll;
	s.module = remedies[_i].module;
	part = remedies[_i].part;
	ck_assert(is_found(&s, check_remedy));
}
END_TEST

/* Files have samples in blocks only where they were told apart. */
static void check_unknown(const struct qz_finding *f)
{
	ck_assert_str_eq(f->what,
			 "The event loop of srv (thread 100) was blocked 4 times, up to 340 ms.");
}

START_TEST(code_that_is_not_known)
{
	struct server s = blocked;

	s.in_block = 0;
	ck_assert(is_found(&s, check_unknown));
}
END_TEST

/* The program's code is named before a library's, though that has more of the samples: 40 and 60 %. */
static void check_own(const struct qz_finding *f)
{
	ck_assert_ptr_nonnull(strstr(f->what, " by copy."));
	ck_assert_str_eq(f->evidence[1].text, "it is in 40% of the samples of these");
}

START_TEST(code_of_the_program_is_named_first)
{
	struct fixture f = make(&blocked);
	uint32_t library;

	fixture__samples(&f, 0, 0, "main join", 1, 1800);
	f.p->samples[f.p->nsamples - 1].in_block = 1740;
	library = fixture__procedure(f.p, "join");
	f.err = f.err ? f.err
		      : qz_profile__set_string(&f.p->procedures[library].module, "/lib/libjoin.so");
	ck_assert(finds(&f, check_own));
}
END_TEST

/* ---- what is no block ---- */

/* 1000 turns of about 3 ms, and some of which it is not sure that they are no queue of requests. */
static const struct server queue = {
	.loop = {.turns = 1000, .turn_ns = 3000, .blocks = 20, .block_ns = 240, .longest_ns = 14},
	.runs = 3000,
	.polls = 6000,
	.slow = 3000,
	.in_block = 40,
	.quick = 0,
	.poll = "main loop epoll_wait",
	.module = "/usr/bin/server",
	.processors = 2,
};

START_TEST(a_queue_of_short_requests_is_none)
{
	struct server s = queue;

	ck_assert(!is_found(&s, NULL));
	s.loop.blocks = 5;
	s.loop.block_ns = 400;
	s.loop.longest_ns = 200; /* twice the 72 ms that a queue has at times, and more */
	ck_assert(is_found(&s, NULL));
	s.loop.longest_ns = 130;
	ck_assert(!is_found(&s, NULL));
	s.loop.longest_ns = 200;
	s.ready = 1500; /* they piled up meanwhile */
	ck_assert(!is_found(&s, NULL));
}
END_TEST

START_TEST(others_are_no_blocked_loops)
{
	struct server s[9];

	for (size_t i = 0; i < 9; i++)
		s[i] = blocked;
	s[0].loop.turns = 19;
	s[1].loop.blocks = 2;
	s[2].loop.blocks = 101;
	s[3].polls = 500; /* what it did between is not known */
	s[4].poll = "main runtime.findRunnable runtime.netpoll epoll_wait";
	s[5].poll = "main tokio::runtime::scheduler::multi_thread::park epoll_wait";
	s[6].loop = (struct qz_loop) {0}; /* a shell, a pool of threads */
	/* figures that cannot be */
	s[7].loop.turn_ns = 100;
	s[8].loop.block_waited_ns = 5000;
	for (size_t i = 0; i < 9; i++)
		ck_assert_msg(!is_found(&s[i], NULL), "%zu", i);
	s[0] = blocked;
	s[0].loop.turns = 20;
	s[0].loop.blocks = 3;
	ck_assert(is_found(&s[0], NULL));
}
END_TEST

/* Of a part of a run the longest may have been elsewhere. */
static void check_part(const struct qz_finding *f)
{
	ck_assert_ptr_nonnull(strstr(f->what, "blocked 4 times, up to 370 ms"));
}

START_TEST(the_longest_is_no_longer_than_all)
{
	struct server s = blocked;

	s.loop.block_ns = 400;
	s.loop.longest_ns = 5000;
	s.in_block = s.slow = 390;
	s.runs = 500;
	s.loop.turn_ns = 500;
	ck_assert(is_found(&s, check_part));
}
END_TEST

/* ---- workers ---- */

/* Another one of them, that parks at its word and polls as much as the first. */
static struct fixture make_workers(const char *comm, const char *park)
{
	struct fixture f = make(&blocked);
	uint32_t thread = fixture__thread(&f, 0, 101);

	fixture__wait(&f, &(struct qz_wait) {.thread = 0, .object = QZ_NONE, .count = 9}, park,
		      "poll");
	fixture__wait(
		&f,
		&(struct qz_wait) {
			.thread = thread, .object = QZ_NONE, .count = 100, .blocked_ns = 9000 * MS},
		park, "futex");
	fixture__samples(&f, 0, thread, "main loop handle parse copy", 1, 300);
	f.p->samples[f.p->nsamples - 1].in_block = 290;
	f.p->threads[thread].running_ns = 310 * MS;
	f.p->threads[thread].blocked_ns = 9000 * MS;
	f.p->threads[thread].loop = (struct qz_loop) {.turns = 100,
						      .turn_ns = 310 * MS,
						      .blocks = 2,
						      .block_ns = 300 * MS,
						      .longest_ns = 200 * MS};
	for (uint32_t i = 0; i < 2 && !f.err; i++)
		f.err = qz_profile__set_string(&f.p->threads[i].comm, comm);
	return f;
}

static void check_workers(const struct qz_finding *f)
{
	ck_assert_str_eq(f->what,
			 "2 workers of tokio were blocked 6 times, up to 340 ms, by copy.");
	ck_assert_uint_eq(f->nevidence, 3);
	ck_assert_str_eq(f->evidence[0].text,
			 "6 of their 300 turns took 10 ms or more: 1.50 s, of which they waited "
			 "0.00 s, and 0.05 s more without a processor");
	ck_assert_str_eq(f->evidence[2].text,
			 "what waited meanwhile is not known: workers take over from each other, "
			 "and had nothing to do for 91% of their time");
}

static const char park[] = "main tokio::runtime::scheduler::multi_thread::worker::Context::park";

START_TEST(workers_are_one_loop)
{
	struct fixture f = make_workers("tokio-runtime-w", park);

	ck_assert(finds(&f, check_workers));
	f = make_workers("tokio-rt-worker", park);
	ck_assert(finds(&f, check_workers));
}
END_TEST

/* Under another name, the turns are not known; with another stack, they may be none. */
START_TEST(others_are_no_workers)
{
	struct fixture f = make_workers("server", park);

	ck_assert(!finds(&f, NULL));
	f = make_workers("tokio-runtime-w", "main tokio::runtime::blocking::pool::run");
	ck_assert(!finds(&f, NULL));
}
END_TEST

START_TEST(several_threads_under_one_name_are_no_loop)
{
	struct fixture f = make(&blocked);

	f.p->threads[0].merged = true;
	ck_assert(!finds(&f, NULL));
}
END_TEST

Suite *suite_event_loop(void)
{
	Suite *s = suite_create("event_loop");
	TCase *tc = tcase_create("event_loop");

	tcase_add_test(tc, a_loop_that_is_blocked_is_found);
	tcase_add_test(tc, what_was_computed_is_computed_still);
	tcase_add_test(tc, a_loop_that_waits_for_something_else_is_found);
	tcase_add_loop_test(tc, remedies_are_of_the_runtime, 0,
			    (int)(sizeof(remedies) / sizeof(remedies[0])));
	tcase_add_test(tc, code_that_is_not_known);
	tcase_add_test(tc, code_of_the_program_is_named_first);
	tcase_add_test(tc, a_queue_of_short_requests_is_none);
	tcase_add_test(tc, others_are_no_blocked_loops);
	tcase_add_test(tc, the_longest_is_no_longer_than_all);
	tcase_add_test(tc, workers_are_one_loop);
	tcase_add_test(tc, others_are_no_workers);
	tcase_add_test(tc, several_threads_under_one_name_are_no_loop);
	suite_add_tcase(s, tc);
	return s;
}
