/* SPDX-License-Identifier: GPL-2.0-only */
/* The indices of a profile's threads and objects in a report, and so in the document of a page. */
#ifndef QUARTZ_CORE_HTML_PLACES_H
#define QUARTZ_CORE_HTML_PLACES_H

#include "core/report/report.h"

struct qz_html_places {
	uint32_t *thread, *object; /* of each of the profile; QZ_NONE: it is not in the report */
};

/* -ENOMEM; free with qz_html_places__free, also after an error. */
int qz_html_places__find(const struct qz_report *r, struct qz_html_places *places);
void qz_html_places__free(struct qz_html_places *places);

/* QZ_NONE for QZ_NONE. */
static inline uint32_t qz_html_places__of(const uint32_t *places, uint32_t i)
{
	return i == QZ_NONE ? QZ_NONE : places[i];
}

#endif
