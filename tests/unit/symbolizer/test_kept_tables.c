/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A symbolizer with tables of earlier runs gives the same rows as one without, and starts no child for them. Of this
 * machine's libraries: QUARTZ_IMAGES=N takes N of them, else a few.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/symbolizer/table_cache.h"
#include "tests/unit/suites.h"
#include "tests/unit/symbolizer/cfi_image.h"
#include "tests/unit/symbolizer/symbolizer_util.h"

#define IMAGES	  12
#define LIBRARIES "/usr/lib/x86_64-linux-gnu/*.so*"

static char directory[] = "/tmp/quartz-tables.XXXXXX";
static const char *program;

static void setup(void)
{
	program = util__fixture("../../../quartz-symbolizer");
	ck_assert_int_eq(access(program, X_OK), 0);
	ck_assert_ptr_nonnull(mkdtemp(strcpy(directory, "/tmp/quartz-tables.XXXXXX")));
}

static void teardown(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", directory);
	ck_assert_int_eq(system(command), 0);
}

struct run {
	struct table_cache *cache;
	struct symbolizer *s;
};

static struct run begin(bool cached)
{
	struct run run = {cached ? table_cache__new(directory, program, 1ull << 30) : NULL, NULL};
	struct symbolizer_options options = {.program = program, .tables = run.cache};

	run.s = symbolizer__new(&options);
	ck_assert_ptr_nonnull(run.s);
	return run;
}

static void end(struct run *run)
{
	symbolizer__free(run->s);
	table_cache__free(run->cache);
}

struct rows {
	struct qz_unwind_row *rows;
	uint32_t n;
	struct symbolizer_table table;
	int err;
};

static struct rows ask(struct run *run, int fd, uint64_t from, uint64_t to)
{
	int module = symbolizer__add_module(run->s, SYMBOLIZER_ELF, fd, -1, "/x/image");
	struct rows r = {0};

	ck_assert_int_ge(module, 0);
	r.err = to ? symbolizer__derive(run->s, module, from, to, &r.rows, &r.n)
		   : symbolizer__unwind_table(run->s, module, &r.rows, &r.n, &r.table);
	symbolizer__remove_module(run->s, module);
	return r;
}

static bool are_same(const struct rows *a, const struct rows *b)
{
	return a->err == b->err && a->n == b->n &&
	       !memcmp(&a->table, &b->table, sizeof(a->table)) &&
	       (!a->n || !memcmp(a->rows, b->rows, a->n * sizeof(*a->rows)));
}

/* Whether tables are kept of the C library: not if it is on a file system of another kind. */
static bool is_kept(const char *path)
{
	struct table_cache *c = table_cache__new(directory, program, 1 << 20);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct table_cache_file file;
	bool kept;

	ck_assert_ptr_nonnull(c);
	kept = table_cache__describe(c, fd, &file);
	close(fd);
	table_cache__free(c);
	return kept;
}

/* The table, and what is made of the first bytes of code. False: a child was too slow for one of them. */
static bool compare(const char *path, struct run runs[3])
{
	bool slow = false;

	for (int part = 0; part < 2; part++) {
		struct rows rows[3];

		for (int i = 0; i < 3; i++) {
			rows[i] = ask(&runs[i], open(path, O_RDONLY | O_CLOEXEC), 0x1000,
				      part ? 0x1800 : 0);
			slow |= symbolizer__is_passing(rows[i].err) || rows[i].err == -ETIME;
		}
		for (int i = 1; i < 3; i++)
			ck_assert_msg(slow || are_same(&rows[0], &rows[i]), "%s: %d, %d", path, i,
				      part);
		for (int i = 0; i < 3; i++)
			free(rows[i].rows);
	}
	return !slow;
}

START_TEST(are_the_same)
{
	const char *many = getenv("QUARTZ_IMAGES");
	size_t most = many ? strtoul(many, NULL, 10) : IMAGES, compared = 0;
	glob_t list;

	if (!is_kept(LIBC))
		return;
	ck_assert_int_eq(glob(LIBRARIES, 0, NULL, &list), 0);
	for (size_t i = 0; i < list.gl_pathc && compared < most; i++) {
		struct run runs[3] = {begin(false), begin(true), begin(true)};
		struct stat st;

		if (!stat(list.gl_pathv[i], &st) && S_ISREG(st.st_mode) &&
		    is_kept(list.gl_pathv[i]) && compare(list.gl_pathv[i], runs)) {
			ck_assert_uint_eq(symbolizer__counters(runs[2].s)->started, 0);
			compared++;
		}
		for (int k = 0; k < 3; k++)
			end(&runs[k]);
	}
	if (many)
		fprintf(stderr, "%zu images are the same\n", compared);
	globfree(&list);
}
END_TEST

/* A child that was given a stranger's file makes no tables that are kept: another one does. */
START_TEST(are_not_of_a_child_that_has_read_others)
{
	struct run run = begin(true);
	struct rows r;

	if (!is_kept(LIBC)) {
		end(&run);
		return;
	}
	for (int turn = 0; turn < 2; turn++) {
		r = ask(&run, cfi_image__make(".eh_frame", "", 0), 0, 0);
		ck_assert_int_eq(r.err, -ENODATA);
		r = ask(&run, open(LIBC, O_RDONLY | O_CLOEXEC), 0, 0);
		ck_assert_int_eq(r.err, 0);
		free(r.rows);
		/* it was kept, or was there */
		ck_assert_uint_eq(symbolizer__counters(run.s)->started, 2);
	}
	ck_assert_uint_eq(symbolizer__counters(run.s)->crashed, 0);
	ck_assert_uint_eq(symbolizer__counters(run.s)->killed, 0);
	end(&run);
}
END_TEST

