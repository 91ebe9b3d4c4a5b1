// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "daemon/keeper.h"
#include "daemon/log.h"
#include "daemon/messages.h"
#include "daemon/opener.h"
#include "daemon/proc.h"

#define OPENERS	    2
#define PATIENCE_MS 2000
#define EXTENSIONS  4  /* for one that wants a processor and does not get it */
#define HASTE_MS    50 /* when many are late, each has less time */
#define KEEPER_MS   10000
#define FORGIVEN_S  60
#define MAX_LATE    64 /* that are known by name */

/* A process (pid, start) or a file (device, inode) that somebody has waited for in vain. */
struct culprit {
	uint64_t a, b;
	bool file;
};

struct opener {
	int socket; /* -1: none is there */
	pid_t pid;
	bool busy;
	uint64_t cpu_ns; /* of those that were there before, and of it at the last look */
	uint64_t before;
};

static struct {
	pthread_mutex_t lock, keeper_lock;
	pthread_cond_t idle;
	int keeper; /* 0: not used */
	struct opener openers[OPENERS];
	struct culprit culprits[MAX_LATE];
	uint32_t nculprits, next;
	uint32_t recent;
	time_t last;
	struct opener_counts counts;
} all = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.keeper_lock = PTHREAD_MUTEX_INITIALIZER,
	.idle = PTHREAD_COND_INITIALIZER,
	.openers = {{.socket = -1}, {.socket = -1}},
};

void opener__use(int keeper)
{
	all.keeper = keeper;
}

int opener__keeper(void)
{
	return all.keeper ?: -1;
}

struct opener_counts opener__counts(void)
{
	struct opener_counts counts;

	pthread_mutex_lock(&all.lock);
	counts = all.counts;
	pthread_mutex_unlock(&all.lock);
	return counts;
}

static void look_at_clock(struct opener *o)
{
	struct timespec t = {0};
	clockid_t clock;
	uint64_t now;

	if (o->socket >= 0 && !clock_getcpuclockid(o->pid, &clock))
		clock_gettime(clock, &t);
	now = o->before + (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	if (now > o->cpu_ns)
		o->cpu_ns = now;
}

uint64_t opener__cpu_ns(void)
{
	uint64_t ns = 0;

	pthread_mutex_lock(&all.lock);
	for (int i = 0; i < OPENERS; i++) {
		if (!all.openers[i].busy)
			look_at_clock(&all.openers[i]);
		ns += all.openers[i].cpu_ns;
	}
	pthread_mutex_unlock(&all.lock);
	return ns;
}

/* ---- the keeper ---- */

static int ask_keeper(struct keeper_request request, int fds[MESSAGE_FDS])
{
	const int none[MESSAGE_FDS] = {-1, -1};
	int32_t result = -EPIPE;
	ssize_t n;

	pthread_mutex_lock(&all.keeper_lock);
	n = message__send(all.keeper, &request, sizeof(request), none);
	if (!n)
		n = message__receive(all.keeper, &result, sizeof(result), fds, KEEPER_MS);
	pthread_mutex_unlock(&all.keeper_lock);
	if (n != sizeof(result))
		return n < 0 ? (int)n : -EBADMSG;
	return result;
}

pid_t opener__start_symbolizer(int *socket, int *pidfd)
{
	int fds[MESSAGE_FDS];
	pid_t pid;

	if (!all.keeper)
		return -ENOSYS;
	pid = ask_keeper((struct keeper_request) {.what = KEEPER_SYMBOLIZER}, fds);
	if (pid < 0)
		return pid;
	*socket = fds[0];
	*pidfd = fds[1];
	return pid;
}

void opener__kill(pid_t pid)
{
	int fds[MESSAGE_FDS];

	ask_keeper((struct keeper_request) {.what = KEEPER_KILL, .pid = pid}, fds);
}

int opener__sample_event(const struct sample_event *event)
{
	int fds[MESSAGE_FDS], err;

	if (!all.keeper)
		return -EACCES;
	err = ask_keeper((struct keeper_request) {.what = KEEPER_EVENT, .event = *event}, fds);
	if (err < 0)
		return err;
	return fds[0] < 0 ? -EMFILE : fds[0]; /* it came, and there was no room for it */
}

/* ---- culprits ---- */

/* False: what is asked for is nobody's in particular. */
static bool name_culprit(const struct opener_request *r, int fd, struct culprit *c)
{
	char stat[1024], *p = NULL;
	struct statx st;

	*c = (struct culprit) {.file = r->what == OPENER_FILE || r->what == OPENER_REOPEN};
	if (r->what == OPENER_FILE) {
		c->a = makedev(r->major, r->minor);
		c->b = r->inode;
		return true;
	}
	if (r->what == OPENER_REOPEN) {
		if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, &st))
			return false;
		c->a = makedev(st.stx_dev_major, st.stx_dev_minor);
		c->b = st.stx_ino;
		return true;
	}
	if (proc__read(fd, "stat", stat, sizeof(stat)) > 0)
		p = strrchr(stat, ')');
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	if (!p)
		return false;
	c->a = strtoull(stat, NULL, 10);
	c->b = strtoull(p, NULL, 10);
	return true;
}

