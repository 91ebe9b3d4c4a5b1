/* SPDX-License-Identifier: GPL-2.0-only */
/* A summary has the figures of the whole, and differences of summaries those of what came between. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/transform/delta.h"
#include "core/estimate/estimate.h"
#include "core/report/process_table.h"
#include "core/report/report.h"
#include "core/transform/compact.h"
#include "tests/unit/failing.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define SEEDS  20
#define SECOND 1000000000ull
#define BEGIN  (1000 * SECOND)

/* What the first and the later part of a run have. */
enum part { EARLY = 1, LATE = 2 };
enum { MACHINE, LIVES, ENDS, COMES };

static void describe(struct fixture *f, uint32_t i, uint32_t kind, int32_t pid, const char *comm)
{
	struct qz_scope *s = &f->p->scopes[i];

	s->kind = kind;
	s->pid = pid;
	s->start_ns = BEGIN;
	s->cpu_ns = s->elapsed_ns - s->level_ns[0];
	s->counters.threads_seen = i != MACHINE;
	qz_profile__set_string(&s->comm, comm);
}

/* As the process has them, and as the machine has them. */
static void sample(struct fixture *f, uint32_t scope, const char *words, uint64_t count)
{
	uint32_t thread = scope - 1;

	fixture__samples(f, scope, thread, words, 1, count);
	fixture__samples(f, MACHINE, thread, words, 1, count);
}

/*
 * One processor. In the first 40 s one process runs for 10 and another one, which ends, for 4; in the next 20 the
 * first one runs for 6, in other code too, and one that is new for 3.
 */
static struct qz_profile *run(unsigned int parts)
{
	const bool early = parts & EARLY, late = parts & LATE;
	const uint64_t ran[] = {14 * early + 9 * late, 10 * early + 6 * late, 4 * early, 3 * late};
	struct fixture f = fixture__new();
	struct qz_wait wait = {.scope = LIVES, .object = QZ_NONE, .count = 1, .blocked_ns = 5};

	for (uint32_t i = 0; i < 4; i++) {
		uint64_t all = i == ENDS ? 5 : 40 * early + 20 * late;
		uint64_t levels[] = {(all - ran[i]) * SECOND, ran[i] * SECOND};

		fixture__scope(&f, levels, 2);
	}
	describe(&f, MACHINE, QZ_SCOPE_MACHINE, 0, "machine");
	describe(&f, LIVES, QZ_SCOPE_PROCESS, 1, "lives");
	describe(&f, ENDS, QZ_SCOPE_PROCESS, 2, "ends");
	describe(&f, COMES, QZ_SCOPE_PROCESS, 3, "comes");
	for (uint32_t i = LIVES; i <= COMES; i++)
		fixture__thread(&f, i, (int32_t)i);
	f.p->scopes[ENDS].ended = f.p->threads[ENDS - 1].ended = true;
	f.p->threads[ENDS - 1].end_ns = BEGIN + 5 * SECOND;
	f.p->window_ns = (40 * early + 20 * late) * SECOND;
	f.p->wall_start_ns = 77;
	if (early) {
		sample(&f, LIVES, "main f", 10);
		sample(&f, LIVES, "main g f", 10);
		sample(&f, ENDS, "main e", 8);
		fixture__wait(&f, &wait, "main f", "futex");
	}
	if (late) {
		sample(&f, LIVES, "main h", 12);
		sample(&f, COMES, "main h c", 6);
		fixture__wait(&f, &wait, "main h", "disk");
	}
	ck_assert_int_eq(f.err, 0);
	ck_assert_int_eq(qz_estimate__profile(f.p), 0);
	return f.p;
}

static struct qz_profile *summary(const struct qz_profile *p, bool procedures, uint64_t since,
				  uint32_t whole)
{
	const struct qz_compact what = {procedures, since, whole};
	struct qz_profile *s = qz_compact__profile(p, &what);

	ck_assert_ptr_nonnull(s);
	ck_assert_int_eq(qz_estimate__profile(s), 0);
	return s;
}

/* The figures of all processes, those with the most processor time first. */
static struct qz_process_table table(const struct qz_profile *p)
{
	static const uint32_t all[] = {0, 1, 2, 3, 4};
	struct qz_process_table t;

	ck_assert_uint_le(p->nscopes, 5);
	ck_assert_int_eq(
		qz_process_table__make(&t, p, all, p->nscopes, QZ_BY_PROCESS, QZ_ORDER_CPU), 0);
	return t;
}

static void assert_row(const struct qz_profile *p, const struct qz_process_row *row,
		       const char *name, uint64_t seconds, const char *procedure)
{
	ck_assert_str_eq(row->name, name);
	ck_assert_uint_eq(row->cpu_ns, seconds * SECOND);
	ck_assert_uint_eq(row->busy_ns, seconds * SECOND);
	ck_assert_uint_eq(row->norm_ns, seconds * SECOND);
	ck_assert_uint_eq(row->serial_ns, seconds * SECOND);
	ck_assert_uint_eq(row->threads, 1);
	if (procedure)
		ck_assert_str_eq(p->procedures[row->top_procedure].name, procedure);
	else
		ck_assert_uint_eq(row->top_procedure, QZ_NONE);
}

