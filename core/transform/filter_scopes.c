/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/transform/filter_scopes.h"

#include <errno.h>
#include <stdlib.h>

#include "core/transform/import.h"

struct qz_profile *qz_filter_scopes__profile(const struct qz_profile *p, const bool *kept)
{
	uint8_t *fates = calloc((size_t)p->nscopes + 1, sizeof(*fates));
	struct qz_import m = {.from = p, .fates = fates, .distinct = true, .for_user = kept};
	int err = -ENOMEM;

	m.to = fates ? qz_profile__new() : NULL;
	for (uint32_t i = 0; m.to && kept && i < p->nscopes; i++)
		fates[i] = kept[i] ? QZ_FATE_OWN : QZ_FATE_NONE;
	if (m.to)
		err = qz_import__once(&m);
	free(fates);
	if (!err)
		return m.to;
	qz_profile__free(m.to);
	errno = -err;
	return NULL;
}
