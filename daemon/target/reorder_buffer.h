/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel and the BPF programs report, put in order of time: an exec is only understood when
 * its mappings, reported before through other rings, and its image come in that order.
 *
 * One thread at a time.
 */
#ifndef QUARTZ_DAEMON_REORDER_BUFFER_H
#define QUARTZ_DAEMON_REORDER_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/kernel/perf_sampler.h"
#include "daemon/target/address_spaces.h"
#include "quartz/records.h"

struct reorder_buffer;

enum report_kind {
	REPORT_EVENT,
	REPORT_MAPPING,
};

struct report {
	uint64_t time;
	uint32_t order; /* of arrival, among equal times */
	enum report_kind kind;
	size_t size; /* bytes of memory, with what it points at */
	union {
		struct qz_event *event;
		struct perf_sampler_mapping mapping;
	};
};

/* NULL with errno ENOMEM. */
struct reorder_buffer *reorder_buffer__new(void);
void reorder_buffer__free(struct reorder_buffer *r);

/* Keep a copy. False: for want of memory the report is dropped, which is counted. */
bool reorder_buffer__add_mapping(struct reorder_buffer *r,
				 const struct perf_sampler_mapping *mapping);
bool reorder_buffer__add_event(struct reorder_buffer *r, const struct qz_event *event, size_t size);

/* Appends them to those of the other, as many as there is memory for. */
void reorder_buffer__move(struct reorder_buffer *to, struct reorder_buffer *from);

/* Memory in use. */
size_t reorder_buffer__bytes(const struct reorder_buffer *r);

/*
 * What a report is given to; it is valid during the call only, and no report may be added in it. Returns
 * whether there is time for another one.
 */
typedef bool reports_take(void *context, const struct report *report);

/*
 * Hands over, in order of time, all reports up to *horizon, or as many as there is time for; then
 * *horizon becomes the time up to which all were. Returns their number.
 */
uint32_t reorder_buffer__process(struct reorder_buffer *r, uint64_t *horizon, reports_take *take,
				 void *context);

uint64_t reorder_buffer__dropped(const struct reorder_buffer *r);

#endif
