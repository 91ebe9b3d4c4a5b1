/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * quartzd as a service: sessions one after the other, with the socket open all the time. A pause ends a session; a reload
 * ends it and begins another one with the present files of settings. Each session leaves its snapshot.
 */
#ifndef QUARTZ_DAEMON_SERVICE_H
#define QUARTZ_DAEMON_SERVICE_H

#include "daemon/session/options.h"

/* Runs until it is to stop, and gives the exit status. `options` are those of this command line. */
int service__run(struct options *options, int argc, char *argv[]);

#endif
