// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/util/search_path.h"
#include "daemon/session/command.h"
#include "daemon/privsep/procfs.h"
#include "daemon/util/limits.h"

#define SLEEP_TRIES 100000 /* of 100 us */

/*
 * Changes to the user and sets the environment of a login, except PATH. Until the exec, the process still has a copy of
 * quartzd's memory. The user cannot trace it, because a change of the user makes a process undumpable.
 */
static int become(const struct user *user)
{
	int err = user ? user__become(user) : 0;

	if (!user || err)
		return err;
	if (setenv("HOME", user->home, 1) || setenv("USER", user->name, 1) ||
	    setenv("LOGNAME", user->name, 1) || (*user->shell && setenv("SHELL", user->shell, 1)))
		return -ENOMEM;
	return 0;
}

/* Failed writes say so by their errors. Of those that are started, each is as quartzd found it. */
static struct ignored {
	int signal;
	void (*before)(int);
} ignored[] = {{.signal = SIGPIPE}, {.signal = SIGXFSZ}};

#define NIGNORED (sizeof(ignored) / sizeof(ignored[0]))

void command__ignore_signals(void)
{
	static bool done;

	for (size_t i = 0; i < NIGNORED && !done; i++)
		ignored[i].before = signal(ignored[i].signal, SIG_IGN);
	done = true;
}

static void run_child(char *const argv[], const cpu_set_t *allowed, const struct user *user, int go,
		      int failed)
{
	sigset_t none;
	char byte;
	int err;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (size_t i = 0; i < NIGNORED; i++)
		signal(ignored[i].signal, ignored[i].before);
	limits__restore();
	sched_setaffinity(0, sizeof(*allowed), allowed);
	byte = (char)-become(user);
	if (write(failed, &byte, 1) != 1 || byte || read(go, &byte, 1) != 1)
		_exit(127);
	close(go);
	execvp(argv[0], argv);
	err = errno;
	if (write(failed, &err, sizeof(err)) != sizeof(err))
		_exit(126);
	_exit(127);
}

/* Until the child waits to be let go: what it does before that is not the command's. */
static int await_sleep(pid_t pid)
{
	int dir = procfs__open(pid, 0);
	char state[32] = "";

	if (dir < 0)
		return dir;
	for (int i = 0; i < SLEEP_TRIES && state[0] != 'S'; i++) {
		if (procfs__status(dir, "State", state, sizeof(state)))
			break;
		usleep(100);
	}
	close(dir);
	return state[0] == 'S' ? 0 : -ECHILD;
}

int command__prepare(struct command *c, char *const argv[], const cpu_set_t *allowed,
		     const struct user *user)
{
	int go[2], failed[2];
	char byte;

	if (pipe2(go, O_CLOEXEC))
		return -errno;
	if (pipe2(failed, O_CLOEXEC)) {
		close(go[0]);
		close(go[1]);
		return -errno;
	}
	c->pid = fork();
	if (!c->pid) {
		close(go[1]);
		close(failed[0]);
		run_child(argv, allowed, user, go[0], failed[1]);
	}
	close(go[0]);
	close(failed[1]);
	c->go = go[1];
	c->failed = failed[0];
	if (c->pid < 0)
		return -errno;
	c->pidfd = syscall(SYS_pidfd_open, c->pid, 0);
	if (c->pidfd < 0)
		return -errno;
	if (read(c->failed, &byte, 1) != 1)
		return -ECHILD;
	return byte ? -byte : await_sleep(c->pid);
}

int command__open(char *const argv[], char *path)
{
	return qz_search_path__find(argv[0], path) ? open(path, O_PATH | O_CLOEXEC) : -1;
}

int command__start(struct command *c)
{
	int err = 0;

	if (write(c->go, "", 1) != 1)
		return -errno;
	c->started = true;
	if (read(c->failed, &err, sizeof(err)) != sizeof(err))
		return 0;
	waitpid(c->pid, &c->status, 0);
	c->ended = c->waited = true;
	return -err;
}

bool command__ended(struct command *c)
{
	siginfo_t end = {0};

	if (!c->ended && !waitid(P_PID, (id_t)c->pid, &end, WEXITED | WNOHANG | WNOWAIT))
		c->ended = end.si_pid == c->pid;
	return c->ended;
}

int command__exit_status(struct command *c)
{
	if (c->ended && !c->waited && waitpid(c->pid, &c->status, WNOHANG) == c->pid)
		c->waited = true;
	return WIFSIGNALED(c->status) ? 128 + WTERMSIG(c->status) : WEXITSTATUS(c->status);
}

void command__free(struct command *c)
{
	if (c->pid <= 0)
		return;
	close(c->go);
	close(c->failed);
	if (!c->started) {
		kill(c->pid, SIGKILL);
		waitpid(c->pid, &c->status, 0);
	}
	if (c->pidfd > 0)
		close(c->pidfd);
	c->pid = 0;
}
