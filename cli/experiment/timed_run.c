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

static void leave(const char *what, int err)
{
	complain("%s: %s", what, strerror(err));
	_exit(err == ENOENT ? 127 : 126);
}

static void set_files(const struct timed_run *r)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (fd < 0 || dup2(r->output ? *r->output : fd, STDOUT_FILENO) < 0)
		leave("/dev/null", errno);
	if (r->quiet && dup2(fd, STDERR_FILENO) < 0)
		leave("/dev/null", errno);
	if (r->with_input)
		programs__set_input();
	else if (dup2(r->input ? *r->input : fd, STDIN_FILENO) < 0)
		leave("/dev/null", errno);
}

static void set_scheduling(const struct timed_run *r)
{
	const struct sched_param param = {0};

	if (r->on && sched_setaffinity(0, sizeof(*r->on), r->on))
		leave("cannot choose processors", errno);
	errno = 0;
	if (r->nice && nice(r->nice) == -1 && errno) {
		complain("nice %d: %s; a lower one needs root", r->nice, strerror(errno));
		_exit(126);
	}
	if (r->batch && sched_setscheduler(0, SCHED_BATCH, &param))
		leave("SCHED_BATCH", errno);
}

/* Variables come last: what is loaded by them is loaded into the command alone, which is its user's. */
static void become(const struct timed_run *r)
{
	int err;

	setpgid(0, 0);
	trial__unwatch();
	set_files(r);
	set_scheduling(r);
	err = programs__become(r->user);
	for (char *const *v = r->variables; !err && v && *v; v++)
		err = putenv(*v) ? -errno : 0;
	if (!err)
		execvp(r->command[0], r->command);
	leave(r->command[0], err ? -err : errno);
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

static uint64_t ns_of(struct timeval t)
{
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_usec * 1000;
}

/* Whoever has executed a program has had the memory of who forked it before. */
static uint64_t own_peak_kib(void)
{
	struct rusage own;

	return getrusage(RUSAGE_SELF, &own) ? 0 : (uint64_t)own.ru_maxrss;
}

static void await(pid_t pid, struct timed_result *result)
{
	struct rusage used = {0};
	int status;

	while (wait4(pid, &status, 0, &used) < 0)
		if (errno != EINTR)
			return;
	result->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	result->cpu_ns = ns_of(used.ru_utime) + ns_of(used.ru_stime);
	if ((uint64_t)used.ru_maxrss > own_peak_kib())
		result->peak_kib = (uint64_t)used.ru_maxrss;
}

enum timed_outcome timed_run__do(const struct timed_run *r, struct timed_result *result)
{
	uint64_t began = qz_clock__now();
	pid_t pid = fork();
	bool ended;
	int fd;

	*result = (struct timed_result) {.status = STATUS_FAILURE};
	if (!pid)
		become(r);
	fd = pid > 0 ? pidfd_open(pid, 0) : -1;
	if (fd < 0) {
		complain("cannot start %s: %s", r->command[0], strerror(errno));
		if (pid > 0) {
			kill(pid, SIGKILL);
			await(pid, result);
		}
		return TIMED_FAILED;
	}
	setpgid(pid, pid); /* whoever is first */
	ended = ends_by(fd, began + r->limit_ns);
	result->elapsed_ns = qz_clock__now() - began;
	if (!ended)
		end_group(pid, fd);
	await(pid, result);
	close(fd);
	if (trial__signal()) {
		result->status = 128 + trial__signal();
		return TIMED_INTERRUPTED;
	}
	if (!ended)
		return TIMED_TOO_LONG;
	return result->status ? TIMED_FAILED : TIMED_DONE;
}
