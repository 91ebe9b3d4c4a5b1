/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/userlib/fake.h"

static pthread_t server;

static void die(const char *what)
{
	perror(what);
	abort();
}

static void path_in(const struct fake *f, const char *file, char *path, size_t size)
{
	snprintf(path, size, "%s/%s", f->directory, file);
}

/* ---- page sets ---- */

static void *make_memory(size_t size, int *fd)
{
	void *p;

	*fd = memfd_create("page", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*fd < 0 || ftruncate(*fd, size) ||
	    fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		die("memfd");
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (p == MAP_FAILED)
		die("mmap");
	return p;
}

static void free_set(struct fake_set *set)
{
	munmap(set->tables, QZ_TABLES_SIZE);
	for (uint32_t i = 0; i < set->segments; i++)
		munmap(set->slots[i], QZ_SEGMENT_SIZE);
	memset(set, 0, sizeof(*set));
}

/* Descriptors for the answer, or a negative errno. */
static int open_set(struct fake *f, pid_t pid, int *fds)
{
	struct fake_set *set = &f->sets[f->count];

	if (f->count == FAKE_SETS)
		return -ENOSPC;
	set->pid = pid;
	set->generation = f->flag->generation;
	set->tables = make_memory(QZ_TABLES_SIZE, &fds[0]);
	set->tables->header.magic = QZ_PAGE_MAGIC;
	set->tables->header.version = QZ_PAGE_VERSION;
	set->tables->header.generation = set->generation;
	set->slots[0] = make_memory(QZ_SEGMENT_SIZE, &fds[1]);
	set->segments = 1;
	__atomic_store_n(&f->count, f->count + 1, __ATOMIC_RELEASE);
	return 2;
}

static int more(struct fake *f, pid_t pid, uint32_t index, int *fds)
{
	struct fake_set *set = fake__set(f, pid);

	if (!set || set->generation != f->flag->generation)
		return -ENOENT;
	if (index != set->segments || index >= QZ_SEGMENTS)
		return -EINVAL;
	set->slots[index] = make_memory(QZ_SEGMENT_SIZE, &fds[0]);
	set->segments++;
	return 1;
}

/* ---- server ---- */

static void send_reply(int to, const struct qz_page_reply *reply, const int *fds, int count)
{
	char control[CMSG_SPACE(QZ_PAGE_FDS * sizeof(int))] = {0};
	struct iovec data = {(void *)reply, sizeof(*reply)};
	struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
	struct cmsghdr *c;

	if (count > 0) {
		message.msg_control = control;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
		c = CMSG_FIRSTHDR(&message);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(c), fds, count * sizeof(int));
	}
	sendmsg(to, &message, MSG_NOSIGNAL);
	for (int i = 0; i < count; i++)
		close(fds[i]);
}

static void serve(struct fake *f, int client)
{
	struct qz_page_reply reply = {.length = sizeof(reply)};
	struct qz_page_request request;
	struct ucred peer;
	socklen_t size = sizeof(peer);
	int fds[QZ_PAGE_FDS], n = -EINVAL;

	f->requests++;
	if (f->silent) {
		while (recv(client, &request, sizeof(request), 0) > 0)
			;
		return;
	}
	if (getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &size) ||
	    recv(client, &request, sizeof(request), 0) != sizeof(request))
		return;
	if (f->refuse)
		n = -(int)f->refuse;
	else if (request.version != QZ_PAGE_VERSION || request.tables_size != QZ_TABLES_SIZE)
		n = -EPROTO;
	else if (request.type == QZ_PAGE_OPEN)
		n = open_set(f, peer.pid, fds);
	else if (request.type == QZ_PAGE_MORE)
		n = more(f, peer.pid, request.index, fds);
	reply.status = n < 0 ? n : 0;
	reply.generation = f->flag->generation;
	send_reply(client, &reply, fds, n);
}

static void *run(void *context)
{
	struct fake *f = context;
	struct pollfd ready = {.fd = f->listener, .events = POLLIN};

	for (;;) {
		bool stop = __atomic_load_n(&f->stop, __ATOMIC_ACQUIRE);
		int client;

		/* whoever has connected is served, however late we come to it */
		if (poll(&ready, 1, 10) != 1) {
			if (stop)
				return NULL;
			continue;
		}
		client = accept4(f->listener, NULL, NULL, SOCK_CLOEXEC);
		if (client < 0)
			continue;
		serve(f, client);
		close(client);
	}
}

