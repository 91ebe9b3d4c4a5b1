// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Captured stacks. Each different stack is stored once, however many tasks are submitted from it.
 */
#include <string.h>

#include "userlib/library.h"

#define TASK_PROBES 64

struct path {
	uint32_t count;
	uint32_t procedures[QZ_TASK_STACK];
};

static bool has(const struct path *p, uint32_t id)
{
	for (uint32_t i = 0; i < p->count; i++)
		if (p->procedures[i] == id)
			return true;
	return false;
}

/* Each procedure once, so that tasks that submit each other do not make paths longer and longer. */
static void append(struct path *p, const volatile uint32_t *ids, uint32_t count)
{
	for (uint32_t i = 0; i < count && p->count < QZ_TASK_STACK; i++) {
		uint32_t id = ids[i];

		if (id && !has(p, id))
			p->procedures[p->count++] = id;
	}
}

static void append_task(struct path *p, uint32_t task)
{
	const struct qz_task *t;
	uint32_t count;

	if (!task || task > QZ_TASKS)
		return;
	t = &library.tables->tasks[task - 1];
	count = load(&t->count);
	append(p, t->procedures, count < QZ_TASK_STACK ? count : QZ_TASK_STACK);
}

static void find_path(struct path *p, const struct quartz_slot_ *slot)
{
	uint32_t depth = slot->depth, base = QZ_TASK_BASE(slot->task);

	append_task(p, QZ_TASK_ID(slot->task));
	if (depth < QZ_SLOT_STACK && base < depth)
		append(p, slot->stack + base + 1, depth - base);
}

static uint32_t hash_of(const struct path *p)
{
	uint64_t hash = p->count;

	for (uint32_t i = 0; i < p->count; i++)
		hash = (hash ^ p->procedures[i]) * 0x9e3779b97f4a7c15ull;
	return (uint32_t)(hash >> 32) | 1;
}

static bool same(const struct qz_task *t, const struct path *p)
{
	return load(&t->count) == p->count &&
	       !memcmp(t->procedures, p->procedures, p->count * sizeof(p->procedures[0]));
}

static uint32_t first_place(uint32_t hash)
{
	return hash / 2 % QZ_TASKS;
}

static uint32_t find(const struct path *p, uint32_t hash)
{
	uint32_t place = first_place(hash);

	for (int i = 0; i < TASK_PROBES; i++, place = (place + 1) % QZ_TASKS) {
		const struct qz_task *t = &library.tables->tasks[place];
		uint32_t there = load(&t->hash);

		if (there == hash && same(t, p))
			return place + 1;
		if (!there)
			break;
	}
	return 0;
}

static uint32_t make(const struct path *p, uint32_t hash)
{
	struct qz_tables *tables = library.tables;
	uint32_t place = first_place(hash);

	for (int i = 0; i < TASK_PROBES; i++, place = (place + 1) % QZ_TASKS) {
		struct qz_task *t = &tables->tasks[place];
		uint32_t there = load(&t->hash);

		if (!there && replace(&t->hash, &there, hash)) {
			memcpy(t->procedures, p->procedures, p->count * sizeof(p->procedures[0]));
			store(&t->count, p->count);
			add(&tables->header.tasks_used, 1);
			return place + 1;
		}
		if (there == hash && same(t, p))
			return place + 1;
	}
	add(&tables->header.tasks_refused, 1);
	return 0;
}

exported uint32_t quartz_task_capture(void)
{
	const struct quartz_slot_ *slot = quartz_slot_();
	uint32_t task, hash;
	struct path path;

	if (!slot)
		return 0;
	path.count = 0;
	find_path(&path, slot);
	if (!path.count)
		return 0;
	hash = hash_of(&path);
	task = find(&path, hash);
	if (!task && symbols__begin()) {
		task = make(&path, hash);
		symbols__end();
	}
	return task;
}
