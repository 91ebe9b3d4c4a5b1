// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/groups.h"

#include <stdlib.h>
#include <string.h>

#include "core/util/vec.h"
#include "daemon/kernel/bpf_scopes.h"

#define IDLE 600000000000ull /* ns without a process, and a group is over */

struct group {
	uint32_t scope; /* number in BPF */
	uint32_t row;	/* of its threads */
	struct qz_group_key key;
	uint64_t processes, changed; /* so many, since when */
};

struct groups {
	struct groups_context c;
	struct group *all;
	uint32_t n;
	struct qz_process_event *kept;
	uint32_t nkept;
};

struct groups *groups__new(const struct groups_context *context)
{
	struct groups *g = calloc(1, sizeof(*g));

	if (g)
		g->c = *context;
	return g;
}

void groups__free(struct groups *g)
{
	if (!g)
		return;
	free(g->all);
	free(g->kept);
	free(g);
}

/* ---- groups ---- */

static struct group *find_group(const struct groups *g, uint32_t scope)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (g->all[i].scope == scope)
			return &g->all[i];
	return NULL;
}

/* Where one that is over has the same number, its place. NULL without memory. */
static struct group *make_room(struct groups *g, uint32_t scope)
{
	struct group *old = find_group(g, scope);

	if (old)
		return old;
	if (qz_array__reserve((void **)&g->all, g->n, sizeof(*g->all)))
		return NULL;
	return &g->all[g->n++];
}

static const char *unit_of(const struct groups *g, uint32_t image)
{
	const struct image *relative = image ? address_spaces__get(g->c.spaces, image) : NULL;
	uint32_t scope = relative ? scopes__index(g->c.scopes, relative->scope) : QZ_NONE;

	return scope == QZ_NONE ? "" : g->c.profile->scopes[scope].cgroup;
}

void groups__add(struct groups *g, const struct qz_group_event *e)
{
	char comm[QZ_COMM_LEN + 1] = "";
	struct thread *thread = threads__get(g->c.threads, e->serial);
	const char *unit = unit_of(g, e->relative);
	struct group *group;
	uint32_t row;
	int64_t scope;

	memcpy(comm, e->key.comm, QZ_COMM_LEN);
	scope = scopes__add(g->c.scopes, e->scope, QZ_SCOPE_PROCESS, 0, comm, "");
	if (scope < 0 || !thread)
		return;
	qz_profile__set_string(&g->c.profile->scopes[scope].cgroup, unit);
	row = threads__merged_row(g->c.threads, (uint32_t)scope, comm);
	group = row == QZ_NONE ? NULL : make_room(g, e->scope);
	if (!group)
		return;
	thread->row = row;
	thread->placed = true;
	*group = (struct group) {e->scope, row, e->key, 0, e->event.time};
}

/* Its waits and threads have no other place; its scope has its levels, see scopes__refresh(). */
static void refresh(struct groups *g, struct group *group, const struct qz_scope_state *s,
		    uint64_t until)
{
	struct qz_thread *row = &g->c.profile->threads[group->row];

	row->start_ns = s->began;
	row->end_ns = until;
	row->cpu_ns = s->ended_cpu;
	row->running_ns = s->ended_ns[QZ_RUNNING];
	row->ready_ns = s->ended_ns[QZ_READY];
	row->blocked_ns = s->ended_ns[QZ_BLOCKED];
	row->unknown_ns = s->ended_ns[QZ_UNKNOWN];
	if (group->processes != s->counters.threads_seen)
		group->changed = until;
	group->processes = s->counters.threads_seen;
}

void groups__refresh(struct groups *g, uint64_t until)
{
	struct qz_scope_state state;

	for (uint32_t i = 0; i < g->n; i++) {
		struct group *group = &g->all[i];

		if (!scopes__read(g->c.scopes, group->scope, &state) || state.youth != QZ_GROUP) {
			*group = g->all[--g->n];
			i--;
			continue;
		}
		refresh(g, group, &state, until);
		if (until > group->changed + IDLE && !state.ended)
			bpf_scopes__end_group(g->c.bpf, group->scope);
	}
}

/* ---- processes ---- */

/* What is on its way of its thread is the group's. */
static void join(struct groups *g, const struct qz_process_event *e)
{
	const struct group *group = find_group(g, bpf_scopes__group(g->c.bpf, e->scope));

	if (!group)
		return;
	scopes__join(g->c.scopes, e->scope, group->scope);
	threads__join(g->c.threads, e->leader, group->row);
}

static void decide(struct groups *g, const struct qz_process_event *e)
{
	char comm[QZ_COMM_LEN + 1] = "";

	if (!bpf_scopes__grow(g->c.bpf, e->scope)) {
		join(g, e);
		return;
	}
	memcpy(comm, e->comm, QZ_COMM_LEN);
	if (scopes__index(g->c.scopes, e->scope) == QZ_NONE)
		scopes__add(g->c.scopes, e->scope, QZ_SCOPE_PROCESS, e->tgid, comm, "");
	scopes__describe(g->c.scopes, e, address_spaces__get(g->c.spaces, e->image),
			 address_spaces__get(g->c.spaces, e->parent));
}

/* An earlier report of the process that is kept comes first. */
static void decide_kept(struct groups *g, uint32_t scope)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->nkept; i++)
		if (g->kept[i].scope == scope)
			decide(g, &g->kept[i]);
		else
			g->kept[n++] = g->kept[i];
	g->nkept = n;
}

bool groups__keep(struct groups *g, const struct qz_process_event *e)
{
	enum qz_youth youth = bpf_scopes__youth(g->c.bpf, e->scope);

	if ((youth == QZ_YOUNG || youth == QZ_FOLDED) &&
	    !qz_array__reserve((void **)&g->kept, g->nkept, sizeof(*g->kept))) {
		g->kept[g->nkept++] = *e;
		return true;
	}
	decide_kept(g, e->scope);
	return false;
}

void groups__decide(struct groups *g)
{
	for (uint32_t i = 0; i < g->nkept; i++)
		decide(g, &g->kept[i]);
	g->nkept = 0;
}
