/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * quartzd as it runs for long: sessions one after the other, with the socket open all the time. A pause
 * ends a session, and a reload ends it to begin another one with what the files of settings say then;
 * each leaves its snapshot.
 */
#ifndef QUARTZ_DAEMON_SERVICE_H
#define QUARTZ_DAEMON_SERVICE_H

#include "daemon/session/options.h"

/* Runs until it is to stop, and gives the exit status. `options` are those of this command line. */
int service__run(struct options *options, int argc, char *argv[]);

#endif
