/* SPDX-License-Identifier: GPL-2.0-only */
/* What ran at one instant. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/profile_index.h"

static uint32_t moment_hash(const struct qz_moment *m)
{
	uint32_t hash = qz_hash__number(m->scope, m->n);

	for (uint32_t i = 0; i < m->n; i++)
		hash = qz_hash__number(hash, m->members[i]);
	return hash;
}

static bool moment_equal(const void *context, uint32_t index, const void *key)
{
	const struct qz_profile *p = context;
	const struct qz_moment *a = &p->moments[index], *b = key;

	return a->scope == b->scope && a->n == b->n &&
	       (!a->n || !memcmp(a->members, b->members, a->n * sizeof(*a->members)));
}

static int compare_members(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static bool is_possible(const struct qz_profile *p, const struct qz_moment *m)
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

static int append(struct qz_profile *p, const struct qz_moment *m)
{
	size_t size = m->n * sizeof(*m->members);
	uint32_t *members = malloc(size ? size : 1);
	struct qz_moment *room = members && !qz_table__reserve(&p->index->moments)
					 ? qz_array__room(p->moments, p->nmoments, sizeof(*room))
					 : NULL;

	if (!room) {
		free(members);
		return -ENOMEM;
	}
	if (size)
		memcpy(members, m->members, size);
	p->moments = room;
	room[p->nmoments] = *m;
	room[p->nmoments].members = members;
	p->index->members += m->n + 1;
	qz_table__insert(&p->index->moments, moment_hash(m), p->nmoments++);
	return 0;
}

int qz_profile__add_moment(struct qz_profile *p, const struct qz_moment *moment)
{
	uint32_t found;

	if (!is_possible(p, moment))
		return -EINVAL;
	if (moment->n)
		qsort(moment->members, moment->n, sizeof(*moment->members), compare_members);
	found = qz_table__find(&p->index->moments, moment_hash(moment), moment_equal, p, moment);
	if (found != QZ_NONE) {
		p->moments[found].count += moment->count;
		return 0;
	}
	return p->index->members + moment->n >= QZ_MAX_MEMBERS ? -E2BIG : append(p, moment);
}
