/* SPDX-License-Identifier: GPL-2.0-only */
/* Slices of a run put together are the run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/estimate/estimate.h"
#include "core/transform/merge.h"
#include "core/format/pprof.h"
#include "core/transform/slices.h"
#include "tests/unit/failing.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define SEEDS  12
#define SLICES 7

static uint64_t part_of(uint64_t figure, uint32_t done)
{
	return done == SLICES ? figure : figure / SLICES * done;
}

/* The run as it stood when `done` of its SLICES parts were over. */
static void set_back(struct qz_profile *p, const struct qz_profile *whole, uint32_t done)
{
	p->window_ns = part_of(whole->window_ns, done);
	p->ledger.expected = part_of(whole->ledger.expected, done);
	p->ledger.accepted = part_of(whole->ledger.accepted, done);
	p->ledger.filtered = part_of(whole->ledger.filtered, done);
	for (uint32_t i = 0; i < p->ledger.nlosses; i++)
		p->ledger.losses[i].count = part_of(whole->ledger.losses[i].count, done);
	for (uint32_t i = 0; i < p->ledger.nevents; i++)
		p->ledger.events[i].count = part_of(whole->ledger.events[i].count, done);
	for (uint32_t i = 0; i < p->nscopes; i++) {
		struct qz_scope *s = &p->scopes[i];
		const struct qz_scope *w = &whole->scopes[i];

		s->elapsed_ns = 0;
		for (uint32_t k = 0; k < s->nlevels; k++) {
			s->level_ns[k] = part_of(w->level_ns[k], done);
			s->elapsed_ns += s->level_ns[k];
		}
		s->cpu_ns = part_of(w->cpu_ns, done);
		s->runnable_ns = part_of(w->runnable_ns, done);
		s->samples = part_of(w->samples, done);
		s->counters.threads_seen = part_of(w->counters.threads_seen, done);
		for (uint32_t k = 0; k < s->nstack_ends; k++)
			s->stack_ends[k].count = part_of(w->stack_ends[k].count, done);
	}
	for (uint32_t i = 0; i < p->nthreads; i++) {
		p->threads[i].cpu_ns = part_of(whole->threads[i].cpu_ns, done);
		p->threads[i].running_ns = part_of(whole->threads[i].running_ns, done);
		p->threads[i].ready_ns = part_of(whole->threads[i].ready_ns, done);
		p->threads[i].blocked_ns = part_of(whole->threads[i].blocked_ns, done);
	}
	for (uint32_t i = 0; i < p->nsamples; i++)
		p->samples[i].count = part_of(whole->samples[i].count, done);
	for (uint32_t i = 0; i < p->nwaits; i++) {
		p->waits[i].count = part_of(whole->waits[i].count, done);
		p->waits[i].blocked_ns = part_of(whole->waits[i].blocked_ns, done);
		p->waits[i].ready_ns = part_of(whole->waits[i].ready_ns, done);
	}
	for (uint32_t i = 0; i < p->nobjects; i++)
		for (int k = 0; k < QZ_QUEUE_LENGTHS; k++)
			p->objects[i].queue_ns[k] = part_of(whole->objects[i].queue_ns[k], done);
}

/* Written and read: what a slice is, it is as a file too. */
static struct qz_profile *reread(struct qz_profile *slice)
{
	FILE *file = tmpfile();
	const char *why = "";
	struct qz_profile *p;

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(qz_estimate__profile(slice), 0);
	ck_assert_int_eq(qz_pprof__write(slice, fileno(file)), 0);
	rewind(file);
	p = qz_pprof__read(fileno(file), &why);
	ck_assert_msg(p, "%s", why);
	fclose(file);
	qz_profile__free(slice);
	return p;
}

static void assert_scopes(const struct qz_profile *a, const struct qz_profile *b)
{
	ck_assert_uint_eq(a->nscopes, b->nscopes);
	for (uint32_t i = 0; i < a->nscopes; i++) {
		const struct qz_scope *x = &a->scopes[i], *y = &b->scopes[i];

		ck_assert_uint_eq(x->start_ns, y->start_ns);
		ck_assert_uint_eq(x->elapsed_ns, y->elapsed_ns);
		ck_assert_uint_eq(x->cpu_ns, y->cpu_ns);
		ck_assert_uint_eq(x->runnable_ns, y->runnable_ns);
		ck_assert_uint_eq(x->samples, y->samples);
		ck_assert_uint_eq(x->counters.threads_seen, y->counters.threads_seen);
		ck_assert_uint_eq(x->truncated, y->truncated);
		for (uint32_t k = 0; k < x->nlevels; k++)
			ck_assert_uint_eq(x->level_ns[k], y->level_ns[k]);
	}
}

/*
 * Groups may stand in another order, by which the last nanoseconds of a level are shared out. All together
 * have the same time, and each kind of them, but for these.
 */
