/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/experiment/timed_run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/experiment/programs.h"
#include "cli/experiment/trial.h"
#include "core/util/clock.h"

#define SECOND	 1000000000ull
#define GRACE_MS 2000 /* between SIGTERM and SIGKILL */
#define TICK_MS	 100  /* a signal may come just before the poll */

static void become(const struct timed_run *r)
{
	int fd = open("/dev/null", O_RDWR), err;

	setpgid(0, 0);
	trial__unwatch();
	if (fd < 0 || dup2(fd, STDIN_FILENO) < 0 || dup2(fd, STDOUT_FILENO) < 0)
		_exit(126);
	if (fd > STDERR_FILENO)
		close(fd);
	if (r->on && sched_setaffinity(0, sizeof(*r->on), r->on)) {
		complain("cannot choose processors: %s", strerror(errno));
		_exit(126);
	}
	errno = 0;
	if (r->nice && nice(r->nice) == -1 && errno) {
		complain("nice %d: %s; a lower one needs root", r->nice, strerror(errno));
		_exit(126);
	}
	err = programs__become(r->user);
	if (!err) {
		execvp(r->command[0], r->command);
		err = -errno;
	}
	complain("%s: %s", r->command[0], strerror(-err));
	errno = -err;
	_exit(errno == ENOENT ? 127 : 126);
}

/* Whether it ended by itself before `until`, and no signal came. */
static bool ends_by(int fd, uint64_t until)
{
	struct pollfd ended = {.fd = fd, .events = POLLIN};

	while (!trial__signal()) {
		uint64_t at = qz_clock__now();
		int n;

		if (at >= until)
			return false;
		n = poll(&ended, 1, until - at > TICK_MS * 1000000ull ? TICK_MS : 1);
		if (n > 0)
			return true;
	}
	return false;
}

/* All that it has started and that is still in its group. */
static void end_group(pid_t pid, int fd)
{
	struct pollfd ended = {.fd = fd, .events = POLLIN};
	uint64_t until = qz_clock__now() + GRACE_MS * 1000000ull;

	kill(-pid, SIGTERM);
	while (qz_clock__now() < until && poll(&ended, 1, TICK_MS) <= 0)
		;
	kill(-pid, SIGKILL);
}

static int status_of(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return STATUS_FAILURE;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

enum timed_outcome timed_run__do(const struct timed_run *r, uint64_t *elapsed_ns, int *status)
{
	uint64_t began = qz_clock__now();
	pid_t pid = fork();
	bool ended;
	int fd;

	*status = STATUS_FAILURE;
	if (!pid)
		become(r);
	fd = pid > 0 ? pidfd_open(pid, 0) : -1;
	if (fd < 0) {
		complain("cannot start %s: %s", r->command[0], strerror(errno));
		if (pid > 0) {
			kill(pid, SIGKILL);
			status_of(pid);
		}
		return TIMED_FAILED;
	}
	setpgid(pid, pid); /* whoever is first */
	ended = ends_by(fd, began + r->limit_ns);
	*elapsed_ns = qz_clock__now() - began;
	if (!ended)
		end_group(pid, fd);
	*status = status_of(pid);
	close(fd);
	if (trial__signal()) {
		*status = 128 + trial__signal();
		return TIMED_INTERRUPTED;
	}
	if (!ended)
		return TIMED_TOO_LONG;
	return *status ? TIMED_FAILED : TIMED_DONE;
}
