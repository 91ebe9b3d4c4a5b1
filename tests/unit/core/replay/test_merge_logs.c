/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdbool.h>
#include <stdlib.h>

#include "core/replay/merge.h"
#include "tests/unit/suites.h"

#define RING 64

struct reader {
	uint64_t last_time;
	uint32_t last_cpu;
	uint64_t *next; /* number of the record that is due, by processor */
	uint64_t n, late, stop_at;
	bool ordered; /* by processor, too, where times are equal */
};

static int take(void *context, uint32_t cpu, const struct qz_log_record *record)
{
	struct reader *r = context;

	ck_assert_uint_eq(record->tid, cpu);
	ck_assert_uint_eq(record->object, r->next[cpu]++);
	if (record->time < r->last_time) {
		r->late++;
	} else {
		if (r->ordered && record->time == r->last_time)
			ck_assert_uint_ge(cpu, r->last_cpu);
		r->last_time = record->time;
	}
	r->last_cpu = cpu;
	return ++r->n == r->stop_at ? 5 : 0;
}

/* A ring for each processor, filled as full as it gets and read up to horizons that move on. */
static void merge_rings(uint32_t cpus, uint32_t rounds, uint32_t step)
{
	struct qz_log_record *rings = calloc((size_t)cpus * RING, sizeof(*rings));
	struct replay_span *spans = calloc(cpus, sizeof(*spans));
	uint64_t *times = calloc(cpus, sizeof(*times));
	struct reader reader = {.ordered = true, .next = calloc(cpus, sizeof(*reader.next))};
	struct replay_merge *m = replay_merge__new(cpus);
	uint64_t written = 0, horizon = 0;

	ck_assert(rings && spans && times && reader.next && m);
	srand(cpus);
	for (uint32_t i = 0; i < cpus; i++)
		spans[i] = (struct replay_span) {.records = rings + (size_t)i * RING,
						 .mask = RING - 1};
	for (uint32_t round = 0; round < rounds; round++) {
		for (uint32_t i = 0; i < cpus; i++) {
			struct replay_span *s = &spans[i];
			uint32_t n = (uint32_t)rand() % (RING + 1);

			if (times[i] <= horizon) /* not older than what was read */
				times[i] = horizon + 1;
			for (; n && s->end - s->next < RING; n--, written++) {
				times[i] += (uint32_t)rand() % step;
				rings[(size_t)i * RING + s->end % RING] = (struct qz_log_record) {
					.time = times[i], .tid = i, .object = s->end};
				s->end++;
			}
		}
		horizon += (uint64_t)step * RING / 4;
		ck_assert_int_eq(0, replay_merge__run(m, spans, horizon, take, &reader));
		ck_assert_uint_le(reader.last_time, horizon);
		for (uint32_t i = 0; i < cpus; i++)
			ck_assert(spans[i].next == spans[i].end ||
				  spans[i].records[spans[i].next % RING].time > horizon);
	}
	ck_assert_int_eq(0, replay_merge__run(m, spans, UINT64_MAX, take, &reader));
	ck_assert_uint_eq(reader.n, written);
	ck_assert_uint_eq(reader.late, 0);
	ck_assert_uint_eq(replay_merge__late(m), 0);
	replay_merge__free(m);
	free(rings);
	free(spans);
	free(times);
	free(reader.next);
}

START_TEST(in_order)
{
	static const uint32_t cpus[] = {1, 2, 3, 4, 5, 7, 8, 31, 64, 100, 512};

	for (size_t i = 0; i < sizeof(cpus) / sizeof(*cpus); i++) {
		merge_rings(cpus[i], 10, 1000);
		merge_rings(cpus[i], 10, 2); /* many equal times */
	}
}
END_TEST

START_TEST(late_and_ended)
{
	struct qz_log_record a[] = {{.time = 10, .tid = 0, .object = 0},
				    {.time = 30, .tid = 0, .object = 1},
				    {.time = 20, .tid = 0, .object = 2}};
	struct qz_log_record b[] = {{.time = 15, .tid = 1, .object = 0},
				    {.time = 25, .tid = 1, .object = 1}};
	struct replay_span spans[] = {{.records = a, .mask = 3, .end = 3},
				      {.records = b, .mask = 1, .end = 1}};
	struct reader reader = {.next = (uint64_t[2]) {0}, .stop_at = 3};
	struct replay_merge *m = replay_merge__new(2);

	/* what a call gives ends it, and the next run goes on behind that record */
	ck_assert_int_eq(replay_merge__run(m, spans, 100, take, &reader), 5);
	ck_assert_uint_eq(spans[0].next, 2);
	ck_assert_int_eq(replay_merge__run(m, spans, 100, take, &reader), 0);
	ck_assert_uint_eq(replay_merge__late(m), 1);
	spans[1].end = 2;
	ck_assert_int_eq(replay_merge__run(m, spans, 24, take, &reader), 0);
	ck_assert_uint_eq(reader.n, 4);
	ck_assert_int_eq(replay_merge__run(m, spans, 25, take, &reader), 0);
	ck_assert_uint_eq(reader.n, 5);
	ck_assert_uint_eq(replay_merge__late(m), 2); /* an earlier run was further */
	ck_assert_uint_eq(reader.late, 2);
	replay_merge__free(m);
	m = replay_merge__new(0);
	ck_assert_int_eq(replay_merge__run(m, NULL, 100, take, &reader), 0);
	replay_merge__free(m);
}
END_TEST

Suite *suite_merge_logs(void)
{
	Suite *s = suite_create("merge_logs");
	TCase *tc = tcase_create("merge_logs");

	tcase_add_test(tc, in_order);
	tcase_add_test(tc, late_and_ended);
	suite_add_tcase(s, tc);
	return s;
}
