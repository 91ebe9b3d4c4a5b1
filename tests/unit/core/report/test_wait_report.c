/* SPDX-License-Identifier: GPL-2.0-only */
/* Waits, objects and wake-ups in reports: what the parts say adds up to what the profile says. */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/estimate/estimate.h"
#include "core/report/state_breakdown.h"
#include "core/report/wait_report.h"
#include "core/report/wakeup_report.h"
#include "tests/unit/failing.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define RANDOM_PROFILES 30

static void add(struct qz_wait_figure *sum, const struct qz_wait_figure *f)
{
	sum->count += f->count;
	sum->blocked_ns += f->blocked_ns;
	sum->ready_ns += f->ready_ns;
}

static void assert_equal(const struct qz_wait_figure *a, const struct qz_wait_figure *b)
{
	ck_assert_uint_eq(a->count, b->count);
	ck_assert_uint_eq(a->blocked_ns, b->blocked_ns);
	ck_assert_uint_eq(a->ready_ns, b->ready_ns);
}

static void assert_causes(const struct qz_causes *causes, const struct qz_wait_figure *all)
{
	struct qz_wait_figure sum = {0};

	for (uint32_t i = 0; i < causes->n; i++) {
		add(&sum, &causes->rows[i].waits);
		if (i)
			ck_assert_uint_le(qz_wait_figure__time(&causes->rows[i].waits),
					  qz_wait_figure__time(&causes->rows[i - 1].waits));
	}
	assert_equal(&sum, all);
}

/* The innermost procedure of a stack, or QZ_NONE. */
static uint32_t innermost(const struct qz_profile *p, uint32_t node)
{
	uint32_t procedure;

	if (!node || !p->locations[p->nodes[node].location].nlines)
		return QZ_NONE;
	procedure = p->locations[p->nodes[node].location].lines[0].procedure;
	return p->procedures[procedure].kind == QZ_PROCEDURE ? procedure : QZ_NONE;
}

