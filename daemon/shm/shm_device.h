/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Page sets that programs have of /dev/quartz: each process waits there until quartzd has taken its page set in, so that
 * quartzd reads from the program's first call on, as over the socket.
 */
#ifndef QUARTZ_DAEMON_SHM_DEVICE_H
#define QUARTZ_DAEMON_SHM_DEVICE_H

#include "daemon/shm/shm_server.h"

/* Takes over, or refuses, those that wait; the server's thread. */
void shm_device__answer(const struct module_device *device, struct shm_server *server,
			struct shm_sets *sets);

#endif
