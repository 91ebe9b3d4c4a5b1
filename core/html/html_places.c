/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/html/html_places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int qz_html_places__find(const struct qz_report *r, struct qz_html_places *places)
{
	const struct qz_profile *p = r->profile;

	places->thread = malloc(((size_t)p->nthreads + 1) * sizeof(*places->thread));
	places->object = malloc(((size_t)p->nobjects + 1) * sizeof(*places->object));
	if (!places->thread || !places->object)
		return -ENOMEM;
	memset(places->thread, 0xff, p->nthreads * sizeof(*places->thread));
	memset(places->object, 0xff, p->nobjects * sizeof(*places->object));
	for (uint32_t i = 0; i < r->nthreads; i++)
		places->thread[r->threads[i].thread] = i;
	for (uint32_t i = 0; i < r->nobjects; i++)
		places->object[r->objects[i].object] = i;
	return 0;
}

void qz_html_places__free(struct qz_html_places *places)
{
	free(places->thread);
	free(places->object);
}
