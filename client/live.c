/* SPDX-License-Identifier: GPL-2.0-only */
#include "client/live.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/util/clock.h"

#define DEADLINE_MS  10000 /* what quartzd gives its clients, too */
#define AGAIN_MS     20
#define MAX_REQUEST  256
#define MAX_HEADER   (64 << 10)
#define MAX_SNAPSHOT (1LL << 30)

static int wait_for(int sock, short events, int64_t deadline)
{
	struct pollfd p = {.fd = sock, .events = events};
	int64_t left = deadline - qz_clock__now_ms();
	int n = poll(&p, 1, left > 0 ? (int)left : 0);

	if (n < 0)
		return -errno;
	return n ? 0 : -ETIMEDOUT;
}

/* Where the queue of quartzd is full, there is room again a little later. */
static int connect_in_time(int sock, const struct sockaddr_un *address, int64_t deadline)
{
	while (connect(sock, (const struct sockaddr *)address, sizeof(*address))) {
		if (errno != EAGAIN)
			return -errno;
		if (qz_clock__now_ms() >= deadline)
			return -ETIMEDOUT;
		poll(NULL, 0, AGAIN_MS);
	}
	return 0;
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int sock, err;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (sock < 0)
		return -errno;
	err = connect_in_time(sock, &address, qz_clock__now_ms() + DEADLINE_MS);
	if (!err)
		return sock;
	close(sock);
	return err;
}

/* The number of bytes received, 0 at the end, or -errno. */
static ssize_t receive(int sock, char *buffer, size_t size, int64_t deadline)
{
	int err = wait_for(sock, POLLIN, deadline);
	ssize_t n;

	if (err)
		return err;
	n = recv(sock, buffer, size, 0);
	return n < 0 ? -errno : n;
}

/* Reads until the NUL that ends the header; what follows it in the buffer is body. */
static ssize_t receive_header(int sock, char *buffer, int64_t deadline)
{
	size_t have = 0;

	while (have < MAX_HEADER) {
		ssize_t n = receive(sock, buffer + have, MAX_HEADER - have, deadline);

		if (n < 0)
			return n;
		if (!n)
			return have ? -EBADMSG : -ECONNRESET;
		have += (size_t)n;
		if (memchr(buffer + have - n, 0, (size_t)n))
			return (ssize_t)have;
	}
	return -EBADMSG;
}

/* Whether it is an error, as live__snapshot gives it. */
static int find_error(json_t *root, char *reason, size_t size)
{
	const char *error = NULL, *why = "no reason given";

	json_unpack(root, "{s?s, s?{s?s}}", "error", &error, "parameters", "reason", &why);
	snprintf(reason, size, "%s", why);
	if (!error)
		return root ? 0 : -EBADMSG;
	return strcmp(error, "io.quartz.NotPermitted") ? -EREMOTEIO : -EPERM;
}

/* Returns the announced size of the body, or -errno as live__snapshot does. */
static int64_t parse_header(const char *header, char *reason, size_t size)
{
	json_t *root = json_loads(header, 0, NULL);
	int err = find_error(root, reason, size);
	json_int_t bytes = -1;

	json_unpack(root, "{s?{s?I}}", "parameters", "bytes", &bytes);
	json_decref(root);
	if (err)
		return err;
	return bytes >= 0 && bytes <= MAX_SNAPSHOT ? bytes : -EBADMSG;
}

static int write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n < 0)
			return -errno;
		data += n;
		size -= (size_t)n;
	}
	return 0;
}

/* Copies what is left of the body, so many bytes, to fd. */
static int spool(int sock, int fd, char buffer[MAX_HEADER], int64_t left, int64_t deadline)
{
	while (left > 0) {
		ssize_t n = receive(sock, buffer, MAX_HEADER, deadline);
		int err = n > 0 ? write_all(fd, buffer, (size_t)n) : n ? (int)n : -EBADMSG;

		if (err)
			return err;
		left -= n;
	}
	return left ? -EBADMSG : 0;
}

/* Sends the request, which fits into any socket buffer, and gives what came of the answer. */
static ssize_t ask(int sock, const char *request, char *buffer, int64_t deadline)
{
	ssize_t n = (ssize_t)strlen(request) + 1;

	if (send(sock, request, (size_t)n, MSG_NOSIGNAL) != n)
		return errno == EPIPE ? -EBADMSG : -errno;
	return receive_header(sock, buffer, deadline);
}

static void word_request(char request[MAX_REQUEST], const struct live_wanted *wanted)
{
	int n = snprintf(request, MAX_REQUEST, "{\"method\":\"io.quartz.Snapshot\"");

	if (wanted)
		n += snprintf(request + n, MAX_REQUEST - (size_t)n,
			      ",\"parameters\":{\"detail\":\"%s\",\"since_ns\":%" PRIu64,
			      wanted->detail, wanted->since_ns);
	if (wanted && wanted->pid >= 0)
		n += snprintf(request + n, MAX_REQUEST - (size_t)n,
			      ",\"pid\":%" PRId32 ",\"start_ns\":%" PRIu64, wanted->pid,
			      wanted->start_ns);
	snprintf(request + n, MAX_REQUEST - (size_t)n, wanted ? "}}" : "}");
}

static int exchange(int sock, const char *request, int fd, char *reason, size_t size)
{
	char buffer[MAX_HEADER];
	int64_t deadline = qz_clock__now_ms() + DEADLINE_MS, bytes;
	ssize_t have;
	size_t header;
	int err;

	have = ask(sock, request, buffer, deadline);
	if (have < 0)
		return (int)have;
	header = strlen(buffer) + 1;
	bytes = parse_header(buffer, reason, size);
	if (bytes < 0)
		return (int)bytes;
	have -= (ssize_t)header;
	err = write_all(fd, buffer + header, (size_t)have);
	return err ? err : spool(sock, fd, buffer, bytes - have, deadline);
}

int live__snapshot(const char *path, const struct live_wanted *wanted, char *reason, size_t size)
{
	int sock = connect_to(path), fd, err;
	char request[MAX_REQUEST];

	if (sock < 0)
		return sock;
	word_request(request, wanted);
	fd = memfd_create("quartz-snapshot", MFD_CLOEXEC);
	err = fd < 0 ? -errno : exchange(sock, request, fd, reason, size);
	close(sock);
	if (!err && lseek(fd, 0, SEEK_SET) < 0)
		err = -errno;
	if (!err)
		return fd;
	if (fd >= 0)
		close(fd);
	return err;
}

int live__call(const char *path, const char *method, json_t **parameters, char *reason, size_t size)
{
	char buffer[MAX_HEADER];
	char request[MAX_REQUEST];
	int sock = connect_to(path), err;
	json_t *root;
	ssize_t have;

	if (sock < 0)
		return sock;
	snprintf(request, sizeof(request), "{\"method\":\"%s\"}", method);
	have = ask(sock, request, buffer, qz_clock__now_ms() + DEADLINE_MS);
	close(sock);
	if (have < 0)
		return (int)have;
	root = json_loads(buffer, 0, NULL);
	err = find_error(root, reason, size);
	if (!err) {
		*parameters = json_incref(json_object_get(root, "parameters"));
		err = *parameters ? 0 : -EBADMSG;
	}
	json_decref(root);
	return err;
}
