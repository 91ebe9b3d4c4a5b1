/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/difference.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/estimate.h"
#include "core/figures.h"
#include "core/table.h"

/*
 * Where the entities of `before` are in p; QZ_NONE: nowhere. Entities that are equal by what they are
 * called are interned, so that they are found whatever their numbers; scopes and threads by their birth.
 */
struct maps {
	struct qz_profile *p;
	const struct qz_profile *before;
	uint32_t folded,
		row; /* of p: the scope, and its thread, that ended processes were put into */
	uint32_t *scopes, *threads, *procedures, *mappings, *locations, *nodes, *causes, *objects;
	struct qz_table by_birth;
};

/* ---- entities ---- */

static uint32_t *new_map(uint32_t n, int *err)
{
	uint32_t *map = malloc(((size_t)n + 1) * sizeof(*map));

	if (map)
		memset(map, 0xff, ((size_t)n + 1) * sizeof(*map));
	else
		*err = -ENOMEM;
	return map;
}

static int make_room(struct maps *m)
{
	const struct qz_profile *b = m->before;
	int err = 0;

	m->scopes = new_map(b->nscopes, &err);
	m->threads = new_map(b->nthreads, &err);
	m->procedures = new_map(b->nprocedures, &err);
	m->mappings = new_map(b->nmappings, &err);
	m->locations = new_map(b->nlocations, &err);
	m->nodes = new_map(b->nnodes, &err);
	m->causes = new_map(b->ncauses, &err);
	m->objects = new_map(b->nobjects, &err);
	return err;
}

static void free_maps(struct maps *m)
{
	free(m->scopes);
	free(m->threads);
	free(m->procedures);
	free(m->mappings);
	free(m->locations);
	free(m->nodes);
	free(m->causes);
	free(m->objects);
	qz_table__free(&m->by_birth);
}

/* The place of an interned entity: none where p has no more room for it. */
static int place(uint32_t *to, int64_t index)
{
	if (index >= 0)
		*to = (uint32_t)index;
	return index == -ENOMEM ? -ENOMEM : 0;
}

/* The entry of `map` for a reference that may be to nothing. */
static uint32_t mapped(const uint32_t *map, uint32_t index)
{
	return index == QZ_NONE ? QZ_NONE : map[index];
}

static uint32_t scope_hash(const struct qz_scope *s)
{
	return qz_hash__number(qz_hash__number(s->kind, (uint32_t)s->pid), s->start_ns);
}

static bool same_scope(const void *context, uint32_t index, const void *key)
{
	const struct qz_scope *a = &((const struct qz_profile *)context)->scopes[index], *b = key;

	return a->kind == b->kind && a->pid == b->pid && a->start_ns == b->start_ns;
}

/* Ended processes are put together (core/merge.h) into one without a number, and its one thread. */
static void find_folded(struct maps *m)
{
	const struct qz_profile *p = m->p;

	m->folded = m->row = QZ_NONE;
	for (uint32_t i = 0; m->folded == QZ_NONE && i < p->nscopes; i++)
		if (p->scopes[i].kind == QZ_SCOPE_PROCESS && !p->scopes[i].pid)
			m->folded = i;
	for (uint32_t i = 0; m->row == QZ_NONE && i < p->nthreads; i++)
		if (p->threads[i].merged && p->threads[i].scope == m->folded)
			m->row = i;
}

static int map_scopes(struct maps *m)
{
	struct qz_profile *p = m->p;

	for (uint32_t i = 0; i < p->nscopes; i++) {
		if (qz_table__reserve(&m->by_birth))
			return -ENOMEM;
		qz_table__insert(&m->by_birth, scope_hash(&p->scopes[i]), i);
	}
	for (uint32_t i = 0; i < m->before->nscopes; i++) {
		const struct qz_scope *s = &m->before->scopes[i];

		if (i < p->nscopes && same_scope(p, i, s))
			m->scopes[i] = i;
		else
			m->scopes[i] =
				qz_table__find(&m->by_birth, scope_hash(s), same_scope, p, s);
		if (m->scopes[i] == QZ_NONE)
			m->scopes[i] = m->folded;
	}
	return 0;
}

