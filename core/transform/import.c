/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/transform/import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/model/fields.h"

static enum qz_fate fate_of(const struct qz_import *m, uint32_t scope)
{
	return m->fates ? m->fates[scope] : QZ_FATE_OWN;
}

static bool is_folded(const struct qz_import *m, uint32_t scope)
{
	return fate_of(m, scope) == QZ_FATE_FOLDED;
}

/* Of a later state, where it was folded as it was. */
static bool is_summed(const struct qz_import *m, uint32_t scope)
{
	return fate_of(m, scope) == QZ_FATE_SUMMED || (is_folded(m, scope) && !m->earlier);
}

/* ---- scopes ---- */

static uint32_t scope_hash(const struct qz_scope *s)
{
	return qz_hash_table__hash_number(qz_hash_table__hash_number(s->kind, (uint32_t)s->pid),
					  s->start_ns);
}

static bool same_scope(const void *context, uint32_t index, const void *key)
{
	const struct qz_scope *a = &((const struct qz_profile *)context)->scopes[index], *b = key;

	return a->kind == b->kind && a->pid == b->pid && a->start_ns == b->start_ns;
}

/* Threads seen earlier may live on: these are not a part of those seen. */
static unsigned int uses_of(const struct qz_import *m)
{
	return m->earlier ? QZ_TAKES : QZ_ADDS;
}

static int64_t new_scope(struct qz_import *m, const struct qz_scope *from)
{
	struct qz_scope key = {
		.kind = from->kind,
		.pid = from->pid,
		.comm = from->comm,
		.command = from->command,
		.cgroup = from->cgroup,
		.start_ns = from->start_ns,
		.threads_before = from->threads_before,
		.nlevels = from->nlevels,
	};

	return qz_profile__add_scope(m->to, &key);
}

/* A process is called, and is where it was, as it was last seen. */
static int describe_scope(struct qz_scope *to, const struct qz_scope *from)
{
	int err = qz_profile__set_string(&to->comm, from->comm);

	to->ended = from->ended;
	to->children = from->children;
	to->quota_us = from->quota_us;
	to->quota_period_us = from->quota_period_us;
	err = err ? err : qz_profile__set_string(&to->cpuset, from->cpuset);
	err = err ? err : qz_profile__set_string(&to->quota_cgroup, from->quota_cgroup);
	return err ? err : qz_profile__set_string(&to->cgroup, from->cgroup);
}

static int import_scope(struct qz_import *m, uint32_t i)
{
	const struct qz_scope *from = &m->from->scopes[i];
	uint32_t hash = scope_hash(from), *entry = &m->maps.scopes[i];
	struct qz_scope *to;
	int64_t index;
	int err = 0;

	if (!m->distinct)
		*entry = qz_hash_table__find(&m->scopes, hash, same_scope, m->to, from);
	if (*entry == QZ_NONE) {
		if (qz_hash_table__reserve(&m->scopes))
			return -ENOMEM;
		index = qz_import__keep(entry, new_scope(m, from));
		if (index < 0)
			return (int)index;
		qz_hash_table__insert(&m->scopes, hash, *entry);
	}
	to = &m->to->scopes[*entry];
	if (!m->earlier)
		err = describe_scope(to, from);
	return err ? err : qz_scope__add_those(to, from, uses_of(m));
}

static bool is_kept(const struct qz_import *m, uint32_t scope)
{
	return fate_of(m, scope) != QZ_FATE_NONE && !m->from->scopes[scope].vacant;
}

static bool is_idle_scope(const struct qz_scope *s)
{
	return !s->elapsed_ns && !s->cpu_ns && !s->runnable_ns && !s->samples &&
	       !s->counters.threads_seen;
}

static int import_scopes(struct qz_import *m)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < m->from->nscopes; i++) {
		const struct qz_scope *s = &m->from->scopes[i];

		if (!is_folded(m, i)) {
			if (is_kept(m, i) && !(m->busy && is_idle_scope(s)))
				err = import_scope(m, i);
			continue;
		}
		m->maps.scopes[i] = m->folded;
		if (m->folded != QZ_NONE)
			err = qz_scope__add_those(&m->to->scopes[m->folded], s, uses_of(m));
	}
	return err;
}

