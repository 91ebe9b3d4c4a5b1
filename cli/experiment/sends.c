/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/experiment/sends.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/util/order.h"
#include "core/util/vec.h"

#define LISTEN	  10 /* TCP_LISTEN, which is not in headers for programs */
#define LISTENS	  (1u << LISTEN)
#define TIME_WAIT 6 /* TCP_TIME_WAIT, of the same table */
#define ANSWER	  32768

/* ---- asking ---- */

static int send_request(int fd, int family, unsigned int states, uint16_t port)
{
	struct {
		struct nlmsghdr head;
		struct inet_diag_req_v2 body;
	} request = {
		.head = {.nlmsg_len = sizeof(request),
			 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		.body = {.sdiag_family = (uint8_t)family,
			 .sdiag_protocol = IPPROTO_TCP,
			 .idiag_ext = 1 << (INET_DIAG_INFO - 1),
			 .idiag_states = states,
			 .id.idiag_sport = port},
	};

	return send(fd, &request, sizeof(request), 0) < 0 ? -errno : 0;
}

typedef int take_socket(void *context, const struct inet_diag_msg *m, uint32_t size);

/* 1: that was the last one. */
static int read_answer(int fd, take_socket *take, void *context)
{
	static _Alignas(struct nlmsghdr) char bytes[ANSWER];
	ssize_t size = recv(fd, bytes, sizeof(bytes), 0);
	int left = (int)size, err = 0;

	if (size < 0)
		return errno == EINTR ? 0 : -errno;
	for (const struct nlmsghdr *h = (void *)bytes; !err && NLMSG_OK(h, (uint32_t)left);
	     h = NLMSG_NEXT(h, left)) {
		if (h->nlmsg_type == NLMSG_DONE)
			return 1;
		if (h->nlmsg_type == NLMSG_ERROR)
			return ((const struct nlmsgerr *)NLMSG_DATA(h))->error;
		if (h->nlmsg_len >= NLMSG_LENGTH(sizeof(struct inet_diag_msg)))
			err = take(context, NLMSG_DATA(h),
				   h->nlmsg_len - (uint32_t)NLMSG_LENGTH(0));
	}
	return err;
}

static int each_socket(int fd, unsigned int states, uint16_t port, take_socket *take, void *context)
{
	static const int families[] = {AF_INET, AF_INET6};
	int err = 0;

	for (size_t i = 0; err >= 0 && i < sizeof(families) / sizeof(families[0]); i++) {
		err = send_request(fd, families[i], states, port);
		while (!err)
			err = read_answer(fd, take, context);
	}
	return err < 0 ? err : 0;
}

/* In the network of a process. A descriptor or -errno. */
static int open_socket(int64_t pid)
{
	char path[64];
	int fd, own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), other;
	struct stat a, b;
	bool differs;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	other = open(path, O_RDONLY | O_CLOEXEC);
	differs = own >= 0 && other >= 0 && !fstat(own, &a) && !fstat(other, &b) &&
		  a.st_ino != b.st_ino;
	if (differs && setns(other, CLONE_NEWNET))
		fd = -errno;
	else
		fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (fd == -1)
		fd = -errno;
	if (differs)
		setns(own, CLONE_NEWNET);
	if (own >= 0)
		close(own);
	if (other >= 0)
		close(other);
	return fd;
}

/* ---- ports ---- */

struct listeners {
	struct sends *sends;
	uint64_t *inodes; /* of all sockets of the processes */
	uint32_t n;
};

static int add_sockets(struct listeners *l, int64_t pid)
{
	char path[320], text[64];
	const struct dirent *e;
	DIR *dir;
	int err = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	while (dir && !err && (e = readdir(dir))) {
		ssize_t n;
		unsigned long inode;

		snprintf(path, sizeof(path), "/proc/%d/fd/%s", (int)pid, e->d_name);
		n = readlink(path, text, sizeof(text) - 1);
		text[n > 0 ? n : 0] = '\0';
		if (sscanf(text, "socket:[%lu]", &inode) != 1)
			continue;
		err = qz_array__reserve((void **)&l->inodes, l->n, sizeof(*l->inodes));
		if (!err)
			l->inodes[l->n++] = inode;
	}
	if (dir)
		closedir(dir);
	return err;
}

