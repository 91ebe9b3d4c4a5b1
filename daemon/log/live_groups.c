// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/log/live_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/util/hash_table.h"
#include "core/util/vec.h"

/* A control group, and the image of a process there. */
struct unit {
	uint64_t number;
	uint32_t image;
};

struct group {
	struct qz_group_key key;
	uint32_t scope, serial;
	bool taken; /* it was passed on */
};

struct live_groups {
	struct bpf_runtime *bpf;
	struct unit *units;
	uint32_t nunits;
	struct qz_hash_table by_unit;
	struct group *groups;
	uint32_t ngroups;
	struct qz_hash_table by_key;
};

struct live_groups *live_groups__new(struct bpf_runtime *bpf)
{
	struct live_groups *g = calloc(1, sizeof(*g));

	if (g)
		g->bpf = bpf;
	return g;
}

void live_groups__free(struct live_groups *g)
{
	if (!g)
		return;
	qz_hash_table__free(&g->by_unit);
	qz_hash_table__free(&g->by_key);
	free(g->units);
	free(g->groups);
	free(g);
}

/* ---- control groups ---- */

void live_groups__know(struct live_groups *g, uint64_t unit, uint32_t image)
{
	const struct unit new = {unit, image};
	int64_t i = unit ? QZ_INTERN(&g->by_unit, &g->units, &g->nunits, &new, number) : -1;

	if (i >= 0)
		g->units[i].image = image;
}

static uint32_t image_in(const struct live_groups *g, uint64_t unit)
{
	const struct unit key = {unit};
	uint32_t i = QZ_FIND(&g->by_unit, g->units, &key, number);

	return i == UINT32_MAX ? 0u : g->units[i].image;
}

/* ---- groups ---- */

static int begin(struct live_groups *g, struct group *group)
{
	int scope = bpf_scopes__take(g->bpf);
	struct qz_scope_state *s;

	if (scope < 0)
		return scope;
	s = bpf_scopes__state(g->bpf, (uint32_t)scope);
	group->scope = (uint32_t)scope;
	group->serial = bpf_runtime__next_serial(g->bpf);
	group->taken = false;
	s->serial = group->serial;
	s->began = bpf_runtime__now();
	__atomic_store_n(&s->youth, QZ_GROUP, __ATOMIC_SEQ_CST);
	return 0;
}

/* One that is over, since nothing was added to it for long, begins anew. NULL with errno. */
static struct group *find(struct live_groups *g, const struct qz_group_key *key)
{
	const struct group new = {.key = *key, .scope = QZ_NO_SCOPE};
	int64_t i = QZ_INTERN(&g->by_key, &g->groups, &g->ngroups, &new, key);
	struct group *group;
	int err = 0;

	if (i < 0) {
		errno = ENOMEM;
		return NULL;
	}
	group = &g->groups[i];
	if (group->scope == QZ_NO_SCOPE || bpf_scopes__youth(g->bpf, group->scope) != QZ_GROUP ||
	    bpf_scopes__state(g->bpf, group->scope)->serial != group->serial ||
	    bpf_scopes__state(g->bpf, group->scope)->ended)
		err = begin(g, group);
	if (!err)
		return group;
	group->scope = QZ_NO_SCOPE;
	errno = -err;
	return NULL;
}

int live_groups__find(struct live_groups *g, const struct replay_scope *scope,
		      const struct replay_thread *thread, struct live_group_place *place)
{
	struct qz_group_key key = {.cgroup = scope->unit};
	const struct group *group;

	memcpy(key.comm, thread->comm, sizeof(key.comm));
	group = find(g, &key);
	if (!group) {
		bpf_runtime__control(g->bpf)->scopes_refused++;
		return -errno;
	}
	*place = (struct live_group_place) {group->scope, group->serial};
	return 0;
}

int live_groups__add(struct live_groups *g, const struct live_group_place *place,
		     const struct replay_scope *scope, const struct replay_thread *thread)
{
	struct qz_scope_state *to = bpf_scopes__state(g->bpf, place->scope);

	for (int i = 0; i < QZ_THREAD_STATES; i++)
		to->ended_ns[i] += thread->ns[i];
	to->ended_cpu += thread->account_ns ?: thread->ns[REPLAY_RUNNING];
	to->counters.threads_seen++;
	to->counters.processes_started += scope->processes_started; /* it had one thread */
	qz_transfers__add(&to->counters.transfers, &scope->transfers);
	to->woken_ns += scope->woken_ns;
	return bpf_scopes__add_levels(g->bpf, place->scope, scope->level_ns, scope->nlevels);
}

void live_groups__take(struct live_groups *g,
		       void (*call)(void *context, const struct qz_group_event *e), void *context)
{
	for (uint32_t i = 0; i < g->ngroups; i++) {
		struct group *group = &g->groups[i];
		struct qz_group_event e = {
			.event = {.type = QZ_EVENT_GROUP, .length = sizeof(e)},
			.scope = group->scope,
			.serial = group->serial,
			.relative = image_in(g, group->key.cgroup),
			.key = group->key,
		};

		if (group->taken || group->scope == QZ_NO_SCOPE)
			continue;
		e.event.time = bpf_scopes__state(g->bpf, group->scope)->began;
		call(context, &e);
		group->taken = true;
	}
}
