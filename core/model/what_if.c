/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/model/what_if.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/model/objects.h"
#include "core/util/vec.h"

#define MOST (1u << 16) /* of all scopes */

int qz_what_ifs__add(struct qz_profile *p, const struct qz_what_if *w)
{
	struct qz_what_if copy = *w;

	if (w->scope >= p->nscopes || w->kind >= QZ_WHAT_IF_KINDS)
		return -EINVAL;
	if (p->nwhat_ifs >= MOST)
		return -E2BIG;
	copy.name = NULL;
	if (qz_profile__set_string(&copy.name, w->name) ||
	    qz_array__reserve((void **)&p->what_ifs, p->nwhat_ifs, sizeof(*p->what_ifs))) {
		free(copy.name);
		return -ENOMEM;
	}
	p->what_ifs[p->nwhat_ifs++] = copy;
	return 0;
}

bool qz_what_if__is_object(const char *name, const struct qz_object *o)
{
	const char *kind = qz_objects__kind_name(o->kind);
	size_t length = strlen(kind);

	if (!strcmp(name, o->name))
		return true;
	return !strncmp(name, kind, length) && name[length] == ' ' &&
	       !strcmp(name + length + 1, o->name);
}
