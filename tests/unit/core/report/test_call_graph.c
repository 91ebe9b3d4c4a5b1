/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>

#include "core/report/report.h"
#include "core/estimate/estimate.h"
#include "tests/unit/failing.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define RANDOM_PROFILES 50

typedef int edges_of(const struct qz_report *r, uint32_t procedure, struct qz_edge **edges,
		     uint32_t *n);

static void assert_sum(const struct qz_report *r, const struct qz_row *row, edges_of *of)
{
	struct qz_figure sum = {0};
	struct qz_edge *edges;
	uint32_t n;

	ck_assert_int_eq(of(r, row->procedure, &edges, &n), 0);
	for (uint32_t i = 0; i < n; i++) {
		sum.norm_ns += edges[i].figure.norm_ns;
		sum.cpu_ns += edges[i].figure.cpu_ns;
		sum.samples += edges[i].figure.samples;
		if (i > 0)
			ck_assert_uint_le(edges[i].figure.norm_ns, edges[i - 1].figure.norm_ns);
	}
	ck_assert_uint_eq(sum.norm_ns, row->total.norm_ns);
	ck_assert_uint_eq(sum.cpu_ns, row->total.cpu_ns);
	ck_assert_uint_eq(sum.samples, row->total.samples);
	for (uint32_t level = 0; level < r->nlevels; level++) {
		uint64_t cpu = 0;

		for (uint32_t i = 0; i < n; i++)
			cpu += edges[i].figure.level_cpu_ns[level];
		ck_assert_uint_eq(cpu, row->total.level_cpu_ns[level]);
	}
	qz_call_graph__free(edges, n);
}

START_TEST(edges_sum_to_the_total)
{
	struct qz_profile *p = fixture__random((unsigned int)_i);
	struct qz_report *r = qz_report__new(p, 0);

	for (uint32_t i = 0; i < r->nrows; i++) {
		assert_sum(r, &r->rows[i], qz_call_graph__callees);
		assert_sum(r, &r->rows[i], qz_call_graph__callers);
	}
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

/* The stacks of this profile, each with a number of samples and of nanoseconds of its own. */
static struct fixture known(void)
{
	static const uint64_t level_ns[] = {0, 0xff};
	static const char *const stacks[] = {
		"main f",			   /* 0x01 */
		"main f g",			   /* 0x02 */
		"main f g f h",			   /* 0x04: recursive, the outer f decides */
		"main f [thread] g",		   /* 0x08 */
		"main f [process] [truncated] g",  /* 0x10: of two markers the vaguest */
		"main f [thread]",		   /* 0x20 */
		"[truncated] f+i",		   /* 0x40: an inlined callee */
		"main [thread] work [process] f g" /* 0x80 */
	};
	struct fixture f = fixture__new();

	fixture__scope(&f, level_ns, 2);
	fixture__thread(&f, 0, 1);
	for (int i = 0; i < 8; i++)
		fixture__samples(&f, 0, 0, stacks[i], 1, 1u << i);
	if (!f.err)
		f.err = qz_estimate__profile(f.p);
	ck_assert_int_eq(f.err, 0);
	return f;
}

struct expected {
	const char *name; /* NULL: the end of the stack */
	uint32_t via;
	uint64_t norm_ns;
};

static void assert_edges(const char *name, edges_of *of, const struct expected *expected,
			 uint32_t nexpected)
{
	struct fixture f = known();
	struct qz_report *r = qz_report__new(f.p, 0);
	struct qz_edge *edges;
	uint32_t n;

	ck_assert_int_eq(of(r, fixture__procedure(f.p, name), &edges, &n), 0);
	ck_assert_uint_eq(n, nexpected);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t end = expected[i].name ? fixture__procedure(f.p, expected[i].name)
						: QZ_NONE;

		ck_assert_uint_eq(edges[i].procedure, end);
		ck_assert_uint_eq(edges[i].via, expected[i].via);
		ck_assert_uint_eq(edges[i].figure.norm_ns, expected[i].norm_ns);
		ck_assert_uint_eq(edges[i].figure.samples, expected[i].norm_ns);
		ck_assert_uint_ne(edges[i].figure.ci_ns, 0);
	}
	qz_call_graph__free(edges, n);
	qz_report__free(r);
	qz_profile__free(f.p);
}

