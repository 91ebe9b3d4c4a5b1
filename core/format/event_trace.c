/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/format/event_trace.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/util/vec.h"
#include "core/util/hash_table.h"

/* ---- reading ---- */

/* Up to size bytes, fewer at the end of the file; or -errno. */
static ssize_t read_all(int fd, void *to, size_t size)
{
	size_t have = 0;

	while (have < size) {
		ssize_t n = read(fd, (char *)to + have, size - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		have += (size_t)n;
	}
	return (ssize_t)have;
}

int qz_event_trace__read(int fd, struct qz_event_trace_header *header,
			 struct qz_event_trace_record **records, size_t *n)
{
	struct qz_event_trace_record *all = NULL, record;
	struct qz_event_trace_header h;
	ssize_t got = read_all(fd, &h, sizeof(h));
	uint32_t count = 0;
	int err = 0;

	if (got != sizeof(h) || h.magic != QZ_EVENTS_MAGIC || h.record_size != sizeof(record))
		return got < 0 ? (int)got : -EINVAL;
	while ((got = read_all(fd, &record, sizeof(record))) == sizeof(record)) {
		if (count >= QZ_MAX_EVENTS)
			err = -E2BIG;
		err = err ? err : qz_array__reserve((void **)&all, count, sizeof(*all));
		if (err)
			break;
		all[count++] = record;
	}
	if (got < 0 && !err)
		err = (int)got;
	if (err) {
		free(all);
		return err;
	}
	if (header)
		*header = h;
	*records = all;
	*n = count;
	return 0;
}

/* ---- intervals ---- */

/* The event of value `from` that waits for its end, of each thread. */
struct open {
	uint64_t id;
	bool waits, broken;
	uint64_t since;
};

struct pairing {
	struct open *threads;
	uint32_t n;
	struct qz_hash_table table;
	uint64_t *lengths;
	uint32_t nlengths;
	uint64_t broken;
};

static struct open *open_of(struct pairing *p, uint64_t id)
{
	const struct open new = {.id = id};
	int64_t i = QZ_INTERN(&p->table, &p->threads, &p->n, &new, id);

	return i < 0 ? NULL : &p->threads[i];
}

static void end_interval(struct pairing *p, struct open *o, uint64_t now)
{
	o->waits = false;
	if (o->broken || now < o->since) {
		p->broken++;
		return;
	}
	if (!qz_array__reserve((void **)&p->lengths, p->nlengths, sizeof(*p->lengths)))
		p->lengths[p->nlengths++] = now - o->since;
}

static void pair(struct pairing *p, const struct qz_event_trace_record *e, uint32_t from,
		 uint32_t to)
{
	struct open *o = open_of(p, (uint64_t)e->pid << 32 | e->tid);

	if (!o)
		return;
	if (e->lost)
		o->broken = true;
	if (e->value == to && o->waits)
		end_interval(p, o, e->time_ns);
	if (e->value == from) {
		o->waits = true;
		o->broken = false;
		o->since = e->time_ns;
	}
}

static void measure(struct qz_intervals *s, const uint64_t *lengths, uint32_t n, uint64_t most)
{
	s->min = UINT64_MAX;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t bucket = lengths[i] / s->width;

		if (lengths[i] > most)
			continue;
		s->count++;
		s->sum += lengths[i];
		s->min = lengths[i] < s->min ? lengths[i] : s->min;
		s->max = lengths[i] > s->max ? lengths[i] : s->max;
		s->buckets[bucket < QZ_EVENT_BUCKETS ? bucket : QZ_EVENT_BUCKETS - 1]++;
	}
	if (!s->count)
		s->min = 0;
}

void qz_event_trace__intervals(const struct qz_event_trace_record *records, size_t n, uint32_t from,
			       uint32_t to, struct qz_intervals *raw, struct qz_intervals *culled)
{
	struct pairing p = {0};
	uint64_t least = UINT64_MAX, most;

	for (size_t i = 0; i < n; i++)
		pair(&p, &records[i], from, to);
	for (uint32_t i = 0; i < p.nlengths; i++)
		least = p.lengths[i] < least ? p.lengths[i] : least;
	most = p.nlengths && least <= UINT64_MAX / QZ_EVENT_CULL ? least * QZ_EVENT_CULL
								 : UINT64_MAX;
	memset(raw, 0, sizeof(*raw));
	raw->width = p.nlengths && most != UINT64_MAX ? most / (QZ_EVENT_BUCKETS - 1) + 1 : 1;
	*culled = *raw;
	measure(raw, p.lengths, p.nlengths, UINT64_MAX);
	measure(culled, p.lengths, p.nlengths, most);
	raw->broken = culled->broken = p.broken;
	free(p.lengths);
	free(p.threads);
	qz_hash_table__free(&p.table);
}

/* ---- frequencies ---- */

static int by_value(const void *a, const void *b)
{
	const struct qz_frequency *x = a, *y = b;

	return x->value < y->value ? -1 : x->value > y->value;
}

struct qz_frequency *qz_event_trace__frequencies(const struct qz_event_trace_record *records,
						 size_t n, size_t *count)
{
	struct qz_hash_table table = {0};
	struct qz_frequency *all = NULL;
	uint32_t nall = 0;

	for (size_t i = 0; i < n; i++) {
		const struct qz_event_trace_record *e = &records[i];
		const struct qz_frequency new = {.value = e->value, .first_ns = e->time_ns};
		int64_t at = QZ_INTERN(&table, &all, &nall, &new, value);

		if (at < 0)
			break;
		all[at].count++;
		all[at].last_ns = e->time_ns;
	}
	qz_hash_table__free(&table);
	if (nall)
		qsort(all, nall, sizeof(*all), by_value);
	*count = nall;
	return all;
}

uint64_t qz_event_trace__lost(const struct qz_event_trace_record *records, size_t n)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < n; i++)
		lost += records[i].lost;
	return lost;
}
