/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/transform/compact.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/transform/import.h"

/* So long after the end of a process, samples of it may still be added. */
#define SETTLING_NS 10000000000ull

uint32_t qz_compact__find_scope(const struct qz_profile *p, int32_t pid, uint64_t start_ns)
{
	uint32_t found = QZ_NONE;

	for (uint32_t i = 0; i < p->nscopes; i++)
		if (p->scopes[i].kind != QZ_SCOPE_MACHINE && p->scopes[i].pid == pid &&
		    (!start_ns || p->scopes[i].start_ns == start_ns))
			found = i;
	return found;
}

/* Gives how many. */
static uint32_t mark_ended(const struct qz_profile *p, const struct qz_compact *what, bool *marked)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->nscopes; i++) {
		const struct qz_scope *s = &p->scopes[i];

		marked[i] = s->kind == QZ_SCOPE_PROCESS && s->ended && !s->vacant &&
			    i != what->whole &&
			    s->start_ns + s->elapsed_ns + SETTLING_NS < what->since_ns;
		n += marked[i];
	}
	return n;
}

static int add_folded(struct qz_import *m)
{
	struct qz_scope folded = {
		.kind = QZ_SCOPE_PROCESS,
		.comm = (char *)QZ_ENDED_NAME,
		.ended = true,
		.nlevels = 1,
	};
	int64_t index = qz_profile__add_scope(m->to, &folded);

	m->folded = (uint32_t)index;
	return index < 0 ? (int)index : 0;
}

static void forget_ended_threads(struct qz_import *m)
{
	for (uint32_t i = 0; i < m->from->nthreads; i++) {
		const struct qz_thread *t = &m->from->threads[i];
		struct qz_scope *s = &m->to->scopes[m->maps->scopes[t->scope]];

		if (t->scope != m->summary->whole && t->ended && !t->merged &&
		    t->end_ns < m->summary->since_ns && s->counters.threads_seen)
			s->counters.threads_seen--;
	}
}

static int summarize(struct qz_import *m, bool *marked)
{
	size_t size = ((size_t)m->from->nlocations + 1) * sizeof(*m->cuts);
	int err = 0;

	m->cuts = malloc(size);
	if (!m->cuts)
		return -ENOMEM;
	memset(m->cuts, 0xff, size);
	m->marked = marked;
	if (mark_ended(m->from, m->summary, marked))
		err = add_folded(m);
	err = err ? err : qz_import__know(m);
	err = err ? err : qz_import__entities(m);
	if (!err)
		forget_ended_threads(m);
	return err;
}

struct qz_profile *qz_compact__profile(const struct qz_profile *p, const struct qz_compact *what)
{
	struct qz_maps maps = {0};
	struct qz_import m = {.from = p, .maps = &maps, .summary = what};
	bool *marked = calloc((size_t)p->nscopes + 1, sizeof(*marked));
	int err = marked ? qz_maps__new(&maps, p) : -ENOMEM;

	m.to = err ? NULL : qz_profile__new();
	if (!err)
		err = m.to ? summarize(&m, marked) : -ENOMEM;
	qz_import__end(&m);
	qz_maps__free(&maps);
	free(m.cuts);
	free(marked);
	if (!err)
		return m.to;
	qz_profile__free(m.to);
	errno = -err;
	return NULL;
}
