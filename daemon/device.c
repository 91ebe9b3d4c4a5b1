// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "daemon/device.h"
#include "quartz/device.h"

int device__open(struct device *d)
{
	struct qz_ioc_listen listen = {.size = sizeof(listen)};
	int err;

	d->fd = open(QZ_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	if (d->fd >= 0 && !ioctl(d->fd, QZ_IOC_LISTEN, &listen)) {
		d->generation = listen.generation;
		return 0;
	}
	err = -errno;
	device__close(d);
	return err;
}

void device__close(struct device *d)
{
	if (d->fd >= 0)
		close(d->fd);
	*d = (struct device) {.fd = -1};
}
