// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/output/user_filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/transform/filter_scopes.h"
#include "daemon/privsep/procfs.h"

struct user_filter {
	uint32_t n;
	bool items[]; /* by scope */
};

/* A line of ids of /proc/PID/status, real, effective and saved: all are this one. */
static bool all_are(int dir, const char *key, unsigned int id)
{
	unsigned int real, effective, saved;
	char value[64];

	return !procfs__status(dir, key, value, sizeof(value)) &&
	       sscanf(value, "%u %u %u", &real, &effective, &saved) == 3 && real == id &&
	       effective == id && saved == id;
}

static bool has_capabilities(int dir)
{
	char value[64];

	return procfs__status(dir, "CapPrm", value, sizeof(value)) || strtoull(value, NULL, 16);
}

/* The kernel has root own this file where the process cannot be dumped, while /proc/PID is its user's in any case. */
static bool owns_memory(int32_t pid, uid_t uid)
{
	struct stat st;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	return !stat(path, &st) && st.st_uid == uid;
}

/* As the kernel decides who may open that file (__ptrace_may_access). What capabilities the user has is not known: none. */
static bool may_inspect(int32_t pid, uid_t uid, gid_t gid)
{
	int dir = owns_memory(pid, uid) ? procfs__open(pid, 0) : -1;
	bool may;

	if (dir < 0)
		return false;
	may = all_are(dir, "Uid", uid) && all_are(dir, "Gid", gid) && !has_capabilities(dir);
	close(dir);
	return may;
}

struct user_filter *user_filter__look(const struct qz_profile *p, uid_t uid, gid_t gid)
{
	struct user_filter *filter =
		calloc(1, sizeof(*filter) + p->nscopes * sizeof(*filter->items));

	if (!filter)
		return NULL;
	filter->n = p->nscopes;
	for (uint32_t i = 0; i < filter->n; i++) {
		const struct qz_scope *s = &p->scopes[i];

		filter->items[i] = s->kind == QZ_SCOPE_PROCESS && !s->ended && s->pid > 0 &&
				   may_inspect(s->pid, uid, gid);
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
