// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/kernel/bpf_scopes.h"
#include "daemon/collect/scopes.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/model/fields.h"
#include "core/util/systemd_unit.h"
#include "core/util/vec.h"
#include "daemon/privsep/procfs.h"

struct scopes {
	struct bpf_runtime *bpf;
	struct qz_profile *profile;
	struct allowances *allowances;
	/* by number in BPF: in the profile, QZ_NONE where not known; at the last refresh */
	uint32_t *rows;
	struct living *living;
	uint32_t n;
	bool *numbered; /* by index in the profile: it has a number in BPF */
	uint32_t nnumbered;
	uint32_t machine; /* its scope in the profile, QZ_NONE: none */
};

struct scopes *scopes__new(struct bpf_runtime *bpf, struct qz_profile *profile,
			   struct allowances *allowances)
{
	struct scopes *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->bpf = bpf;
	s->profile = profile;
	s->allowances = allowances;
	s->machine = QZ_NONE;
	s->n = bpf_runtime__max_scopes(bpf);
	s->rows = malloc(s->n * sizeof(*s->rows));
	s->living = calloc(s->n, sizeof(*s->living));
	if (!s->rows || !s->living) {
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
		.nlevels = 2, /* idle and serial time are always told */
	};
	int64_t index;

	new.start_ns = bpf_scopes__state(s->bpf, scope)->began;
	index = qz_profile__add_scope(s->profile, &new);
	if (index < 0 || set_numbered(s, index))
		return index < 0 ? index : -ENOMEM;
	s->rows[scope] = index;
	allowances__add_scope(s->allowances, (uint32_t)index);
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

/* Where it is called by what it has executed: a process of its own, on a machine. */
static bool is_named(const struct scopes *s, uint32_t index)
{
	return s->machine != QZ_NONE && s->profile->scopes[index].kind == QZ_SCOPE_PROCESS;
}

static void describe_fork(struct scopes *s, uint32_t index, struct image *image,
			  const struct image *parent)
{
	uint32_t from = parent ? scopes__index(s, parent->scope) : QZ_NONE;

	if (from != QZ_NONE && is_named(s, index))
		qz_profile__set_string(&s->profile->scopes[index].cgroup,
				       s->profile->scopes[from].cgroup);
	allowances__fork(s->allowances, index, image, parent, from);
}

/* Of an image that begins: /proc/PID/cgroup, "" where it has ended, as short as it lived. */
static void read_groups(const struct qz_process_event *e, char groups[PROCFS_GROUPS])
{
	int dir = procfs__open(e->tgid, e->start_boottime);

	groups[0] = '\0';
	if (dir < 0)
		return;
	if (procfs__read(dir, "cgroup", groups, PROCFS_GROUPS) < 0)
		groups[0] = '\0';
	close(dir);
}

void scopes__describe(struct scopes *s, const struct qz_process_event *e, struct image *image,
		      const struct image *parent)
{
	uint32_t index = scopes__index(s, e->scope);
	char comm[QZ_COMM_LEN + 1] = "", cgroup[PATH_MAX] = "", groups[PROCFS_GROUPS];

	if (index == QZ_NONE)
		return;
	if (e->cause == QZ_IMAGE_FORK) {
		describe_fork(s, index, image, parent);
		return;
	}
	read_groups(e, groups);
	allowances__begin(s->allowances, index, image, groups);
	if (!is_named(s, index))
		return;
	memcpy(comm, e->comm, QZ_COMM_LEN);
	qz_profile__set_string(&s->profile->scopes[index].comm, comm);
	qz_systemd_unit__cgroup_of(groups, cgroup, sizeof(cgroup));
	if (*cgroup)
		qz_profile__set_string(&s->profile->scopes[index].cgroup, cgroup);
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
	*state = *bpf_scopes__state(s->bpf, scope);
	return true;
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

/* Up to a time, or to its end; *state is its state then. */
static void refresh(struct scopes *s, uint32_t scope, uint64_t until, struct qz_scope_state *state)
{
	struct qz_scope *to = &s->profile->scopes[s->rows[scope]];

	*state = *bpf_scopes__state(s->bpf, scope);
	/* it also was without a thread for a moment when the first one found ended before the next */
	to->ended = state->ended && !state->alive;
	if (to->ended && state->ended < until)
		until = state->ended;
	to->counters = state->counters;
	/* without memory they stay as they were the last time */
	bpf_scopes__read_levels(s->bpf, scope, until, &to->level_ns, &to->nlevels);
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
	wait_drain__retire_scope(waits, &state);
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
		wait_drain__count(waits, &state);
	}
	if (s->machine == QZ_NONE)
		return;
	refresh(s, QZ_SCOPE_OF_MACHINE, until, &state);
	sum_machine(s);
}