static void assert_samples(const struct qz_profile *a, const struct qz_profile *b)
{
	uint64_t norm[2] = {0}, cpu[2] = {0}, count[2] = {0};
	int64_t busy = 0;

	ck_assert_uint_eq(a->nsamples, b->nsamples);
	for (uint32_t i = 0; i < a->nsamples; i++) {
		norm[0] += a->samples[i].norm_ns;
		norm[1] += b->samples[i].norm_ns;
		cpu[0] += a->samples[i].cpu_ns;
		cpu[1] += b->samples[i].cpu_ns;
		busy += (int64_t)(a->samples[i].cpu_ns * a->samples[i].busy);
		busy -= (int64_t)(b->samples[i].cpu_ns * b->samples[i].busy);
		count[0] += a->samples[i].count * (a->nodes[a->samples[i].node].depth + 1);
		count[1] += b->samples[i].count * (b->nodes[b->samples[i].node].depth + 1);
	}
	ck_assert_uint_eq(norm[0], norm[1]);
	ck_assert_uint_eq(cpu[0], cpu[1]);
	ck_assert_int_le(llabs(busy), a->nsamples);
	ck_assert_uint_eq(count[0], count[1]);
}

static void assert_waits(const struct qz_profile *a, const struct qz_profile *b)
{
	uint64_t x[3] = {0}, y[3] = {0};

	ck_assert_uint_eq(a->nwaits, b->nwaits);
	for (uint32_t i = 0; i < a->nwaits; i++) {
		const struct qz_wait *v = &a->waits[i], *w = &b->waits[i];

		x[0] += v->count * (v->nominal + 1);
		y[0] += w->count * (w->nominal + 1);
		x[1] += v->blocked_ns * (v->nominal + 1);
		y[1] += w->blocked_ns * (w->nominal + 1);
		x[2] += v->ready_ns * (v->nominal + 1);
		y[2] += w->ready_ns * (w->nominal + 1);
	}
	ck_assert_int_eq(memcmp(x, y, sizeof(x)), 0);
}

START_TEST(all_slices_are_the_run)
{
	struct qz_profile *whole = fixture__random(_i), *p = fixture__random(_i);
	struct qz_profile *merged = qz_profile__new();
	struct qz_slices *slices = qz_slices__new();

	ck_assert(whole && p && merged && slices);
	fixture__tell_apart(whole);
	fixture__tell_apart(p);
	qz_profile__drop_unattributed(whole);
	for (uint32_t done = 1; done <= SLICES; done++) {
		struct qz_profile *slice;

		qz_profile__drop_unattributed(p);
		set_back(p, whole, done);
		ck_assert_int_eq(qz_estimate__profile(p), 0);
		slice = qz_slices__cut(slices, p);
		ck_assert_ptr_nonnull(slice);
		slice = reread(slice);
		ck_assert_int_eq(qz_merge__profile(merged, slice), 0);
		qz_profile__free(slice);
	}
	ck_assert_int_eq(qz_estimate__profile(merged), 0);
	ck_assert_int_eq(qz_estimate__profile(whole), 0);
	ck_assert_uint_eq(merged->window_ns, whole->window_ns);
	ck_assert_uint_eq(merged->ledger.accepted, whole->ledger.accepted);
	ck_assert_uint_eq(qz_ledger__lost(&merged->ledger), qz_ledger__lost(&whole->ledger));
	assert_scopes(merged, whole);
	assert_samples(merged, whole);
	assert_waits(merged, whole);
	qz_profile__free(whole);
	qz_profile__free(p);
	qz_profile__free(merged);
	qz_slices__free(slices);
}
END_TEST

START_TEST(what_was_told_is_not_told_again)
{
	struct qz_profile *p = fixture__random(_i), *slice;
	struct qz_slices *slices = qz_slices__new();

	ck_assert(p && slices);
	fixture__tell_apart(p);
	for (uint32_t i = 0; i < p->nscopes; i++) {
		p->scopes[i].elapsed_ns = 0; /* it is the sum of the levels, which is told */
		for (uint32_t k = 0; k < p->scopes[i].nlevels; k++)
			p->scopes[i].elapsed_ns += p->scopes[i].level_ns[k];
	}
	ck_assert_int_eq(qz_slices__restart(slices, p), 0);
	slice = qz_slices__cut(slices, p);
	ck_assert_ptr_nonnull(slice);
	ck_assert_uint_eq(slice->nscopes, 0);
	ck_assert_uint_eq(slice->nthreads, 0);
	ck_assert_uint_eq(slice->nsamples, 0);
	ck_assert_uint_eq(slice->nwaits, 0);
	ck_assert_uint_eq(slice->nobjects, 0);
	qz_profile__free(slice);
	qz_profile__free(p);
	qz_slices__free(slices);
}
END_TEST

/*
 * A wait whose mean parallelism has become another one while it went on: the slices have all of it, and of
 * the thread, in each of them, what passed.
 */
