/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/compare/owner.h"

#include <errno.h>
#include <stdlib.h>

#include "core/model/frames.h"
#include "core/report/kernel_rows.h"

static struct qz_owner row_of(struct qz_identities *ids, enum qz_identity_kind kind,
			      const char *name)
{
	return (struct qz_owner) {QZ_NONE, qz_identities__other(ids, kind, name),
				  kind == QZ_IDENTITY_KERNEL};
}

struct qz_owner qz_owner__find(struct qz_identities *ids, const struct qz_report *r, uint32_t node)
{
	struct qz_frames frames = {.profile = r->profile, .node = node};
	uint32_t procedure = qz_frames__next(&frames), kind;
	struct qz_owner owner;
	char *label;

	kind = procedure == QZ_NONE ? QZ_UNATTRIBUTED : r->profile->procedures[procedure].kind;
	if (kind == QZ_INSTRUMENTATION)
		return row_of(ids, QZ_IDENTITY_COST, "[instrumentation]");
	if (kind != QZ_PROCEDURE)
		return row_of(ids, QZ_IDENTITY_NO_SAMPLES, "(no procedure known)");
	if (qz_kernel_rows__label(r, node, &label))
		return (struct qz_owner) {QZ_NONE, -ENOMEM, false};
	if (!label)
		return (struct qz_owner) {procedure, 0, false};
	owner = row_of(ids, QZ_IDENTITY_KERNEL, label);
	free(label);
	return owner;
}
