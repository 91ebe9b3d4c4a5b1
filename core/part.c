/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/part.h"

#include <errno.h>

#include "core/bring.h"

struct qz_profile *qz_profile__part(const struct qz_profile *p, const bool *kept)
{
	struct qz_maps maps;
	struct qz_bringing m = {
		.from = p, .maps = &maps, .into = QZ_NONE, .distinct = true, .kept = kept};
	int err = qz_maps__new(&maps, p);

	m.to = err ? NULL : qz_profile__new();
	if (!err)
		err = m.to ? qz_bring__entities(&m) : -ENOMEM;
	qz_bring__end(&m);
	qz_maps__free(&maps);
	if (!err)
		return m.to;
	qz_profile__free(m.to);
	errno = -err;
	return NULL;
}
