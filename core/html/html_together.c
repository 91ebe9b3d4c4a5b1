/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/html/html_together.h"

#include <inttypes.h>

#include "core/format/json_fields.h"
#include "core/model/fields.h"

void qz_html_together__mark(const struct qz_report *r, bool *used)
{
	for (uint32_t i = 0; i < r->profile->nrounds; i++) {
		const struct qz_round *m = &r->profile->rounds[i];

		for (uint32_t k = 0; m->scope == r->scope && k < m->n; k++)
			used[QZ_MEMBER_PROCEDURE(m->members[k])] = true;
	}
}

/* Procedures, one for each processor. */
static void put_members(FILE *out, const struct qz_round *m, bool spinning)
{
	const char *before = "";

	fputs(",[", out);
	for (uint32_t i = 0; i < m->n; i++) {
		if (QZ_MEMBER_SPINS(m->members[i]) != spinning)
			continue;
		fprintf(out, "%s%" PRIu32, before, QZ_MEMBER_PROCEDURE(m->members[i]));
		before = ",";
	}
	fputs("]", out);
}

int qz_html_together__put(FILE *out, const struct qz_report *r)
{
	const struct qz_profile *p = r->profile;
	const char *before = "";
	int err;

	if (!p->instants.rate_hz)
		return 0;
	fputs(",\n\"together\":{\"snapshots\":", out);
	err = qz_json_fields__put(out, qz_json_fields__object(qz_instants_fields, &p->instants));
	fputs(",\"sets\":[", out);
	for (uint32_t i = 0; i < p->nrounds; i++) {
		if (p->rounds[i].scope != r->scope)
			continue;
		fprintf(out, "%s[%" PRIu64, before, p->rounds[i].count);
		put_members(out, &p->rounds[i], false);
		put_members(out, &p->rounds[i], true);
		fputs("]", out);
		before = ",";
	}
	fputs("]}", out);
	return err;
}
