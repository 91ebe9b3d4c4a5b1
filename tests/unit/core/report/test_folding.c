/* SPDX-License-Identifier: GPL-2.0-only */
/* Which rows are folded, in what order rows are, and what the tree of calls shows. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/estimate/estimate.h"
#include "core/report/ranking.h"
#include "core/report/tree.h"
#include "tests/unit/failing.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define SECOND 1000000000ull

static void set_module(struct qz_profile *p, const char *name, const char *module)
{
	struct qz_procedure *proc = &p->procedures[fixture__procedure(p, name)];

	free(proc->module);
	proc->module = strdup(module);
	ck_assert_ptr_nonnull(proc->module);
}

/*
 * 10 s: main starts threads that go through thunk and run to work, which computes by itself, in hot below wrap, and in
 * the kernel; it waits 4 s in work. ping and pong call each other and nothing else.
 */
static struct fixture known(void)
{
	static const uint64_t level_ns[] = {0, 10 * SECOND, 0};
	struct qz_wait wait = {.object = QZ_NONE, .count = 1, .blocked_ns = 4 * SECOND};
	struct fixture f = fixture__new();

	fixture__scope(&f, level_ns, 3);
	fixture__thread(&f, 0, 11);
	fixture__samples(&f, 0, 0, "_start main [thread] thunk run work", 1, 200);
	fixture__samples(&f, 0, 0, "_start main [thread] thunk run work wrap hot", 1, 500);
	fixture__samples(&f, 0, 0, "_start main [thread] thunk run work entry __x64_sys_futex deep",
			 1, 100);
	fixture__samples(&f, 0, 0, "_start main ping pong ping pong", 1, 200);
	fixture__wait(&f, &wait, "_start main [thread] thunk run work", "futex");
	if (!f.err)
		f.err = qz_estimate__profile(f.p);
	ck_assert_int_eq(f.err, 0);
	set_module(f.p, "entry", "[kernel]");
	set_module(f.p, "__x64_sys_futex", "[kernel]");
	set_module(f.p, "deep", "[kernel]");
	return f;
}

static bool is_folded(const struct qz_report *r, const struct qz_folding *f, const char *name)
{
	uint32_t procedure = fixture__procedure(r->profile, name);

	for (uint32_t i = 0; i < r->nrows; i++)
		if (r->rows[i].procedure == procedure)
			return f->folded[i];
	ck_abort_msg("%s has no row", name);
}