static bool is_culprit(const struct opener_request *r, int fd)
{
	struct culprit c;
	bool found = false;

	if (!__atomic_load_n(&all.nculprits, __ATOMIC_RELAXED) || !name_culprit(r, fd, &c))
		return false;
	pthread_mutex_lock(&all.lock);
	for (uint32_t i = 0; i < all.nculprits && !found; i++)
		found = all.culprits[i].a == c.a && all.culprits[i].b == c.b &&
			all.culprits[i].file == c.file;
	pthread_mutex_unlock(&all.lock);
	return found;
}

static time_t seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return ts.tv_sec;
}

static void accuse(const struct opener_request *r, int fd)
{
	struct culprit c;
	bool named = name_culprit(r, fd, &c);

	pthread_mutex_lock(&all.lock);
	all.counts.late++;
	all.recent++;
	all.last = seconds();
	if (named) {
		all.culprits[all.next++ % MAX_LATE] = c;
		if (all.nculprits < MAX_LATE)
			__atomic_store_n(&all.nculprits, all.nculprits + 1, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&all.lock);
	if (named && c.file)
		log_warning("file %llu of device %u:%u: to open it takes more than the time there "
			    "is; it stays without names",
			    (unsigned long long)c.b, major(c.a), minor(c.a));
	else if (named)
		log_warning("process %llu: to look at it takes more than the time there is; it is "
			    "left alone",
			    (unsigned long long)c.a);
}

static int patience(void)
{
	uint32_t recent = all.recent;

	if (recent && seconds() - all.last > FORGIVEN_S)
		recent = all.recent = 0;
	return PATIENCE_MS >> recent > HASTE_MS && recent < 8 ? PATIENCE_MS >> recent : HASTE_MS;
}

/* ---- openers ---- */

static struct opener *find_idle(void)
{
	for (int i = 0; i < OPENERS; i++)
		if (!all.openers[i].busy)
			return &all.openers[i];
	return NULL;
}

/* *ms: how long it may take. */
static struct opener *take(int *ms)
{
	struct opener *o;

	pthread_mutex_lock(&all.lock);
	while (!(o = find_idle()))
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
	pthread_cond_signal(&all.idle);
	pthread_mutex_unlock(&all.lock);
}

static int ensure(struct opener *o)
{
	int fds[MESSAGE_FDS], pid;

	if (o->socket >= 0)
		return 0;
	pid = ask_keeper((struct keeper_request) {.what = KEEPER_OPENER}, fds);
	if (pid < 0)
		return pid;
	o->pid = pid;
	o->socket = fds[0];
	return 0;
}

static void end(struct opener *o)
{
	look_at_clock(o);
	o->before = o->cpu_ns;
	opener__kill(o->pid);
	close(o->socket);
	o->socket = -1;
}

/* On a busy machine it may be the processor that it waits for, and nobody's file. */
static bool is_running(const struct opener *o)
{
	int dir = proc__open(o->pid, 0);
	char state[32] = "";

	if (dir < 0)
		return false;
	proc__status(dir, "State", state, sizeof(state));
	close(dir);
	return state[0] == 'R';
}

static ssize_t await_reply(const struct opener *o, struct opener_reply *reply, int fds[MESSAGE_FDS],
			   int ms)
{
	ssize_t n = message__receive(o->socket, reply, sizeof(*reply), fds, ms);

	for (int i = 0; i < EXTENSIONS && n == -ETIME && is_running(o); i++)
		n = message__receive(o->socket, reply, sizeof(*reply), fds, PATIENCE_MS);
	return n;
}

static int exchange_once(struct opener *o, const struct opener_request *r, int fd,
			 struct opener_reply *reply, int *given, int ms)
{
	int fds[MESSAGE_FDS] = {fd, -1};
	ssize_t n = ensure(o);

	if (n)
		return (int)n;
	if (message__send(o->socket, r, sizeof(*r), fds))
		return -EPIPE;
	n = await_reply(o, reply, fds, ms);
	*given = fds[0];
	if (n < 0)
		return (int)n;
	n -= offsetof(struct opener_reply, bytes);
	return n == (reply->result > 0 ? reply->result : 0) ? 0 : -EPIPE;
}

/* One that was killed by somebody else is replaced, once. */
static int exchange(struct opener *o, const struct opener_request *r, int fd,
		    struct opener_reply *reply, int *given, int ms)
{
	int err = -EPIPE;

	for (int i = 0; i < 2 && err == -EPIPE; i++) {
		err = exchange_once(o, r, fd, reply, given, ms);
		if (err != -EPIPE || o->socket < 0)
			continue;
		log_warning("process %d, which opened files of others for quartzd, has ended; "
			    "another one takes its place",
			    o->pid);
		pthread_mutex_lock(&all.lock);
		all.counts.ended++;
		pthread_mutex_unlock(&all.lock);
		end(o);
	}
	if (err && o->socket >= 0)
		end(o);
	return err;
}

/* Gives the result, and the descriptor if that is wanted. */
static int ask(const struct opener_request *r, int fd, struct opener_reply *reply, int *given)
{
	struct opener *o;
	int ms, err, got = -1;

	if (!all.keeper) {
		opener_work__do(r, fd, reply, &got);
		err = 0;
	} else if (is_culprit(r, fd)) {
		return -ETIME;
	} else {
		o = take(&ms);
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

static int ask_for_file(const struct opener_request *r, int fd)
{
	struct opener_reply *reply = malloc(sizeof(*reply));
	int given, err = reply ? ask(r, fd, reply, &given) : -ENOMEM;

	free(reply);
	return err < 0 ? err : given;
}

static ssize_t ask_for_bytes(const struct opener_request *r, int fd, void *to, size_t size)
{
	struct opener_reply *reply = malloc(sizeof(*reply));
	int n = reply ? ask(r, fd, reply, NULL) : -ENOMEM;

	if (n > 0) {
		n = (size_t)n < size ? n : (int)size;
		memcpy(to, reply->bytes, n);
	}
	free(reply);
	return n;
}

int opener__maps(int dir)
{
	struct opener_request r = {.what = OPENER_MAPS};

	return ask_for_file(&r, dir);
}

ssize_t opener__memory(int dir, uint64_t start, void *to, size_t size)
{
	struct opener_request r = {.what = OPENER_MEMORY, .start = start, .size = size};

	return ask_for_bytes(&r, dir, to, size);
}

ssize_t opener__text(int dir, enum opener_what what, int number, char *to, size_t size)
{
	struct opener_request r = {.what = what, .number = number};
	ssize_t n = ask_for_bytes(&r, dir, to, size - 1);

	to[n > 0 ? n : 0] = '\0';
	return n;
}

int opener__perf_map(int dir, pid_t pid)
{
	struct opener_request r = {.what = OPENER_PERF_MAP, .number = pid};

	return ask_for_file(&r, dir);
}

int opener__wake(int dir)
{
	struct opener_request r = {.what = OPENER_WAKE};

	return (int)ask_for_bytes(&r, dir, NULL, 0);
}

int opener__file(int dir, const struct opener_file *file)
{
	struct opener_request r = {
		.what = OPENER_FILE,
		.start = file->start,
		.end = file->end,
		.inode = file->inode,
		.major = file->major,
		.minor = file->minor,
	};

	return ask_for_file(&r, dir);
}

int opener__reopen(int fd)
{
	struct opener_request r = {.what = OPENER_REOPEN};

	return ask_for_file(&r, fd);
}