static int need_scope(struct qz_import *m, uint32_t i)
{
	return m->maps.scopes[i] == QZ_NONE && !is_folded(m, i) ? import_scope(m, i) : 0;
}

/* ---- threads ---- */

static uint32_t thread_hash(const struct qz_thread *t)
{
	uint32_t hash = qz_hash_table__hash_number(t->scope, t->merged);

	return t->merged ? qz_hash_table__hash_string(hash, t->comm)
			 : qz_hash_table__hash_number(
				   qz_hash_table__hash_number(hash, (uint32_t)t->tid), t->start_ns);
}

static bool same_thread(const void *context, uint32_t index, const void *key)
{
	const struct qz_thread *a = &((const struct qz_profile *)context)->threads[index];
	const struct qz_thread *b = key;

	if (a->scope != b->scope || a->merged != b->merged)
		return false;
	return a->merged ? !strcmp(a->comm, b->comm)
			 : a->tid == b->tid && a->start_ns == b->start_ns;
}

static int describe_thread(struct qz_thread *to, const struct qz_thread *key)
{
	int err = qz_profile__set_string(&to->comm, key->comm);

	to->ended = key->ended;
	err = err ? err : qz_profile__set_string(&to->cpus, key->cpus);
	return err ? err : qz_profile__set_string(&to->name, key->name);
}

/* The row that stands for all threads of a scope. */
static void make_common(struct qz_thread *key)
{
	key->tid = 0;
	key->comm = key->name = key->cpus = (char *)"";
	key->ended = false;
	key->merged = true;
}

static int import_thread(struct qz_import *m, uint32_t i)
{
	struct qz_thread key = m->from->threads[i], *to;
	uint32_t hash, *entry = &m->maps.threads[i];
	int64_t index;
	int err = need_scope(m, key.scope);

	if (err)
		return err;
	if (is_summed(m, key.scope))
		make_common(&key);
	key.scope = m->maps.scopes[key.scope];
	qz_fields__clear(&key, qz_thread_fields, QZ_ADDS);
	key.loop.longest_ns = 0;
	hash = thread_hash(&key);
	if (!m->distinct)
		*entry = qz_hash_table__find(&m->threads, hash, same_thread, m->to, &key);
	if (*entry == QZ_NONE && m->earlier)
		return 0;
	if (*entry == QZ_NONE) {
		if (qz_hash_table__reserve(&m->threads))
			return -ENOMEM;
		index = qz_import__keep(entry, qz_profile__add_thread(m->to, &key));
		if (index < 0)
			return (int)index;
		qz_hash_table__insert(&m->threads, hash, *entry);
	}
	to = &m->to->threads[*entry];
	if (!m->earlier)
		err = describe_thread(to, &key);
	qz_thread__add(to, &m->from->threads[i]);
	return err;
}

static bool is_idle_thread(const struct qz_thread *t)
{
	return !t->cpu_ns && !t->running_ns && !t->ready_ns && !t->blocked_ns && !t->unknown_ns;
}

/* Of a later state, those of a scope that was folded are in one row there. */
static int import_threads(struct qz_import *m)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < m->from->nthreads; i++) {
		const struct qz_thread *t = &m->from->threads[i];

		if (!m->earlier || !is_folded(m, t->scope)) {
			if (is_kept(m, t->scope) && !t->vacant && !(m->busy && is_idle_thread(t)))
				err = import_thread(m, i);
			continue;
		}
		m->maps.threads[i] = m->folded_row;
		if (m->folded_row != QZ_NONE)
			qz_thread__add(&m->to->threads[m->folded_row], t);
	}
	return err;
}

/* ---- objects ---- */

