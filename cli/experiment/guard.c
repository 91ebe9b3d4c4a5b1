/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/experiment/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAME "quartz-guard"

/* Who kills all that are called quartzctl leaves this one. */
static void take_name(void)
{
	size_t room = strlen(program_invocation_name), n = sizeof(NAME) - 1;

	prctl(PR_SET_NAME, NAME);
	memset(program_invocation_name, 0, room);
	memcpy(program_invocation_name, NAME, n < room ? n : room);
}

static void watch(int fd, void (*undo)(void *), void *context)
{
	static const int others[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	char byte;
	ssize_t n;

	take_name();
	/* neither the terminal's nor the group's signals are for it */
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		signal(others[i], SIG_IGN);
	setsid();
	do
		n = read(fd, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (!n)
		undo(context);
	_exit(0);
}

int guard__start(struct guard *g, void (*undo)(void *context), void *context)
{
	int ends[2], err;

	*g = (struct guard) {0};
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	g->pid = fork();
	if (!g->pid) {
		close(ends[1]);
		watch(ends[0], undo, context);
	}
	err = g->pid < 0 ? -errno : 0;
	close(ends[0]);
	if (!err) {
		g->fd = ends[1];
		return 0;
	}
	close(ends[1]);
	g->pid = 0;
	return err;
}

void guard__end(struct guard *g)
{
	if (!g->pid)
		return;
	if (write(g->fd, "", 1) != 1)
		kill(g->pid, SIGKILL);
	close(g->fd);
	while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*g = (struct guard) {0};
}
