/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/remedies/remedies_json.h"

#include "core/format/json_fields.h"

json_t *qz_remedies_json__use(const struct qz_remedy_use *use)
{
	return json_pack("{so, so, ss, ss}", "name", qz_json_fields__text(use->name), "change",
			 qz_json_fields__text(use->change), "how",
			 qz_remedy__way_name(use->remedy->way), "risk", use->remedy->risk);
}

json_t *qz_remedies_json__of_finding(const struct qz_remedies *r, uint32_t finding)
{
	json_t *array = json_array();
	bool failed = !array;

	for (uint32_t i = 0; !failed && i < r->n; i++)
		if (r->uses[i].finding == finding)
			failed = json_array_append_new(array, qz_remedies_json__use(&r->uses[i]));
	return qz_json_fields__unless(failed, array);
}
