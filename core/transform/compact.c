/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/transform/compact.h"

#include <errno.h>
#include <stdlib.h>

#include "core/transform/import.h"
#include "core/transform/merge.h"

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

/* Returns how many are folded. */
static uint32_t choose_fates(const struct qz_profile *p, const struct qz_compact *what,
			     uint8_t *fates)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->nscopes; i++) {
		const struct qz_scope *s = &p->scopes[i];
		bool folded = s->kind == QZ_SCOPE_PROCESS && s->ended && !s->vacant &&
			      s->start_ns + s->elapsed_ns + SETTLING_NS < what->since_ns;

		fates[i] = i == what->whole ? QZ_FATE_OWN
			   : folded	    ? QZ_FATE_FOLDED
					    : QZ_FATE_SUMMED;
		n += fates[i] == QZ_FATE_FOLDED;
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

static int summarize(struct qz_import *m, const struct qz_compact *what, uint8_t *fates)
{
	int err = choose_fates(m->from, what, fates) ? add_folded(m) : 0;

	err = err ? err : qz_import__run(m);
	if (!err)
		qz_import__forget_ended(m, what->since_ns, what->whole);
	qz_import__end(m);
	return err;
}

struct qz_profile *qz_compact__profile(const struct qz_profile *p, const struct qz_compact *what)
{
	uint8_t *fates = calloc((size_t)p->nscopes + 1, sizeof(*fates));
	struct qz_import m = {.from = p, .fates = fates, .procedures = what->procedures};
	int err = -ENOMEM;

	m.to = fates ? qz_profile__new() : NULL;
	if (m.to)
		err = summarize(&m, what, fates);
	free(fates);
	if (!err)
		return m.to;
	qz_profile__free(m.to);
	errno = -err;
	return NULL;
}
