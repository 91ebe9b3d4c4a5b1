/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/format/rounds_meta.h"

#include <errno.h>
#include <inttypes.h>

#include "core/format/json_fields.h"

/* Concatenated sets: scope, count, number of members, members. */
int qz_rounds_meta__print(FILE *out, const struct qz_profile *p)
{
	int err;

	fputs(",\"instants\":", out);
	err = qz_json_fields__print(out, '{', qz_instants_fields, &p->instants);
	fputs(",\"sets\":[", out);
	for (uint32_t i = 0; i < p->nrounds; i++) {
		const struct qz_round *m = &p->rounds[i];

		fprintf(out, "%s%" PRIu32 ",%" PRIu64 ",%" PRIu32, i ? "," : "", m->scope, m->count,
			m->n);
		for (uint32_t k = 0; k < m->n; k++)
			fprintf(out, ",%" PRIu32, m->members[k]);
	}
	fputs("]}", out);
	return err;
}

/* ---- reading ---- */

/* Of all counts: sums over processors fit into 64 bits, too. */
#define MAX_SUM (INT64_MAX / QZ_MAX_LEVELS)

struct cursor {
	const json_t *array;
	size_t at;
	uint64_t sum; /* of counts */
};

static int next(struct cursor *c, uint64_t max, uint64_t *value)
{
	return qz_json_fields__get_integer(json_array_get(c->array, c->at++), max, value);
}

static int read_set(struct cursor *c, struct qz_profile *p)
{
	uint32_t members[QZ_MAX_LEVELS], before = p->nrounds;
	uint64_t scope, count, n, member;
	int err;

	if (next(c, UINT32_MAX, &scope) || next(c, INT64_MAX, &count) ||
	    next(c, QZ_MAX_LEVELS - 1, &n) || !count || count > MAX_SUM - c->sum)
		return -EBADMSG;
	c->sum += count;
	for (uint32_t i = 0; i < n; i++) {
		if (next(c, UINT32_MAX, &member))
			return -EBADMSG;
		members[i] = (uint32_t)member;
	}
	err = qz_rounds__add(p, &(struct qz_round) {.scope = (uint32_t)scope,
						    .n = (uint32_t)n,
						    .members = members,
						    .count = count});
	if (!err && p->nrounds == before)
		return -EBADMSG; /* it was there before */
	return err == -EINVAL ? -EBADMSG : err == -E2BIG ? -EFBIG : err;
}

int qz_rounds_meta__read(const json_t *instants, struct qz_profile *p)
{
	struct cursor c = {.array = json_object_get(instants, "sets")};
	int err;

	if (!instants)
		return 0;
	err = qz_json_fields__read(instants, qz_instants_fields, &p->instants);
	if (!err && (!json_is_array(c.array) || !p->instants.rate_hz ||
		     p->instants.differing > p->instants.compared))
		err = -EBADMSG;
	while (!err && c.at < json_array_size(c.array))
		err = read_set(&c, p);
	return err;
}
