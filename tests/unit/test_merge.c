/* SPDX-License-Identifier: GPL-2.0-only */
/* Profiles put together, and scopes: what is counted adds up, and nothing else is there. */
#include <errno.h>
#include <stdlib.h>

#include "core/estimate.h"
#include "core/merge.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

#define SEEDS 20

/* Sums of all that a profile counts, whatever the scope. */
struct sums {
	uint64_t samples, machine_samples, waits, blocked, ready, wakes, woken, calls;
	uint64_t levels, cpu, running, seen, arrivals;
};

static struct sums sum(const struct qz_profile *p)
{
	uint32_t machine = qz_profile__machine(p);
	struct sums s = {0};

	for (uint32_t i = 0; i < p->nsamples; i++)
		*(p->samples[i].scope == machine ? &s.machine_samples : &s.samples) +=
			p->samples[i].count;
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
		s.seen += p->scopes[i].threads_seen;
	}
	for (uint32_t i = 0; i < p->nthreads; i++)
		s.running += p->threads[i].running_ns;
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
}

/* Threads and scopes of the fixtures, which may be namesakes, are told apart by their start. */
static void tell_apart(struct qz_profile *p)
{
	for (uint32_t i = 0; i < p->nscopes; i++)
		p->scopes[i].start_ns = 1000 + i;
	for (uint32_t i = 0; i < p->nthreads; i++)
		p->threads[i].start_ns = 1000 + i;
}

START_TEST(one_profile_stays_what_it_is)
{
	struct qz_profile *from = _i ? fixture__random(_i) : fixture__everything();
	struct qz_profile *to = qz_profile__new();
	struct sums a, b;
	uint32_t nsamples;

	ck_assert_ptr_nonnull(from);
	ck_assert_ptr_nonnull(to);
	tell_apart(from);
	from->wakes_sampled = _i % 2;
	ck_assert_int_eq(qz_profile__merge(to, from), 0);
	ck_assert_int_eq(to->wakes_sampled, from->wakes_sampled);
	ck_assert_int_eq(qz_profile__estimate(to), 0);
	nsamples = to->nsamples;
	ck_assert_int_eq(qz_profile__estimate(from), 0);
	ck_assert_uint_eq(nsamples, from->nsamples);
	ck_assert_uint_eq(to->nthreads, from->nthreads);
	ck_assert_uint_eq(to->nscopes, from->nscopes);
	ck_assert_uint_eq(to->nobjects, from->nobjects);
	a = sum(to);
	b = sum(from);
	assert_sums(&a, &b, 1);
	ck_assert_uint_eq(a.arrivals, b.arrivals);
	for (uint32_t i = 0; i < to->nscopes; i++)
		ck_assert_uint_eq(to->scopes[i].elapsed_ns, from->scopes[i].elapsed_ns);
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
	tell_apart(from);
	one = sum(from);
	ck_assert_int_eq(qz_profile__merge(to, from), 0);
	ck_assert_int_eq(qz_profile__merge(to, from), 0);
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
		f.p->scopes[i].threads_seen = 1;
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
		fixture__moment(&f, i, "work", 2);
	}
	f.p->threads[3].merged = true;
	ck_assert_int_eq(f.err, 0);
	return f;
}

START_TEST(folded_scopes_are_one)
{
	struct fixture f = processes();
	bool marked[] = {false, true, false, true, false};
	struct sums before = sum(f.p), after;
	struct qz_maps maps;

	ck_assert_int_eq(qz_profile__fold(f.p, marked, 4, 3, &maps), 0);
	after = sum(f.p);
	assert_sums(&after, &before, 1);
	ck_assert_uint_eq(f.p->nscopes, 3);
	ck_assert_int_eq(f.p->scopes[1].pid, 2);
	ck_assert_int_eq(f.p->scopes[2].pid, 0);
	ck_assert_uint_eq(maps.scopes[0], 0);
	ck_assert_uint_eq(maps.scopes[1], 2);
	ck_assert_uint_eq(maps.scopes[2], 1);
	ck_assert_uint_eq(maps.scopes[3], 2);
	ck_assert_uint_eq(maps.scopes[4], 2);
	ck_assert_uint_eq(f.p->nthreads, 2);
	ck_assert_uint_eq(maps.threads[0], 1);
	ck_assert_uint_eq(maps.threads[1], 0);
	ck_assert_uint_eq(f.p->threads[1].running_ns, 10 + 30 + 40);
	ck_assert_uint_eq(f.p->nobjects, 1);
	ck_assert_uint_eq(maps.objects[0], QZ_NONE);
	ck_assert_uint_eq(maps.objects[1], 0);
	ck_assert_uint_eq(f.p->scopes[2].cpu_ns, 8000);
	ck_assert_uint_eq(f.p->scopes[2].level_ns[1], 6000);
	/* equal samples are one group, at each level, in the machine too */
	ck_assert_uint_eq(f.p->nsamples, 2 + 2 + 2);
	ck_assert_uint_eq(f.p->ncalls, 2);
	ck_assert_uint_eq(f.p->calls[maps.calls[0]].count, 10);
	ck_assert_uint_eq(f.p->nmoments, 2);
	ck_assert_int_eq(qz_profile__estimate(f.p), 0);
	qz_maps__free(&maps);
	qz_profile__free(f.p);
}
END_TEST

/* Whoever knows stacks and code by their index need not be told. */
START_TEST(stacks_stay_where_they_are)
{
	struct fixture f = processes();
	bool marked[] = {false, true, true, true, false};
	uint32_t nnodes = f.p->nnodes, nlocations = f.p->nlocations, causes = f.p->ncauses;
	uint32_t leaf = fixture__stack(&f, "main work"), work = fixture__procedure(f.p, "work");
	struct qz_maps maps;

	ck_assert_int_eq(qz_profile__fold(f.p, marked, 4, 3, &maps), 0);
	ck_assert_uint_eq(f.p->nnodes, nnodes);
	ck_assert_uint_eq(f.p->nlocations, nlocations);
	ck_assert_uint_eq(f.p->ncauses, causes);
	ck_assert_uint_eq(fixture__stack(&f, "main work"), leaf);
	ck_assert_uint_eq(fixture__procedure(f.p, "work"), work);
	for (uint32_t i = 0; i < nnodes; i++)
		ck_assert_uint_eq(maps.nodes[i], i);
	qz_maps__free(&maps);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(impossible_folds_change_nothing)
{
	struct fixture f = processes();
	bool marked[] = {false, true, false, false, true};
	struct qz_maps maps;

	ck_assert_int_eq(qz_profile__fold(f.p, marked, 4, 3, &maps), -EINVAL);
	qz_maps__free(&maps);
	marked[4] = false;
	ck_assert_int_eq(qz_profile__fold(f.p, marked, 4, 2, &maps), -EINVAL);
	qz_maps__free(&maps);
	ck_assert_uint_eq(f.p->nscopes, 5);
	qz_profile__free(f.p);
}
END_TEST

START_TEST(sizes_grow_with_what_a_scope_has)
{
	struct fixture f = processes();
	uint64_t before[5], after[5];

	qz_profile__sizes(f.p, before);
	fixture__samples(&f, 2, 1, "main other", 1, 1);
	fixture__samples(&f, 0, 1, "main other", 1, 1);
	qz_profile__sizes(f.p, after);
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
	tcase_add_test(tcase, stacks_stay_where_they_are);
	tcase_add_test(tcase, impossible_folds_change_nothing);
	tcase_add_test(tcase, sizes_grow_with_what_a_scope_has);
	suite_add_tcase(suite, tcase);
	return suite;
}
