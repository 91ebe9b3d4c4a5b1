// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/allowances.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "core/util/cpu_list.h"
#include "core/util/string_table.h"
#include "core/util/vec.h"
#include "daemon/util/cpu_limit.h"

#define LIST	    1024 /* bytes of a list of processors */
#define MANY_GROUPS 64	 /* with a quota, that are read in one second */

/* What is known of a control group, and of those above it. */
struct group {
	struct cpu_limit_group of;
	uint32_t parent; /* QZ_NONE: it is the outermost */
	struct cpu_limit_quota quota;
	/* Since it is known, its quota's, whatever became of that in between; `quota` is of the last look. */
	uint64_t periods, throttled, throttled_ns;
	bool used; /* by a scope, or a group in it */
};

/* Sums over the groups of a scope. */
struct sums {
	uint64_t periods, throttled, throttled_ns;
};

struct scope_groups {
	uint32_t group;	   /* the innermost, QZ_NONE: it has none that is known */
	struct sums added; /* are in the profile's figures */
};

struct allowances {
	struct qz_profile *profile;
	const char *root;
	struct qz_string_table lists; /* of processors; images have their numbers, from 1 */
	struct group **groups;
	uint32_t ngroups, next;
	struct scope_groups *scopes; /* by index in the profile */
	uint32_t nscopes;
};

struct allowances *allowances__new(struct qz_profile *profile, const char *root)
{
	struct allowances *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->profile = profile;
	a->root = root;
	return a;
}

void allowances__free(struct allowances *a)
{
	if (!a)
		return;
	for (uint32_t i = 0; i < a->ngroups; i++)
		free(a->groups[i]);
	free(a->groups);
	free(a->scopes);
	qz_string_table__free(&a->lists);
	free(a);
}

/* ---- processors of threads ---- */

/* The list of those that a thread may use, numbered from 1. 0: they are all. False: it has ended. */
static bool ask(struct allowances *a, pid_t tid, uint32_t *list_number)
{
	struct qz_cpu_set set = {0};
	char list[LIST];
	int64_t number;

	*list_number = 0;
	if (sched_getaffinity(tid, sizeof(set), (cpu_set_t *)&set))
		return false;
	if (qz_cpu_set__count(&set) >= a->profile->processors)
		return true;
	qz_cpu_set__list(&set, list, sizeof(list));
	number = *list ? qz_string_table__intern(&a->lists, list) : -1;
	*list_number = number < 0 ? 0 : (uint32_t)number + 1;
	return true;
}

void allowances__thread(struct allowances *a, uint32_t row, struct image *image, bool lives)
{
	struct qz_thread *t = &a->profile->threads[row];
	uint32_t list;

	if (t->merged)
		return;
	lives = lives && ask(a, t->tid, &list);
	if (!lives)
		list = *t->cpus || !image ? 0 : image->cpus;
	if (lives && image && t->tid == t->pid)
		image->cpus = list;
	if (list || lives)
		qz_profile__set_string(&t->cpus, list ? a->lists.all[list - 1] : "");
}

/* ---- groups ---- */

static uint32_t find(const struct allowances *a, const struct cpu_limit_group *of)
{
	for (uint32_t i = 0; i < a->ngroups; i++)
		if (a->groups[i] && a->groups[i]->of.unified == of->unified &&
		    !strcmp(a->groups[i]->of.path, of->path))
			return i;
	return QZ_NONE;
}

/* Room for one more. QZ_NONE: no memory. */
static uint32_t make_room(struct allowances *a)
{
	for (uint32_t i = 0; i < a->ngroups; i++)
		if (!a->groups[i])
			return i;
	if (qz_array__reserve((void **)&a->groups, a->ngroups, sizeof(struct group *)))
		return QZ_NONE;
	a->groups[a->ngroups] = NULL;
	return a->ngroups++;
}

