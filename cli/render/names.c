/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/render/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/render/output.h"
#include "core/util/base_name.h"

enum {
	LISTED = 1,   /* has a row */
	NAMESAKE = 2, /* there is another row of this name */
	TWIN = 4,     /* even in the same module */
};

struct names {
	const struct qz_profile *profile;
	uint8_t *flags; /* by procedure */
};

static int compare(const void *a, const void *b, void *context)
{
	const struct qz_profile *p = context;
	const struct qz_procedure *x = &p->procedures[*(const uint32_t *)a];
	const struct qz_procedure *y = &p->procedures[*(const uint32_t *)b];
	int order = strcmp(x->name, y->name);

	return order ? order : strcmp(x->module, y->module);
}

static void find_namesakes(struct names *n, uint32_t *sorted, uint32_t count)
{
	const struct qz_procedure *procedures = n->profile->procedures;

	qsort_r(sorted, count, sizeof(*sorted), compare, (void *)n->profile);
	for (uint32_t i = 1; i < count; i++) {
		const struct qz_procedure *a = &procedures[sorted[i - 1]];
		const struct qz_procedure *b = &procedures[sorted[i]];
		uint8_t flags = NAMESAKE;

		if (strcmp(a->name, b->name))
			continue;
		if (!strcmp(a->module, b->module))
			flags |= TWIN;
		n->flags[sorted[i - 1]] |= flags;
		n->flags[sorted[i]] |= flags;
	}
}

/* Lists each procedure that has a row in any of the reports once. */
static uint32_t list_ranked(struct qz_report *const *reports, uint32_t nreports, uint8_t *listed,
			    uint32_t *list)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < nreports; i++) {
		for (uint32_t k = 0; k < reports[i]->nrows; k++) {
			uint32_t procedure = reports[i]->rows[k].procedure;

			if (!listed[procedure])
				list[n++] = procedure;
			listed[procedure] = LISTED;
		}
	}
	return n;
}

struct names *names__new(const struct qz_profile *p, struct qz_report *const *reports,
			 uint32_t nreports)
{
	struct names *n = calloc(1, sizeof(*n));
	uint32_t *sorted = calloc((size_t)p->nprocedures + 1, sizeof(*sorted));

	if (n)
		n->flags = calloc((size_t)p->nprocedures + 1, 1);
	if (!n || !n->flags || !sorted) {
		names__free(n);
		free(sorted);
		return NULL;
	}
	n->profile = p;
	find_namesakes(n, sorted, list_ranked(reports, nreports, n->flags, sorted));
	free(sorted);
	return n;
}

void names__free(struct names *n)
{
	if (!n)
		return;
	free(n->flags);
	free(n);
}

char *names__format(const struct names *n, uint32_t procedure)
{
	const struct qz_procedure *p = &n->profile->procedures[procedure];
	bool with_module = *p->module && (n->flags[procedure] & NAMESAKE || !*p->name);
	bool with_file = *p->file && n->flags[procedure] & TWIN;
	char *raw = NULL, *escaped;
	int length;

	length = asprintf(&raw, "%s%s%s%s%s%s", with_module ? qz_base_name(p->module) : "",
			  with_module ? ":" : "", *p->name ? p->name : "(no name)",
			  with_file ? " (" : "", with_file ? qz_base_name(p->file) : "",
			  with_file ? ")" : "");
	if (length < 0)
		return NULL;
	escaped = output__escape(raw);
	free(raw);
	return escaped;
}
