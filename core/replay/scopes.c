/* SPDX-License-Identifier: GPL-2.0-only */
/* Scopes and processes: how many threads run or are ready, and for how long. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/replay/state.h"

/* Time since the scope was last charged. That may lie in the future, if records up to then are lost: no level is known. */
static uint64_t elapsed(const struct replay_parallelism *s, uint64_t now)
{
	return now > s->pub.since ? now - s->pub.since : 0;
}

/* Charges the time at the present level. */
static void charge(struct replay_parallelism *s, uint64_t now)
{
	uint64_t ns = elapsed(s, now);

	s->level_ns[s->pub.running] += ns;
	s->runnable_ns += s->pub.runnable * ns;
	if (s->pub.running < s->limit)
		s->room_ns += ns;
	s->pub.since += ns;
}

static void replay_parallelism__skip(struct replay_parallelism *s, uint64_t until)
{
	if (s->pub.since >= until)
		return;
	s->pub.unknown_ns += until - s->pub.since;
	s->pub.since = until;
}

static void replay_parallelism__start(struct replay_parallelism *s, const struct replay *r)
{
	s->pub.began = s->pub.since = r->now;
	s->pub.unknown_ns = 0;
	replay_parallelism__skip(s, r->lost_until);
}

static void replay_parallelism__stop(struct replay_parallelism *s, uint64_t now)
{
	charge(s, now);
	s->pub.ended = now;
	s->pub.unknown_ns -= s->pub.since - now;
	s->pub.since = now;
}

void replay__skip_levels(struct replay *r, uint64_t until)
{
	if (until > r->lost_until)
		r->lost_until = until;
	charge(r->machine, r->now);
	replay_parallelism__skip(r->machine, until);
	for (uint32_t i = 0; i < r->scopes.n; i++) {
		struct replay_parallelism *s = replay__parallelism(r, i);

		if (!s->exists || s->pub.ended)
			continue;
		charge(s, r->now);
		replay_parallelism__skip(s, until);
	}
}

void replay_parallelism__change(struct replay_parallelism *s, int running, int runnable,
				uint64_t now)
{
	charge(s, now);
	s->pub.running += (uint32_t)running;
	s->pub.runnable += (uint32_t)runnable;
	if (s->pub.running >= s->pub.nlevels)
		s->pub.nlevels = s->pub.running + 1;
}

int replay_parallelism__reserve(struct replay_parallelism *s, uint32_t n)
{
	uint32_t room = s->room ?: 2;
	uint64_t *level_ns;

	while (room <= n)
		room *= 2;
	if (room == s->room)
		return 0;
	level_ns = realloc(s->level_ns, room * sizeof(*level_ns));
	if (!level_ns)
		return -ENOMEM;
	memset(level_ns + s->room, 0, (room - s->room) * sizeof(*level_ns));
	s->level_ns = level_ns;
	s->pub.level_ns = level_ns;
	s->room = room;
	return 0;
}

uint64_t replay_parallelism__runnable_ns(const struct replay_parallelism *s, uint64_t now)
{
	return s->runnable_ns + s->pub.runnable * elapsed(s, now);
}

uint64_t replay_parallelism__room_ns(const struct replay_parallelism *s, uint64_t now)
{
	return s->room_ns + (s->pub.running < s->limit ? elapsed(s, now) : 0);
}

/* ---- scopes ---- */

void replay_parallelism__number(struct replay *r, uint32_t scope, uint32_t number)
{
	struct replay_parallelism *s = replay__parallelism(r, scope);

	if (s->pub.number != REPLAY_NONE)
		return;
	s->pub.number = number;
	if (r->options.calls.scope)
		r->options.calls.scope(r->options.calls.context, scope, number);
}

bool replay_parallelism__has_number(const struct replay *r, uint32_t number)
{
	for (uint32_t i = 0; i < r->scopes.n; i++) {
		const struct replay_parallelism *s = replay__parallelism(r, i);

		if (s->exists && s->pub.number == number)
			return true;
	}
	return false;
}

void replay__number_scope(struct replay *r, uint32_t scope, uint32_t number)
{
	replay_parallelism__number(r, scope, number);
}

void replay__restart_scope(struct replay *r, uint32_t scope, uint64_t now)
{
	struct replay_parallelism *s = replay__parallelism(r, scope);

	replay__advance(r, now);
	memset(s->level_ns, 0, s->room * sizeof(*s->level_ns));
	memset(s->pub.ns, 0, sizeof(s->pub.ns));
	memset(s->pub.grain, 0, sizeof(s->pub.grain));
	s->pub.threads_started = s->pub.processes_started = 0;
	s->pub.events_in_vain = s->pub.events_shared = 0;
	s->pub.transfers = (struct qz_transfers) {0};
	s->pub.account_ns = 0;
	replay_parallelism__start(s, r);
	s->runnable_ns = 0;
	for (uint32_t i = 0; i < r->threads.n; i++)
		if (replay__row(r, i)->lives && replay__row(r, i)->pub.scope == scope)
			replay_row__restart(r, replay__row(r, i));
	if (r->steps)
		replay_steps__restart(r);
}

