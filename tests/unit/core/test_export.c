/* SPDX-License-Identifier: GPL-2.0-only */
/* Stacks for other profilers: which there are, in which order, what they add up to, and their limits. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/estimate/estimate.h"
#include "core/export/csv.h"
#include "core/export/folded.h"
#include "core/export/speedscope.h"
#include "core/export/trace_events.h"
#include "tests/unit/failing.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

static struct qz_report *report_of(const struct qz_profile *p, uint32_t scope)
{
	struct qz_report *r = qz_report__new(p, scope);

	ck_assert_ptr_nonnull(r);
	return r;
}

static char *folded(const struct qz_report *r, enum qz_stack_value which)
{
	const struct qz_report *const reports[] = {r};
	struct qz_stacks *s = qz_stacks__new(reports, 1);
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ck_assert(s && out);
	ck_assert_int_eq(qz_folded__write(out, s, which), 0);
	ck_assert_int_eq(fclose(out), 0);
	qz_stacks__free(s);
	return text;
}

/* Times of 1 ns and less than a microsecond: each line is rounded, and the sum is that of the profile. */
START_TEST(known_stacks)
{
	static const uint64_t level_ns[] = {0, 10001, 0};
	struct qz_wait wait = {.object = QZ_NONE, .count = 1, .blocked_ns = 4499};
	struct fixture f = fixture__new();
	struct qz_report *r;
	char *text;

	fixture__scope(&f, level_ns, 3);
	fixture__thread(&f, 0, 11);
	fixture__samples(&f, 0, 0, "main [thread] work;a b", 1, 2);
	fixture__samples(&f, 0, 0, "main", 1, 5);
	fixture__samples(&f, 0, 0, "main [thread] out+in", 1, 3);
	fixture__wait(&f, &wait, "main x\ny", "futex");
	ck_assert_int_eq(f.err ? f.err : qz_estimate__profile(f.p), 0);
	ck_assert_int_eq(qz_profile__set_string(&f.p->scopes[0].comm, "a;pp"), 0);
	r = report_of(f.p, 0);
	text = folded(r, QZ_STACK_NORM);
	ck_assert_str_eq(text, "a:pp;main 5\n"
			       "a:pp;main;[thread];work:a;b 2\n"
			       "a:pp;main;[thread];out;in 3\n");
	free(text);
	text = folded(r, QZ_STACK_BLOCKED);
	ck_assert_str_eq(text, "a:pp;main;x\\x0ay 4\n");
	free(text);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

/* Of the text, the cell with the name of the only procedure. */
START_TEST(names_are_no_formulas)
{
	static const char *const names[][2] = {
		{"=1+1", ",\"'=1+1\","},
		{"+x", ",\"'+x\","},
		{"-[NSView x]", ",\"'-[NSView x]\","},
		{"@a", ",\"'@a\","},
		{"\t=1", ",\"\\x09=1\","},
		{"a=\"b\",c", ",\"a=\"\"b\"\",c\","},
	};
	static const uint64_t level_ns[] = {0, 1000, 0};
	struct fixture f = fixture__new();
	struct qz_report *r;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	fixture__scope(&f, level_ns, 3);
	fixture__thread(&f, 0, 11);
	fixture__samples(&f, 0, 0, "main", 1, 1);
	ck_assert_int_eq(f.err ? f.err : qz_estimate__profile(f.p), 0);
	ck_assert_int_eq(
		qz_profile__set_string(&f.p->procedures[fixture__procedure(f.p, "main")].name,
				       names[_i][0]),
		0);
	r = report_of(f.p, 0);
	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(qz_csv__write(out, (const struct qz_report *const[]) {r}, 1), 0);
	ck_assert_int_eq(fclose(out), 0);
	ck_assert_msg(strstr(text, names[_i][1]), "%s", text);
	free(text);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

static void check_order(const struct qz_stacks *s)
{
	bool *seen = calloc((size_t)s->n + 1, sizeof(*seen));

	ck_assert_ptr_nonnull(seen);
	for (uint32_t i = 0; i < s->n; i++) {
		const struct qz_stack *stack = &s->stacks[s->order[i]];
		uint32_t above = stack->parent, before = i ? s->order[i - 1] : QZ_NONE;

		ck_assert(!seen[s->order[i]]);
		seen[s->order[i]] = true;
		ck_assert(above == QZ_NONE || seen[above]);
		/* what it calls follows at once: the one before is its caller, or below that */
		while (before != above && before != QZ_NONE)
			before = s->stacks[before].parent;
		ck_assert_uint_eq(before, above);
	}
	free(seen);
}

START_TEST(sums_are_those_of_reports)
{
	struct qz_profile *p = _i ? fixture__random((unsigned int)_i) : fixture__everything();
	uint64_t norm = 0, spin = 0, blocked = 0, sums[QZ_STACK_VALUES] = {0};
	struct qz_report **reports = calloc(p->nscopes, sizeof(*reports));
	struct qz_stacks *s;

	ck_assert_ptr_nonnull(reports);
	for (uint32_t i = 0; i < p->nscopes; i++) {
		reports[i] = report_of(p, i);
		norm += reports[i]->busy_ns;
		spin += reports[i]->spin_ns;
		blocked += reports[i]->waits.blocked_ns - reports[i]->waits.idle_ns;
	}
	s = qz_stacks__new((const struct qz_report *const *)reports, p->nscopes);
	ck_assert_ptr_nonnull(s);
	check_order(s);
	for (uint32_t i = 0; i < s->n; i++)
		for (int v = 0; v < QZ_STACK_VALUES; v++)
			sums[v] += s->stacks[i].values[v];
	for (int v = 0; v < QZ_STACK_VALUES; v++)
		ck_assert_uint_eq(sums[v], s->sums[v]);
	ck_assert_uint_eq(s->sums[QZ_STACK_NORM], norm);
	ck_assert_uint_eq(s->sums[QZ_STACK_SPIN], spin);
	ck_assert_uint_eq(s->sums[QZ_STACK_BLOCKED], blocked);
	qz_stacks__free(s);
	for (uint32_t i = 0; i < p->nscopes; i++)
		qz_report__free(reports[i]);
	free(reports);
	qz_profile__free(p);
}
END_TEST

/* A location of 1000 inlined procedures, 17 times on one stack. */
START_TEST(stacks_have_a_limit)
{
	static const uint64_t level_ns[] = {0, 1000, 0};
	struct qz_line lines[1000];
	struct qz_location loc = {.mapping = QZ_NONE, .nlines = 1000, .lines = lines};
	struct qz_sample sample = {.object = QZ_NONE, .level = 1, .busy = 1, .count = 1};
	struct fixture f = fixture__new();
	struct qz_report *r;
	int64_t node = 0;

	fixture__scope(&f, level_ns, 3);
	fixture__thread(&f, 0, 11);
	fixture__stack(&f, "main");
	for (int i = 0; i < 1000; i++)
		lines[i] = (struct qz_line) {.procedure = fixture__procedure(f.p, "main")};
	for (int i = 0; i < 17 && node >= 0; i++)
		node = qz_profile__intern_node(f.p, (uint32_t)node,
					       (uint32_t)qz_profile__intern_location(f.p, &loc));
	ck_assert_int_gt(node, 0);
	sample.node = (uint32_t)node;
	ck_assert_int_eq(qz_profile__add_samples(f.p, &sample), 0);
	ck_assert_int_eq(qz_estimate__profile(f.p), 0);
	r = report_of(f.p, 0);
	ck_assert_ptr_null(qz_stacks__new((const struct qz_report *const[]) {r}, 1));
	ck_assert_int_eq(errno, E2BIG);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

static int write_all(const struct qz_report *r, FILE *out)
{
	static const struct qz_event_trace_record event = {.time_ns = 1001, .pid = 1, .tid = 2};
	const struct qz_report *const reports[] = {r};
	struct qz_stacks *s = qz_stacks__new(reports, 1);
	int err = s ? 0 : -errno;

	err = err ? err : qz_folded__write(out, s, QZ_STACK_CPU);
	err = err ? err : qz_speedscope__write(out, s, "name");
	err = err ? err : qz_csv__write(out, reports, 1);
	err = err ? err : qz_trace_events__write(out, reports, 1, &event, 1);
	qz_stacks__free(s);
	return err;
}

START_TEST(formats_report_lack_of_memory)
{
	struct qz_profile *p = fixture__everything();
	struct qz_report *r = report_of(p, 0);
	FILE *out = fopen("/dev/null", "w");
	int err = -ENOMEM;

	ck_assert_ptr_nonnull(out);
	for (unsigned int n = 1; err; n++) {
		failing__arm(n);
		err = write_all(r, out);
		ck_assert_int_eq(failing__disarm(), err == -ENOMEM);
	}
	fclose(out);
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

Suite *suite_export(void)
{
	Suite *s = suite_create("export");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, known_stacks);
	tcase_add_loop_test(tc, names_are_no_formulas, 0, 6);
	tcase_add_loop_test(tc, sums_are_those_of_reports, 0, 20);
	tcase_add_test(tc, stacks_have_a_limit);
	tcase_add_test(tc, formats_report_lack_of_memory);
	suite_add_tcase(s, tc);
	return s;
}
