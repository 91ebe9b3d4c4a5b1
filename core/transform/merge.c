/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/transform/merge.h"

#include <string.h>

#include "core/transform/import.h"

/* ---- merging ---- */

int qz_merge__profile(struct qz_profile *to, const struct qz_profile *from)
{
	struct qz_import m = {.to = to, .from = from};

	return qz_import__once(&m);
}

int qz_merge__busy(struct qz_profile *to, const struct qz_profile *from)
{
	struct qz_import m = {.to = to, .from = from, .busy = true};

	return qz_import__once(&m);
}

/* ---- sizes ---- */

#define PER_STRING 32 /* with what the allocator adds */
#define PER_ENTRY                                                                                  \
	32 /* of a look-up table that is half full, and of an array that grows by doubling */

static uint32_t owner(const struct qz_profile *p, uint32_t scope, uint32_t thread)
{
	return thread == QZ_NONE ? scope : p->threads[thread].scope;
}

void qz_merge__sizes(const struct qz_profile *p, uint64_t *bytes)
{
	for (uint32_t i = 0; i < p->nscopes; i++) {
		const struct qz_scope *s = &p->scopes[i];

		bytes[i] = sizeof(*s) + s->nlevels * sizeof(*s->level_ns) + strlen(s->cgroup) +
			   strlen(s->command) + strlen(s->quota_cgroup) + strlen(s->cpuset) +
			   (4ull + s->nstack_ends) * (PER_STRING + sizeof(*s->stack_ends));
	}
	for (uint32_t i = 0; i < p->nthreads; i++)
		bytes[p->threads[i].scope] += 2 * sizeof(*p->threads) + 2ul * PER_STRING;
	for (uint32_t i = 0; i < p->nsamples; i++)
		bytes[owner(p, p->samples[i].scope, p->samples[i].thread)] +=
			sizeof(*p->samples) + PER_ENTRY;
	for (uint32_t i = 0; i < p->nwaits; i++)
		bytes[p->waits[i].scope] += sizeof(*p->waits) + PER_ENTRY;
	for (uint32_t i = 0; i < p->nwakings; i++)
		bytes[p->wakings[i].scope] += sizeof(*p->wakings) + PER_ENTRY;
	for (uint32_t i = 0; i < p->nobjects; i++)
		bytes[p->objects[i].scope] += sizeof(*p->objects) + strlen(p->objects[i].name) +
					      2ul * PER_STRING + PER_ENTRY;
	for (uint32_t i = 0; i < p->ncalls; i++)
		bytes[p->calls[i].scope] += sizeof(*p->calls) + PER_ENTRY;
	for (uint32_t i = 0; i < p->nrounds; i++)
		bytes[p->rounds[i].scope] += sizeof(*p->rounds) + PER_ENTRY +
					     p->rounds[i].n * sizeof(*p->rounds[i].members);
}
