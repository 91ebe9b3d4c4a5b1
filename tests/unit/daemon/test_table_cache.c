/* SPDX-License-Identifier: GPL-2.0-only */
/* Unwind tables that are kept: what is found is what was kept, whatever becomes of the files. */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/symbolizer/table_cache.h"
#include "tests/unit/suites.h"

#define ROWS 9
#define MOST (64ull << 20)

static char directory[] = "/tmp/quartz-tables.XXXXXX";
static struct table_cache *cache;
static const struct table_cache_key image = {
	.file = {.file_system = 7, .device = 0xfe00, .inode = 99, .size = 1234, .changed_s = 5}};

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(strcpy(directory, "/tmp/quartz-tables.XXXXXX")));
	cache = table_cache__new(directory, "/proc/self/exe", MOST);
	ck_assert_ptr_nonnull(cache);
}

static void teardown(void)
{
	char command[64];

	table_cache__free(cache);
	snprintf(command, sizeof(command), "rm -r %s", directory);
	ck_assert_int_eq(system(command), 0);
}

/* Rows that tell what they are of. */
static void keep(const struct table_cache_key *key, uint32_t n, int16_t cfa)
{
	const struct table_answer answer = {.n = n, .base = 0x1000, .nsegments = 1};
	struct qz_unwind_row *rows = calloc(n ? n : 1, sizeof(*rows));

	ck_assert_ptr_nonnull(rows);
	for (uint32_t i = 0; i < n; i++)
		rows[i] = (struct qz_unwind_row) {.pc = 16 * i, .cfa = cfa, .kind = QZ_CFA_RSP};
	table_cache__keep(cache, key, &answer, rows);
	free(rows);
}

/* The cfa of the rows, of which there must be n, or -1. */
static int find(const struct table_cache_key *key, uint32_t n)
{
	struct table_answer answer;
	struct qz_unwind_row *rows;
	int cfa;

	if (!table_cache__find(cache, key, &answer, &rows))
		return -1;
	ck_assert_uint_eq(answer.n, n);
	ck_assert_uint_eq(answer.base, 0x1000);
	for (uint32_t i = 0; i < n; i++)
		ck_assert(rows[i].pc == 16 * i && rows[i].cfa == rows[0].cfa);
	cfa = n ? rows[0].cfa : 0;
	free(rows);
	return cfa;
}

/* The path of the only file. */
static void only_file(char path[128])
{
	DIR *d = opendir(directory);
	struct dirent *entry;
	int n = 0;

	while ((entry = readdir(d))) {
		if (*entry->d_name == '.')
			continue;
		snprintf(path, 128, "%s/%.64s", directory, entry->d_name);
		n++;
	}
	closedir(d);
	ck_assert_int_eq(n, 1);
}

static int count_files(void)
{
	DIR *d = opendir(directory);
	struct dirent *entry;
	int n = 0;

	while ((entry = readdir(d)))
		n += *entry->d_name != '.';
	closedir(d);
	return n;
}

START_TEST(finds_what_was_kept)
{
	const struct table_answer none = {.error = -ENODATA, .base = 0x1000};
	struct table_cache_key part = image;

	part.from = 0x100;
	part.to = 0x200;
	ck_assert_int_eq(find(&image, ROWS), -1);
	ck_assert(!table_cache__has(cache, &image));
	keep(&image, ROWS, 3);
	keep(&part, 1, 4);
	ck_assert(table_cache__has(cache, &image));
	ck_assert_int_eq(find(&image, ROWS), 3);
	ck_assert_int_eq(find(&part, 1), 4);
	keep(&image, 0, 0);
	ck_assert_int_eq(find(&image, 0), 0);
	table_cache__keep(cache, &image, &none, NULL);
	ck_assert_int_eq(find(&image, 0), 0);
	ck_assert_int_eq(count_files(), 2);
}
END_TEST

/* Whatever of an image is another: what is kept of one takes the place of what was kept of the other, or stands beside it. */
START_TEST(tells_images_apart)
{
	keep(&image, ROWS, 3);
	for (size_t i = 0; i < sizeof(image); i++) {
		struct table_cache_key other = image;

		((uint8_t *)&other)[i] ^= 1;
		ck_assert_msg(find(&other, ROWS) == -1, "byte %zu", i);
		ck_assert(!table_cache__has(cache, &other));
	}
	ck_assert_int_eq(find(&image, ROWS), 3);
}
END_TEST

