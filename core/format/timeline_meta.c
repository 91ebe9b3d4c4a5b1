/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/format/timeline_meta.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "core/format/json_fields.h"
#include "core/model/figures.h"
#include "core/util/order.h"

/* ---- writing ---- */

/* One array for each column of a slot: the number of its name, and for each figure its entity less the last one. */
static void print_slot(FILE *out, const struct qz_timeslot *slot, const uint32_t *names)
{
	uint32_t entity = 0;

	fputc('[', out);
	for (uint32_t i = 0; i < slot->n; i++) {
		const struct qz_added *a = &slot->added[i];
		bool first = !i || a->id != slot->added[i - 1].id;

		if (first) {
			fprintf(out, "%s[%" PRIu32, i ? "]," : "", names[a->id]);
			entity = 0;
		}
		fprintf(out, ",%" PRIu32 ",%" PRIu64, a->entity - entity, a->value);
		entity = a->entity;
	}
	fputs(slot->n ? "]]" : "]", out);
}

/* The names of the columns that any slot has, and their numbers. */
static void print_names(FILE *out, const struct qz_timeline *t, uint32_t *names)
{
	char name[QZ_FIGURE_NAME];
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n; i++)
		for (uint32_t k = 0; k < t->slots[i].n; k++)
			names[t->slots[i].added[k].id] = 1;
	for (uint32_t id = 0; id < QZ_FIGURE_IDS; id++) {
		if (!names[id] || !qz_figures__name(id, name))
			continue;
		fprintf(out, "%s\"%s\"", n ? "," : "", name);
		names[id] = n++;
	}
}

void qz_timeline_meta__print(FILE *out, const struct qz_timeline *t)
{
	uint32_t names[QZ_FIGURE_IDS] = {0};

	fprintf(out,
		",\"timeline\":{\"start_ns\":%" PRIu64 ",\"slot_ns\":%" PRIu64 ",\"figures\":[",
		t->start_ns, t->slot_ns);
	print_names(out, t, names);
	fputs("],\"slots\":[", out);
	for (uint32_t i = 0; i < t->n; i++) {
		if (i)
			fputc(',', out);
		print_slot(out, &t->slots[i], names);
	}
	fputs("]}", out);
}

/* ---- reading ---- */

struct reader {
	struct qz_timeline *t;
	uint32_t ids[QZ_FIGURE_IDS]; /* of the names; QZ_NONE: of another version */
	size_t nids;
};

static int read_names(struct reader *r, const json_t *names)
{
	r->nids = json_array_size(names);
	if (!json_is_array(names) || r->nids > QZ_FIGURE_IDS)
		return -EBADMSG;
	for (size_t i = 0; i < r->nids; i++) {
		const char *name = json_string_value(json_array_get(names, i));

		if (!name)
			return -EBADMSG;
		r->ids[i] = qz_figures__find(name);
	}
	return 0;
}

/* Appends the figures of one column. */
static int read_column(const struct reader *r, struct qz_timeslot *slot, const json_t *array)
{
	size_t n = json_array_size(array);
	uint64_t name, more, value, entity = 0;

	if (!(n & 1) ||
	    qz_json_fields__get_integer(json_array_get(array, 0), QZ_FIGURE_IDS, &name) ||
	    name >= r->nids)
		return -EBADMSG;
	for (size_t i = 1; i < n; i += 2) {
		if (qz_json_fields__get_integer(json_array_get(array, i), UINT32_MAX, &more) ||
		    qz_json_fields__get_integer(json_array_get(array, i + 1), INT64_MAX, &value) ||
		    !value || (entity += more) >= QZ_NONE)
			return -EBADMSG;
		if (r->ids[name] != QZ_NONE)
			slot->added[slot->n++] =
				(struct qz_added) {r->ids[name], (uint32_t)entity, value};
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct qz_added *x = a, *y = b;

	return qz_order(x->id, y->id) ?: qz_order(x->entity, y->entity);
}

/* How many figures a slot has at most. */
static size_t count(const json_t *slot)
{
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(slot); i++)
		n += json_array_size(json_array_get(slot, i)) / 2;
	return n;
}

static int read_slot(struct reader *r, struct qz_timeslot *slot, const json_t *json)
{
	size_t n = count(json);
	int err = json_is_array(json) ? 0 : -EBADMSG;

	if (n > QZ_TIMELINE_FIGURES - r->t->nadded)
		return -EFBIG;
	slot->added = malloc((n + 1) * sizeof(*slot->added));
	if (!slot->added)
		return -ENOMEM;
	for (size_t i = 0; !err && i < json_array_size(json); i++)
		err = read_column(r, slot, json_array_get(json, i));
	if (err)
		return err;
	r->t->nadded += slot->n;
	qsort(slot->added, slot->n, sizeof(*slot->added), compare);
	for (uint32_t i = 1; i < slot->n; i++)
		if (!compare(&slot->added[i - 1], &slot->added[i]))
			return -EBADMSG;
	return 0;
}

static int read_timeline(struct reader *r, const json_t *json)
{
	const json_t *slots = json_object_get(json, "slots");
	uint64_t start_ns, slot_ns;
	int err;

	if (qz_json_fields__get_integer(json_object_get(json, "start_ns"), INT64_MAX, &start_ns) ||
	    qz_json_fields__get_integer(json_object_get(json, "slot_ns"),
					INT64_MAX / (2 * QZ_TIMELINE_SLOTS), &slot_ns) ||
	    !slot_ns || !json_is_array(slots) || !json_array_size(slots))
		return -EBADMSG;
	if (json_array_size(slots) > QZ_TIMELINE_SLOTS)
		return -EFBIG;
	r->t = qz_timeline__new(start_ns, slot_ns);
	err = r->t ? read_names(r, json_object_get(json, "figures")) : -ENOMEM;
	for (size_t i = 0; !err && i < json_array_size(slots); i++)
		err = read_slot(r, &r->t->slots[r->t->n++], json_array_get(slots, i));
	return err;
}

int qz_timeline_meta__read(const json_t *timeline, struct qz_profile *p)
{
	struct reader r = {0};
	int err = timeline ? read_timeline(&r, timeline) : 0;

	if (!err && r.t) {
		err = qz_timeline__check(r.t, p);
		p->timeline_differs = err == -EBADMSG;
		err = p->timeline_differs ? 0 : err;
	}
	if (!err && r.t && !p->timeline_differs)
		p->timeline = r.t;
	else
		qz_timeline__free(r.t);
	return err;
}