/* Rows whose check is right, and that no unwinder may be given. */
START_TEST(are_checked)
{
	static const struct qz_unwind_row lies[][2] = {
		{{.pc = 5, .kind = QZ_CFA_RSP}, {.pc = 5, .kind = QZ_CFA_RSP}},
		{{.pc = 5, .kind = QZ_CFA_RSP}, {.pc = 6, .kind = QZ_CFA_KINDS}},
		{{.pc = 5, .kind = QZ_CFA_RSP}, {.pc = 6, .kind = QZ_UNWIND_KIND(1, 3)}},
	};
	const struct table_answer answers[] = {
		{.n = 2},
		{.n = 2},
		{.n = 2},
		{.n = 0},
		{.n = 1, .error = 5},
		{.n = 1, .nsegments = 99},
		{.error = -EAGAIN},
	};
	struct table_cache_key key = {0};
	int fd = open(LIBC, O_RDONLY | O_CLOEXEC);

	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]) && is_kept(LIBC); i++) {
		struct run run = begin(true);
		struct rows r;

		ck_assert(table_cache__describe(run.cache, fd, &key.file));
		table_cache__keep(run.cache, &key, &answers[i], lies[i % 3]);
		r = ask(&run, dup(fd), 0, 0);
		ck_assert_int_eq(r.err, 0);
		ck_assert_uint_gt(r.n, 1000);
		ck_assert_uint_eq(symbolizer__counters(run.s)->started, 1);
		free(r.rows);
		end(&run);
	}
	close(fd);
}
END_TEST

/* ---- images that change ---- */

#define OTHER  "/lib/x86_64-linux-gnu/libm.so.6"
#define IMAGE  "/image"
#define SETTLE 3 /* s: what was changed later than that is not kept */

struct contents {
	char *bytes;
	size_t n;
};

static struct contents read_image(const char *path)
{
	struct contents c = {0};
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	ck_assert(fd >= 0 && !fstat(fd, &st));
	c.n = (size_t)st.st_size;
	c.bytes = malloc(c.n);
	ck_assert_int_eq(read(fd, c.bytes, c.n), c.n);
	close(fd);
	return c;
}

/* The build id, in the note that linkers write. */
static char *build_id(const struct contents *c)
{
	static const uint32_t note[] = {4, 20, 3, 0x00554e47 /* GNU */};
	char *at = memmem(c->bytes, c->n, note, sizeof(note));

	ck_assert_ptr_nonnull(at);
	return at + sizeof(note);
}

/* In place, and as if nothing had been written, as far as its owner can see to that. */
static void rewrite(const char *path, const struct contents *c, size_t n)
{
	const struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);

	if (fd < 0 || ftruncate(fd, (off_t)n) || pwrite(fd, c->bytes, n, 0) != (ssize_t)n ||
	    futimens(fd, times))
		_exit(1);
	close(fd);
}

static void compare_now(const char *path)
{
	struct run runs[3] = {begin(false), begin(true), begin(true)};

	compare(path, runs);
	for (int k = 0; k < 3; k++)
		end(&runs[k]);
}

/* One after the other with one build id and equal times, each kept; one cut; and one that is written while it is read. */
START_TEST(are_of_what_the_image_is)
{
	struct contents images[] = {read_image(LIBC), read_image(OTHER)};
	char path[sizeof(directory) + sizeof(IMAGE)];
	pid_t writer;

	snprintf(path, sizeof(path), "%s" IMAGE, directory);
	memcpy(build_id(&images[1]), build_id(&images[0]), 20);
	for (int i = 0; i < 2; i++) {
		rewrite(path, &images[i], images[i].n);
		compare_now(path);
		sleep(SETTLE);
		compare_now(path);
	}
	rewrite(path, &images[0], images[0].n / 2);
	compare_now(path);
	writer = fork();
	if (!writer)
		for (int i = 0;; i++)
			rewrite(path, &images[i % 2], images[i % 2].n);
	for (int i = 0; i < 20; i++) {
		struct run run = begin(true);
		struct rows r = ask(&run, open(path, O_RDONLY | O_CLOEXEC), 0, 0);

		free(r.rows);
		end(&run);
	}
	kill(writer, SIGKILL);
	ck_assert_int_eq(waitpid(writer, NULL, 0), writer);
	compare_now(path);
	sleep(SETTLE);
	compare_now(path);
	free(images[0].bytes);
	free(images[1].bytes);
}
END_TEST

Suite *suite_kept_tables(void)
{
	Suite *suite = suite_create("kept_tables");
	TCase *tc = tcase_create("kept_tables");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, are_the_same);
	tcase_add_test(tc, are_not_of_a_child_that_has_read_others);
	tcase_add_test(tc, are_checked);
	tcase_add_test(tc, are_of_what_the_image_is);
	tcase_set_timeout(tc, 120);
	suite_add_tcase(suite, tc);
	return suite;
}