START_TEST(is_of_one_symbolizer)
{
	keep(&image, ROWS, 3);
	table_cache__free(cache);
	cache = table_cache__new(directory, "/bin/sh", MOST);
	ck_assert_int_eq(find(&image, ROWS), -1);
	keep(&image, ROWS, 5);
	ck_assert_int_eq(find(&image, ROWS), 5);
	ck_assert_int_eq(count_files(), 1);
}
END_TEST

static size_t read_whole(const char *path, uint8_t *bytes, size_t room)
{
	FILE *f = fopen(path, "re");
	size_t n = fread(bytes, 1, room, f);

	fclose(f);
	ck_assert_uint_lt(n, room);
	return n;
}

static void write_whole(const char *path, const uint8_t *bytes, size_t n)
{
	FILE *f = fopen(path, "we");

	ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
	ck_assert_int_eq(fclose(f), 0);
}

/* Each byte and each length; and what is damaged is kept anew. */
START_TEST(notices_damage)
{
	uint8_t bytes[4096] = {0};
	char path[128];
	size_t n;

	keep(&image, ROWS, 3);
	only_file(path);
	n = read_whole(path, bytes, sizeof(bytes));
	for (size_t i = 0; i < n; i++) {
		bytes[i] ^= 0x10;
		write_whole(path, bytes, n);
		ck_assert_msg(find(&image, ROWS) == -1, "byte %zu", i);
		bytes[i] ^= 0x10;
	}
	for (size_t i = 0; i <= n + 8; i++) {
		write_whole(path, bytes, i);
		ck_assert_msg((find(&image, ROWS) == -1) == (i != n), "length %zu", i);
	}
	ck_assert_int_eq(find(&image, ROWS), -1);
	keep(&image, ROWS, 4);
	ck_assert_int_eq(find(&image, ROWS), 4);
}
END_TEST

/* Bytes that were said about a file of so many bytes. */
static off_t said_of(const uint8_t *bytes, size_t n)
{
	FILE *said = tmpfile();
	int before = dup(STDERR_FILENO);
	char path[128];
	struct stat st;

	only_file(path);
	write_whole(path, bytes, n);
	dup2(fileno(said), STDERR_FILENO);
	ck_assert_int_eq(find(&image, ROWS), -1);
	dup2(before, STDERR_FILENO);
	close(before);
	ck_assert_int_eq(fstat(fileno(said), &st), 0);
	fclose(said);
	return st.st_size;
}

/* Even if all of it is shorter than what begins a file of this one. */
START_TEST(another_version_is_no_damage)
{
	uint8_t bytes[4096] = {0};
	char path[128];

	keep(&image, ROWS, 3);
	only_file(path);
	read_whole(path, bytes, sizeof(bytes));
	bytes[12] ^= 1; /* the version */
	ck_assert_int_eq(said_of(bytes, 40), 0);
	bytes[12] ^= 1;
	ck_assert_int_gt(said_of(bytes, 40), 0);
}
END_TEST

/* A link, a pipe, a directory, and a file that others may write. */
START_TEST(refuses_what_is_no_file_of_its_own)
{
	char path[128], elsewhere[160];

	keep(&image, ROWS, 3);
	only_file(path);
	ck_assert_int_eq(chmod(path, 0622), 0);
	ck_assert_int_eq(find(&image, ROWS), -1);
	ck_assert_int_eq(chmod(path, 0600), 0);
	ck_assert_int_eq(find(&image, ROWS), 3);
	snprintf(elsewhere, sizeof(elsewhere), "%s.moved", path);
	ck_assert_int_eq(rename(path, elsewhere), 0);
	ck_assert_int_eq(symlink(elsewhere, path), 0);
	ck_assert_int_eq(find(&image, ROWS), -1);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(find(&image, ROWS), -1);
	keep(&image, ROWS, 5);
	ck_assert_int_eq(find(&image, ROWS), 5);
}
END_TEST

START_TEST(refuses_a_directory_of_others)
{
	char link[64];

	ck_assert_int_eq(chmod(directory, 0770), 0);
	ck_assert_ptr_null(table_cache__new(directory, "/bin/sh", MOST));
	ck_assert_int_eq(errno, EPERM);
	ck_assert_int_eq(chmod(directory, 0700), 0);
	snprintf(link, sizeof(link), "%s.link", directory);
	ck_assert_int_eq(symlink(directory, link), 0);
	ck_assert_ptr_null(table_cache__new(link, "/bin/sh", MOST));
	ck_assert_int_eq(unlink(link), 0);
	ck_assert_ptr_null(table_cache__new("/nonexistent", "/bin/sh", MOST));
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_ptr_null(table_cache__new(directory, "/nonexistent", MOST));
}
END_TEST

