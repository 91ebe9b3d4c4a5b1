// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/output/user_filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/transform/filter_scopes.h"

struct user_filter {
	uint32_t n;
	bool items[]; /* by scope */
};

/* The kernel has root own what not even the user may look into. */
static bool belongs_to(int32_t pid, uid_t uid)
{
	struct stat st;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return !stat(path, &st) && st.st_uid == uid;
}

struct user_filter *user_filter__look(const struct qz_profile *p, uid_t uid)
{
	struct user_filter *filter =
		calloc(1, sizeof(*filter) + p->nscopes * sizeof(*filter->items));

	if (!filter)
		return NULL;
	filter->n = p->nscopes;
	for (uint32_t i = 0; i < filter->n; i++) {
		const struct qz_scope *s = &p->scopes[i];

		filter->items[i] = s->kind == QZ_SCOPE_PROCESS && !s->ended && s->pid > 0 &&
				   belongs_to(s->pid, uid);
	}
	return filter;
}

void user_filter__free(struct user_filter *filter)
{
	free(filter);
}

struct qz_profile *user_filter__part(struct user_filter *filter, const struct qz_profile *p)
{
	bool *kept = calloc((size_t)p->nscopes + 1, sizeof(*kept));
	struct qz_profile *part = NULL;

	if (!kept)
		return NULL;
	for (uint32_t i = 0; i < filter->n; i++)
		kept[i] = filter->items[i] && !p->scopes[i].ended;
	part = qz_filter_scopes__profile(p, kept);
	free(kept);
	return part;
}
