// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/log/log_reader.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/util/clock.h"
#include "core/util/vec.h"

#define PERIOD_MS    50
#define MARGIN	     10000ull	   /* ns: clocks of processors differ by less */
#define BUSY_TRIES   100	   /* of 10 us */
#define FINDING_REST 1000000000ull /* ns: to visit 100,000 threads takes a tenth of it */
#define LOOKING_REST 1000	   /* times what it takes: a thousandth of a processor */
#define WINDOW                                                                                     \
	1250000000ull /* ns: the governor's are so many of these for any number of halvings */
#define MAX_HELD                                                                                   \
	(2u << 20) /* records: of 64 MiB. A replay that is further behind loses the next ones */

struct log_reader {
	struct bpf_runtime *bpf;
	struct replay_stream *stream;
	struct qz_log_writer *writer; /* NULL: none is kept */
	uint32_t processors;
	uint64_t *last; /* of each processor, the time of the last record that was read */
	struct qz_log_record *batch;
	struct qz_log_record *found; /* what was there at the start */
	uint32_t nfound;
	struct log_reader_figures figures;
	uint64_t lost_before, found_at; /* when threads were found last */
	uint64_t looked_at, looking_ns; /* the last time, and what it took */
	uint32_t halvings;		/* of the time in which all is written */
	uint64_t turned, off_until;	/* when that began last; 0, or when it will again */
	pthread_mutex_t lock;		/* of all above */
	pthread_t thread;
	int wake; /* the thread, to end */
	bool started, stop;
	int err;
};

/* What was found has an entry after those of the processors. */
static uint32_t place_of_found(const struct log_reader *r)
{
	return r->processors;
}

