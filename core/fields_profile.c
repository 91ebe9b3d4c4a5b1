/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/fields_profile.h"

const struct qz_field qz_cost_fields[] = {
	{"rate_halvings", QZ_FIELD_U32, offsetof(struct qz_profile, halvings)},
	{"ceiling_ppm", QZ_FIELD_U32, offsetof(struct qz_profile, ceiling_ppm)},
	{"accounting_ns", QZ_FIELD_U64, offsetof(struct qz_profile, costs.accounting_ns)},
	{"sampling_ns", QZ_FIELD_U64, offsetof(struct qz_profile, costs.sampling_ns)},
	{"walking_ns", QZ_FIELD_U64, offsetof(struct qz_profile, costs.walking_ns)},
	{"daemon_ns", QZ_FIELD_U64, offsetof(struct qz_profile, costs.daemon_ns)},
	{0},
};

const struct qz_field qz_ledger_fields[] = {
	QZ_FIELD(U64, qz_ledger, expected),
	QZ_FIELD(U64, qz_ledger, accepted),
	QZ_FIELD(U64, qz_ledger, filtered),
	QZ_FIELD(I64, qz_ledger, unaccounted),
	{0},
};
