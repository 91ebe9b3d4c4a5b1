// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/kernel/bpf_skips.h"
#include "daemon/kernel/bpf_scopes.h"
#include "daemon/collect/scopes.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/model/fields.h"
#include "core/model/levels.h"
#include "core/util/vec.h"
#include "daemon/privsep/procfs.h"

struct scopes {
	struct bpf_runtime *bpf;
	struct qz_profile *profile;
	/* by number in BPF: in the profile, QZ_NONE where not known; at the last refresh */
	uint32_t *rows;
	struct living *living;
	uint32_t n;
	bool *numbered; /* by index in the profile: it has a number in BPF */
	uint32_t nnumbered;
	uint64_t *levels, *completed; /* of one scope, and what completes it */
	double **counted;	 /* by number in BPF, see struct qz_levels; NULL: nothing yet */
	uint32_t machine;	 /* its scope in the profile, QZ_NONE: none */
	uint64_t all_running_ns; /* of all others, at the last refresh */
};

struct scopes *scopes__new(struct bpf_runtime *bpf, struct qz_profile *profile)
{
	struct scopes *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->bpf = bpf;
	s->profile = profile;
	s->machine = QZ_NONE;
	s->n = bpf_runtime__max_scopes(bpf);
	s->rows = malloc(s->n * sizeof(*s->rows));
	s->living = calloc(s->n, sizeof(*s->living));
	s->levels = calloc(bpf_runtime__level_stride(bpf), sizeof(*s->levels));
	s->completed = calloc(bpf_runtime__level_stride(bpf), sizeof(*s->completed));
	s->counted = calloc(s->n, sizeof(*s->counted));
	if (!s->rows || !s->living || !s->levels || !s->completed || !s->counted) {
		scopes__free(s);
		errno = ENOMEM;
		return NULL;
	}
	memset(s->rows, 0xff, s->n * sizeof(*s->rows));
	return s;
}

void scopes__free(struct scopes *s)
{
	if (!s)
		return;
	free(s->numbered);
	for (uint32_t i = 0; s->counted && i < s->n; i++)
		free(s->counted[i]);
	free(s->counted);
	free(s->completed);
	free(s->levels);
	free(s->rows);
	free(s->living);
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
		.nlevels = bpf_runtime__level_stride(s->bpf),
	};
	struct qz_scope_state state;
	int64_t index;

	bpf_scopes__read(s->bpf, scope, 0, &state, s->levels);
	new.start_ns = state.began;
	index = qz_profile__add_scope(s->profile, &new);
	if (index < 0 || set_numbered(s, index))
		return index < 0 ? index : -ENOMEM;
	s->rows[scope] = index;
	if (kind == QZ_SCOPE_MACHINE)
		s->machine = index;
	return index;
}

void scopes__join(struct scopes *s, uint32_t scope, uint32_t group)
{
	s->rows[scope] = scopes__index(s, group);
}

/* Its figures are the group's. */
static bool is_folded(const struct scopes *s, uint32_t scope)
{
	return bpf_scopes__youth(s->bpf, scope) == QZ_FOLDED;
}

uint32_t scopes__index(const struct scopes *s, uint32_t scope)
{
	return scope < s->n ? s->rows[scope] : QZ_NONE;
}

const uint32_t *scopes__rows(const struct scopes *s)
{
	return s->rows;
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
	dir = procfs__open(e->tgid, e->start_boottime);
	if (dir < 0)
		return; /* it has ended, as short as it lived */
	procfs__cgroup(dir, cgroup, sizeof(cgroup));
	close(dir);
	if (*cgroup)
		qz_profile__set_string(&scope->cgroup, cgroup);
}

void scopes__name(struct scopes *s, const struct qz_thread_event *e)
{
	uint32_t index = scopes__index(s, e->scope);
	struct qz_scope *scope = index == QZ_NONE ? NULL : &s->profile->scopes[index];
	char comm[QZ_COMM_LEN + 1] = "";

	if (!scope || e->tid != e->tgid || scope->pid != e->tgid ||
	    (scope->kind != QZ_SCOPE_PROCESS && scope->kind != QZ_SCOPE_TREE))
		return;
	memcpy(comm, e->comm, QZ_COMM_LEN);
	if (comm[0] && strcmp(comm, scope->comm) != 0)
		qz_profile__set_string(&scope->comm, comm);
}

bool scopes__read(struct scopes *s, uint32_t scope, struct qz_scope_state *state)
{
	if (scopes__index(s, scope) == QZ_NONE)
		return false;
	bpf_scopes__read(s->bpf, scope, 0, state, s->levels);
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
	memset(s->living, 0, s->n * sizeof(*s->living));
}

struct living *scopes__living(struct scopes *s, uint32_t scope)
{
	return &s->living[scope];
}

static uint64_t left(uint64_t all, uint64_t some)
{
	return all > some ? all - some : 0;
}

/*
 * Where switches are skipped: see core/model/levels.h. Without memory, levels are short of the elapsed time. Gives how
 * much of the missing processor time found no place.
 */
