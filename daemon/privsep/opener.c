// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/util/clock.h"
#include "daemon/privsep/broker.h"
#include "daemon/util/log.h"
#include "daemon/privsep/fd_ipc.h"
#include "daemon/privsep/opener.h"
#include "daemon/privsep/procfs.h"

#define OPENERS	    2
#define PATIENCE_MS 2000
#define EXTENSIONS  4  /* for one that wants a processor and does not get it */
#define HASTE_MS    50 /* when many are late, each has less time */
#define KEEPER_MS   10000
#define SLICE_MS    50	/* of it, after which is looked whether quartzd is to end */
#define HURRIED_MS  250 /* of it, when it is */
#define FORGIVEN_S  60
#define END_MS	    1000 /* for a symbolizer that was killed */
#define MAX_LATE    64	 /* that are known by name */
#define CULPRIT	    80

struct opener {
	struct helper process;
	bool busy;
};

static struct {
	pthread_mutex_t lock, keeper_lock;
	pthread_cond_t idle;
	int keeper; /* 0: not used */
	pid_t keeper_pid;
	bool late; /* atomic, set with keeper_lock: an answer of the keeper has not come yet */
	uint32_t returns; /* atomic: how often it came then */
	bool hurry;	  /* atomic */
	struct opener openers[OPENERS + 1];
	char culprits[MAX_LATE][CULPRIT]; /* files and processes that were waited for in vain */
	uint32_t nculprits;		  /* so many there were */
	uint32_t recent;
	time_t last;
	struct opener_counts counts;
} all = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.keeper_lock = PTHREAD_MUTEX_INITIALIZER,
	.idle = PTHREAD_COND_INITIALIZER,
	.openers = {{{.job = JOB_OPENER}}, {{.job = JOB_OPENER}}, {{.job = JOB_WAKER}}},
};

void opener__use(int keeper, pid_t pid)
{
	all.keeper = keeper;
	all.keeper_pid = pid;
	all.late = false;
}

int opener__keeper(void)
{
	return all.keeper ?: -1;
}

int opener__patience(uint32_t late)
{
	int ms = late < 16 ? PATIENCE_MS >> late : 0;

	return ms > HASTE_MS ? ms : HASTE_MS;
}

/* ---- the keeper ---- */

/* A signal that asks to end may wait for the thread that waits here. */
static bool is_hurried(void)
{
	sigset_t pending;

	if (__atomic_load_n(&all.hurry, __ATOMIC_RELAXED))
		return true;
	sigemptyset(&pending);
	return !sigpending(&pending) &&
	       (sigismember(&pending, SIGTERM) || sigismember(&pending, SIGINT));
}

/* On a busy machine a process may wait for a processor, and not for a file. */
static bool is_in(pid_t pid, const char *states)
{
	int dir = procfs__open(pid, 0);
	char state[32] = "";

	if (dir < 0)
		return false;
	procfs__status(dir, "State", state, sizeof(state));
	close(dir);
	return state[0] && strchr(states, state[0]);
}

/* When it is hurried, one that neither works nor waits for a processor, or for a child to begin, is stopped. */
static ssize_t await_keeper(int32_t *result, int *given)
{
	int fds[MESSAGE_FDS] = NO_FDS;
	ssize_t n = -ETIME;

	for (int ms = 0; n == -ETIME && ms < KEEPER_MS; ms += SLICE_MS) {
		if (ms >= HURRIED_MS && is_hurried() && !is_in(all.keeper_pid, "RD"))
			break;
		n = fd_ipc__receive(all.keeper, result, sizeof(*result), fds,
				    qz_clock__now_ms() + SLICE_MS);
	}
	*given = fds[0];
	return n;
}

static void set_late(bool late)
{
	if (late == all.late)
		return;
	__atomic_store_n(&all.late, late, __ATOMIC_RELAXED);
	if (!late)
		__atomic_fetch_add(&all.returns, 1, __ATOMIC_RELAXED);
	if (is_hurried())
		return; /* it may only be slow */
	if (late)
		log_warning(
			"the process quartzd-keeper does not answer, as if it were stopped; until "
			"it does, nothing new gets a name");
	else
		log_info("the process quartzd-keeper answers again");
}