static int64_t replay_parallelism__begin(struct replay *r, uint32_t process, bool follows)
{
	bool fresh;
	uint32_t i = replay_rows__take(&r->scopes, &r->free_scopes,
				       offsetof(struct replay_parallelism, next), &fresh);
	struct replay_parallelism *s = replay__parallelism(r, i), old = {0};

	if (!fresh)
		old = *s;
	*s = (struct replay_parallelism) {
		.pub = {.process = process,
			.number = REPLAY_NONE,
			.follows = follows,
			.began = r->now,
			.since = r->now,
			.nlevels = 1,
			.level_ns = old.level_ns},
		.exists = true,
		.level_ns = old.level_ns,
		.room = old.room,
		.limit = r->machine->limit,
		.objects = REPLAY_NONE,
		.next = REPLAY_NONE,
	};
	if (old.room)
		memset(s->level_ns, 0, old.room * sizeof(*s->level_ns));
	else if (replay_parallelism__reserve(s, 1)) {
		s->exists = false;
		s->next = r->free_scopes;
		r->free_scopes = i;
		return -ENOMEM;
	}
	return i;
}

/* ---- processes ---- */

static uint32_t replay_process__hash(uint32_t pid)
{
	return qz_hash_table__hash_number(1, pid);
}

static bool replay_process__is(const void *context, uint32_t i, const void *key)
{
	return replay__process(context, i)->pid == *(const uint32_t *)key;
}

uint32_t replay_process__find(const struct replay *r, uint32_t pid)
{
	return qz_hash_table__find(&r->processes.index, replay_process__hash(pid),
				   replay_process__is, r, &pid);
}

static uint32_t replay_process__begin(struct replay *r, uint32_t pid, uint32_t scope)
{
	bool fresh;
	uint32_t i = replay_rows__take(&r->processes, &r->free_processes,
				       offsetof(struct replay_process, next), &fresh);

	*replay__process(r, i) = (struct replay_process) {
		.pid = pid, .scope = scope, .space = ++r->last_space, .next = REPLAY_NONE};
	qz_hash_table__insert(&r->processes.index, replay_process__hash(pid), i);
	return i;
}

static void replay_process__end(struct replay *r, uint32_t i)
{
	struct replay_process *p = replay__process(r, i);

	qz_hash_table__remove(&r->processes.index, replay_process__hash(p->pid), i);
	p->next = r->free_processes;
	r->free_processes = i;
}

int64_t replay_process__get(struct replay *r, uint32_t pid, uint32_t creator)
{
	uint32_t i = replay_process__find(r, pid);
	int64_t scope = REPLAY_NONE;

	if (i == REPLAY_NONE && creator != REPLAY_NONE) {
		uint32_t its = replay__row(r, creator)->pub.scope;

		if (its != REPLAY_NONE && replay__parallelism(r, its)->pub.follows)
			scope = its;
	}
	if (i == REPLAY_NONE && scope == REPLAY_NONE && r->options.every_process)
		scope = replay_parallelism__begin(r, pid, false);
	if (scope < 0)
		return scope;
	if (i == REPLAY_NONE)
		i = replay_process__begin(r, pid, (uint32_t)scope);
	scope = replay__process(r, i)->scope;
	if (scope != REPLAY_NONE) {
		struct replay_parallelism *s = replay__parallelism(r, (uint32_t)scope);

		if (replay_parallelism__reserve(s, s->pub.alive + 1))
			return -ENOMEM;
	}
	return i;
}

/* A slow search. Rarely needed: for programs in containers that wait for a lock whose word has an owner. */
uint32_t replay_process__own(const struct replay *r, uint32_t process, uint32_t own_tid)
{
	for (uint32_t i = 0; i < r->threads.n; i++) {
		const struct replay_row *t = replay__row(r, i);

		if (t->lives && t->process_row == process && t->own_tid == own_tid)
			return i;
	}
	return REPLAY_NONE;
}

static void tell_image(const struct replay *r, const struct replay_process *p)
{
	if (p->image && p->scope != REPLAY_NONE && r->options.calls.image)
		r->options.calls.image(r->options.calls.context, p->image, p->scope);
}

void replay_process__set_image(struct replay *r, uint32_t process, uint32_t image)
{
	struct replay_process *p = process == REPLAY_NONE ? NULL : replay__process(r, process);

	if (!p || !image || p->image == image)
		return;
	p->image = image;
	tell_image(r, p);
}

