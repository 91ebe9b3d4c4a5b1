/* SPDX-License-Identifier: GPL-2.0-only */
/* How often procedures called each other. */
#include <errno.h>

#include "core/model/profile_index.h"

static uint32_t call_hash(const void *row)
{
	const struct qz_call_count *c = row;

	return qz_hash_table__hash_number(c->scope, (uint64_t)c->caller << 32 | c->callee);
}

static bool call_equal(const void *context, uint32_t index, const void *key)
{
	const struct qz_profile *p = context;
	const struct qz_call_count *a = &p->calls[index], *b = key;

	return a->scope == b->scope && a->caller == b->caller && a->callee == b->callee;
}

static const struct qz_field figures[] = {
	QZ_FIELD(U64, qz_call_count, count, QZ_ADDS),
	QZ_FIELD(U64, qz_call_count, cost_ns, QZ_ADDS),
	QZ_FIELD(U64, qz_call_count, closed_count, QZ_ADDS),
	QZ_FIELD(U64, qz_call_count, closed_cost_ns, QZ_ADDS),
	{0},
};

const struct qz_rows qz_call_rows = QZ_ROWS(calls, ncalls, calls, struct qz_call_count,
					    .hash = call_hash, .equal = call_equal,
					    .figures = figures);

static bool is_code(const struct qz_profile *p, uint32_t procedure)
{
	return procedure < p->nprocedures && p->procedures[procedure].kind == QZ_PROCEDURE;
}

uint32_t qz_call_counts__find(const struct qz_profile *p, const struct qz_call_count *key)
{
	return qz_hash_table__find(&p->index->calls, call_hash(key), call_equal, p, key);
}

int64_t qz_call_counts__intern(struct qz_profile *p, const struct qz_call_count *key)
{
	uint32_t found;

	if (key->scope >= p->nscopes || !is_code(p, key->callee) ||
	    (key->caller != QZ_NONE && !is_code(p, key->caller)))
		return -EINVAL;
	found = qz_call_counts__find(p, key);
	if (found == QZ_NONE && p->ncalls >= QZ_MAX_CALLS)
		return -E2BIG;
	return found == QZ_NONE ? qz_rows__intern(p, &qz_call_rows, key) : found;
}
