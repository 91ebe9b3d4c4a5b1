// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/log/log_reader.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/util/clock.h"
#include "core/util/vec.h"

#define PERIOD_MS 50
#define MARGIN                                                                                     \
	1000000ull /* ns: a record that is as old stands in its log, unless its processor is busy writing it */
#define BUSY_TRIES 100 /* of 10 us */

struct log_reader {
	struct bpf_runtime *bpf;
	struct qz_log_writer *writer;
	uint32_t processors;
	uint64_t *last; /* of each processor, the time of the last record that was read */
	struct qz_log_record *batch;
	struct qz_log_record *found; /* what was there at the start */
	uint32_t nfound;
	struct log_reader_figures figures;
	pthread_t thread;
	bool started, stop;
	int err;
};

/* What was found has a place behind those of the processors. */
static uint32_t place_of_found(const struct log_reader *r)
{
	return r->processors;
}

static void describe(const struct log_reader *r, struct qz_log_header *h)
{
	struct utsname host;

	uname(&host);
	*h = (struct qz_log_header) {
		.magic = QZ_LOG_MAGIC,
		.record_size = sizeof(struct qz_log_record),
		.processors = r->processors + 1,
		.began = qz_clock__now(),
		.wall_start_ns = qz_clock__read(CLOCK_REALTIME),
		.online = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN),
		.every_process = bpf_runtime__follows_all(r->bpf),
	};
	snprintf(h->kernel, sizeof(h->kernel), "%.*s", (int)sizeof(h->kernel) - 1, host.release);
	snprintf(h->machine, sizeof(h->machine), "%.*s", (int)sizeof(h->machine) - 1,
		 host.nodename);
}

struct log_reader *log_reader__new(struct bpf_runtime *bpf, int fd)
{
	struct log_reader *r = calloc(1, sizeof(*r));
	struct qz_log_header header;

	if (!r)
		return NULL;
	r->bpf = bpf;
	r->processors = bpf_runtime__processors(bpf);
	r->last = calloc(r->processors, sizeof(*r->last));
	r->batch = malloc(bpf_log__size(bpf) * sizeof(*r->batch));
	describe(r, &header);
	if (r->last && r->batch)
		r->writer = qz_log_writer__new(fd, &header);
	if (r->writer)
		return r;
	log_reader__free(r);
	errno = ENOMEM;
	return NULL;
}

static void end_thread(struct log_reader *r)
{
	if (!r->started)
		return;
	__atomic_store_n(&r->stop, true, __ATOMIC_SEQ_CST);
	pthread_join(r->thread, NULL);
	r->started = false;
}

void log_reader__free(struct log_reader *r)
{
	if (!r)
		return;
	end_thread(r);
	qz_log_writer__close(r->writer);
	free(r->last);
	free(r->batch);
	free(r->found);
	free(r);
}

static void put(struct log_reader *r, const struct qz_log_block *block,
		const struct qz_log_record *records)
{
	int err = qz_log_writer__put(r->writer, block, records, sizeof(*records));

	r->err = r->err ?: err;
}

int log_reader__add_scope(struct log_reader *r, uint32_t process, bool follows, bool is_command)
{
	put(r,
	    &(struct qz_log_block) {.kind = QZ_LOG_SCOPE,
				    .number = process,
				    .n = (follows ? QZ_LOG_FOLLOWS : 0) |
					 (is_command ? QZ_LOG_COMMAND : 0),
				    .until = qz_clock__now()},
	    NULL);
	return r->err;
}

/* ---- one processor ---- */

/* Whether no program is writing there, now or within a moment. */
static bool is_at_rest(const struct qz_log_head *head)
{
	for (int i = 0; i < BUSY_TRIES; i++) {
		if (!__atomic_load_n(&head->busy, __ATOMIC_SEQ_CST))
			return true;
		usleep(10);
	}
	return false;
}

/* The last record may be incomplete where its processor is stopped amidst of writing it. */
static uint64_t end_of(const struct qz_log_head *head)
{
	bool rests = is_at_rest(head);
	uint64_t next = __atomic_load_n(&head->next, __ATOMIC_SEQ_CST);

	return rests || next == head->read ? next : next - 1;
}

static void copy(const struct log_reader *r, const struct qz_log_head *head, uint64_t from,
		 uint32_t n)
{
	const struct qz_log_record *all = (const struct qz_log_record *)head + QZ_LOG_FIRST;
	uint32_t size = bpf_log__size(r->bpf), at = (uint32_t)from & (size - 1);
	uint32_t first = n < size - at ? n : size - at;

	memcpy(r->batch, all + at, first * sizeof(*all));
	memcpy(r->batch + first, all, (n - first) * sizeof(*all));
}

