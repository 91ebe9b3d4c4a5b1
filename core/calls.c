/* SPDX-License-Identifier: GPL-2.0-only */
/* How often procedures called each other. */
#include <errno.h>

#include "core/array.h"
#include "core/profile_index.h"

static uint32_t call_hash(const struct qz_call_count *c)
{
	return qz_hash__number(c->scope, (uint64_t)c->caller << 32 | c->callee);
}

static bool call_equal(const void *context, uint32_t index, const void *key)
{
	const struct qz_profile *p = context;
	const struct qz_call_count *a = &p->calls[index], *b = key;

	return a->scope == b->scope && a->caller == b->caller && a->callee == b->callee;
}

static bool is_code(const struct qz_profile *p, uint32_t procedure)
{
	return procedure < p->nprocedures && p->procedures[procedure].kind == QZ_PROCEDURE;
}

uint32_t qz_profile__find_call(const struct qz_profile *p, const struct qz_call_count *key)
{
	return qz_table__find(&p->index->calls, call_hash(key), call_equal, p, key);
}

int64_t qz_profile__intern_call(struct qz_profile *p, const struct qz_call_count *key)
{
	uint32_t hash = call_hash(key), found;
	struct qz_call_count *calls;

	if (key->scope >= p->nscopes || !is_code(p, key->callee) ||
	    (key->caller != QZ_NONE && !is_code(p, key->caller)))
		return -EINVAL;
	found = qz_table__find(&p->index->calls, hash, call_equal, p, key);
	if (found != QZ_NONE)
		return found;
	if (p->ncalls >= QZ_MAX_CALLS)
		return -E2BIG;
	if (qz_table__reserve(&p->index->calls))
		return -ENOMEM;
	calls = qz_array__room(p->calls, p->ncalls, sizeof(*calls));
	if (!calls)
		return -errno;
	p->calls = calls;
	calls[p->ncalls] = *key;
	calls[p->ncalls].count = calls[p->ncalls].cost_ns = 0;
	qz_table__insert(&p->index->calls, hash, p->ncalls);
	return p->ncalls++;
}