/* Whether a scope of `before` has been put into another one since. */
static bool is_folded(const struct maps *m, uint32_t scope)
{
	return m->scopes[scope] == m->folded &&
	       (m->before->scopes[scope].pid || m->before->scopes[scope].kind != QZ_SCOPE_PROCESS);
}

static uint32_t thread_hash(uint32_t scope, const struct qz_thread *t)
{
	uint32_t hash = qz_hash__number(scope, (uint64_t)(uint32_t)t->tid << 1 | t->merged);

	return t->merged ? qz_hash__string(hash, t->comm) : qz_hash__number(hash, t->start_ns);
}

static bool same_thread(const void *context, uint32_t index, const void *key)
{
	const struct qz_thread *a = &((const struct qz_profile *)context)->threads[index], *b = key;

	if (a->scope != b->scope || a->tid != b->tid || a->merged != b->merged)
		return false;
	return a->merged ? !strcmp(a->comm, b->comm) : a->start_ns == b->start_ns;
}

static int map_threads(struct maps *m)
{
	struct qz_profile *p = m->p;

	qz_table__clear(&m->by_birth);
	for (uint32_t i = 0; i < p->nthreads; i++) {
		if (qz_table__reserve(&m->by_birth))
			return -ENOMEM;
		qz_table__insert(&m->by_birth, thread_hash(p->threads[i].scope, &p->threads[i]), i);
	}
	for (uint32_t i = 0; i < m->before->nthreads; i++) {
		struct qz_thread t = m->before->threads[i];

		t.scope = m->scopes[t.scope];
		if (t.scope == QZ_NONE)
			continue;
		if (is_folded(m, m->before->threads[i].scope))
			m->threads[i] = m->row;
		else if (i < p->nthreads && same_thread(p, i, &t))
			m->threads[i] = i;
		else
			m->threads[i] = qz_table__find(&m->by_birth, thread_hash(t.scope, &t),
						       same_thread, p, &t);
	}
	return 0;
}

static int map_location(struct maps *m, uint32_t i)
{
	struct qz_location l = m->before->locations[i];
	struct qz_line *lines = calloc(l.nlines, sizeof(*lines));
	int err = lines ? 0 : -ENOMEM;

	for (uint32_t k = 0; lines && k < l.nlines; k++) {
		lines[k] = l.lines[k];
		lines[k].procedure = m->procedures[lines[k].procedure];
	}
	l.lines = lines;
	l.mapping = mapped(m->mappings, l.mapping);
	err = err ? err : place(&m->locations[i], qz_profile__intern_location(m->p, &l));
	free(lines);
	return err;
}

/* A parent stands before its children. */
static int map_node(struct maps *m, uint32_t i)
{
	const struct qz_node *n = &m->before->nodes[i];
	uint32_t parent = m->nodes[n->parent], location = m->locations[n->location];

	if (parent == QZ_NONE || location == QZ_NONE)
		return 0;
	return place(&m->nodes[i], qz_profile__intern_node(m->p, parent, location));
}

static int map_code(struct maps *m)
{
	const struct qz_profile *b = m->before;
	int err = 0;

	for (uint32_t i = 0; !err && i < b->nprocedures; i++)
		err = place(&m->procedures[i],
			    qz_profile__intern_procedure(m->p, &b->procedures[i]));
	for (uint32_t i = 0; !err && i < b->nmappings; i++)
		err = place(&m->mappings[i], qz_profile__intern_mapping(m->p, &b->mappings[i]));
	for (uint32_t i = 0; !err && i < b->nlocations; i++)
		err = map_location(m, i);
	m->nodes[0] = 0;
	for (uint32_t i = 1; !err && i < b->nnodes; i++)
		err = map_node(m, i);
	return err;
}

static int map_waited_for(struct maps *m)
{
	const struct qz_profile *b = m->before;
	int err = 0;

	for (uint32_t i = 0; !err && i < b->ncauses; i++)
		err = place(&m->causes[i], qz_profile__intern_cause(m->p, b->causes[i]));
	for (uint32_t i = 0; !err && i < b->nobjects; i++) {
		struct qz_object key = b->objects[i];

		if (is_folded(m, key.scope))
			continue;
		key.scope = m->scopes[key.scope];
		if (key.scope != QZ_NONE)
			err = place(&m->objects[i], qz_profile__intern_object(m->p, &key));
	}
	return err;
}

/* ---- figures ---- */

