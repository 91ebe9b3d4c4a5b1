/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reports the state of quartzd to the service manager: the protocol of sd_notify(3), datagrams to $NOTIFY_SOCKET. Without
 * that variable, these do nothing.
 */
#ifndef QUARTZ_DAEMON_SD_NOTIFY_H
#define QUARTZ_DAEMON_SD_NOTIFY_H

#include <stdint.h>

/* Lines "NAME=value", such as "READY=1\nSTATUS=...". Never waits; what finds no room is not sent. */
void sd_notify__send(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A reload begins: it has ended with the next READY=1. */
void sd_notify__reloading(void);

/* How often "WATCHDOG=1" is to be sent, in ns; 0: never. Half of what the manager allows. */
uint64_t sd_notify__watchdog_period(void);

#endif
