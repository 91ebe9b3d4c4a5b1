/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/model/objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/model/frames.h"

const char *qz_objects__kind_name(uint32_t kind)
{
	static const char *const names[QZ_OBJECT_KINDS] = {
		[QZ_OBJECT_OTHER] = "futex",	     [QZ_OBJECT_MUTEX] = "mutex",
		[QZ_OBJECT_CONDITION] = "condition", [QZ_OBJECT_BARRIER] = "barrier",
		[QZ_OBJECT_RWLOCK] = "rwlock",	     [QZ_OBJECT_SEMAPHORE] = "semaphore",
		[QZ_OBJECT_JOIN] = "join",	     [QZ_OBJECT_ONCE] = "once",
		[QZ_OBJECT_SPIN] = "spin",	     [QZ_OBJECT_FILE] = "file",
		[QZ_OBJECT_PIPE] = "pipe",	     [QZ_OBJECT_SOCKET] = "socket",
		[QZ_OBJECT_LINE] = "cache line",     [QZ_OBJECT_LOCK] = "lock",
		[QZ_OBJECT_EVENT] = "eventfd",
	};

	return names[kind];
}

/* Whether a name begins with this word or phrase. */
static bool begins(const char *name, const char *phrase)
{
	size_t length = strlen(phrase);

	return !strncmp(name, phrase, length) && strchr(" :[", name[length]);
}

char *qz_objects__label(const struct qz_object *o)
{
	const char *kind = qz_objects__kind_name(o->kind);
	char *label;

	if (begins(o->name, kind) || begins(o->name, "the") ||
	    (o->kind == QZ_OBJECT_JOIN && begins(o->name, "end of thread")) ||
	    (o->kind == QZ_OBJECT_ONCE && begins(o->name, "initialization")))
		return strdup(o->name);
	return asprintf(&label, "%s %s", kind, o->name) < 0 ? NULL : label;
}

#define CLOCK_WAITS 20
#define CLOCK_WAKES 0.1 /* of the waits, at most */

bool qz_objects__is_clock(const struct qz_object *o)
{
	return o->kind < QZ_OBJECT_SPIN && o->waits >= CLOCK_WAITS &&
	       (double)o->wakes <= CLOCK_WAKES * (double)o->waits;
}

/* ---- wake-ups for nothing ---- */

/* Procedures of runtimes that wake one thread. */
static const char *const wakes_one[] = {"cond_signal",	"sem_post",	 "notify_one",
					"mutex_unlock", "lll_lock_wake", "rwlock_unlock"};

static bool is_of_one(const struct qz_profile *p, uint32_t node)
{
	for (size_t i = 0; i < sizeof(wakes_one) / sizeof(wakes_one[0]); i++)
		if (qz_frames__have_name(p, node, wakes_one[i]))
			return true;
	return false;
}

uint64_t qz_objects__in_vain(const struct qz_profile *p, uint32_t object)
{
	uint64_t in_vain = p->objects[object].in_vain, one = 0, all = 0;

	for (uint32_t i = 0; in_vain && i < p->nwakings; i++) {
		const struct qz_waking *w = &p->wakings[i];

		if (w->object != object || !w->count)
			continue;
		all += w->count;
		one += is_of_one(p, w->node) ? w->count : 0;
	}
	return one > all / 2 ? 0 : in_vain;
}
