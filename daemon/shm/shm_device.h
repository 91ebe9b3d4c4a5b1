/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Page sets that programs have of /dev/quartz: each of them waits there until quartzd has looked at
 * it, so that a program's first call finds quartzd reading, as over the socket.
 */
#ifndef QUARTZ_DAEMON_SHM_DEVICE_H
#define QUARTZ_DAEMON_SHM_DEVICE_H

#include "daemon/shm/shm_server.h"

/* Takes over, or refuses, those that wait; the server's thread. */
void shm_device__answer(const struct module_device *device, struct shm_server *server,
			struct shm_sets *sets);

#endif