static void take_losses(struct qz_loss *losses, uint32_t n, const struct qz_loss *before,
			uint32_t nbefore)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < nbefore; k++)
			if (!strcmp(losses[i].cause, before[k].cause))
				qz_figure__take(&losses[i].count, before[k].count);
}

static void take_scope(struct qz_scope *s, const struct qz_scope *b)
{
	qz_figures__take(s, b, qz_scope_figures);
	qz_figure__take(&s->elapsed_ns, b->elapsed_ns);
	for (uint32_t i = 0; i < s->nlevels && i < b->nlevels; i++)
		qz_figure__take(&s->level_ns[i], b->level_ns[i]);
	take_losses(s->stack_ends, s->nstack_ends, b->stack_ends, b->nstack_ends);
}

/* Threads that had ended are not of this time; rows that stand for several are not known to be. */
static void take_thread(struct maps *m, uint32_t i)
{
	const struct qz_thread *b = &m->before->threads[i];

	if (m->scopes[b->scope] != QZ_NONE && b->ended && !b->merged)
		qz_figure__take(&m->p->scopes[m->scopes[b->scope]].threads_seen, 1);
	if (m->threads[i] != QZ_NONE)
		qz_figures__take(&m->p->threads[m->threads[i]], b, qz_thread_figures);
}

static void take_run(struct qz_profile *p, const struct qz_profile *b)
{
	p->wall_start_ns += b->window_ns;
	p->window_ns -= b->window_ns;
	qz_figures__take(&p->ledger, &b->ledger, qz_ledger_figures);
	take_losses(p->ledger.losses, p->ledger.nlosses, b->ledger.losses, b->ledger.nlosses);
	take_losses(p->ledger.events, p->ledger.nevents, b->ledger.events, b->ledger.nevents);
	qz_ledger__close(&p->ledger);
	qz_figures__take(&p->instants, &b->instants, qz_instants_figures);
	qz_figures__take(&p->costs, &b->costs, qz_costs_figures);
}

static void take_entities(struct maps *m)
{
	const struct qz_profile *b = m->before;

	for (uint32_t i = 0; i < b->nscopes; i++)
		if (m->scopes[i] != QZ_NONE)
			take_scope(&m->p->scopes[m->scopes[i]], &b->scopes[i]);
	for (uint32_t i = 0; i < b->nthreads; i++)
		take_thread(m, i);
	for (uint32_t i = 0; i < b->nobjects; i++)
		if (m->objects[i] != QZ_NONE)
			qz_figures__take(&m->p->objects[m->objects[i]], &b->objects[i],
					 qz_object_figures);
	take_run(m->p, b);
}

/* ---- groups: the negative number is added, and what is below 0 then goes ---- */

/* A group that refers to something p does not have is not in p either. */
static int unless_foreign(int err)
{
	return err == -EINVAL || err == -E2BIG ? 0 : err;
}

/*
 * Where thread and object of a group are now; the objects of folded scopes have gone. False: it is not in p.
 */
static bool find_parts(const struct maps *m, uint32_t *thread, uint32_t *object)
{
	bool folded = *object != QZ_NONE && is_folded(m, m->before->objects[*object].scope);
	uint32_t t = mapped(m->threads, *thread), o = mapped(m->objects, *object);

	if ((*thread != QZ_NONE && t == QZ_NONE) || (*object != QZ_NONE && o == QZ_NONE && !folded))
		return false;
	*thread = t;
	*object = o;
	return true;
}

static int take_sample(struct maps *m, struct qz_sample s)
{
	if (!s.count || !find_parts(m, &s.thread, &s.object))
		return 0;
	s.scope = m->scopes[s.scope];
	s.node = m->nodes[s.node];
	s.count = -s.count;
	s.seen = -s.seen;
	return unless_foreign(qz_profile__add_samples(m->p, &s));
}

static int take_wait(struct maps *m, struct qz_wait w)
{
	if (!find_parts(m, &w.thread, &w.object))
		return 0;
	w.scope = m->scopes[w.scope];
	w.node = m->nodes[w.node];
	w.cause = m->causes[w.cause];
	w.count = -w.count;
	w.blocked_ns = -w.blocked_ns;
	w.ready_ns = -w.ready_ns;
	return unless_foreign(qz_profile__add_wait(m->p, &w));
}

