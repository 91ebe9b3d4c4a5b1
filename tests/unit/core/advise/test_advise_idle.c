/* SPDX-License-Identifier: GPL-2.0-only */
/* What is found of programs that mostly wait, though nothing outside of them is to blame. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/advise/advise.h"
#include "core/estimate/estimate.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define MS 1000000ull

/* A command of which something ran 100 ms of a second. Its first thread is 0. */
static struct fixture command(int32_t threads)
{
	static const uint64_t level_ns[] = {900 * MS, 100 * MS, 0};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3);

	for (int32_t i = 0; i < threads; i++) {
		uint32_t thread = fixture__thread(&f, scope, 100 + i);

		f.p->threads[thread].running_ns = 100 * MS / (uint64_t)threads;
	}
	fixture__samples(&f, scope, 0, "main work", 1, 100);
	f.p->scopes[scope].kind = QZ_SCOPE_JOB;
	f.p->scopes[scope].ended = true;
	f.p->processors = 2;
	return f;
}

struct wait {
	const char *stack, *cause;
	uint64_t count, ms;
};

static void blocked(struct fixture *f, uint32_t thread, struct wait w)
{
	fixture__wait(f,
		      &(struct qz_wait) {.thread = thread,
					 .object = QZ_NONE,
					 .count = w.count,
					 .blocked_ns = w.ms * MS},
		      w.stack, w.cause);
	f->p->threads[thread].blocked_ns += w.ms * MS;
}

/* Gives one finding to the caller's check, and whether there is one. */
static bool finds(struct fixture *f, const char *rule, void (*check)(const struct qz_finding *))
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
		if (!strcmp(a->findings[i].rule, rule)) {
			found = true;
			check(&a->findings[i]);
		}
	qz_advise__free(a);
	qz_report__free(r);
	qz_profile__free(f->p);
	return found;
}

/* ---- too few threads ---- */

/* Two threads that wait outside, each as said, and one that waits for them. */
struct pool {
	struct wait outside, inside, main;
	bool runs_on;
};

#define ANSWER                                                                                     \
	{                                                                                          \
		"main [thread] job recv", "socket", 100, 900                                       \
	}
#define LOCK                                                                                       \
	{                                                                                          \
		"main [thread] job take", "futex", 100, 40                                         \
	}
#define RESULTS                                                                                    \
	{                                                                                          \
		"main pthread_join", "futex", 2, 900                                               \
	}

static bool pool_is_small(struct pool pool, void (*check)(const struct qz_finding *))
{
	struct fixture f = command(3);

	blocked(&f, 0, pool.main);
	for (uint32_t thread = 1; thread < 3; thread++) {
		blocked(&f, thread, pool.outside);
		blocked(&f, thread, pool.inside);
		if (!pool.outside.count) {
			f.p->threads[thread].running_ns = 0;
			f.p->threads[thread].ready_ns = 1000 * MS;
		}
	}
	f.p->scopes[0].ended = !pool.runs_on;
	return finds(&f, "few-threads", check);
}

/* Twice as many wait half as long: 450 ms. At most none of it is left, and half of the time alone. */
static void check_small(const struct qz_finding *f)
{
	ck_assert_str_eq(f->word, "TOO FEW THREADS");
	ck_assert_uint_eq(f->gain_low_ns / MS, 450);
	ck_assert_uint_eq(f->gain_high_ns / MS, 950);
	ck_assert_str_eq(f->where, "recv");
	ck_assert_ptr_nonnull(strstr(f->what, "2 threads wait outside (socket)"));
	/* eight times as many would be 16 */
	ck_assert_ptr_nonnull(strstr(f->remedy, "(16:"));
}

START_TEST(a_pool_that_is_too_small_is_found)
{
	ck_assert(pool_is_small((struct pool) {ANSWER, LOCK, RESULTS, false}, check_small));
}
END_TEST

static const struct pool others[] = {
	/* its threads wait for work */
	{ANSWER, {"main [thread] take", "futex", 100, 300}, RESULTS, false},
	{{"main [thread] loop epoll_wait", "poll", 100, 900}, LOCK, RESULTS, false},
	/* a server: no thread waits for what they do */
	{ANSWER, LOCK, {"main accept", "socket", 2, 900}, false},
	/* a program that goes on */
	{ANSWER, LOCK, RESULTS, true},
	/* they never had a processor */
	{{"main [thread] job recv", "socket", 0, 0},
	 {"main [thread] job take", "futex", 0, 0},
	 RESULTS,
	 false},
	/* devices do not answer twice as many in the same time */
	{{"main [thread] job read", "disk", 100, 900}, LOCK, RESULTS, false},
};

