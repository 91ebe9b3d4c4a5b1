/* SPDX-License-Identifier: GPL-2.0-only */
/* Causes, objects, waits and wake-ups of a profile. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/util/vec.h"
#include "core/model/profile_index.h"

/* ---- causes ---- */

static bool cause_equal(const void *context, uint32_t index, const void *key)
{
	const struct qz_profile *p = context;

	return !strcmp(p->causes[index], key);
}

int64_t qz_waits__intern_cause(struct qz_profile *p, const char *name)
{
	uint32_t hash = qz_hash_table__hash_string(0, name);
	uint32_t found = qz_hash_table__find(&p->index->causes, hash, cause_equal, p, name);
	int64_t index;
	char *copy;

	if (found != QZ_NONE)
		return found;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	index = qz_hash_table__append(&p->index->causes, hash, (void **)&p->causes, &p->ncauses,
				      &copy, sizeof(copy));
	if (index < 0)
		free(copy);
	return index;
}

/* ---- objects ---- */

static bool object_equal(const void *context, uint32_t index, const void *key)
{
	const struct qz_profile *p = context;
	const struct qz_object *a = &p->objects[index], *b = key;

	return a->scope == b->scope && a->kind == b->kind && !strcmp(a->name, b->name) &&
	       !strcmp(a->module, b->module);
}

static uint32_t object_hash(const struct qz_object *o)
{
	return qz_hash_table__hash_string(qz_hash_table__hash_number(o->scope, o->kind), o->name);
}

static const struct qz_entities object_entities =
	QZ_ENTITIES(objects, nobjects, vacant_objects, first_object, struct qz_object);

int64_t qz_waits__intern_object(struct qz_profile *p, const struct qz_object *key)
{
	struct qz_object new = {
		.scope = key->scope, .kind = key->kind, .pid = key->pid, .address = key->address};
	uint32_t hash, found;
	int64_t row = -ENOMEM;

	if (key->scope >= p->nscopes || key->kind >= QZ_OBJECT_KINDS || !key->name[0])
		return -EINVAL;
	hash = object_hash(key);
	found = qz_hash_table__find(&p->index->objects, hash, object_equal, p, key);
	if (found != QZ_NONE)
		return found;
	if (qz_hash_table__reserve(&p->index->objects))
		return -ENOMEM;
	if (!qz_profile__set_string(&new.name, key->name) &&
	    !qz_profile__set_string(&new.module, key->module))
		row = qz_entities__room(p, &object_entities);
	if (row < 0) {
		free(new.name);
		free(new.module);
		return row;
	}
	if (row < p->nobjects) {
		free(p->objects[row].name);
		free(p->objects[row].module);
	}
	qz_hash_table__insert(&p->index->objects, hash, (uint32_t)row);
	return qz_entities__put(p, &object_entities, row, &new);
}

int64_t qz_waits__rename_object(struct qz_profile *p, uint32_t object, const struct qz_object *key)
{
	struct qz_object *o = &p->objects[object];
	uint32_t hash = object_hash(key), found;

	found = qz_hash_table__find(&p->index->objects, hash, object_equal, p, key);
	if (found != QZ_NONE)
		return found;
	if (key->scope != o->scope || key->kind >= QZ_OBJECT_KINDS || !key->name[0])
		return -EINVAL;
	if (qz_hash_table__reserve(&p->index->objects) ||
	    qz_profile__set_string(&o->name, key->name) ||
	    qz_profile__set_string(&o->module, key->module))
		return -ENOMEM;
	o->kind = key->kind;
	o->address = key->address;
	/* the entry of the name before stays: nothing equals it any more */
	qz_hash_table__insert(&p->index->objects, hash, object);
	return object;
}

static void vacate_object(struct qz_profile *p, uint32_t object, uint32_t scope)
{
	struct qz_object *o = &p->objects[object], empty = {.scope = scope};

	empty.name = o->name;
	empty.module = o->module;
	qz_profile__empty_string(&empty.name);
	qz_profile__empty_string(&empty.module);
	*o = empty;
	qz_entities__vacate(p, &object_entities, object);
}

void qz_objects__vacate(struct qz_profile *p, const bool *marked, uint32_t scope)
{
	qz_hash_table__clear(&p->index->objects);
	for (uint32_t i = 0; i < p->nobjects; i++) {
		if (marked[p->objects[i].scope])
			vacate_object(p, i, scope);
		if (!p->objects[i].vacant)
			qz_hash_table__insert(&p->index->objects, object_hash(&p->objects[i]), i);
	}
}