START_TEST(waits_add_up_by_procedure_and_cause)
{
	struct qz_profile *p = fixture__random((unsigned int)_i);
	struct qz_report *r = qz_report__new(p, 1);
	struct qz_wait_figure self = {0}, nowhere = {0}, all = {0};

	for (uint32_t i = 0; i < r->nrows; i++) {
		add(&self, &r->rows[i].self_waits);
		assert_causes(&r->rows[i].causes, &r->rows[i].total_waits);
	}
	for (uint32_t i = 0; i < p->nwaits; i++) {
		if (p->waits[i].scope != 1)
			continue;
		qz_wait_figure__add(&all, r, &p->waits[i]);
		if (innermost(p, p->waits[i].node) == QZ_NONE)
			qz_wait_figure__add(&nowhere, r, &p->waits[i]);
	}
	ck_assert_uint_gt(all.count, 0);
	assert_equal(&r->waits, &all);
	assert_causes(&r->causes, &all);
	add(&self, &nowhere);
	assert_equal(&self, &all);
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

START_TEST(waits_add_up_by_thread)
{
	struct qz_profile *p = fixture__random((unsigned int)_i);
	struct qz_report *r = qz_report__new(p, 0);
	struct qz_wait_figure threads = {0};

	for (uint32_t i = 0; i < p->nwaits; i++)
		if (p->waits[i].scope == 0 && p->waits[i].thread == QZ_NONE)
			qz_wait_figure__add(&threads, r, &p->waits[i]);
	for (uint32_t i = 0; i < r->nthreads; i++) {
		const struct qz_thread_row *row = &r->threads[i];

		add(&threads, &row->waits);
		ck_assert_int_eq(row->top_cause == QZ_NONE, !qz_wait_figure__time(&row->waits));
	}
	assert_equal(&threads, &r->waits);
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

START_TEST(objects_have_the_samples_that_carry_them)
{
	struct qz_profile *p = fixture__random((unsigned int)_i);
	struct qz_report *r = qz_report__new(p, 1);

	ck_assert_uint_eq(r->nobjects, 2);
	for (uint32_t i = 0; i < r->nobjects; i++) {
		const struct qz_object_row *row = &r->objects[i];
		uint64_t norm_ns = 0, blocked_ns = 0;

		for (uint32_t k = 0; k < p->nsamples; k++)
			if (p->samples[k].object == row->object)
				norm_ns += p->samples[k].norm_ns;
		for (uint32_t k = 0; k < p->nwaits; k++)
			if (p->waits[k].object == row->object)
				blocked_ns += p->waits[k].blocked_ns;
		ck_assert_uint_gt(norm_ns, 0);
		ck_assert_uint_eq(row->figure.norm_ns, norm_ns);
		ck_assert_uint_eq(row->waits.blocked_ns, blocked_ns);
		if (i)
			ck_assert_uint_le(norm_ns, r->objects[i - 1].figure.norm_ns);
	}
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

typedef int find_edges(const struct qz_report *r, uint32_t procedure, struct qz_edge **edges,
		       uint32_t *n);

static void assert_edges(const struct qz_report *r, const struct qz_row *row, find_edges *find)
{
	struct qz_wait_figure sum = {0};
	struct qz_edge *edges;
	uint32_t n;

	ck_assert_int_eq(find(r, row->procedure, &edges, &n), 0);
	for (uint32_t i = 0; i < n; i++)
		add(&sum, &edges[i].waits);
	assert_equal(&sum, &row->total_waits);
	qz_call_graph__free(edges, n);
}

START_TEST(edges_add_up_to_the_waits)
{
	struct qz_profile *p = fixture__random((unsigned int)_i);
	struct qz_report *r = qz_report__new(p, 0);

	for (uint32_t i = 0; i < r->nrows; i++) {
		assert_edges(r, &r->rows[i], qz_call_graph__callees);
		assert_edges(r, &r->rows[i], qz_call_graph__callers);
	}
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

static void assert_distributions(const struct qz_report *r, const struct qz_states *states)
{
	for (int i = 0; i < QZ_STATES; i++) {
		uint64_t sum = 0;

		for (uint32_t n = 0; n <= r->nlevels; n++)
			sum += states->all[i].nominal_ns[n];
		ck_assert_uint_eq(sum, states->all[i].ns);
	}
	assert_causes(&states->causes, &states->waits);
	ck_assert_uint_eq(states->all[QZ_STATE_BLOCKED].ns, states->waits.blocked_ns);
	ck_assert_uint_eq(states->all[QZ_STATE_READY].ns, states->waits.ready_ns);
}

START_TEST(states_add_up)
{
	struct qz_profile *p = fixture__random((unsigned int)_i);
	struct qz_report *r = qz_report__new(p, 0);
	struct qz_states states;

	for (uint32_t i = 0; i < r->nrows; i++) {
		const struct qz_row *row = &r->rows[i];

		ck_assert_int_eq(qz_state_breakdown__of_procedure(r, row->procedure, &states), 0);
		assert_distributions(r, &states);
		assert_equal(&states.waits, &row->total_waits);
		ck_assert_uint_eq(states.all[QZ_STATE_BUSY].ns + states.all[QZ_STATE_SPINNING].ns,
				  row->total.cpu_ns);
		qz_state_breakdown__clear(&states);
	}
	for (uint32_t i = 0; i < r->nobjects; i++) {
		ck_assert_int_eq(qz_state_breakdown__of_object(r, r->objects[i].object, &states),
				 0);
		assert_distributions(r, &states);
		assert_equal(&states.waits, &r->objects[i].waits);
		qz_state_breakdown__clear(&states);
	}
	ck_assert_int_eq(qz_state_breakdown__of_procedure(r, p->nprocedures, &states), -EINVAL);
	ck_assert_int_eq(qz_state_breakdown__of_object(r, p->nobjects, &states), -EINVAL);
	ck_assert_int_eq(qz_state_breakdown__of_object(r, 2, &states), -EINVAL);
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

START_TEST(stacks_add_up)
{
	struct qz_profile *p = fixture__random((unsigned int)_i);
	struct qz_report *r = qz_report__new(p, 1);

	for (uint32_t i = 0; i < r->nobjects; i++) {
		uint32_t object = r->objects[i].object, n;
		struct qz_wait_figure sum = {0};
		struct qz_stack_row *rows;
		uint64_t wakes = 0, wanted = 0;

		ck_assert_int_eq(qz_wakeup_report__waiters(r, object, &rows, &n), 0);
		for (uint32_t k = 0; k < n; k++)
			add(&sum, &rows[k].waits);
		assert_equal(&sum, &r->objects[i].waits);
		free(rows);
		ck_assert_int_eq(qz_wakeup_report__wakers(r, object, &rows, &n), 0);
		for (uint32_t k = 0; k < n; k++)
			wakes += rows[k].wakes;
		free(rows);
		for (uint32_t k = 0; k < p->nwakings; k++)
			wanted += p->wakings[k].object == object ? p->wakings[k].count : 0;
		ck_assert_uint_eq(wakes, wanted);
	}
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

START_TEST(woken_time_adds_up)
{
	struct qz_profile *p = fixture__random((unsigned int)_i);
	struct qz_report *r = qz_report__new(p, 1);
	struct qz_woken woken;
	uint64_t self = 0, all = 0;

	ck_assert_int_eq(qz_wakeup_report__woken(r, &woken), 0);
	for (uint32_t i = 0; i < woken.nrows; i++) {
		self += woken.rows[i].self_ns;
		ck_assert_uint_le(woken.rows[i].self_ns, woken.rows[i].total_ns);
		ck_assert_uint_le(woken.rows[i].total_ns, woken.woken_ns);
		if (i)
			ck_assert_uint_le(woken.rows[i].total_ns, woken.rows[i - 1].total_ns);
	}
	for (uint32_t i = 0; i < p->nwakings; i++)
		all += p->wakings[i].scope == 1 ? p->wakings[i].woken_ns : 0;
	ck_assert_uint_gt(all, 0);
	ck_assert_uint_eq(woken.woken_ns, all);
	ck_assert_uint_eq(self + woken.unattributed_ns, all);
	free(woken.rows);
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

static const struct qz_row *row_named(const struct qz_report *r, const char *name)
{
	for (uint32_t i = 0; i < r->nrows; i++)
		if (!strcmp(r->profile->procedures[r->rows[i].procedure].name, name))
			return &r->rows[i];
	ck_abort_msg("no row %s", name);
	return NULL;
}

/* A wait counts once for a procedure that is on its stack twice, and for who started the thread. */
START_TEST(known_waits)
{
	static const uint64_t level_ns[] = {100, 400, 0};
	struct fixture f = fixture__new();
	struct qz_wait wait = {.object = QZ_NONE, .nominal = 1, .count = 2, .blocked_ns = 30};
	struct qz_states states;
	struct qz_report *r;

	fixture__scope(&f, level_ns, 3);
	fixture__thread(&f, 0, 1);
	fixture__samples(&f, 0, 0, "main", 1, 5);
	fixture__wait(&f, &wait, "main f g f", "futex");
	wait.nominal = 9;
	wait.ready_ns = 10;
	fixture__wait(&f, &wait, "main [thread] g", "disk");
	ck_assert_int_eq(f.err, 0);
	ck_assert_int_eq(qz_estimate__profile(f.p), 0);
	r = qz_report__new(f.p, 0);
	ck_assert_uint_eq(row_named(r, "main")->total_waits.blocked_ns, 60);
	ck_assert_uint_eq(row_named(r, "main")->self_waits.blocked_ns, 0);
	ck_assert_uint_eq(row_named(r, "main")->causes.n, 2);
	ck_assert_uint_eq(row_named(r, "f")->total_waits.count, 2);
	ck_assert_uint_eq(row_named(r, "f")->self_waits.blocked_ns, 30);
	ck_assert_uint_eq(row_named(r, "g")->total_waits.blocked_ns, 60);
	ck_assert_uint_eq(row_named(r, "g")->self_waits.ready_ns, 10);
	ck_assert_int_eq(qz_state_breakdown__of_procedure(r, row_named(r, "g")->procedure, &states),
			 0);
	ck_assert_uint_eq(states.all[QZ_STATE_BLOCKED].nominal_ns[1], 30);
	ck_assert_uint_eq(states.all[QZ_STATE_BLOCKED].nominal_ns[3], 30);
	ck_assert_double_eq(states.all[QZ_STATE_BLOCKED].mean, 5);
	ck_assert_double_eq(states.all[QZ_STATE_READY].mean, 9);
	qz_state_breakdown__clear(&states);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

/* What is known of the sum leaves less doubt about its parts, and none about who calls them all. */
START_TEST(shares_of_a_known_sum_are_less_doubtful)
{
	static const uint64_t level_ns[] = {100, 400, 0};
	struct fixture f = fixture__new();
	struct qz_wait wait = {.object = QZ_NONE, .count = 2, .variance = 160000};
	struct qz_report *r;

	fixture__scope(&f, level_ns, 3);
	fixture__thread(&f, 0, 1);
	fixture__samples(&f, 0, 0, "main", 1, 5);
	wait.blocked_ns = 30;
	fixture__wait(&f, &wait, "main f", "futex");
	wait.blocked_ns = 10;
	fixture__wait(&f, &wait, "main g", "poll");
	wait.variance = 0;
	fixture__wait(&f, &wait, "main h", "poll");
	ck_assert_int_eq(f.err, 0);
	ck_assert_int_eq(qz_estimate__profile(f.p), 0);
	r = qz_report__new(f.p, 0);
	/* a quarter of it, squared, and three of the other's: 1.96 deviations of 1.024 us times 400 */
	ck_assert_uint_eq(qz_wait_figure__ci(&row_named(r, "f")->self_waits) / 1000,
			  (uint64_t)(1.959964 * sqrt(10. / 16) * 400 * 1.024));
	ck_assert_uint_eq(qz_wait_figure__ci(&row_named(r, "g")->self_waits) / 1000,
			  (uint64_t)(1.959964 * sqrt(10. / 16) * 400 * 1.024));
	ck_assert_uint_eq(qz_wait_figure__ci(&row_named(r, "h")->self_waits), 0);
	ck_assert_uint_eq(qz_wait_figure__ci(&row_named(r, "main")->total_waits), 0);
	ck_assert_uint_eq(qz_wait_figure__ci(&r->waits), 0);
	ck_assert_uint_eq(qz_wait_figure__ci(&r->threads[0].waits), 0);
	for (uint32_t i = 0; i < r->causes.n; i++)
		ck_assert_uint_eq(qz_wait_figure__ci(&r->causes.rows[i].waits), 0);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

/* ---- waits of which some tell their stacks ---- */

#define TOLD 400 /* in a run */

struct told {
	unsigned int seed;
	uint64_t truth[2];   /* of two places */
	uint64_t charged[2]; /* to them */
	uint64_t variance[2];
};

/* Waits of a tenth of a millisecond, most of them shorter, at two places in no order; the first of them tells which. */
static void wait_and_tell(struct told *l, uint32_t waits)
{
	int told = rand_r(&l->seed) % 10 < 3, place = told;
	uint64_t doubtful = 0;

	for (uint32_t i = 0; i < waits; i++) {
		double chance = (rand_r(&l->seed) + 1.0) / ((double)RAND_MAX + 1);
		uint64_t ns = (uint64_t)(-log(chance) * 1e5);

		l->truth[place] += ns;
		l->charged[told] += ns;
		if (i) {
			doubtful += ns;
			l->variance[told] += (ns >> 10) * (ns >> 10);
		}
		place = rand_r(&l->seed) % 10 < 3;
	}
	l->variance[told] += (doubtful >> 10) * (doubtful >> 10);
}

/* Whether the interval of the second place has what it waited in truth. */
static bool has_the_truth(const struct told *l)
{
	static const uint64_t level_ns[] = {100, 400};
	static const char *const places[] = {"main f", "main g"};
	struct qz_wait wait = {.object = QZ_NONE, .count = 1};
	struct fixture f = fixture__new();
	struct qz_report *r;
	const struct qz_wait_figure *g;
	double off, ci;

	fixture__scope(&f, level_ns, 2);
	fixture__thread(&f, 0, 1);
	fixture__samples(&f, 0, 0, "main", 1, 5);
	for (int i = 0; i < 2; i++) {
		wait.blocked_ns = l->charged[i];
		wait.variance = l->variance[i];
		fixture__wait(&f, &wait, places[i], "poll");
	}
	ck_assert_int_eq(f.err, 0);
	ck_assert_int_eq(qz_estimate__profile(f.p), 0);
	r = qz_report__new(f.p, 0);
	g = &row_named(r, "g")->self_waits;
	off = fabs((double)g->blocked_ns - (double)l->truth[1]);
	ci = (double)qz_wait_figure__ci(g);
	qz_report__free(r);
	qz_profile__free(f.p);
	return off <= ci;
}

/* Of many runs, 95 in 100 at least: with 2 to 128 waits of which one tells. */
START_TEST(an_interval_of_waits_has_the_truth)
{
	static const uint32_t waits[] = {2, 8, 128};
	const int runs = 1000;
	int covered = 0;

	for (int i = 0; i < runs; i++) {
		struct told l = {.seed = (unsigned int)i + 1};

		for (int j = 0; j < TOLD; j++)
			wait_and_tell(&l, waits[_i]);
		covered += has_the_truth(&l);
	}
	ck_assert_int_ge(covered, runs * 94 / 100);
}
END_TEST

START_TEST(objects_are_found_by_name)
{
	static const uint64_t level_ns[] = {100, 400};
	struct fixture f = fixture__new();
	struct qz_report *r;
	uint32_t found[4];

	fixture__scope(&f, level_ns, 2);
	fixture__object(&f, 0, QZ_OBJECT_MUTEX, "queue");
	fixture__object(&f, 0, QZ_OBJECT_CONDITION, "queue");
	fixture__object(&f, 0, QZ_OBJECT_MUTEX, "mutex in worker");
	ck_assert_int_eq(f.err, 0);
	r = qz_report__new(f.p, 0);
	ck_assert_uint_eq(qz_lookup__objects(r, "queue", found, 4), 2);
	ck_assert_uint_eq(qz_lookup__objects(r, "condition queue", found, 4), 1);
	ck_assert_uint_eq(found[0], 1);
	ck_assert_uint_eq(qz_lookup__objects(r, "mutex in worker", found, 4), 1);
	ck_assert_uint_eq(found[0], 2);
	ck_assert_uint_eq(qz_lookup__objects(r, "mutex", found, 4), 0);
	ck_assert_uint_eq(qz_lookup__objects(r, "mutexqueue", found, 4), 0);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

/* Each function in turn gets no memory at one of its allocations. */
START_TEST(lack_of_memory_is_reported)
{
	struct qz_profile *p = fixture__random(3);
	struct qz_report *r = qz_report__new(p, 0);
	struct qz_states states;
	struct qz_woken woken;
	struct qz_stack_row *rows;
	uint32_t n;
	int err = -ENOMEM;

	for (unsigned int i = 1; err; i++) {
		failing__arm(i);
		err = qz_state_breakdown__of_object(r, r->objects[0].object, &states);
		ck_assert_int_eq(failing__disarm(), err == -ENOMEM);
		qz_state_breakdown__clear(&states);
	}
	err = -ENOMEM;
	for (unsigned int i = 1; err; i++) {
		failing__arm(i);
		err = qz_wakeup_report__woken(r, &woken);
		ck_assert_int_eq(failing__disarm(), err == -ENOMEM);
	}
	free(woken.rows);
	err = -ENOMEM;
	for (unsigned int i = 1; err; i++) {
		failing__arm(i);
		err = qz_wakeup_report__wakers(r, r->objects[0].object, &rows, &n);
		ck_assert_int_eq(failing__disarm(), err == -ENOMEM);
	}
	free(rows);
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

Suite *suite_wait_report(void)
{
	Suite *s = suite_create("wait_report");
	TCase *tc = tcase_create("all");

	tcase_add_loop_test(tc, waits_add_up_by_procedure_and_cause, 0, RANDOM_PROFILES);
	tcase_add_loop_test(tc, waits_add_up_by_thread, 0, RANDOM_PROFILES);
	tcase_add_loop_test(tc, objects_have_the_samples_that_carry_them, 0, RANDOM_PROFILES);
	tcase_add_loop_test(tc, edges_add_up_to_the_waits, 0, RANDOM_PROFILES);
	tcase_add_loop_test(tc, states_add_up, 0, RANDOM_PROFILES);
	tcase_add_loop_test(tc, stacks_add_up, 0, RANDOM_PROFILES);
	tcase_add_loop_test(tc, woken_time_adds_up, 0, RANDOM_PROFILES);
	tcase_add_test(tc, known_waits);
	tcase_add_test(tc, shares_of_a_known_sum_are_less_doubtful);
	tcase_add_loop_test(tc, an_interval_of_waits_has_the_truth, 0, 3);
	tcase_add_test(tc, objects_are_found_by_name);
	tcase_add_test(tc, lack_of_memory_is_reported);
	suite_add_tcase(s, tc);
	return s;
}
