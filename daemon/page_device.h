/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Page sets that programs have of /dev/quartz: each of them waits there until quartzd has looked at
 * it, so that a program's first call finds quartzd reading, as over the socket.
 */
#ifndef QUARTZ_DAEMON_PAGE_DEVICE_H
#define QUARTZ_DAEMON_PAGE_DEVICE_H

#include "daemon/device.h"
#include "daemon/engine.h"
#include "daemon/pages.h"

/* Takes over, or refuses, those that wait; the page server's thread. */
void page_device__answer(const struct device *device, struct engine *engine, struct pages *pages);

#endif
