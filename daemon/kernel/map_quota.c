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
	struct map_quota *quota = calloc(1, sizeof(*quota));

	if (!quota)
		return NULL;
	quota->bpf = bpf;
	quota->nscopes = bpf_runtime__max_scopes(bpf);
	quota->counts = calloc(quota->nscopes, sizeof(*quota->counts));
	if (quota->counts)
		return quota;
	free(quota);
	return NULL;
}

void map_quota__free(struct map_quota *quota)
{
	if (!quota)
		return;
	free(quota->counts);
	free(quota);
}

/* BPF programs only count up. Below a quarter of the table they refuse nothing, so no recount is needed. */
static bool must_count(const struct map_quota *quota, enum qz_share what, uint32_t size)
{
	return __atomic_load_n(&bpf_runtime__control(quota->bpf)->shared[what], __ATOMIC_RELAXED) >
	       size / 4;
}

static void begin(struct map_quota *quota)
{
	memset(quota->counts, 0, quota->nscopes * sizeof(*quota->counts));
	quota->all = 0;
}

static void count(struct map_quota *quota, uint64_t in_use, uint32_t scope)
{
	if (!in_use)
		return;
	quota->all++;
	if (scope < quota->nscopes)
		quota->counts[scope]++;
}

static void end(struct map_quota *quota, enum qz_share what)
{
	for (uint32_t i = 0; i < quota->nscopes; i++)
		bpf_scopes__set_share(quota->bpf, i, what, quota->counts[i]);
	__atomic_store_n(&bpf_runtime__control(quota->bpf)->shared[what], quota->all,
			 __ATOMIC_RELAXED);
}

static void count_stacks(struct map_quota *quota, const struct bpf_runtime_waits *waits)
{
	begin(quota);
	for (uint32_t i = 0; i < waits->nstacks; i++)
		count(quota, waits->stacks[i].stack.hash, waits->stacks[i].scope);
	end(quota, QZ_SHARE_STACKS);
}

static void count_objects(struct map_quota *quota)
{
	const struct qz_object_slot *objects = bpf_runtime__objects(quota->bpf);

	begin(quota);
	for (uint32_t i = 0; i < QZ_OBJECT_SLOTS; i++)
		count(quota, objects[i].hash, objects[i].scope);
	end(quota, QZ_SHARE_OBJECTS);
}

void map_quota__drained(struct map_quota *quota)
{
	const struct bpf_runtime_waits *waits = bpf_runtime__waits(quota->bpf);

	__atomic_fetch_add(&bpf_runtime__control(quota->bpf)->drain, 1, __ATOMIC_RELAXED);
	if (must_count(quota, QZ_SHARE_STACKS, waits->nstacks))
		count_stacks(quota, waits);
	if (must_count(quota, QZ_SHARE_OBJECTS, QZ_OBJECT_SLOTS))
		count_objects(quota);
}