START_TEST(an_unfinished_wait_moves)
{
	static const uint64_t level_ns[] = {100, 100};
	struct fixture f = fixture__new();
	struct qz_wait wait = {.object = QZ_NONE, .nominal = 1, .count = 1, .blocked_ns = 30};
	struct qz_slices *slices = qz_slices__new();
	struct qz_profile *slice;

	fixture__scope(&f, level_ns, 2);
	fixture__thread(&f, 0, 1);
	fixture__wait(&f, &wait, "main", "futex");
	slice = qz_slices__cut(slices, f.p);
	ck_assert_uint_eq(slice->nwaits, 1);
	ck_assert_uint_eq(slice->waits[0].blocked_ns, 30);
	qz_profile__free(slice);

	f.p->waits[0].count = f.p->waits[0].blocked_ns = 0;
	wait.nominal = 2;
	wait.blocked_ns = 50;
	fixture__wait(&f, &wait, "main", "futex");
	slice = qz_slices__cut(slices, f.p);
	ck_assert_uint_eq(slice->nwaits, 1);
	ck_assert_uint_eq(slice->waits[0].blocked_ns, 20);
	ck_assert_uint_eq(slice->waits[0].count, 0);
	qz_profile__free(slice);

	f.p->waits[1].blocked_ns = 60;
	slice = qz_slices__cut(slices, f.p);
	ck_assert_uint_eq(slice->nwaits, 1);
	ck_assert_uint_eq(slice->waits[0].blocked_ns, 10);
	qz_profile__free(slice);
	ck_assert_int_eq(f.err, 0);
	qz_profile__free(f.p);
	qz_slices__free(slices);
}
END_TEST

/* One slice, as its file has it, of 100 ns more. */
static struct qz_profile *cut(struct qz_slices *slices, struct qz_profile *p, uint64_t seen,
			      uint64_t alive)
{
	struct qz_scope *s = &p->scopes[0];
	struct qz_profile *slice;

	s->elapsed_ns += 100;
	s->level_ns[0] += 100;
	s->counters.threads_seen = seen;
	s->threads_alive = alive;
	slice = qz_slices__cut(slices, p);
	ck_assert_ptr_nonnull(slice);
	return reread(slice);
}

START_TEST(a_slice_that_lacked_memory_is_in_the_next_one)
{
	struct qz_profile *p = fixture__everything(), *same = fixture__everything();
	struct qz_slices *slices = qz_slices__new(), *other = qz_slices__new();
	struct qz_profile *slice = NULL, *wanted;

	ck_assert(p && same && slices && other);
	qz_profile__drop_unattributed(same);
	qz_ledger__close(&same->ledger);
	for (unsigned int i = 1; !slice; i++) {
		failing__arm(i);
		slice = qz_slices__cut(slices, p);
		ck_assert_int_eq(failing__disarm(), !slice);
	}
	fixture__assert_equal(p, same);
	wanted = qz_slices__cut(other, same);
	ck_assert_ptr_nonnull(wanted);
	fixture__assert_equal(slice, wanted);
	qz_profile__free(p);
	qz_profile__free(same);
	qz_profile__free(slice);
	qz_profile__free(wanted);
	qz_slices__free(slices);
	qz_slices__free(other);
}
END_TEST

/* Those that live on without any news are threads of each slice, and of all together they are counted once. */
START_TEST(threads_that_live_on_are_counted)
{
	static const uint64_t counts[][2] = {{5, 5}, {5, 5}, {8, 6}, {8, 6}};
	static const uint64_t lived[] = {5, 5, 8, 6};
	static const uint64_t level_ns[] = {0, 0};
	struct fixture f = fixture__new();
	struct qz_slices *slices = qz_slices__new();
	struct qz_profile *all = qz_profile__new(), *last = qz_profile__new();

	fixture__scope(&f, level_ns, 2);
	for (uint32_t i = 0; i < 4; i++) {
		struct qz_profile *slice = cut(slices, f.p, counts[i][0], counts[i][1]);

		ck_assert_int_eq(qz_merge__profile(all, slice), 0);
		if (i > 1)
			ck_assert_int_eq(qz_merge__profile(last, slice), 0);
		qz_slices__end(slice);
		ck_assert_uint_eq(slice->scopes[0].counters.threads_seen, lived[i]);
		qz_profile__free(slice);
	}
	qz_slices__end(all);
	qz_slices__end(last);
	ck_assert_uint_eq(all->scopes[0].counters.threads_seen, 8);
	ck_assert_uint_eq(last->scopes[0].counters.threads_seen, 8);
	qz_profile__free(all);
	qz_profile__free(last);
	qz_profile__free(f.p);
	qz_slices__free(slices);
}
END_TEST

Suite *suite_slices(void)
{
	Suite *suite = suite_create("slices");
	TCase *tcase = tcase_create("slices");

	tcase_add_loop_test(tcase, all_slices_are_the_run, 1, SEEDS);
	tcase_add_loop_test(tcase, what_was_told_is_not_told_again, 1, SEEDS);
	tcase_add_test(tcase, an_unfinished_wait_moves);
	tcase_add_test(tcase, a_slice_that_lacked_memory_is_in_the_next_one);
	tcase_add_test(tcase, threads_that_live_on_are_counted);
	suite_add_tcase(suite, tcase);
	return suite;
}