/* Takes the answer that came too late. What was started for it loses its socket, and ends by that. */
static bool settle_keeper(void)
{
	int fds[MESSAGE_FDS];
	int32_t result;

	if (!all.late)
		return true;
	if (fd_ipc__receive(all.keeper, &result, sizeof(result), fds, 0) == -ETIME)
		return false;
	fd_ipc__close(fds);
	set_late(false);
	return true;
}

static ssize_t exchange_with_keeper(const struct broker_request *request, int32_t *result,
				    int *given)
{
	ssize_t n = -EAGAIN;

	if (settle_keeper())
		n = fd_ipc__send(all.keeper, request, sizeof(*request), NULL, 0);
	if (n)
		return n;
	n = await_keeper(result, given);
	if (n != -ETIME)
		return n;
	set_late(true);
	return -EAGAIN;
}

static int ask_keeper(struct broker_request request, int *given)
{
	int32_t result = -EPIPE;
	ssize_t n;

	pthread_mutex_lock(&all.keeper_lock);
	n = exchange_with_keeper(&request, &result, given);
	pthread_mutex_unlock(&all.keeper_lock);
	if (n != sizeof(result))
		return n < 0 ? (int)n : -EBADMSG;
	return result;
}

void opener__hurry(bool hurry)
{
	__atomic_store_n(&all.hurry, hurry, __ATOMIC_RELAXED);
}

/* Checks whether the keeper still is late, unless a thread waits for it just now. */
static void check_keeper(void)
{
	if (!__atomic_load_n(&all.late, __ATOMIC_RELAXED) ||
	    pthread_mutex_trylock(&all.keeper_lock))
		return;
	settle_keeper();
	pthread_mutex_unlock(&all.keeper_lock);
}

bool opener__came_back(uint32_t *known)
{
	uint32_t returns;

	check_keeper();
	returns = __atomic_load_n(&all.returns, __ATOMIC_RELAXED);
	if (returns == *known)
		return false;
	*known = returns;
	return true;
}

struct opener_counts opener__counts(void)
{
	struct opener_counts counts;

	check_keeper();
	pthread_mutex_lock(&all.lock);
	counts = all.counts;
	pthread_mutex_unlock(&all.lock);
	counts.keeper_late = __atomic_load_n(&all.late, __ATOMIC_RELAXED);
	return counts;
}

/* ---- what it starts ---- */

int opener__start(struct helper *h, enum helper_job job, const char *symbolizer)
{
	struct broker_request request = {.what = KEEPER_START, .job = job};
	pid_t pid = all.keeper ? ask_keeper(request, &h->socket)
			       : broker__spawn(job, symbolizer, &h->socket);

	h->pid = pid > 0 ? pid : 0;
	h->job = job;
	return pid < 0 ? pid : 0;
}

uint64_t opener__cpu_of(struct helper *h)
{
	clockid_t clock;
	uint64_t now = h->ended_ns;

	if (h->pid && !clock_getcpuclockid(h->pid, &clock))
		now += qz_clock__read(clock);
	if (now > h->cpu_ns)
		h->cpu_ns = now;
	return h->cpu_ns;
}

/* An opener that sleeps on a dead file system does not even die at once; it is abandoned then. */
void opener__end(struct helper *h)
{
	struct broker_request request = {.what = KEEPER_KILL, .pid = h->pid};
	int none;

	if (!h->pid)
		return;
	h->ended_ns = opener__cpu_of(h);
	shutdown(h->socket, SHUT_WR); /* one that does not hang ends by that */
	if (!all.keeper)
		kill(h->pid, SIGKILL), waitpid(h->pid, NULL, 0);
	else if (!ask_keeper(request, &none) && h->job == JOB_SYMBOLIZER)
		fd_ipc__await(h->socket, POLLHUP, qz_clock__now_ms() + END_MS);
	close(h->socket);
	h->pid = 0;
}

int opener__sample_event(const struct sample_event *event)
{
	int fd, err = -EACCES;

	if (all.keeper)
		err = ask_keeper((struct broker_request) {.what = KEEPER_EVENT, .event = *event},
				 &fd);
	return err < 0 ? err : fd;
}

