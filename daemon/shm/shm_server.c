// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/kernel/bpf_scopes.h"
#include "daemon/privsep/fd_ipc.h"
#include "daemon/util/unix_listener.h"
#include "daemon/shm/shm_server.h"
#include "daemon/util/paths.h"

#define MAX_CLIENTS  256 /* that have connected and not yet asked */
#define MAX_PER_USER 64
#define PATIENCE_NS  (QZ_PAGE_PATIENCE_MS * 1000000ull)
#define BACKLOG	     4096
#define FLAG_SIZE    4096

struct client {
	int fd; /* -1: free */
	struct ucred peer;
	uint64_t deadline;
};

struct shm_server {
	struct bpf_runtime *bpf;
	struct shm_sets *sets;
	int listener, epoll, stop, lock, flag_fd;
	struct qz_page_flag *flag;
	uint32_t generation;
	pthread_t thread;
	bool started;
	struct client clients[MAX_CLIENTS];
	char path[LISTENER_PATH];
};

/* ---- flag and socket ---- */

/* Not of the flag itself, which everybody can open. */
static int take_lock(struct shm_server *s, const char *directory)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/" PAGE_SERVER_LOCK, directory);
	s->lock = paths__lock(path, NULL);
	return s->lock < 0 ? s->lock : 0;
}

/* The programs map it: it is never made anew while it has a name, and never shorter. */
static int open_flag(struct shm_server *s, const char *directory)
{
	char path[256];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", directory, QZ_PAGE_FLAG);
	s->flag_fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (s->flag_fd < 0 || fstat(s->flag_fd, &st))
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
	s->generation = s->flag->last ? s->flag->last + 1
				      : (uint32_t)(bpf_runtime__now() / 1000000);
	while (!s->generation || s->generation == QZ_PAGE_GONE)
		s->generation++;
	s->flag->last = s->generation;
	return 0;
}

static int watch(struct shm_server *s, int fd, uint32_t what)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u32 = what};

	return epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

/* What epoll reports, besides indices of clients. */
#define LISTENER MAX_CLIENTS
#define STOP	 (MAX_CLIENTS + 1)

struct shm_server *shm_server__new(const char *directory, struct bpf_runtime *bpf,
				   struct shm_sets *sets)
{
	const struct unix_listener_options options = {SOCK_SEQPACKET, BACKLOG, -1, 0666};
	struct shm_server *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return NULL;
	s->bpf = bpf;
	s->sets = sets;
	s->listener = s->lock = s->flag_fd = -1;
	for (int i = 0; i < MAX_CLIENTS; i++)
		s->clients[i].fd = -1;
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	s->stop = eventfd(0, EFD_CLOEXEC);
	err = s->epoll < 0 || s->stop < 0 ? -errno : take_lock(s, directory);
	err = err ?: open_flag(s, directory);
	err = err
		      ?: unix_listener__open(directory, QZ_PAGE_SOCKET, &options, s->path,
					     &s->listener);
	err = err ?: watch(s, s->listener, LISTENER);
	err = err ?: watch(s, s->stop, STOP);
	if (!err)
		return s;
	shm_server__free(s);
	errno = -err;
	return NULL;
}

/* ---- answering ---- */

