// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/reports.h"

#include <stdlib.h>
#include <string.h>

#include "core/array.h"

/* The path of a mapping and the event of a report are the report's own. */
struct reports {
	struct report *all;
	uint32_t n, order;
	size_t bytes;
	uint64_t dropped;
};

struct reports *reports__new(void)
{
	return calloc(1, sizeof(struct reports));
}

static void free_report(struct report *report)
{
	free((char *)report->mapping.path);
	free(report->event);
}

void reports__free(struct reports *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->n; i++)
		free_report(&r->all[i]);
	free(r->all);
	free(r);
}

size_t reports__bytes(const struct reports *r)
{
	return r->bytes;
}

uint64_t reports__dropped(const struct reports *r)
{
	return r->dropped;
}

static struct report *add(struct reports *r, uint64_t time)
{
	struct report *report;

	if (qz_array__reserve((void **)&r->all, r->n, sizeof(*r->all))) {
		r->dropped++;
		return NULL;
	}
	report = &r->all[r->n++];
	*report = (struct report) {.time = time, .order = r->order++, .size = sizeof(*report)};
	r->bytes += report->size;
	return report;
}

static void grow(struct reports *r, struct report *report, size_t size)
{
	report->size += size;
	r->bytes += size;
}

/* The report just added has no memory for its contents. */
static void drop_last(struct reports *r)
{
	r->n--;
	r->bytes -= r->all[r->n].size;
	r->dropped++;
}

void reports__add_mapping(struct reports *r, const struct sampler_mapping *mapping)
{
	struct report *report = add(r, mapping->time);

	if (!report)
		return;
	report->is_mapping = true;
	report->mapping = *mapping;
	if (!mapping->path)
		return;
	report->mapping.path = strdup(mapping->path);
	if (report->mapping.path)
		grow(r, report, strlen(mapping->path) + 1);
	else
		drop_last(r);
}

void reports__add_event(struct reports *r, const struct qz_event *event, size_t size)
{
	struct report *report = add(r, event->time);

	if (!report)
		return;
	report->event = malloc(size);
	if (!report->event) {
		drop_last(r);
		return;
	}
	memcpy(report->event, event, size);
	grow(r, report, size);
}

void reports__move(struct reports *to, struct reports *from)
{
	for (uint32_t i = 0; i < from->n; i++) {
		struct report *report = add(to, from->all[i].time);
		uint32_t order = to->order - 1;

		if (!report) {
			free_report(&from->all[i]);
			continue;
		}
		to->bytes += from->all[i].size - report->size;
		*report = from->all[i];
		report->order = order;
	}
	from->n = 0;
	from->bytes = 0;
}

static int compare(const void *a, const void *b)
{
	const struct report *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

uint32_t reports__process(struct reports *r, uint64_t *horizon, reports_take *take, void *context)
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
	memmove(r->all, &r->all[done], (r->n - done) * sizeof(*r->all));
	r->n -= done;
	return done;
}
