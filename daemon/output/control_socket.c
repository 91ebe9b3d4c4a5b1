// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/util/clock.h"
#include "daemon/util/unix_listener.h"
#include "daemon/util/paths.h"
#include "daemon/output/control_socket.h"

#define MAX_CLIENTS	64
#define MAX_GUESTS	16
#define MAX_PER_USER	4
#define MAX_REQUEST	1024 /* all requests that there are fit */
#define REQUEST_SECONDS 5
#define SEND_SECONDS	10 /* from one piece that is taken to the next */
#define MAX_PIECES	64 /* of answers, a client and a turn */
/*
 * Guests are looked after so often, so many are let in then, be it only to be sent away, and their answers take no more than
 * a hundredth of the time. More may queue than are accepted, so that no user can fill the queue for long.
 */
#define GUESTS_PERIOD 100000000ull
#define GUESTS_TURN   256
#define GUESTS_QUEUE  1024
#define GUESTS_SHARE  100

struct client {
	int fd;	    /* -1: free */
	bool guest; /* came by the socket for everybody */
	uid_t uid;
	gid_t gid;
	char request[MAX_REQUEST];
	size_t have;
	char *head; /* JSON and its NUL */
	size_t head_size, head_sent;
	int body; /* memory file, -1: none */
	off_t sent, size;
	bool answering;
	time_t deadline;
};

struct control_socket {
	int lock, listener, guests, epoll;
	uint64_t guests_due, answer_due; /* ns; of guests */
	const struct control_socket_calls *calls;
	void *context;
	struct client clients[MAX_CLIENTS];
	char path[LISTENER_PATH], guests_path[LISTENER_PATH];
};

static time_t seconds(void)
{
	return (time_t)(qz_clock__read(CLOCK_MONOTONIC_COARSE) / 1000000000);
}

/* ---- starting ---- */

static int take_lock(struct control_socket *s, const char *directory, int *holder)
{
	char path[256], text[16];
	int n;

	snprintf(path, sizeof(path), "%s/quartzd.lock", directory);
	s->lock = paths__lock(path, holder);
	if (s->lock < 0)
		return s->lock == -EWOULDBLOCK ? -EBUSY : s->lock;
	n = snprintf(text, sizeof(text), "%d\n", getpid());
	if (ftruncate(s->lock, 0) || pwrite(s->lock, text, n, 0) != n)
		return -errno;
	return 0;
}

static int watch(struct control_socket *s, int fd, uint32_t events, void *what, int op)
{
	struct epoll_event e = {.events = events, .data.ptr = what};

	return epoll_ctl(s->epoll, op, fd, &e) ? -errno : 0;
}

struct control_socket *control_socket__new(const char *directory,
					   const struct control_socket_calls *calls, void *context,
					   int *holder)
{
	const struct unix_listener_options options = {SOCK_STREAM, MAX_CLIENTS, paths__group(),
						      0660};
	const struct unix_listener_options guests = {SOCK_STREAM, GUESTS_QUEUE, -1, 0666};
	struct control_socket *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return NULL;
	s->lock = s->listener = s->guests = -1;
	s->calls = calls;
	s->context = context;
	for (int i = 0; i < MAX_CLIENTS; i++)
		s->clients[i].fd = s->clients[i].body = -1;
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	err = s->epoll < 0 ? -errno : paths__make(directory, 0755);
	err = err ?: take_lock(s, directory, holder);
	err = err
		      ?: unix_listener__open(directory, "quartzd.sock", &options, s->path,
					     &s->listener);
	err = err ?: watch(s, s->listener, EPOLLIN, NULL, EPOLL_CTL_ADD);
	err = err
		      ?: unix_listener__open(directory, "users.sock", &guests, s->guests_path,
					     &s->guests);
	if (!err)
		return s;
	control_socket__free(s);
	errno = -err;
	return NULL;
}

/* ---- clients ---- */

static void drop(struct client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	if (c->body >= 0)
		close(c->body);
	free(c->head);
	*c = (struct client) {.fd = -1, .body = -1};
}

void control_socket__free(struct control_socket *s)
{
	if (!s)
		return;
	for (int i = 0; i < MAX_CLIENTS; i++)
		drop(&s->clients[i]);
	if (s->listener >= 0) {
		unlink(s->path);
		close(s->listener);
	}
	if (s->guests >= 0) {
		unlink(s->guests_path);
		close(s->guests);
	}
	if (s->epoll >= 0)
		close(s->epoll);
	if (s->lock >= 0)
		close(s->lock);
	free(s);
}

/*
 * Where all places of guests are taken, who has not asked makes room: a request that is meant comes with its
 * connection.
 */
static struct client *free_client(struct control_socket *s, uid_t uid, bool guest)
{
	struct client *found = NULL, *silent = NULL;
	int same = 0, guests = 0;