static int import_object(struct qz_import *m, uint32_t i)
{
	const struct qz_object *from = &m->from->objects[i];
	struct qz_object key = *from, *to;
	uint32_t before = m->to->nobjects;
	int64_t index;

	if (is_folded(m, from->scope) || is_summed(m, from->scope) || m->maps.objects[i] != QZ_NONE)
		return 0;
	index = need_scope(m, from->scope);
	if (index < 0)
		return (int)index;
	key.scope = m->maps.scopes[from->scope];
	index = qz_import__keep(&m->maps.objects[i], qz_waits__intern_object(m->to, &key));
	if (index < 0)
		return (int)index;
	to = &m->to->objects[index];
	if (m->to->nobjects > before || from->grouped > to->grouped)
		to->grouped = from->grouped;
	qz_fields__add(to, from, qz_object_fields);
	return 0;
}

static bool is_idle_object(const struct qz_object *o)
{
	return !o->waits && !o->wakes && !o->wait_ns;
}

static int import_objects(struct qz_import *m)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < m->from->nobjects; i++) {
		const struct qz_object *o = &m->from->objects[i];

		if (is_kept(m, o->scope) && !o->vacant && !(m->busy && is_idle_object(o)))
			err = import_object(m, i);
	}
	return err;
}

/* ---- what refers to them ---- */

/* Those that anything refers to, if they were left out as idle. */
static int need(struct qz_import *m, uint32_t scope, uint32_t thread, uint32_t object)
{
	int err = need_scope(m, scope);

	if (!err && thread != QZ_NONE && m->maps.threads[thread] == QZ_NONE)
		err = import_thread(m, thread);
	if (!err && object != QZ_NONE && m->maps.objects[object] == QZ_NONE)
		err = import_object(m, object);
	return err;
}

static uint32_t map_of(const uint32_t *map, uint32_t i)
{
	return i == QZ_NONE ? QZ_NONE : map[i];
}

/* Whether `to`, a later state, does not have what they are of; objects of scopes that were folded have gone. */
static bool is_gone(const struct qz_import *m, uint32_t scope, uint32_t thread, uint32_t object)
{
	return m->maps.scopes[scope] == QZ_NONE ||
	       (thread != QZ_NONE && m->maps.threads[thread] == QZ_NONE) ||
	       (object != QZ_NONE && m->maps.objects[object] == QZ_NONE &&
		!is_folded(m, m->from->objects[object].scope));
}

/* Outside of the kernel, on whose behalf that runs. */
static uint32_t own_code(const struct qz_profile *p, uint32_t node)
{
	while (node) {
		const struct qz_location *l = &p->locations[p->nodes[node].location];

		if (!l->nlines || strcmp(p->procedures[l->lines[0].procedure].module, "[kernel]"))
			break;
		node = p->nodes[node].parent;
	}
	return node;
}

/* Samples, waits and wake-ups are of a scope, a thread, an object and a stack. */
static int import_parts(struct qz_import *m, uint32_t *scope, uint32_t *thread, uint32_t *object,
			uint32_t *node)
{
	bool cut = is_summed(m, *scope);
	int64_t leaf;
	int err;

	if (cut)
		*object = QZ_NONE;
	if (m->for_user)
		*node = own_code(m->from, *node);
	err = need(m, *scope, *thread, *object);
	if (err)
		return err;
	if (m->earlier && is_gone(m, *scope, *thread, *object))
		return -ENOENT;
	leaf = cut ? qz_import__innermost(m, *node) : qz_import__node(m, *node);
	if (leaf < 0)
		return (int)leaf;
	*scope = m->maps.scopes[*scope];
	*thread = map_of(m->maps.threads, *thread);
	*object = map_of(m->maps.objects, *object);
	*node = (uint32_t)leaf;
	return 0;
}

/* Time without a sample, and that in libquartz, are estimated again. */
static int import_sample(struct qz_import *m, uint32_t i)
{
	struct qz_sample s = m->from->samples[i];
	int err;

	if (!s.count || !is_kept(m, s.scope))
		return 0;
	err = import_parts(m, &s.scope, &s.thread, &s.object, &s.node);
	return err ? err : qz_profile__add_samples(m->to, &s);
}

