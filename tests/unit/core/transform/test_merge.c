/* SPDX-License-Identifier: GPL-2.0-only */
/* Profiles put together, and scopes: what is counted adds up, and nothing else is there. */
#include <errno.h>
#include <stdlib.h>

#include "core/estimate/estimate.h"
#include "core/model/fold.h"
#include "core/transform/filter_scopes.h"
#include "core/transform/merge.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define SEEDS 20

/* Sums of all that a profile counts, whatever the scope. */
struct sums {
	uint64_t samples, machine_samples, waits, blocked, ready, wakes, woken, calls;
	uint64_t levels, cpu, running, seen, arrivals, in_block;
	struct qz_loop loop;
};

static void add_thread(struct sums *s, const struct qz_thread *t)
{
	s->running += t->running_ns;
	s->loop.turns += t->loop.turns;
	s->loop.turn_ns += t->loop.turn_ns;
	s->loop.blocks += t->loop.blocks;
	s->loop.block_ns += t->loop.block_ns;
	s->loop.block_waited_ns += t->loop.block_waited_ns;
	s->loop.block_ready_ns += t->loop.block_ready_ns;
	if (t->loop.longest_ns > s->loop.longest_ns)
		s->loop.longest_ns = t->loop.longest_ns;
}

static struct sums sum(const struct qz_profile *p)
{
	uint32_t machine = qz_profile__machine(p);
	struct sums s = {0};

	for (uint32_t i = 0; i < p->nsamples; i++)
		*(p->samples[i].scope == machine ? &s.machine_samples : &s.samples) +=
			p->samples[i].count;
	for (uint32_t i = 0; i < p->nsamples; i++)
		s.in_block += p->samples[i].in_block;
	for (uint32_t i = 0; i < p->nwaits; i++) {
		s.waits += p->waits[i].count;
		s.blocked += p->waits[i].blocked_ns;
		s.ready += p->waits[i].ready_ns;
	}
	for (uint32_t i = 0; i < p->nwakings; i++) {
		s.wakes += p->wakings[i].count;
		s.woken += p->wakings[i].woken_ns;
	}
	for (uint32_t i = 0; i < p->ncalls; i++)
		s.calls += p->calls[i].count;
	for (uint32_t i = 0; i < p->nscopes; i++) {
		for (uint32_t k = 0; k < p->scopes[i].nlevels; k++)
			s.levels += p->scopes[i].level_ns[k];
		s.cpu += p->scopes[i].cpu_ns;
		s.seen += p->scopes[i].counters.threads_seen;
	}
	for (uint32_t i = 0; i < p->nthreads; i++)
		add_thread(&s, &p->threads[i]);
	for (uint32_t i = 0; i < p->nobjects; i++)
		s.arrivals += p->objects[i].waits;
	return s;
}

static void assert_sums(const struct sums *a, const struct sums *b, uint64_t times)
{
	ck_assert_uint_eq(a->samples, times * b->samples);
	ck_assert_uint_eq(a->machine_samples, times * b->machine_samples);
	ck_assert_uint_eq(a->waits, times * b->waits);
	ck_assert_uint_eq(a->blocked, times * b->blocked);
	ck_assert_uint_eq(a->ready, times * b->ready);
	ck_assert_uint_eq(a->wakes, times * b->wakes);
	ck_assert_uint_eq(a->woken, times * b->woken);
	ck_assert_uint_eq(a->calls, times * b->calls);
	ck_assert_uint_eq(a->levels, times * b->levels);
	ck_assert_uint_eq(a->cpu, times * b->cpu);
	ck_assert_uint_eq(a->seen, times * b->seen);
	ck_assert_uint_eq(a->running, times * b->running);
	ck_assert_uint_eq(a->in_block, times * b->in_block);
	ck_assert_uint_eq(a->loop.turns, times * b->loop.turns);
	ck_assert_uint_eq(a->loop.turn_ns, times * b->loop.turn_ns);
	ck_assert_uint_eq(a->loop.blocks, times * b->loop.blocks);
	ck_assert_uint_eq(a->loop.block_ns, times * b->loop.block_ns);
	ck_assert_uint_eq(a->loop.block_waited_ns, times * b->loop.block_waited_ns);
	ck_assert_uint_eq(a->loop.block_ready_ns, times * b->loop.block_ready_ns);
	ck_assert_uint_eq(a->loop.longest_ns, b->loop.longest_ns);
}

