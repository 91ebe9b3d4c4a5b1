/* SPDX-License-Identifier: GPL-2.0-only */
/* The finding about cache lines that threads take from each other, its range, and its class of processor time. */
#include <check.h>
#include <string.h>

#include "core/costs/cost_table.h"
#include "tests/unit/core/advise/advised.h"
#include "tests/unit/suites.h"

static const struct qz_finding *found(const struct advised *x)
{
	return advised__find(x->a, "shared-line");
}

static void add(struct fixture *f, const char *words, uint32_t object, uint64_t count)
{
	struct qz_sample sample = {.level = 2,
				   .busy = 2,
				   .object = object,
				   .count = count,
				   .node = fixture__stack(f, words)};

	if (!f->err)
		f->err = qz_profile__add_samples(f->p, &sample);
}

/* One second, in which both processors run: of 2000 samples so many at the line. */
static struct fixture pair(uint64_t at_line, const char *code, struct qz_object **line)
{
	static const uint64_t level_ns[] = {0, 0, 1000 * MS};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), object;

	fixture__thread(&f, scope, 1);
	object = fixture__object(&f, scope, QZ_OBJECT_LINE, "hits");
	add(&f, code, object, at_line);
	add(&f, "main work", QZ_NONE, 2000 - at_line);
	*line = &f.p->objects[object];
	(*line)->line_elsewhere = 2000 - at_line;
	return f;
}

START_TEST(waiting_for_a_line_is_found)
{
	struct qz_object *line;
	struct fixture f = pair(1000, "main count", &line);
	struct advised x;

	line->line_same = 1000;
	x = advised__new(&f, 2);
	ck_assert_ptr_nonnull(found(&x));
	ck_assert_int_eq(found(&x)->subject.kind, QZ_SUBJECT_OBJECT);
	ck_assert_str_eq(found(&x)->subject.name, "cache line hits");
	ck_assert_ptr_nonnull(strstr(found(&x)->what, "the same words"));
	/* nothing is known of what it takes without others: about what it did in programs with a fix */
	ck_assert_uint_ge(found(&x)->gain_low_ns, 200 * MS);
	ck_assert_uint_le(found(&x)->gain_low_ns, 250 * MS);
	ck_assert_uint_eq(found(&x)->gain_high_ns, 500 * MS);
	advised__free(&x);
}
END_TEST

/* A fifth as long while no other ran: 4 of 5 parts are saved, but for what the samples leave open. */
START_TEST(time_alone_bounds_the_gain)
{
	struct qz_object *line;
	struct fixture f = pair(1000, "main count", &line);
	struct advised x;

	line->line_alone = 200000;
	line->line_elsewhere_alone = 1000000;
	x = advised__new(&f, 2);
	ck_assert_ptr_nonnull(found(&x));
	ck_assert_ptr_nonnull(strstr(found(&x)->what, "false sharing"));
	ck_assert_uint_le(found(&x)->gain_low_ns, 400 * MS);
	ck_assert_uint_ge(found(&x)->gain_low_ns, 380 * MS);
	ck_assert_uint_eq(found(&x)->gain_high_ns, 500 * MS);
	advised__free(&x);
}
END_TEST

/* Code that does nothing else is at the line alone as well, so the samples do not tell; what stands next to it goes with it. */
START_TEST(a_loop_of_accesses_saves_half_at_least)
{
	struct qz_object *line;
	struct fixture f = pair(1900, "main count", &line);
	struct advised x;

	add(&f, "main count", QZ_NONE, 100);
	line = &f.p->objects[0];
	line->line_same = 1900;
	line->line_there = 475;
	line->line_elsewhere = 0;
	line->line_alone = 100;
	x = advised__new(&f, 2);
	ck_assert_ptr_nonnull(found(&x));
	ck_assert_uint_ge(found(&x)->gain_low_ns, 430 * MS);
	ck_assert_uint_le(found(&x)->gain_low_ns, 520 * MS);
	ck_assert_uint_ge(found(&x)->gain_high_ns, 950 * MS);
	advised__free(&x);
}
END_TEST

/*
 * Stopped by a quota in each period, two threads run 40 ms at the same time, waiting for the line, and one 120 ms alone. That
 * is a quarter of the time in which anything ran, but 40 % of the processor time, which is what the quota is of.
 */