static int import_wait(struct qz_import *m, uint32_t i)
{
	struct qz_wait w = m->from->waits[i];
	int64_t cause;
	int err;

	if (!is_kept(m, w.scope) || is_summed(m, w.scope) ||
	    (!w.count && !w.blocked_ns && !w.ready_ns))
		return 0;
	err = import_parts(m, &w.scope, &w.thread, &w.object, &w.node);
	cause = err ? err : qz_import__cause(m, w.cause);
	if (cause < 0)
		return (int)cause;
	w.cause = (uint32_t)cause;
	return qz_waits__add(m->to, &w);
}

static int import_waking(struct qz_import *m, uint32_t i)
{
	struct qz_waking w = m->from->wakings[i];
	int err;

	if (!is_kept(m, w.scope) || is_summed(m, w.scope) || (!w.count && !w.woken_ns))
		return 0;
	if (m->for_user && w.thread == QZ_NONE)
		return 0; /* a stranger's code */
	err = import_parts(m, &w.scope, &w.thread, &w.object, &w.node);
	return err ? err : qz_waits__add_waking(m->to, &w);
}

static int import_call(struct qz_import *m, uint32_t i)
{
	struct qz_call_count c = m->from->calls[i];
	int64_t caller = QZ_NONE, callee, index;

	if (!is_kept(m, c.scope) || is_summed(m, c.scope) || (m->busy && !c.count))
		return 0;
	callee = qz_import__procedure(m, c.callee);
	index = need_scope(m, c.scope);
	if (index < 0)
		return (int)index;
	if (c.caller != QZ_NONE)
		caller = qz_import__procedure(m, c.caller);
	if (caller < 0 || callee < 0)
		return (int)(caller < 0 ? caller : callee);
	c.scope = m->maps.scopes[c.scope];
	c.caller = (uint32_t)caller;
	c.callee = (uint32_t)callee;
	index = qz_import__keep(&m->maps.calls[i], qz_call_counts__intern(m->to, &c));
	if (index < 0)
		return (int)index;
	qz_fields__add(&m->to->calls[index], &c, qz_call_fields);
	return 0;
}

static int import_round(struct qz_import *m, uint32_t i)
{
	struct qz_round round = m->from->rounds[i];
	int64_t procedure = 0;
	int err;

	if (m->for_user || is_summed(m, round.scope) || (m->busy && !round.count))
		return 0;
	err = need_scope(m, round.scope);
	if (err)
		return err;
	round.scope = m->maps.scopes[round.scope];
	round.members = calloc(round.n + 1, sizeof(*round.members));
	if (!round.members)
		return -ENOMEM;
	for (uint32_t k = 0; procedure >= 0 && k < round.n; k++) {
		uint32_t member = m->from->rounds[i].members[k];

		procedure = qz_import__procedure(m, QZ_MEMBER_PROCEDURE(member));
		round.members[k] = QZ_MEMBER((uint32_t)procedure, QZ_MEMBER_SPINS(member));
	}
	err = procedure < 0 ? (int)procedure : qz_rounds__add(m->to, &round);
	free(round.members);
	return err;
}

static int import_each(struct qz_import *m, uint32_t n,
		       int (*import)(struct qz_import *m, uint32_t i))
{
	int err = 0;

	for (uint32_t i = 0; !err && i < n; i++) {
		err = import(m, i);
		/* what a later state has no place for is not in it */
		if (m->earlier && err != -ENOMEM)
			err = 0;
	}
	return err;
}

/* ---- the run ---- */