START_TEST(wrappers_are_folded)
{
	struct fixture f = known();
	struct qz_report *r = qz_report__new(f.p, 0);
	struct qz_folding folding;

	ck_assert_int_eq(qz_folding__find(r, &folding), 0);
	ck_assert(is_folded(r, &folding, "_start"));
	ck_assert(is_folded(r, &folding, "thunk"));
	ck_assert(is_folded(r, &folding, "run"));
	ck_assert(is_folded(r, &folding, "wrap"));
	ck_assert(!is_folded(r, &folding, "main")); /* however like what it calls */
	ck_assert(!is_folded(r, &folding, "work")); /* has time of its own, and calls two */
	ck_assert(!is_folded(r, &folding, "hot"));
	ck_assert(is_folded(r, &folding, "ping") != is_folded(r, &folding, "pong"));
	ck_assert(is_folded(r, &folding, "deep"));
	ck_assert_uint_eq(folding.nwrappers, 5);
	ck_assert_uint_eq(folding.nkernel, 3);
	qz_folding__free(&folding);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

/* A phase that a program names by libquartz has no code of its own. */
START_TEST(what_a_program_names_stays)
{
	static const uint64_t level_ns[] = {0, 10 * SECOND, 0};
	struct fixture f = fixture__new();
	struct qz_folding folding;
	struct qz_report *r;

	fixture__scope(&f, level_ns, 3);
	fixture__thread(&f, 0, 11);
	fixture__samples(&f, 0, 0, "main phase main", 1, 400);
	fixture__samples(&f, 0, 0, "main wrap work", 1, 100);
	if (!f.err)
		f.err = qz_estimate__profile(f.p);
	ck_assert_int_eq(f.err, 0);
	set_module(f.p, "phase", "[libquartz]");
	set_module(f.p, "wrap", "[libquartz]");
	r = qz_report__new(f.p, 0);
	ck_assert_int_eq(qz_folding__find(r, &folding), 0);
	ck_assert(!is_folded(r, &folding, "phase"));
	ck_assert(!is_folded(r, &folding, "wrap"));
	qz_folding__free(&folding);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(the_kernel_is_one_row_for_each_way_into_it)
{
	struct fixture f = known();
	struct qz_report *r = qz_report__new(f.p, 0);
	struct qz_kernel_rows rows;

	ck_assert_int_eq(qz_kernel_rows__find(r, &rows), 0);
	ck_assert_uint_eq(rows.n, 1);
	ck_assert_str_eq(rows.rows[0].label, "kernel: futex calls");
	ck_assert_uint_eq(rows.rows[0].figure.norm_ns, SECOND);
	ck_assert_uint_eq(rows.rows[0].waits.blocked_ns, 4 * SECOND); /* no frame of the kernel */
	qz_kernel_rows__free(&rows);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

/* Who calls what others call too, or waits by itself, says something. */
START_TEST(what_says_something_stays)
{
	static const uint64_t level_ns[] = {0, 10 * SECOND, 0};
	struct qz_wait wait = {.object = QZ_NONE, .count = 1, .blocked_ns = 2 * SECOND};
	struct fixture f = fixture__new();
	struct qz_folding folding;
	struct qz_report *r;

	fixture__scope(&f, level_ns, 3);
	fixture__thread(&f, 0, 11);
	fixture__samples(&f, 0, 0, "main one solve", 1, 400);
	fixture__samples(&f, 0, 0, "main two solve", 1, 600);
	fixture__samples(&f, 0, 0, "main log __write", 1, 600);
	fixture__samples(&f, 0, 0, "main slow fast", 1, 600);
	fixture__wait(&f, &wait, "main slow", "sleep");
	if (!f.err)
		f.err = qz_estimate__profile(f.p);
	ck_assert_int_eq(f.err, 0);
	r = qz_report__new(f.p, 0);
	ck_assert_int_eq(qz_folding__find(r, &folding), 0);
	ck_assert(!is_folded(r, &folding, "one"));
	ck_assert(!is_folded(r, &folding, "two"));
	ck_assert(!is_folded(r, &folding, "log"));
	ck_assert(!is_folded(r, &folding, "slow"));
	ck_assert_uint_eq(folding.nwrappers, 0);
	qz_folding__free(&folding);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

/* ---- sorting ---- */

static uint64_t key_of(const struct qz_report *r, const struct qz_ranked *ranked,
		       enum qz_rank_key key)
{
	const struct qz_row *row = &r->rows[ranked->row];

	ck_assert_int_eq(ranked->kind, QZ_RANK_PROCEDURES);
	switch (key) {
	case QZ_RANK_BY_SELF:
		return row->self.norm_ns;
	case QZ_RANK_BY_BLOCKED:
		return row->total_waits.blocked_ns - row->total_waits.idle_ns;
	case QZ_RANK_BY_SPIN:
		return row->total.spin_ns;
	case QZ_RANK_BY_CPU:
		return row->self.cpu_ns;
	default:
		return row->total.norm_ns;
	}
}

START_TEST(rankings_are_sorted)
{
	struct qz_profile *p = fixture__random((unsigned int)_i);
	struct qz_report *r = qz_report__new(p, 1);
	struct qz_ranked *ranking;
	uint32_t n;

	ck_assert_int_eq(qz_ranking__rows(r, QZ_RANK_PROCEDURES, &ranking, &n), 0);
	for (enum qz_rank_key key = QZ_RANK_BY_TOTAL; key < QZ_RANK_BY_NAME; key++) {
		ck_assert_int_eq(qz_ranking__sort(r, NULL, key, ranking, n), 0);
		for (uint32_t i = 1; i < n; i++)
			ck_assert_uint_ge(key_of(r, &ranking[i - 1], key),
					  key_of(r, &ranking[i], key));
	}
	ck_assert_int_eq(qz_ranking__sort(r, NULL, QZ_RANK_BY_NAME, ranking, n), 0);
	for (uint32_t i = 1; i < n; i++)
		ck_assert_int_le(strcmp(p->procedures[r->rows[ranking[i - 1].row].procedure].name,
					p->procedures[r->rows[ranking[i].row].procedure].name),
				 0);
	free(ranking);
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

START_TEST(by_self_without_a_main)
{
	static const uint64_t level_ns[] = {0, 10 * SECOND};
	struct fixture f = known(), g = fixture__new();
	struct qz_report *r = qz_report__new(f.p, 0);

	ck_assert_int_eq(qz_ranking__key(r), QZ_RANK_BY_TOTAL);
	qz_report__free(r);
	qz_profile__free(f.p);
	fixture__scope(&g, level_ns, 2);
	fixture__samples(&g, 0, QZ_NONE, "start run", 1, 60);
	fixture__samples(&g, 0, QZ_NONE, "main", 1, 40);
	ck_assert_int_eq(g.err ?: qz_estimate__profile(g.p), 0);
	r = qz_report__new(g.p, 0);
	ck_assert_int_eq(qz_ranking__key(r), QZ_RANK_BY_SELF);
	qz_report__free(r);
	qz_profile__free(g.p);
}
END_TEST

/* ---- tree ---- */

/* "name depth total" of each branch, with blanks between. */
static void assert_tree(const struct qz_report *r, const struct qz_tree *tree, const char *expected)
{
	char text[1000] = "";
	size_t n = 0;

	for (uint32_t i = 0; i < tree->n; i++) {
		const struct qz_branch *b = &tree->branches[i];

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s %u %.0f", i ? ", " : "",
				      b->kernel ? b->kernel
						: r->profile->procedures[b->procedure].name,
				      b->depth, (double)b->total.norm_ns / 1e8);
	}
	ck_assert_str_eq(text, expected);
}

START_TEST(known_trees)
{
	struct fixture f = known();
	struct qz_report *r = qz_report__new(f.p, 0);
	struct qz_tree tree;

	ck_assert_int_eq(qz_tree__find(r, false, 20, 20, &tree), 0);
	assert_tree(r, &tree,
		    "main 0 100, work 1 80, hot 2 50, kernel: futex calls 2 10, pong 1 20");
	ck_assert_uint_eq(tree.branches[1].via, QZ_THREAD_START);
	ck_assert_uint_eq(tree.branches[1].wrappers, 2);
	ck_assert_uint_eq(tree.branches[1].self.norm_ns, 2 * SECOND);
	ck_assert_uint_eq(tree.branches[1].waits.blocked_ns, 4 * SECOND);
	ck_assert_uint_eq(tree.left_out, 0);
	qz_tree__free(&tree);

	/* the largest first, then in the order of calls */
	ck_assert_int_eq(qz_tree__find(r, false, 3, 20, &tree), 0);
	assert_tree(r, &tree, "main 0 100, work 1 80, hot 2 50");
	ck_assert_uint_eq(tree.left_out, 2);
	qz_tree__free(&tree);

	ck_assert_int_eq(qz_tree__find(r, false, 20, 2, &tree), 0);
	assert_tree(r, &tree, "main 0 100, work 1 80, pong 1 20");
	qz_tree__free(&tree);

	ck_assert_int_eq(qz_tree__find(r, true, 5, 20, &tree), 0);
	assert_tree(r, &tree, "_start 0 100, main 1 100, thunk 2 80, run 3 80, work 4 80");
	qz_tree__free(&tree);
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

/* The branches of one procedure, without those below another of them, have its total. */
START_TEST(outermost_branches_have_all_time)
{
	struct qz_profile *p = fixture__random((unsigned int)_i);
	struct qz_report *r = qz_report__new(p, 1);
	uint64_t outermost = 0, left = r->elapsed_ns / 1000 * QZ_TREE_PER_MILLE;
	struct qz_tree tree;

	ck_assert_int_eq(qz_tree__find(r, true, UINT32_MAX, UINT32_MAX, &tree), 0);
	for (uint32_t i = 0; i < tree.n; i++) {
		const struct qz_branch *b = &tree.branches[i];

		ck_assert_uint_le(b->self.norm_ns, b->total.norm_ns);
		if (i)
			ck_assert_uint_le(b->depth, tree.branches[i - 1].depth + 1);
		outermost += b->depth ? 0 : b->total.norm_ns;
	}
	ck_assert_uint_le(outermost, r->busy_ns);
	ck_assert_uint_ge(outermost + r->unattributed_ns + r->instrumentation_ns +
				  left * p->nprocedures,
			  r->busy_ns);
	qz_tree__free(&tree);
	qz_report__free(r);
	qz_profile__free(p);
}
END_TEST

START_TEST(views_report_lack_of_memory)
{
	struct fixture f = known();
	struct qz_report *r = qz_report__new(f.p, 0);
	struct qz_folding folding;
	struct qz_tree tree;
	int err = -ENOMEM;

	for (unsigned int n = 1; err; n++) {
		failing__arm(n);
		err = qz_folding__find(r, &folding);
		ck_assert_int_eq(failing__disarm(), err == -ENOMEM);
		qz_folding__free(&folding);
	}
	err = -ENOMEM;
	for (unsigned int n = 1; err; n++) {
		failing__arm(n);
		err = qz_tree__find(r, false, 20, 20, &tree);
		ck_assert_int_eq(failing__disarm(), err == -ENOMEM);
		qz_tree__free(&tree);
	}
	qz_report__free(r);
	qz_profile__free(f.p);
}
END_TEST

Suite *suite_folding(void)
{
	Suite *s = suite_create("folding");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, wrappers_are_folded);
	tcase_add_test(tc, what_a_program_names_stays);
	tcase_add_test(tc, the_kernel_is_one_row_for_each_way_into_it);
	tcase_add_test(tc, what_says_something_stays);
	tcase_add_loop_test(tc, rankings_are_sorted, 0, 20);
	tcase_add_test(tc, by_self_without_a_main);
	tcase_add_test(tc, known_trees);
	tcase_add_loop_test(tc, outermost_branches_have_all_time, 0, 20);
	tcase_add_test(tc, views_report_lack_of_memory);
	suite_add_tcase(s, tc);
	return s;
}