void fake__listen(struct fake *f)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	sigset_t all, mask;

	path_in(f, QZ_PAGE_SOCKET, address.sun_path, sizeof(address.sun_path));
	unlink(address.sun_path);
	f->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (f->listener < 0 || bind(f->listener, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(f->listener, 64))
		die("listen");
	f->stop = false;
	/* Signals are for the test. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &mask);
	if (pthread_create(&server, NULL, run, f))
		die("pthread_create");
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	/* a machine that stands still for a second is no reason to fail */
	f->flag->patience_ms = f->patience_ms ?: QZ_PAGE_PATIENCE_MAX_MS;
	f->flag->last++;
	__atomic_store_n(&f->flag->generation, f->flag->last, __ATOMIC_RELEASE);
}

void fake__end(struct fake *f, bool killed)
{
	if (!killed)
		__atomic_store_n(&f->flag->generation, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&f->stop, true, __ATOMIC_RELEASE);
	pthread_join(server, NULL);
	close(f->listener);
	f->listener = -1;
}

struct fake *fake__new(void)
{
	struct fake *f = calloc(1, sizeof(*f));
	char path[128];
	int fd;

	strcpy(f->directory, "/tmp/quartz-fake.XXXXXX");
	f->listener = -1;
	if (!mkdtemp(f->directory) || setenv("QUARTZ_RUNTIME_DIR", f->directory, 1))
		die("mkdtemp");
	path_in(f, QZ_PAGE_FLAG, path, sizeof(path));
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0 || ftruncate(fd, 4096))
		die(path);
	f->flag = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (f->flag == MAP_FAILED)
		die("mmap");
	close(fd);
	return f;
}

void fake__free(struct fake *f)
{
	char path[128];

	if (f->listener >= 0)
		fake__end(f, false);
	for (uint32_t i = 0; i < f->count; i++)
		free_set(&f->sets[i]);
	path_in(f, QZ_PAGE_SOCKET, path, sizeof(path));
	unlink(path);
	path_in(f, QZ_PAGE_FLAG, path, sizeof(path));
	unlink(path);
	rmdir(f->directory);
	munmap(f->flag, 4096);
	free(f);
}

/* ---- looking ---- */

struct fake_set *fake__set(struct fake *f, pid_t pid)
{
	for (uint32_t i = __atomic_load_n(&f->count, __ATOMIC_ACQUIRE); i-- > 0;)
		if (f->sets[i].pid == pid)
			return &f->sets[i];
	return NULL;
}

struct qz_slot *fake__slot(struct fake_set *set, pid_t tid)
{
	for (uint32_t i = 0; set && i < set->segments * QZ_SEGMENT_SLOTS; i++) {
		struct qz_slot *slot = &set->slots[i / QZ_SEGMENT_SLOTS][i % QZ_SEGMENT_SLOTS];

		if (slot->tid == (__u32)tid)
			return slot;
	}
	return NULL;
}

const char *fake__name(const struct fake_set *set, uint32_t id)
{
	const struct qz_symbol *s;

	if (!id || id > QZ_SYMBOLS)
		return "?";
	s = &set->tables->symbols[id - 1];
	return s->text && s->text < QZ_TEXT_SIZE ? set->tables->text + s->text : "?";
}

void fake__stack(const struct fake_set *set, const struct qz_slot *slot, char *text, size_t size)
{
	uint32_t task = QZ_TASK_ID(slot->task), base = QZ_TASK_BASE(slot->task);
	const struct qz_task *t = task ? &set->tables->tasks[task - 1] : NULL;
	size_t n = 0;

	text[0] = '\0';
	for (uint32_t i = 0; t && i < t->count; i++)
		n += snprintf(text + n, size - n, "%s%s", fake__name(set, t->procedures[i]),
			      i + 1 < t->count ? "/" : ":");
	for (uint32_t i = task ? base + 1 : 1; i <= slot->depth; i++)
		n += snprintf(text + n, size - n, "%s%s", fake__name(set, slot->stack[i]),
			      i < slot->depth ? "/" : "");
}