static int take_waking(struct maps *m, struct qz_waking w)
{
	if (!find_parts(m, &w.thread, &w.object))
		return 0;
	w.scope = m->scopes[w.scope];
	w.node = m->nodes[w.node];
	w.count = -w.count;
	w.woken_ns = -w.woken_ns;
	return unless_foreign(qz_profile__add_waking(m->p, &w));
}

static int take_call(struct maps *m, struct qz_call_count c)
{
	bool caller = c.caller != QZ_NONE;
	uint32_t found;

	c.scope = m->scopes[c.scope];
	c.caller = mapped(m->procedures, c.caller);
	c.callee = m->procedures[c.callee];
	if (c.scope == QZ_NONE || (caller && c.caller == QZ_NONE))
		return 0;
	found = qz_profile__find_call(m->p, &c);
	if (found != QZ_NONE)
		qz_figures__take(&m->p->calls[found], &c, qz_call_figures);
	return 0;
}

static int take_moment(struct maps *m, const struct qz_moment *moment)
{
	struct qz_moment key = {.scope = m->scopes[moment->scope], .n = moment->n};
	int err;

	key.members = calloc((size_t)key.n + 1, sizeof(*key.members));
	if (!key.members)
		return -ENOMEM;
	for (uint32_t i = 0; i < key.n; i++)
		key.members[i] = QZ_MEMBER(m->procedures[QZ_MEMBER_PROCEDURE(moment->members[i])] &
						   INT32_MAX,
					   QZ_MEMBER_SPINS(moment->members[i]));
	key.count = -moment->count;
	err = qz_profile__add_moment(m->p, &key);
	free(key.members);
	return unless_foreign(err);
}

static int take_groups(struct maps *m)
{
	const struct qz_profile *b = m->before;
	int err = 0;

	for (uint32_t i = 0; !err && i < b->nsamples; i++)
		err = take_sample(m, b->samples[i]);
	for (uint32_t i = 0; !err && i < b->nwaits; i++)
		err = take_wait(m, b->waits[i]);
	for (uint32_t i = 0; !err && i < b->nwakings; i++)
		err = take_waking(m, b->wakings[i]);
	for (uint32_t i = 0; !err && i < b->ncalls; i++)
		err = take_call(m, b->calls[i]);
	for (uint32_t i = 0; !err && i < b->nmoments; i++)
		err = take_moment(m, &b->moments[i]);
	return err;
}

static void not_below_0(uint64_t *figure)
{
	if (*figure > INT64_MAX)
		*figure = 0;
}

static void drop_empty(struct qz_profile *p)
{
	for (uint32_t i = 0; i < p->nsamples; i++) {
		not_below_0(&p->samples[i].count);
		not_below_0(&p->samples[i].seen);
	}
	for (uint32_t i = 0; i < p->nwaits; i++) {
		not_below_0(&p->waits[i].count);
		not_below_0(&p->waits[i].blocked_ns);
		not_below_0(&p->waits[i].ready_ns);
	}
	for (uint32_t i = 0; i < p->nwakings; i++) {
		not_below_0(&p->wakings[i].count);
		not_below_0(&p->wakings[i].woken_ns);
	}
	for (uint32_t i = 0; i < p->nmoments; i++)
		not_below_0(&p->moments[i].count);
	qz_profile__drop_empty_samples(p);
	qz_profile__drop_empty_waits(p);
}

static bool is_later(const struct qz_profile *p, const struct qz_profile *before)
{
	return p->wall_start_ns == before->wall_start_ns && p->window_ns >= before->window_ns &&
	       p->processors == before->processors && !strcmp(p->machine, before->machine);
}

int qz_profile__subtract(struct qz_profile *p, const struct qz_profile *before)
{
	struct maps m = {.p = p, .before = before};
	int err;

	if (!is_later(p, before))
		return -ESTALE;
	qz_profile__drop_unattributed(p);
	find_folded(&m);
	err = make_room(&m);
	err = err ? err : map_scopes(&m);
	err = err ? err : map_threads(&m);
	err = err ? err : map_code(&m);
	err = err ? err : map_waited_for(&m);
	err = err ? err : take_groups(&m);
	if (!err) {
		take_entities(&m);
		drop_empty(p);
		err = qz_profile__estimate(p);
	}
	free_maps(&m);
	return err;
}
