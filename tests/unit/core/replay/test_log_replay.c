/* SPDX-License-Identifier: GPL-2.0-only */
/* From the file of a log to the figures of a profile. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/format/pprof.h"
#include "core/replay/log_replay.h"
#include "quartz/records.h"
#include "tests/unit/suites.h"

#define MS 1000000ull

/* A file under way. */
struct log {
	int fd;
	struct qz_log_writer *writer;
};

static struct log begin(bool every_process)
{
	const struct qz_log_header header = {.magic = QZ_LOG_MAGIC,
					     .record_size = sizeof(struct qz_log_record),
					     .processors = 3,
					     .online = 2,
					     .began = 1000 * MS,
					     .every_process = every_process,
					     .kernel = "6.1",
					     .machine = "here"};
	struct log log = {.fd = memfd_create("log", MFD_CLOEXEC)};

	log.writer = qz_log_writer__new(log.fd, &header);
	ck_assert_ptr_nonnull(log.writer);
	return log;
}

static void put(struct log *log, struct qz_log_block block)
{
	ck_assert_int_eq(qz_log_writer__put(log->writer, &block, NULL, 0), 0);
}

static void put_record(struct log *log, uint32_t cpu, struct qz_log_record record)
{
	const struct qz_log_block block = {.kind = QZ_LOG_RECORDS, .number = cpu, .n = 1};

	record.time = (1000 + record.time) * MS;
	ck_assert_int_eq(qz_log_writer__put(log->writer, &block, &record, sizeof(record)), 0);
}

static struct qz_profile *finish(struct log *log, uint64_t until,
				 struct log_replay_figures *figures)
{
	struct qz_log_header header;
	struct qz_log_file *file;
	struct qz_profile *p;

	if (until)
		put(log, (struct qz_log_block) {.kind = QZ_LOG_END, .until = until});
	ck_assert_int_eq(qz_log_writer__close(log->writer), 0);
	lseek(log->fd, 0, SEEK_SET);
	file = qz_log_file__new(log->fd, &header);
	ck_assert_ptr_nonnull(file);
	memset(figures, 0, sizeof(*figures));
	p = log_replay__profile(file, &header, figures);
	qz_log_file__free(file);
	lseek(log->fd, 0, SEEK_SET);
	return p;
}

static struct qz_log_record switched(uint64_t ms, uint32_t from, uint8_t how, uint32_t to)
{
	return (struct qz_log_record) {
		.time = ms, .tid = from, .kind = QZ_LOG_SWITCH, .state = how, .other = to};
}

/*
 * Process 10 has threads 10 and 11. From 0 ms on 10 runs on processor 0; 11 comes at 10 ms on processor 1, sleeps at a word
 * from 30 to 50 ms, is woken by 10, and runs from 60 ms on. The file ends at 100 ms.
 */
static struct log example(bool every_process)
{
	struct log log = begin(every_process);
	struct qz_log_record sleeps = switched(30, 11, QZ_LOG_BLOCKED, 0);

	sleeps.site = 77;
	if (!every_process)
		put(&log, (struct qz_log_block) {.kind = QZ_LOG_SCOPE,
						 .number = 10,
						 .n = QZ_LOG_FOLLOWS | QZ_LOG_COMMAND,
						 .until = 1000 * MS});
	put_record(&log, 0,
		   (struct qz_log_record) {.tid = 10,
					   .kind = QZ_LOG_FOUND,
					   .state = QZ_LOG_FOUND_BLOCKED,
					   .other = 10});
	put_record(&log, 0,
		   (struct qz_log_record) {.tid = 10, .kind = QZ_LOG_NAME, .comm = "program"});
	put_record(&log, 0,
		   (struct qz_log_record) {.tid = 10,
					   .kind = QZ_LOG_WAKING,
					   .state = QZ_LOG_BY_INTERRUPT,
					   .other = 0});
	put_record(&log, 0, switched(0, 0, QZ_LOG_PREEMPTED, 10));
	put_record(&log, 0,
		   (struct qz_log_record) {
			   .time = 9, .tid = 11, .kind = QZ_LOG_FORK, .other = 10, .site = 10});
	put_record(&log, 0,
		   (struct qz_log_record) {.time = 10,
					   .tid = 11,
					   .kind = QZ_LOG_WAKING,
					   .state = QZ_LOG_BY_CALL,
					   .other = 10});
	put_record(&log, 1, switched(10, 0, QZ_LOG_PREEMPTED, 11));
	put(&log, (struct qz_log_block) {.kind = QZ_LOG_HORIZON, .until = 1020 * MS});
	put_record(&log, 1,
		   (struct qz_log_record) {.time = 30,
					   .tid = 11,
					   .kind = QZ_LOG_SITE,
					   .state = QZ_TAG_FUTEX,
					   .cause = QZ_WAIT_FUTEX,
					   .site = 77,
					   .object = 0x1000});
	put_record(&log, 1, sleeps);
	put_record(&log, 1, switched(60, 0, QZ_LOG_PREEMPTED, 11));
	put_record(&log, 0,
		   (struct qz_log_record) {.time = 50,
					   .tid = 11,
					   .kind = QZ_LOG_WAKING,
					   .state = QZ_LOG_BY_CALL,
					   .cause = QZ_WAIT_SYSCALL + 202,
					   .other = 10});
	put(&log, (struct qz_log_block) {.kind = QZ_LOG_HORIZON, .until = 1090 * MS});
	return log;
}

