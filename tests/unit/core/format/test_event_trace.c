/* SPDX-License-Identifier: GPL-2.0-only */
/* Logs of measurement events: reading, intervals, frequencies. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/format/event_trace.h"
#include "tests/unit/suites.h"

static struct qz_event_trace_record event(uint64_t time, uint32_t tid, uint32_t value)
{
	return (struct qz_event_trace_record) {
		.time_ns = time, .pid = 1, .tid = tid, .value = value};
}

START_TEST(intervals_are_of_one_thread)
{
	const struct qz_event_trace_record records[] = {
		event(100, 1, 1), event(150, 2, 1), event(200, 1, 2),
		event(900, 2, 2), event(950, 1, 2), /* no beginning */
	};
	struct qz_intervals raw, culled;

	qz_event_trace__intervals(records, 5, 1, 2, &raw, &culled);
	ck_assert_uint_eq(raw.count, 2);
	ck_assert_uint_eq(raw.min, 100);
	ck_assert_uint_eq(raw.max, 750);
	ck_assert_uint_eq(raw.sum, 850);
	ck_assert_uint_eq(culled.count, 1);
	ck_assert_uint_eq(culled.max, 100);
	ck_assert_uint_eq(raw.broken, 0);
}
END_TEST

START_TEST(events_can_follow_themselves)
{
	const struct qz_event_trace_record records[] = {event(10, 1, 5), event(20, 1, 5),
							event(50, 1, 5)};
	struct qz_intervals raw, culled;

	qz_event_trace__intervals(records, 3, 5, 5, &raw, &culled);
	ck_assert_uint_eq(raw.count, 2);
	ck_assert_uint_eq(raw.sum, 40);
	ck_assert_uint_eq(culled.count, 2);
}
END_TEST

START_TEST(intervals_with_a_loss_are_left_out)
{
	struct qz_event_trace_record records[] = {event(10, 1, 1), event(20, 1, 2), event(30, 1, 1),
						  event(40, 1, 2)};
	struct qz_intervals raw, culled;

	records[1].lost = 3;
	qz_event_trace__intervals(records, 4, 1, 2, &raw, &culled);
	ck_assert_uint_eq(raw.count, 1);
	ck_assert_uint_eq(raw.broken, 1);
	ck_assert_uint_eq(qz_event_trace__lost(records, 4), 3);
}
END_TEST

START_TEST(buckets_hold_all)
{
	struct qz_event_trace_record records[2000];
	struct qz_intervals raw, culled;
	uint64_t sum = 0, time = 0;

	for (int i = 0; i < 1000; i++) {
		records[2 * i] = event(time, 1, 1);
		time += 100 + (uint64_t)i * i;
		records[2 * i + 1] = event(time, 1, 2);
	}
	qz_event_trace__intervals(records, 2000, 1, 2, &raw, &culled);
	for (int i = 0; i < QZ_EVENT_BUCKETS; i++)
		sum += raw.buckets[i];
	ck_assert_uint_eq(sum, 1000);
	ck_assert_uint_le(culled.max, QZ_EVENT_CULL * culled.min);
	qz_event_trace__intervals(records, 0, 1, 2, &raw, &culled);
	ck_assert_uint_eq(raw.count + culled.count + raw.min, 0);
}
END_TEST

START_TEST(frequencies_by_value)
{
	const struct qz_event_trace_record records[] = {event(1, 1, 9), event(2, 1, 3),
							event(8, 2, 9)};
	size_t n;
	struct qz_frequency *f = qz_event_trace__frequencies(records, 3, &n);

	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(f[0].value, 3);
	ck_assert_uint_eq(f[1].count, 2);
	ck_assert_uint_eq(f[1].last_ns - f[1].first_ns, 7);
	free(f);
}
END_TEST

static int file_of(const void *data, size_t size)
{
	int fd = memfd_create("events", MFD_CLOEXEC);

	ck_assert_int_eq(write(fd, data, size), size);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

START_TEST(files_are_read)
{
	struct {
		struct qz_event_trace_header header;
		struct qz_event_trace_record records[2];
	} file = {.header = {.magic = QZ_EVENTS_MAGIC,
			     .record_size = sizeof(struct qz_event_trace_record),
			     .dropped = 7},
		  .records = {{.value = 4}, {.value = 5}}};
	struct qz_event_trace_record *records;
	struct qz_event_trace_header header;
	size_t n;
	int fd = file_of(&file, sizeof(file) - 8); /* the last one is cut */

	ck_assert_int_eq(qz_event_trace__read(fd, &header, &records, &n), 0);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(records[0].value, 4);
	ck_assert_uint_eq(header.dropped, 7);
	free(records);
	close(fd);
	fd = file_of(&file, 10);
	ck_assert_int_eq(qz_event_trace__read(fd, &header, &records, &n), -EINVAL);
	close(fd);
	file.header.record_size = 8;
	fd = file_of(&file, sizeof(file));
	ck_assert_int_eq(qz_event_trace__read(fd, &header, &records, &n), -EINVAL);
	close(fd);
}
END_TEST

Suite *suite_event_trace(void)
{
	Suite *s = suite_create("event_trace");
	TCase *c = tcase_create("log");

	tcase_add_test(c, intervals_are_of_one_thread);
	tcase_add_test(c, events_can_follow_themselves);
	tcase_add_test(c, intervals_with_a_loss_are_left_out);
	tcase_add_test(c, buckets_hold_all);
	tcase_add_test(c, frequencies_by_value);
	tcase_add_test(c, files_are_read);
	suite_add_tcase(s, c);
	return s;
}
