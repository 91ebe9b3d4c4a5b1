/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/advise/advise_json.h"

#include "core/format/json_fields.h"

static json_t *text_or_null(const char *text)
{
	return text ? qz_json_fields__text(text) : json_null();
}

/* In millionths of the elapsed time, as there are no fractions. */
static json_t *share_of(const struct qz_report *r, uint64_t ns)
{
	double share = r->elapsed_ns ? (double)ns / (double)r->elapsed_ns : 0;

	return json_integer((json_int_t)(share * 1e6 + 0.5));
}

static json_t *evidence_of(const struct qz_finding *f)
{
	json_t *array = json_array();
	bool failed = !array;

	for (uint32_t i = 0; !failed && i < f->nevidence; i++)
		failed = json_array_append_new(
			array,
			json_pack("{so, so}", "text", qz_json_fields__text(f->evidence[i].text),
				  "command", text_or_null(f->evidence[i].command)));
	return qz_json_fields__unless(failed, array);
}

json_t *qz_advise_json__finding(const struct qz_advice *a, const struct qz_finding *f)
{
	const struct qz_report *r = a->report;
	const struct qz_scope *scope = &r->profile->scopes[r->scope];

	return json_pack("{ss, s{ss, so}, so, so, so, so, so, so, so, so, s{si, so}}", "rule",
			 f->rule, "subject", "kind", qz_subject__kind_name(f->subject.kind), "name",
			 qz_json_fields__text(f->subject.name), "what",
			 qz_json_fields__text(f->what), "where", text_or_null(f->where), "evidence",
			 evidence_of(f), "remedy", qz_json_fields__text(f->remedy), "gain_low_ns",
			 qz_json_fields__integer(f->gain_low_ns), "gain_high_ns",
			 qz_json_fields__integer(f->gain_high_ns), "gain_low_ppm",
			 share_of(r, f->gain_low_ns), "gain_high_ppm", share_of(r, f->gain_high_ns),
			 "scope", "pid", (int)scope->pid, "comm",
			 qz_json_fields__text(scope->comm));
}
