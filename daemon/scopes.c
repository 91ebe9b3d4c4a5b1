// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/scopes.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/array.h"
#include "daemon/proc.h"

struct scope {
	bool known;
	uint32_t index;	      /* in the profile */
	struct living living; /* at the last refresh */
};

struct scopes {
	struct engine *engine;
	struct qz_profile *profile;
	struct scope *items; /* by the engine's number */
	uint32_t n;
	bool *numbered; /* by index in the profile: it has a number of the engine */
	uint32_t nnumbered;
	uint64_t *levels;
	uint32_t machine; /* its scope in the profile, QZ_NONE: none */
};

struct scopes *scopes__new(struct engine *engine, struct qz_profile *profile)
{
	struct scopes *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->engine = engine;
	s->profile = profile;
	s->machine = QZ_NONE;
	s->n = engine__max_scopes(engine);
	s->items = calloc(s->n, sizeof(*s->items));
	s->levels = calloc(engine__level_stride(engine), sizeof(*s->levels));
	if (s->items && s->levels)
		return s;
	scopes__free(s);
	errno = ENOMEM;
	return NULL;
}

void scopes__free(struct scopes *s)
{
	if (!s)
		return;
	free(s->numbered);
	free(s->levels);
	free(s->items);
	free(s);
}

static int set_numbered(struct scopes *s, uint32_t index)
{
	while (s->nnumbered <= index) {
		if (qz_array__reserve((void **)&s->numbered, s->nnumbered, sizeof(*s->numbered)))
			return -ENOMEM;
		s->numbered[s->nnumbered++] = false;
	}
	s->numbered[index] = true;
	return 0;
}

int64_t scopes__add(struct scopes *s, uint32_t scope, enum qz_scope_kind kind, int pid,
		    const char *comm, const char *command)
{
	struct qz_scope new = {
		.kind = kind,
		.pid = pid,
		.comm = (char *)comm,
		.command = (char *)command,
		.nlevels = engine__level_stride(s->engine),
	};
	struct qz_scope_state state;
	int64_t index;

	engine__read_scope(s->engine, scope, 0, &state, s->levels);
	new.start_ns = state.began;
	index = qz_profile__add_scope(s->profile, &new);
	if (index < 0 || set_numbered(s, index))
		return index < 0 ? index : -ENOMEM;
	s->items[scope] = (struct scope) {.known = true, .index = index};
	if (kind == QZ_SCOPE_MACHINE)
		s->machine = index;
	return index;
}

uint32_t scopes__index(const struct scopes *s, uint32_t scope)
{
	return scope < s->n && s->items[scope].known ? s->items[scope].index : QZ_NONE;
}

uint32_t scopes__machine(const struct scopes *s)
{
	return s->machine;
}

enum qz_scope_kind scopes__kind(const struct scopes *s, uint32_t scope)
{
	uint32_t index = scopes__index(s, scope);

	return index == QZ_NONE ? QZ_SCOPE_PROCESS : s->profile->scopes[index].kind;
}

void scopes__describe(struct scopes *s, const struct qz_process_event *e,
		      const struct image *parent)
{
	uint32_t index = scopes__index(s, e->scope);
	struct qz_scope *scope = index == QZ_NONE ? NULL : &s->profile->scopes[index];
	char comm[QZ_COMM_LEN + 1] = "", cgroup[PATH_MAX] = "";
	int dir;

	if (!scope || s->machine == QZ_NONE || scope->kind != QZ_SCOPE_PROCESS)
		return;
	if (e->cause == QZ_IMAGE_FORK) {
		uint32_t from = parent ? scopes__index(s, parent->scope) : QZ_NONE;

		if (from != QZ_NONE)
			qz_profile__set_string(&scope->cgroup, s->profile->scopes[from].cgroup);
		return;
	}
	memcpy(comm, e->comm, QZ_COMM_LEN);
	qz_profile__set_string(&scope->comm, comm);
	dir = proc__open(e->tgid, e->start_boottime);
	if (dir < 0)
		return; /* it has ended, as short as it lived */
	proc__cgroup(dir, cgroup, sizeof(cgroup));
	close(dir);
	if (*cgroup)
		qz_profile__set_string(&scope->cgroup, cgroup);
}

bool scopes__read(struct scopes *s, uint32_t scope, struct qz_scope_state *state)
{
	if (scopes__index(s, scope) == QZ_NONE)
		return false;
	engine__read_scope(s->engine, scope, 0, state, s->levels);
	return true;
}

