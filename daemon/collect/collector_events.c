// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "core/util/vec.h"
#include "daemon/kernel/bpf_scopes.h"
#include "daemon/collect/collector_state.h"
#include "daemon/attribution/spawn_stacks.h"
#include "daemon/attribution/threads.h"
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
		collector__add_scope(c, e->scope, QZ_SCOPE_PROCESS, e->tgid, comm, "");
	scopes__describe(c->scopes, e, address_spaces__get(c->spaces, e->parent));
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
	collector__add_scope(c, e->scope, QZ_SCOPE_PROCESS, e->tgid, comm, "");
}

_Static_assert(offsetof(struct qz_thread_event, waits) % sizeof(uint64_t) == 0 &&
		       sizeof(struct qz_thread_wait) % sizeof(uint64_t) == 0,
	       "whole words");

#define WORDS (sizeof(struct qz_thread_event) / sizeof(uint64_t))

_Static_assert(WORDS <= 64, "a bit for each");

/* Of a hundred thousand threads: the words that are not 0, behind one that tells which those are. */
static bool keep(struct collector *c, const struct qz_thread_event *e)
{
	uint64_t words[WORDS], packed[1 + WORDS] = {0};
	uint32_t n = 1;

	memcpy(words, e, e->event.length);
	for (uint32_t i = 0; i < e->event.length / sizeof(words[0]); i++) {
		if (!words[i])
			continue;
		packed[0] |= 1ull << i;
		packed[n++] = words[i];
	}
	for (uint32_t i = 0; i < n; i++) {
		if (qz_array__reserve((void **)&c->kept, c->kept_words + i, sizeof(*c->kept)))
			return false;
		c->kept[c->kept_words + i] = packed[i];
	}
	c->kept_words += n;
	c->nkept++;
	return true;
}

const uint64_t *collector__kept_thread(const uint64_t *kept, struct qz_thread_event *e)
{
	uint64_t words[WORDS] = {0};

	for (uint64_t which = *kept++; which; which &= which - 1)
		words[__builtin_ctzll(which)] = *kept++;
	memcpy(e, words, sizeof(*e));
	return kept;
}

void collector__keep_thread(void *context, const struct qz_thread_event *e)
{
	struct collector *c = context;
	struct thread *thread = threads__get(c->threads, e->serial);

	if (!thread || thread->kept)
		return;
	collector__know_scope(c, e);
	thread->kept = keep(c, e);
	c->dropped += !thread->kept;
}

void collector__name_thread(struct collector *c, const struct qz_thread_event *e)
{
	const struct thread *thread = threads__get(c->threads, e->serial);
	char name[QZ_THREAD_NAME_LENGTH];
	struct qz_thread *row;

	if (!c->counters || !thread || thread->row == QZ_NONE)
		return;
	row = &c->profile->threads[thread->row];
	if (!row->merged && shm_counters__thread_name(c->counters, e, name) && name[0])
		qz_profile__set_string(&row->name, name);
}

static void end_thread(struct collector *c, const struct qz_thread_event *e)
{
	uint32_t scope = e->scope;
	struct qz_scope_state state;

	if (e->state != QZ_DEAD) {
		collector__keep_thread(c, e);
		return;
	}
	collector__know_scope(c, e);
	if (!scopes__read(c->scopes, scope, &state))
		return;
	threads__ended(c->threads, scopes__index(c->scopes, scope), e, state.began);
	wait_drain__ended(c->waits, e);
	collector__name_thread(c, e);
	scopes__name(c->scopes, e);
}

void collector__process_event(struct collector *c, const struct qz_event *e)
{
	if (e->type == QZ_EVENT_PROCESS && e->length >= sizeof(struct qz_process_event))
		add_process(c, (const struct qz_process_event *)e);
	else if (e->type == QZ_EVENT_CREATION && e->length >= sizeof(struct qz_creation_event))
		add_creation(c, (const struct qz_creation_event *)e);
	else if (e->type == QZ_EVENT_THREAD_END &&
		 e->length >= offsetof(struct qz_thread_event, waits) &&
		 e->length <= sizeof(struct qz_thread_event))
		end_thread(c, (const struct qz_thread_event *)e);
	else if (e->type == QZ_EVENT_GROUP && e->length >= sizeof(struct qz_group_event))
		groups__add(c->groups, (const struct qz_group_event *)e);
}
