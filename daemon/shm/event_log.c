// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/shm/event_log.h"

#define RING (1u << 16) /* events of one poller between two ticks */

/* From one poller to the main thread. */
struct ring {
	uint32_t put, taken; /* modulo 2^32 */
	uint64_t dropped;
	struct qz_event_trace_record *records;
};

struct event_log {
	const struct snapshot_file *snapshot; /* that it lies beside */
	FILE *file;
	uint64_t written, refused; /* beyond the size of the file */
	int err;
	uint32_t nrings;
	struct ring rings[];
};

struct event_log *event_log__new(const struct snapshot_file *snapshot, uint32_t npollers)
{
	struct event_log *log = calloc(1, sizeof(*log) + npollers * sizeof(log->rings[0]));

	if (!log)
		return NULL;
	log->nrings = npollers;
	for (uint32_t i = 0; i < npollers; i++) {
		log->rings[i].records = calloc(RING, sizeof(struct qz_event_trace_record));
		if (!log->rings[i].records) {
			event_log__free(log);
			return NULL;
		}
	}
	log->snapshot = snapshot;
	return log;
}

void event_log__put(struct event_log *log, uint32_t poller,
		    const struct qz_event_trace_record *event)
{
	struct ring *r = &log->rings[poller];

	if (r->put - __atomic_load_n(&r->taken, __ATOMIC_ACQUIRE) >= RING) {
		__atomic_fetch_add(&r->dropped, 1, __ATOMIC_RELAXED);
		return;
	}
	r->records[r->put % RING] = *event;
	__atomic_store_n(&r->put, r->put + 1, __ATOMIC_RELEASE);
}

static uint64_t dropped(const struct event_log *log)
{
	uint64_t sum = log->refused;

	for (uint32_t i = 0; i < log->nrings; i++)
		sum += __atomic_load_n(&log->rings[i].dropped, __ATOMIC_RELAXED);
	return sum;
}

static void write_header(struct event_log *log, bool complete)
{
	struct qz_event_trace_header header = {.magic = QZ_EVENTS_MAGIC,
					       .record_size = sizeof(struct qz_event_trace_record),
					       .complete = complete,
					       .dropped = dropped(log)};

	if (fwrite(&header, sizeof(header), 1, log->file) != 1)
		log->err = -errno;
}

static void open_file(struct event_log *log)
{
	int fd = snapshot_file__create(log->snapshot, QZ_EVENTS_SUFFIX);

	log->file = fd < 0 ? NULL : fdopen(fd, "w");
	if (log->file) {
		write_header(log, false);
		return;
	}
	log->err = fd < 0 ? fd : -errno;
	if (fd >= 0)
		close(fd);
}

static void write_event(struct event_log *log, const struct qz_event_trace_record *event)
{
	if (!log->file && !log->err)
		open_file(log);
	if (log->err || log->written >= QZ_MAX_EVENTS) {
		log->refused++;
		return;
	}
	if (fwrite(event, sizeof(*event), 1, log->file) == 1)
		log->written++;
	else
		log->err = -errno;
}

int event_log__write(struct event_log *log)
{
	for (uint32_t i = 0; i < log->nrings; i++) {
		struct ring *r = &log->rings[i];
		uint32_t put = __atomic_load_n(&r->put, __ATOMIC_ACQUIRE);

		for (uint32_t k = r->taken; k != put; k++) {
			write_event(log, &r->records[k % RING]);
			__atomic_store_n(&r->taken, k + 1, __ATOMIC_RELEASE);
		}
	}
	return log->err;
}

bool event_log__is_empty(const struct event_log *log)
{
	return !log || !log->written;
}

int event_log__finish(struct event_log *log, uint64_t *written, uint64_t *lost)
{
	event_log__write(log);
	*written = log->written;
	*lost = dropped(log);
	if (log->file) {
		rewind(log->file);
		write_header(log, true);
		if (fclose(log->file) && !log->err)
			log->err = -errno;
		log->file = NULL;
	}
	return log->err;
}

void event_log__free(struct event_log *log)
{
	if (!log)
		return;
	if (log->file)
		fclose(log->file);
	for (uint32_t i = 0; i < log->nrings; i++)
		free(log->rings[i].records);
	free(log);
}
