/* SPDX-License-Identifier: GPL-2.0-only */
/* Asks a Redis at port 7777, and computes a little with each reply; the argument is how many questions are on their way. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define QUESTIONS 20000
#define MOST	  100
#define QUESTION  "GET a\r\n"
#define REPLY	  5 /* "$-1\r\n" */
#define WORK	  15000

static volatile double sink;

static int ask(int fd, int n)
{
	static char questions[MOST * sizeof(QUESTION)], replies[4096];
	const size_t size = sizeof(QUESTION) - 1;
	ssize_t got;

	for (int i = 0; i < n; i++)
		memcpy(questions + (size_t)i * size, QUESTION, size);
	if (write(fd, questions, (size_t)n * size) < 0)
		return -1;
	for (ssize_t left = n * REPLY; left > 0; left -= got) {
		got = read(fd, replies, sizeof(replies));
		if (got <= 0)
			return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons(7777),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int n = argc > 1 ? atoi(argv[1]) : 1, fd = socket(AF_INET, SOCK_STREAM, 0);

	if (n < 1 || n > MOST || connect(fd, (struct sockaddr *)&to, sizeof(to)))
		return 1;
	for (int i = 0; i < QUESTIONS; i += n) {
		if (ask(fd, n))
			return 1;
		for (int k = 0; k < n * WORK; k++)
			sink += k;
	}
	return 0;
}
