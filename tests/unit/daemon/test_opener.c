/* SPDX-License-Identifier: GPL-2.0-only */
/* How quartzd speaks to its keeper and openers, with a keeper made for the test; and their filters. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/privsep/seccomp.h"
#include "daemon/privsep/broker.h"
#include "daemon/util/log.h"
#include "daemon/privsep/fd_ipc.h"
#include "daemon/privsep/opener.h"
#include "quartz/page.h"
#include "tests/unit/suites.h"

START_TEST(patience_is_never_without_bounds)
{
	ck_assert_int_eq(opener__patience(0), 2000);
	ck_assert_int_eq(opener__patience(1), 1000);
	for (uint32_t late = 6; late < 200; late++)
		ck_assert_int_eq(opener__patience(late), 50);
	ck_assert_int_eq(opener__patience(UINT32_MAX), 50);
}
END_TEST

static void take_request(int socket)
{
	struct broker_request request;
	int fds[MESSAGE_FDS];

	ck_assert_int_eq(fd_ipc__receive(socket, &request, sizeof(request), fds, 0),
			 sizeof(request));
	ck_assert_int_eq(request.what, KEEPER_EVENT);
}

static void answer(int socket, int32_t result)
{
	ck_assert_int_eq(fd_ipc__send(socket, &result, sizeof(result), NULL, 0), 0);
}

/* No user would wait for a thousand times ten seconds. The late answer is not the next request's. */
START_TEST(a_keeper_that_does_not_answer_is_not_waited_for_again)
{
	const struct sample_event event = {.cpu = 1};
	struct broker_request request;
	int sockets[2], fds[MESSAGE_FDS];
	pid_t keeper = fork();

	if (!keeper)
		for (;;)
			pause();
	log__set_level(LOG_ERROR);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), 0);
	opener__use(sockets[0], keeper);
	opener__hurry(true);
	for (int i = 0; i < 1000; i++)
		ck_assert_int_eq(opener__sample_event(&event), -EAGAIN);
	ck_assert(opener__counts().keeper_late);
	take_request(sockets[1]);
	ck_assert_int_eq(fd_ipc__receive(sockets[1], &request, sizeof(request), fds, 0), -ETIME);
	answer(sockets[1], -EPERM);
	answer(sockets[1], -ESRCH);
	ck_assert_int_eq(opener__sample_event(&event), -ESRCH);
	ck_assert(!opener__counts().keeper_late);
	take_request(sockets[1]);
	opener__hurry(false);
	opener__use(0, 0);
	kill(keeper, SIGKILL);
	waitpid(keeper, NULL, 0);
	close(sockets[0]);
	close(sockets[1]);
}
END_TEST

/* Who reads of a broken message looks for the wrong fault. */
START_TEST(no_room_for_a_descriptor_is_told_as_such)
{
	const int given[MESSAGE_FDS] = {0, -1};
	int sockets[2], fds[MESSAGE_FDS], word = 0;
	struct rlimit limit, none;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), 0);
	ck_assert_int_eq(fd_ipc__send(sockets[1], &word, sizeof(word), given, 0), 0);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit) {3, limit.rlim_max};
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	ck_assert_int_eq(fd_ipc__receive(sockets[0], &word, sizeof(word), fds, INT64_MAX), -EMFILE);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_int_eq(fds[0], -1);
	close(sockets[0]);
	close(sockets[1]);
}
END_TEST

/* ---- filters ---- */

/* Runs what with the filter, in a process of its own; its result is the number of the line that failed. */
static void check_filtered(enum helper_job job, int (*what)(const char *path))
{
	char path[] = "/tmp/quartz-opener.XXXXXX";
	int fd = mkstemp(path), status;
	pid_t pid;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, sizeof(struct qz_page_flag)), 0);
	pid = fork();
	if (!pid)
		_exit(seccomp__confine(job) ? 1 : what(path));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	unlink(path);
	close(fd);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
}

static bool refused(const char *path, int flags)
{
	int fd = openat(AT_FDCWD, path, flags | O_CLOEXEC, 0600);

	if (fd >= 0)
		close(fd);
	return fd < 0 && errno == ENOSYS;
}

#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition))                                                                  \
			return __LINE__ & 0xff;                                                    \
	} while (0)

static int as_opener(const char *path)
{
	EXPECT(!refused(path, O_RDONLY));
	EXPECT(!refused(path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
	EXPECT(!refused(path, O_PATH));
	EXPECT(refused(path, O_WRONLY));
	EXPECT(refused(path, O_RDWR));
	EXPECT(refused(path, O_ACCMODE));
	EXPECT(refused(path, O_WRONLY | O_APPEND));
	EXPECT(refused(path, O_RDONLY | O_TRUNC));
	EXPECT(refused("/tmp/quartz-opener.new", O_RDONLY | O_CREAT));
	EXPECT(refused("/tmp", O_TMPFILE | O_RDWR));
	return 0;
}

/* It calls programs, by one word. */
static int as_waker(const char *path)
{
	static const char bytes[sizeof(struct qz_page_flag)];
	const size_t at = offsetof(struct qz_page_flag, generation);
	int fd = openat(AT_FDCWD, path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	EXPECT(fd >= 0);
	EXPECT(pwrite(fd, bytes, sizeof(uint32_t), at) == sizeof(uint32_t));
	EXPECT(pwrite(fd, bytes, sizeof(bytes), 0) < 0 && errno == ENOSYS);
	EXPECT(pwrite(fd, bytes, sizeof(uint32_t), at + 4096) < 0 && errno == ENOSYS);
	EXPECT(write(fd, bytes, 1) < 0 && errno == ENOSYS);
	EXPECT(ftruncate(fd, 0) < 0 && errno == ENOSYS);
	EXPECT(!refused(path, O_RDONLY));
	EXPECT(refused(path, O_RDWR));
	EXPECT(refused(path, O_WRONLY | O_TRUNC));
	EXPECT(refused("/tmp/quartz-opener.new", O_WRONLY | O_CREAT));
	return 0;
}

START_TEST(an_opener_opens_nothing_to_write)
{
	check_filtered(JOB_OPENER, as_opener);
}
END_TEST

START_TEST(a_waker_writes_one_word)
{
	check_filtered(JOB_WAKER, as_waker);
}
END_TEST

Suite *suite_opener(void)
{
	Suite *s = suite_create("opener");
	TCase *tc = tcase_create("all");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, patience_is_never_without_bounds);
	tcase_add_test(tc, a_keeper_that_does_not_answer_is_not_waited_for_again);
	tcase_add_test(tc, no_room_for_a_descriptor_is_told_as_such);
	tcase_add_test(tc, an_opener_opens_nothing_to_write);
	tcase_add_test(tc, a_waker_writes_one_word);
	suite_add_tcase(s, tc);
	return s;
}
