/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * replay [RECORDS [THREADS]]: what a record of the scheduler's log costs to bring in order and to replay, of processor time, on
 * 2, 8, 64 and 256 processors with so many threads each. Half of the records are switches, mostly to wait at a lock, half
 * wake-ups. The best and the median of nine rounds.
 */
#include <stdbool.h>

#include "core/replay/merge.h"
#include "core/replay/replay.h"
#include "quartz/records.h"
#include "tests/programs/truth.h"

#define ROUNDS	   9
#define PROCESS	   8 /* threads of one */
#define SITES	   4 /* of a thread */
#define FIRST_TID  1000
#define STEP_NS	   2000 /* between records of one processor, at most */
#define SITE_EVERY 200	/* switches: what stands behind a site is told again */

struct log {
	struct qz_log_record *records;
	uint64_t n, time;
	uint32_t *queue, first, ready; /* threads that can run, a ring */
	uint32_t *blocked, nblocked, running;
};

static uint32_t nthreads; /* of a processor */

static void put(struct log *log, struct qz_log_record record)
{
	log->time += 1 + (uint32_t)rand() % STEP_NS;
	record.time = log->time;
	log->records[log->n++] = record;
}

static uint32_t site_of(uint32_t tid)
{
	return tid / PROCESS * SITES + (uint32_t)rand() % SITES + 1;
}

static void put_site(struct log *log, uint32_t site)
{
	put(log, (struct qz_log_record) {.kind = QZ_LOG_SITE,
					 .site = site,
					 .cause = QZ_WAIT_FUTEX,
					 .state = QZ_TAG_FUTEX,
					 .object = 4096 + site % SITES * 64});
}

static void wake(struct log *log)
{
	uint32_t i = (uint32_t)rand() % log->nblocked, tid = log->blocked[i];

	log->blocked[i] = log->blocked[--log->nblocked];
	log->queue[(log->first + log->ready++) % nthreads] = tid;
	put(log, (struct qz_log_record) {.kind = QZ_LOG_WAKING,
					 .tid = tid,
					 .other = log->running,
					 .state = log->running ? QZ_LOG_BY_CALL : 0,
					 .cause = QZ_WAIT_FUTEX});
}

static void leave(struct log *log)
{
	struct qz_log_record record = {.kind = QZ_LOG_SWITCH, .tid = log->running};

	if (log->running && rand() % 5) {
		record.state = QZ_LOG_BLOCKED;
		record.site = site_of(log->running);
		record.object = 2;
		if (rand() % SITE_EVERY == 0)
			put_site(log, record.site);
		log->blocked[log->nblocked++] = log->running;
	} else if (log->running) {
		log->queue[(log->first + log->ready++) % nthreads] = log->running;
	}
	log->running = log->ready ? log->queue[log->first] : 0;
	if (log->ready) {
		log->first = (log->first + 1) % nthreads;
		log->ready--;
	}
	record.other = log->running;
	put(log, record);
}

static void make(struct log *log, uint32_t cpu, uint64_t n)
{
	log->records = malloc((n + 4 * nthreads * SITES) * sizeof(*log->records));
	log->queue = calloc(nthreads, sizeof(*log->queue));
	log->blocked = calloc(nthreads, sizeof(*log->blocked));
	if (!log->records || !log->queue || !log->blocked)
		die("replay", ENOMEM);
	for (uint32_t i = 0; i < nthreads; i++) {
		uint32_t tid = FIRST_TID + cpu * nthreads + i;

		put(log, (struct qz_log_record) {.kind = QZ_LOG_FOUND,
						 .tid = tid,
						 .state = QZ_LOG_FOUND_BLOCKED,
						 .other = tid / PROCESS * PROCESS});
		for (uint32_t k = 1; i % PROCESS == 0 && k <= SITES; k++)
			put_site(log, tid / PROCESS * SITES + k);
		log->blocked[log->nblocked++] = tid;
	}
	while (log->n < n)
		if (log->nblocked && rand() % 2)
			wake(log);
		else
			leave(log);
}

static int pass(void *context, uint32_t cpu, const struct qz_log_record *record)
{
	*(uint64_t *)context += record->tid + cpu;
	return 0;
}

static int apply(void *context, uint32_t cpu, const struct qz_log_record *record)
{
	return replay__apply(context, cpu, record);
}

/* ns of processor time a record */
static double time_of(const struct log *logs, uint32_t cpus, bool replays)
{
	struct replay_options options = {.processors = cpus, .every_process = true};
	struct replay_span *spans = calloc(cpus, sizeof(*spans));
	struct replay_merge *m = replay_merge__new(cpus);
	struct replay *r = replay__new(&options);
	uint64_t n = 0, sum = 0, began;

	if (!spans || !m || !r)
		die("replay", ENOMEM);
	for (uint32_t i = 0; i < cpus; i++) {
		spans[i] = (struct replay_span) {logs[i].records, UINT64_MAX, 0, logs[i].n};
		n += logs[i].n;
	}
	began = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (replay_merge__run(m, spans, UINT64_MAX, replays ? apply : pass,
			      replays ? (void *)r : &sum))
		die("replay", EINVAL);
	began = clock_ns(CLOCK_THREAD_CPUTIME_ID) - began;
	if (replays && replay__counts(r)->gaps)
		die("replay", EINVAL);
	replay__free(r);
	replay_merge__free(m);
	free(spans);
	return (double)began / n;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void row(uint32_t cpus, uint64_t records)
{
	struct log *logs = calloc(cpus, sizeof(*logs));
	double merged[ROUNDS], replayed[ROUNDS];

	if (!logs)
		die("replay", ENOMEM);
	for (uint32_t i = 0; i < cpus; i++)
		make(&logs[i], i, records / cpus);
	for (int i = 0; i < ROUNDS; i++) {
		merged[i] = time_of(logs, cpus, false);
		replayed[i] = time_of(logs, cpus, true);
	}
	qsort(merged, ROUNDS, sizeof(*merged), compare);
	qsort(replayed, ROUNDS, sizeof(*replayed), compare);
	printf("%10u %8u %8.1f %8.1f %8.1f %8.1f\n", cpus, cpus * nthreads, merged[0],
	       merged[ROUNDS / 2], replayed[0], replayed[ROUNDS / 2]);
	for (uint32_t i = 0; i < cpus; i++) {
		free(logs[i].records);
		free(logs[i].queue);
		free(logs[i].blocked);
	}
	free(logs);
}

int main(int argc, char **argv)
{
	uint64_t records = (uint64_t)count_argument(argc, argv, 1, 2000000);

	nthreads = (uint32_t)count_argument(argc, argv, 2, 16);
	printf("ns of processor time a record: best and median of %d\n", ROUNDS);
	printf("%10s %8s %17s %17s\n", "processors", "threads", "put in order", "and replayed");
	row(2, records);
	row(8, records);
	row(64, records);
	row(256, records);
	return 0;
}
