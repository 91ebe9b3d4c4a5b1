// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "daemon/listener.h"
#include "daemon/page_device.h"
#include "daemon/page_server.h"

#define MAX_CLIENTS	256 /* that have connected and not yet asked */
#define MAX_PER_USER	64
#define PATIENCE_NS	(QZ_PAGE_PATIENCE_MS * 1000000ull)
#define BACKLOG		4096
#define FLAG_SIZE	4096
#define SIZE_OF_REQUEST sizeof(struct qz_page_request)

struct client {
	int fd; /* -1: free */
	struct ucred peer;
	uint64_t deadline;
};

struct page_server {
	struct engine *engine;
	struct pages *pages;
	const struct device *device;
	int listener, epoll, stop, flag_fd;
	struct qz_page_flag *flag;
	uint32_t generation;
	pthread_t thread;
	bool started;
	struct client clients[MAX_CLIENTS];
	char path[LISTENER_PATH];
};

/* ---- flag and socket ---- */

/* The programs map it: it is never made anew while it has a name, and never shorter. */
static int open_flag(struct page_server *s, const char *directory)
{
	char path[256];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", directory, QZ_PAGE_FLAG);
	s->flag_fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (s->flag_fd < 0 || fstat(s->flag_fd, &st))
		return -errno;
	if (flock(s->flag_fd, LOCK_EX | LOCK_NB))
		return -errno;
	if (fchmod(s->flag_fd, 0644))
		return -errno;
	if (st.st_size < FLAG_SIZE && ftruncate(s->flag_fd, FLAG_SIZE))
		return -errno;
	s->flag = mmap(NULL, FLAG_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, s->flag_fd, 0);
	if (s->flag == MAP_FAILED) {
		s->flag = NULL;
		return -errno;
	}
	s->generation = s->flag->last + 1 ?: 1;
	s->flag->last = s->generation;
	return 0;
}

static int watch(struct page_server *s, int fd, uint32_t what)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u32 = what};

	return epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

/* What epoll tells of, besides indices of clients. */
#define LISTENER MAX_CLIENTS
#define STOP	 (MAX_CLIENTS + 1)
#define DEVICE	 (MAX_CLIENTS + 2)

struct page_server *page_server__new(const char *directory, struct engine *engine,
				     struct pages *pages, const struct device *device)
{
	const struct listener_options options = {SOCK_SEQPACKET, BACKLOG, -1, 0666};
	struct page_server *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return NULL;
	s->engine = engine;
	s->pages = pages;
	s->device = device;
	s->listener = s->flag_fd = -1;
	for (int i = 0; i < MAX_CLIENTS; i++)
		s->clients[i].fd = -1;
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	s->stop = eventfd(0, EFD_CLOEXEC);
	err = s->epoll < 0 || s->stop < 0 ? -errno : open_flag(s, directory);
	err = err ?: listener__open(directory, QZ_PAGE_SOCKET, &options, s->path, &s->listener);
	err = err ?: watch(s, s->listener, LISTENER);
	err = err ?: watch(s, s->stop, STOP);
	if (device->fd >= 0)
		err = err ?: watch(s, device->fd, DEVICE);
	if (!err)
		return s;
	page_server__free(s);
	errno = -err;
	return NULL;
}

/* ---- answering ---- */

static void drop(struct client *c)
{
	close(c->fd);
	c->fd = -1;
}

static bool send_reply(const struct client *c, const struct qz_page_reply *reply, const int *fds,
		       int nfds)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(QZ_PAGE_FDS * sizeof(int))];
	} control = {0};
	struct iovec data = {(void *)reply, sizeof(*reply)};
	struct msghdr m = {.msg_iov = &data, .msg_iovlen = 1};

	if (nfds) {
		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
		control.head = (struct cmsghdr) {.cmsg_len = CMSG_LEN(nfds * sizeof(int)),
						 .cmsg_level = SOL_SOCKET,
						 .cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(&control.head), fds, nfds * sizeof(int));
	}
	return sendmsg(c->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(*reply);
}

static int check_request(const struct qz_page_request *r, ssize_t n)
{
	if (n < (ssize_t)sizeof(*r) || r->length < sizeof(*r))
		return -EPROTO;
	if (r->version != QZ_PAGE_VERSION)
		return -EPROTONOSUPPORT;
	if (r->tables_size != QZ_TABLES_SIZE || r->segment_size != QZ_SEGMENT_SIZE ||
	    r->slot_size != sizeof(struct qz_slot))
		return -EPROTO;
	return 0;
}

int page_server__find_image(const struct engine *engine, pid_t pid, int *pidfd, uint32_t *image)
{
	struct qz_thread_state state;
	int err;

	if (pid <= 0)
		return -ESRCH;
	*pidfd = syscall(SYS_pidfd_open, pid, 0);
	if (*pidfd < 0)
		return -errno;
	err = engine__thread_of(engine, *pidfd, &state);
	if (!err) {
		*image = state.image;
		return 0;
	}
	close(*pidfd);
	return err == -ENOENT ? -ESRCH : err;
}

/*
 * The addresses are the process's own word: BPF only ever reads from them as that process, and what
 * it finds there is checked like anything else that the process shares.
 */
