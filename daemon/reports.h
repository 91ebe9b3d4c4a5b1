/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel and the BPF programs report, put in order of time: an exec is only understood when
 * its mappings, reported before through other rings, and its image come in that order.
 *
 * One thread at a time.
 */
#ifndef QUARTZ_DAEMON_REPORTS_H
#define QUARTZ_DAEMON_REPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/sampler.h"
#include "quartz/records.h"

struct reports;

struct report {
	uint64_t time;
	uint32_t order; /* of arrival, among equal times */
	size_t size;	/* bytes of memory, with what it points at */
	bool is_mapping;
	struct sampler_mapping mapping;
	struct qz_event *event; /* NULL for a mapping */
};

/* NULL with errno ENOMEM. */
struct reports *reports__new(void);
void reports__free(struct reports *r);

/* Keep a copy. For want of memory a report is dropped, which is counted. */
void reports__add_mapping(struct reports *r, const struct sampler_mapping *mapping);
void reports__add_event(struct reports *r, const struct qz_event *event, size_t size);

/* Puts all of them behind those of the other, which counts what it has no memory for. */
void reports__move(struct reports *to, struct reports *from);

/* Memory in use. */
size_t reports__bytes(const struct reports *r);

/*
 * What a report is given to; it is valid during the call only, and no report may be added in it. Gives
 * whether there is time for another one.
 */
typedef bool reports_take(void *context, const struct report *report);

/*
 * Hands over, in order of time, all reports up to *horizon, or as many as there is time for; then
 * *horizon becomes the time up to which all were. Gives their number.
 */
uint32_t reports__process(struct reports *r, uint64_t *horizon, reports_take *take, void *context);

uint64_t reports__dropped(const struct reports *r);

#endif
