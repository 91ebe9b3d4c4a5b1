/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/model/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/model/figures.h"
#include "core/util/order.h"

struct qz_timeline *qz_timeline__new(uint64_t start_ns, uint64_t slot_ns)
{
	struct qz_timeline *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->start_ns = start_ns;
	t->slot_ns = slot_ns;
	return t;
}

void qz_timeline__free(struct qz_timeline *t)
{
	for (uint32_t i = 0; t && i < QZ_TIMELINE_SLOTS; i++)
		free(t->slots[i].added);
	free(t);
}

/* ---- one slot ---- */

static int compare(const struct qz_added *a, uint32_t id, uint32_t entity)
{
	return qz_order(a->id, id) ?: qz_order(a->entity, entity);
}

/* Adds to a slot; the result is a new array. */
static int merge(struct qz_timeline *t, struct qz_timeslot *slot, const struct qz_added *added,
		 uint32_t n)
{
	struct qz_added *all = malloc((slot->n + (size_t)n + 1) * sizeof(*all)), *less;
	uint32_t i = 0, k = 0, sum = 0;
	bool overflow = false;

	if (!all)
		return -ENOMEM;
	while (i < slot->n || k < n) {
		int order = i == slot->n ? 1
			    : k == n	 ? -1
					 : compare(&slot->added[i], added[k].id, added[k].entity);

		all[sum] = order <= 0 ? slot->added[i] : added[k];
		if (!order &&
		    __builtin_add_overflow(all[sum].value, added[k].value, &all[sum].value))
			overflow = true;
		i += order <= 0;
		k += order >= 0;
		sum += all[sum].value != 0;
	}
	less = realloc(all, (sum + 1ul) * sizeof(*all));
	free(slot->added);
	t->nadded += sum - slot->n;
	*slot = (struct qz_timeslot) {less ? less : all, sum};
	return overflow ? -EBADMSG : 0;
}

/* The first one that is not before. */
static uint32_t lower_bound(const struct qz_timeslot *slot, uint32_t id, uint32_t entity)
{
	uint32_t low = 0, high = slot->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (compare(&slot->added[middle], id, entity) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct qz_added *find(const struct qz_timeslot *slot, uint32_t id, uint32_t entity)
{
	uint32_t at = lower_bound(slot, id, entity);

	return at < slot->n && !compare(&slot->added[at], id, entity) ? &slot->added[at] : NULL;
}

const struct qz_added *qz_timeline__column(const struct qz_timeslot *slot, uint32_t id, uint32_t *n)
{
	uint32_t first = lower_bound(slot, id, 0);

	*n = lower_bound(slot, id + 1, 0) - first;
	return *n ? &slot->added[first] : NULL;
}

/* ---- all slots ---- */

/* Each slot takes the next one. */
static int double_width(struct qz_timeline *t)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < t->n; i += 2) {
		struct qz_timeslot *slot = &t->slots[i], *next = i + 1 < t->n ? slot + 1 : NULL;
		struct qz_timeslot both;

		if (next) {
			err = merge(t, slot, next->added, next->n);
			t->nadded -= err ? 0 : next->n;
		}
		if (err)
			return err;
		if (next)
			free(next->added);
		both = *slot;
		*slot = (struct qz_timeslot) {0};
		if (next)
			*next = (struct qz_timeslot) {0};
		t->slots[i / 2] = both;
	}
	t->n = (t->n + 1) / 2;
	t->slot_ns *= 2;
	return 0;
}

static int make_room(struct qz_timeline *t)
{
	int err = 0;

	while (!err && t->nadded > QZ_TIMELINE_FIGURES)
		err = t->n <= QZ_TIMELINE_LEAST ? -E2BIG : double_width(t);
	return err;
}

/* Where the boundary is that is next to a moment. */
static uint64_t boundary(const struct qz_timeline *t, uint64_t ns)
{
	uint64_t since = ns > t->start_ns ? ns - t->start_ns : 0;

	return (since + t->slot_ns / 2) / t->slot_ns;
}

/* The slots that a time covers: at least one, and the one of its middle where that is so. */
static void cover(const struct qz_timeline *t, uint64_t from_ns, uint64_t until_ns, uint64_t *first,
		  uint64_t *last)
{
	uint64_t middle = from_ns + (until_ns - from_ns) / 2;

	*first = boundary(t, from_ns);
	*last = boundary(t, until_ns);
	if (*last > *first)
		return;
	*first = middle > t->start_ns ? (middle - t->start_ns) / t->slot_ns : 0;
	*last = *first + 1;
}

