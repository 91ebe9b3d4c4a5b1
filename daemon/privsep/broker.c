// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/privsep/broker.h"
#include "daemon/util/log.h"
#include "daemon/privsep/fd_ipc.h"
#include "daemon/privsep/opener.h"
#include "daemon/privsep/opener_worker.h"
#include "daemon/privsep/capabilities.h"

#define MAX_CHILDREN 16
#define MAX_DOOMED   8 /* that were killed and have not ended: they sleep where no signal reaches */

struct child {
	int pidfd; /* 0: free */
	pid_t pid;
	bool doomed;
};

struct broker {
	int socket;
	const char *symbolizer;
	struct child children[MAX_CHILDREN];
};

/* ---- children ---- */

/* The kernel reaps them (SIGCHLD is ignored): only a pidfd says which process a number means, and whether it has ended. */
static void forget_ended(struct broker *b)
{
	for (struct child *c = b->children; c < b->children + MAX_CHILDREN; c++) {
		if (!c->pidfd || fd_ipc__await(c->pidfd, POLLIN, 0))
			continue;
		close(c->pidfd);
		*c = (struct child) {0};
	}
}

static int end(struct broker *b, pid_t pid)
{
	for (struct child *c = b->children; c < b->children + MAX_CHILDREN; c++) {
		if (!c->pidfd || c->pid != pid)
			continue;
		c->doomed = true;
		return pidfd_send_signal(c->pidfd, SIGKILL, NULL, 0) ? -errno : 0;
	}
	return -ESRCH;
}

/* ---- requests ---- */

static int start(struct broker *b, uint32_t job, int *given)
{
	struct child *free = NULL;
	int doomed = 0;
	pid_t pid;

	for (struct child *c = b->children; c < b->children + MAX_CHILDREN; c++) {
		doomed += c->doomed;
		free = c->pidfd ? free : c;
	}
	if (job < JOB_OPENER || job > JOB_SYMBOLIZER)
		return -EINVAL;
	if (!free || doomed >= MAX_DOOMED)
		return -EAGAIN;
	pid = broker__spawn(job, b->symbolizer, given);
	if (pid < 0)
		return pid;
	*free = (struct child) {.pid = pid, .pidfd = pidfd_open(pid, 0)};
	if (free->pidfd >= 0)
		return pid;
	free->pidfd = 0;
	close(*given); /* by which it ends */
	*given = -1;
	return -EAGAIN;
}

/* False when quartzd is gone. */
static bool serve(struct broker *b)
{
	int given[MESSAGE_FDS] = NO_FDS;
	struct broker_request request;
	ssize_t n = fd_ipc__receive(b->socket, &request, sizeof(request), NULL, FD_IPC_NEVER);
	int32_t result = -EINVAL;

	if (n != sizeof(request))
		return false;
	forget_ended(b);
	if (request.what == KEEPER_START)
		result = start(b, request.job, &given[0]);
	else if (request.what == KEEPER_KILL)
		result = end(b, request.pid);
	else if (request.what == KEEPER_EVENT)
		result = given[0] = sample_event__open(&request.event);
	n = fd_ipc__send(b->socket, &result, sizeof(result), given, FD_IPC_NEVER);
	fd_ipc__close(given);
	return !n;
}

/* ---- helpers ---- */

static void close_all_but(int fd)
{
	if (fd > 3)
		close_range(3, fd - 1, 0);
	close_range(fd + 1, ~0u, 0);
}

/*
 * The program has the socket as its descriptor 0, and nothing else of the caller's. What a terminal or a
 * service manager sends to all is quartzd's alone: the keeper ignores it, and so does the program.
 */
static void be_symbolizer(const char *program, int socket)
{
	char *argv[] = {(char *)"quartz-symbolizer", NULL};
	char *envp[] = {NULL};
	sigset_t none;

	signal(SIGPIPE, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (!dup2(socket, 0) && !close_range(3, ~0u, 0))
		execve(program, argv, envp);
}

static void be_keeper(int socket, const char *symbolizer, pid_t quartzd)
{
	struct broker b = {.socket = socket, .symbolizer = symbolizer};

	signal(SIGCHLD, SIG_IGN);
	if (!capabilities__become(JOB_KEEPER, quartzd))
		while (serve(&b))
			;
}

static void be(enum helper_job job, const char *symbolizer, int socket, pid_t parent)
{
	if (job == JOB_SYMBOLIZER) {
		be_symbolizer(symbolizer, socket);
		_exit(127);
	}
	close_all_but(socket);
	if (job == JOB_KEEPER)
		be_keeper(socket, symbolizer, parent);
	else if (!capabilities__become(job, parent))
		opener_worker__serve(socket, job == JOB_WAKER);
	_exit(1);
}

pid_t broker__spawn(enum helper_job job, const char *symbolizer, int *given)
{
	pid_t parent = getpid(), pid;
	int sockets[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return -errno;
	pid = fork();
	err = -errno;
	if (!pid)
		be(job, symbolizer, sockets[1], parent);
	close(sockets[1]);
	if (pid < 0) {
		close(sockets[0]);
		return err;
	}
	*given = sockets[0];
	return pid;
}

int broker__start(const char *symbolizer, int niceness)
{
	int socket;
	pid_t pid = broker__spawn(JOB_KEEPER, symbolizer, &socket);

	if (pid < 0)
		return pid;
	if (setpriority(PRIO_PROCESS, pid, getpriority(PRIO_PROCESS, 0) + niceness))
		log_debug("openers and symbolizers are as nice as others: %s", strerror(errno));
	opener__use(socket, pid);
	return 0;
}