START_TEST(one_profile_stays_what_it_is)
{
	struct qz_profile *from = _i ? fixture__random(_i) : fixture__everything();
	struct qz_profile *to = qz_profile__new();
	struct sums a, b;
	uint32_t nsamples;

	ck_assert_ptr_nonnull(from);
	ck_assert_ptr_nonnull(to);
	fixture__tell_apart(from);
	from->wakes_sampled = _i % 2;
	from->addresses_sampled = _i / 2 % 2;
	ck_assert_int_eq(qz_merge__profile(to, from), 0);
	ck_assert_int_eq(to->wakes_sampled, from->wakes_sampled);
	ck_assert_int_eq(to->addresses_sampled, from->addresses_sampled);
	ck_assert_int_eq(qz_estimate__profile(to), 0);
	nsamples = to->nsamples;
	ck_assert_int_eq(qz_estimate__profile(from), 0);
	ck_assert_uint_eq(nsamples, from->nsamples);
	ck_assert_uint_eq(to->nthreads, from->nthreads);
	ck_assert_uint_eq(to->nscopes, from->nscopes);
	ck_assert_uint_eq(to->nobjects, from->nobjects);
	a = sum(to);
	b = sum(from);
	assert_sums(&a, &b, 1);
	ck_assert_uint_eq(a.arrivals, b.arrivals);
	for (uint32_t i = 0; i < to->nscopes; i++) {
		ck_assert_uint_eq(to->scopes[i].elapsed_ns, from->scopes[i].elapsed_ns);
		ck_assert_mem_eq(&to->scopes[i].counters, &from->scopes[i].counters,
				 sizeof(to->scopes[i].counters));
	}
	ck_assert_uint_eq(to->instants.taken, from->instants.taken);
	ck_assert_uint_eq(to->instants.compared, from->instants.compared);
	ck_assert_uint_eq(to->instants.differing, from->instants.differing);
	qz_profile__free(from);
	qz_profile__free(to);
}
END_TEST

START_TEST(twice_the_same_is_twice_as_much)
{
	struct qz_profile *from = fixture__random(_i), *to = qz_profile__new();
	struct sums one, two;

	ck_assert_ptr_nonnull(from);
	ck_assert_ptr_nonnull(to);
	fixture__tell_apart(from);
	one = sum(from);
	ck_assert_int_eq(qz_merge__profile(to, from), 0);
	ck_assert_int_eq(qz_merge__profile(to, from), 0);
	two = sum(to);
	assert_sums(&two, &one, 2);
	ck_assert_uint_eq(to->nscopes, from->nscopes);
	ck_assert_uint_eq(to->nthreads, from->nthreads);
	ck_assert_uint_eq(to->ledger.accepted, 2 * from->ledger.accepted);
	ck_assert_uint_eq(to->window_ns, 2 * from->window_ns);
	qz_profile__free(from);
	qz_profile__free(to);
}
END_TEST

/* ---- folding ---- */

/* The machine, three processes, and who stands for ended ones. */
static struct fixture processes(void)
{
	static const uint64_t level_ns[] = {500, 2000, 1000, 0};
	struct fixture f = fixture__new();
	struct qz_wait wait = {.object = QZ_NONE, .nominal = 1, .count = 3, .blocked_ns = 70};

	fixture__scope(&f, level_ns, 4);
	f.p->scopes[0].kind = QZ_SCOPE_MACHINE;
	for (uint32_t i = 1; i <= 4; i++) {
		fixture__scope(&f, level_ns, 4);
		f.p->scopes[i].pid = i < 4 ? (int32_t)i : 0;
		f.p->scopes[i].counters.threads_seen = 1;
		f.p->scopes[i].cpu_ns = 1000 * i;
		fixture__thread(&f, i, 100 + (int32_t)i);
		f.p->threads[i - 1].running_ns = 10 * i;
		if (i == 4)
			break;
		fixture__samples(&f, i, i - 1, "main work", 1, 10 * i);
		fixture__samples(&f, i, i - 1, "main work", 2, i);
		fixture__samples(&f, 0, i - 1, "main work", 2, 11 * i);
		wait.scope = i;
		wait.thread = i - 1;
		wait.object = fixture__object(&f, i, QZ_OBJECT_MUTEX, "lock");
		fixture__wait(&f, &wait, "main lock", "futex");
		fixture__calls(&f, i, "main", "work", 5);
		fixture__round(&f, i, "work", 2);
	}
	f.p->threads[3].merged = true;
	ck_assert_int_eq(f.err, 0);
	return f;
}

static uint64_t sum_of_waits(const struct qz_profile *p)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < p->nwaits; i++)
		sum += p->waits[i].blocked_ns;
	return sum;
}

