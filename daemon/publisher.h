/* SPDX-License-Identifier: GPL-2.0-only */
/* Figures for /sys/kernel/quartz, told to quartz.ko through its device, where it is loaded. */
#ifndef QUARTZ_DAEMON_PUBLISHER_H
#define QUARTZ_DAEMON_PUBLISHER_H

#include "core/profile.h"
#include "daemon/device.h"

struct publisher;

/* Borrows the device, which must outlive it. NULL without memory. */
struct publisher *publisher__new(const struct device *device);

/* Accepts NULL. */
void publisher__free(struct publisher *p);

/* Tells the figures of an estimated profile. 0 or -errno; what could not be told is left out. */
int publisher__show(struct publisher *p, const struct qz_profile *profile);

#endif