static void replay_process__set_scope(struct replay *r, uint32_t process, uint32_t scope)
{
	replay__process(r, process)->scope = scope;
	tell_image(r, replay__process(r, process));
}

void replay_process__join(struct replay *r, uint32_t process, struct replay_row *t)
{
	struct replay_process *p = replay__process(r, process);
	struct replay_parallelism *s;

	p->alive++;
	t->process_row = process;
	t->pub.process = p->pid;
	t->pub.scope = p->scope;
	if (p->scope == REPLAY_NONE)
		return;
	s = replay__parallelism(r, p->scope);
	if (!s->pub.threads) { /* the scope begins now: earlier time was not observed */
		s->level_ns[0] = 0;
		replay_parallelism__start(s, r);
	}
	s->pub.alive++;
	s->pub.threads++;
}

void replay_process__leave(struct replay *r, struct replay_row *t)
{
	struct replay_parallelism *s;

	if (t->pub.scope != REPLAY_NONE) {
		s = replay__parallelism(r, t->pub.scope);
		for (int i = 0; i < REPLAY_STATES; i++)
			s->pub.ns[i] += t->pub.ns[i];
		s->pub.account_ns += t->pub.account_ns;
		if (--s->pub.alive == 0) {
			replay_parallelism__stop(s, r->now);
		}
	}
	if (t->process_row != REPLAY_NONE && --replay__process(r, t->process_row)->alive == 0)
		replay_process__end(r, t->process_row);
	t->process_row = REPLAY_NONE;
}

/* ---- for the user ---- */

/* Takes the living threads of the process into its scope. */
static int replay_process__adopt_all(struct replay *r, uint32_t process)
{
	for (uint32_t i = 0, n = r->threads.n; i < n; i++) {
		struct replay_row *t = replay__row(r, i);

		if (!t->lives || t->process_row != process ||
		    t->pub.scope == replay__process(r, process)->scope)
			continue;
		if (replay__make_room(r) ||
		    replay_parallelism__reserve(
			    replay__parallelism(r, replay__process(r, process)->scope),
			    r->threads.n))
			return -ENOMEM;
		replay_row__adopt(r, replay__row(r, i), process);
	}
	return 0;
}

int replay_process__join_number(struct replay *r, uint32_t process, uint32_t number)
{
	for (uint32_t i = 0; i < r->scopes.n; i++) {
		const struct replay_parallelism *s = replay__parallelism(r, i);

		if (!s->exists || s->pub.number != number)
			continue;
		replay_process__set_scope(r, process, i);
		return replay_process__adopt_all(r, process);
	}
	return 0;
}

int64_t replay__open_scope(struct replay *r, uint32_t process, bool follows, uint64_t now)
{
	int64_t scope;
	uint32_t i;

	if (replay__make_room(r))
		return -ENOMEM;
	replay__advance(r, now);
	i = replay_process__find(r, process);
	if (i != REPLAY_NONE && replay__process(r, i)->scope != REPLAY_NONE) {
		scope = replay__process(r, i)->scope;
		replay__parallelism(r, (uint32_t)scope)->pub.follows |= follows;
	} else {
		scope = replay_parallelism__begin(r, process, follows);
		if (scope < 0)
			return scope;
		if (i == REPLAY_NONE)
			i = replay_process__begin(r, process, (uint32_t)scope);
		else
			replay_process__set_scope(r, i, (uint32_t)scope);
	}
	return replay_process__adopt_all(r, i) ?: scope;
}

uint32_t replay__scopes(const struct replay *r)
{
	return r->scopes.n;
}

const struct replay_scope *replay__scope(const struct replay *r, uint32_t scope)
{
	struct replay_parallelism *s;

	if (scope >= r->scopes.n || !replay__parallelism(r, scope)->exists)
		return NULL;
	s = replay__parallelism(r, scope);
	if (!s->pub.ended)
		charge(s, r->now);
	return &s->pub;
}

const struct replay_scope *replay__machine(const struct replay *r)
{
	charge(r->machine, r->now);
	return &r->machine->pub;
}

bool replay__drop_scope(struct replay *r, uint32_t scope)
{
	struct replay_parallelism *s;
	uint32_t process;

	if (scope >= r->scopes.n)
		return false;
	s = replay__parallelism(r, scope);
	if (!s->exists || s->pub.alive)
		return false;
	process = replay_process__find(r, s->pub.process); /* it never had a thread */
	if (process != REPLAY_NONE && replay__process(r, process)->scope == scope)
		replay_process__end(r, process);
	replay_queue__drop_scope(r, scope);
	if (r->steps)
		replay_steps__drop_scope(r, scope);
	s->exists = false;
	s->next = r->dropped_scopes;
	r->dropped_scopes = scope;
	return true;
}