START_TEST(others_that_wait_are_no_small_pool)
{
	ck_assert(!pool_is_small(others[_i], check_small));
}
END_TEST

/* ---- polling ---- */

/* A thread that sleeps as said, and the first one, which waits as said. */
struct poller {
	struct wait sleeps, main;
	int32_t threads;
	bool runs_on;
};

#define SLEEPS                                                                                     \
	{                                                                                          \
		"main [thread] consume usleep", "sleep", 90, 900                                   \
	}
#define RESULT                                                                                     \
	{                                                                                          \
		"main pthread_cond_wait", "futex", 90, 900                                         \
	}

static bool polls(struct poller p, void (*check)(const struct qz_finding *))
{
	struct fixture f = command(p.threads);

	blocked(&f, 0, p.main);
	blocked(&f, (uint32_t)p.threads - 1, p.sleeps);
	f.p->scopes[0].ended = !p.runs_on;
	return finds(&f, "polling", check);
}

/* What comes at any time waits for half of a sleep, at most for all of it. */
static void check_polling(const struct qz_finding *f)
{
	ck_assert_str_eq(f->word, "POLLING");
	ck_assert_uint_eq(f->gain_low_ns / MS, 450);
	ck_assert_uint_eq(f->gain_high_ns / MS, 950);
	ck_assert_ptr_nonnull(strstr(f->what, " sleeps again and again, 10 ms each time"));
}

static const struct poller pollers[] = {
	{SLEEPS, RESULT, 2, false},
	/* whoever waits for the result sleeps, too */
	{SLEEPS, {"main usleep", "sleep", 90, 880}, 2, false},
	/* Java sleeps at a futex */
	{{"main [thread] consume JVM_Sleep", "futex", 90, 900}, RESULT, 2, false},
};

START_TEST(looking_for_work_with_sleeps_is_found)
{
	ck_assert(polls(pollers[_i], check_polling));
}
END_TEST

static const struct poller sleepers[] = {
	/* no thread has work for it */
	{SLEEPS, {"main start", "futex", 1, 10}, 1, false},
	/* the clock of a program that waits for a disk, or for its peer */
	{SLEEPS, {"main load read", "disk", 90, 900}, 2, false},
	{SLEEPS, {"main recv", "socket", 90, 900}, 2, false},
	{SLEEPS, {"main write", "pipe", 90, 900}, 2, false},
	/* a runtime's own thread */
	{{"main [thread] runtime.sysmon runtime.usleep", "sleep", 90, 900}, RESULT, 2, false},
	/* few, and long */
	{{"main [thread] consume usleep", "sleep", 1, 900}, RESULT, 2, false},
	/* a program that goes on */
	{SLEEPS, RESULT, 2, true},
};

START_TEST(others_that_sleep_do_not_poll)
{
	ck_assert(!polls(sleepers[_i], check_polling));
}
END_TEST

/* ---- delayed acknowledgements ---- */

/* Two threads with a connection: so often, and so long, one waits, and the other. */
struct connection {
	const char *name;
	uint64_t count, ms, peer_ms;
};

static void waits_at(struct fixture *f, uint32_t thread, uint32_t object, uint64_t count,
		     uint64_t ms)
{
	fixture__wait(
		f,
		&(struct qz_wait) {
			.thread = thread, .object = object, .count = count, .blocked_ns = ms * MS},
		"main recv", "socket");
}

static bool delays(struct connection c, void (*check)(const struct qz_finding *))
{
	struct fixture f = command(2);
	uint32_t object = fixture__object(&f, 0, QZ_OBJECT_SOCKET, c.name);

	waits_at(&f, 0, object, c.count, c.ms);
	waits_at(&f, 1, object, 10 * c.count, c.peer_ms);
	return finds(&f, "delayed-ack", check);
}

static void check_delay(const struct qz_finding *f)
{
	ck_assert_str_eq(f->word, "DELAYED BY TCP");
	ck_assert_uint_eq(f->gain_low_ns / MS, 792); /* nine tenths of 880 */
	ck_assert_uint_eq(f->gain_high_ns / MS, 930);
	ck_assert_ptr_nonnull(strstr(f->remedy, "TCP_NODELAY"));
}

START_TEST(delayed_acknowledgements_are_found)
{
	ck_assert(delays((struct connection) {"tcp 127.0.0.1:80", 20, 880, 870}, check_delay));
}
END_TEST