/* ---- culprits ---- */

/* "" where no process or file is to blame. */
static void name_culprit(const struct opener_request *r, int fd, char name[CULPRIT])
{
	uint64_t pid, start, inode = r->inode;
	uint32_t major = r->major, minor = r->minor;
	struct statx st;

	name[0] = '\0';
	if (r->what == OPENER_REOPEN || r->what == OPENER_COMPANION) {
		if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, &st))
			return;
		inode = st.stx_ino;
		major = st.stx_dev_major;
		minor = st.stx_dev_minor;
	} else if (r->what != OPENER_FILE) {
		if (procfs__identity(fd, &pid, &start))
			snprintf(name, CULPRIT, "process %" PRIu64 "(%" PRIu64 ")", pid, start);
		return;
	}
	snprintf(name, CULPRIT, "file %" PRIu64 " of device %u:%u", inode, major, minor);
}

static bool is_culprit(const struct opener_request *r, int fd)
{
	char name[CULPRIT];
	bool found = false;

	if (!__atomic_load_n(&all.nculprits, __ATOMIC_RELAXED))
		return false;
	name_culprit(r, fd, name);
	pthread_mutex_lock(&all.lock);
	for (uint32_t i = 0; i < MAX_LATE && name[0] && !found; i++)
		found = !strcmp(all.culprits[i], name);
	pthread_mutex_unlock(&all.lock);
	return found;
}

static time_t seconds(void)
{
	return (time_t)(qz_clock__read(CLOCK_MONOTONIC_COARSE) / 1000000000);
}

static void accuse(const struct opener_request *r, int fd)
{
	char name[CULPRIT];

	name_culprit(r, fd, name);
	pthread_mutex_lock(&all.lock);
	all.counts.late++;
	all.recent++;
	all.last = seconds();
	if (name[0])
		strcpy(all.culprits[all.nculprits++ % MAX_LATE], name);
	pthread_mutex_unlock(&all.lock);
	if (name[0]) /* without when it started, which tells it from others of that number */
		log_warning("%.*s: the kernel took too long to open it, so its code gets no names "
			    "from now on",
			    (int)strcspn(name, "("), name);
}

static int patience(void)
{
	if (all.recent && seconds() - all.last > FORGIVEN_S)
		all.recent = 0;
	return opener__patience(all.recent);
}

/* ---- openers ---- */

uint64_t opener__cpu_ns(void)
{
	uint64_t ns = 0;

	pthread_mutex_lock(&all.lock);
	for (int i = 0; i <= OPENERS; i++)
		ns += all.openers[i].busy ? all.openers[i].process.cpu_ns
					  : opener__cpu_of(&all.openers[i].process);
	pthread_mutex_unlock(&all.lock);
	return ns;
}

static struct opener *find_idle(enum helper_job job)
{
	for (int i = 0; i <= OPENERS; i++)
		if (!all.openers[i].busy && all.openers[i].process.job == job)
			return &all.openers[i];
	return NULL;
}

/* *ms: how long it may take. */
static struct opener *take(enum helper_job job, int *ms)
{
	struct opener *o;

	pthread_mutex_lock(&all.lock);
	while (!(o = find_idle(job)))
		pthread_cond_wait(&all.idle, &all.lock);
	o->busy = true;
	*ms = patience();
	pthread_mutex_unlock(&all.lock);
	return o;
}

static void put(struct opener *o)
{
	pthread_mutex_lock(&all.lock);
	o->busy = false;
	pthread_cond_broadcast(&all.idle);
	pthread_mutex_unlock(&all.lock);
}

static ssize_t await_reply(const struct helper *h, struct opener_reply *reply, int fds[MESSAGE_FDS],
			   int ms)
{
	ssize_t n = fd_ipc__receive(h->socket, reply, sizeof(*reply), fds, qz_clock__now_ms() + ms);

	for (int i = 0; i < EXTENSIONS && n == -ETIME && is_in(h->pid, "R"); i++)
		n = fd_ipc__receive(h->socket, reply, sizeof(*reply), fds,
				    qz_clock__now_ms() + PATIENCE_MS);
	return n;
}

