/* SPDX-License-Identifier: GPL-2.0-only */
/* The tests of quartz.ko; needs root and the module loaded. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tests/kmod/device.h"

int device(void)
{
	int fd = open(QZ_DEVICE_PATH, O_RDWR | O_CLOEXEC);

	ck_assert_msg(fd >= 0, "%s cannot be opened: %d", QZ_DEVICE_PATH, errno);
	return fd;
}

long call(int fd, unsigned long request, const void *arg)
{
	int n = ioctl(fd, request, arg);

	return n < 0 ? -errno : n;
}

void become_nobody(void)
{
	ck_assert_int_eq(setgid(65534), 0);
	ck_assert_int_eq(setuid(65534), 0);
}

void listen_on(int fd)
{
	struct qz_ioc_listen l = {.size = sizeof(l)};

	ck_assert_int_eq(call(fd, QZ_IOC_LISTEN, &l), 0);
}

int main(void)
{
	SRunner *runner;
	int failed;

	setenv("CK_DEFAULT_TIMEOUT", "240", 0);
	runner = srunner_create(suite_device());
	srunner_add_suite(runner, suite_results());
	srunner_add_suite(runner, suite_snapshot());
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
