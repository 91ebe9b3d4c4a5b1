// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/target/reorder_buffer.h"

#include <stdlib.h>
#include <string.h>

#include "core/util/order.h"
#include "core/util/vec.h"

/* The path of a mapping and the event of a report are the report's own. */
struct reorder_buffer {
	struct report *all;
	uint32_t n, order;
	size_t bytes;
	uint64_t dropped;
};

struct reorder_buffer *reorder_buffer__new(void)
{
	return calloc(1, sizeof(struct reorder_buffer));
}

static void free_report(struct report *report)
{
	if (report->kind == REPORT_MAPPING)
		free((char *)report->mapping.path);
	else
		free(report->event);
}

void reorder_buffer__free(struct reorder_buffer *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->n; i++)
		free_report(&r->all[i]);
	free(r->all);
	free(r);
}

size_t reorder_buffer__bytes(const struct reorder_buffer *r)
{
	return r->bytes;
}

uint64_t reorder_buffer__dropped(const struct reorder_buffer *r)
{
	return r->dropped;
}

static struct report *add(struct reorder_buffer *r, enum report_kind kind, uint64_t time)
{
	struct report *report;

	if (qz_array__reserve((void **)&r->all, r->n, sizeof(*r->all))) {
		r->dropped++;
		return NULL;
	}
	report = &r->all[r->n++];
	*report = (struct report) {
		.time = time, .order = r->order++, .kind = kind, .size = sizeof(*report)};
	r->bytes += report->size;
	return report;
}

/* The report just added has so much more of its own, or there is no memory for it. */
static bool keep(struct reorder_buffer *r, struct report *report, const void *own, size_t size)
{
	if (!own) {
		r->n--;
		r->bytes -= report->size;
		r->dropped++;
		return false;
	}
	report->size += size;
	r->bytes += size;
	return true;
}

bool reorder_buffer__add_mapping(struct reorder_buffer *r,
				 const struct perf_sampler_mapping *mapping)
{
	struct report *report = add(r, REPORT_MAPPING, mapping->time);

	if (!report)
		return false;
	report->mapping = *mapping;
	if (!mapping->path)
		return true;
	report->mapping.path = strdup(mapping->path);
	return keep(r, report, report->mapping.path, strlen(mapping->path) + 1);
}

bool reorder_buffer__add_event(struct reorder_buffer *r, const struct qz_event *event, size_t size)
{
	struct report *report = add(r, REPORT_EVENT, event->time);

	if (!report)
		return false;
	report->event = malloc(size);
	if (report->event)
		memcpy(report->event, event, size);
	return keep(r, report, report->event, size);
}

void reorder_buffer__move(struct reorder_buffer *to, struct reorder_buffer *from)
{
	uint32_t n = 0;

	while (n < from->n && !qz_array__reserve((void **)&to->all, to->n, sizeof(*to->all))) {
		struct report *report = &to->all[to->n++];

		*report = from->all[n++];
		report->order = to->order++;
		to->bytes += report->size;
		from->bytes -= report->size;
	}
	from->n -= n;
	if (from->n)
		memmove(from->all, from->all + n, from->n * sizeof(*from->all));
}

static int compare(const void *a, const void *b)
{
	const struct report *x = a, *y = b;

	return qz_order(x->time, y->time) ?: qz_order(x->order, y->order);
}

uint32_t reorder_buffer__process(struct reorder_buffer *r, uint64_t *horizon, reports_take *take,
				 void *context)
{
	uint32_t done = 0;
	bool more = true;

	if (r->n)
		qsort(r->all, r->n, sizeof(*r->all), compare);
	for (; more && done < r->n && r->all[done].time <= *horizon; done++) {
		more = take(context, &r->all[done]);
		r->bytes -= r->all[done].size;
		free_report(&r->all[done]);
	}
	if (done < r->n && r->all[done].time <= *horizon)
		*horizon = r->all[done].time - 1;
	if (done && done < r->n)
		memmove(r->all, &r->all[done], (r->n - done) * sizeof(*r->all));
	r->n -= done;
	return done;
}
