/* SPDX-License-Identifier: GPL-2.0-only */
/* What a stranger's process wrote as its knobs: nothing of it is believed before it is known to be in its limits. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/knobs/knob_page.h"
#include "tests/unit/suites.h"

#define PATIENCE 100000000ull /* ns */

static struct qz_knobs good;

static void make_good(void)
{
	struct qz_knob *k = good.knobs;

	memset(&good, 0, sizeof(good));
	good.magic = QZ_KNOBS_MAGIC;
	good.version = QZ_KNOBS_VERSION;
	good.used = 2;
	good.pid = (uint32_t)getpid();
	k[0] = (struct qz_knob) {.least = -3, .most = 9, .step = 4, .value = 5, .name = "size"};
	k[1] = (struct qz_knob) {.role = QZ_KNOB_OTHER,
				 .choices = 2,
				 .most = 1,
				 .step = 1,
				 .name = "mode",
				 .choice = {"safe", "fast"}};
}

START_TEST(what_libquartz_writes_is_valid)
{
	ck_assert(knob_page__is_valid(&good));
	good.used = 0;
	ck_assert(knob_page__is_valid(&good));
	good.used = QZ_KNOBS;
	for (int i = 2; i < QZ_KNOBS; i++) {
		good.knobs[i] = good.knobs[0];
		memset(good.knobs[i].name, 'n', QZ_KNOB_NAME_LENGTH - 1);
	}
	ck_assert(knob_page__is_valid(&good));
}
END_TEST

#define bad(statement)                                                                             \
	do {                                                                                       \
		make_good();                                                                       \
		statement;                                                                         \
		ck_assert_msg(!knob_page__is_valid(&good), #statement);                            \
	} while (0)

START_TEST(what_it_never_writes_is_not)
{
	struct qz_knob *k = good.knobs;

	bad(good.magic++);
	bad(good.version++);
	bad(good.used = QZ_KNOBS + 1);
	bad(good.used = UINT32_MAX);
	bad(good.used = 3); /* nothing stands there */
	bad(k[0].name[0] = 0);
	bad(memset(k[0].name, 'n', sizeof(k[0].name)));
	bad(k[0].name[1] = '\033');
	bad(k[0].name[1] = '\n');
	bad(k[0].name[1] = ' ');
	bad(k[0].name[1] = (char)0xc3);
	bad(k[0].role = QZ_KNOB_ROLES);
	bad(k[0].step = 0);
	bad(k[0].step = -4);
	bad(k[0].step = INT64_MIN);
	bad(k[0].least = 10);
	bad(k[0].value = 13);
	bad(k[0].value = -7);
	bad(k[0].value = 6);
	bad(k[1].choices = QZ_KNOB_CHOICES + 1);
	bad(k[1].choices = 3);
	bad(k[1].choices = UINT32_MAX);
	bad(k[1].least = -1);
	bad(k[1].step = 2);
	bad(k[1].choice[1][0] = 0);
	bad(memset(k[1].choice[0], 'c', QZ_KNOB_CHOICE));
	bad(k[1].choice[1][2] = '\007');
}
END_TEST

START_TEST(a_value_is_a_step_within_the_range)
{
	struct qz_knob k = {.least = INT64_MIN, .most = INT64_MAX, .step = INT64_MAX};

	ck_assert(knob_page__allows(&k, INT64_MIN));
	ck_assert(knob_page__allows(&k, -1));
	ck_assert(knob_page__allows(&k, INT64_MAX - 1));
	ck_assert(!knob_page__allows(&k, 0));
	ck_assert(!knob_page__allows(&k, INT64_MAX));
	k = (struct qz_knob) {.least = 2, .most = 9, .step = 3};
	for (int64_t i = 0; i < 12; i++)
		ck_assert_int_eq(knob_page__allows(&k, i), i == 2 || i == 5 || i == 8);
}
END_TEST

/* ---- files ---- */

/* A file of this process, as a stranger makes it. */
static int make_file(const char *name, size_t size, int seals)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, (off_t)size), 0);
	ck_assert_int_eq(pwrite(fd, &good, size < sizeof(good) ? size : sizeof(good), 0),
			 size < sizeof(good) ? size : sizeof(good));
	ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

#define STRANGER 65534
#define SEALS	 (F_SEAL_SHRINK | F_SEAL_GROW)

static void expect_open(int expected)
{
	struct knob_page p;
	int err = knob_page__open(&p, getpid());

	ck_assert_int_eq(err, expected);
	if (!err)
		knob_page__close(&p);
}

