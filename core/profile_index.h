/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files that fill a profile share and nobody else sees. */
#ifndef QUARTZ_CORE_PROFILE_INDEX_H
#define QUARTZ_CORE_PROFILE_INDEX_H

#include "core/profile.h"
#include "core/table.h"

struct qz_index {
	struct qz_table procedures, mappings, locations, nodes, samples;
	struct qz_table causes, objects, waits, wakings, calls, moments;
	uint32_t members; /* of all moments */
};

/* Whether `thread` is a thread that belongs to this scope, or none. */
static inline bool qz_profile__thread_of(const struct qz_profile *p, uint32_t thread,
					 uint32_t scope)
{
	return thread == QZ_NONE ||
	       (thread < p->nthreads && qz_scope__covers(p, scope, p->threads[thread].scope));
}

/* Whether `object` is an object that belongs to this scope, or none. */
static inline bool qz_profile__object_of(const struct qz_profile *p, uint32_t object,
					 uint32_t scope)
{
	return object == QZ_NONE ||
	       (object < p->nobjects && qz_scope__covers(p, scope, p->objects[object].scope));
}

#endif