	for (int i = 0; i < MAX_CLIENTS; i++) {
		struct client *c = &s->clients[i];

		if (c->fd < 0) {
			found = c;
			continue;
		}
		same += c->uid == uid;
		guests += c->guest;
		if (c->guest && !c->answering && (!silent || c->deadline < silent->deadline))
			silent = c;
	}
	if (same >= MAX_PER_USER)
		return NULL;
	if (!guest || guests < MAX_GUESTS)
		return found;
	if (silent)
		drop(silent);
	return silent;
}

static void serve(struct control_socket *s, struct client *c);

/* False: no client has connected. */
static bool take_client(struct control_socket *s, bool guest)
{
	struct ucred peer;
	int fd = unix_listener__accept(guest ? s->guests : s->listener, &peer);
	struct client *c;

	if (fd < 0)
		return false;
	c = free_client(s, peer.uid, guest);
	if (!c) {
		close(fd);
		return true;
	}
	c->fd = fd;
	c->uid = peer.uid;
	c->gid = peer.gid;
	c->guest = guest;
	c->deadline = seconds() + REQUEST_SECONDS;
	if (guest)
		serve(s, c);
	else if (watch(s, fd, EPOLLIN, c, EPOLL_CTL_ADD))
		drop(c);
	return true;
}

/* Root and members of the readers' group; others could not have opened the socket, but may have
 * been handed it. */
static bool may_read(const struct client *c)
{
	gid_t groups[256], wanted = paths__group();
	socklen_t size = sizeof(groups);
	struct ucred peer = {0};
	socklen_t peer_size = sizeof(peer);

	if (c->uid == 0 || c->uid == geteuid())
		return true;
	if (!wanted)
		return false;
	if (!getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) && peer.gid == wanted)
		return true;
	if (getsockopt(c->fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size))
		return false;
	for (size_t i = 0; i < size / sizeof(groups[0]); i++)
		if (groups[i] == wanted)
			return true;
	return false;
}

/* ---- answers ---- */

/* Takes j over. Without memory there is no answer: the client sees the end. */
static void set_head(struct client *c, json_t *j)
{
	c->head = j ? json_dumps(j, JSON_COMPACT) : NULL;
	c->head_size = c->head ? strlen(c->head) + 1 : 0;
	json_decref(j);
}

static void answer_error(struct client *c, const char *error, const char *reason)
{
	set_head(c, json_pack("{s:s, s:{s:s}}", "error", error, "parameters", "reason", reason));
}

/* False: it cannot be understood. What is not there is as it was before there were parameters. */
static bool read_wanted(json_t *request, struct control_socket_wanted *wanted)
{
	static const char *const details[SERVER_DETAILS] = {"scopes", "procedures", "stacks"};
	json_int_t since = 0, pid = -1, start = 0;
	const char *detail = details[SERVER_STACKS];

	*wanted = (struct control_socket_wanted) {0};
	if (json_unpack(request, "{s?{s?s, s?I, s?I, s?I}}", "parameters", "detail", &detail,
			"since_ns", &since, "pid", &pid, "start_ns", &start) ||
	    since < 0 || pid > INT32_MAX || start < 0)
		return false;
	while (wanted->detail < SERVER_DETAILS && strcmp(detail, details[wanted->detail]))
		wanted->detail++;
	wanted->since_ns = (uint64_t)since;
	wanted->whole = pid >= 0;
	wanted->pid = (int32_t)pid;
	wanted->start_ns = (uint64_t)start;
	return wanted->detail < SERVER_DETAILS;
}

static void answer_snapshot(struct control_socket *s, struct client *c, json_t *request)
{
	struct control_socket_wanted wanted;
	struct stat st;
	int err;

	if (!read_wanted(request, &wanted)) {
		answer_error(c, "io.quartz.Failed", "no such parameters");
		return;
	}
	wanted.own = c->guest;
	wanted.uid = c->uid;
	wanted.gid = c->gid;
	c->body = memfd_create("snapshot", MFD_CLOEXEC);
	err = c->body < 0 ? -errno : s->calls->snapshot(s->context, c->body, &wanted);
	if (!err && fstat(c->body, &st))
		err = -errno;
	if (err) {
		answer_error(c, "io.quartz.Failed",
			     err == -ENODATA ? "it is paused; quartzctl resume" : strerror(-err));
		if (c->body >= 0)
			close(c->body);
		c->body = -1;
		return;
	}
	c->size = st.st_size;
	set_head(c, json_pack("{s:{s:I}}", "parameters", "bytes", (json_int_t)c->size));
}

static void answer_command(struct control_socket *s, struct client *c, enum server_command command)
{
	const char *reason = "memory is short";
	json_t *parameters;

	if (command != SERVER_STATUS && c->uid != 0 && c->uid != geteuid()) {
		answer_error(c, "io.quartz.NotPermitted", "only root may do that");
		return;
	}
	parameters = s->calls->command(s->context, command, &reason);
	if (parameters)
		set_head(c, json_pack("{s:o}", "parameters", parameters));
	else
		answer_error(c, "io.quartz.Failed", reason);
}

