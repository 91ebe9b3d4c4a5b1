/* SPDX-License-Identifier: GPL-2.0-only */
/* /dev/quartz, where quartz.ko is loaded: the quartzd that has it open is the one that publishes there. */
#ifndef QUARTZ_DAEMON_MODULE_DEVICE_H
#define QUARTZ_DAEMON_MODULE_DEVICE_H

struct module_device {
	int fd; /* -1: closed */
};

/*
 * Opens the device and listens. 0, -ENOENT: the module is not loaded, -EBUSY: another quartzd speaks,
 * or -errno of open(2) and ioctl(2).
 */
int module_device__open(struct module_device *d);

/* Stops publishing. What was published stays, and its age shows. Accepts one that is closed. */
void module_device__close(struct module_device *d);

#endif
