/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Measurement events (quartz_event): a thread stores a word, a poller finds that it has changed and logs it with the time,
 * and the main thread writes it to a file beside the snapshot (core/format/event_trace.h). A gap in the numbers shows how
 * many words were overwritten before they were seen.
 */
#ifndef QUARTZ_DAEMON_EVENT_LOG_H
#define QUARTZ_DAEMON_EVENT_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "core/format/event_trace.h"
#include "daemon/output/snapshot_file.h"

struct event_log;

/* For the file beside the snapshot, which outlives it; it is made with the first event. NULL with errno ENOMEM. */
struct event_log *event_log__new(const struct snapshot_file *snapshot, uint32_t npollers);

/* Puts an event down. By one poller each, without waiting; counted when there is no room. */
void event_log__put(struct event_log *log, uint32_t poller,
		    const struct qz_event_trace_record *event);

/* Writes what was put down. Main thread. 0 or -errno of the first write that failed. */
int event_log__write(struct event_log *log);

/* Whether there is no file of it yet. NULL has none. */
bool event_log__is_empty(const struct event_log *log);

/* Completes the file. Returns how many events were written, and those for which there was no room. */
int event_log__finish(struct event_log *log, uint64_t *written, uint64_t *dropped);

void event_log__free(struct event_log *log);

#endif
