/* SPDX-License-Identifier: GPL-2.0-only */
/* What ran at one instant. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/model/profile_index.h"

static uint32_t round_hash(const void *row)
{
	const struct qz_round *m = row;
	uint32_t hash = qz_hash_table__hash_number(m->scope, m->n);

	for (uint32_t i = 0; i < m->n; i++)
		hash = qz_hash_table__hash_number(hash, m->members[i]);
	return hash;
}

static bool round_equal(const void *context, uint32_t index, const void *key)
{
	const struct qz_profile *p = context;
	const struct qz_round *a = &p->rounds[index], *b = key;

	return a->scope == b->scope && a->n == b->n &&
	       (!a->n || !memcmp(a->members, b->members, a->n * sizeof(*a->members)));
}

static int compare_members(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static bool is_possible(const struct qz_profile *p, const struct qz_round *m)
{
	if (m->scope >= p->nscopes || m->n >= QZ_MAX_LEVELS)
		return false;
	for (uint32_t i = 0; i < m->n; i++) {
		uint32_t procedure = QZ_MEMBER_PROCEDURE(m->members[i]);

		if (procedure >= p->nprocedures || p->procedures[procedure].kind != QZ_PROCEDURE)
			return false;
	}
	return true;
}

static void release(struct qz_profile *p, void *row)
{
	struct qz_round *m = row;

	p->index->members -= m->n + 1;
	free(m->members);
}

const struct qz_rows qz_round_rows = QZ_ROWS(rounds, nrounds, rounds, struct qz_round,
					     .hash = round_hash, .equal = round_equal,
					     .figures = qz_round_fields, .release = release);

static int append(struct qz_profile *p, const struct qz_round *m)
{
	size_t size = m->n * sizeof(*m->members);
	struct qz_round new = *m;
	int err;

	new.members = malloc(size ? size : 1);
	if (!new.members)
		return -ENOMEM;
	if (size)
		memcpy(new.members, m->members, size);
	err = qz_rows__add(p, &qz_round_rows, &new);
	if (err)
		free(new.members);
	else
		p->index->members += m->n + 1;
	return err;
}

int qz_rounds__add(struct qz_profile *p, const struct qz_round *round)
{
	uint32_t found;

	if (!is_possible(p, round))
		return -EINVAL;
	if (round->n)
		qsort(round->members, round->n, sizeof(*round->members), compare_members);
	found = qz_hash_table__find(&p->index->rounds, round_hash(round), round_equal, p, round);
	if (found != QZ_NONE) {
		p->rounds[found].count += round->count;
		return 0;
	}
	return p->index->members + round->n >= QZ_MAX_MEMBERS ? -E2BIG : append(p, round);
}