static void drop(struct client *c)
{
	close(c->fd);
	c->fd = -1;
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

/* The image that a process is at this moment, and a pidfd of it. 0, -ESRCH or -errno. */
static int find_owner(const struct shm_server *s, const struct ucred *process,
		      struct page_owner *owner)
{
	struct qz_thread_state state;
	int err;

	*owner = (struct page_owner) {.pid = process->pid, .uid = process->uid};
	if (process->pid <= 0)
		return -ESRCH;
	owner->pidfd = syscall(SYS_pidfd_open, process->pid, 0);
	if (owner->pidfd < 0)
		return -errno;
	err = bpf_runtime__thread_of(s->bpf, owner->pidfd, &state);
	if (err == -ENOENT && !bpf_scopes__tell(s->bpf, process->pid))
		err = bpf_runtime__thread_of(s->bpf, owner->pidfd, &state);
	owner->image = state.image;
	if (!err) /* it is a scope of its own, however soon it ends */
		bpf_scopes__grow(s->bpf, state.scope);
	else
		close(owner->pidfd);
	return err == -ENOENT ? -ESRCH : err;
}

/*
 * The addresses are the process's own word: BPF only ever reads from them as that process, and what
 * it finds there is checked like anything else that the process shares.
 */
static int open_for(struct shm_server *s, const struct ucred *process, struct qz_page_place *place,
		    struct page_memory *memory)
{
	struct page_owner owner;
	int err = find_owner(s, process, &owner);

	if (err)
		return err;
	err = shm_sets__open(s->sets, &owner, memory, &place->index);
	if (err)
		close(owner.pidfd);
	else if (place->slot_pointer)
		bpf_runtime__set_page(s->bpf, owner.image, place);
	return err;
}

static int open_set(struct shm_server *s, const struct client *c, const struct qz_page_request *r,
		    int fds[MESSAGE_FDS])
{
	struct qz_page_place place = {
		.slots = r->slots_address,
		.tables = r->tables_address,
		.slot_pointer = r->slot_pointer_offset,
	};
	struct page_memory memory = {.generation = s->generation};
	int err = open_for(s, &c->peer, &place, &memory);

	if (err)
		return err;
	fds[0] = memory.tables;
	fds[1] = memory.segment;
	return 0;
}

static int grow_set(struct shm_server *s, const struct client *c, const struct qz_page_request *r,
		    int *segment)
{
	struct page_owner owner;
	int err = find_owner(s, &c->peer, &owner);

	if (err)
		return err;
	close(owner.pidfd);
	return shm_sets__grow(s->sets, owner.image, r->index, segment);
}

/* 0 with descriptors, or -errno. */
static int fulfil(struct shm_server *s, const struct client *c, const struct qz_page_request *r,
		  int fds[MESSAGE_FDS])
{
	if (r->type == QZ_PAGE_OPEN)
		return open_set(s, c, r, fds);
	return r->type == QZ_PAGE_MORE ? grow_set(s, c, r, &fds[0]) : -EPROTO;
}

static void answer(struct shm_server *s, struct client *c)
{
	struct qz_page_reply reply = {.length = sizeof(reply), .generation = s->generation};
	struct qz_page_request request;
	ssize_t n = recv(c->fd, &request, sizeof(request), MSG_DONTWAIT);
	int fds[MESSAGE_FDS] = NO_FDS;

	if (n < 0 && errno == EAGAIN)
		return;
	if (n > 0) {
		reply.status = check_request(&request, n) ?: fulfil(s, c, &request, fds);
		if (fd_ipc__send(c->fd, &reply, sizeof(reply), fds, 0) && !reply.status)
			shm_sets__refuse(s->sets); /* it has given up */
		fd_ipc__close(fds);
	}
	drop(c);
}

/* ---- clients ---- */

static struct client *free_client(struct shm_server *s, uid_t uid)
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
static int take_client(struct shm_server *s)
{
	struct ucred peer;
	int fd = unix_listener__accept(s->listener, &peer);
	struct client *c;

	if (fd < 0)
		return fd;
	c = free_client(s, peer.uid);
	if (!c) {
		shm_sets__refuse(s->sets);
		close(fd);
		return 0;
	}
	*c = (struct client) {fd, peer, bpf_runtime__now() + PATIENCE_NS};
	answer(s, c);
	if (c->fd >= 0 && watch(s, fd, c - s->clients))
		drop(c);
	return 0;
}

static void take_clients(struct shm_server *s)
{
	int err = 0;

	for (int i = 0; i < 64 && !err; i++)
		err = take_client(s);
	/* out of descriptors: the connection stays, and so does the event */
	if (err == -EMFILE)
		usleep(10000);
}

/* Those whose deadline is over go. Returns the ms until the next one's, -1: there is none. */
static int drop_late(struct shm_server *s)
{
	uint64_t now = bpf_runtime__now();
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
	struct shm_server *s = argument;
	struct epoll_event events[64];
	bool stop = false;

	pthread_setname_np(pthread_self(), "quartzd-pages");
	while (!stop) {
		int n = epoll_wait(s->epoll, events, 64, drop_late(s));

		for (int i = 0; i < n; i++) {
			uint32_t what = events[i].data.u32;

			if (what == STOP)
				stop = true;
			else if (what == LISTENER)
				take_clients(s);
			else if (s->clients[what].fd >= 0)
				answer(s, &s->clients[what]);
		}
	}
	return NULL;
}

int shm_server__start(struct shm_server *s)
{
	int err = pthread_create(&s->thread, NULL, serve, s);

	if (err)
		return -err;
	s->started = true;
	__atomic_store_n(&s->flag->generation, s->generation, __ATOMIC_RELEASE);
	return 0;
}

void shm_server__free(struct shm_server *s)
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
	for (int i = 0; i < 5; i++) {
		int fd = (int[]) {s->listener, s->flag_fd, s->epoll, s->stop, s->lock}[i];

		if (fd >= 0)
			close(fd);
	}
	free(s);
}