/* Of twice as many files as have room, those that were used last are left. */
START_TEST(removes_what_was_used_least_recently)
{
	struct table_cache_key key = image;
	const uint32_t many = 8000; /* rows: 64 kB */
	uint64_t bytes = 0;
	struct stat st;
	char path[128];
	int left = 0;

	table_cache__free(cache);
	cache = table_cache__new(directory, "/proc/self/exe", 2 << 20);
	for (uint32_t i = 1; i <= 64; i++) {
		const struct timespec times[2] = {{1000 + i, 0}, {1000 + i, 0}};

		key.file.inode = i;
		keep(&key, many, (int16_t)i);
		snprintf(path, sizeof(path), "%s/fe00-%x", directory, i);
		ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
	}
	for (uint32_t i = 1; i <= 64; i++) {
		snprintf(path, sizeof(path), "%s/fe00-%x", directory, i);
		if (stat(path, &st)) {
			ck_assert_int_eq(left, 0);
			continue;
		}
		left++;
		bytes += (uint64_t)st.st_blocks * 512;
		key.file.inode = i;
		ck_assert_int_eq(find(&key, many), (int)i);
		ck_assert_int_eq(stat(path, &st), 0);
		ck_assert_int_gt(st.st_mtim.tv_sec, 2000); /* it is in use again */
	}
	ck_assert_int_ge(left, 16);
	ck_assert_uint_le(bytes, 2 << 20);
}
END_TEST

/* What a killed process has left: not what one is writing now. */
START_TEST(removes_what_was_never_completed)
{
	const struct timespec times[2] = {{1000, 0}, {1000, 0}};
	char path[64];

	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/fe00-1.%08x.part", directory, i);
		write_whole(path, (const uint8_t *)"x", 1);
		if (i)
			ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
	}
	keep(&image, ROWS, 3);
	ck_assert_int_eq(access(path, F_OK), -1);
	ck_assert_int_eq(count_files(), 2);
}
END_TEST

/* Eight that read and write the same few: each finds what another has kept, whole. */
START_TEST(is_shared)
{
	struct table_cache_key key = image;
	int status, bad = 0;

	for (int i = 0; i < 8; i++) {
		if (fork())
			continue;
		table_cache__free(cache);
		cache = table_cache__new(directory, "/bin/sh", MOST);
		for (int turn = 0; turn < 60; turn++) {
			key.file.inode = 1 + turn % 3;
			keep(&key, 1000, (int16_t)(1 + i));
			if (find(&key, 1000) < 1)
				_exit(1);
		}
		_exit(0);
	}
	for (int i = 0; i < 8; i++) {
		ck_assert_int_gt(wait(&status), 0);
		bad += status;
	}
	ck_assert_int_eq(bad, 0);
	ck_assert_int_eq(count_files(), 3);
}
END_TEST

/* Files of others, of memory, and such as were changed just now. */
START_TEST(keeps_none_of_what_others_may_change)
{
	struct table_cache_file file;
	char path[64];
	int fd = memfd_create("image", MFD_CLOEXEC);

	ck_assert(!table_cache__describe(cache, fd, &file));
	close(fd);
	snprintf(path, sizeof(path), "%s/image", directory);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0755);
	ck_assert(!table_cache__describe(cache, fd, &file)); /* new */
	close(fd);
	fd = open(directory, O_RDONLY | O_CLOEXEC);
	ck_assert(!table_cache__describe(cache, fd, &file));
	close(fd);
	ck_assert(!table_cache__describe(cache, -1, &file));
	ck_assert(!table_cache__describe(NULL, 0, &file));
}
END_TEST

Suite *suite_table_cache(void)
{
	Suite *suite = suite_create("table_cache");
	TCase *tc = tcase_create("table_cache");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, finds_what_was_kept);
	tcase_add_test(tc, tells_images_apart);
	tcase_add_test(tc, is_of_one_symbolizer);
	tcase_add_test(tc, notices_damage);
	tcase_add_test(tc, another_version_is_no_damage);
	tcase_add_test(tc, refuses_what_is_no_file_of_its_own);
	tcase_add_test(tc, refuses_a_directory_of_others);
	tcase_add_test(tc, removes_what_was_used_least_recently);
	tcase_add_test(tc, removes_what_was_never_completed);
	tcase_add_test(tc, is_shared);
	tcase_add_test(tc, keeps_none_of_what_others_may_change);
	suite_add_tcase(suite, tc);
	return suite;
}