static const struct qz_thread *thread_of(const struct qz_profile *p, int tid)
{
	for (uint32_t i = 0; i < p->nthreads; i++)
		if (p->threads[i].tid == tid)
			return &p->threads[i];
	ck_abort_msg("no thread %d", tid);
}

static void check_process(const struct qz_profile *p, const struct qz_scope *s)
{
	const struct qz_thread *t = thread_of(p, 11);

	ck_assert_str_eq(s->comm, "program");
	ck_assert_uint_eq(s->elapsed_ns, 100 * MS);
	ck_assert_uint_eq(s->level_ns[1], 40 * MS); /* 0 to 10, 30 to 60 */
	ck_assert_uint_eq(s->level_ns[2], 60 * MS);
	ck_assert_uint_eq(s->cpu_ns, 160 * MS);
	ck_assert_uint_eq(s->counters.threads_seen, 2);
	ck_assert_uint_eq(t->running_ns, 60 * MS);
	ck_assert_uint_eq(t->blocked_ns, 20 * MS);
	ck_assert_uint_eq(t->ready_ns, 11 * MS); /* with that before it first ran */
	ck_assert_uint_eq(thread_of(p, 10)->running_ns, 100 * MS);
}

START_TEST(a_command_has_its_figures)
{
	struct log_replay_figures figures;
	struct log log = example(false);
	struct qz_profile *p = finish(&log, 1100 * MS, &figures);
	const struct qz_wait *w = NULL;

	ck_assert_ptr_nonnull(p);
	ck_assert(figures.complete);
	ck_assert_uint_eq(figures.counts.impossible, 0);
	ck_assert_uint_eq(figures.counts.late, 0);
	ck_assert_uint_eq(p->nscopes, 1);
	ck_assert_uint_eq(p->scopes[0].kind, QZ_SCOPE_JOB);
	check_process(p, &p->scopes[0]);
	for (uint32_t i = 0; i < p->nwaits; i++)
		if (p->waits[i].object != QZ_NONE)
			w = &p->waits[i];
	ck_assert_ptr_nonnull(w);
	ck_assert_uint_eq(w->blocked_ns, 20 * MS);
	ck_assert_uint_eq(w->ready_ns, 10 * MS);
	ck_assert_str_eq(p->causes[w->cause], "futex");
	ck_assert_uint_eq(p->objects[w->object].queue_ns[1], 20 * MS);
	ck_assert_uint_eq(p->objects[w->object].wakes, 1);
	ck_assert_uint_eq(p->objects[w->object].address, 0x1000);
	qz_profile__free(p);
	close(log.fd);
}
END_TEST

START_TEST(the_machine_has_its_own)
{
	struct log_replay_figures figures;
	struct log log = example(true);
	struct qz_profile *p = finish(&log, 1100 * MS, &figures);

	ck_assert_ptr_nonnull(p);
	ck_assert_uint_eq(p->nscopes, 2);
	ck_assert_uint_eq(p->scopes[0].kind, QZ_SCOPE_MACHINE);
	ck_assert_uint_eq(p->scopes[0].level_ns[2], 60 * MS);
	ck_assert_uint_eq(p->scopes[1].kind, QZ_SCOPE_PROCESS);
	check_process(p, &p->scopes[1]);
	qz_profile__free(p);
	close(log.fd);
}
END_TEST