START_TEST(folded_scopes_are_one)
{
	struct fixture f = processes();
	bool marked[] = {false, true, false, true, false};
	struct sums before = sum(f.p), after;

	ck_assert_int_eq(qz_fold__scopes(f.p, marked, 5, 4, 3), 0);
	after = sum(f.p);
	assert_sums(&after, &before, 1);
	ck_assert_uint_eq(f.p->threads[3].running_ns, 10 + 30 + 40);
	ck_assert_uint_eq(f.p->scopes[4].cpu_ns, 8000);
	ck_assert_uint_eq(f.p->scopes[4].level_ns[1], 6000);
	/* equal samples are one group, at each level, in the machine too */
	ck_assert_uint_eq(f.p->nsamples, 2 + 2 + 2);
	ck_assert_uint_eq(f.p->ncalls, 2);
	ck_assert_uint_eq(f.p->calls[0].scope, 4);
	ck_assert_uint_eq(f.p->calls[0].count, 10);
	ck_assert_uint_eq(f.p->nrounds, 2);
	ck_assert_int_eq(qz_estimate__profile(f.p), 0);
	qz_profile__free(f.p);
}
END_TEST

/* Whoever knows scopes, threads, objects, stacks and code by their index need not be told. */
START_TEST(what_stays_keeps_its_index)
{
	struct fixture f = processes();
	bool marked[] = {false, true, false, true, false};
	uint32_t nnodes = f.p->nnodes, leaf = fixture__stack(&f, "main work");

	ck_assert_int_eq(qz_fold__scopes(f.p, marked, 5, 4, 3), 0);
	ck_assert_uint_eq(f.p->scopes[0].kind, QZ_SCOPE_MACHINE);
	ck_assert_int_eq(f.p->scopes[2].pid, 2);
	ck_assert_int_eq(f.p->scopes[4].pid, 0);
	ck_assert_int_eq(f.p->threads[1].tid, 102);
	ck_assert_uint_eq(fixture__object(&f, 2, QZ_OBJECT_MUTEX, "lock"), 1);
	ck_assert_uint_eq(f.p->nnodes, nnodes);
	ck_assert_uint_eq(fixture__stack(&f, "main work"), leaf);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(vacant_rows_are_used_again)
{
	struct fixture f = processes();
	static const uint64_t level_ns[] = {1, 2, 3, 4};
	bool marked[] = {false, true, false, true, false};

	ck_assert_int_eq(qz_fold__scopes(f.p, marked, 5, 4, 3), 0);
	ck_assert_uint_eq(f.p->vacant_scopes, 2);
	ck_assert_uint_eq(f.p->vacant_threads, 2);
	ck_assert_uint_eq(f.p->vacant_objects, 2);
	for (uint32_t i = 0; i < 3; i++) {
		static const uint32_t rows[] = {1, 3, 5};

		ck_assert_uint_eq(fixture__scope(&f, level_ns, 4), rows[i]);
		ck_assert_uint_eq(f.p->scopes[rows[i]].level_ns[3], 4);
	}
	ck_assert(qz_profile__has_vacant_rows(f.p)); /* though no scope is */
	ck_assert_uint_eq(fixture__thread(&f, 1, 7), 0);
	ck_assert_uint_eq(fixture__thread(&f, 3, 8), 2);
	ck_assert_uint_eq(fixture__thread(&f, 5, 9), 4);
	ck_assert_uint_eq(fixture__object(&f, 1, QZ_OBJECT_MUTEX, "lock"), 0);
	ck_assert_uint_eq(fixture__object(&f, 1, QZ_OBJECT_MUTEX, "lock"), 0);
	ck_assert_uint_eq(fixture__object(&f, 3, QZ_OBJECT_MUTEX, "lock"), 2);
	ck_assert_uint_eq(fixture__object(&f, 2, QZ_OBJECT_MUTEX, "lock"), 1);
	ck_assert(!qz_profile__has_vacant_rows(f.p));
	ck_assert_int_eq(f.err, 0);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(copies_have_no_vacant_rows)
{
	struct fixture f = processes();
	bool marked[] = {false, true, false, true, false};
	struct sums before = sum(f.p), after;
	struct qz_profile *copy;

	ck_assert_int_eq(qz_fold__scopes(f.p, marked, 5, 4, 3), 0);
	copy = qz_filter_scopes__profile(f.p, NULL);
	ck_assert_ptr_nonnull(copy);
	after = sum(copy);
	assert_sums(&after, &before, 1);
	ck_assert_uint_eq(copy->nscopes, 3);
	ck_assert_uint_eq(copy->nthreads, 2);
	ck_assert_uint_eq(copy->nobjects, 1);
	ck_assert_uint_eq(copy->vacant_scopes, 0);
	ck_assert_int_eq(copy->scopes[1].pid, 2);
	ck_assert_int_eq(copy->scopes[2].pid, 0);
	qz_profile__free(copy);
	qz_profile__free(f.p);
}
END_TEST

/* A wait that had not ended when its process was seen last is taken out of those of all ended ones. */
START_TEST(open_waits_are_folded_too)
{
	struct fixture f = processes();
	bool marked[] = {false, true, true, true, false};
	uint64_t before = sum_of_waits(f.p);
	struct qz_wait open = f.p->waits[1];

	open.blocked_ns = 5;
	ck_assert_int_eq(qz_waits__open(f.p, &open), 0);
	open.scope = 0;
	ck_assert_int_eq(qz_waits__open(f.p, &open), 0);
	ck_assert_int_eq(qz_fold__scopes(f.p, marked, 5, 4, 3), 0);
	ck_assert_uint_eq(sum_of_waits(f.p), before + 10);
	qz_waits__close_all(f.p);
	ck_assert_uint_eq(sum_of_waits(f.p), before);
	qz_profile__free(f.p);
}
END_TEST

/* A process that came after others were marked has its own threads and objects. */
START_TEST(scopes_that_come_after_marking_stay)
{
	static const uint64_t level_ns[4] = {100, 1000, 500, 0};
	struct fixture f = processes();
	bool marked[] = {false, true, false, true, false};
	uint32_t scope = fixture__scope(&f, level_ns, 4);
	uint32_t thread = fixture__thread(&f, scope, 200);
	uint32_t object = fixture__object(&f, scope, QZ_OBJECT_MUTEX, "lock");

	fixture__samples(&f, scope, thread, "main work", 1, 7);
	ck_assert_int_eq(f.err, 0);
	ck_assert_uint_eq(scope, 5);
	ck_assert_int_eq(qz_fold__scopes(f.p, marked, 5, 4, 3), 0);
	ck_assert(!f.p->scopes[scope].vacant && !f.p->threads[thread].vacant);
	ck_assert(!f.p->objects[object].vacant);
	ck_assert_uint_eq(f.p->samples[f.p->nsamples - 1].scope, scope);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(impossible_folds_change_nothing)
{
	struct fixture f = processes();
	bool marked[] = {false, true, false, false, true};

	ck_assert_int_eq(qz_fold__scopes(f.p, marked, 5, 4, 3), -EINVAL);
	marked[4] = false;
	ck_assert_int_eq(qz_fold__scopes(f.p, marked, 5, 4, 2), -EINVAL);
	ck_assert_uint_eq(f.p->vacant_scopes, 0);
	ck_assert_int_eq(qz_fold__scopes(f.p, marked, 5, 4, 3), 0);
	ck_assert_int_eq(qz_fold__scopes(f.p, marked, 5, 4, 3), -EINVAL);
	ck_assert_uint_eq(f.p->vacant_scopes, 1);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(sizes_grow_with_what_a_scope_has)
{
	struct fixture f = processes();
	uint64_t before[5], after[5];

	qz_merge__sizes(f.p, before);
	fixture__samples(&f, 2, 1, "main other", 1, 1);
	fixture__samples(&f, 0, 1, "main other", 1, 1);
	qz_merge__sizes(f.p, after);
	ck_assert_uint_ge(after[2], before[2] + 2 * sizeof(struct qz_sample));
	ck_assert_uint_eq(after[0], before[0]);
	ck_assert_uint_eq(after[1], before[1]);
	qz_profile__free(f.p);
}
END_TEST

Suite *suite_merge(void)
{
	Suite *suite = suite_create("merge");
	TCase *tcase = tcase_create("merge");

	tcase_add_loop_test(tcase, one_profile_stays_what_it_is, 0, SEEDS);
	tcase_add_loop_test(tcase, twice_the_same_is_twice_as_much, 1, SEEDS);
	tcase_add_test(tcase, folded_scopes_are_one);
	tcase_add_test(tcase, scopes_that_come_after_marking_stay);
	tcase_add_test(tcase, what_stays_keeps_its_index);
	tcase_add_test(tcase, vacant_rows_are_used_again);
	tcase_add_test(tcase, copies_have_no_vacant_rows);
	tcase_add_test(tcase, open_waits_are_folded_too);
	tcase_add_test(tcase, impossible_folds_change_nothing);
	tcase_add_test(tcase, sizes_grow_with_what_a_scope_has);
	suite_add_tcase(suite, tcase);
	return suite;
}
