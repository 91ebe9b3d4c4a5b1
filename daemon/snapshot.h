/* SPDX-License-Identifier: GPL-2.0-only */
/* Saving profiles as snapshot files. */
#ifndef QUARTZ_DAEMON_SNAPSHOT_H
#define QUARTZ_DAEMON_SNAPSHOT_H

#include <stddef.h>

#include "core/profile.h"

/*
 * Decides where the snapshot goes: `output`, or a name made of the program, its pid and the time in
 * the state directory. Makes that directory and finds out now whether a file can be written there.
 * 0 or -errno with the path in *path either way.
 */
int snapshot__choose(const char *output, const char *program, int pid, char *path, size_t size);

/*
 * Saves to path. When that fails, to /var/tmp or else /dev/shm, so that what was sampled is not
 * lost; *saved tells where it is then ("" when nowhere). 0 when it is at path, else -errno of that.
 */
int snapshot__save(const struct qz_profile *p, const char *path, char *saved, size_t size);

#endif