START_TEST(what_comes_before_a_cut_is_good)
{
	struct log_replay_figures figures;
	struct log log = example(false);
	struct qz_profile *p = finish(&log, 0, &figures);

	ck_assert_ptr_nonnull(p);
	ck_assert(!figures.complete);
	ck_assert_uint_eq(p->scopes[0].elapsed_ns, 90 * MS);
	ck_assert_uint_eq(p->scopes[0].level_ns[1], 40 * MS);
	qz_profile__free(p);
	close(log.fd);
}
END_TEST

/* No records were written then, until after the end. */
START_TEST(a_log_that_is_off_is_unknown_time)
{
	struct log_replay_figures figures;
	struct log log = example(false);
	struct qz_profile *p;

	for (uint32_t cpu = 0; cpu < 2; cpu++)
		put(&log, (struct qz_log_block) {.kind = QZ_LOG_LOST,
						 .number = cpu,
						 .from = 1080 * MS,
						 .until = 1200 * MS});
	p = finish(&log, 1100 * MS, &figures);
	ck_assert_ptr_nonnull(p);
	ck_assert_uint_eq(figures.overwritten, 0);
	ck_assert_uint_eq(figures.counts.lost_ns, 0);
	ck_assert_uint_eq(qz_ledger__event(&p->ledger, "log_off_ns"), 2 * 20 * MS);
	ck_assert_uint_eq(p->scopes[0].elapsed_ns, 80 * MS);
	qz_profile__free(p);
	close(log.fd);
}
END_TEST

START_TEST(lost_records_are_unknown_time)
{
	struct log_replay_figures figures;
	struct log log = example(false);
	struct qz_profile *p;
	const struct qz_thread *t;

	put(&log, (struct qz_log_block) {.kind = QZ_LOG_LOST,
					 .number = 1,
					 .n = 1000,
					 .from = 1070 * MS,
					 .until = 1095 * MS});
	p = finish(&log, 1100 * MS, &figures);
	ck_assert_ptr_nonnull(p);
	ck_assert_uint_eq(figures.overwritten, 1000);
	ck_assert_uint_eq(figures.counts.lost_ns, 25 * MS);
	t = thread_of(p, 11);
	ck_assert_uint_eq(t->running_ns + t->ready_ns + t->blocked_ns + t->unknown_ns, 91 * MS);
	ck_assert_uint_ge(t->unknown_ns, 10 * MS);
	ck_assert_uint_eq(p->scopes[0].elapsed_ns, 75 * MS); /* no level is known of the rest */
	qz_profile__free(p);
	close(log.fd);
}
END_TEST

START_TEST(the_same_log_makes_the_same_profile)
{
	struct log_replay_figures figures;
	struct log log = example(true);
	uint8_t *bytes[2];
	off_t size[2];

	for (int i = 0; i < 2; i++) {
		struct qz_log_header header;
		struct qz_log_file *file;
		struct qz_profile *p;
		int fd = memfd_create("profile", MFD_CLOEXEC);

		if (!i) {
			p = finish(&log, 1100 * MS, &figures);
		} else {
			file = qz_log_file__new(log.fd, &header);
			ck_assert_ptr_nonnull(file);
			p = log_replay__profile(file, &header, &figures);
			qz_log_file__free(file);
		}
		ck_assert_ptr_nonnull(p);
		ck_assert_int_eq(qz_pprof__write(p, fd), 0);
		size[i] = lseek(fd, 0, SEEK_END);
		bytes[i] = malloc(size[i]);
		ck_assert_int_eq(pread(fd, bytes[i], size[i], 0), size[i]);
		qz_profile__free(p);
		close(fd);
	}
	ck_assert_int_eq(size[0], size[1]);
	ck_assert_mem_eq(bytes[0], bytes[1], size[0]);
	free(bytes[0]);
	free(bytes[1]);
	close(log.fd);
}
END_TEST

Suite *suite_log_replay(void)
{
	Suite *s = suite_create("log_replay");
	TCase *c = tcase_create("profile");

	tcase_add_test(c, a_command_has_its_figures);
	tcase_add_test(c, the_machine_has_its_own);
	tcase_add_test(c, what_comes_before_a_cut_is_good);
	tcase_add_test(c, lost_records_are_unknown_time);
	tcase_add_test(c, a_log_that_is_off_is_unknown_time);
	tcase_add_test(c, the_same_log_makes_the_same_profile);
	suite_add_tcase(s, c);
	return s;
}
