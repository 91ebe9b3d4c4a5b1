/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Chrome's trace events as JSON, which Perfetto reads. A profile has sums and no time axis, so the file has only data with
 * times: a slice for each thread from when it was first seen to when it was last seen, with its sums as arguments, and an
 * instant for each measurement event of the program. Times are those of CLOCK_MONOTONIC, in microseconds.
 */
#ifndef QUARTZ_CORE_EXPORT_TRACE_EVENTS_H
#define QUARTZ_CORE_EXPORT_TRACE_EVENTS_H

#include <stdio.h>

#include "core/format/event_trace.h"
#include "core/report/report.h"

/*
 * Writes the threads of each report, and n events, which may be 0. 0 or -ENOMEM; write errors stay in out.
 */
int qz_trace_events__write(FILE *out, const struct qz_report *const *reports, uint32_t nreports,
			   const struct qz_event_trace_record *events, size_t n);

#endif