uint32_t log_reader__processors(const struct bpf_runtime *bpf)
{
	return bpf_runtime__processors(bpf) + 1;
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

struct log_reader *log_reader__new(struct bpf_runtime *bpf, struct replay_stream *stream, int fd)
{
	struct log_reader *r = calloc(1, sizeof(*r));
	struct qz_log_header header;
	int err;

	if (!r)
		return NULL;
	r->bpf = bpf;
	r->stream = stream;
	pthread_mutex_init(&r->lock, NULL);
	r->processors = bpf_runtime__processors(bpf);
	r->last = calloc(r->processors, sizeof(*r->last));
	r->batch = malloc(bpf_log__size(bpf) * sizeof(*r->batch));
	r->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = r->wake < 0 ? errno : ENOMEM;
	describe(r, &header);
	if (r->last && r->batch && fd >= 0)
		r->writer = qz_log_writer__new(fd, &header);
	if (r->wake >= 0 && r->last && r->batch && (r->writer || fd < 0))
		return r;
	log_reader__free(r);
	errno = err;
	return NULL;
}

static void end_thread(struct log_reader *r)
{
	if (!r->started)
		return;
	__atomic_store_n(&r->stop, true, __ATOMIC_SEQ_CST);
	eventfd_write(r->wake, 1);
	pthread_join(r->thread, NULL);
	r->started = false;
}

void log_reader__free(struct log_reader *r)
{
	if (!r)
		return;
	end_thread(r);
	if (r->wake >= 0)
		close(r->wake);
	qz_log_writer__close(r->writer);
	pthread_mutex_destroy(&r->lock);
	free(r->last);
	free(r->batch);
	free(r->found);
	free(r);
}

static void put(struct log_reader *r, const struct qz_log_block *b,
		const struct qz_log_record *records)
{
	int err = r->writer ? qz_log_writer__put(r->writer, b, records, sizeof(*records)) : 0;

	r->err = r->err ?: err;
	err = 0;
	if (b->kind == QZ_LOG_RECORDS)
		err = replay_stream__put(r->stream, b->number, records, b->n);
	else if (b->kind == QZ_LOG_LOST)
		err = replay_stream__lose(r->stream, b->number, b->n, b->from, b->until);
	r->err = r->err ?: err;
}

static void put_lost(struct log_reader *r, uint32_t cpu, uint64_t n, uint64_t from, uint64_t until)
{
	put(r,
	    &(struct qz_log_block) {
		    .kind = QZ_LOG_LOST, .number = cpu, .n = n, .from = from, .until = until},
	    NULL);
}

int log_reader__add_scope(struct log_reader *r, uint32_t process, uint32_t flags, uint64_t when)
{
	put(r,
	    &(struct qz_log_block) {
		    .kind = QZ_LOG_SCOPE, .number = process, .n = flags, .until = when},
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

/* The last record may be incomplete where its processor is stopped amidst of writing it; and what comes is of before. */
static uint64_t end_of(const struct log_reader *r, uint32_t cpu, uint64_t *horizon)
{
	const struct qz_log_head *head = bpf_log__of(r->bpf, cpu);
	bool rests = is_at_rest(head);
	uint64_t next = __atomic_load_n(&head->next, __ATOMIC_SEQ_CST);

	if (rests)
		return next;
	if (r->last[cpu] < *horizon)
		*horizon = r->last[cpu];
	return next == head->read ? next : next - 1;
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
	put_lost(r, cpu, n, r->last[cpu] < until ? r->last[cpu] : until, until);
}

static void drain_processor(struct log_reader *r, uint32_t cpu, uint64_t *horizon)
{
	struct qz_log_head *head = bpf_log__of(r->bpf, cpu);
	uint32_t size = bpf_log__size(r->bpf), n;
	uint64_t end = end_of(r, cpu, horizon), from = head->read, lost = 0, gone;

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

/* ---- who is there ---- */

static void keep_found(void *context, const struct qz_log_record *record)
{
	struct log_reader *r = context;

	if (qz_array__reserve((void **)&r->found, r->nfound, sizeof(*r->found)))
		r->err = -ENOMEM;
	else
		r->found[r->nfound++] = *record;
}

static void keep_settled(struct log_reader *r)
{
	const struct qz_log_record settled = {.kind = QZ_LOG_SETTLED, .time = qz_clock__now()};

	keep_found(r, &settled);
}

/* Who is on a processor; of one that is offline it fails. And those that were kept are all. */
static void settle(struct log_reader *r)
{
	for (uint32_t cpu = 0; cpu < r->processors; cpu++)
		bpf_runtime__mark_processor(r->bpf, (int)cpu);
	keep_settled(r);
}

static void put_found(struct log_reader *r)
{
	for (uint32_t i = 0, n; i < r->nfound; i += n) {
		n = r->nfound - i < QZ_LOG_BATCH ? r->nfound - i : QZ_LOG_BATCH;
		put(r,
		    &(struct qz_log_block) {
			    .kind = QZ_LOG_RECORDS, .number = place_of_found(r), .n = n},
		    r->found + i);
	}
	free(r->found);
	r->found = NULL;
	r->nfound = 0;
}

/* Whoever came or went meanwhile may have been told by what was lost. */
static void find_again(struct log_reader *r)
{
	int err = bpf_scopes__find_again(r->bpf, keep_found, r);

	r->err = r->err ?: err;
	r->lost_before = r->figures.lost;
	r->found_at = qz_clock__now();
	settle(r);
	put_found(r);
}

/* Whether it has rested long enough. */
static bool has_rested(const struct log_reader *r)
{
	return qz_clock__now() - r->looked_at >= LOOKING_REST * r->looking_ns;
}

int log_reader__look(struct log_reader *r, bool at_end)
{
	uint64_t began;
	int err;

	if (!at_end && !has_rested(r))
		return bpf_scopes__tell(r->bpf, 0);
	pthread_mutex_lock(&r->lock);
	began = qz_clock__read(CLOCK_THREAD_CPUTIME_ID);
	err = bpf_scopes__tell_all(r->bpf, keep_found, r);
	put_found(r);
	r->looking_ns = qz_clock__read(CLOCK_THREAD_CPUTIME_ID) - began;
	r->looked_at = qz_clock__now();
	pthread_mutex_unlock(&r->lock);
	return err ?: r->err;
}

/* ---- all ---- */

/* Of what was before, all records are there. Once the watchdog stopped the clock, nothing is known of what came after. */
static uint64_t reach(const struct log_reader *r)
{
	uint64_t until = qz_clock__now() - MARGIN, alone = bpf_runtime__left_alone(r->bpf);

	if (alone && alone < until)
		until = alone;
	/* how long it stays off is not known yet */
	return r->off_until && r->off_until < until ? r->off_until : until;
}

/* All records up to a time that it gives. */
static uint64_t drain(struct log_reader *r, uint64_t horizon)
{
	for (uint32_t cpu = 0; cpu < r->processors; cpu++)
		drain_processor(r, cpu, &horizon);
	put(r, &(struct qz_log_block) {.kind = QZ_LOG_HORIZON, .until = horizon}, NULL);
	return horizon;
}

/* ---- windows ---- */

static void put_off(struct log_reader *r, uint64_t from, uint64_t until)
{
	for (uint32_t cpu = 0; cpu < r->processors; cpu++)
		if (!bpf_runtime__cpus(r->bpf)[cpu].offline)
			put_lost(r, cpu, 0, from, until);
}

static void turn_off(struct log_reader *r)
{
	uint64_t now;

	bpf_log__turn(r->bpf, QZ_LOG_LIVES);
	now = qz_clock__now();
	r->off_until = now + WINDOW * ((1u << r->halvings) - 1);
	put_off(r, now, r->off_until);
}

static void turn_on(struct log_reader *r)
{
	uint64_t now;

	bpf_log__turn(r->bpf, QZ_LOG_ON);
	now = qz_clock__now();
	if (now > r->off_until)
		put_off(r, r->off_until, now);
	r->off_until = 0;
	r->turned = now;
	find_again(r);
}

static bool turns(const struct log_reader *r)
{
	uint64_t now = qz_clock__now();

	return r->off_until ? now >= r->off_until : r->halvings && now - r->turned >= WINDOW;
}

void log_reader__set_windows(struct log_reader *r, uint32_t halvings)
{
	pthread_mutex_lock(&r->lock);
	if (halvings && !r->halvings)
		r->turned = qz_clock__now();
	r->halvings = halvings;
	pthread_mutex_unlock(&r->lock);
}

uint64_t log_reader__begin(struct log_reader *r)
{
	uint64_t horizon;

	pthread_mutex_lock(&r->lock);
	r->figures.cpu_ns -= qz_clock__read(CLOCK_THREAD_CPUTIME_ID);
	horizon = drain(r, reach(r));
	if (turns(r) && !bpf_runtime__left_alone(r->bpf)) {
		(r->off_until ? turn_on : turn_off)(r);
		return drain(r, reach(r));
	}
	if (r->figures.lost == r->lost_before || qz_clock__now() - r->found_at < FINDING_REST ||
	    bpf_runtime__left_alone(r->bpf))
		return horizon;
	find_again(r);
	return drain(r, reach(r));
}

void log_reader__end(struct log_reader *r)
{
	r->figures.cpu_ns += qz_clock__read(CLOCK_THREAD_CPUTIME_ID);
	pthread_mutex_unlock(&r->lock);
}

static void *run(void *argument)
{
	struct log_reader *r = argument;
	uint64_t before = 0, now;

	/* it only copies, which takes a hundredth of what is written meanwhile */
	setpriority(PRIO_PROCESS, 0, LOG_READER_NICE);
	while (!__atomic_load_n(&r->stop, __ATOMIC_SEQ_CST)) {
		bpf_log__await(r->bpf, r->wake, PERIOD_MS);
		pthread_mutex_lock(&r->lock);
		if (replay_stream__held(r->stream) < MAX_HELD)
			drain(r, reach(r));
		now = qz_clock__read(CLOCK_THREAD_CPUTIME_ID);
		r->figures.cpu_ns += now - before;
		before = now;
		pthread_mutex_unlock(&r->lock);
	}
	return NULL;
}

struct log_reader_figures log_reader__figures(const struct log_reader *r)
{
	return r->figures;
}

int log_reader__find(struct log_reader *r)
{
	int err;

	for (uint32_t cpu = 0; cpu < r->processors; cpu++)
		r->last[cpu] = qz_clock__now();
	bpf_log__turn(r->bpf, QZ_LOG_ON);
	err = bpf_scopes__find(r->bpf, keep_found, r);
	if (!err)
		settle(r);
	return err ?: r->err;
}

int log_reader__start(struct log_reader *r)
{
	int err;

	put_found(r);
	err = r->err;
	if (!err)
		err = -pthread_create(&r->thread, NULL, run, r);
	r->started = !err;
	return err;
}

int log_reader__finish(struct log_reader *r, uint64_t until)
{
	int err;

	bpf_log__turn(r->bpf, QZ_LOG_OFF);
	end_thread(r);
	drain(r, until);
	put(r, &(struct qz_log_block) {.kind = QZ_LOG_END, .until = until}, NULL);
	err = qz_log_writer__close(r->writer);
	r->writer = NULL;
	return r->err ?: err;
}