static int exchange_once(struct opener *o, const struct opener_request *r, int fd,
			 struct opener_reply *reply, int *given, int ms)
{
	int fds[MESSAGE_FDS] = {fd, -1};
	ssize_t n = o->process.pid ? 0 : opener__start(&o->process, o->process.job, NULL);

	if (n)
		return (int)n;
	if (fd_ipc__send(o->process.socket, r, sizeof(*r), fds, 0))
		return -EPIPE;
	n = await_reply(&o->process, reply, fds, ms);
	*given = fds[0];
	if (n < 0)
		return (int)n;
	n -= offsetof(struct opener_reply, bytes);
	return n == (reply->result > 0 ? reply->result : 0) ? 0 : -EPIPE;
}

/* An opener that another process killed is replaced, once. */
static int exchange(struct opener *o, const struct opener_request *r, int fd,
		    struct opener_reply *reply, int *given, int ms)
{
	int err = -EPIPE;

	for (int i = 0; i < 2 && err == -EPIPE; i++) {
		err = exchange_once(o, r, fd, reply, given, ms);
		if (err != -EPIPE || !o->process.pid)
			continue;
		log_warning("process %d, which opened files of others for quartzd, has ended; "
			    "another one takes its place",
			    o->process.pid);
		pthread_mutex_lock(&all.lock);
		all.counts.ended++;
		pthread_mutex_unlock(&all.lock);
		opener__end(&o->process);
	}
	if (err)
		opener__end(&o->process);
	return err;
}

/* Returns the result, and the descriptor if that is wanted. */
static int ask(const struct opener_request *r, int fd, struct opener_reply *reply, int *given)
{
	struct opener *o;
	int ms, err, got = -1;

	if (!all.keeper) {
		opener_worker__do(r, fd, reply, &got);
		err = 0;
	} else if (is_culprit(r, fd)) {
		return -ETIME;
	} else {
		o = take(r->what == OPENER_WAKE ? JOB_WAKER : JOB_OPENER, &ms);
		err = exchange(o, r, fd, reply, &got, ms);
		put(o);
		if (err == -ETIME)
			accuse(r, fd);
	}
	err = err ?: reply->result;
	if (given && err >= 0 && got >= 0) {
		*given = got;
		return err;
	}
	if (got >= 0)
		close(got);
	return given && err >= 0 ? -EBADMSG : err;
}

int opener__file(int fd, struct opener_request request)
{
	struct opener_reply *reply = malloc(sizeof(*reply));
	int given, err = reply ? ask(&request, fd, reply, &given) : -ENOMEM;

	free(reply);
	return err < 0 ? err : given;
}

static ssize_t ask_for_bytes(int fd, struct opener_request r, void *to, size_t size)
{
	struct opener_reply *reply = malloc(sizeof(*reply));
	int n = reply ? ask(&r, fd, reply, NULL) : -ENOMEM;

	if (n > 0) {
		n = (size_t)n < size ? n : (int)size;
		memcpy(to, reply->bytes, n);
	}
	free(reply);
	return n;
}

int opener__maps(int dir)
{
	int fd;

	if (all.keeper)
		return opener__file(dir, (struct opener_request) {.what = OPENER_MAPS});
	/* who has the right needs no copy, and a waker could not write one */
	fd = openat(dir, "maps", O_RDONLY | O_CLOEXEC);
	return fd >= 0 ? fd : errno == ENOENT ? -ESRCH : -errno;
}

ssize_t opener__memory(int dir, uint64_t start, void *to, size_t size)
{
	struct opener_request r = {.what = OPENER_MEMORY, .start = start, .size = size};

	return ask_for_bytes(dir, r, to, size);
}

ssize_t opener__text(int dir, enum opener_what what, int number, char *to, size_t size)
{
	struct opener_request r = {.what = what, .number = number};
	ssize_t n = ask_for_bytes(dir, r, to, size - 1);

	to[n > 0 ? n : 0] = '\0';
	return n;
}

int opener__wake(int dir)
{
	return (int)ask_for_bytes(dir, (struct opener_request) {.what = OPENER_WAKE}, NULL, 0);
}