uint64_t scopes__alive(struct scopes *s)
{
	struct qz_scope_state state;
	uint64_t alive = 0;

	for (uint32_t i = 0; i < s->n; i++)
		if (scopes__read(s, i, &state))
			alive += state.alive;
	return alive;
}

bool scopes__ended(struct scopes *s)
{
	struct qz_scope_state state;

	for (uint32_t i = 0; i < s->n; i++)
		if (scopes__read(s, i, &state) && (state.alive || !state.ended))
			return false;
	return true;
}

/* ---- refreshing ---- */

void scopes__begin_refresh(struct scopes *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		s->items[i].living = (struct living) {0};
}

struct living *scopes__living(struct scopes *s, uint32_t scope)
{
	return &s->items[scope].living;
}

/* Up to a time, or to its end; *state is how it stands. */
static void refresh(struct scopes *s, uint32_t scope, uint64_t until, struct qz_scope_state *state)
{
	struct qz_scope *to = &s->profile->scopes[s->items[scope].index];

	engine__read_scope(s->engine, scope, until, state, s->levels);
	/* it also was without a thread for a moment when the first one found ended before the next */
	to->ended = state->ended && !state->alive;
	if (to->ended && state->ended < until)
		engine__read_scope(s->engine, scope, state->ended, state, s->levels);
	memcpy(to->level_ns, s->levels, to->nlevels * sizeof(*s->levels));
	to->elapsed_ns = 0;
	for (uint32_t i = 0; i < to->nlevels; i++)
		to->elapsed_ns += to->level_ns[i];
	to->start_ns = state->began;
	to->threads_seen = state->threads_seen;
	to->creations = state->creations;
	to->creations_lost = state->creations_lost;
	to->spin_turns = state->spin_turns;
	to->limited = state->limited;
	to->cpu_ns = state->ended_cpu + s->items[scope].living.cpu_ns;
	to->runnable_ns = state->ended_ns[QZ_RUNNING] + state->ended_ns[QZ_READY] +
			  s->items[scope].living.runnable_ns;
}

uint32_t scopes__retire(struct scopes *s, uint32_t scope, struct waits *waits)
{
	struct qz_scope_state state;

	s->items[scope].living = (struct living) {0};
	refresh(s, scope, engine__now(), &state);
	waits__retire_scope(waits, scope, &state);
	s->items[scope].known = false;
	s->numbered[s->items[scope].index] = false;
	return s->items[scope].index;
}

bool scopes__is_other(const struct qz_scope *scope)
{
	return scope->kind == QZ_SCOPE_PROCESS && !scope->pid;
}

bool scopes__has_number(const struct scopes *s, uint32_t index)
{
	return index < s->nnumbered && s->numbered[index];
}

/* There are fewer then, so that there is room. */
void scopes__folded(struct scopes *s, const struct qz_maps *maps)
{
	memset(s->numbered, 0, s->nnumbered * sizeof(*s->numbered));
	for (uint32_t i = 0; i < s->n; i++) {
		if (!s->items[i].known)
			continue;
		s->items[i].index = maps->scopes[s->items[i].index];
		s->numbered[s->items[i].index] = true;
	}
	if (s->machine != QZ_NONE)
		s->machine = maps->scopes[s->machine];
}

/* Its levels are its own. */
static void sum_machine(struct scopes *s)
{
	struct qz_scope *m = &s->profile->scopes[s->machine];

	m->ended = false;
	m->cpu_ns = m->runnable_ns = m->threads_seen = m->creations = m->creations_lost = 0;
	m->spin_turns = m->limited = 0;
	for (uint32_t i = 0; i < s->profile->nscopes; i++) {
		const struct qz_scope *from = &s->profile->scopes[i];

		if (i == s->machine)
			continue;
		m->cpu_ns += from->cpu_ns;
		m->runnable_ns += from->runnable_ns;
		m->threads_seen += from->threads_seen;
		m->creations += from->creations;
		m->creations_lost += from->creations_lost;
		m->spin_turns += from->spin_turns;
		m->limited += from->limited;
	}
}

void scopes__refresh(struct scopes *s, struct waits *waits, uint64_t until)
{
	struct qz_scope_state state;

	for (uint32_t i = 0; i < s->n; i++) {
		if (!s->items[i].known)
			continue;
		refresh(s, i, until, &state);
		waits__lost(waits, i, &state);
	}
	if (s->machine != QZ_NONE)
		sum_machine(s);
}
