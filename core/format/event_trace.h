/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file of measurement events beside a snapshot, and what is computed from it:
 * intervals between chosen pairs of events, and frequencies (Mink and others, NBSIR 86-3416).
 *
 * The file: a header, then records in the order in which they were seen, in host byte order.
 */
#ifndef QUARTZ_CORE_EVENT_TRACE_H
#define QUARTZ_CORE_EVENT_TRACE_H

#include <stddef.h>
#include <stdint.h>

#define QZ_EVENTS_MAGIC	 0x313073746e657a71ull /* "qzents01" */
#define QZ_EVENTS_SUFFIX ".events"
#define QZ_MAX_EVENTS	 (1u << 25) /* of a file: 1 GiB */
#define QZ_EVENT_BUCKETS 64
#define QZ_EVENT_CULL	 4 /* times the least interval: longer ones were disturbed */

struct qz_event_trace_header {
	uint64_t magic;
	uint32_t record_size;
	uint32_t complete; /* the file was finished */
	uint64_t dropped;  /* seen, but not written for want of room */
};

struct qz_event_trace_record {
	uint64_t time_ns; /* when it was seen, CLOCK_MONOTONIC */
	uint32_t pid;
	uint32_t tid;	 /* as the process sees it */
	uint32_t value;	 /* given by the program */
	uint32_t number; /* of the thread's events so far, including this one, modulo 2^32 */
	uint32_t lost;	 /* of the thread's events before it, overwritten unseen */
	uint32_t reserved;
};

/*
 * Reads a file: *n records to *records, which the caller frees; header may be NULL. 0, -EINVAL: not such a file, or -errno.
 */
int qz_event_trace__read(int fd, struct qz_event_trace_header *header,
			 struct qz_event_trace_record **records, size_t *n);

/* Intervals: count, extremes, sum, and how many are in which bucket. All times in ns. */
struct qz_intervals {
	uint64_t count, min, max, sum;
	uint64_t width; /* of a bucket; the last one also has all longer intervals */
	uint64_t buckets[QZ_EVENT_BUCKETS];
	uint64_t broken; /* left out: events between the two were lost */
};

/*
 * The intervals from each event of value `from` to the next one of value `to` of the same thread;
 * raw: all; culled: without those longer than QZ_EVENT_CULL times the least. The buckets of both have the
 * same width.
 */
void qz_event_trace__intervals(const struct qz_event_trace_record *records, size_t n, uint32_t from,
			       uint32_t to, struct qz_intervals *raw, struct qz_intervals *culled);

/* How often one value was seen, and over which time. */
struct qz_frequency {
	uint32_t value;
	uint64_t count, first_ns, last_ns;
};

/* By value, ascending. The caller frees. NULL with *n 0 when there is none, or no memory. */
struct qz_frequency *qz_event_trace__frequencies(const struct qz_event_trace_record *records,
						 size_t n, size_t *count);

/* The number of events that were lost before they were seen, as far as later ones show. */
uint64_t qz_event_trace__lost(const struct qz_event_trace_record *records, size_t n);

#endif
