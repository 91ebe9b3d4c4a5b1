/* SPDX-License-Identifier: GPL-2.0-only */
/* Directories of quartzd. */
#ifndef QUARTZ_DAEMON_PATHS_H
#define QUARTZ_DAEMON_PATHS_H

#include <sys/types.h>

/* QUARTZ_RUNTIME_DIR, RUNTIME_DIRECTORY (systemd) or /run/quartz. */
const char *paths__runtime(void);

/* QUARTZ_STATE_DIR, STATE_DIRECTORY (systemd) or /var/lib/quartz. */
const char *paths__state(void);

/* QUARTZ_CACHE_DIR, CACHE_DIRECTORY (systemd) or /var/cache/quartz. */
const char *paths__cache(void);

/* QUARTZ_CONFIG_DIR, CONFIGURATION_DIRECTORY (systemd) or /etc/quartz. */
const char *paths__configuration(void);

/* The group that may read what quartzd offers: "quartz" where it exists, else root's; as it was at the first call. */
gid_t paths__group(void);

/*
 * Makes a directory and those above it, the last one with `mode` and the group of readers. A
 * directory that is there must be root's own and not writable by others: -EPERM.
 */
int paths__make(const char *path, mode_t mode);

/* Makes it for another group. */
int paths__make_for(const char *path, mode_t mode, gid_t group);

/*
 * The state directory, which all may pass through to what is theirs. Its group is root's, as where
 * systemd makes it: that gives all below to the group that it expects at the top, if it is another one.
 */
int paths__make_state(void);

/*
 * Takes a lock; returns its descriptor, which can be read and written, and holds the lock until it is closed. Other users
 * cannot open the file: whoever can read it could hold the lock. -EWOULDBLOCK: another process has it, and *holder, if not
 * NULL, is what that process has written, or 0. Otherwise -errno.
 */
int paths__lock(const char *path, pid_t *holder);

#endif
