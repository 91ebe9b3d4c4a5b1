/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * redis_rate SOCKET CONNECTIONS RATE SECONDS: SET commands to Redis at moments that do not depend on each other, so many a
 * second on average; redis-benchmark knows no rate. Prints how many were done.
 */
#include <math.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/truth.h"

#define MOST 1000 /* connections */

static const char command[] = "*3\r\n$3\r\nSET\r\n$16\r\nkey:000000000000\r\n$3\r\nxxx\r\n";
static const char answer[] = "+OK\r\n";

static struct pollfd connections[MOST];
static bool asked[MOST];

static int connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (fd < 0 || strlen(path) >= sizeof(address.sun_path))
		die(path, fd < 0 ? errno : ENAMETOOLONG);
	strcpy(address.sun_path, path);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
		die(path, errno);
	return fd;
}

/* From the connection behind the last one that asked. False: none is free. */
static bool ask(int n)
{
	static int last;

	for (int i = 0; i < n; i++) {
		last = (last + 1) % n;
		if (asked[last])
			continue;
		if (write(connections[last].fd, command, sizeof(command) - 1) < 0)
			die("write", errno);
		return asked[last] = true;
	}
	return false;
}

static int take(int n)
{
	char got[sizeof(answer)];
	int done = 0;

	for (int i = 0; i < n; i++) {
		if (!connections[i].revents)
			continue;
		if (read(connections[i].fd, got, sizeof(got)) != sizeof(answer) - 1 ||
		    memcmp(got, answer, sizeof(answer) - 1))
			die("an answer of Redis", EPROTO);
		asked[i] = false;
		done++;
	}
	return done;
}

int main(int argc, char **argv)
{
	int n = (int)count_argument(argc, argv, 2, 8), done = 0;
	double gap = 1e9 / (double)count_argument(argc, argv, 3, 10000);
	double now = 0, due = 0, end = 1e9 * (double)count_argument(argc, argv, 4, 5);
	uint64_t start = clock_ns(CLOCK_MONOTONIC);

	if (argc < 2 || n < 1 || n > MOST)
		die("redis_rate", EINVAL);
	for (int i = 0; i < n; i++)
		connections[i] = (struct pollfd) {connect_to(argv[1]), POLLIN, 0};
	while ((now = (double)(clock_ns(CLOCK_MONOTONIC) - start)) < end) {
		double left;
		struct timespec wait = {0};

		while (due <= now && ask(n))
			due -= gap * log(1 - drand48());
		left = due - now;
		if (left > 0)
			wait.tv_nsec = left < 1e8 ? (long)left : 100000000;
		if (ppoll(connections, (nfds_t)n, due <= now ? NULL : &wait, NULL) > 0)
			done += take(n);
	}
	printf("%d\n", done);
	return 0;
}