START_TEST(under_a_quota_processor_time_is_saved)
{
	static const uint64_t level_ns[] = {1840 * MS, 120 * MS, 40 * MS};
	struct fixture f = fixture__new();
	uint32_t scope = fixture__scope(&f, level_ns, 3), object;
	struct qz_scope *s = &f.p->scopes[scope];
	struct qz_sample alone = {.level = 1, .busy = 1, .object = QZ_NONE, .count = 1200};
	struct advised x;

	fixture__thread(&f, scope, 1);
	object = fixture__object(&f, scope, QZ_OBJECT_LINE, "hits");
	add(&f, "main count", object, 800);
	alone.node = fixture__stack(&f, "main work");
	ck_assert_int_eq(qz_profile__add_samples(f.p, &alone), 0);
	f.p->objects[object].line_elsewhere_alone = 100000000;
	s->quota_us = 10000;
	s->quota_period_us = 100000;
	s->throttled_ns = 3600 * MS;
	s->throttled_periods = _i ? 20 : 10;
	s->quota_periods = 20;
	x = advised__new(&f, 2);
	ck_assert_ptr_nonnull(found(&x));
	/* 80 ms of 200 take 800 ms at a tenth of a processor, and a period more or less */
	ck_assert_uint_eq(found(&x)->gain_high_ns / MS, 900);
	ck_assert_uint_le(found(&x)->gain_low_ns, 700 * MS);
	if (_i)
		ck_assert_uint_ge(found(&x)->gain_low_ns, 600 * MS);
	else
		ck_assert_uint_lt(found(&x)->gain_low_ns, 500 * MS);
	advised__free(&x);
}
END_TEST

/* As often there while no other ran: it is what the access takes. */
START_TEST(what_is_no_dearer_together_saves_nothing_for_sure)
{
	struct qz_object *line;
	struct fixture f = pair(1000, "main count", &line);
	struct advised x;

	line->line_alone = 5000;
	line->line_elsewhere_alone = 5000;
	x = advised__new(&f, 2);
	ck_assert_ptr_nonnull(found(&x));
	ck_assert_uint_eq(found(&x)->gain_low_ns, 0);
	advised__free(&x);
}
END_TEST

START_TEST(a_little_is_no_finding)
{
	struct qz_object *line;
	struct fixture f = pair(80, "main count", &line);
	struct advised x = advised__new(&f, 2);

	ck_assert_ptr_null(found(&x));
	advised__free(&x);
}
END_TEST

/* The access stands before a loop that waits, and that begins where its samples are. */
START_TEST(code_that_waits_has_no_shared_line)
{
	for (int i = 0; i < 2; i++) {
		struct qz_object *line;
		struct fixture f = pair(500, "main barrier", &line);
		struct qz_sample spun = {
			.level = 2, .busy = 1, .spinning = true, .object = QZ_NONE};
		struct advised x;

		spun.count = i ? 510 : 490;
		spun.node = fixture__stack(&f, "main barrier");
		ck_assert_int_eq(qz_profile__add_samples(f.p, &spun), 0);
		line->line_same = 500;
		x = advised__new(&f, 2);
		ck_assert_int_eq(found(&x) == NULL, i);
		advised__free(&x);
	}
}
END_TEST

/* What locks are made of is no line of the program's. */
START_TEST(locks_are_left_to_others)
{
	struct qz_object *line;
	struct fixture f = pair(1000, "main pthread_mutex_lock", &line);
	struct advised x = advised__new(&f, 2);
	struct qz_cost_table t;

	ck_assert_ptr_null(found(&x));
	ck_assert_int_eq(qz_cost_table__find(&t, x.r), 0);
	ck_assert_uint_eq(t.classes[QZ_COST_LINES].n, 0);
	ck_assert_uint_eq(t.classes[QZ_COST_HANDING].figure.samples, 1000);
	qz_cost_table__free(&t);
	advised__free(&x);
}
END_TEST

/* It is not work then, and all of it is one or the other. */
START_TEST(lines_are_a_class)
{
	struct qz_object *line;
	struct fixture f = pair(1000, "main count", &line);
	struct advised x = advised__new(&f, 2);
	struct qz_cost_table t;

	ck_assert_int_eq(qz_cost_table__find(&t, x.r), 0);
	ck_assert_uint_eq(t.classes[QZ_COST_LINES].figure.samples, 1000);
	ck_assert_uint_eq(t.classes[QZ_COST_LINES].figure.norm_ns, 500 * MS);
	ck_assert_uint_eq(t.classes[QZ_COST_WORK].figure.norm_ns, 500 * MS);
	ck_assert_uint_eq(t.classes[QZ_COST_LINES].n, 1);
	ck_assert_str_eq(x.p->procedures[t.classes[QZ_COST_LINES].rows[0].asker].name, "count");
	qz_cost_table__free(&t);
	advised__free(&x);
}
END_TEST

Suite *suite_shared_line(void)
{
	Suite *s = suite_create("shared_line");
	TCase *c = tcase_create("rule");

	tcase_add_test(c, waiting_for_a_line_is_found);
	tcase_add_test(c, time_alone_bounds_the_gain);
	tcase_add_test(c, a_loop_of_accesses_saves_half_at_least);
	tcase_add_loop_test(c, under_a_quota_processor_time_is_saved, 0, 2);
	tcase_add_test(c, what_is_no_dearer_together_saves_nothing_for_sure);
	tcase_add_test(c, a_little_is_no_finding);
	tcase_add_test(c, code_that_waits_has_no_shared_line);
	tcase_add_test(c, locks_are_left_to_others);
	tcase_add_test(c, lines_are_a_class);
	suite_add_tcase(s, c);
	return s;
}