/* A group and those above it. */
static uint32_t know(struct allowances *a, const struct cpu_limit_group *of)
{
	struct cpu_limit_group one = *of;
	uint32_t first = QZ_NONE, *link = &first;

	do {
		uint32_t i = find(a, &one);
		bool known = i != QZ_NONE;
		struct group *g = known ? a->groups[i] : calloc(1, sizeof(*g));

		i = known || !g ? i : make_room(a);
		if (i == QZ_NONE) {
			free(g);
			break;
		}
		*link = i;
		if (known)
			break;
		*g = (struct group) {.of = one, .parent = QZ_NONE};
		cpu_limit__quota(a->root, &one, &g->quota);
		a->groups[i] = g;
		link = &g->parent;
	} while (cpu_limit__up(&one));
	return first;
}

static uint64_t since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static void look(const struct allowances *a, struct group *g)
{
	struct cpu_limit_quota now;

	if (!cpu_limit__quota(a->root, &g->of, &now))
		return; /* it has gone: what it had last counts */
	if (g->quota.quota_us && now.quota_us) {
		g->periods += since(now.periods, g->quota.periods);
		g->throttled += since(now.throttled, g->quota.throttled);
		g->throttled_ns += since(now.throttled_ns, g->quota.throttled_ns);
	}
	g->quota = now;
}

void allowances__look(struct allowances *a)
{
	uint32_t looked = 0;

	for (uint32_t n = a->ngroups; n && looked < MANY_GROUPS; n--) {
		struct group *g = a->groups[a->next++ % a->ngroups];

		if (g && g->quota.quota_us) {
			look(a, g);
			looked++;
		}
	}
}

/* ---- scopes ---- */

static struct sums sums_of(const struct allowances *a, uint32_t group)
{
	struct sums sums = {0};

	for (; group != QZ_NONE; group = a->groups[group]->parent) {
		const struct group *g = a->groups[group];

		sums.periods += g->periods;
		sums.throttled += g->throttled;
		sums.throttled_ns += g->throttled_ns;
	}
	return sums;
}

/* The one whose quota keeps it most from running: which was throttled longest, or has the least. */
static const struct group *tightest(const struct allowances *a, uint32_t group)
{
	const struct group *best = NULL;

	for (; group != QZ_NONE; group = a->groups[group]->parent) {
		const struct group *g = a->groups[group];

		if (!g->quota.quota_us)
			continue;
		if (!best || g->throttled_ns > best->throttled_ns ||
		    (g->throttled_ns == best->throttled_ns &&
		     (double)g->quota.quota_us / (double)g->quota.period_us <
			     (double)best->quota.quota_us / (double)best->quota.period_us))
			best = g;
	}
	return best;
}

static struct scope_groups *scope_of(struct allowances *a, uint32_t scope)
{
	while (a->nscopes <= scope) {
		if (qz_array__reserve((void **)&a->scopes, a->nscopes, sizeof(*a->scopes)))
			return NULL;
		a->scopes[a->nscopes++] = (struct scope_groups) {.group = QZ_NONE};
	}
	return &a->scopes[scope];
}

void allowances__add_scope(struct allowances *a, uint32_t scope)
{
	struct scope_groups *s = scope_of(a, scope);

	if (s)
		*s = (struct scope_groups) {.group = QZ_NONE};
}

static void bring_up_to_date(struct allowances *a, uint32_t scope)
{
	struct scope_groups *s = &a->scopes[scope];
	struct qz_scope *to = &a->profile->scopes[scope];
	struct sums now = sums_of(a, s->group);
	const struct group *g = tightest(a, s->group);

	to->quota_periods += now.periods - s->added.periods;
	to->throttled_periods += now.throttled - s->added.throttled;
	to->throttled_ns += now.throttled_ns - s->added.throttled_ns;
	s->added = now;
	to->quota_us = g ? g->quota.quota_us : 0;
	to->quota_period_us = g ? g->quota.period_us : 0;
	qz_profile__set_string(&to->quota_cgroup, g ? g->of.path : "");
}