START_TEST(known_callees)
{
	static const struct expected of_f[] = {
		{"g", QZ_PROCEDURE, 0x86},     {"i", QZ_PROCEDURE, 0x40},
		{NULL, QZ_THREAD_START, 0x20}, {"g", QZ_TRUNCATED, 0x10},
		{"g", QZ_THREAD_START, 0x08},  {NULL, QZ_PROCEDURE, 0x01},
	};
	static const struct expected of_main[] = {
		{"work", QZ_THREAD_START, 0x80},
		{"f", QZ_PROCEDURE, 0x3f},
	};

	assert_edges("f", qz_call_graph__callees, of_f, 6);
	assert_edges("main", qz_call_graph__callees, of_main, 2);
}
END_TEST

START_TEST(known_callers)
{
	static const struct expected of_f[] = {
		{"work", QZ_PROCESS_START, 0x80},
		{NULL, QZ_TRUNCATED, 0x40},
		{"main", QZ_PROCEDURE, 0x3f},
	};
	static const struct expected of_g[] = {
		{"f", QZ_PROCEDURE, 0x86},
		{"f", QZ_TRUNCATED, 0x10},
		{"f", QZ_THREAD_START, 0x08},
	};
	static const struct expected of_main[] = {{NULL, QZ_PROCEDURE, 0xbf}};

	assert_edges("f", qz_call_graph__callers, of_f, 3);
	assert_edges("g", qz_call_graph__callers, of_g, 3);
	assert_edges("main", qz_call_graph__callers, of_main, 1);
}
END_TEST

START_TEST(only_procedures_have_edges)
{
	struct fixture f = known();
	struct qz_report *r = qz_report__new(f.p, 0);
	struct qz_edge *edges;
	uint32_t n;

	ck_assert_int_eq(qz_call_graph__callees(r, f.p->nprocedures, &edges, &n), -EINVAL);
	ck_assert_int_eq(qz_call_graph__callers(r, fixture__procedure(f.p, "[thread]"), &edges, &n),
			 -EINVAL);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

/* To sampled edges and to others alike, whatever was called through a marker. */
START_TEST(counted_calls_have_edges)
{
	struct fixture f = known();
	struct qz_report *r;
	struct qz_edge *edges;
	uint32_t n, g;

	fixture__calls(&f, 0, "f", "g", 5);
	fixture__calls(&f, 0, "f", "h", 1000);
	fixture__calls(&f, 0, "g", "f", 7);
	fixture__calls(&f, 0, NULL, "f", 3);
	ck_assert_int_eq(f.err, 0);
	g = fixture__procedure(f.p, "g");
	r = qz_report__new(f.p, 0);
	ck_assert_int_eq(qz_call_graph__callees(r, fixture__procedure(f.p, "f"), &edges, &n), 0);
	ck_assert_uint_eq(n, 7);
	for (uint32_t i = 0; i < n; i++)
		ck_assert_uint_eq(edges[i].calls,
				  edges[i].via == QZ_PROCEDURE && edges[i].procedure == g ? 5
				  : i == 6						  ? 1000
											  : 0);
	ck_assert_uint_eq(edges[6].procedure, fixture__procedure(f.p, "h"));
	ck_assert_uint_eq(edges[6].figure.norm_ns, 0);
	qz_call_graph__free(edges, n);
	ck_assert_int_eq(qz_call_graph__callers(r, fixture__procedure(f.p, "f"), &edges, &n), 0);
	ck_assert_uint_eq(n, 5);
	ck_assert_uint_eq(edges[3].calls, 7);
	ck_assert_uint_eq(edges[3].procedure, g);
	ck_assert_uint_eq(edges[4].calls, 3);
	ck_assert_uint_eq(edges[4].procedure, QZ_NONE);
	qz_call_graph__free(edges, n);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(edges_report_lack_of_memory)
{
	struct fixture f = known();
	struct qz_report *r = qz_report__new(f.p, 0);
	uint32_t procedure = fixture__procedure(f.p, "f");
	struct qz_edge *edges;
	uint32_t count;
	int err = -ENOMEM;

	for (unsigned int n = 1; err; n++) {
		failing__arm(n);
		err = qz_call_graph__callees(r, procedure, &edges, &count);
		ck_assert_int_eq(failing__disarm(), err == -ENOMEM);
	}
	ck_assert_uint_eq(count, 6);
	qz_call_graph__free(edges, count);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

Suite *suite_call_graph(void)
{
	Suite *s = suite_create("call_graph");
	TCase *tc = tcase_create("all");

	tcase_add_loop_test(tc, edges_sum_to_the_total, 0, RANDOM_PROFILES);
	tcase_add_test(tc, known_callees);
	tcase_add_test(tc, known_callers);
	tcase_add_test(tc, only_procedures_have_edges);
	tcase_add_test(tc, counted_calls_have_edges);
	tcase_add_test(tc, edges_report_lack_of_memory);
	suite_add_tcase(s, tc);
	return s;
}