static void answer_guest(struct control_socket *s, struct client *c, json_t *request)
{
	uint64_t begin = qz_clock__now(), end;

	if (begin < s->answer_due) {
		answer_error(c, "io.quartz.Failed",
			     "all users together ask for more than it may cost; try again later");
		return;
	}
	answer_snapshot(s, c, request);
	end = qz_clock__now();
	s->answer_due = end + GUESTS_SHARE * (end - begin);
}

static enum server_command find_command(const char *method)
{
	static const char *const methods[SERVER_COMMANDS] = {
		[SERVER_STATUS] = "io.quartz.Status",
		[SERVER_PAUSE] = "io.quartz.Pause",
		[SERVER_RESUME] = "io.quartz.Resume",
		[SERVER_RELOAD] = "io.quartz.Reload",
	};
	enum server_command command = SERVER_STATUS;

	while (command < SERVER_COMMANDS && strcmp(method, methods[command]))
		command++;
	return command;
}

static void answer(struct control_socket *s, struct client *c)
{
	json_error_t error;
	json_t *request = json_loads(c->request, JSON_REJECT_DUPLICATES, &error);
	const char *method = json_string_value(json_object_get(request, "method"));

	if (c->guest && method && !strcmp(method, "io.quartz.Snapshot"))
		answer_guest(s, c, request);
	else if (c->guest || !may_read(c))
		answer_error(c, "io.quartz.NotPermitted", "only root and group quartz may ask");
	else if (method && !strcmp(method, "io.quartz.Snapshot"))
		answer_snapshot(s, c, request);
	else if (method && find_command(method) < SERVER_COMMANDS)
		answer_command(s, c, find_command(method));
	else
		answer_error(c, "io.quartz.Failed", "no such method");
	json_decref(request);
	c->answering = true;
	c->deadline = seconds() + SEND_SECONDS;
	if (!c->guest && watch(s, c->fd, EPOLLOUT, c, EPOLL_CTL_MOD))
		drop(c);
}

static void read_request(struct control_socket *s, struct client *c)
{
	ssize_t n = read(c->fd, c->request + c->have, sizeof(c->request) - c->have);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		drop(c);
		return;
	}
	c->have += n;
	if (memchr(c->request, '\0', c->have))
		answer(s, c);
	else if (c->have == sizeof(c->request))
		drop(c);
}

/* One piece of the answer: > 0, or 0 when there is none left, or -1 as write(2) does. */
static ssize_t send_piece(struct client *c)
{
	ssize_t n = 0;

	if (c->head_sent < c->head_size) {
		n = send(c->fd, c->head + c->head_sent, c->head_size - c->head_sent, MSG_NOSIGNAL);
		if (n > 0)
			c->head_sent += n;
	} else if (c->body >= 0 && c->sent < c->size) {
		n = sendfile(c->fd, c->body, &c->sent, c->size - c->sent);
	}
	return n;
}

/* As long as it is taken: turns are rare where processors are scarce. */
static void send_answer(struct client *c)
{
	ssize_t n = 1;

	for (int i = 0; n > 0 && i < MAX_PIECES; i++) {
		n = send_piece(c);
		if (n > 0)
			c->deadline = seconds() + SEND_SECONDS;
	}
	if (!n || (n < 0 && errno != EAGAIN))
		drop(c);
}

int control_socket__fd(const struct control_socket *s)
{
	return s->epoll;
}

static void serve(struct control_socket *s, struct client *c)
{
	if (c->answering)
		send_answer(c);
	else
		read_request(s, c);
}

/* accept(2) makes a socket before it looks. */
static void serve_guests(struct control_socket *s)
{
	struct pollfd listener = {.fd = s->guests, .events = POLLIN};
	uint64_t now = qz_clock__now();

	if (now < s->guests_due)
		return;
	s->guests_due = now + GUESTS_PERIOD;
	for (int i = 0; i < GUESTS_TURN && poll(&listener, 1, 0) > 0 && take_client(s, true); i++)
		;
	for (int i = 0; i < MAX_CLIENTS; i++)
		if (s->clients[i].fd >= 0 && s->clients[i].guest)
			serve(s, &s->clients[i]);
}

void control_socket__run(struct control_socket *s)
{
	struct epoll_event events[MAX_CLIENTS + 1];
	int n = epoll_wait(s->epoll, events, MAX_CLIENTS + 1, 0);
	time_t now = seconds();

	for (int i = 0; i < n; i++) {
		struct client *c = events[i].data.ptr;

		if (!c)
			take_client(s, false);
		else if (c->fd >= 0)
			serve(s, c);
	}
	serve_guests(s);
	for (int i = 0; i < MAX_CLIENTS; i++)
		if (s->clients[i].fd >= 0 && now > s->clients[i].deadline)
			drop(&s->clients[i]);
}