/* Of a scope of several processes, the group that has a quota goes before one that has none. */
static void enter(struct allowances *a, uint32_t scope, uint32_t group)
{
	struct scope_groups *s = scope_of(a, scope);

	if (!s || s->group == group ||
	    (s->group != QZ_NONE && tightest(a, s->group) && !tightest(a, group)))
		return;
	if (s->group != QZ_NONE)
		bring_up_to_date(a, scope);
	s->group = group;
	s->added = sums_of(a, group);
}

static bool is_limited(const struct allowances *a, uint32_t scope)
{
	enum qz_scope_kind kind = a->profile->scopes[scope].kind;

	return kind != QZ_SCOPE_MACHINE && kind != QZ_SCOPE_KERNEL;
}

static void find_cpuset(struct allowances *a, uint32_t scope, const char *groups)
{
	struct cpu_limit_group of;
	struct qz_cpu_set set = {0};
	char list[LIST] = "";

	if (cpu_limit__group(groups, "cpuset", &of))
		cpu_limit__cpuset(a->root, &of, list, sizeof(list));
	if (!qz_cpu_set__add_list(&set, list) || qz_cpu_set__count(&set) >= a->profile->processors)
		list[0] = '\0';
	qz_profile__set_string(&a->profile->scopes[scope].cpuset, list);
}

void allowances__begin(struct allowances *a, uint32_t scope, struct image *image,
		       const char *groups)
{
	struct cpu_limit_group of;

	if (!is_limited(a, scope))
		return;
	if (image)
		ask(a, image->pid, &image->cpus);
	if (!*groups)
		return;
	find_cpuset(a, scope, groups);
	if (cpu_limit__group(groups, "cpu", &of)) {
		uint32_t group = know(a, &of);

		if (group != QZ_NONE)
			enter(a, scope, group);
	}
}

void allowances__fork(struct allowances *a, uint32_t scope, struct image *image,
		      const struct image *parent, uint32_t parent_scope)
{
	if (image && parent)
		image->cpus = parent->cpus;
	if (parent_scope >= a->nscopes || parent_scope == scope || !is_limited(a, scope) ||
	    a->scopes[parent_scope].group == QZ_NONE)
		return;
	enter(a, scope, a->scopes[parent_scope].group);
	qz_profile__set_string(&a->profile->scopes[scope].cpuset,
			       a->profile->scopes[parent_scope].cpuset);
}

/* ---- refreshing ---- */

static void mark_used(struct allowances *a)
{
	for (uint32_t i = 0; i < a->ngroups; i++)
		if (a->groups[i])
			a->groups[i]->used = false;
	for (uint32_t i = 0; i < a->nscopes; i++)
		for (uint32_t g = a->scopes[i].group; g != QZ_NONE; g = a->groups[g]->parent)
			a->groups[g]->used = true;
}

static void forget_unused(struct allowances *a)
{
	mark_used(a);
	for (uint32_t i = 0; i < a->ngroups; i++) {
		if (!a->groups[i] || a->groups[i]->used)
			continue;
		free(a->groups[i]);
		a->groups[i] = NULL;
	}
}

void allowances__refresh(struct allowances *a)
{
	for (uint32_t i = 0; i < a->ngroups; i++)
		if (a->groups[i])
			look(a, a->groups[i]);
	for (uint32_t i = 0; i < a->nscopes; i++) {
		if (a->profile->scopes[i].vacant)
			a->scopes[i].group = QZ_NONE;
		if (a->scopes[i].group == QZ_NONE)
			continue;
		bring_up_to_date(a, i);
		/* what has ended is not throttled any more, though its group may be */
		if (a->profile->scopes[i].kind == QZ_SCOPE_PROCESS && a->profile->scopes[i].ended)
			a->scopes[i].group = QZ_NONE;
	}
	forget_unused(a);
}
