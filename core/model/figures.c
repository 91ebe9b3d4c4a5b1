/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/model/figures.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/model/fields.h"

/* Entities that the profile has in an array, or that are a part of it. */
struct kind {
	const char *name;
	const struct qz_field *fields;
	uint32_t nfields; /* at most */
	size_t first;	  /* where the profile has the array, or the part */
	size_t n;	  /* where it has their number, 0: it is a part */
	size_t size;
};

#define PART(called, table, where)                                                                 \
	{                                                                                          \
		called, table, UINT32_MAX, where, 0, 0                                             \
	}
#define ARRAY(called, table, most, list, count, type)                                              \
	{                                                                                          \
		called, table, most, offsetof(struct qz_profile, list),                            \
			offsetof(struct qz_profile, count), sizeof(struct type)                    \
	}

static const struct kind kinds[] = {
	PART("run", qz_run_fields, 0),
	PART("instants", qz_instants_fields, offsetof(struct qz_profile, instants)),
	PART("costs", qz_cost_fields, 0),
	PART("ledger", qz_ledger_fields, offsetof(struct qz_profile, ledger)),
	ARRAY("losses", qz_loss_fields, UINT32_MAX, ledger.losses, ledger.nlosses, qz_loss),
	ARRAY("events", qz_loss_fields, UINT32_MAX, ledger.events, ledger.nevents, qz_loss),
	ARRAY("outside", qz_loss_fields, UINT32_MAX, ledger.outside, ledger.noutside, qz_loss),
	ARRAY("scopes", qz_scope_fields, UINT32_MAX, scopes, nscopes, qz_scope),
	ARRAY("threads", qz_thread_fields, UINT32_MAX, threads, nthreads, qz_thread),
	ARRAY("samples", qz_sample_fields, UINT32_MAX, samples, nsamples, qz_sample),
	ARRAY("waits", qz_wait_fields, UINT32_MAX, waits, nwaits, qz_wait),
	ARRAY("wakings", qz_waking_fields, UINT32_MAX, wakings, nwakings, qz_waking),
	ARRAY("objects", qz_object_fields, UINT32_MAX, objects, nobjects, qz_object),
	ARRAY("calls", qz_call_fields, 1, calls, ncalls, qz_call_count),
	ARRAY("moments", qz_round_fields, UINT32_MAX, rounds, nrounds, qz_round),
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* Where the figure of a number is described; NULL: nowhere. */
static const struct kind *describe(uint32_t id, const struct qz_field **field, uint32_t *element)
{
	for (size_t i = 0; i < KINDS; i++) {
		uint32_t n = 0;

		for (*field = kinds[i].fields; (*field)->name && n < kinds[i].nfields; (*field)++) {
			if (!((*field)->uses & QZ_ADDS))
				continue;
			n++;
			*element = id;
			if (id < (*field)->n)
				return &kinds[i];
			id -= (uint32_t)(*field)->n;
		}
	}
	return NULL;
}

/* Columns of scopes that each scope has in an array of its own. */
static bool scope_column(struct qz_profile *p, uint32_t id, struct qz_column *column)
{
	*column = (struct qz_column) {
		.first = (char *)p->scopes, .size = sizeof(*p->scopes), .n = p->nscopes, .id = id};
	return p->nscopes && id < QZ_FIGURE_IDS;
}

bool qz_figures__column(struct qz_profile *p, uint32_t id, struct qz_column *column)
{
	const struct qz_field *field;
	const struct kind *kind;
	uint32_t element = 0;
	char *at;

	if (id >= QZ_FIGURE_LEVELS)
		return scope_column(p, id, column);
	kind = describe(id, &field, &element);
	if (!kind)
		return false;
	at = (char *)p + kind->first;
	*column = (struct qz_column) {
		.first = kind->n ? *(char **)at : at,
		.size = kind->size,
		.at = field->at + element * sizeof(uint64_t),
		.n = kind->n ? *(uint32_t *)((char *)p + kind->n) : 1,
		.id = id,
	};
	return column->n;
}

uint32_t qz_figures__next(const struct qz_profile *p, uint32_t id)
{
	uint32_t level = ++id - QZ_FIGURE_LEVELS;

	if (id < QZ_FIGURE_LEVELS || id >= QZ_FIGURE_ENDS)
		return id;
	for (uint32_t i = 0; i < p->nscopes; i++)
		if (level < p->scopes[i].nlevels)
			return id;
	return QZ_FIGURE_ENDS;
}

uint64_t *qz_column__at(const struct qz_column *column, uint32_t entity)
{
	char *at = column->first + entity * column->size;
	const struct qz_scope *scope = (const struct qz_scope *)at;
	uint32_t level = column->id - QZ_FIGURE_LEVELS, end = column->id - QZ_FIGURE_ENDS;

	if (column->id < QZ_FIGURE_LEVELS)
		return (uint64_t *)(at + column->at);
	if (column->id < QZ_FIGURE_ENDS)
		return level < scope->nlevels ? &scope->level_ns[level] : NULL;
	return end < scope->nstack_ends ? &scope->stack_ends[end].count : NULL;
}

int qz_kept__grow(struct qz_kept *k, uint32_t n)
{
	uint32_t room = n + n / 8 + 16;
	uint64_t *values;

	if (n <= k->n)
		return 0;
	values = reallocarray(k->values, room, sizeof(*values));
	if (!values)
		return -ENOMEM;
	memset(values + k->n, 0, (room - k->n) * sizeof(*values));
	*k = (struct qz_kept) {values, room};
	return 0;
}

/* ---- names ---- */

bool qz_figures__name(uint32_t id, char name[QZ_FIGURE_NAME])
{
	const struct qz_field *field;
	const struct kind *kind;
	uint32_t element;

	if (id >= QZ_FIGURE_IDS)
		return false;
	if (id >= QZ_FIGURE_ENDS)
		snprintf(name, QZ_FIGURE_NAME, "stack_ends.%u", id - QZ_FIGURE_ENDS);
	else if (id >= QZ_FIGURE_LEVELS)
		snprintf(name, QZ_FIGURE_NAME, "level_ns.%u", id - QZ_FIGURE_LEVELS);
	if (id >= QZ_FIGURE_LEVELS)
		return true;
	kind = describe(id, &field, &element);
	if (kind && field->n > 1)
		snprintf(name, QZ_FIGURE_NAME, "%s.%s.%u", kind->name, field->name, element);
	else if (kind)
		snprintf(name, QZ_FIGURE_NAME, "%s.%s", kind->name, field->name);
	return kind;
}

/* The number after the prefix of a name; QZ_NONE: none below `most`. */
static uint32_t number_behind(const char *name, const char *prefix, uint32_t most)
{
	size_t length = strlen(prefix);
	unsigned long number;
	char *end;

	if (strncmp(name, prefix, length) || name[length] < '0' || name[length] > '9')
		return QZ_NONE;
	number = strtoul(name + length, &end, 10);
	return *end || number >= most ? QZ_NONE : (uint32_t)number;
}

uint32_t qz_figures__find(const char *name)
{
	uint32_t level = number_behind(name, "level_ns.", QZ_MAX_LEVELS);
	uint32_t stack_end = number_behind(name, "stack_ends.", QZ_MAX_CAUSES);
	char other[QZ_FIGURE_NAME];

	if (level != QZ_NONE)
		return QZ_FIGURE_LEVELS + level;
	if (stack_end != QZ_NONE)
		return QZ_FIGURE_ENDS + stack_end;
	for (uint32_t id = 0; id < QZ_FIGURE_LEVELS && qz_figures__name(id, other); id++)
		if (!strcmp(name, other))
			return id;
	return QZ_NONE;
}