static int add_port(void *context, const struct inet_diag_msg *m, uint32_t size)
{
	struct listeners *l = context;
	struct sends *s = l->sends;

	(void)size;
	for (uint32_t i = 0; i < s->nports; i++)
		if (s->ports[i] == m->id.idiag_sport)
			return 0;
	for (uint32_t i = 0; i < l->n && s->nports < SENDS_PORTS; i++)
		if (l->inodes[i] == m->idiag_inode) {
			s->ports[s->nports++] = m->id.idiag_sport;
			break;
		}
	return 0;
}

int sends__open(struct sends *s, const struct qz_integers *pids)
{
	struct listeners l = {.sends = s};
	int err = 0;

	*s = (struct sends) {.fd = open_socket(pids->items[0])};
	if (s->fd < 0)
		return s->fd;
	for (size_t i = 0; !err && i < pids->n; i++)
		err = add_sockets(&l, pids->items[i]);
	if (!err)
		err = each_socket(s->fd, LISTENS, 0, add_port, &l);
	free(l.inodes);
	if (!err && !s->nports)
		err = -ENOENT;
	if (err)
		sends__close(s);
	return err;
}

void sends__close(struct sends *s)
{
	if (s->fd > 0)
		close(s->fd);
	free(s->connections);
	*s = (struct sends) {0};
}

/* ---- counting ---- */

static int compare(const void *x, const void *y)
{
	return qz_order(((const struct sent_by *)x)->cookie, ((const struct sent_by *)y)->cookie);
}

/* Of an older kernel, the end of tcp_info is missing. */
static bool read_acked(const struct inet_diag_msg *m, uint32_t size, uint64_t *bytes)
{
	const char *at = (const char *)(m + 1), *end = (const char *)m + size;

	while (at + sizeof(struct nlattr) <= end) {
		const struct nlattr *a = (const void *)at;

		if (a->nla_len < sizeof(*a))
			return false;
		if (a->nla_type == INET_DIAG_INFO &&
		    a->nla_len >= sizeof(*a) + offsetof(struct tcp_info, tcpi_bytes_received) &&
		    at + a->nla_len <= end) {
			memcpy(bytes, at + sizeof(*a) + offsetof(struct tcp_info, tcpi_bytes_acked),
			       sizeof(*bytes));
			return true;
		}
		at += NLA_ALIGN(a->nla_len);
	}
	return false;
}

static int add_connection(void *context, const struct inet_diag_msg *m, uint32_t size)
{
	struct sends *now = context;
	struct sent_by c = {.cookie = (uint64_t)m->id.idiag_cookie[1] << 32 |
				      m->id.idiag_cookie[0]};

	if (!read_acked(m, size, &c.bytes))
		return 0;
	if (qz_array__reserve((void **)&now->connections, now->n, sizeof(c)))
		return -ENOMEM;
	now->connections[now->n++] = c;
	return 0;
}

int sends__count(struct sends *s, uint64_t *bytes)
{
	struct sends now = {0};
	int err = 0;

	for (uint32_t i = 0; !err && i < s->nports; i++)
		err = each_socket(s->fd, ~(LISTENS | 1u << TIME_WAIT), s->ports[i], add_connection,
				  &now);
	if (now.n)
		qsort(now.connections, now.n, sizeof(*now.connections), compare);
	for (uint32_t i = 0; !err && i < now.n; i++) {
		const struct sent_by *c = &now.connections[i],
				     *old = s->n ? bsearch(c, s->connections, s->n, sizeof(*c),
							   compare)
						 : NULL;

		if (s->counted)
			s->total += c->bytes - (old && old->bytes <= c->bytes ? old->bytes : 0);
	}
	if (err) {
		free(now.connections);
		return err;
	}
	free(s->connections);
	s->connections = now.connections;
	s->n = now.n;
	s->counted = true;
	*bytes = s->total;
	return 0;
}
