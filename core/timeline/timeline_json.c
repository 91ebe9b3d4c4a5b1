/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/timeline/timeline_json.h"

#include <errno.h>
#include <stdlib.h>

#include "core/format/json_fields.h"
#include "core/timeline/slots.h"

#define MAX_KEY 5

/* A row of numbers: those that it is equal in with others, then two sums. */
struct row {
	int64_t key[MAX_KEY];
	uint64_t sums[2];
};

static int64_t index_of(uint32_t i)
{
	return i == QZ_NONE ? -1 : (int64_t)i;
}

static struct row sample_row(const struct qz_profile *p, const struct qz_slot_sample *sample)
{
	const struct qz_sample *s = &p->samples[sample->sample];

	return (struct row) {{s->node, index_of(s->thread), s->level, s->busy, s->spinning},
			     {sample->norm_ns, sample->cpu_ns}};
}

static struct row wait_row(const struct qz_profile *p, const struct qz_slot_wait *wait)
{
	const struct qz_wait *w = &p->waits[wait->wait];

	return (struct row) {{w->node, index_of(w->thread), w->cause, index_of(w->object)},
			     {wait->blocked_ns, wait->ready_ns}};
}

static int compare(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	for (int i = 0; i < MAX_KEY; i++)
		if (x->key[i] != y->key[i])
			return x->key[i] < y->key[i] ? -1 : 1;
	return 0;
}

/* Makes one of rows that are equal; gives how many are left. */
static uint32_t add_equal(struct row *rows, uint32_t n)
{
	uint32_t kept = 0;

	if (n)
		qsort(rows, n, sizeof(*rows), compare);
	for (uint32_t i = 0; i < n; i++) {
		if (kept && !compare(&rows[kept - 1], &rows[i])) {
			rows[kept - 1].sums[0] += rows[i].sums[0];
			rows[kept - 1].sums[1] += rows[i].sums[1];
		} else {
			rows[kept++] = rows[i];
		}
	}
	return kept;
}

static int append_row(json_t *array, uint32_t slot, const struct row *row, uint32_t nkeys)
{
	json_t *numbers = json_array();
	bool failed = !numbers || json_array_append_new(numbers, json_integer(slot));

	for (uint32_t i = 0; !failed && i < nkeys; i++)
		failed = json_array_append_new(numbers, json_integer(row->key[i]));
	for (uint32_t i = 0; !failed && i < 2; i++)
		failed = json_array_append_new(numbers, qz_json_fields__integer(row->sums[i]));
	return json_array_append_new(array, qz_json_fields__unless(failed, numbers));
}

/* Appends the rows of one slot; frees them. */
static bool append_rows(json_t *array, uint32_t slot, struct row *rows, uint32_t n, uint32_t nkeys)
{
	bool failed = !rows;

	n = failed ? 0 : add_equal(rows, n);
	for (uint32_t i = 0; !failed && i < n; i++)
		failed = append_row(array, slot, &rows[i], nkeys) != 0;
	free(rows);
	return failed;
}

static json_t *samples_of(const struct qz_profile *p, const struct qz_slots *s)
{
	json_t *array = json_array();
	bool failed = !array;

	for (uint32_t i = 0; !failed && i < s->n; i++) {
		uint32_t n = s->all[i].nsamples;
		struct row *rows = calloc(n + 1ul, sizeof(*rows));

		for (uint32_t k = 0; rows && k < n; k++)
			rows[k] = sample_row(p, &s->all[i].samples[k]);
		failed = append_rows(array, i, rows, n, 5);
	}
	return qz_json_fields__unless(failed, array);
}

static json_t *waits_of(const struct qz_profile *p, const struct qz_slots *s)
{
	json_t *array = json_array();
	bool failed = !array;

	for (uint32_t i = 0; !failed && i < s->n; i++) {
		uint32_t n = s->all[i].nwaits;
		struct row *rows = calloc(n + 1ul, sizeof(*rows));

		for (uint32_t k = 0; rows && k < n; k++)
			rows[k] = wait_row(p, &s->all[i].waits[k]);
		failed = append_rows(array, i, rows, n, 4);
	}
	return qz_json_fields__unless(failed, array);
}

static json_t *slot_of(const struct qz_slots *s, const struct qz_slot_figures *f)
{
	json_t *slot = json_object();
	bool failed =
		!slot ||
		json_object_set_new(slot, "elapsed_ns", qz_json_fields__integer(f->elapsed_ns)) ||
		json_object_set_new(slot, "levels_ns",
				    qz_json_fields__integers(f->level_ns, s->nlevels)) ||
		json_object_set_new(slot, "busy_ns",
				    qz_json_fields__integers(f->busy_ns, s->nlevels)) ||
		json_object_set_new(slot, "running_ns", qz_json_fields__integer(f->running_ns)) ||
		json_object_set_new(slot, "spin_ns", qz_json_fields__integer(f->spin_ns)) ||
		json_object_set_new(slot, "ready_ns", qz_json_fields__integer(f->ready_ns)) ||
		json_object_set_new(slot, "blocked_ns", qz_json_fields__integer(f->blocked_ns));

	return qz_json_fields__unless(failed, slot);
}

static json_t *slots_of(const struct qz_slots *s)
{
	json_t *array = json_array();
	bool failed = !array;

	for (uint32_t i = 0; !failed && i < s->n; i++)
		failed = json_array_append_new(array, slot_of(s, &s->all[i])) != 0;
	return qz_json_fields__unless(failed, array);
}

json_t *qz_timeline_json__object(const struct qz_report *r)
{
	struct qz_slots *s = qz_slots__new(r);
	json_t *object;
	bool failed;

	if (!s)
		return errno == ENODATA ? json_null() : NULL;
	object = json_object();
	failed = !object ||
		 json_object_set_new(object, "slot_ns", qz_json_fields__integer(s->slot_ns)) ||
		 json_object_set_new(object, "begin_ns", json_integer(s->begin_ns)) ||
		 json_object_set_new(object, "slots", slots_of(s)) ||
		 json_object_set_new(object, "samples", samples_of(r->profile, s)) ||
		 json_object_set_new(object, "waits", waits_of(r->profile, s));
	qz_slots__free(s);
	return qz_json_fields__unless(failed, object);
}