static uint64_t complete(struct scopes *s, uint32_t scope, const struct qz_scope *to,
			 uint64_t elapsed_ns, uint64_t missing_ns)
{
	uint64_t threads = to->kind == QZ_SCOPE_MACHINE ? to->nlevels : to->counters.threads_seen;
	struct qz_levels levels = {
		.ns = s->levels,
		.before = to->level_ns,
		.n = threads < to->nlevels ? (uint32_t)threads + 1 : to->nlevels,
		.elapsed_ns = elapsed_ns,
		.missing_ns = missing_ns,
	};

	if (levels.n < 2 || elapsed_ns <= qz_levels__sum(s->levels, to->nlevels))
		return missing_ns;
	if (!s->counted[scope])
		s->counted[scope] = calloc(to->nlevels, sizeof(*s->counted[scope]));
	levels.counted = s->counted[scope];
	if (!levels.counted)
		return missing_ns;
	qz_levels__complete(&levels, s->completed);
	bpf_scopes__add_levels(s->bpf, scope, s->completed, levels.n);
	return left(missing_ns, qz_levels__cpu(s->completed, levels.n));
}

/* What its threads ran that no level stands for. */
static uint64_t missing_of_process(const struct scopes *s, uint32_t scope,
				   const struct qz_scope *to, const struct qz_scope_state *state)
{
	return left(state->ended_ns[QZ_RUNNING] + s->living[scope].running_ns,
		    qz_levels__cpu(s->levels, to->nlevels));
}

/* Of the machine, what its processes ran since the last time, of which some may not have been followed. */
static uint64_t missing_of_machine(struct scopes *s, const struct qz_scope *to)
{
	uint64_t before = s->all_running_ns;

	s->all_running_ns = 0;
	for (uint32_t i = 0; i < s->profile->nscopes; i++)
		if (i != s->machine)
			s->all_running_ns += qz_scope__running_ns(&s->profile->scopes[i]);
	return left(left(s->all_running_ns, before),
		    left(qz_levels__cpu(s->levels, to->nlevels), qz_scope__running_ns(to)));
}

/* Up to a time, or to its end; *state is how it stands. */
static void refresh(struct scopes *s, uint32_t scope, uint64_t until, struct qz_scope_state *state)
{
	struct qz_scope *to = &s->profile->scopes[s->rows[scope]];
	bool is_machine = s->rows[scope] == s->machine;
	uint64_t missing, unplaced = 0;

	bpf_scopes__read(s->bpf, scope, until, state, s->levels);
	/* it also was without a thread for a moment when the first one found ended before the next */
	to->ended = state->ended && !state->alive;
	if (to->ended && state->ended < until) {
		until = state->ended;
		bpf_scopes__read(s->bpf, scope, until, state, s->levels);
	}
	to->counters = state->counters;
	missing = is_machine ? missing_of_machine(s, to) : missing_of_process(s, scope, to, state);
	if (bpf_skips__ns(s->bpf, until) && state->youth != QZ_GROUP)
		unplaced = complete(s, scope, to, left(until, state->began), missing);
	if (is_machine) /* it is missing the next time, too */
		s->all_running_ns -= unplaced;
	memcpy(to->level_ns, s->levels, to->nlevels * sizeof(*s->levels));
	qz_scope__sum_levels(to);
	to->start_ns = state->began;
	to->threads_alive = state->alive;
	to->cpu_ns = state->ended_cpu + s->living[scope].cpu_ns;
	to->runnable_ns = state->ended_ns[QZ_RUNNING] + state->ended_ns[QZ_READY] +
			  s->living[scope].runnable_ns;
}

void scopes__retire(struct scopes *s, uint32_t scope, struct wait_drain *waits)
{
	struct qz_scope_state state;

	if (is_folded(s, scope)) {
		s->rows[scope] = QZ_NONE;
		return;
	}
	s->living[scope] = (struct living) {0};
	refresh(s, scope, bpf_runtime__now(), &state);
	wait_drain__retire_scope(waits, scope, &state);
	free(s->counted[scope]);
	s->counted[scope] = NULL;
	s->numbered[s->rows[scope]] = false;
	s->rows[scope] = QZ_NONE;
}

bool scopes__has_number(const struct scopes *s, uint32_t index)
{
	return index < s->nnumbered && s->numbered[index];
}

/* Its levels are its own. */
static void sum_machine(struct scopes *s)
{
	struct qz_scope *m = &s->profile->scopes[s->machine];

	m->ended = false;
	qz_fields__clear(m, qz_scope_fields, QZ_OF_ALL);
	for (uint32_t i = 0; i < s->profile->nscopes; i++)
		if (i != s->machine)
			qz_fields__add_those(m, &s->profile->scopes[i], qz_scope_fields, QZ_OF_ALL);
}

void scopes__refresh(struct scopes *s, struct wait_drain *waits, uint64_t until)
{
	struct qz_scope_state state;

	for (uint32_t i = 0; i < s->n; i++) {
		if (s->rows[i] == QZ_NONE || s->rows[i] == s->machine || is_folded(s, i))
			continue;
		refresh(s, i, until, &state);
		wait_drain__lost(waits, i, &state);
	}
	if (s->machine == QZ_NONE)
		return;
	refresh(s, QZ_SCOPE_OF_MACHINE, until, &state);
	sum_machine(s);
}