static const struct connection connections[] = {
	/* acknowledgements are not delayed by so much, nor by so little */
	{"tcp 127.0.0.1:80", 10, 880, 870},
	{"tcp 127.0.0.1:80", 40, 880, 870},
	/* the peer does something else meanwhile */
	{"tcp 127.0.0.1:80", 20, 880, 100},
	{"unix /run/socket", 20, 880, 870},
};

START_TEST(other_replies_are_late_by_themselves)
{
	ck_assert(!delays(connections[_i], check_delay));
}
END_TEST

/* ---- round trips ---- */

/* One thread that waits as said; a third of what it runs is calls, so many samples of them for sending. */
struct client {
	struct wait replies;
	uint64_t sends;
	bool runs_on;
};

static bool goes_round(struct client c, void (*check)(const struct qz_finding *))
{
	struct fixture f = command(1);

	fixture__samples(&f, 0, 0, "main send_request syscall.Syscall", 1, c.sends);
	fixture__samples(&f, 0, 0, "main take_reply syscall.Syscall", 1, 50 - c.sends);
	blocked(&f, 0, c.replies);
	f.p->scopes[0].ended = !c.runs_on;
	return finds(&f, "round-trips", check);
}

/* Nine tenths of the calls, 33 ms, and half of the waits; at most both, and half of the time alone. */
static void check_trips(const struct qz_finding *f)
{
	ck_assert_str_eq(f->word, "ROUND TRIPS");
	ck_assert_uint_eq(f->gain_low_ns / MS, 480);
	ck_assert_uint_eq(f->gain_high_ns / MS, 983);
	ck_assert_str_eq(f->where, "recv");
	ck_assert_ptr_nonnull(strstr(f->what, "300 times a second, 3000 us each"));
	ck_assert_str_eq(f->evidence[0].text,
			 "300 waits for sockets, 0.90 s of them while nothing else of it ran");
}

static void check_run_on(const struct qz_finding *f)
{
	ck_assert_uint_eq(f->gain_low_ns / MS, 480);
	ck_assert_ptr_nonnull(strstr(f->what, "300 times a second, 1500 us each"));
}

#define REPLIES                                                                                    \
	{                                                                                          \
		"main take_reply recv", "socket", 300, 900                                         \
	}

START_TEST(requests_one_at_a_time_are_found)
{
	ck_assert(goes_round((struct client) {REPLIES, 25, false}, check_trips));
}
END_TEST

/* Whoever replies goes on for as long, so that the mean of threads that could run in a wait is nearer to one than to none. */
START_TEST(who_replies_may_run_on)
{
	struct fixture f = command(1);

	fixture__samples(&f, 0, 0, "main send_request syscall.Syscall", 1, 25);
	fixture__samples(&f, 0, 0, "main take_reply syscall.Syscall", 1, 25);
	fixture__wait(&f,
		      &(struct qz_wait) {.object = QZ_NONE,
					 .nominal = 1,
					 .count = 300,
					 .blocked_ns = 450 * MS,
					 .ready_ns = 450 * MS},
		      "main take_reply recv", "socket");
	ck_assert(finds(&f, "round-trips", check_run_on));
}
END_TEST

static const struct client clients[] = {
	/* it only receives */
	{REPLIES, 0, false},
	/* the peer works on each */
	{{"main take_reply recv", "socket", 100, 900}, 25, false},
	/* it sends more than the peer takes */
	{{"main send_request send", "socket", 300, 900}, 25, false},
	/* whoever waits for one of many */
	{{"main loop epoll_wait", "poll", 300, 900}, 25, false},
	/* a server, whose clients ask one at a time */
	{REPLIES, 25, true},
};

START_TEST(other_waits_for_sockets_are_no_round_trips)
{
	ck_assert(!goes_round(clients[_i], check_trips));
}
END_TEST

Suite *suite_advise_idle(void)
{
	Suite *s = suite_create("advise_idle");
	TCase *tc = tcase_create("advise_idle");

	tcase_add_test(tc, a_pool_that_is_too_small_is_found);
	tcase_add_loop_test(tc, others_that_wait_are_no_small_pool, 0, 6);
	tcase_add_loop_test(tc, looking_for_work_with_sleeps_is_found, 0, 3);
	tcase_add_loop_test(tc, others_that_sleep_do_not_poll, 0, 7);
	tcase_add_test(tc, delayed_acknowledgements_are_found);
	tcase_add_loop_test(tc, other_replies_are_late_by_themselves, 0, 4);
	tcase_add_test(tc, requests_one_at_a_time_are_found);
	tcase_add_test(tc, who_replies_may_run_on);
	tcase_add_loop_test(tc, other_waits_for_sockets_are_no_round_trips, 0, 5);
	suite_add_tcase(s, tc);
	return s;
}