/* Those from `from` on that were overwritten while they were copied, or before. */
static uint64_t overwritten(const struct log_reader *r, const struct qz_log_head *head,
			    uint64_t from)
{
	/* one more: the next one may be being written in the place of the oldest */
	uint64_t next = __atomic_load_n(&head->next, __ATOMIC_SEQ_CST) + 1;
	uint64_t oldest = next > bpf_log__size(r->bpf) ? next - bpf_log__size(r->bpf) : 0;

	return oldest > from ? oldest - from : 0;
}

static void lose(struct log_reader *r, uint32_t cpu, uint64_t n, uint64_t until)
{
	r->figures.lost += n;
	put(r,
	    &(struct qz_log_block) {.kind = QZ_LOG_LOST,
				    .number = cpu,
				    .n = n,
				    .from = r->last[cpu] < until ? r->last[cpu] : until,
				    .until = until},
	    NULL);
}

static void drain_processor(struct log_reader *r, uint32_t cpu)
{
	struct qz_log_head *head = bpf_log__of(r->bpf, cpu);
	uint32_t size = bpf_log__size(r->bpf), n;
	uint64_t end = end_of(head), from = head->read, lost = 0, gone;

	if (end == from)
		return;
	if (end - from > size) {
		lost = end - from - size;
		from += lost;
	}
	n = (uint32_t)(end - from);
	if (n * 100ull / size > r->figures.fullest)
		r->figures.fullest = (uint32_t)(n * 100ull / size);
	copy(r, head, from, n);
	gone = overwritten(r, head, from);
	gone = gone < n ? gone : n;
	lost += gone;
	n -= (uint32_t)gone;
	if (lost)
		lose(r, cpu, lost, n ? r->batch[gone].time : qz_clock__now());
	if (n) {
		r->last[cpu] = r->batch[gone + n - 1].time;
		put(r, &(struct qz_log_block) {.kind = QZ_LOG_RECORDS, .number = cpu, .n = n},
		    r->batch + gone);
	}
	r->figures.records += n;
	__atomic_store_n(&head->read, end, __ATOMIC_SEQ_CST);
	__atomic_store_n(&head->woke, 0, __ATOMIC_SEQ_CST);
}

/* ---- all ---- */

static void drain(struct log_reader *r, uint64_t horizon)
{
	for (uint32_t cpu = 0; cpu < r->processors; cpu++)
		drain_processor(r, cpu);
	put(r, &(struct qz_log_block) {.kind = QZ_LOG_HORIZON, .until = horizon}, NULL);
}

static void *run(void *argument)
{
	struct log_reader *r = argument;

	while (!__atomic_load_n(&r->stop, __ATOMIC_SEQ_CST)) {
		bpf_log__await(r->bpf, PERIOD_MS);
		drain(r, qz_clock__now() - MARGIN);
	}
	return NULL;
}

static void keep_found(void *context, const struct qz_log_record *record)
{
	struct log_reader *r = context;

	if (qz_array__reserve((void **)&r->found, r->nfound, sizeof(*r->found)))
		r->err = -ENOMEM;
	else
		r->found[r->nfound++] = *record;
}

int log_reader__start(struct log_reader *r)
{
	int err = bpf_log__start(r->bpf, keep_found, r);

	for (uint32_t i = 0, n; !err && i < r->nfound; i += n) {
		n = r->nfound - i < QZ_LOG_BATCH ? r->nfound - i : QZ_LOG_BATCH;
		put(r,
		    &(struct qz_log_block) {
			    .kind = QZ_LOG_RECORDS, .number = place_of_found(r), .n = n},
		    r->found + i);
	}
	free(r->found);
	r->found = NULL;
	err = err ?: r->err;
	if (!err)
		err = -pthread_create(&r->thread, NULL, run, r);
	r->started = !err;
	return err;
}

int log_reader__finish(struct log_reader *r, uint64_t until, struct log_reader_figures *figures)
{
	int err;

	bpf_log__stop(r->bpf);
	end_thread(r);
	drain(r, until);
	put(r, &(struct qz_log_block) {.kind = QZ_LOG_END, .until = until}, NULL);
	err = qz_log_writer__close(r->writer);
	r->writer = NULL;
	*figures = r->figures;
	return r->err ?: err;
}
