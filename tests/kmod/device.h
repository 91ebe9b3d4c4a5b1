/* SPDX-License-Identifier: GPL-2.0-only */
/* What the tests of the device share. Each test runs in a process of its own. */
#ifndef QUARTZ_TESTS_KMOD_DEVICE_H
#define QUARTZ_TESTS_KMOD_DEVICE_H

#include <check.h>

#include "quartz/device.h"

Suite *suite_device(void);
Suite *suite_results(void);
Suite *suite_snapshot(void);

/* An open device, read-write; ends the test when there is none. */
int device(void);

/* ioctl(2), giving 0 or more, or -errno. */
long call(int fd, unsigned long request, const void *arg);

/* The test goes on as nobody. */
void become_nobody(void);

/* QZ_IOC_LISTEN on fd. */
void listen_on(int fd);

#endif
