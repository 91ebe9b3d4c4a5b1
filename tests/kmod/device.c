/* SPDX-License-Identifier: GPL-2.0-only */
/* The device: who may do what, and structures of other versions. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/kmod/device.h"

#define PAGE 4096ul

START_TEST(one_quartzd_listens)
{
	struct qz_ioc_publish publish = {.size = sizeof(publish)};
	struct qz_ioc_listen l = {.size = sizeof(l)};
	int fd = device(), status;
	pid_t child = fork();

	if (!child) {
		int own = device();

		listen_on(own);
		if (call(fd, QZ_IOC_LISTEN, &l) != -EBUSY ||
		    call(fd, QZ_IOC_PUBLISH, &publish) != -EPERM)
			_exit(1);
		raise(SIGKILL);
	}
	waitpid(child, &status, 0);
	ck_assert(WIFSIGNALED(status));
	listen_on(fd);
	ck_assert_int_eq(call(fd, QZ_IOC_PUBLISH, &publish), 0);
	close(fd);
	listen_on(device());
}
END_TEST

/* Not even with a descriptor of root's. */
START_TEST(nobody_may_do_nothing)
{
	static const unsigned long privileged[] = {QZ_IOC_LISTEN, QZ_IOC_PUBLISH,
						   QZ_IOC_PUBLISH_SCOPE, QZ_IOC_RETIRE_SCOPE,
						   QZ_IOC_SNAPSHOT};
	char bytes[PAGE] = {64};
	int fd = device();

	become_nobody();
	ck_assert_int_eq(open(QZ_DEVICE_PATH, O_RDWR), -1);
	for (unsigned int i = 0; i < sizeof(privileged) / sizeof(privileged[0]); i++)
		ck_assert_int_eq(call(fd, privileged[i], bytes), -EPERM);
}
END_TEST

/* Each structure: no memory there, sizes below the size itself, a size beyond with and without zeros. */
START_TEST(structures_that_are_refused)
{
	static const unsigned long requests[] = {QZ_IOC_LISTEN, QZ_IOC_SNAPSHOT, QZ_IOC_PUBLISH,
						 QZ_IOC_PUBLISH_SCOPE, QZ_IOC_RETIRE_SCOPE};
	int fd = device(), speaker = device();
	char bytes[2 * PAGE];

	listen_on(speaker);
	for (unsigned int i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		int on = i < 2 ? fd : speaker;

		ck_assert_int_eq(call(on, requests[i], NULL), -EFAULT);
		ck_assert_int_eq(call(on, requests[i], (void *)-8ul), -EFAULT);
		for (__u32 size = 0; size < 4; size++) {
			memset(bytes, 0, sizeof(bytes));
			memcpy(bytes, &size, 4);
			ck_assert_int_eq(call(on, requests[i], bytes), -EINVAL);
		}
		memset(bytes, 0xff, sizeof(bytes));
		memcpy(bytes, &(__u32) {PAGE}, 4);
		ck_assert_int_eq(call(on, requests[i], bytes), -E2BIG);
		memcpy(bytes, &(__u32) {PAGE + 1}, 4);
		ck_assert_int_eq(call(on, requests[i], bytes), -EINVAL);
	}
	ck_assert_int_eq(call(fd, _IO('Q', 0), NULL), -ENOTTY);
	ck_assert_int_eq(call(fd, _IO('Q', 99), bytes), -ENOTTY);
	ck_assert_int_eq(call(fd, 0x5401, bytes), -ENOTTY);
}
END_TEST

START_TEST(reserved_fields_are_zero)
{
	struct qz_ioc_listen l = {.size = sizeof(l), .reserved = 1};
	struct qz_ioc_publish publish = {.size = sizeof(publish)};
	struct qz_ioc_publish_scope scope = {.size = sizeof(scope), .reserved = 1, .name = "x"};
	struct qz_ioc_retire_scope retire = {.size = sizeof(retire), .reserved = 1, .name = "x"};
	int fd = device();

	ck_assert_int_eq(call(fd, QZ_IOC_LISTEN, &l), -EINVAL);
	listen_on(fd);
	publish.reserved[3] = 1;
	ck_assert_int_eq(call(fd, QZ_IOC_PUBLISH, &publish), -EINVAL);
	ck_assert_int_eq(call(fd, QZ_IOC_PUBLISH_SCOPE, &scope), -EINVAL);
	ck_assert_int_eq(call(fd, QZ_IOC_RETIRE_SCOPE, &retire), -EINVAL);
}
END_TEST

/* What lies behind a caller's structure is nothing to the module, and a newer caller's zeros are nothing new. */
START_TEST(older_and_newer_callers_are_understood)
{
	struct {
		struct qz_ioc_publish publish;
		char more[PAGE - sizeof(struct qz_ioc_publish)];
	} newer = {.publish = {.size = PAGE}};
	struct qz_ioc_publish older = {.size = offsetof(struct qz_ioc_publish, reserved)};
	int fd = device();

	listen_on(fd);
	older.reserved[0] = 1;
	ck_assert_int_eq(call(fd, QZ_IOC_PUBLISH, &older), 0);
	ck_assert_int_eq(call(fd, QZ_IOC_PUBLISH, &newer), 0);
}
END_TEST

Suite *suite_device(void)
{
	Suite *s = suite_create("device");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, one_quartzd_listens);
	tcase_add_test(tc, nobody_may_do_nothing);
	tcase_add_test(tc, structures_that_are_refused);
	tcase_add_test(tc, reserved_fields_are_zero);
	tcase_add_test(tc, older_and_newer_callers_are_understood);
	suite_add_tcase(s, tc);
	return s;
}
