/* SPDX-License-Identifier: GPL-2.0-only */
/* What a server has sent to its clients, of connections of this process with itself. */
#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/experiment/sends.h"
#include "tests/unit/suites.h"

static struct sockaddr_in listen_at_any_port(int *fd)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);

	*fd = socket(AF_INET, SOCK_STREAM, 0);
	ck_assert_int_eq(bind(*fd, (struct sockaddr *)&at, sizeof(at)), 0);
	ck_assert_int_eq(listen(*fd, 4), 0);
	ck_assert_int_eq(getsockname(*fd, (struct sockaddr *)&at, &size), 0);
	return at;
}

struct connection {
	int client, server;
};

static struct connection connect_to(const struct sockaddr_in *at, int listener)
{
	struct connection c = {.client = socket(AF_INET, SOCK_STREAM, 0)};

	ck_assert_int_eq(connect(c.client, (const struct sockaddr *)at, sizeof(*at)), 0);
	c.server = accept(listener, NULL, NULL);
	ck_assert_int_ge(c.server, 0);
	return c;
}

/* They count once they are acknowledged, which is when they were received, or soon after. */
static void transfer(int from, int to, size_t n)
{
	char bytes[1000] = {0};
	int left;

	ck_assert_int_eq(send(from, bytes, n, 0), (ssize_t)n);
	ck_assert_int_eq(recv(to, bytes, n, MSG_WAITALL), (ssize_t)n);
	while (!ioctl(from, SIOCOUTQ, &left) && left)
		usleep(1000);
}

static uint64_t count(struct sends *s)
{
	uint64_t bytes;

	ck_assert_int_eq(sends__count(s, &bytes), 0);
	return bytes;
}

START_TEST(bytes_to_clients_are_counted)
{
	int64_t pid = getpid();
	const struct qz_integers pids = {.items = &pid, .n = 1};
	struct connection old, young;
	struct sockaddr_in at;
	struct sends s;
	int listener;

	ck_assert_int_eq(sends__open(&s, &pids), -ENOENT);
	at = listen_at_any_port(&listener);
	old = connect_to(&at, listener);
	transfer(old.server, old.client, 700);
	ck_assert_int_eq(sends__open(&s, &pids), 0);
	ck_assert_uint_eq(s.nports, 1);
	/* what was sent before does not count, nor what clients send */
	ck_assert_uint_eq(count(&s), 0);
	transfer(old.client, old.server, 900);
	transfer(old.server, old.client, 30);
	ck_assert_uint_eq(count(&s), 30);
	/* of a connection that is new, all */
	young = connect_to(&at, listener);
	transfer(young.server, young.client, 500);
	ck_assert_uint_eq(count(&s), 530);
	/* one that has gone takes nothing with it */
	close(old.client);
	close(old.server);
	transfer(young.server, young.client, 4);
	ck_assert_uint_eq(count(&s), 534);
	close(young.client);
	close(young.server);
	close(listener);
	sends__close(&s);
}
END_TEST

Suite *suite_sends(void)
{
	Suite *suite = suite_create("sends");
	TCase *tcase = tcase_create("sends");

	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, bytes_to_clients_are_counted);
	suite_add_tcase(suite, tcase);
	return suite;
}
