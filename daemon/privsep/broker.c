// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
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
	pid_t pid; /* 0: free */
	bool doomed;
};

struct broker {
	int socket, signals;
	const char *symbolizer;
	struct child children[MAX_CHILDREN];
};

/* ---- children ---- */

static struct child *find(struct broker *k, pid_t pid)
{
	for (int i = 0; i < MAX_CHILDREN; i++)
		if (k->children[i].pid == pid)
			return &k->children[i];
	return NULL;
}

static int doomed(const struct broker *k)
{
	int n = 0;

	for (int i = 0; i < MAX_CHILDREN; i++)
		n += k->children[i].doomed;
	return n;
}

static void reap(struct broker *k)
{
	struct signalfd_siginfo info;
	struct child *c;
	pid_t pid;

	while (read(k->signals, &info, sizeof(info)) > 0)
		;
	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
		c = find(k, pid);
		if (c)
			*c = (struct child) {0};
	}
}

static int end(struct broker *k, pid_t pid)
{
	struct child *c = pid > 0 ? find(k, pid) : NULL;

	if (!c)
		return -ESRCH;
	c->doomed = true;
	return kill(pid, SIGKILL) ? -errno : 0;
}

/* ---- requests ---- */

static int start(struct broker *k, uint32_t job, int given[MESSAGE_FDS])
{
	struct child *c = find(k, 0);
	pid_t pid;

	if (job < JOB_OPENER || job > JOB_SYMBOLIZER)
		return -EINVAL;
	if (!c || doomed(k) >= MAX_DOOMED)
		return -EAGAIN;
	pid = broker__spawn(job, k->symbolizer, given);
	if (pid > 0)
		*c = (struct child) {.pid = pid};
	return pid;
}

/* False when quartzd is gone. */
static bool serve(struct broker *k)
{
	int fds[MESSAGE_FDS], given[MESSAGE_FDS] = {-1, -1};
	struct broker_request request;
	ssize_t n = fd_ipc__receive(k->socket, &request, sizeof(request), fds, FD_IPC_NEVER);
	int32_t result = -EINVAL;

	if (n != sizeof(request))
		return false;
	if (request.what == KEEPER_START)
		result = start(k, request.job, given);
	else if (request.what == KEEPER_KILL)
		result = end(k, request.pid);
	else if (request.what == KEEPER_EVENT)
		result = given[0] = sample_event__open(&request.event);
	n = fd_ipc__send(k->socket, &result, sizeof(result), given, FD_IPC_NEVER);
	fd_ipc__close(given);
	fd_ipc__close(fds);
	return !n;
}

static void run(struct broker *k)
{
	struct pollfd fds[2] = {{.fd = k->socket, .events = POLLIN},
				{.fd = k->signals, .events = POLLIN}};

	for (;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return;
		if (fds[1].revents)
			reap(k);
		if (fds[0].revents && !serve(k))
			return;
	}
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
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (!dup2(socket, 0) && !close_range(3, ~0u, 0))
		execve(program, argv, envp);
}

static void be_keeper(int socket, const char *symbolizer, pid_t quartzd)
{
	struct broker k = {.socket = socket, .symbolizer = symbolizer};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	k.signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (k.signals >= 0 && !capabilities__become(JOB_KEEPER, quartzd))
		run(&k);
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

pid_t broker__spawn(enum helper_job job, const char *symbolizer, int given[MESSAGE_FDS])
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
	given[0] = sockets[0];
	given[1] = job == JOB_SYMBOLIZER ? pidfd_open(pid, 0) : -1;
	return pid;
}

int broker__start(const char *symbolizer, int niceness)
{
	int given[MESSAGE_FDS];
	pid_t pid = broker__spawn(JOB_KEEPER, symbolizer, given);

	if (pid < 0)
		return pid;
	if (setpriority(PRIO_PROCESS, pid, getpriority(PRIO_PROCESS, 0) + niceness))
		log_debug("openers and symbolizers are as nice as others: %s", strerror(errno));
	opener__use(given[0], pid);
	return 0;
}
