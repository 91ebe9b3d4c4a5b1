// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "core/util/vec.h"
#include "daemon/kernel/bpf_scopes.h"
#include "daemon/collect/collector_state.h"
#include "daemon/attribution/spawn_stacks.h"
#include "daemon/attribution/threads.h"
#include "daemon/collect/allowances.h"
#include "daemon/collect/groups.h"
#include "daemon/collect/scopes.h"
#include "daemon/shm/shm_counters.h"
#include "daemon/waits/wait_drain.h"
#include "daemon/privsep/shm_wake.h"

/* Where the threads of a new image belong whose creation is not reported. */
static void place_threads(struct collector *c, const struct qz_process_event *e)
{
	struct thread *leader = e->leader ? threads__get(c->threads, e->leader) : NULL;
	struct image *image;

	if (leader)
		leader->placed = true;
	if (scopes__kind(c->scopes, e->scope) == QZ_SCOPE_KERNEL)
		return;
	image = address_spaces__get(c->spaces, e->image);
	if (!image)
		return;
	image->launcher = image->found && scopes__kind(c->scopes, image->scope) == QZ_SCOPE_JOB;
	if (image->launcher)
		return;
	image->node = spawn_stacks__unseen(c->spawn, e);
}

static void add_process(struct collector *c, const struct qz_process_event *e)
{
	char comm[QZ_COMM_LEN + 1] = "";

	if (e->scope >= bpf_runtime__max_scopes(c->bpf))
		return;
	if (groups__keep(c->groups, e)) {
		place_threads(c, e);
		return;
	}
	memcpy(comm, e->comm, QZ_COMM_LEN);
	if (scopes__index(c->scopes, e->scope) == QZ_NONE)
		scopes__add(c->scopes, e->scope, QZ_SCOPE_PROCESS, e->tgid, comm, "");
	scopes__describe(c->scopes, e, address_spaces__get(c->spaces, e->image),
			 address_spaces__get(c->spaces, e->parent));
	if (c->counters && e->cause == QZ_IMAGE_FOUND)
		shm_wake__process(e->tgid, e->start_boottime);
	place_threads(c, e);
}

static void add_creation(struct collector *c, const struct qz_creation_event *e)
{
	struct thread *parent = threads__get(c->threads, e->parent), *child;
	uint32_t node = parent ? thread__node(parent, address_spaces__get(c->spaces, e->image)) : 0;

	child = threads__get(c->threads, e->child);
	if (!child)
		return;
	child->node = spawn_stacks__node(c->spawn, node, e);
	child->placed = true;
}

void collector__know_scope(struct collector *c, const struct qz_thread_event *e)
{
	char comm[QZ_COMM_LEN + 1] = "";

	if (!bpf_runtime__follows_all(c->bpf) || e->scope >= bpf_runtime__max_scopes(c->bpf) ||
	    scopes__index(c->scopes, e->scope) != QZ_NONE)
		return;
	memcpy(comm, e->comm, QZ_COMM_LEN);
	scopes__add(c->scopes, e->scope, QZ_SCOPE_PROCESS, e->tgid, comm, "");
}

void collector__name_thread(struct collector *c, const struct qz_thread_event *e)
{
	const struct thread *thread = threads__get(c->threads, e->serial);
	char name[QZ_THREAD_NAME_LENGTH];
	struct qz_thread *row;

	if (!c->counters || !thread || thread->row == QZ_NONE)
		return;
	row = &c->profile->threads[thread->row];
	if (!row->merged && shm_counters__thread_name(c->counters, thread, e->image, name) &&
	    name[0])
		qz_profile__set_string(&row->name, name);
}

void collector__allow_thread(struct collector *c, const struct qz_thread_event *e, bool lives)
{
	const struct thread *thread = threads__get(c->threads, e->serial);

	if (thread && thread->row != QZ_NONE)
		allowances__thread(c->allowances, thread->row,
				   address_spaces__get(c->spaces, e->image), lives);
}

void collector__end_thread(struct collector *c, const struct qz_thread_event *e)
{
	uint32_t scope = e->scope;
	struct qz_scope_state state;

	collector__know_scope(c, e);
	if (!scopes__read(c->scopes, scope, &state))
		return;
	threads__ended(c->threads, scopes__index(c->scopes, scope), e, state.began);
	collector__allow_thread(c, e, false);
	collector__name_thread(c, e);
	scopes__name(c->scopes, e);
}

static void take_slot(struct collector *c, const struct qz_slot_event *e)
{
	struct thread *thread = threads__get(c->threads, e->serial);

	if (!thread)
		return;
	thread->page = e->page;
	thread->slot = e->slot;
	thread->claims = e->claims;
}

void collector__process_event(struct collector *c, const struct qz_event *e)
{
	if (e->type == QZ_EVENT_PROCESS && e->length >= sizeof(struct qz_process_event))
		add_process(c, (const struct qz_process_event *)e);
	else if (e->type == QZ_EVENT_CREATION && e->length >= sizeof(struct qz_creation_event))
		add_creation(c, (const struct qz_creation_event *)e);
	else if (e->type == QZ_EVENT_SLOT && e->length >= sizeof(struct qz_slot_event))
		take_slot(c, (const struct qz_slot_event *)e);
}