START_TEST(only_a_sealed_file_of_its_size_is_mapped)
{
	int fd = make_file("other", QZ_KNOBS_SIZE, SEALS);

	expect_open(-ENOENT);
	close(fd);
	fd = make_file(QZ_KNOBS_FILE, QZ_KNOBS_SIZE, F_SEAL_SHRINK);
	expect_open(-ENOENT);
	close(fd);
	fd = make_file(QZ_KNOBS_FILE, QZ_KNOBS_SIZE - 1, SEALS);
	expect_open(-ENOENT);
	close(fd);
	fd = make_file(QZ_KNOBS_FILE, QZ_KNOBS_SIZE, SEALS | F_SEAL_WRITE);
	expect_open(-EPROTO);
	close(fd);
	fd = make_file(QZ_KNOBS_FILE, QZ_KNOBS_SIZE, SEALS);
	expect_open(0);
	close(fd);
	good.used = 0;
	fd = make_file(QZ_KNOBS_FILE, QZ_KNOBS_SIZE, SEALS);
	expect_open(-ENOENT);
	close(fd);
	good.used = 2;
	good.knobs[0].name[0] = '\033';
	fd = make_file(QZ_KNOBS_FILE, QZ_KNOBS_SIZE, SEALS);
	expect_open(-EPROTO);
	close(fd);
}
END_TEST

/* A descriptor that came from another process is not this one's. */
START_TEST(the_file_of_another_process_is_not_its_own)
{
	int fd;

	good.pid++;
	fd = make_file(QZ_KNOBS_FILE, QZ_KNOBS_SIZE, SEALS);
	expect_open(-ENOENT);
	close(fd);
	good.pid--; /* which another user can write as well */
	fd = make_file(QZ_KNOBS_FILE, QZ_KNOBS_SIZE, SEALS);
	expect_open(0);
	if (!geteuid()) {
		ck_assert_int_eq(fchown(fd, STRANGER, STRANGER), 0);
		expect_open(-ENOENT);
	}
	close(fd);
}
END_TEST

/* It never answers, holds the lock, gives an invalid answer, and ends: quartzctl waits no longer than it was told to. */
START_TEST(a_process_that_does_not_answer_holds_nobody_up)
{
	int fd = make_file(QZ_KNOBS_FILE, QZ_KNOBS_SIZE, SEALS), own;
	struct knob_count count;
	struct knob_page p;
	char path[64];

	ck_assert_int_eq(knob_page__open(&p, getpid()), 0);
	ck_assert_int_eq(knob_page__set(&p, &p.copy.knobs[0], 9, PATIENCE), -ETIMEDOUT);
	ck_assert_int_eq(p.map->knobs[0].wanted, 9);
	ck_assert_int_eq(knob_page__count(&p, &count, PATIENCE), -ETIMEDOUT);
	p.map->knobs[0].answered = p.map->knobs[0].asked + 1;
	p.map->knobs[0].status = -ENOMEM;
	ck_assert_int_eq(knob_page__set(&p, &p.copy.knobs[0], 9, PATIENCE), -EPROTO);
	p.map->knobs[0].answered = p.map->knobs[0].asked + 1;
	p.map->knobs[0].status = 7;
	ck_assert_int_eq(knob_page__set(&p, &p.copy.knobs[0], 9, PATIENCE), -EPROTO);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	own = open(path, O_RDWR);
	ck_assert_int_eq(flock(own, LOCK_EX), 0);
	ck_assert_int_eq(knob_page__set(&p, &p.copy.knobs[0], 9, PATIENCE), -EBUSY);
	knob_page__close(&p);
	close(own);
	close(fd);
}
END_TEST

START_TEST(a_process_that_ends_is_noticed)
{
	pid_t pid = fork();
	struct knob_page p;
	int err;

	if (!pid) {
		good.pid = (uint32_t)getpid();
		make_file(QZ_KNOBS_FILE, QZ_KNOBS_SIZE, SEALS);
		pause();
		_exit(0);
	}
	while ((err = knob_page__open(&p, pid)) == -ENOENT)
		usleep(1000);
	ck_assert_int_eq(err, 0);
	kill(pid, SIGKILL);
	/* a zombie has ended, too */
	ck_assert_int_eq(knob_page__set(&p, &p.copy.knobs[0], 9, 60000000000ull), -ESRCH);
	knob_page__close(&p);
	waitpid(pid, NULL, 0);
	ck_assert_int_eq(knob_page__open(&p, pid), -ESRCH);
}
END_TEST

Suite *suite_knob_page(void)
{
	Suite *s = suite_create("knob_page");
	TCase *tc = tcase_create("all");

	tcase_add_checked_fixture(tc, make_good, NULL);
	tcase_add_test(tc, what_libquartz_writes_is_valid);
	tcase_add_test(tc, what_it_never_writes_is_not);
	tcase_add_test(tc, a_value_is_a_step_within_the_range);
	tcase_add_test(tc, only_a_sealed_file_of_its_size_is_mapped);
	tcase_add_test(tc, the_file_of_another_process_is_not_its_own);
	tcase_add_test(tc, a_process_that_does_not_answer_holds_nobody_up);
	tcase_add_test(tc, a_process_that_ends_is_noticed);
	suite_add_tcase(s, tc);
	return s;
}