START_TEST(processes_keep_their_figures)
{
	struct qz_profile *p = run(EARLY | LATE), *s = summary(p, _i, 0, QZ_NONE);
	struct qz_process_table t = table(s);

	ck_assert_uint_eq(t.n, 3);
	assert_row(s, &t.rows[0], "lives", 16, _i ? "f" : NULL);
	assert_row(s, &t.rows[1], "ends", 4, _i ? "e" : NULL);
	assert_row(s, &t.rows[2], "comes", 3, _i ? "c" : NULL);
	ck_assert_uint_eq(s->nlocations, _i ? 4 : 0); /* c, e, f, h */
	ck_assert_uint_eq(s->nthreads, 3);
	ck_assert_uint_eq(s->nwaits, 0);
	qz_process_table__free(&t);
	qz_profile__free(s);
	qz_profile__free(p);
}
END_TEST

static const struct qz_scope *folded(const struct qz_profile *p)
{
	for (uint32_t i = 0; i < p->nscopes; i++)
		if (p->scopes[i].kind == QZ_SCOPE_PROCESS && !p->scopes[i].pid)
			return &p->scopes[i];
	return NULL;
}

/* Also where the one that has ended is no longer told apart. */
START_TEST(differences_are_what_came_between)
{
	struct qz_profile *early = run(EARLY), *both = run(EARLY | LATE);
	uint32_t whole = _i ? LIVES : QZ_NONE;
	struct qz_profile *before = summary(early, true, 0, whole);
	struct qz_profile *s = summary(both, true, BEGIN + 40 * SECOND, whole);
	struct qz_process_table t;

	ck_assert_ptr_null(folded(before));
	ck_assert_ptr_nonnull(folded(s));
	ck_assert_uint_eq(folded(s)->cpu_ns, 4 * SECOND);
	ck_assert_uint_eq(folded(s)->level_ns[1], 4 * SECOND);
	ck_assert_uint_eq(folded(s)->counters.threads_seen, 0);
	ck_assert_int_eq(qz_delta__since(s, before), 0);
	ck_assert_uint_eq(folded(s)->cpu_ns, 0);
	ck_assert_uint_eq(folded(s)->level_ns[1], 0);
	t = table(s);
	ck_assert_uint_eq(t.busy_ns, 9 * SECOND);
	ck_assert_uint_eq(t.unattributed_ns, 0);
	assert_row(s, &t.rows[0], "lives", 6, "h");
	assert_row(s, &t.rows[1], "comes", 3, "c");
	ck_assert_uint_eq(t.rows[2].norm_ns, 0);
	qz_process_table__free(&t);
	qz_profile__free(early);
	qz_profile__free(both);
	qz_profile__free(before);
	qz_profile__free(s);
}
END_TEST

/* One that ended just before: samples of it may be on their way. */
START_TEST(the_newly_ended_are_told_apart)
{
	struct qz_profile *p = run(EARLY), *s = summary(p, false, BEGIN + 6 * SECOND, QZ_NONE);

	ck_assert_ptr_null(folded(s));
	qz_profile__free(p);
	qz_profile__free(s);
}
END_TEST

START_TEST(one_scope_is_there_whole)
{
	struct qz_profile *p = fixture__random((unsigned int)_i), *s;
	struct qz_report *a, *b;

	p->scopes[0].start_ns = 1;
	p->scopes[1].start_ns = 2;
	s = summary(p, true, 0, 0);
	ck_assert_uint_eq(s->nscopes, 2);
	a = qz_report__new(p, 0);
	b = qz_report__new(s, 0);
	ck_assert_uint_eq(a->elapsed_ns, b->elapsed_ns);
	ck_assert_uint_eq(a->nrows, b->nrows);
	for (uint32_t i = 0; i < a->nrows; i++) {
		ck_assert_uint_eq(a->rows[i].total.samples, b->rows[i].total.samples);
		ck_assert_uint_eq(a->rows[i].total_waits.blocked_ns,
				  b->rows[i].total_waits.blocked_ns);
	}
	for (uint32_t i = 0; i < s->nwaits; i++)
		ck_assert_uint_eq(s->waits[i].scope, 0);
	for (uint32_t i = 0; i < s->nobjects; i++)
		ck_assert_uint_eq(s->objects[i].scope, 0);
	qz_report__free(a);
	qz_report__free(b);
	qz_profile__free(s);
	qz_profile__free(p);
}
END_TEST

START_TEST(lack_of_memory_is_reported)
{
	struct qz_profile *p = run(EARLY | LATE), *s = NULL;
	const struct qz_compact what = {true, BEGIN + 40 * SECOND, LIVES};

	for (unsigned int i = 1; !s; i++) {
		failing__arm(i);
		errno = 0;
		s = qz_compact__profile(p, &what);
		ck_assert_int_eq(failing__disarm(), !s);
		ck_assert_int_eq(errno == ENOMEM, !s);
	}
	qz_profile__free(s);
	qz_profile__free(p);
}
END_TEST

Suite *suite_compact(void)
{
	Suite *s = suite_create("compact");
	TCase *tc = tcase_create("all");

	tcase_add_loop_test(tc, processes_keep_their_figures, 0, 2);
	tcase_add_loop_test(tc, differences_are_what_came_between, 0, 2);
	tcase_add_test(tc, the_newly_ended_are_told_apart);
	tcase_add_loop_test(tc, one_scope_is_there_whole, 0, SEEDS);
	tcase_add_test(tc, lack_of_memory_is_reported);
	suite_add_tcase(s, tc);
	return s;
}
