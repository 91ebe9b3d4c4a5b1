// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "daemon/kernel/bpf_scopes.h"
#include "daemon/kernel/map_quota.h"

struct map_quota {
	struct bpf_runtime *bpf;
	uint32_t *counts; /* by scope */
	uint32_t nscopes, all;
};

struct map_quota *map_quota__new(struct bpf_runtime *bpf)
{
	struct map_quota *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->bpf = bpf;
	s->nscopes = bpf_runtime__max_scopes(bpf);
	s->counts = calloc(s->nscopes, sizeof(*s->counts));
	if (s->counts)
		return s;
	free(s);
	return NULL;
}

void map_quota__free(struct map_quota *s)
{
	if (!s)
		return;
	free(s->counts);
	free(s);
}

/* BPF programs only count up. Below a quarter of the table they refuse nothing, so no recount is needed. */
static bool must_count(const struct map_quota *s, enum qz_share what, uint32_t size)
{
	return __atomic_load_n(&bpf_runtime__control(s->bpf)->shared[what], __ATOMIC_RELAXED) >
	       size / 4;
}

static void begin(struct map_quota *s)
{
	memset(s->counts, 0, s->nscopes * sizeof(*s->counts));
	s->all = 0;
}

static void count(struct map_quota *s, uint64_t in_use, uint32_t scope)
{
	if (!in_use)
		return;
	s->all++;
	if (scope < s->nscopes)
		s->counts[scope]++;
}

static void end(struct map_quota *s, enum qz_share what)
{
	for (uint32_t i = 0; i < s->nscopes; i++)
		bpf_scopes__set_share(s->bpf, i, what, s->counts[i]);
	__atomic_store_n(&bpf_runtime__control(s->bpf)->shared[what], s->all, __ATOMIC_RELAXED);
}

static void count_stacks(struct map_quota *s, const struct bpf_runtime_waits *tables)
{
	begin(s);
	for (uint32_t i = 0; i < tables->nstacks; i++)
		count(s, tables->stacks[i].stack.hash, tables->stacks[i].scope);
	end(s, QZ_SHARE_STACKS);
}

static void count_waits(struct map_quota *s, const struct bpf_runtime_waits *tables)
{
	begin(s);
	for (uint32_t i = 0; i < tables->nslots; i++)
		count(s, tables->slots[i].key, tables->slots[i].scope);
	end(s, QZ_SHARE_WAITS);
}

static void count_objects(struct map_quota *s)
{
	const struct qz_object_slot *objects = bpf_runtime__objects(s->bpf);

	begin(s);
	for (uint32_t i = 0; i < QZ_OBJECT_SLOTS; i++)
		count(s, objects[i].hash, objects[i].scope);
	end(s, QZ_SHARE_OBJECTS);
}

void map_quota__drained(struct map_quota *s)
{
	const struct bpf_runtime_waits *tables = bpf_runtime__waits(s->bpf);

	__atomic_fetch_add(&bpf_runtime__control(s->bpf)->drain, 1, __ATOMIC_RELAXED);
	if (must_count(s, QZ_SHARE_STACKS, tables->nstacks))
		count_stacks(s, tables);
	if (must_count(s, QZ_SHARE_WAITS, tables->nslots))
		count_waits(s, tables);
	if (must_count(s, QZ_SHARE_OBJECTS, QZ_OBJECT_SLOTS))
		count_objects(s);
}
