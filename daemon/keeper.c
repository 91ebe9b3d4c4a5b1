// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/filter.h"
#include "daemon/keeper.h"
#include "daemon/log.h"
#include "daemon/messages.h"
#include "daemon/opener.h"
#include "daemon/opener_work.h"
#include "daemon/privileges.h"
#include "daemon/symbolizer_child.h"

#define MAX_CHILDREN 16
#define MAX_DOOMED   8 /* that were killed and have not ended: they sleep where no signal reaches */

struct child {
	pid_t pid; /* 0: free */
	bool doomed;
};

struct keeper {
	int socket, signals;
	const char *symbolizer;
	struct child children[MAX_CHILDREN];
};

/* ---- children ---- */

static struct child *find(struct keeper *k, pid_t pid)
{
	for (int i = 0; i < MAX_CHILDREN; i++)
		if (k->children[i].pid == pid)
			return &k->children[i];
	return NULL;
}

static int doomed(const struct keeper *k)
{
	int n = 0;

	for (int i = 0; i < MAX_CHILDREN; i++)
		n += k->children[i].doomed;
	return n;
}

static void reap(struct keeper *k)
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

static int end(struct keeper *k, pid_t pid)
{
	struct child *c = pid > 0 ? find(k, pid) : NULL;

	if (!c)
		return -ESRCH;
	c->doomed = true;
	return kill(pid, SIGKILL) ? -errno : 0;
}

/* ---- openers ---- */

static void close_all_but(int fd)
{
	if (fd > 3)
		close_range(3, fd - 1, 0);
	close_range(fd + 1, ~0u, 0);
}

/* Neither the terminal's signals nor the service manager's are for it: it ends with quartzd. */
static int become(const char *name, pid_t parent, const cap_value_t *caps, int n)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	prctl(PR_SET_NAME, name);
	if (privileges__keep(caps, n) || prctl(PR_SET_PDEATHSIG, SIGKILL))
		return -errno;
	return getppid() == parent ? 0 : -ESRCH;
}

static void be_opener(int socket, pid_t keeper)
{
	close_all_but(socket);
	if (become("quartzd-opener", keeper, privileges_opener, privileges_opener_n) ||
	    filter__opener())
		_exit(1);
	opener_work__serve(socket);
	_exit(0);
}

static pid_t start_opener(struct keeper *k, const int sockets[2])
{
	pid_t keeper = getpid(), pid = fork();

	if (!pid)
		be_opener(sockets[1], keeper);
	return pid < 0 ? -errno : pid;
}

/* ---- requests ---- */

static int start(struct keeper *k, uint32_t what, int given[MESSAGE_FDS])
{
	struct child *c = find(k, 0);
	int sockets[2];
	pid_t pid;

	if (!c || doomed(k) >= MAX_DOOMED)
		return -EAGAIN;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return -errno;
	pid = what == KEEPER_OPENER ? start_opener(k, sockets)
				    : symbolizer_child__spawn(k->symbolizer, sockets[1]);
	close(sockets[1]);
	if (pid < 0) {
		close(sockets[0]);
		return pid;
	}
	*c = (struct child) {.pid = pid};
	given[0] = sockets[0];
	given[1] = what == KEEPER_OPENER ? -1 : pidfd_open(pid, 0);
	return pid;
}

static int open_event(const struct sample_event *event, int given[MESSAGE_FDS])
{
	int fd = sample_event__open(event);

	if (fd < 0)
		return fd;
	given[0] = fd;
	return 0;
}

/* False when quartzd is gone. */
static bool serve(struct keeper *k)
{
	int fds[MESSAGE_FDS], given[MESSAGE_FDS] = {-1, -1};
	struct keeper_request request;
	ssize_t n = message__receive(k->socket, &request, sizeof(request), fds, -1);
	int32_t result = -EINVAL;

	if (n != sizeof(request))
		return false;
	if (request.what == KEEPER_KILL)
		result = end(k, request.pid);
	else if (request.what == KEEPER_OPENER || request.what == KEEPER_SYMBOLIZER)
		result = start(k, request.what, given);
	else if (request.what == KEEPER_EVENT)
		result = open_event(&request.event, given);
	n = message__send(k->socket, &result, sizeof(result), given);
	for (int i = 0; i < MESSAGE_FDS; i++) {
		if (given[i] >= 0)
			close(given[i]);
		if (fds[i] >= 0)
			close(fds[i]);
	}
	return !n;
}

static void run(struct keeper *k)
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

/* The last right is for perf events alone. */
static int rights(void)
{
	return privileges_keeper_n - !sample_event__wants_admin();
}

static void be_keeper(int socket, const char *symbolizer, int niceness, pid_t quartzd)
{
	struct keeper k = {.socket = socket, .symbolizer = symbolizer};
	sigset_t set;

	close_all_but(socket);
	errno = 0;
	if (nice(niceness) == -1 && errno)
		log_debug("openers and symbolizers are as nice as others: %s", strerror(errno));
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	k.signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (k.signals < 0 || become("quartzd-keeper", quartzd, privileges_keeper, rights()) ||
	    filter__keeper())
		_exit(1);
	run(&k);
	_exit(0);
}

int keeper__start(const char *symbolizer, int niceness)
{
	pid_t quartzd = getpid(), pid;
	int sockets[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return -errno;
	pid = fork();
	if (!pid)
		be_keeper(sockets[1], symbolizer, niceness, quartzd);
	close(sockets[1]);
	if (pid < 0) {
		close(sockets[0]);
		return -errno;
	}
	opener__use(sockets[0]);
	return 0;
}
