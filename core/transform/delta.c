/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/transform/delta.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/estimate/estimate.h"
#include "core/transform/baseline.h"
#include "core/transform/import.h"
#include "core/transform/merge.h"

/* Scopes that p does not have were folded since, if they are anywhere. */
static void find_folded(struct qz_import *m, uint8_t *fates)
{
	const struct qz_profile *p = m->to;

	for (uint32_t i = 0; m->folded == QZ_NONE && i < p->nscopes; i++)
		if (qz_scope__is_folded(&p->scopes[i]))
			m->folded = i;
	for (uint32_t i = 0; m->folded_row == QZ_NONE && i < p->nthreads; i++)
		if (p->threads[i].merged && p->threads[i].scope == m->folded)
			m->folded_row = i;
	for (uint32_t i = 0; i < m->from->nscopes; i++)
		if (!qz_import__knows_scope(m, &m->from->scopes[i]))
			fates[i] = QZ_FATE_FOLDED;
}

/* Adds the figures of `before` to what they are figures of in p, and takes them out again, with those that p had. */
static int subtract(struct qz_baseline *b, struct qz_profile *p, const struct qz_profile *before)
{
	uint8_t *fates = calloc((size_t)before->nscopes + 1, sizeof(*fates));
	struct qz_import m = {.to = p, .from = before, .fates = fates, .earlier = true};
	int err = fates ? qz_baseline__set(b, p) : -ENOMEM;

	m.folded = m.folded_row = QZ_NONE;
	err = err ? err : qz_import__begin(&m);
	if (!err) {
		find_folded(&m, fates);
		err = qz_import__run(&m);
	}
	err = err ? err : qz_baseline__exchange(b, p);
	err = err ? err : qz_baseline__subtract(b, p);
	if (!err)
		qz_import__forget_ended(&m, UINT64_MAX, QZ_NONE);
	qz_import__end(&m);
	free(fates);
	return err;
}

static bool is_later(const struct qz_profile *p, const struct qz_profile *before)
{
	return p->wall_start_ns == before->wall_start_ns && p->window_ns >= before->window_ns &&
	       p->processors == before->processors && !strcmp(p->machine, before->machine);
}

int qz_delta__since(struct qz_profile *p, const struct qz_profile *before)
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
