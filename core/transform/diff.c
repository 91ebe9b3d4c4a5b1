/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/transform/diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/estimate/estimate.h"
#include "core/transform/baseline.h"
#include "core/transform/import.h"

/* Threads that had ended are not of this time; rows that stand for several are not known to be. */
static void forget_ended(const struct qz_import *m)
{
	for (uint32_t i = 0; i < m->from->nthreads; i++) {
		const struct qz_thread *t = &m->from->threads[i];
		uint32_t scope = m->maps->scopes[t->scope];

		if (scope != QZ_NONE && t->ended && !t->merged &&
		    m->to->scopes[scope].counters.threads_seen)
			m->to->scopes[scope].counters.threads_seen--;
	}
}

/* Scopes that p does not have were folded since, if they are anywhere. */
static void find_folded(struct qz_import *m, bool *marked)
{
	const struct qz_profile *p = m->to;

	for (uint32_t i = 0; m->folded == QZ_NONE && i < p->nscopes; i++)
		if (qz_scope__is_folded(&p->scopes[i]))
			m->folded = i;
	for (uint32_t i = 0; m->folded_row == QZ_NONE && i < p->nthreads; i++)
		if (p->threads[i].merged && p->threads[i].scope == m->folded)
			m->folded_row = i;
	for (uint32_t i = 0; i < m->from->nscopes; i++)
		marked[i] = !qz_import__knows_scope(m, &m->from->scopes[i]);
}

/* Adds the figures of `before` to what they are figures of in p. */
static int add_earlier(struct qz_import *m)
{
	bool *marked = calloc((size_t)m->from->nscopes + 1, sizeof(*marked));
	int err = marked ? qz_import__know(m) : -ENOMEM;

	if (!err) {
		find_folded(m, marked);
		m->marked = marked;
		err = qz_import__entities(m);
	}
	free(marked);
	return err;
}

static int subtract(struct qz_baseline *b, struct qz_profile *p, const struct qz_profile *before)
{
	struct qz_maps maps;
	struct qz_import m = {.to = p, .from = before, .maps = &maps, .earlier = true};
	int err = qz_maps__new(&maps, before);

	m.folded = m.folded_row = QZ_NONE;
	err = err ? err : qz_baseline__set(b, p);
	err = err ? err : add_earlier(&m);
	err = err ? err : qz_baseline__exchange(b, p);
	err = err ? err : qz_baseline__subtract(b, p);
	if (!err)
		forget_ended(&m);
	qz_import__end(&m);
	qz_maps__free(&maps);
	return err;
}

static bool is_later(const struct qz_profile *p, const struct qz_profile *before)
{
	return p->wall_start_ns == before->wall_start_ns && p->window_ns >= before->window_ns &&
	       p->processors == before->processors && !strcmp(p->machine, before->machine);
}

int qz_diff__profiles(struct qz_profile *p, const struct qz_profile *before)
{
	struct qz_baseline *b;
	int err;

	if (!is_later(p, before))
		return -ESTALE;
	b = qz_baseline__new();
	qz_profile__drop_unattributed(p);
	err = b ? subtract(b, p, before) : -ENOMEM;
	qz_baseline__free(b);
	if (err)
		return err;
	p->wall_start_ns += before->window_ns;
	qz_profile__drop_empty_samples(p);
	qz_waits__drop_empty(p);
	return qz_estimate__profile(p);
}
