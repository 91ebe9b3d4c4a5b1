// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/round_join.h"

#include <errno.h>
#include <stdlib.h>

#include "core/util/hash_table.h"
#include "core/util/order.h"
#include "core/util/vec.h"

#define NONE	 UINT32_MAX
#define MAX_SETS 4096 /* that are kept from one call to the next */
#define FAR	 64   /* rounds within which a thread that got on is searched for */
#define NEAR	 2    /* the same where they spin at different spots */
#define APART	 2    /* from one round to the next, where no answer of any is missing for longer */

/* The answers of one scope in one round. */
struct group {
	int64_t round;
	uint32_t scope;
	uint32_t first, n; /* answers */
	uint32_t set;	   /* of threads, see struct set */
	uint32_t level, spinning;
	uint32_t before, after; /* groups of the scope, or NONE */
	uint32_t
		candidate; /* the one before among those of its set that have one busy too many, or NONE */
	int change;	   /* of the busy ones */
	bool whole;	   /* each thread that ran has answered */
	bool one_spot;	 /* all spin, at one spot */
	bool told_later; /* what some did is known from later samples */
};

/* Threads of a scope that ran at the same time. */
struct set {
	uint64_t threads; /* a hash */
	uint32_t scope;
	uint64_t owed;	    /* impossible rounds for which none was moved yet */
	uint32_t candidate; /* group, see there */
};

/* The last group of a scope. */
struct scope {
	uint32_t scope, last;
};

struct round_join {
	const struct round_answer *answers; /* while it runs */
	struct group *groups;
	struct set *sets;
	struct scope *scopes;
	uint32_t ngroups, nsets, nscopes;
	struct qz_hash_table by_threads, by_scope;
	struct round_figures figures;
};

struct round_join *round_join__new(void)
{
	return calloc(1, sizeof(struct round_join));
}

void round_join__free(struct round_join *j)
{
	if (!j)
		return;
	free(j->groups);
	free(j->sets);
	free(j->scopes);
	qz_hash_table__free(&j->by_threads);
	qz_hash_table__free(&j->by_scope);
	free(j);
}

const struct round_figures *round_join__figures(const struct round_join *j)
{
	return &j->figures;
}

/* ---- groups ---- */

static uint32_t set_of(struct round_join *j, uint32_t scope, uint64_t threads)
{
	struct set new = {.scope = scope, .threads = threads, .candidate = NONE};
	int64_t i = QZ_INTERN(&j->by_threads, &j->sets, &j->nsets, &new, scope);

	return i < 0 ? NONE : (uint32_t)i;
}

static struct scope *scope_of(struct round_join *j, uint32_t scope)
{
	const struct scope new = {scope, NONE};
	int64_t i = QZ_INTERN(&j->by_scope, &j->scopes, &j->nscopes, &new, scope);

	return i < 0 ? NULL : &j->scopes[i];
}

/* Whatever the order of the processors. */
static uint64_t hash_thread(uint32_t serial)
{
	uint64_t h = (serial + 1ull) * 0x9e3779b97f4a7c15ull;

	return (h ^ h >> 29) * 0xbf58476d1ce4e5b9ull;
}

static bool has_thread(const struct round_answer *a, uint32_t n, uint32_t serial)
{
	while (n && a[n - 1].serial != serial)
		n--;
	return n;
}

/* Of those that only a later sample tells of, the ones that the level has room for: they ran. */
static void choose_missed(struct group *g, struct round_answer *a, uint32_t n)
{
	for (uint32_t i = g->n; i < n && g->n < g->level; i++) {
		struct round_answer missed = a[i];

		if (has_thread(a, g->n, missed.serial))
			continue;
		a[i] = a[g->n];
		a[g->n++] = missed;
		g->told_later = true;
	}
}

static void sum_up(struct group *g, struct round_answer *a, uint32_t n, uint64_t *threads)
{
	for (; g->n < n && !a[g->n].missed; g->n++)
		g->level = a[g->n].level > g->level ? a[g->n].level : g->level;
	choose_missed(g, a, n);
	g->one_spot = true;
	for (uint32_t i = 0; i < g->n; i++) {
		g->spinning += a[i].spinning;
		g->one_spot &= a[i].spinning && a[i].spot && a[i].spot == a[0].spot;
		*threads += hash_thread(a[i].serial);
	}
	g->whole = g->n == g->level;
}

/* n answers, the missed ones last. */
static int add_group(struct round_join *j, struct round_answer *answers, uint32_t first, uint32_t n)
{
	struct group g = {.round = answers[first].round,
			  .scope = answers[first].scope,
			  .first = first,
			  .set = NONE,
			  .after = NONE,
			  .candidate = NONE};
	struct scope *scope = scope_of(j, g.scope);
	uint64_t threads = 0;

	if (!scope || qz_array__reserve((void **)&j->groups, j->ngroups, sizeof(*j->groups)))
		return -ENOMEM;
	sum_up(&g, &answers[first], n, &threads);
	if (g.level > 1) {
		g.set = set_of(j, g.scope, threads);
		if (g.set == NONE)
			return -ENOMEM;
	}
	g.before = scope->last;
	if (g.before != NONE)
		j->groups[g.before].after = j->ngroups;
	scope->last = j->ngroups;
	j->groups[j->ngroups++] = g;
	j->figures.rounds++;
	j->figures.unanswered += g.level > g.n ? g.level - g.n : 0;
	for (uint32_t i = first; i < first + g.n; i++)
		j->figures.told_later += answers[i].missed;
	return 0;
}

static int by_scope(const void *a, const void *b)
{
	const struct round_answer *x = a, *y = b;

	return qz_order(x->scope, y->scope) ?: qz_order(x->missed, y->missed);
}

