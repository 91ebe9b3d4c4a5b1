/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/moments_meta.h"

#include <errno.h>

#include "core/fields.h"

static const struct qz_field instants_fields[] = {
	QZ_FIELD(U32, qz_instants, rate_hz),	QZ_FIELD(U64, qz_instants, taken),
	QZ_FIELD(U64, qz_instants, incomplete), QZ_FIELD(U64, qz_instants, unplaced),
	QZ_FIELD(U64, qz_instants, skew_ns),	QZ_FIELD(U64, qz_instants, skew_max_ns),
	QZ_FIELD(U64, qz_instants, outside),	QZ_FIELD(U64, qz_instants, compared),
	QZ_FIELD(U64, qz_instants, differing),	{0},
};

/* One behind the other: scope, count, number of members, members. */
static json_t *write_sets(const struct qz_profile *p)
{
	json_t *array = json_array();
	bool failed = !array;

	for (uint32_t i = 0; !failed && i < p->nmoments; i++) {
		const struct qz_moment *m = &p->moments[i];

		failed = json_array_append_new(array, json_integer(m->scope)) ||
			 json_array_append_new(array, qz_fields__integer(m->count)) ||
			 json_array_append_new(array, json_integer(m->n));
		for (uint32_t k = 0; !failed && k < m->n; k++)
			failed = json_array_append_new(array, json_integer(m->members[k])) != 0;
	}
	return qz_fields__unless(failed, array);
}

json_t *qz_moments__write(const struct qz_profile *p)
{
	json_t *object = qz_fields__object(instants_fields, &p->instants);
	bool failed = !object || json_object_set_new(object, "sets", write_sets(p));

	return qz_fields__unless(failed, object);
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
	return qz_fields__get_integer(json_array_get(c->array, c->at++), max, value);
}

static int read_set(struct cursor *c, struct qz_profile *p)
{
	uint32_t members[QZ_MAX_LEVELS], before = p->nmoments;
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
	err = qz_profile__add_moment(p, &(struct qz_moment) {.scope = (uint32_t)scope,
							     .n = (uint32_t)n,
							     .members = members,
							     .count = count});
	if (!err && p->nmoments == before)
		return -EBADMSG; /* it was there before */
	return err == -EINVAL ? -EBADMSG : err == -E2BIG ? -EFBIG : err;
}

int qz_moments__read(const json_t *instants, struct qz_profile *p)
{
	struct cursor c = {.array = json_object_get(instants, "sets")};
	int err;

	if (!instants)
		return 0;
	err = qz_fields__read(instants, instants_fields, &p->instants);
	if (!err && (!json_is_array(c.array) || !p->instants.rate_hz ||
		     p->instants.differing > p->instants.compared))
		err = -EBADMSG;
	while (!err && c.at < json_array_size(c.array))
		err = read_set(&c, p);
	return err;
}
