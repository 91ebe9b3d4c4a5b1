/* SPDX-License-Identifier: GPL-2.0-only */
/* One profile of the pollers' samples and the kernel's. */
#include <math.h>
#include <stdlib.h>

#include "core/estimate/estimate.h"
#include "core/report/report.h"
#include "daemon/shm/poll_join.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

struct run {
	struct fixture f;
	struct poll_join *join;
};

/* Two threads on two processors; the first one is polled. */
static struct run run_new(void)
{
	static const uint64_t level_ns[] = {0, 1000000, 500000};
	struct run run = {.f = fixture__new()};

	fixture__scope(&run.f, level_ns, 3);
	fixture__thread(&run.f, 0, 10);
	fixture__thread(&run.f, 0, 11);
	run.join = poll_join__new(run.f.p);
	ck_assert_ptr_nonnull(run.join);
	return run;
}

static void run_free(struct run *run)
{
	ck_assert_int_eq(run->f.err, 0);
	poll_join__free(run->join);
	qz_profile__free(run->f.p);
}

static void polled(struct run *run, const char *stack, uint32_t level, uint64_t count)
{
	struct qz_sample s = {.level = level, .busy = level, .object = QZ_NONE, .count = count};

	s.node = fixture__stack(&run->f, stack);
	ck_assert_int_eq(poll_join__add(run->join, &s), 0);
}

/* The kernel's samples of the first thread, whose profile stack is the first part of theirs. */
static void kernel(struct run *run, const char *stack, const char *leaf, uint32_t level,
		   uint64_t count)
{
	if (!count)
		return;
	fixture__samples(&run->f, 0, 0, leaf, level, count);
	ck_assert_int_eq(poll_join__leaf(run->join, fixture__stack(&run->f, leaf),
					 fixture__stack(&run->f, stack)),
			 0);
}

static const struct qz_sample *sample(const struct run *run, uint32_t thread, uint32_t node,
				      uint32_t level)
{
	const struct qz_profile *p = run->f.p;

	for (uint32_t i = 0; i < p->nsamples; i++)
		if (p->samples[i].thread == thread && p->samples[i].node == node &&
		    p->samples[i].level == level)
			return &p->samples[i];
	ck_abort_msg("no sample of thread %u at level %u", thread, level);
	return NULL;
}

#define ck_sample(run, thread, stack, level, count_, below_, seen_)                                \
	do {                                                                                       \
		const struct qz_sample *s_ =                                                       \
			sample(run, thread, fixture__stack(&(run)->f, stack), level);              \
		ck_assert_uint_eq(s_->count, count_);                                              \
		ck_assert_uint_eq(s_->below, below_);                                              \
		ck_assert_uint_eq(s_->seen, seen_);                                                \
	} while (0)

static struct run known(void)
{
	struct run run = run_new();

	kernel(&run, "main work", "main work leaf", 1, 6);
	kernel(&run, "main work", "main work", 1, 2);
	kernel(&run, "main work", "main work leaf", 2, 2);
	fixture__samples(&run.f, 0, 1, "other", 2, 3);
	polled(&run, "main work", 1, 80);
	polled(&run, "main work", 2, 50);
	polled(&run, "main idle", 2, 10);
	return run;
}

/* Shares are those of all levels: 8 of 10 were in leaf. The thread that is not polled is seen 30 times more
 * often, as the polled one is at that level. */
START_TEST(polled_samples_are_shared_out)
{
	struct run run = known();

	ck_assert_int_eq(poll_join__apply(run.join), 0);
	ck_sample(&run, 0, "main work leaf", 1, 64, 3, 10);
	ck_sample(&run, 0, "main work", 1, 16, 3, 10);
	ck_sample(&run, 0, "main work leaf", 2, 40, 3, 10);
	ck_sample(&run, 0, "main work", 2, 10, 3, 10);
	ck_sample(&run, 0, "main idle", 2, 10, 0, 0);
	ck_sample(&run, 1, "other", 2, 90, 0, 3);
	run_free(&run);
}
END_TEST

START_TEST(the_kernels_come_back)
{
	struct run run = known();

	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(poll_join__apply(run.join), 0);
		ck_assert_int_eq(qz_estimate__profile(run.f.p), 0);
	}
	ck_sample(&run, 0, "main work leaf", 1, 64, 3, 10);
	poll_join__restore(run.join);
	ck_sample(&run, 0, "main work leaf", 1, 6, 0, 0);
	ck_sample(&run, 0, "main work", 2, 0, 0, 0);
	ck_sample(&run, 1, "other", 2, 3, 0, 0);
	run_free(&run);
}
END_TEST

/* ---- intervals ---- */

static double chance(unsigned int *seed)
{
	return rand_r(seed) / (RAND_MAX + 1.0);
}

/* 2000 polled samples, 0.6 of them in work; of the kernel's 200, 0.3 of those below work are in leaf. */
static void draw(struct run *run, unsigned int *seed)
{
	uint64_t work = 0, leaf = 0, body = 0;

	for (int i = 0; i < 2000; i++)
		work += chance(seed) < 0.6;
	for (int i = 0; i < 200; i++) {
		if (chance(seed) >= 0.6)
			continue;
		if (chance(seed) < 0.3)
			leaf++;
		else
			body++;
	}
	polled(run, "main work", 1, work);
	polled(run, "main rest", 1, 2000 - work);
	kernel(run, "main work", "main work leaf", 1, leaf);
	kernel(run, "main work", "main work", 1, body);
	kernel(run, "main rest", "main rest", 1, 200 - leaf - body);
}

static bool covers(const struct qz_report *r, const char *name, double truth)
{
	uint32_t procedure = fixture__procedure(r->profile, name);

	for (uint32_t i = 0; i < r->nrows; i++)
		if (r->rows[i].procedure == procedure)
			return fabs((double)r->rows[i].total.norm_ns - truth) <=
			       (double)r->rows[i].total.ci_ns;
	return false;
}

/* Repeating the experiment: both the polled and the sampled share are in their intervals 95 times of 100. */
START_TEST(intervals_cover_the_truth)
{
	unsigned int seed = 1;
	int work = 0, leaf = 0;

	for (int round = 0; round < 1000; round++) {
		struct run run = run_new();
		struct qz_report *r;

		run.f.p->scopes[0].level_ns[2] = 0;
		draw(&run, &seed);
		ck_assert_int_eq(poll_join__apply(run.join), 0);
		ck_assert_int_eq(qz_estimate__profile(run.f.p), 0);
		r = qz_report__new(run.f.p, 0);
		work += covers(r, "work", 0.6 * 1000000);
		leaf += covers(r, "leaf", 0.18 * 1000000);
		qz_report__free(r);
		run_free(&run);
	}
	ck_assert_int_ge(work, 925);
	ck_assert_int_le(work, 975);
	ck_assert_int_ge(leaf, 925);
	ck_assert_int_le(leaf, 975);
}
END_TEST

Suite *suite_poll_join(void)
{
	Suite *s = suite_create("poll_join");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, polled_samples_are_shared_out);
	tcase_add_test(tc, the_kernels_come_back);
	tcase_add_test(tc, intervals_cover_the_truth);
	suite_add_tcase(s, tc);
	return s;
}