void round_answers__sort(struct round_answer *answers, uint32_t n)
{
	if (n > 1)
		qsort(answers, n, sizeof(*answers), by_scope);
}

static int make_groups(struct round_join *j, struct round_answer *answers, uint32_t n)
{
	int err = 0;

	for (uint32_t i = 0, end; !err && i < n; i = end) {
		for (end = i + 1; end < n && answers[end].round == answers[i].round; end++)
			;
		round_answers__sort(&answers[i], end - i);
		for (uint32_t k = i, next; !err && k < end; k = next) {
			for (next = k + 1; next < end && answers[next].scope == answers[k].scope;)
				next++;
			if (!answers[k].missed) /* else nothing is known of the level */
				err = add_group(j, answers, k, next - k);
		}
	}
	return err;
}

/* ---- impossible rounds ---- */

static bool was_stopped(const struct round_join *j, const struct group *g, uint32_t serial)
{
	for (uint32_t i = g->first; i < g->first + g->n; i++)
		if (j->answers[i].serial == serial)
			return j->answers[i].late;
	return false;
}

/* Whether a thread that the host had not stopped in the one round is busy in the other one. */
static bool has_got_on(const struct round_join *j, const struct group *g, const struct group *other)
{
	for (uint32_t i = other->first; i < other->first + other->n; i++)
		if (!j->answers[i].spinning && !was_stopped(j, g, j->answers[i].serial))
			return true;
	return false;
}

/* Whether one of the same threads is busy in the first round of a direction in which not all spin. */
static bool somebody_gets_on(const struct round_join *j, const struct group *g, bool later)
{
	const struct group *at = g;

	for (int i = 0; i < (g->one_spot ? FAR : NEAR); i++) {
		uint32_t index = later ? at->after : at->before;
		const struct group *next = index == NONE ? NULL : &j->groups[index];

		if (!next || next->set != g->set || !next->whole ||
		    (later ? next->round - at->round : at->round - next->round) > APART)
			return false;
		if (next->spinning < next->n)
			return has_got_on(j, g, next);
		at = next;
	}
	return false;
}

static bool is_impossible(const struct round_join *j, const struct group *g)
{
	return g->level > 1 && g->spinning == g->level && g->whole &&
	       (somebody_gets_on(j, g, true) || somebody_gets_on(j, g, false));
}

static void move_one(struct round_join *j, struct group *g)
{
	g->change--;
	j->figures.moved++;
}

/* Each finds the nearest one before it, or is found by the next one. */
static void find_impossible(struct round_join *j)
{
	for (uint32_t i = 0; i < j->ngroups; i++) {
		struct group *g = &j->groups[i];
		struct set *set = g->set == NONE ? NULL : &j->sets[g->set];

		if (!set || !g->whole)
			continue;
		if (is_impossible(j, g)) {
			j->figures.impossible++;
			g->change = 1;
			set->owed++;
		}
		if (g->n - g->spinning > 1) {
			g->candidate = set->candidate;
			set->candidate = i;
		}
		while (set->owed && set->candidate != NONE) {
			struct group *c = &j->groups[set->candidate];

			move_one(j, c);
			set->owed--;
			if (c->n - c->spinning + c->change < 2)
				set->candidate = c->candidate;
		}
	}
}

/* ---- results ---- */

/* `busy` of `level`, as it can be of a processor that does or does not spin itself. */
static uint16_t within(int busy, uint16_t level, bool spinning)
{
	int least = spinning ? 0 : 1, most = level - spinning;

	return (uint16_t)(busy < least ? least : busy > most ? most : busy);
}

static void set_results(const struct round_join *j, struct round_answer *answers, uint32_t first,
			uint32_t end)
{
	int spinning = 0, change = 0;

	for (uint32_t i = first; i < end; i++) {
		spinning += (int)j->groups[i].spinning;
		change += j->groups[i].change;
	}
	for (uint32_t i = first; i < end; i++) {
		const struct group *g = &j->groups[i];

		for (uint32_t k = g->first; k < g->first + g->n; k++) {
			struct round_answer *a = &answers[k];

			a->busy = within(a->level - (int)g->spinning + g->change, a->level,
					 a->spinning);
			a->machine_busy = a->machine ? within(a->machine - spinning + change,
							      a->machine, a->spinning)
						     : 0;
			a->doubtful = g->change || g->told_later;
		}
	}
}

/* What is owed stays; groups are of this call. */
static void forget(struct round_join *j)
{
	for (uint32_t i = 0; i < j->nsets; i++)
		j->sets[i].candidate = NONE;
	if (j->nsets > MAX_SETS) {
		qz_hash_table__clear(&j->by_threads);
		j->nsets = qz_array__shrink((void **)&j->sets, j->nsets, 0, sizeof(*j->sets));
	}
	qz_hash_table__clear(&j->by_scope);
	j->nscopes = qz_array__shrink((void **)&j->scopes, j->nscopes, 0, sizeof(*j->scopes));
	j->ngroups = qz_array__shrink((void **)&j->groups, j->ngroups, 0, sizeof(*j->groups));
}

int round_join__run(struct round_join *j, struct round_answer *answers, uint32_t n)
{
	int err = make_groups(j, answers, n);

	j->answers = answers;
	if (!err)
		find_impossible(j);
	for (uint32_t i = 0, end; !err && i < j->ngroups; i = end) {
		for (end = i + 1; end < j->ngroups && j->groups[end].round == j->groups[i].round;)
			end++;
		set_results(j, answers, i, end);
	}
	forget(j);
	return err;
}
