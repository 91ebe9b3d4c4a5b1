/* SPDX-License-Identifier: GPL-2.0-only */
/* Causes, objects, waits and wake-ups of a profile. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/profile_index.h"

/* ---- causes ---- */

static bool cause_equal(const void *context, uint32_t index, const void *key)
{
	const struct qz_profile *p = context;

	return !strcmp(p->causes[index], key);
}

int64_t qz_profile__intern_cause(struct qz_profile *p, const char *name)
{
	uint32_t hash = qz_hash__string(0, name);
	uint32_t found = qz_table__find(&p->index->causes, hash, cause_equal, p, name);
	char **causes, *copy;

	if (found != QZ_NONE)
		return found;
	if (qz_table__reserve(&p->index->causes))
		return -ENOMEM;
	causes = qz_array__room(p->causes, p->ncauses, sizeof(*causes));
	if (!causes)
		return -errno;
	p->causes = causes;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	causes[p->ncauses] = copy;
	qz_table__insert(&p->index->causes, hash, p->ncauses);
	return p->ncauses++;
}

/* ---- objects ---- */

static bool object_equal(const void *context, uint32_t index, const void *key)
{
	const struct qz_profile *p = context;
	const struct qz_object *a = &p->objects[index], *b = key;

	return a->scope == b->scope && a->kind == b->kind && !strcmp(a->name, b->name) &&
	       !strcmp(a->module, b->module);
}

int64_t qz_profile__intern_object(struct qz_profile *p, const struct qz_object *key)
{
	struct qz_object new = {
		.scope = key->scope, .kind = key->kind, .pid = key->pid, .address = key->address};
	uint32_t hash, found;
	struct qz_object *objects;

	if (key->scope >= p->nscopes || key->kind >= QZ_OBJECT_KINDS || !key->name[0])
		return -EINVAL;
	hash = qz_hash__string(qz_hash__number(key->scope, key->kind), key->name);
	found = qz_table__find(&p->index->objects, hash, object_equal, p, key);
	if (found != QZ_NONE)
		return found;
	if (qz_table__reserve(&p->index->objects))
		return -ENOMEM;
	objects = qz_array__room(p->objects, p->nobjects, sizeof(*objects));
	if (!objects)
		return -errno;
	p->objects = objects;
	if (qz_profile__set_string(&new.name, key->name) ||
	    qz_profile__set_string(&new.module, key->module)) {
		free(new.name);
		return -ENOMEM;
	}
	objects[p->nobjects] = new;
	qz_table__insert(&p->index->objects, hash, p->nobjects);
	return p->nobjects++;
}

/* ---- waits ---- */

static uint32_t wait_hash(const struct qz_wait *w)
{
	uint32_t hash = qz_hash__number(w->scope, (uint64_t)w->thread << 32 | w->node);

	hash = qz_hash__number(hash, (uint64_t)w->cause << 32 | w->object);
	return qz_hash__number(hash, w->nominal);
}

static bool wait_equal(const void *context, uint32_t index, const void *key)
{
	const struct qz_profile *p = context;
	const struct qz_wait *a = &p->waits[index], *b = key;

	return a->scope == b->scope && a->thread == b->thread && a->node == b->node &&
	       a->cause == b->cause && a->object == b->object && a->nominal == b->nominal;
}

static bool wait_valid(const struct qz_profile *p, const struct qz_wait *w)
{
	return w->scope < p->nscopes && w->node < p->nnodes && w->cause < p->ncauses &&
	       qz_profile__thread_of(p, w->thread, w->scope) &&
	       qz_profile__object_of(p, w->object, w->scope);
}

int qz_profile__add_wait(struct qz_profile *p, const struct qz_wait *wait)
{
	uint32_t hash = wait_hash(wait), found;
	struct qz_wait *waits;

	if (!wait_valid(p, wait))
		return -EINVAL;
	found = qz_table__find(&p->index->waits, hash, wait_equal, p, wait);
	if (found != QZ_NONE) {
		p->waits[found].count += wait->count;
		p->waits[found].blocked_ns += wait->blocked_ns;
		p->waits[found].ready_ns += wait->ready_ns;
		return 0;
	}
	if (qz_table__reserve(&p->index->waits))
		return -ENOMEM;
	waits = qz_array__room(p->waits, p->nwaits, sizeof(*waits));
	if (!waits)
		return -errno;
	p->waits = waits;
	waits[p->nwaits] = *wait;
	qz_table__insert(&p->index->waits, hash, p->nwaits);
	p->nwaits++;
	return 0;
}

/* ---- wake-ups ---- */

static uint32_t waking_hash(const struct qz_waking *w)
{
	uint32_t hash = qz_hash__number(w->scope, (uint64_t)w->thread << 32 | w->node);

	return qz_hash__number(hash, w->object);
}

static bool waking_equal(const void *context, uint32_t index, const void *key)
{
	const struct qz_profile *p = context;
	const struct qz_waking *a = &p->wakings[index], *b = key;

	return a->scope == b->scope && a->thread == b->thread && a->node == b->node &&
	       a->object == b->object;
}

static bool waking_valid(const struct qz_profile *p, const struct qz_waking *w)
{
	return w->scope < p->nscopes && w->node < p->nnodes &&
	       qz_profile__thread_of(p, w->thread, w->scope) &&
	       qz_profile__object_of(p, w->object, w->scope);
}

int qz_profile__add_waking(struct qz_profile *p, const struct qz_waking *waking)
{
	uint32_t hash = waking_hash(waking), found;
	struct qz_waking *wakings;

	if (!waking_valid(p, waking))
		return -EINVAL;
	found = qz_table__find(&p->index->wakings, hash, waking_equal, p, waking);
	if (found != QZ_NONE) {
		p->wakings[found].count += waking->count;
		p->wakings[found].woken_ns += waking->woken_ns;
		return 0;
	}
	if (qz_table__reserve(&p->index->wakings))
		return -ENOMEM;
	wakings = qz_array__room(p->wakings, p->nwakings, sizeof(*wakings));
	if (!wakings)
		return -errno;
	p->wakings = wakings;
	wakings[p->nwakings] = *waking;
	qz_table__insert(&p->index->wakings, hash, p->nwakings);
	p->nwakings++;
	return 0;
}

void qz_profile__drop_empty_waits(struct qz_profile *p)
{
	uint32_t kept = 0;

	qz_table__clear(&p->index->waits);
	for (uint32_t i = 0; i < p->nwaits; i++) {
		struct qz_wait w = p->waits[i];

		if (!w.count && !w.blocked_ns && !w.ready_ns)
			continue;
		p->waits[kept] = w;
		qz_table__insert(&p->index->waits, wait_hash(&w), kept++);
	}
	p->nwaits = kept;
	kept = 0;
	qz_table__clear(&p->index->wakings);
	for (uint32_t i = 0; i < p->nwakings; i++) {
		struct qz_waking w = p->wakings[i];

		if (!w.count && !w.woken_ns)
			continue;
		p->wakings[kept] = w;
		qz_table__insert(&p->index->wakings, waking_hash(&w), kept++);
	}
	p->nwakings = kept;
}