/* What all slots before this one of several have; where the rounding begins differs, so that ones go to all alike. */
static uint64_t before(const struct qz_added *a, uint64_t slot, uint64_t nslots)
{
	uint64_t rest = (a->entity * 2654435761u + a->id) % nslots;

	return (uint64_t)(((unsigned __int128)a->value * slot + rest) / nslots);
}

static int spread(struct qz_timeline *t, uint64_t first, uint64_t nslots,
		  const struct qz_added *added, uint32_t n)
{
	struct qz_added *parts = malloc((n + 1ul) * sizeof(*parts));
	int err = parts ? 0 : -ENOMEM;

	for (uint64_t slot = 0; !err && slot < nslots; slot++) {
		for (uint32_t i = 0; i < n; i++) {
			parts[i] = added[i];
			parts[i].value = before(&added[i], slot + 1, nslots) -
					 before(&added[i], slot, nslots);
		}
		err = merge(t, &t->slots[first + slot], parts, n);
	}
	free(parts);
	return err;
}

int qz_timeline__add(struct qz_timeline *t, uint64_t from_ns, uint64_t until_ns,
		     const struct qz_added *added, uint32_t n)
{
	uint64_t first, last;
	int err = 0;

	if (until_ns < from_ns)
		until_ns = from_ns;
	cover(t, from_ns, until_ns, &first, &last);
	while (!err && last > QZ_TIMELINE_SLOTS) {
		err = double_width(t);
		cover(t, from_ns, until_ns, &first, &last);
	}
	if (!err && last > t->n)
		t->n = (uint32_t)last;
	err = err ? err : spread(t, first, last - first, added, n);
	return err ? err : make_room(t);
}

void qz_timeline__take(struct qz_timeline *t, uint32_t id, uint32_t entity, uint64_t value)
{
	for (uint32_t i = t->n; value && i-- > 0;) {
		struct qz_timeslot *slot = &t->slots[i];
		struct qz_added *a = find(slot, id, entity);
		uint64_t part = !a ? 0 : a->value < value ? a->value : value;

		if (!a)
			continue;
		value -= part;
		a->value -= part;
		if (a->value)
			continue;
		memmove(a, a + 1, (char *)(slot->added + slot->n) - (char *)(a + 1));
		slot->n--;
		t->nadded--;
	}
}

uint64_t qz_timeline__sum(const struct qz_timeline *t, uint32_t first, uint32_t last, uint32_t id,
			  uint32_t entity)
{
	uint64_t sum = 0;

	for (uint32_t i = first; i < last && i < t->n; i++) {
		const struct qz_added *a = find(&t->slots[i], id, entity);

		sum += a ? a->value : 0;
	}
	return sum;
}

/* ---- whether it adds up ---- */

/* All slots in one. */
static int add_all(const struct qz_timeline *t, struct qz_timeline **all)
{
	struct qz_timeline *sum = qz_timeline__new(0, 1);
	int err = sum ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i < t->n; i++)
		err = merge(sum, &sum->slots[sum->n++], t->slots[i].added, t->slots[i].n);
	while (!err && sum->n > 1)
		err = double_width(sum);
	*all = sum;
	return err;
}

/* Whether the figures of a column are those of the slot from *at on, which goes beyond them. */
static bool same_column(const struct qz_timeslot *sum, const struct qz_column *column, uint32_t *at)
{
	for (uint32_t i = 0; i < column->n; i++) {
		const uint64_t *figure = qz_column__at(column, i);
		bool here = *at < sum->n && !compare(&sum->added[*at], column->id, i);

		if (!figure || !*figure) {
			if (here)
				return false;
			continue;
		}
		if (!here || sum->added[(*at)++].value != *figure)
			return false;
	}
	return true;
}

int qz_timeline__check(const struct qz_timeline *t, struct qz_profile *p)
{
	struct qz_timeline *sum = NULL;
	int err = add_all(t, &sum);
	struct qz_column column;
	bool same = !err;
	uint32_t at = 0;

	for (uint32_t id = 0; same && id < QZ_FIGURE_IDS; id = qz_figures__next(p, id))
		if (qz_figures__column(p, id, &column))
			same = same_column(&sum->slots[0], &column, &at);
	same = same && at == sum->slots[0].n;
	qz_timeline__free(sum);
	return err ? err : same ? 0 : -EBADMSG;
}
