/* SPDX-License-Identifier: GPL-2.0-only */
/* The scheduler's log as a file: written and read, cut at each byte, and files that lie. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/format/log_file.h"
#include "core/util/gzip.h"
#include "tests/unit/suites.h"

static const struct qz_log_header header = {.magic = QZ_LOG_MAGIC,
					    .record_size = sizeof(struct qz_log_record),
					    .processors = 3,
					    .began = 100,
					    .kernel = "6.1"};

static int new_file(void)
{
	int fd = memfd_create("log", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	return fd;
}

static int written(const struct qz_log_header *h, const struct qz_log_block *blocks, size_t n,
		   const struct qz_log_record *records)
{
	int fd = new_file();
	struct qz_log_writer *w = qz_log_writer__new(fd, h);

	ck_assert_ptr_nonnull(w);
	for (size_t i = 0; i < n; i++) {
		bool has = blocks[i].kind == QZ_LOG_RECORDS && blocks[i].n <= 2;

		ck_assert_int_eq(qz_log_writer__put(w, &blocks[i], has ? records : NULL,
						    sizeof(*records)),
				 0);
	}
	ck_assert_int_eq(qz_log_writer__close(w), 0);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static const struct qz_log_record two[] = {
	{.time = 110, .tid = 5, .kind = QZ_LOG_SWITCH, .other = 6},
	{.time = 120, .tid = 6, .kind = QZ_LOG_SWITCH, .state = QZ_LOG_BLOCKED, .other = 0},
};

static const struct qz_log_block whole[] = {
	{.kind = QZ_LOG_SCOPE, .number = 5, .n = QZ_LOG_FOLLOWS, .until = 101},
	{.kind = QZ_LOG_RECORDS, .number = 2, .n = 2},
	{.kind = QZ_LOG_LOST, .number = 1, .n = 9, .from = 105, .until = 115},
	{.kind = QZ_LOG_HORIZON, .until = 130},
	{.kind = QZ_LOG_END, .until = 140},
};

#define NWHOLE (sizeof(whole) / sizeof(whole[0]))

START_TEST(what_was_written_is_read)
{
	int fd = written(&header, whole, NWHOLE, two), more = 1;
	const struct qz_log_record *records;
	struct qz_log_block block;
	struct qz_log_header h;
	struct qz_log_file *f = qz_log_file__new(fd, &h);

	ck_assert_ptr_nonnull(f);
	ck_assert_mem_eq(&h, &header, sizeof(h));
	for (size_t i = 0; i < NWHOLE; i++) {
		more = qz_log_file__next(f, &block, &records);
		ck_assert_int_eq(more, i + 1 < NWHOLE);
		ck_assert_mem_eq(&block, &whole[i], sizeof(block));
		ck_assert_int_eq(records != NULL, block.kind == QZ_LOG_RECORDS);
		if (records)
			ck_assert_mem_eq(records, two, sizeof(two));
	}
	qz_log_file__free(f);
	close(fd);
}
END_TEST

/* Reads all, and gives the blocks that came before the end or an error, and that. */
static size_t count_blocks(int fd, int *end)
{
	const struct qz_log_record *records;
	struct qz_log_block block;
	struct qz_log_header h;
	struct qz_log_file *f = qz_log_file__new(fd, &h);
	size_t n = 0;

	*end = f ? 1 : -errno;
	while (*end > 0) {
		*end = qz_log_file__next(f, &block, &records);
		n += *end >= 0;
	}
	qz_log_file__free(f);
	return n;
}

START_TEST(a_file_may_be_cut_anywhere)
{
	int fd = written(&header, whole, NWHOLE, two), end;
	off_t size = lseek(fd, 0, SEEK_END);

	for (off_t cut = 0; cut < size - 8; cut++) { /* gzip's own sum is the last */
		uint8_t bytes[4096];
		int part = new_file();

		ck_assert_int_le(cut, (off_t)sizeof(bytes));
		ck_assert_int_eq(pread(fd, bytes, cut, 0), cut);
		ck_assert_int_eq(pwrite(part, bytes, cut, 0), cut);
		ck_assert_uint_le(count_blocks(part, &end), NWHOLE);
		ck_assert(end == -EBADMSG || !end);
		close(part);
	}
	close(fd);
}
END_TEST

START_TEST(what_blocks_say_is_not_believed)
{
	const struct qz_log_block bad[] = {
		{.kind = 0},
		{.kind = QZ_LOG_END + 1},
		{.kind = QZ_LOG_RECORDS, .number = 3, .n = 1},
		{.kind = QZ_LOG_RECORDS, .number = 0, .n = 0},
		{.kind = QZ_LOG_RECORDS, .number = 0, .n = UINT64_MAX / 32},
		{.kind = QZ_LOG_LOST, .number = 3},
		{.kind = QZ_LOG_LOST, .from = 2, .until = 1},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int fd = written(&header, &bad[i], 1, two), end;

		ck_assert_uint_eq(count_blocks(fd, &end), 0);
		ck_assert_int_eq(end, -EBADMSG);
		close(fd);
	}
}
END_TEST

START_TEST(other_files_are_refused)
{
	struct qz_log_header wrong[4] = {header, header, header, header};
	int fd, end;

	wrong[0].magic++;
	wrong[1].record_size = 16;
	wrong[2].processors = 0;
	memset(wrong[3].kernel, 'x', sizeof(wrong[3].kernel));
	for (size_t i = 0; i < 4; i++) {
		fd = written(&wrong[i], whole, NWHOLE, two);
		count_blocks(fd, &end);
		ck_assert_int_eq(end, -EBADMSG);
		close(fd);
	}
	fd = new_file();
	ck_assert_int_eq(pwrite(fd, &header, sizeof(header), 0),
			 sizeof(header)); /* not compressed */
	count_blocks(fd, &end);
	ck_assert_int_eq(end, -EBADMSG);
	close(fd);
}
END_TEST

Suite *suite_log_file(void)
{
	Suite *s = suite_create("log_file");
	TCase *c = tcase_create("file");

	tcase_add_test(c, what_was_written_is_read);
	tcase_add_test(c, a_file_may_be_cut_anywhere);
	tcase_add_test(c, what_blocks_say_is_not_believed);
	tcase_add_test(c, other_files_are_refused);
	suite_add_tcase(s, c);
	return s;
}
