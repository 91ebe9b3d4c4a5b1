/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Each rule on profiles of real programs: one that is limited by what the rule is about, and the same program, or
 * one like it, with the remedy. recorded/README.md says what they are.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/advise/advise.h"
#include "core/advise/verdict.h"
#include "tests/unit/core/advise/advised.h"
#include "tests/unit/core/advise/recorded.h"
#include "tests/unit/suites.h"

static const struct {
	const char *rule;
	const char *limited, *remedied;
	const char *comm;    /* of the process; NULL: the profile has one scope */
	const char *subject; /* what the finding must name; NULL: see the rule */
	bool later;	     /* another finding of the limited program goes first */
} cases[] = {
	{"allocator", "allocator", "allocator-not", NULL, "mutex main_arena.mutex", false},
	{"interpreter", "interpreter", "interpreter-not", NULL, "the interpreter lock", false},
	{"stdio", "stdio", "stdio-not", NULL, "mutex stdio lock in puts_", false},
	{"lock-io", "lock-io", "lock-io-not", NULL, "mutex lock", false},
	{"contention", "contention", "contention-not", NULL, "mutex lock", false},
	{"fine", "fine", "fine-not", NULL, "barrier", false},
	{"spinning", "spinning", "spinning-not", NULL, "pthread_spin_lock", false},
	{"pipeline", "pipeline", "serial-not", NULL, "squeeze", false},
	{"processes", "processes", "processes-not", NULL, "sh", false},
	{"imbalance", "imbalance", "stdio-not", NULL, "compute", false},
	{"imbalance", "imbalance-blocks", "stdio-not", NULL, "povray+0x20b930", false},
	{"overlap", "overlap", "serial-not", NULL, "disk", true},
	{"overlap", "overlap-sync", "serial-not", NULL, "disk", false},
	{"serial", "serial", "serial-not", NULL, NULL, false},
	{"steps", "steps-threads", "steps-threads-not", NULL, "main", false},
	{"steps", "steps-calls", "steps-calls-not", NULL, "main", false},
	{"steps", "steps-channel", "steps-channel-not", NULL, NULL, false},
	{"steps", "steps-python", "steps-python-not", NULL, "<module> (bytes.py)", false},
	{"steps", "steps-pool", "steps-pool-not", NULL, "<module> (pool.py)", false},
	{"steps", "steps-node", "steps-node-not", NULL, "JS:parseAll /var/tmp/app/read.js:2:18",
	 false},
	{"steps", "map-lock", "serial-not", NULL, "work", false},
	{"steps", "steps-nested", "steps-threads-not", NULL, "main._omp_fn.0", false},
	{"in_vain", "in-vain", "in-vain-not", NULL, "condition", false},
	{"herd", "herd", "herd-not", NULL, "wait_at_epoll", true},
	{"shared-line", "false-sharing", "false-sharing-not", NULL,
	 "cache line words[0] to words[1]", false},
	{"event-loop", "tokio", "tokio-not", NULL, "tokio-runtime-w", false},
	{"taken", "taken", "serial-not", "pigz", "quartzd", false},
};
#define NCASES ((int)(sizeof(cases) / sizeof(cases[0])))

static uint32_t find_scope(const struct qz_profile *p, const char *comm)
{
	for (uint32_t i = 0; comm && i < p->nscopes; i++)
		if (!strcmp(p->scopes[i].comm, comm))
			return i;
	ck_assert_ptr_null(comm);
	return 0;
}

/* Whoever is most limited by something is called that; where it was recorded on a full machine, that may be others. */
static void check_verdict(const struct qz_advice *a)
{
	const struct qz_finding *f = a->findings;
	const char *word = qz_verdict__others_first(a) ? "SHORT OF CPUS" : a->n ? f->word : NULL;
	char *verdict = qz_verdict__text(a);

	ck_assert_ptr_nonnull(verdict);
	if (a->n && word && f->gain_low_ns / 2 + f->gain_high_ns / 2 >= a->report->elapsed_ns / 10)
		ck_assert_msg(!strncmp(verdict, word, strlen(word)), "%s, but first %s", verdict,
			      f->what);
	free(verdict);
}