static int open_page(struct page_server *s, const struct client *c, const struct qz_page_request *r,
		     uint32_t image, int pidfd, int fds[2])
{
	struct qz_page_place place = {
		.slots = r->slots_address,
		.tables = r->tables_address,
		.slot_pointer = r->slot_pointer_offset,
	};
	struct page_memory memory;
	int err = pages__open(s->pages, image, c->peer.pid, c->peer.uid, pidfd, s->generation,
			      &memory, &place.index);

	if (err) {
		close(pidfd);
		return err;
	}
	fds[0] = memory.tables;
	fds[1] = memory.segment;
	if (r->slot_pointer_offset)
		engine__set_page(s->engine, image, &place);
	return 2;
}

/* Gives the number of descriptors, or -errno. */
static int fulfil(struct page_server *s, const struct client *c, const struct qz_page_request *r,
		  int fds[2])
{
	uint32_t image = 0;
	int pidfd = -1;
	int err = page_server__find_image(s->engine, c->peer.pid, &pidfd, &image);

	if (err)
		return err;
	if (r->type == QZ_PAGE_OPEN)
		return open_page(s, c, r, image, pidfd, fds);
	close(pidfd);
	if (r->type != QZ_PAGE_MORE)
		return -EPROTO;
	err = pages__grow(s->pages, image, r->index, &fds[0]);
	return err ? err : 1;
}

static void answer(struct page_server *s, struct client *c)
{
	struct qz_page_reply reply = {.length = sizeof(reply), .generation = s->generation};
	struct qz_page_request request;
	ssize_t n = recv(c->fd, &request, sizeof(request), MSG_DONTWAIT);
	int fds[2], nfds;

	if (n < 0 && errno == EAGAIN)
		return;
	if (n > 0) {
		nfds = check_request(&request, n) ?: fulfil(s, c, &request, fds);
		reply.status = nfds < 0 ? nfds : 0;
		if (!send_reply(c, &reply, fds, nfds < 0 ? 0 : nfds) && nfds >= 0)
			pages__refuse(s->pages); /* it has given up */
		for (int i = 0; i < nfds; i++)
			close(fds[i]);
	}
	drop(c);
}

/* ---- clients ---- */

static struct client *free_client(struct page_server *s, uid_t uid)
{
	struct client *found = NULL;
	int same = 0;

	for (int i = 0; i < MAX_CLIENTS; i++) {
		struct client *c = &s->clients[i];

		if (c->fd < 0)
			found = c;
		else if (c->peer.uid == uid)
			same++;
	}
	return same < MAX_PER_USER ? found : NULL;
}

/* A request that has come with the connection is answered at once. 0 or -errno of the next one. */
static int take_client(struct page_server *s)
{
	struct ucred peer;
	int fd = listener__accept(s->listener, &peer);
	struct client *c;

	if (fd < 0)
		return fd;
	c = free_client(s, peer.uid);
	if (!c) {
		pages__refuse(s->pages);
		close(fd);
		return 0;
	}
	*c = (struct client) {fd, peer, engine__now() + PATIENCE_NS};
	answer(s, c);
	if (c->fd >= 0 && watch(s, fd, c - s->clients))
		drop(c);
	return 0;
}

static void take_clients(struct page_server *s)
{
	int err = 0;

	for (int i = 0; i < 64 && !err; i++)
		err = take_client(s);
	/* out of descriptors: the connection stays, and so does the event */
	if (err == -EMFILE)
		usleep(10000);
}

/* Those whose deadline is over go. Gives the ms until the next one's, -1: there is none. */
static int drop_late(struct page_server *s)
{
	uint64_t now = engine__now();
	bool any = false;

	for (int i = 0; i < MAX_CLIENTS; i++) {
		if (s->clients[i].fd < 0)
			continue;
		if (now >= s->clients[i].deadline)
			drop(&s->clients[i]);
		else
			any = true;
	}
	return any ? QZ_PAGE_PATIENCE_MS / 4 : -1;
}

static void *serve(void *argument)
{
	struct page_server *s = argument;
	struct epoll_event events[64];
	bool stop = false;

	pthread_setname_np(pthread_self(), "quartzd-pages");
	while (!stop) {
		int n = epoll_wait(s->epoll, events, 64, drop_late(s));

		for (int i = 0; i < n; i++) {
			uint32_t what = events[i].data.u32;

			if (what == STOP)
				stop = true;
			else if (what == DEVICE)
				page_device__answer(s->device, s->engine, s->pages);
			else if (what == LISTENER)
				take_clients(s);
			else if (s->clients[what].fd >= 0)
				answer(s, &s->clients[what]);
		}
	}
	return NULL;
}

int page_server__start(struct page_server *s)
{
	int err = pthread_create(&s->thread, NULL, serve, s);

	if (err)
		return -err;
	s->started = true;
	s->flag->device = s->device->generation;
	__atomic_store_n(&s->flag->generation, s->generation, __ATOMIC_RELEASE);
	return 0;
}

void page_server__free(struct page_server *s)
{
	if (!s)
		return;
	if (s->flag)
		__atomic_store_n(&s->flag->generation, 0, __ATOMIC_RELEASE);
	if (s->listener >= 0)
		unlink(s->path);
	if (s->started) {
		eventfd_write(s->stop, 1);
		pthread_join(s->thread, NULL);
	}
	for (int i = 0; i < MAX_CLIENTS; i++)
		if (s->clients[i].fd >= 0)
			drop(&s->clients[i]);
	if (s->flag)
		munmap(s->flag, FLAG_SIZE);
	for (int i = 0; i < 4; i++) {
		int fd = (int[]) {s->listener, s->flag_fd, s->epoll, s->stop}[i];

		if (fd >= 0)
			close(fd);
	}
	free(s);
}
