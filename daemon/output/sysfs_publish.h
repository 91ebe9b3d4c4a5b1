/* SPDX-License-Identifier: GPL-2.0-only */
/* Passes the figures in /sys/kernel/quartz to quartz.ko, through its device, where it is loaded. */
#ifndef QUARTZ_DAEMON_SYSFS_PUBLISH_H
#define QUARTZ_DAEMON_SYSFS_PUBLISH_H

#include "core/report/report.h"
#include "daemon/kernel/module_device.h"

struct sysfs_publish;

/* Borrows the device, which must outlive it. NULL without memory. */
struct sysfs_publish *sysfs_publish__new(const struct module_device *device);

/* Accepts NULL. */
void sysfs_publish__free(struct sysfs_publish *p);

/*
 * Tells the report of a scope (NULL: there was no memory for it), one after the other, then the figures of
 * them all. 0 or -errno; what is unknown is left out.
 */
void sysfs_publish__add(struct sysfs_publish *p, const struct qz_report *r);
int sysfs_publish__end(struct sysfs_publish *p, const struct qz_profile *profile);

#endif