/* The run is called as its latest part is; it began when its first one did. */
static int describe_run(struct qz_profile *to, const struct qz_profile *from)
{
	int err = qz_profile__set_string(&to->quartz_version, from->quartz_version);

	err = err ? err : qz_profile__set_string(&to->kernel, from->kernel);
	err = err ? err : qz_profile__set_string(&to->machine, from->machine);
	err = err ? err : qz_profile__set_string(&to->event, from->event);
	to->rate_hz = from->rate_hz;
	if (from->processors > to->processors)
		to->processors = from->processors;
	if (!to->wall_start_ns || from->wall_start_ns < to->wall_start_ns)
		to->wall_start_ns = from->wall_start_ns;
	to->halvings = from->halvings;
	to->ceiling_ppm = from->ceiling_ppm;
	to->live = from->live;
	to->wakes_sampled |= from->wakes_sampled;
	to->addresses_sampled |= from->addresses_sampled;
	if (!to->instants.rate_hz)
		to->instants.rate_hz = from->instants.rate_hz;
	to->instants.sampled |= from->instants.sampled;
	if (from->instants.skew_max_ns > to->instants.skew_max_ns)
		to->instants.skew_max_ns = from->instants.skew_max_ns;
	return err;
}

static int import_run(struct qz_import *m)
{
	const struct qz_profile *from = m->from;
	struct qz_profile *to = m->to;
	int err = m->earlier ? 0 : describe_run(to, from);

	qz_fields__add(to, from, qz_run_fields);
	qz_fields__add(to, from, qz_cost_fields);
	qz_fields__add(&to->instants, &from->instants, qz_instants_fields);
	return err ? err : qz_ledger__add(&to->ledger, &from->ledger);
}

static int import_all(struct qz_import *m)
{
	const struct qz_profile *from = m->from;
	int err = import_scopes(m);

	err = err ? err : import_threads(m);
	err = err ? err : import_objects(m);
	err = err ? err : import_each(m, from->nsamples, import_sample);
	err = err ? err : import_each(m, from->nwaits, import_wait);
	err = err ? err : import_each(m, from->nwakings, import_waking);
	err = err ? err : import_each(m, from->ncalls, import_call);
	err = err ? err : import_each(m, from->nrounds, import_round);
	return err ? err : import_run(m);
}

/* ---- one merging ---- */

bool qz_import__knows_scope(const struct qz_import *m, const struct qz_scope *scope)
{
	return qz_hash_table__find(&m->scopes, scope_hash(scope), same_scope, m->to, scope) !=
	       QZ_NONE;
}

static int know(struct qz_hash_table *table, uint32_t hash, uint32_t index)
{
	int err = qz_hash_table__reserve(table);

	if (!err)
		qz_hash_table__insert(table, hash, index);
	return err;
}

int qz_import__begin(struct qz_import *m)
{
	int err = qz_maps__new(&m->maps, m->from);

	for (uint32_t i = 0; !err && i < m->to->nscopes; i++)
		err = know(&m->scopes, scope_hash(&m->to->scopes[i]), i);
	for (uint32_t i = 0; !err && i < m->to->nthreads; i++)
		err = know(&m->threads, thread_hash(&m->to->threads[i]), i);
	return err;
}

int qz_import__run(struct qz_import *m)
{
	int err = m->maps.scopes ? 0 : qz_import__begin(m);

	return err ? err : import_all(m);
}

void qz_import__end(struct qz_import *m)
{
	qz_hash_table__free(&m->scopes);
	qz_hash_table__free(&m->threads);
	qz_maps__free(&m->maps);
}

int qz_import__once(struct qz_import *m)
{
	int err = qz_import__run(m);

	qz_import__end(m);
	return err;
}

void qz_import__forget_ended(struct qz_import *m, uint64_t before_ns, uint32_t whole)
{
	for (uint32_t i = 0; i < m->from->nthreads; i++) {
		const struct qz_thread *t = &m->from->threads[i];
		uint32_t scope = m->maps.scopes[t->scope];

		if (t->scope != whole && scope != QZ_NONE && t->ended && !t->merged &&
		    t->end_ns < before_ns && m->to->scopes[scope].counters.threads_seen)
			m->to->scopes[scope].counters.threads_seen--;
	}
}