/* ---- waits ---- */

static uint32_t wait_hash(const void *row)
{
	const struct qz_wait *w = row;
	uint32_t hash = qz_hash_table__hash_number(w->scope, (uint64_t)w->thread << 32 | w->node);

	hash = qz_hash_table__hash_number(hash, (uint64_t)w->cause << 32 | w->object);
	return qz_hash_table__hash_number(hash, w->nominal);
}

static bool wait_equal(const void *context, uint32_t index, const void *key)
{
	const struct qz_profile *p = context;
	const struct qz_wait *a = &p->waits[index], *b = key;

	return a->scope == b->scope && a->thread == b->thread && a->node == b->node &&
	       a->cause == b->cause && a->object == b->object && a->nominal == b->nominal;
}

const struct qz_rows qz_wait_rows = QZ_ROWS(waits, nwaits, waits, struct qz_wait, .hash = wait_hash,
					    .equal = wait_equal, .figures = qz_wait_fields);

static bool wait_valid(const struct qz_profile *p, const struct qz_wait *w)
{
	return w->scope < p->nscopes && w->node < p->nnodes && w->cause < p->ncauses &&
	       qz_profile__thread_of(p, w->thread, w->scope) &&
	       qz_profile__object_of(p, w->object, w->scope);
}

int qz_waits__add(struct qz_profile *p, const struct qz_wait *wait)
{
	return wait_valid(p, wait) ? qz_rows__add(p, &qz_wait_rows, wait) : -EINVAL;
}

int qz_waits__open(struct qz_profile *p, const struct qz_wait *wait)
{
	int err = qz_array__reserve((void **)&p->open, p->nopen, sizeof(*p->open));

	err = err ? err : qz_waits__add(p, wait);
	if (!err)
		p->open[p->nopen++] = *wait;
	return err;
}

void qz_waits__close_all(struct qz_profile *p)
{
	for (uint32_t i = 0; i < p->nopen; i++) {
		const struct qz_wait *open = &p->open[i];
		uint32_t row =
			qz_hash_table__find(&p->index->waits, wait_hash(open), wait_equal, p, open);

		if (row == QZ_NONE)
			continue; /* there was nothing of it */
		for (uint32_t k = 0; k < qz_fields__count(qz_wait_fields); k++)
			*qz_fields__at(&p->waits[row], qz_wait_fields, k) -=
				*qz_fields__at(&p->open[i], qz_wait_fields, k);
	}
	free(p->open);
	p->open = NULL;
	p->nopen = 0;
}

/* ---- wake-ups ---- */

static uint32_t waking_hash(const void *row)
{
	const struct qz_waking *w = row;
	uint32_t hash = qz_hash_table__hash_number(w->scope, (uint64_t)w->thread << 32 | w->node);

	return qz_hash_table__hash_number(hash, w->object);
}

static bool waking_equal(const void *context, uint32_t index, const void *key)
{
	const struct qz_profile *p = context;
	const struct qz_waking *a = &p->wakings[index], *b = key;

	return a->scope == b->scope && a->thread == b->thread && a->node == b->node &&
	       a->object == b->object;
}

const struct qz_rows qz_waking_rows = QZ_ROWS(wakings, nwakings, wakings, struct qz_waking,
					      .hash = waking_hash, .equal = waking_equal,
					      .figures = qz_waking_fields);

static bool waking_valid(const struct qz_profile *p, const struct qz_waking *w)
{
	return w->scope < p->nscopes && w->node < p->nnodes &&
	       qz_profile__thread_of(p, w->thread, w->scope) &&
	       qz_profile__object_of(p, w->object, w->scope);
}

int qz_waits__add_waking(struct qz_profile *p, const struct qz_waking *waking)
{
	return waking_valid(p, waking) ? qz_rows__add(p, &qz_waking_rows, waking) : -EINVAL;
}

static bool is_wait(void *context, void *row)
{
	const struct qz_wait *w = row;

	(void)context;
	return w->count || w->blocked_ns || w->ready_ns;
}

static bool is_waking(void *context, void *row)
{
	const struct qz_waking *w = row;

	(void)context;
	return w->count || w->woken_ns;
}

void qz_waits__drop_empty(struct qz_profile *p)
{
	qz_rows__change(p, &qz_wait_rows, is_wait, NULL);
	qz_rows__change(p, &qz_waking_rows, is_waking, NULL);
}
