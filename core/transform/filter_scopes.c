/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/transform/filter_scopes.h"

#include <errno.h>

#include "core/transform/import.h"

struct qz_profile *qz_filter_scopes__profile(const struct qz_profile *p, const bool *kept)
{
	struct qz_maps maps;
	struct qz_import m = {.from = p, .maps = &maps, .distinct = true, .kept = kept};
	int err = qz_maps__new(&maps, p);

	m.to = err ? NULL : qz_profile__new();
	if (!err)
		err = m.to ? qz_import__entities(&m) : -ENOMEM;
	qz_import__end(&m);
	qz_maps__free(&maps);
	if (!err)
		return m.to;
	qz_profile__free(m.to);
	errno = -err;
	return NULL;
}
