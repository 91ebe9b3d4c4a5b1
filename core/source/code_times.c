/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/source/code_times.h"

#include <errno.h>
#include <stdlib.h>

#include "core/report/figure.h"
#include "core/util/hash_table.h"
#include "core/util/order.h"
#include "core/util/vec.h"

struct times {
	const struct qz_report *report;
	struct qz_code_time *all;
	uint32_t n;
	struct qz_hash_table table;
};

static struct qz_code_time *time_of(struct times *times, const struct qz_code_time *key)
{
	uint32_t before = times->n;
	int64_t i = QZ_INTERN(&times->table, &times->all, &times->n, key, line);

	if (i < 0 || (times->n > before && qz_figure__init(&times->all[i].figure, times->report)))
		return NULL;
	return &times->all[i];
}

/* The location of the innermost frame, as struct qz_frames has it, or NULL. */
static const struct qz_location *innermost(const struct qz_profile *p, uint32_t node)
{
	for (; node; node = p->nodes[node].parent) {
		const struct qz_location *l = &p->locations[p->nodes[node].location];

		if (l->nlines)
			return l;
	}
	return NULL;
}

static int collect(struct times *times, uint32_t procedure, enum qz_code_unit unit)
{
	const struct qz_report *r = times->report;
	const struct qz_profile *p = r->profile;

	for (uint32_t i = 0; i < p->nsamples; i++) {
		const struct qz_sample *s = &p->samples[qz_report__sample(r, i)];
		const struct qz_location *l = innermost(p, s->node);
		struct qz_code_time key = {.mapping = QZ_NONE}, *time;

		if (s->scope != r->scope || !l || l->lines[0].procedure != procedure)
			continue;
		key.line = l->lines[0].line;
		key.part = l->lines[0].part;
		if (unit == QZ_CODE_INSTRUCTIONS) {
			key.mapping = l->mapping;
			key.address = l->address;
		}
		time = time_of(times, &key);
		if (!time)
			return -ENOMEM;
		qz_figure__add(&time->figure, r, s);
	}
	return 0;
}

static int compare(const void *x, const void *y)
{
	const struct qz_code_time *a = x, *b = y;

	return qz_order(a->mapping, b->mapping)
		?: qz_order(a->address, b->address)
		?: qz_order(a->part, b->part)
		?: qz_order(a->line, b->line);
}

int qz_code_times__of(const struct qz_report *r, uint32_t procedure, enum qz_code_unit unit,
		      struct qz_code_time **times, uint32_t *n)
{
	struct times found = {.report = r};
	int err;

	if (procedure >= r->profile->nprocedures ||
	    r->profile->procedures[procedure].kind != QZ_PROCEDURE)
		return -EINVAL;
	err = collect(&found, procedure, unit);
	qz_hash_table__free(&found.table);
	if (err) {
		qz_code_times__free(found.all, found.n);
		return err;
	}
	for (uint32_t i = 0; i < found.n; i++)
		qz_figure__finish(&found.all[i].figure, r);
	if (found.n)
		qsort(found.all, found.n, sizeof(*found.all), compare);
	*times = found.all;
	*n = found.n;
	return 0;
}

void qz_code_times__free(struct qz_code_time *times, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		qz_figure__clear(&times[i].figure);
	free(times);
}

bool qz_code_times__any_line(const struct qz_profile *p)
{
	for (uint32_t i = 0; i < p->nlocations; i++)
		for (uint32_t k = 0; k < p->locations[i].nlines; k++)
			if (p->locations[i].lines[k].line)
				return true;
	return false;
}