START_TEST(limits_are_found)
{
	struct qz_profile *p = recorded__read(".", cases[_i].limited);
	struct qz_report *r = qz_report__new(p, find_scope(p, cases[_i].comm));
	struct qz_advice *a = qz_advise__new(r);
	const struct qz_finding *f = advised__find(a, cases[_i].rule);

	ck_assert_msg(f != NULL, "%s: not found", cases[_i].rule);
	if (!cases[_i].later)
		ck_assert_ptr_eq(f, a->findings);
	if (cases[_i].subject)
		ck_assert_str_eq(f->subject.name, cases[_i].subject);
	ck_assert_uint_gt(f->gain_high_ns, 0);
	check_verdict(a);
	qz_advise__free(a);
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

START_TEST(remedied_programs_have_no_such_finding)
{
	struct qz_profile *p = recorded__read(".", cases[_i].remedied);
	struct qz_report *r = qz_report__new(p, 0);
	struct qz_advice *a = qz_advise__new(r);

	ck_assert_ptr_null(advised__find(a, cases[_i].rule));
	check_verdict(a);
	qz_advise__free(a);
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

/* The kind of each and what to write, by itself: a person who reads no more of it is not sent the wrong way. */
static const struct {
	const char *folder, *name, *rule, *what, *remedy;
} fixes[] = {
	{".", "steps-nested", "steps", "starting and ending threads", "OMP_MAX_ACTIVE_LEVELS=1"},
	{".", "steps-threads", "steps", "starting and ending threads", "a pool"},
	{".", "steps-channel", "steps", "handing work over", "slices of 100"},
	{".", "steps-pool", "steps", "packing and copying", "chunksize=100"},
	{".", "map-lock", "steps", "memory map", "keep the memory"},
	{".", "in-vain", "in_vain", "for nothing", "pthread_cond_signal"},
	{".", "herd", "herd", "one of them gets it", "EPOLLEXCLUSIVE"},
	{".", "false-sharing", "shared-line", "different words", "a line of its own"},
	{".", "allocator", "allocator", "malloc", "MALLOC_ARENA_MAX"},
	{"sets", "lines-one-word", "shared-line", "the same words", "add up at the end"},
	{"sets", "lines-random", "steps", "rand", "rand_r"},
	{"sets", "grain-dd", "steps", "calls of the kernel", "bs=64k"},
	{"sets", "grain-expr", "steps", "processes", "$((...))"},
	{"sets", "waits-multiply", "oversubscribed", "4 processes", "OPENBLAS_NUM_THREADS=1"},
	{"sets", "waits-answers", "few-threads", "4 threads wait", "more threads"},
	{"sets", "waits-polling", "polling", "sleeps again", "a condition variable"},
	{"sets", "waits-requests", "delayed-ack", "44 ms each time", "TCP_NODELAY"},
	{"sets", "waits-lookups", "round-trips", "waits for a reply", "pipelining"},
};

START_TEST(what_to_do_is_told)
{
	struct qz_profile *p = recorded__read(fixes[_i].folder, fixes[_i].name);
	struct qz_report *r = qz_report__new(p, 0);
	struct qz_advice *a = qz_advise__new(r);
	const struct qz_finding *f = advised__find(a, fixes[_i].rule);

	ck_assert_ptr_nonnull(f);
	ck_assert_msg(strstr(f->what, fixes[_i].what) != NULL, "%s", f->what);
	ck_assert_msg(strstr(f->remedy, fixes[_i].remedy) != NULL, "%s", f->remedy);
	qz_advise__free(a);
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

/* What limits one process is no limit of the machine. */
START_TEST(machines_have_no_findings)
{
	struct qz_profile *p = recorded__read(".", "taken");
	struct qz_report *r = qz_report__new(p, qz_profile__machine(p));
	struct qz_advice *a = qz_advise__new(r);

	ck_assert_int_eq(p->scopes[r->scope].kind, QZ_SCOPE_MACHINE);
	ck_assert_uint_eq(a->n, 0);
	qz_advise__free(a);
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

/* Four threads, one lock, whose waiters sleep at a word of their own each. */
START_TEST(a_lock_that_parks_is_one)
{
	struct qz_profile *p = recorded__read(".", "parking");
	struct qz_report *r = qz_report__new(p, 0);
	struct qz_advice *a = qz_advise__new(r);

	ck_assert_uint_ge(a->n, 1);
	ck_assert_str_eq(a->findings[0].rule, "parked");
	ck_assert_str_eq(a->findings[0].word, "CONTENDED");
	ck_assert_str_eq(a->findings[0].where, "taken in with_big, let go of in park_unlock");
	check_verdict(a);
	qz_advise__free(a);
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

/*
 * Clients of PostgreSQL that update one row: each sleeps in epoll, until the one that commits wakes it, which slept with the lock.
 * Goroutines of one mutex: they sleep where the kernel does not see it.
 * Threads of Python that sleep with a lock: it is a semaphore, which stores no owner.
 */
START_TEST(a_lock_without_words_is_one)
{
	static const struct {
		const char *name, *subject, *what, *where;
	} locks[] = {
		{"row-lock", "poll", "each sleeps in ProcSleep until",
		 "taken in postgres+0x472280, let go of in ProcLockWakeup"},
		{"go-mutex", "main.withBig", "a mutex that main.withBig holds",
		 "let go of in sync.(*Mutex).unlockSlow"},
		{"python-lock", "semaphore in log (journal.py)",
		 "each sleeps at semaphore in log (journal.py) until", "taken in log (journal.py)"},
	};
	struct qz_profile *p = recorded__read(".", locks[_i].name);
	struct qz_report *r = qz_report__new(p, 0);
	struct qz_advice *a = qz_advise__new(r);
	const struct qz_finding *f = a->findings;

	ck_assert_uint_ge(a->n, 1);
	ck_assert_str_eq(f->rule, "parked");
	ck_assert_str_eq(f->word, "CONTENDED");
	ck_assert_str_eq(f->subject.name, locks[_i].subject);
	ck_assert_ptr_nonnull(strstr(f->what, locks[_i].what));
	ck_assert_str_eq(f->where, locks[_i].where);
	/* others had much of the processors beside all of these */
	ck_assert_uint_ge(f->gain_low_ns, r->elapsed_ns / 7);
	if (!_i) {
		ck_assert_uint_eq(f->nevidence, 3);
		ck_assert_ptr_nonnull(strstr(f->evidence[2].text, "may wait in pg_sleep"));
	}
	qz_advise__free(a);
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

/*
 * Four threads with one arena, beside others that had more than they did: an arena each saved 64 to 73 % on a quiet machine, mostly work.
 * What waits for processors does not make that less.
 */
START_TEST(an_allocator_saves_work)
{
	struct qz_profile *p = recorded__read(".", "allocator");
	struct qz_report *r = qz_report__new(p, 0);
	struct qz_advice *a = qz_advise__new(r);
	const struct qz_finding *f = advised__find(a, "allocator");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_ge(f->gain_low_ns, r->elapsed_ns / 100 * 73 / 3);
	ck_assert_uint_le(f->gain_low_ns, r->elapsed_ns / 100 * 64);
	ck_assert_uint_ge(f->gain_high_ns, r->elapsed_ns / 100 * 73);
	qz_advise__free(a);
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

/* It sleeps for less than it works alone: neither is the reason for the other. */
START_TEST(short_sleeps_hide_no_serial_phase)
{
	struct qz_profile *p = recorded__read(".", "indexer");
	struct qz_report *r = qz_report__new(p, 0);
	struct qz_advice *a = qz_advise__new(r);
	const struct qz_finding *serial = advised__find(a, "serial");

	ck_assert_str_eq(a->findings[0].rule, "contention");
	ck_assert_ptr_nonnull(serial);
	ck_assert_str_eq(serial->subject.name, "parse_input");
	ck_assert_ptr_nonnull(advised__find(a, "polling"));
	check_verdict(a);
	qz_advise__free(a);
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

/*
 * Two threads, three quarters of what they do with one lock; on a quiet machine 46 to 48 % and 51 to 53 % were saved without it, since a
 * woken thread came too late most of the time. Of another one, which has half of the processors beside two loops, 35 to 44 %.
 */
START_TEST(who_comes_too_late_for_a_lock_gains_more)
{
	static const struct {
		const char *name, *place;
		uint64_t least, most; /* percent, of the high end */
	} locks[] = {{"rust-lock", "update", 46, 48},
		     {"go-lock", "update", 49, 53},
		     {"beside-lock", "book_held", 35, 44}};
	struct qz_profile *p = recorded__read(".", locks[_i].name);
	struct qz_report *r = qz_report__new(p, 0);
	struct qz_advice *a = qz_advise__new(r);
	const struct qz_finding *f = a->findings;

	ck_assert_uint_ge(a->n, 1);
	ck_assert_ptr_nonnull(strstr(f->subject.name, locks[_i].place));
	ck_assert_uint_ge(f->gain_high_ns, r->elapsed_ns / 100 * locks[_i].least);
	ck_assert_uint_le(f->gain_high_ns, r->elapsed_ns / 100 * locks[_i].most);
	qz_advise__free(a);
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

/* Ruby's threads sleep in the same way, and its lock has no name. */
START_TEST(the_lock_of_ruby_is_its_own)
{
	struct qz_profile *p = recorded__read(".", "ruby");
	struct qz_report *r = qz_report__new(p, 0);
	struct qz_advice *a = qz_advise__new(r);

	ck_assert_uint_ge(a->n, 1);
	ck_assert_str_eq(a->findings[0].word, "CONTENDED");
	ck_assert_ptr_nonnull(strstr(a->findings[0].what, "Ruby's interpreter lock"));
	ck_assert_ptr_nonnull(strstr(a->findings[0].remedy, "Ractors"));
	check_verdict(a);
	qz_advise__free(a);
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

/* Two threads that compute, under a quota of 5 ms in 100 ms, and bound to one of two processors. */
START_TEST(a_limit_is_told_from_what_others_had)
{
	struct qz_profile *p = recorded__read(".", _i ? "affinity" : "quota");
	struct qz_report *r = qz_report__new(p, 0);
	struct qz_advice *a = qz_advise__new(r);
	char *verdict = qz_verdict__text(a);

	ck_assert_uint_eq(a->n, 0);
	ck_assert_msg(!strncmp(verdict, "LIMITED: ", 9), "%s", verdict);
	ck_assert_ptr_nonnull(strstr(verdict, _i ? " from 0.8 more" : " from 0.9 more"));
	ck_assert_int_eq(qz_verdict__shortage(r), QZ_SHORT_BY_LIMIT);
	free(verdict);
	qz_advise__free(a);
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

Suite *suite_recorded_advice(void)
{
	Suite *s = suite_create("recorded_advice");
	TCase *tc = tcase_create("all");

	tcase_add_loop_test(tc, limits_are_found, 0, NCASES);
	tcase_add_loop_test(tc, remedied_programs_have_no_such_finding, 0, NCASES);
	tcase_add_loop_test(tc, what_to_do_is_told, 0, (int)(sizeof(fixes) / sizeof(fixes[0])));
	tcase_add_test(tc, machines_have_no_findings);
	tcase_add_test(tc, an_allocator_saves_work);
	tcase_add_test(tc, a_lock_that_parks_is_one);
	tcase_add_loop_test(tc, a_lock_without_words_is_one, 0, 3);
	tcase_add_loop_test(tc, who_comes_too_late_for_a_lock_gains_more, 0, 3);
	tcase_add_test(tc, the_lock_of_ruby_is_its_own);
	tcase_add_test(tc, short_sleeps_hide_no_serial_phase);
	tcase_add_loop_test(tc, a_limit_is_told_from_what_others_had, 0, 2);
	suite_add_tcase(s, tc);
	return s;
}
