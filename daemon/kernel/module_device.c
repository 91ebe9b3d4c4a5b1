// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "daemon/kernel/module_device.h"
#include "quartz/device.h"

int module_device__open(struct module_device *d)
{
	struct qz_ioc_listen listen = {.size = sizeof(listen)};
	int err;

	d->fd = open(QZ_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	if (d->fd >= 0 && !ioctl(d->fd, QZ_IOC_LISTEN, &listen))
		return 0;
	err = -errno;
	module_device__close(d);
	return err;
}

void module_device__close(struct module_device *d)
{
	if (d->fd >= 0)
		close(d->fd);
	*d = (struct module_device) {.fd = -1};
}
